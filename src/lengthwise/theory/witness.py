"""Concrete strings near the worst corners of cells, and the one on which the error is proven to be at least so large."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float

from lengthwise.exact import Ball
from lengthwise.theory.admitted import Problem
from lengthwise.theory.cell_tree import Node, Root
from lengthwise.theory.errors import Reading
from lengthwise.theory.forms import Forms
from lengthwise.theory.short_strings import apart_at, counts_from
from lengthwise.type_counts import Counts

if TYPE_CHECKING:
    from fractions import Fraction

LONGEST = 40  # log2 of the class size at which corners are tried; the shortest string that is as bad is reported
ROUND = 10**12  # a class size of which decimal shares are whole numbers, where a condition is an equation
INWARD = 2.0**-16  # how far a corner is also moved inward, for conditions that rounding to whole counts would break
SHARES = (2.0**-10, 2.0**-20)  # of a scored corner, mixed into one that is not


@dataclass(frozen=True)
class Witness:
    """A string, by its counts, and the error that it certainly has."""

    counts: Counts
    least: float


class Best:
    """The worst string so far; errors in floating point until `proven`."""

    def __init__(self, problem: Problem) -> None:
        self.problem, self.error = problem, 0.0
        self.counts: Counts | None = None
        self.source: tuple[Forms, Float[np.ndarray, "period symbols"]] | None = None

    def take(
        self,
        error: float,
        counts: Counts,
        source: tuple[Forms, Float[np.ndarray, "period symbols"]] | None = None,
    ) -> None:
        """Keeps a string if it is worse than the worst so far."""
        if self.counts is None or error > self.error:
            self.error, self.counts, self.source = error, counts, source

    def proven(self, tolerance: float, above: float = 0.0) -> Witness | None:
        """The witness: the shortest string of the worst one's frequencies that is nearly as bad, its error enclosed.

        above: what the shorter string must exceed if the worst one does.
        """
        if self.counts is None:
            return None
        chosen, enough = self.counts, self.error - tolerance / 50
        if self.error > above:
            enough = max(enough, (self.error + above) / 2)
        if self.source is not None:
            forms, point = self.source
            tried = (_string(self.problem, forms, point, 1 << size) for size in range(1, LONGEST))
            chosen = next((one[1] for one in tried if one is not None and one[0] >= enough), chosen)
        return Witness(chosen, _least(self.problem, chosen))


def near_corners(best: Best, root: Root, leaves: Sequence[Node]) -> None:
    """Tries strings at the corners of some cells, between corners that the target sees and those it does not."""
    for leaf in leaves:
        if best.counts is not None and leaf.reach <= best.error:
            continue
        for point, size in _points(root, leaf):
            found = _string(best.problem, root.forms, point, size)
            if found is not None:
                best.take(*found, (root.forms, point))


def _points(root: Root, leaf: Node) -> Iterator[tuple[Float[np.ndarray, "period symbols"], int]]:
    """Points of a cell, with the class size at which they are tried."""
    vertices = [q[0] for q in leaf.cell.vertices]
    middle = np.stack([q.mean(0) for q in vertices])
    low, high = leaf.cell.interval[0]
    size = 1 << LONGEST if low == 0 else max(1, math.floor(1 / low))
    if root.timed and high > 0 and low > 0:
        size = max(math.ceil(1 / high), min(size, math.floor(1 / low)))
    corners = [np.stack(choice) for choice in product(*vertices)]
    yield middle, size
    for corner in corners:
        yield corner, size
        if root.forms.conditions:
            yield (1 - INWARD) * corner + INWARD * middle, size
            if low == 0:
                yield corner, ROUND
    under = root.forms.types[-1 - root.forms.conditions]
    blind = [corner for corner in corners if not (under * corner).sum()]
    for corner in blind:
        for other in corners:
            for share in SHARES:
                yield (1 - share) * corner + share * other, size


def _string(
    problem: Problem, forms: Forms, point: Float[np.ndarray, "period symbols"], size: int
) -> tuple[float, Counts] | None:
    """The string of a class size whose frequencies are nearest a point, with its error; None if there is none."""
    table = [
        rounded(row, size + extra, forms.suffix[-1] if not forms.apart and r == forms.residue else None)
        for r, (row, extra) in enumerate(zip(point, forms.extra(), strict=True))
    ]
    counts = counts_from(forms.suffix, table, forms.apart, forms.residue)
    if counts is None or counts.length < problem.shortest or not problem.holds(counts):
        return None
    if problem.model.attention != "plain" and counts.length < problem.hard_from:
        return None
    apart = apart_at(forms, np.asarray([table], dtype=np.float64))
    return float(abs(apart[0])), counts


def rounded(shares: Float[np.ndarray, " symbols"], total: int, at_least_one: int | None = None) -> list[int]:
    """Whole numbers near total * shares with that sum: largest remainders go up; one token may have to occur."""
    exact = [max(0.0, share) * total for share in shares.tolist()]
    counts = [math.floor(value) for value in exact]
    order = sorted(range(len(counts)), key=lambda s: counts[s] - exact[s])
    missing = total - sum(counts)
    for place in range(missing):
        counts[order[place % len(counts)]] += 1
    if missing < 0:  # floats of large totals may have been rounded up
        counts[max(range(len(counts)), key=counts.__getitem__)] += missing
    if at_least_one is not None and total and not counts[at_least_one]:
        largest = max(range(len(counts)), key=counts.__getitem__)
        counts[largest] -= 1
        counts[at_least_one] += 1
    return counts


def error_on(problem: Problem, counts: Counts) -> "Ball":
    """|f - T| on a string, enclosed."""
    table = [count for row in counts.table for count in row]
    [output] = Reading.of(problem.model, counts).outputs(table, counts.length)
    found: Fraction | Ball = output - problem.target.value(counts)
    return abs(Ball.of(found))


def _least(problem: Problem, counts: Counts) -> float:
    return max(0.0, error_on(problem, counts).lower())
