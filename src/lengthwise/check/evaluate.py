"""The outputs of a model on a string of which suffix and counts are known: rationals, or between two rationals."""

from bisect import bisect_left
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction

from .enclose import BITS, Enclosure, exp, log, reaches, sin, tanh
from .model import Head, Model, Type

NOTHING = Enclosure.of(0)


@dataclass(frozen=True)
class View:
    """What one layer sees of a string: last tokens in reading order, counts[token][residue] of the prefix, length."""

    suffix: list[int]
    table: list[list[int]]
    length: int


def dot(row: Iterable[Fraction], vector: Iterable[Enclosure]) -> Enclosure:
    """The inner product of rationals and enclosures."""
    low = high = Fraction(0)
    for a, x in zip(row, vector, strict=True):
        if a:
            one = a * x.low
            two = one if x.exact else a * x.high
            low, high = (low + one, high + two) if a > 0 else (low + two, high + one)
    return Enclosure(low, high).rounded()


def outputs(model: Model, view: View) -> tuple[list[Enclosure], list[Enclosure]]:
    """What the MLP reads at the last position, and the outputs there."""
    y = [Enclosure.of(v) for v in model.vector((view.suffix[-1], view.length % model.period))]
    for o in [_attend(model, head, view) for head in model.heads]:
        y = [a + b for a, b in zip(y, o, strict=True)]
    after = y
    if model.mlp is not None:
        mlp = model.mlp
        before = [dot(row, y) + Enclosure.of(b) for row, b in zip(mlp.inner, mlp.bias, strict=True)]
        units = [ACTIVATE[kind](value) for kind, value in zip(mlp.activation, before, strict=True)]
        after = [a + dot(row, units) for a, row in zip(y, mlp.outer, strict=True)]
    return y, [dot(row, after) for row in model.unembedding]


def _attend(model: Model, head: Head, view: View) -> list[Enclosure]:
    """V times the weighted mean of what the positions hold, equal ones taken together; 0 if all are masked."""
    keys = _keys(model, head, view)
    weight = _weights(model, [logit for logit, _, _ in keys], view.length)
    masses: dict[Type, Enclosure] = {}
    for logit, kind, count in keys:
        if weight[logit].high > 0:
            masses[kind] = masses.get(kind, NOTHING) + weight[logit] * count
    if not masses:
        return [NOTHING] * len(head.value)
    columns = zip(*map(model.vector, masses), strict=True)
    total = sum(masses.values(), NOTHING)
    mean = [
        sum((m * c for m, c in zip(masses.values(), column, strict=True) if c), NOTHING) / total for column in columns
    ]
    return [dot(row, mean) for row in head.value]


def _keys(model: Model, head: Head, view: View) -> list[tuple[Fraction, Type, int]]:
    """(logit, type, how often) of everything in the string that is not masked."""
    n, period = view.length, model.period
    ask = model.vector((view.suffix[-1], n % period))
    asked = [sum((a * b for a, b in zip(row, ask, strict=True) if a and b), Fraction(0)) for row in head.query]
    toward = [sum((row[c] * a for row, a in zip(head.key, asked, strict=True)), Fraction(0)) for c in range(len(ask))]

    def content(kind: Type) -> Fraction:
        return sum((a * b for a, b in zip(toward, model.vector(kind), strict=True) if a and b), Fraction(0))

    counts: dict[Type, int] = {}
    for token, row in enumerate(view.table):
        for residue, count in enumerate(row):
            kind = token, residue % period
            counts[kind] = counts.get(kind, 0) + count
    keys = [(content(kind), kind, count) for kind, count in counts.items() if count]
    for offset, token in enumerate(reversed(view.suffix)):
        shift, kind = head.shift(offset), (token, (n - offset) % period)
        if shift is not None:
            keys.append((content(kind) + shift, kind, 1))
    return keys


def _weights(model: Model, logits: list[Fraction], length: int) -> dict[Fraction, Enclosure]:
    """The weight of every logit by the rule of section 4, relative to the largest; flushed ones are exactly 0.

    A weight below 2^-least may be rounded to the enclosure of 0 and 2^-least: all together they change a sum that has a
    weight 1 in it by less than 2^-BITS.
    """
    values = sorted(set(logits), reverse=True)
    least = BITS + 64 + length.bit_length()
    stretch = Enclosure.of(1)
    if model.attention == "log-length" and len(values) > 1:
        stretch = log(Fraction(length), BITS + 64 + int(values[0] - values[-1]).bit_length())
    kept = len(values)
    if model.bits is not None:  # flushed or not is monotone in the logit
        bits = model.bits
        kept = 1 + bisect_left(values[1:], True, key=lambda value: reaches(length, values[0] - value, bits))
    weights = [exp(stretch * (value - values[0]), least=least) for value in values[:kept]]
    return dict(zip(values, weights + [NOTHING] * (len(values) - kept), strict=True))


def _step(x: Enclosure) -> Enclosure:
    return Enclosure(Fraction(x.low > 0), Fraction(x.high > 0))


def _relu(x: Enclosure) -> Enclosure:
    return Enclosure(max(x.low, Fraction(0)), max(x.high, Fraction(0)))


ACTIVATE: dict[str, Callable[[Enclosure], Enclosure]] = {
    "relu": _relu,
    "heaviside": _step,
    "sin": sin,
    "tanh": tanh,
    "identity": lambda x: x,
}
