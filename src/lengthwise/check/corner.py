"""What a checker must know of the corner of a cell: masses and outputs of the heads, columns, output, target there."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from operator import mul

from .claim import Case
from .enclose import Enclosure, sin
from .model import Type
from .network import Network, downward
from .reader import Refused
from .weights import Frame, Weights

Columns = list[int]


@dataclass(frozen=True, slots=True)
class Whole:
    """The columns with all heads in them, the output between two numbers, and 1 by relu unit where its input is positive."""

    columns: Columns
    low: int
    high: int
    positive: int


@dataclass(frozen=True, slots=True)
class Corner:
    """Own columns by head (None without mass; the query's part is with the first); `whole` where no head lacks its mass.

    `ratio` is v = scale P / Q and [low, high] encloses psi(v); None and 0 where Q = 0.
    """

    counts: list[int]
    masses: list[int]
    own: list[Columns | None]
    whole: Whole | None
    over: int
    under: int
    ratio: Fraction | None
    low: int
    high: int


class Scene:
    """All strings with one ending and residue, one sort of weights: turns numbers of entries into a corner.

    With weights w(1 + x) instead of w, 0 <= x <= error, two laws are reweighted by factors of ratio 1 + error, so their total
    variation is at most error / (4 + error) <= error / 4 (section 8), and the output moves by at most that times L_a.
    """

    def __init__(
        self, case: Case, network: Network, frame: Frame, weights: Weights, errors: Sequence[Fraction] = ()
    ) -> None:
        self.case, self.network, self.weights = case, network, weights
        kinds = case.types + frame.near
        own = case.model.period
        self.rows = [[rows[token, residue % own] for token, residue in kinds] for rows in network.rows]
        self.base = network.base(frame.query)
        self.over, self.under, *self.conditions = (
            self._by_entry(row, frame.near) for row in (case.target.over, case.target.under, *case.conditions)
        )
        moved = sum((L * error / 4 for L, error in zip(case.sensitivities, errors, strict=False)), Fraction(0))
        self.slack = network.slack + ceil(moved * (1 << network.digits))
        ending = [frame.query, *frame.near]
        self.always_scored = any(case.target.under[r * case.model.symbols + token] > 0 for token, r in ending)
        self.tail = case.target.ending([token for token, _ in reversed(frame.near)])

    def _by_entry(self, row: list[int], near: list[Type]) -> list[int]:
        return row + [row[residue * self.case.model.symbols + token] for token, residue in near]

    def meets(self, counts: list[int]) -> bool:
        """Whether all conditions hold for these numbers of entries."""
        return all(sum(map(mul, row, counts)) >= 0 for row in self.conditions)

    def at(self, counts: list[int], alone: bool = False) -> Corner:
        """The corner with these numbers of entries; `alone`: a string, on which a head without mass gives 0."""
        masses: list[int] = []
        own: list[Columns | None] = []
        nothing = [0] * len(self.base)
        for head, (weights, rows) in enumerate(zip(self.weights, self.rows, strict=True)):
            heavy = list(map(mul, weights, counts))
            mass = sum(heavy)
            parts = [(w << self.network.places) // mass for w in heavy if w]
            total = nothing if head else self.base
            total = _plus(total, parts, [row for w, row in zip(heavy, rows, strict=True) if w])
            masses.append(mass or int(alone))
            own.append(total if masses[-1] else None)
        whole = None if None in own else self.whole([v for v in own if v is not None])
        over, under = sum(map(mul, self.over, counts)), sum(map(mul, self.under, counts))
        if not under:
            return Corner(counts, masses, own, whole, over, 0, None, 0, 0)
        ratio = self.case.target.scale * over / under
        bent = Enclosure.of(ratio)
        if self.case.target.activation == "sin":
            bent = sin(bent, self.network.places + 8)
        digits = self.network.digits
        ends = downward(bent.low, digits), -downward(-bent.high, digits)
        return Corner(counts, masses, own, whole, over, under, ratio, *ends)

    def whole(self, own: list[Columns]) -> Whole:
        """All heads together."""
        columns = own[0] if len(own) == 1 else list(map(sum, zip(*own, strict=True)))
        low, high = self.network.output(columns)
        signs = bytes([v > 0 for v in columns[1 : 1 + self.network.relus]])
        return Whole(columns, low, high, int.from_bytes(signs, "little"))


def _plus(start: Columns, shares: list[int], rows: list[Columns]) -> Columns:
    """The columns plus shares times rows; three rows at once where there are three, which is much faster."""
    threes = len(rows) // 3 * 3
    for index in range(0, threes, 3):
        (a, b, c), (u, v, w) = shares[index : index + 3], rows[index : index + 3]
        start = [s + a * x + b * y + c * z for s, x, y, z in zip(start, u, v, w, strict=True)]
    for share, row in zip(shares[threes:], rows[threes:], strict=True):
        start = [s + share * x for s, x in zip(start, row, strict=True)]
    return start


def reweighting(tops: list[int], bottoms: list[int]) -> Fraction:
    """(rho - 1) / (rho + 3), rho the largest ratio of two values of top / bottom; 1 if one of a pair is 0, and not both."""
    pairs = [(top, bottom) for top, bottom in zip(tops, bottoms, strict=True) if top or bottom]
    if not all(top and bottom for top, bottom in pairs):
        return Fraction(1)
    most = least = pairs[0]
    for top, bottom in pairs:
        if top * most[1] > most[0] * bottom:
            most = top, bottom
        if top * least[1] < least[0] * bottom:
            least = top, bottom
    high, low = most[0] * least[1], least[0] * most[1]
    return Fraction(high - low, high + 3 * low)


def check_scored(corners: list[Corner]) -> None:
    """P is 0 where Q is, or P / Q could be anything between the corners."""
    if any(c.under for c in corners) and any(c.over and not c.under for c in corners):
        raise Refused(
            "the target has no bound on the cell: its numerator is not 0 at a corner where its denominator is"
        )
