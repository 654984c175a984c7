"""The output of a model as sums of what every entry of a string contributes, in fixed point with one proved slack.

With shares p_(a,k) of the entries k in the heads a, Y = e_query + sum p V_a e_k, and the output is

    U Y + sum_j w_j psi_j(A_j Y + b_j),  w = U B.

A *column* is one sum of contributions: column 0 is U Y with the identity units in it; a relu unit is one, scaled by |w_j|
(relu is positively homogeneous), those with w_j > 0 first; then the sin and tanh units, unscaled.
"""

from collections.abc import Sequence
from fractions import Fraction
from math import ceil
from operator import mul

from .claim import Case
from .enclose import Enclosure, sin, tanh
from .model import MLP, Type, times
from .weigh import types

SPARE = 40  # binary places beyond those that all roundings together can touch


class Network:
    """Contributions by head and type, rounded to `places` binary places, and how far all roundings can move an output."""

    def __init__(self, case: Case) -> None:
        self.model = model = case.model
        mlp = model.mlp or MLP([], [], [[] for _ in model.positions[0]], [])
        weights = times([list(column) for column in zip(*mlp.outer, strict=True)], model.unembedding[0])
        units = list(zip(mlp.activation, weights, mlp.inner, mlp.bias, strict=True))
        self.up = [unit for unit in units if unit[0] == "relu" and unit[1] > 0]
        self.down = [unit for unit in units if unit[0] == "relu" and unit[1] < 0]
        self.smooth = [unit for unit in units if unit[0] in ("sin", "tanh") and unit[1]]
        self.same = [unit for unit in units if unit[0] == "identity" and unit[1]]
        self.relus = len(self.up) + len(self.down)
        unit = model.below**5
        exact = [
            {kind: self._columns(times(head.value, model.vector(kind)), 0) for kind in types(model)}
            for head in model.heads
        ]
        # A share is cut by less than 1 ulp, a contribution by less than 1 ulp, and the shares of a head sum to 1 at most:
        # a column is off by less than its sum of |contributions| + heads + 1 ulps (the 1: the query's own part).
        repeats, near = case.period // model.period, case.reach + 1
        sizes = [len(model.heads) + 1] * (1 + self.relus + len(self.smooth))
        for rows in exact:
            for index, column in enumerate(zip(*rows.values(), strict=True)):
                absolute = list(map(abs, column))
                sizes[index] += ceil(Fraction(repeats * sum(absolute) + near * max(absolute), unit))
        # Column 0 and relu units move the output by what they are off, sin and tanh by |w_j| times that.
        self.factors = [Fraction(abs(weight), model.below**2) for _, weight, _, _ in self.smooth]
        ulps = sum(sizes[: 1 + self.relus]) + ceil(
            sum((f * size for f, size in zip(self.factors, sizes[1 + self.relus :], strict=True)), Fraction(0))
        )
        self.places = SPARE + ulps.bit_length()
        self.digits = 2 * self.places  # of a column: a share times a contribution
        # Once for the outputs, twice for the spreads of the heads' parts: every end of a spread is off by that much at most.
        self.slack = 3 * ulps << self.places
        self.off = [size << self.places for size in sizes[1 + self.relus :]]
        self.bases: dict[Type, list[int]] = {}
        self.rows = [{kind: [(v << self.places) // unit for v in row] for kind, row in rows.items()} for rows in exact]

    def base(self, query: Type) -> list[int]:
        """The columns of the query's own vector and the biases, with `digits` binary places."""
        kind = query[0], query[1] % self.model.period
        if kind not in self.bases:
            row = self._columns(self.model.vector(kind), self.model.below)
            self.bases[kind] = [((v << self.places) // self.model.below**4) << self.places for v in row]
        return self.bases[kind]

    def _columns(self, vector: list[int], one: int) -> list[int]:
        """A vector over D^k as columns over D^(k+3), D = below; `one` is D^k where k = 1 and the bias counts, else 0."""
        below = self.model.below
        moves = [
            [weight * (sum(map(mul, inner, vector)) + bias * one) for _, weight, inner, bias in units]
            for units in (self.same, self.up, self.down)
        ]
        straight = sum(map(mul, self.model.unembedding[0], vector)) * below**2 + sum(moves[0])
        smooth = [(sum(map(mul, inner, vector)) + bias * one) * below**2 for _, _, inner, bias in self.smooth]
        return [straight, *moves[1], *(-v for v in moves[2]), *smooth]

    def output(self, columns: Sequence[int]) -> tuple[int, int]:
        """The output for these columns, between two numbers."""
        rise, fall = columns[1 : 1 + len(self.up)], columns[1 + len(self.up) : 1 + self.relus]
        low = high = columns[0] + sum(v for v in rise if v > 0) - sum(v for v in fall if v > 0)
        for (name, weight, _, _), value in zip(self.smooth, columns[1 + self.relus :], strict=True):
            exact = Enclosure.of(Fraction(value, 1 << self.digits))
            bent = (sin if name == "sin" else tanh)(exact, self.places) * Fraction(weight, self.model.below**2)
            low, high = low + downward(bent.low, self.digits), high - downward(-bent.high, self.digits)
        return low, high


def downward(value: Fraction, digits: int) -> int:
    """The largest number with so many binary places that is not above."""
    return (value.numerator << digits) // value.denominator
