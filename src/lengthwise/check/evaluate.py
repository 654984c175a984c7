"""The outputs of a model on a string of which suffix and counts are known: rationals, or between two rationals."""

from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from operator import mul

from .enclose import BITS, Enclosure, exp, log, reaches, sin, tanh
from .model import MLP, Head, Model, Rows, Type, times

NOTHING = Enclosure.of(0)


@dataclass(frozen=True)
class View:
    """What one layer sees of a string: last tokens in reading order, counts[token][residue] of the prefix, length."""

    suffix: list[int]
    table: list[list[int]]
    length: int


def outputs(model: Model, view: View) -> tuple[list[Enclosure], list[Enclosure]]:
    """What the MLP reads at the last position, and the outputs there."""
    query = model.vector((view.suffix[-1], view.length % model.period))
    y = [Enclosure.of(Fraction(v, model.below)) for v in query]
    for o in [_attend(model, head, view, query) for head in model.heads]:
        y = [a + b for a, b in zip(y, o, strict=True)]
    return y, product(model.unembedding, through(model.mlp, y, model.below), model.below)


def through(mlp: MLP | None, y: list[Enclosure], below: int) -> list[Enclosure]:
    """Y + B psi(A Y + b); Y where there is no MLP."""
    if mlp is None:
        return y
    before = [a + Enclosure.of(Fraction(b, below)) for a, b in zip(product(mlp.inner, y, below), mlp.bias, strict=True)]
    units = [ACTIVATE[kind](value) for kind, value in zip(mlp.activation, before, strict=True)]
    return [a + b for a, b in zip(y, product(mlp.outer, units, below), strict=True)]


def product(rows: Rows, vector: list[Enclosure], below: int) -> list[Enclosure]:
    """Rows / below times a vector of enclosures, whose ends are put over one denominator first."""
    under = lcm(1, *(end.denominator for x in vector for end in (x.low, x.high)))
    low = [x.low.numerator * (under // x.low.denominator) for x in vector]
    wide = [
        0 if x.exact else x.high.numerator * (under // x.high.denominator) - v for x, v in zip(vector, low, strict=True)
    ]
    found = []
    for row, start in zip(rows, times(rows, low), strict=True):
        moves = [a * w for a, w in zip(row, wide, strict=True) if w]
        down, up = (start + sum(m for m in moves if m * sign > 0) for sign in (-1, 1))
        found.append(Enclosure(Fraction(down, under * below), Fraction(up, under * below)).rounded())
    return found


def _attend(model: Model, head: Head, view: View, query: list[int]) -> list[Enclosure]:
    """V times the weighted mean of what the positions hold, equal ones taken together; 0 if all are masked."""
    keys = _keys(model, head, view, query)
    weight = _weights(model, [logit for logit, _, _ in keys], view.length)
    masses: dict[Type, Enclosure] = {}
    for logit, kind, count in keys:
        if weight[logit].high > 0:
            masses[kind] = masses.get(kind, NOTHING) + weight[logit] * count
    if not masses:
        return [NOTHING] * len(query)
    columns = zip(*map(model.vector, masses), strict=True)
    total = sum(masses.values(), NOTHING) * model.below
    mean = [
        sum((m * c for m, c in zip(masses.values(), column, strict=True) if c), NOTHING) / total for column in columns
    ]
    return product(head.value, mean, model.below)


def _keys(model: Model, head: Head, view: View, query: list[int]) -> list[tuple[int, Type, int]]:
    """(logit over below^4, type, how often) of everything in the string that is not masked."""
    n, period = view.length, model.period
    toward = times([list(column) for column in zip(*head.key, strict=True)], times(head.query, query))
    counts: dict[Type, int] = {}
    for token, row in enumerate(view.table):
        for residue, count in enumerate(row):
            if count:
                kind = token, residue % period
                counts[kind] = counts.get(kind, 0) + count
    near = [(token, (n - offset) % period) for offset, token in enumerate(reversed(view.suffix))]
    content = {kind: sum(map(mul, toward, model.vector(kind))) for kind in {*near, *counts}}
    shifts = [head.shift(offset) for offset in range(len(near))]
    local = [
        (content[kind] + phi * model.below**3, kind, 1)
        for kind, phi in zip(near, shifts, strict=True)
        if phi is not None
    ]
    return local + [(content[kind], kind, count) for kind, count in counts.items()]


def _weights(model: Model, logits: list[int], length: int) -> dict[int, Enclosure]:
    """The weight of every logit by the rule of section 4, relative to the largest; flushed ones are exactly 0.

    A weight below 2^-least may be rounded to the enclosure of 0 and 2^-least: all together they change a sum that has a
    weight 1 in it by less than 2^-BITS.
    """
    values = sorted(set(logits), reverse=True)
    gaps = [Fraction(values[0] - value, model.below**4) for value in values]
    least, kept, bits = BITS + 64 + length.bit_length(), len(gaps), model.bits
    stretch = Enclosure.of(1)
    if model.attention == "log-length" and len(gaps) > 1:
        stretch = log(Fraction(length), BITS + 64 + int(gaps[-1]).bit_length())
    if bits is not None:  # flushed or not is monotone in the gap
        kept = 1 + bisect_left(gaps[1:], True, key=lambda gap: reaches(length, gap, bits))
    weights = [exp(stretch * -gap, least=least) for gap in gaps[:kept]]
    return dict(zip(values, weights + [NOTHING] * (len(gaps) - kept), strict=True))


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
