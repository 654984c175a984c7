"""How a number of rows grows with the length: constant, logarithmic, linear, or too little seen to tell."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Literal

Verdict = Literal["constant", "logarithmic", "linear", "undecided"]
FEWEST = 4  # half-lengths below which nothing is said
FIRST = 3  # the fits leave out smaller half-lengths
CLEARER = 2.0  # how many times smaller the error of the better fit must be


@dataclass(frozen=True)
class Fit:
    """bits = start + slope * (log2 n, or n), and its root mean square error."""

    start: float
    slope: float
    error: float


@dataclass(frozen=True)
class Growth:
    """The verdict with both fits, None where it needed none."""

    verdict: Verdict
    logarithmic: Fit | None = None
    linear: Fit | None = None

    def fits(self) -> dict[str, dict[str, float] | None]:
        """Both fits in words."""
        return {
            name: None if fit is None else {"start": fit.start, "slope": fit.slope, "error": fit.error}
            for name, fit in (("logarithmic", self.logarithmic), ("linear", self.linear))
        }


def growth_of(counts: Sequence[int]) -> Growth:
    """How rows grow over the half-lengths n = 1, 2, ...

    The running maximum is taken, since raw counts of some languages go up and down. Unchanged over the second half of
    the range: constant. Else least squares of log2 rows against log2 n and against n, from n = 3 on; the better one
    wins if its error is at most half the other's. Source: facts on communication complexity, section 8.2: our rule.
    """
    highest = list(accumulate(counts, max))
    if len(counts) >= FEWEST and highest[len(counts) // 2 - 1] == highest[-1]:
        return Growth("constant")
    points = [(n, math.log2(count)) for n, count in enumerate(highest, start=1) if n >= FIRST]
    if len(points) < 3:
        return Growth("undecided")
    logarithmic = least_squares([(math.log2(n), bits) for n, bits in points])
    linear = least_squares([(float(n), bits) for n, bits in points])
    if linear.error * CLEARER <= logarithmic.error:
        return Growth("linear", logarithmic, linear)
    if logarithmic.error * CLEARER <= linear.error:
        return Growth("logarithmic", logarithmic, linear)
    return Growth("undecided", logarithmic, linear)


def least_squares(points: Sequence[tuple[float, float]]) -> Fit:
    """The line through points with the least root mean square error."""
    count = len(points)
    across, up = math.fsum(x for x, _ in points) / count, math.fsum(y for _, y in points) / count
    spread = math.fsum((x - across) ** 2 for x, _ in points)
    slope = math.fsum((x - across) * (y - up) for x, y in points) / spread
    start = up - slope * across
    error = math.sqrt(math.fsum((y - start - slope * x) ** 2 for x, y in points) / count)
    return Fit(start, slope, error)
