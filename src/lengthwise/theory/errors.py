"""The exact error of standing in: how far the outputs of a one-layer model on two strings with one ending are apart."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from lengthwise.exact import Ball, RationalMatrix, ball_product, entries, greatest, matrix_of, scaled
from lengthwise.limit.model import LimitTransformer
from lengthwise.limit.tables import exact, head_values, type_vectors
from lengthwise.theory.attended import Attended, View
from lengthwise.type_counts import Counts

Exact = Fraction | Ball


@dataclass(frozen=True)
class Reading:
    """A one-layer model at the end of strings with one ending: everything by type, so that many counts are cheap.

    base and before: what the query itself brings to the outputs and to the hidden units (bias included), one row;
    values[h] and inside[h]: what one unit of attention on each type brings there through head h, one row a type;
    readout: one row a hidden unit, its weight in every output.
    """

    model: LimitTransformer
    period: int
    views: tuple[View, ...]
    base: RationalMatrix
    values: tuple[RationalMatrix, ...]
    before: RationalMatrix | None
    inside: tuple[RationalMatrix, ...]
    readout: RationalMatrix | None

    @classmethod
    def of(cls, model: LimitTransformer, counts: Counts) -> "Reading":
        """The model at the end of a string, seen through the string's own types."""
        layer, mlp = model.layers[0], model.layers[0].mlp
        query = counts.suffix[-1] * model.period + counts.length % model.period
        types, output = type_vectors(model), exact(model.unembedding).transpose()
        here = matrix_of([entries(types)[query]])
        values = [head_values(head, types) for head in layer.heads]
        inner = None if mlp is None or not len(mlp.inner) else exact(mlp.inner).transpose()
        return cls(
            model,
            counts.period,
            tuple(View.of(model, head, counts) for head in layer.heads),
            here * output,
            tuple(value * output for value in values),
            None if inner is None or mlp is None else here * inner + exact(mlp.bias[None, :]),
            () if inner is None else tuple(value * inner for value in values),
            None if inner is None or mlp is None else (output.transpose() * exact(mlp.outer)).transpose(),
        )

    def attended(self, table: Sequence[int]) -> tuple[Attended, ...]:
        """What every head attends to under hardmax."""
        return tuple(view.attended(table) for view in self.views)

    def outputs(self, table: Sequence[int], length: int) -> list[Exact]:
        """The outputs on a prefix with these counts by type: rationals where the model is a hardmax with rational
        activations, balls elsewhere.

            Y = e_query + sum_h V_h (mean of e under the law of head h),   f = U Y + (U B) psi(A Y + b)
        """
        laws = [self._folded(view.law(self.model, table, length)) for view in self.views]
        outputs = _moved(entries(self.base)[0], laws, self.values)
        if self.before is None or self.readout is None or self.model.layers[0].mlp is None:
            return outputs
        before = _moved(entries(self.before)[0], laws, self.inside)
        after: list[Exact] = [
            _activated(kind, v) for kind, v in zip(self.model.layers[0].mlp.activations, before, strict=True)
        ]
        return _sum(outputs, _product(after, self.readout))

    def _folded(self, law: Mapping[int, int | Ball]) -> list[int | Ball]:
        """A law over the string's types as one over the model's own: its period may be a divisor."""
        own: list[int | Ball] = [0] * self.model.types
        for t, weight in law.items():
            token, residue = divmod(t, self.period)
            place = token * self.model.period + residue % self.model.period
            own[place] = own[place] + weight
        return own


def distance(first: Sequence[Exact], second: Sequence[Exact]) -> Exact:
    """The largest coordinate of |a - b|."""
    return greatest([_apart(a, b) for a, b in zip(first, second, strict=True)])


def _apart(first: Exact, second: Exact) -> Exact:
    gap = first - second
    return max(gap, -gap) if isinstance(gap, Fraction) else abs(gap)


def _moved(base: Sequence[Fraction], laws: Sequence[Sequence[int | Ball]], by: Sequence[RationalMatrix]) -> list[Exact]:
    """The base row plus, for every head, the mean of its rows under the head's law (0 where every key is masked)."""
    result: list[Exact] = list(base)
    for law, matrix in zip(laws, by, strict=True):
        mass = sum(law, 0)
        if isinstance(mass, int):
            if not mass:
                continue
            whole = [weight for weight in law if isinstance(weight, int)]
            mean: Sequence[Exact] = entries(scaled(matrix_of([whole]) * matrix, Fraction(1, mass)))[0]
        else:
            mean = ball_product([Ball.of(weight) / mass for weight in law], matrix)
        result = _sum(result, mean)
    return result


def _sum(first: Sequence[Exact], second: Sequence[Exact]) -> list[Exact]:
    return [a + b for a, b in zip(first, second, strict=True)]


def _product(after: Sequence[Exact], readout: RationalMatrix) -> list[Exact]:
    """A row of activations times the readout; exact where every activation is."""
    whole = [value for value in after if not isinstance(value, Ball)]
    if len(whole) == len(after):
        return list(entries(matrix_of([whole]) * readout)[0])
    return list(ball_product(after, readout))


def _activated(kind: str, value: Exact) -> Exact:
    """One unit. A step at a ball around 0 is only known to be between 0 and 1."""
    if kind == "identity":
        return value
    if kind == "relu":
        return greatest([value, Fraction(0)])
    if kind == "heaviside":
        return _step(value)
    if isinstance(value, Fraction):
        return Ball.of(value).apply(kind) if value else Fraction(0)
    return value.apply(kind)


def _step(value: Exact) -> Exact:
    if isinstance(value, Fraction):
        return Fraction(value > 0)
    if Ball.of(0).certainly_less(value):
        return Fraction(1)
    return Fraction(0) if value.certainly_less(0) else Ball.between(0, 1)
