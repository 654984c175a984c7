"""The exact error of standing in: how far the outputs of a one-layer model on two strings with one ending are apart."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from lengthwise.exact import (
    Ball,
    RationalMatrix,
    ball_product,
    common_denominator,
    entries,
    greatest,
    matrix_of,
    scaled,
)
from lengthwise.limit.model import LimitTransformer
from lengthwise.limit.tables import exact, head_values, type_vectors
from lengthwise.theory.attended import Attended, View
from lengthwise.type_counts import Counts

Exact = Fraction | Ball
_RATIONAL = frozenset({"relu", "heaviside", "identity"})  # activations of rationals that are rational


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
        whole = _whole(laws)
        if whole is None:
            outputs, before = _moved(self.base, laws, self.values), _moved(self.before, laws, self.inside)
        else:
            exact_outputs, exact_before = _mean(self.base, whole, self.values), _mean(self.before, whole, self.inside)
            if exact_before is None or _RATIONAL.issuperset(self._activations):
                return self._exact(exact_outputs, exact_before)
            outputs, before = list(entries(exact_outputs)[0]), list(entries(exact_before)[0])
        if self.readout is None:
            return outputs
        after = [_activated(kind, v) for kind, v in zip(self._activations, before, strict=True)]
        return _sum(outputs, ball_product(after, self.readout))

    @property
    def _activations(self) -> tuple[str, ...]:
        mlp = self.model.layers[0].mlp
        return () if mlp is None else mlp.activations

    def _exact(self, outputs: RationalMatrix, before: RationalMatrix | None) -> list[Exact]:
        """The outputs where everything is rational: units as integers over one denominator."""
        if before is not None:
            (numerators,), denominator = common_denominator(before)
            step = {"relu": lambda v: max(v, 0), "heaviside": lambda v: denominator * (v > 0), "identity": lambda v: v}
            after = [step[kind](v) for kind, v in zip(self._activations, numerators, strict=True)]
            outputs = outputs + scaled(matrix_of([after]) * self.readout, Fraction(1, denominator))
        return list(entries(outputs)[0])

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


def _whole(laws: Sequence[Sequence[int | Ball]]) -> list[list[int]] | None:
    """The laws as integers, or None where one has a weight that is not."""
    found = [[weight for weight in law if isinstance(weight, int)] for law in laws]
    return found if all(len(whole) == len(law) for whole, law in zip(found, laws, strict=True)) else None


def _mean(base: RationalMatrix | None, laws: Sequence[Sequence[int]], by: Sequence[RationalMatrix]) -> RationalMatrix:
    """The base row plus, for every head, the mean of its rows under the head's law (0 where every key is masked)."""
    if base is None:
        return None
    for law, matrix in zip(laws, by, strict=True):
        if any(law):
            base = base + scaled(matrix_of([law]) * matrix, Fraction(1, sum(law)))
    return base


def _moved(
    base: RationalMatrix | None, laws: Sequence[Sequence[int | Ball]], by: Sequence[RationalMatrix]
) -> list[Exact]:
    """The same where weights are balls."""
    if base is None:
        return []
    result: list[Exact] = list(entries(base)[0])
    for law, matrix in zip(laws, by, strict=True):
        mass = sum((Ball.of(weight) for weight in law), Ball.of(0))
        if any(isinstance(weight, Ball) or weight for weight in law):
            result = _sum(result, ball_product([Ball.of(weight) / mass for weight in law], matrix))
    return result


def _sum(first: Sequence[Exact], second: Sequence[Exact]) -> list[Exact]:
    return [a + b for a, b in zip(first, second, strict=True)]


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
