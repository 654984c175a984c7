"""The least length at which Theorem A's error is small enough: floats find the windows, balls prove them."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction

from lengthwise.limit.arithmetic import Numbers, balls, floats
from lengthwise.theory.sampling_rates import Sampler
from lengthwise.theory.simulation import Pair

MOST_WINDOWS = 1_000  # so many window lengths are tried one by one; beyond, a geometric grid of them
LONGEST = 1 << 480  # blocks and windows beyond this are left to the closed forms; products fit a float
GRID = 1.2
EVERY = (0, 1, 2)


@dataclass(frozen=True)
class Windows:
    """A short string of blocks * window + 2 tau + Delta positions at most, and the proven error of the sampling.

    For the chain, `blocks` counts the kept positions on average, n, `window` its mean run, l, and the string has
    2 n + 2 tau + Delta positions at most. searched says whether every window length was tried.
    """

    sampler: Sampler
    blocks: int
    window: int
    length: int
    terms: tuple[float, float, float]
    searched: str

    @property
    def error(self) -> float:
        """The proven bound, at most the error asked for."""
        return math.nextafter(math.fsum(self.terms), math.inf)


def least_windows(pair: Pair, error: Fraction, sampler: Sampler, only: tuple[int, ...] = EVERY) -> Windows | None:
    """The least N with bound_X(f) + bound_X(g) <= error; None where floats cannot hold it or the constants.

        S1, S2:  N = KB + 2 tau + Delta over K >= 1, B a multiple of Delta;     M:  N = 2n + 2 tau + Delta over n, l

    only: the terms (sampling, histogram, limit) that count; all of them for a bound. Source: two-layer note,
    Theorem B.1 and section 8.4. Ours: the search runs on floats, and the windows it ends at are proved in balls, so
    the answer is a bound whatever the floats did; that it is the least one is as true as the floats.
    """
    if pair.overflows:
        return None
    exact = balls()

    def size(blocks: int, window: int) -> int:
        return 2 * blocks if sampler == "chain" else blocks * window

    def holds(blocks: int, window: int, numbers: Numbers = floats()) -> bool:  # noqa: B008
        proving = numbers is exact
        wanted = error if proving else float(error)
        terms = pair.sampled(pair.rates(sampler, blocks, window, numbers), numbers)
        total = numbers.total(terms[kind] for kind in only if kind < 2)
        if (total.upper() if proving else total) > wanted:
            return False  # the limit term, the slow one, would only add to it
        if 2 in only:
            total = total + pair.limit(sampler, blocks, window, numbers)
        return bool((total.upper() if proving else total) <= wanted)

    found, searched = _search(pair, sampler, holds, size)
    if found is None:
        return None
    blocks, window = found
    while not holds(blocks, window, exact):
        blocks += max(1, blocks >> 40)
    shape = pair.shape
    proven = pair.terms(sampler, blocks, window, exact)
    return Windows(
        sampler,
        blocks,
        window,
        size(blocks, window) + 2 * shape.locality + shape.period,
        (proven[0].upper(), proven[1].upper(), proven[2].upper()),
        searched,
    )


def _search(
    pair: Pair, sampler: Sampler, holds: Callable[[int, int], bool], size: Callable[[int, int], int]
) -> tuple[tuple[int, int] | None, str]:
    """The best (blocks, window) over a geometric grid of windows, then over all of them where they are few."""
    period = pair.shape.period
    best: tuple[int, int] | None = None

    def least_blocks(window: int) -> int:
        """M needs n > 8 l."""
        return 8 * window + 1 if sampler == "chain" else 1

    def tried(window: int, best: tuple[int, int] | None) -> tuple[int, int] | None:
        low = least_blocks(window) - 1
        high = _largest(size(*best), window, sampler) if best else _doubled(low + 1, window, holds)
        if high is None or high <= low or not holds(high, window):
            return best
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if holds(middle, window) else (middle, high)
        return high, window

    for window in _grid(period, 2 * period if sampler == "chain" else period):
        if window > LONGEST >> 8 or (best and size(least_blocks(window), window) >= size(*best)):
            break
        best = tried(window, best)
    if best is None:
        return None, "grid"
    furthest = math.isqrt(size(*best)) if sampler == "chain" else size(*best) // max(_fewest(best, holds), 1)
    if furthest // period > MOST_WINDOWS:
        return best, "grid"
    for window in range(2 * period if sampler == "chain" else period, furthest + 1, period):
        best = tried(window, best)
    return best, "every window"


def _fewest(best: tuple[int, int], holds: Callable[[int, int], bool]) -> int:
    """No fewer blocks than these do with any window: found with one far longer than any that could be used."""
    low, high, window = 0, best[0], min(best[0] * best[1] << 60, LONGEST << 480)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle, window) else (middle, high)
    return high


def _largest(length: int, window: int, sampler: Sampler) -> int:
    """The most blocks of this window in a string shorter than a length."""
    return (length - 1) // 2 if sampler == "chain" else (length - 1) // window


def _doubled(start: int, window: int, holds: Callable[[int, int], bool]) -> int | None:
    if not holds(LONGEST, window):
        return None
    blocks = start
    while not holds(blocks, window):
        blocks *= 2
    return blocks


def _grid(period: int, start: int) -> Iterator[int]:
    window = start
    while True:
        yield window
        window = (
            max(window + period, int(window * GRID) // period * period)
            if window < 1 << 50
            else window * 6 // 5 // period * period
        )
