"""Where the outputs of the first layer can lie: a box that contains every exact and every limiting one."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from lengthwise.exact import Ball, RationalMatrix, common_denominator, entries, matrix_of
from lengthwise.limit.model import MLP, LimitTransformer
from lengthwise.limit.tables import exact, head_values, type_vectors

Interval = tuple[Fraction, Fraction]


@dataclass(frozen=True)
class Box:
    """One interval a coordinate, ends included."""

    low: tuple[Fraction, ...]
    high: tuple[Fraction, ...]

    @property
    def widths(self) -> list[Fraction]:
        """Wd = hi - lo."""
        return [high - low for low, high in zip(self.low, self.high, strict=True)]

    @property
    def centre(self) -> list[Fraction]:
        """Ctr = (hi + lo) / 2."""
        return [(high + low) / 2 for low, high in zip(self.low, self.high, strict=True)]

    @property
    def farthest(self) -> list[Fraction]:
        """max(|hi|, |lo|)."""
        return [max(abs(low), abs(high)) for low, high in zip(self.low, self.high, strict=True)]


def sees_nothing_at_first(phi: np.ndarray) -> bool:
    """Whether offset 0 is masked: then position 1 has no key and the head's output 0 there is no mean of values."""
    return bool(len(phi)) and bool(np.isneginf(phi[0]))


def first_layer_box(model: LimitTransformer) -> Box:
    """A box around every output y_i of the first layer, exact or limiting.

        sup(a) = max_e a.y_e + sum_h max_e a.V_h y_e        support function of a convex set with all Y_i
        coordinates:   hiY_k = sup(e_k),  loY_k = -sup(-e_k)
        hidden units:  [lh_m, hh_m] = image under psi of [-sup(-a_m) + b_m, sup(a_m) + b_m]
        hi = hiY + B+ hh + B- lh,   lo = loY + B+ lh + B- hh,   B+ and B- the signed parts of B

    Source: two-layer note, section 2, box refinement. Ours: the note's step through A_1 needs a monotone psi; for sin
    we take the interval [sin c - r, sin c + r] within [-1, 1] (c, r centre and radius), because |sin'| <= 1. A head
    that masks offset 0 may give 0, so 0 joins its values.
    """
    types = type_vectors(model)
    layer = model.layers[0]
    parts = [(types, False)]
    parts += [(head_values(head, types), sees_nothing_at_first(np.asarray(head.phi))) for head in layer.heads]
    coordinates = _sums([_ranges(part, zero) for part, zero in parts])
    if layer.mlp is None or not len(layer.mlp.inner):
        return Box(tuple(low for low, _ in coordinates), tuple(high for _, high in coordinates))
    inner = exact(layer.mlp.inner).transpose()
    before = _sums([_ranges(part * inner, zero) for part, zero in parts])
    hidden = _images(layer.mlp, before)
    low, high = (matrix_of([[interval[end]] for interval in hidden]) for end in (0, 1))
    outer = np.asarray(layer.mlp.outer)
    up, down = exact(np.maximum(outer, 0)), exact(np.minimum(outer, 0))
    highest = [row[0] for row in entries(up * high + down * low)]
    lowest = [row[0] for row in entries(up * low + down * high)]
    return Box(
        tuple(own + extra for (own, _), extra in zip(coordinates, lowest, strict=True)),
        tuple(own + extra for (_, own), extra in zip(coordinates, highest, strict=True)),
    )


def _ranges(points: RationalMatrix, with_zero: bool) -> list[Interval]:
    """The least and largest value of every column."""
    numerators, denominator = common_denominator(points)
    columns = [(*column, 0) if with_zero else column for column in zip(*numerators, strict=True)]
    return [(Fraction(min(column), denominator), Fraction(max(column), denominator)) for column in columns]


def _sums(parts: list[list[Interval]]) -> list[Interval]:
    zero = Fraction(0)
    return [
        (sum((low for low, _ in column), zero), sum((high for _, high in column), zero))
        for column in zip(*parts, strict=True)
    ]


def _images(mlp: MLP, before: list[Interval]) -> list[Interval]:
    biases = [Fraction(float(value)) for value in np.asarray(mlp.bias)]
    return [
        image(name, (low + bias, high + bias))
        for name, bias, (low, high) in zip(mlp.activations, biases, before, strict=True)
    ]


def image(activation: str, interval: Interval) -> Interval:
    """An interval around the values an activation takes on an interval; no smaller one for relu and identity."""
    low, high = interval
    if activation == "relu":
        return max(low, Fraction(0)), max(high, Fraction(0))
    if activation == "tanh":
        ends = Ball.of(low).apply("tanh").lower(), Ball.of(high).apply("tanh").upper()
        return Fraction(ends[0]), Fraction(ends[1])
    if activation == "sin":
        radius, middle = (high - low) / 2, Ball.of((high + low) / 2).apply("sin")
        return max(Fraction(middle.lower()) - radius, Fraction(-1)), min(Fraction(middle.upper()) + radius, Fraction(1))
    assert activation == "identity", "complexity refuses steps"
    return low, high
