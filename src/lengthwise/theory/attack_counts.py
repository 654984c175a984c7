"""The worst count table: where one layer is furthest from its target, by search over all lengths.

For one layer read at the last position a string is a table of counts and an ending, so the search runs over those, at a
cost that does not grow with the length. What it finds is a lower bound on the worst error, and nothing is promised
about what it does not find, except where it went through all tables.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from lengthwise.theory.ascent import climbed
from lengthwise.theory.count_moves import neighbours
from lengthwise.theory.count_space import CHUNK, CountSpace, joined, select
from lengthwise.theory.effort import Effort, Tally
from lengthwise.theory.feasible import Inside
from lengthwise.type_counts import Counts, Statistics

Errors = Callable[[Statistics], Float[np.ndarray, " batch"]]

ENUMERATING = 0.4  # share of the evaluations for going through all tables of the shortest lengths
ROUNDS = 6
SCREENING, CLIMBING = 0.25, 0.45  # shares of a round; the rest is for whole steps
CLIMBERS = 32
WALKERS = 6


@dataclass(frozen=True)
class WorstCounts:
    """The worst table that was found, and how the search went.

    counts: None where no table met the condition. every_to: all tables of lengths up to here were tried (0: of none);
    complete: of all lengths. trace: pairs (evaluations, largest error so far), one for each improvement.
    """

    counts: Counts | None
    error: float
    evaluations: int
    restarts: int
    trace: tuple[tuple[int, float], ...]
    every_to: int
    complete: bool


def attack_counts(errors: Errors, space: CountSpace, effort: Effort) -> WorstCounts:
    """The table of a space with the largest error that the search finds; errors(tables) are those of many tables.

    First all tables of the shortest lengths, while they are few. Then rounds of three steps: random tables, many of
    them at corners and edges; from the worst ones up the slope of the error over relaxed frequencies; rounded, by whole
    steps: moving 1, 2, 4, ... tokens of a residue, changing the ending, lengthening and shortening.
    """
    tally, generator, inside = Tally(effort), np.random.default_rng(effort.seed), Inside(space)
    every_to = _enumerate(errors, space, tally)
    complete = every_to >= space.longest
    if not complete:
        lengths = space.grid(every_to)
        share = max(200, tally.left // ROUNDS)
        while tally.left:
            before = tally.evaluations
            tally.restarts += 1
            _round(errors, space, inside, tally, generator, lengths, min(share, tally.left))
            if tally.evaluations == before:  # nothing meets the condition at these lengths
                break
    counts = None if tally.best is None else space.counts(tally.best, 0)
    return WorstCounts(counts, tally.error, tally.evaluations, tally.restarts, tuple(tally.trace), every_to, complete)


def _enumerate(errors: Errors, space: CountSpace, tally: Tally) -> int:
    """Goes through all tables of the shortest lengths, and says up to which."""
    allowed, seen = tally.effort.evaluations, 0
    if not _fits(space, allowed):
        allowed = int(ENUMERATING * allowed)
    for length in range(space.shortest, space.longest + 1):
        seen += space.tables_at(length)
        if seen > allowed or not tally.left:
            return length - 1 if length > space.shortest else 0
        for tables in space.every(length):
            _try(errors, tables, tally)
    return space.longest


def _fits(space: CountSpace, allowed: int) -> bool:
    """Whether there are at most so many tables of all lengths."""
    seen = 0
    for length in range(space.shortest, space.longest + 1):
        seen += space.tables_at(length)
        if seen > allowed:
            return False
    return True


def _try(errors: Errors, tables: Statistics, tally: Tally) -> Float[np.ndarray, " batch"]:
    """Evaluates whole tables."""
    if not len(tables.length):
        return np.zeros(0)
    found = errors(tables)
    tally.add(found, lambda place: select(tables, np.asarray([place])))
    return found


def _round(
    errors: Errors,
    space: CountSpace,
    inside: Inside,
    tally: Tally,
    generator: np.random.Generator,
    lengths: Int[np.ndarray, " lengths"],
    share: int,
) -> None:
    """Random tables, the climb from the worst of them, and whole steps from where it ends."""
    drawn = max(20, min(int(SCREENING * share), CHUNK))
    tables = space.draw(generator, generator.choice(lengths, drawn))
    if space.where is not None:
        tables = _fewer_endings(tables)
        tables, centres = inside.centred(tables)
        tables = space.rounded(inside.within(tables, centres, _slack(space, tables)))
    found = _try(errors, tables, tally)
    if not len(found):
        return
    starts = select(tables, _apart(tables, found, CLIMBERS))
    starts, centres = inside.centred(starts)
    tops = climbed(errors, space, inside, starts, centres, tally, int(CLIMBING * share))
    whole = [
        space.rounded(inside.within(tops, centres, margin * _slack(space, tops)))
        for margin in ((0,) if space.where is None else (0, 0.25, 1))
    ]
    ends = joined([*whole, starts])
    found = _try(errors, ends, tally)
    walkers = select(ends, _apart(ends, found, WALKERS))
    allowed = int((1 - SCREENING - CLIMBING) * share)
    for place in range(len(walkers.length)):
        _walk(errors, space, select(walkers, np.asarray([place])), tally, generator, allowed // WALKERS)


def _slack(space: CountSpace, tables: Statistics) -> Float[np.ndarray, " batch"]:
    """How far from a condition's edge rounding is likely to stay within it, as a share of the way to the centre."""
    return np.asarray(np.minimum(0.5, 4.0 * space.period * space.symbols / tables.length))


def _walk(
    errors: Errors, space: CountSpace, here: Statistics, tally: Tally, generator: np.random.Generator, allowed: int
) -> None:
    """Steepest ascent by whole steps, until none of them leads up."""
    stop, error = tally.evaluations + allowed, -np.inf
    while tally.left and tally.evaluations < stop:
        around = neighbours(space, here, generator, max(50, allowed // 4))
        found = _try(errors, around, tally)
        if not len(found) or found.max() <= error * (1 + 1e-12):
            return
        error = float(found.max())
        here = select(around, np.asarray([int(np.argmax(found))]))


def _apart(tables: Statistics, found: Float[np.ndarray, " batch"], most: int) -> Int[np.ndarray, " _"]:
    """The worst tables, no two of which have one ending and frequencies within powers of two of each other."""
    shares = tables.prefix / np.maximum(tables.length, 1)
    cells = np.round(np.log2(np.maximum(shares, 1e-4))).astype(np.int8)
    kept: dict[tuple[bytes, bytes], int] = {}
    for place in np.argsort(-found, kind="stable"):
        kept.setdefault((tables.suffix[:, place].tobytes(), cells[:, place].tobytes()), int(place))
        if len(kept) == most:
            break
    return np.asarray(list(kept.values()), dtype=int)


def _fewer_endings(tables: Statistics, most: int = 64) -> Statistics:
    """The tables with the first so many pairs of length and ending: each pair costs a linear program."""
    pairs: dict[tuple[int, ...], None] = {}
    kept = []
    for place in range(len(tables.length)):
        key = (int(tables.length[place]), *map(int, tables.suffix[:, place]))
        if key in pairs or len(pairs) < most:
            pairs[key] = None
            kept.append(place)
    return select(tables, np.asarray(kept, dtype=int))
