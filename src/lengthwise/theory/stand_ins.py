"""Which short strings to try for a long one, regime by regime; what is tried is checked exactly afterwards."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from lengthwise.exact import ceil_power_of_two
from lengthwise.theory.budgets import HeadOf
from lengthwise.theory.build import Group, build_z, constant
from lengthwise.theory.errors import Reading
from lengthwise.theory.realise import by_type
from lengthwise.theory.scaling import scale
from lengthwise.type_counts import Counts

HALVINGS = 20  # budgets 1/2, 1/4, ..., for heads whose sensitivity is infinite
_ONE = Fraction(1)
Fits = Callable[[tuple[int, ...]], bool]


@dataclass(frozen=True)
class StandIn:
    """A short prefix by type, and how it was made."""

    table: tuple[int, ...]
    method: str


def realised_groups(readings: Sequence[Reading], counts: Counts, budgets: Mapping[HeadOf, Fraction]) -> list[Group]:
    """What heads (model, head) with a budget attend to on one string; one head stands for all that are equivalent."""
    table, found = by_type(counts), []
    for (model, head), budget in budgets.items():
        attended = readings[model % len(readings)].views[head].attended(table)  # one model may be counted twice
        found.append(Group(attended.types, len(attended.offsets), budget))
    return found


def hardmax_length(readings: Sequence[Reading], counts: Counts, heads: Sequence[HeadOf]) -> int | None:
    """The least length from which these heads are a hardmax, by their gaps on this string: max ceil(2^(p / gap)).

    A string whose types are among this one's, and whose largest logits are the same, has no smaller gap. None where the
    string itself is shorter. Source: one-layer note, section 2, instance refinement.
    """
    table, least = by_type(counts), 1
    for model, head in heads:
        reading = readings[model % len(readings)]
        gap, bits = reading.views[head].attended(table).gap, reading.model.bits
        if gap == math.inf:
            continue
        if bits is None:
            return None
        exponent = bits / Fraction(gap)
        if exponent > counts.length.bit_length():
            return None
        least = max(least, ceil_power_of_two(exponent))
    return least if least <= counts.length else None


def attempt(counts: Counts, groups: Sequence[Group], least_length: int, factor: Fraction = _ONE) -> tuple[int, ...]:
    """The construction with the constant of its proof times a factor; the prefix itself where it does not apply."""
    table = by_type(counts)
    c = factor * constant(groups, sum(count > 0 for count in table), counts.period)
    built = build_z(table, counts.period, len(counts.suffix), groups, least_length, c)
    return table if built is None else built.table


def shortest_of(tables: Iterable[tuple[int, ...]], fits: Fits) -> tuple[int, ...] | None:
    """The shortest that fits; equally short ones in the order of their counts."""
    return next((table for table in sorted(set(tables), key=lambda table: (sum(table), table)) if fits(table)), None)


def shortest_halving(counts: Counts, groups: Sequence[Group], least_length: int, fits: Fits) -> StandIn | None:
    """The construction with budgets 1/2, 1/4, ... alike for all groups: no theorem says which one is small enough."""
    budgets = (Fraction(1, 1 << power) for power in range(1, HALVINGS + 1))
    alike = ([replace(group, budget=budget) for group in groups] for budget in budgets)
    found = shortest_of((attempt(counts, one, least_length) for one in alike), fits)
    return None if found is None else StandIn(found, "halved budgets")


def shortest_scaling(counts: Counts, fits: Fits, largest: int | None = None) -> StandIn | None:
    """The shortest prefix with the proportions of the long one that fits, as far as doubling and bisection find it.

    Class sizes 0, 1, 2, 4, ... and at last the largest, then bisection down to the last that failed; None if all failed.
    """
    table, period = by_type(counts), counts.period
    top = sum(table) // period - 1
    if largest is not None:
        top = min(top, largest)
    failed = -1
    for size in _doubling(top):
        if fits(scale(table, period, size)):
            break
        failed = size
    else:
        return None
    while size - failed > 1:
        middle = (size + failed) // 2
        if fits(scale(table, period, middle)):
            size = middle
        else:
            failed = middle
    return StandIn(scale(table, period, size), "proportional")


def _doubling(top: int) -> Iterator[int]:
    """0, 1, 2, 4, ... and, last, the top."""
    size = 0
    while size < top:
        yield size
        size = max(1, 2 * size)
    if top >= 0:
        yield top
