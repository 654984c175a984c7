"""The construction sharpened: with smaller constants than its proof needs, as long as the exact errors allow it."""

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction

from lengthwise.theory.build import Group, constant
from lengthwise.theory.realise import by_type
from lengthwise.theory.stand_ins import Fits, StandIn, attempt, shortest_of
from lengthwise.type_counts import Counts

COARSE, STEPS = 24, 48  # constants tried over the whole range, then from the best one down
SHRINK = Fraction(19, 20)
PROMISING = 8.0  # how far beyond its budgets a prefix may be, by floats, to be evaluated at all


def shortest_construction(counts: Counts, groups: Sequence[Group], least_length: int, fits: Fits) -> StandIn | None:
    """The shortest fitting prefix of the construction with its constant c and with smaller ones, c theta.

    A smaller constant gives a shorter prefix that may or may not fit: the theorem's one always does, and is among
    those tried. theta falls from 1 to where no group gets a copy, in steps of a common ratio, and then in finer ones
    from the best so far. Smaller constants also try the length floor lowered alike. Source: one-layer note, section 5,
    practical sharpening (there theta = 0.7^j).
    """
    whole, factors = attempt(counts, groups, least_length), _falling(Fraction(1), _least_factor(counts, groups), COARSE)
    tried = {whole: Fraction(1)} | _lowered(counts, groups, least_length, factors)
    best = shortest_of(tried, fits)
    if best is None:
        return None
    factors = _falling(tried[best], _least_factor(counts, groups), STEPS)
    finer = (table for table in _lowered(counts, groups, least_length, factors) if sum(table) < sum(best))
    best = shortest_of((table for table in finer if _excess(by_type(counts), table, groups) < PROMISING), fits) or best
    return StandIn(best, "construction" if best == whole else "sharpened construction")


def _least_factor(counts: Counts, groups: Sequence[Group]) -> Fraction:
    """Below it c / eta < 1/2 for every budget eta, so no group gets a copy."""
    c = constant(groups, sum(count > 0 for count in by_type(counts)), counts.period)
    return min((group.budget for group in groups if group.types), default=Fraction(1)) / (4 * c)


def _falling(first: Fraction, last: Fraction, steps: int) -> Iterator[Fraction]:
    """Numbers in equal ratios, a power of 0.95, below the first and down to the last."""
    whole = last / first
    needed = math.ceil((math.log(whole.denominator) - math.log(whole.numerator)) / -math.log(SHRINK))
    stride = -(-needed // steps)
    for step in range(1, min(steps, needed) + 1):
        yield first * SHRINK ** (stride * step)


def _lowered(
    counts: Counts, groups: Sequence[Group], least_length: int, factors: Iterator[Fraction]
) -> dict[tuple[int, ...], Fraction]:
    """The prefixes of the construction with its constant times each factor, each with its first factor.

    Where the length floor is what decides, also those with the floor times the factor.
    """
    found: dict[tuple[int, ...], Fraction] = {}
    for factor in factors:
        table = attempt(counts, groups, least_length, factor)
        found.setdefault(table, factor)
        if sum(table) + len(counts.suffix) < least_length + counts.period:
            found.setdefault(attempt(counts, groups, math.ceil(least_length * factor), factor), factor)
    return found


def _excess(long: Sequence[int], short: Sequence[int], groups: Sequence[Group]) -> float:
    """About sum_a L_a TV_a / error, with equal shares L_a eta_a of the error: floats that only choose what to try."""
    acting = [group for group in groups if group.types]
    total = 0.0
    for group in acting:
        before, after = group.mass(long), group.mass(short)
        if not after:
            return math.inf
        moved = sum(abs(long[t] / before - short[t] / after) for t in group.types)
        moved += abs(group.suffix / before - group.suffix / after)
        total += moved / 2 / (float(group.budget) or math.ulp(0.0))
    return total / max(len(acting), 1)
