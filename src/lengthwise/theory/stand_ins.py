"""Which short strings to try for a long one, regime by regime; what is tried is checked exactly afterwards."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from lengthwise.exact import ceil_power_of_two
from lengthwise.theory.budgets import HeadOf
from lengthwise.theory.build import Group, build_z, constant
from lengthwise.theory.errors import Reading
from lengthwise.theory.realise import by_type
from lengthwise.theory.scaling import scale
from lengthwise.type_counts import Counts

SHRINK = Fraction(7, 10)  # theta: how fast the construction's constant is lowered from one attempt to the next
LEAST_CONSTANT = Fraction(1, 64)  # below it nothing but the largest type of a group is copied any more
HALVINGS = 20  # budgets 1/2, 1/4, ..., for heads whose sensitivity is infinite


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


def constructed(counts: Counts, groups: Sequence[Group], least_length: int) -> Iterator[StandIn]:
    """The construction with its constant c, and with c theta^j, theta = 0.7, where it is sharper than the proof allows.

    Lower constants also try the length floor lowered alike. Source: one-layer note, section 5, practical sharpening.
    """
    table, suffix = by_type(counts), len(counts.suffix)
    c = constant(groups, sum(count > 0 for count in table), counts.period)
    lowered, steps = c, 0
    while lowered >= LEAST_CONSTANT:
        floors = {least_length, math.ceil(least_length * lowered / c)}
        for floor in sorted(floors, reverse=True):
            built = build_z(table, counts.period, suffix, groups, floor, lowered)
            if built is not None:
                exact = not steps and floor == least_length
                yield StandIn(built.table, "construction" if exact else f"construction, sharpened (0.7^{steps})")
        lowered, steps = lowered * SHRINK, steps + 1


def halved(counts: Counts, groups: Sequence[Group], least_length: int) -> Iterator[StandIn]:
    """The construction with budgets 1/2, 1/4, ... alike for all groups: no theorem says which one is small enough."""
    table, suffix = by_type(counts), len(counts.suffix)
    c = constant(groups, sum(count > 0 for count in table), counts.period)
    for power in range(1, HALVINGS + 1):
        alike = [Group(group.types, group.suffix, Fraction(1, 1 << power)) for group in groups]
        built = build_z(table, counts.period, suffix, alike, least_length, c)
        if built is not None:
            yield StandIn(built.table, f"construction (budgets 2^-{power})")


def shortest_scaling(
    counts: Counts, fits: Callable[[tuple[int, ...]], bool], largest: int | None = None
) -> StandIn | None:
    """The shortest prefix with the proportions of the long one that fits, as far as doubling and bisection find it.

    Class sizes 0, 1, 2, 4, ... up to `largest` (one that is known to fit), then bisection down to the last that failed.
    """
    table, period = by_type(counts), counts.period
    top = sum(table) // period - 1
    if largest is not None:
        top = min(top, largest)
    failed, size = -1, 0
    while size <= top and not fits(scale(table, period, size)):
        failed, size = size, size + 1 if size < 1 else (2 * size if 2 * size <= top or size == top else top)
    if not 0 <= size <= top:
        return None
    while size - failed > 1:
        middle = (size + failed) // 2
        if fits(scale(table, period, middle)):
            size = middle
        else:
            failed = middle
    return StandIn(scale(table, period, size), "proportional")
