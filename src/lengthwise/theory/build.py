"""A short string that no head can tell from a long one: counts in, counts out, in rationals.

The string is known by its suffix and by how often each type, (token, residue) with code token * period + residue,
stands in its prefix. Heads are known by what they attend to on it. Nothing here asks how they come to attend to it.
"""

import itertools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from lengthwise.type_counts import class_size

_HALF = Fraction(1, 2)


@dataclass(frozen=True)
class Group:
    """Heads that attend to the same keys of a string, and how far their attention may move (total variation).

    types: attended types that stand in the prefix; suffix: how many suffix positions they attend to as well.
    """

    types: frozenset[int]
    suffix: int
    budget: Fraction

    def mass(self, table: Sequence[int]) -> int:
        """N_a, the number of attended keys."""
        return sum(table[t] for t in self.types) + self.suffix


@dataclass(frozen=True)
class Built:
    """A short prefix by type; size Z and the smallest one that would do; the scale of every group that has types."""

    table: tuple[int, ...]
    size: int
    smallest: int
    scales: tuple[Fraction, ...]


@dataclass(frozen=True)
class _Copied:
    """A type that some group owns: its scale, and how many copies it gets if it stays at that scale."""

    scale: Fraction
    count: int


def constant(groups: Iterable[Group], types: int, period: int) -> Fraction:
    """The least additive constant the construction is proved for: c = S/2 + Delta - 1 + bbar.

    Source: one-layer note, section 5. S: number of types (those present in the prefix are enough, since the proof
    sums rounding errors over them); Delta: period; bbar: the most suffix positions that a group attends to beside
    types of the prefix.
    """
    return Fraction(types, 2) + period - 1 + max((group.suffix for group in groups if group.types), default=0)


def build_z(
    table: Sequence[int],
    period: int,
    suffix: int,
    groups: Iterable[Group],
    least_length: int,
    c: Fraction,
    size: int | None = None,
) -> Built | None:
    """A prefix of class size Z whose attended laws are within every budget of those of the long prefix.

        sort groups by nu_a = eta_a N_a;  X = c, lam = 1;  for each:  lam = min(lam, X / nu_a),
            types not yet owned get m = nearest(lam n) copies at the scale lam;  X += their copies
        types whose scale is above Z / C keep their copies; in every class the others share the rest of its
        Z + C_r - C places in proportion to n

    table: n by type code; suffix: its length tau + 1; least_length: n0, the length that attention needs; size: the Z
    wanted, in [Zmin, C], Zmin where None. None where the string is too short to say anything: below n0, or C = 0.

    Source: one-layer note, section 5, Theorem 1: for c >= `constant` the attended laws of every group move by at most
    eta_a, |z| >= n0, no type is new, and Zmin <= max(ceil(B'), Z0). A smaller c gives shorter prefixes that must be
    checked. Ours: Zmin is read off the finitely many Z where a type leaves its scale, not bisected.
    """
    prefix = sum(table)
    classes = prefix // period  # C
    if classes == 0 or prefix + suffix < least_length:
        return None
    scales, copied = _chain(table, list(groups), c)
    rest = prefix % period
    least_size = max(0, -((suffix + rest - least_length) // period))  # Z0 = ceil((n0 - tau - 1 - rem) / Delta)
    cuts = {t: math.ceil(copy.scale * classes) for t, copy in copied.items()}  # t keeps its copies while Z < cuts[t]
    smallest = _smallest(table, period, copied, cuts, least_size, classes)
    chosen = smallest if size is None else size
    if not smallest <= chosen <= classes:
        raise ValueError(f"sizes run from {smallest} to {classes}, not {chosen}")
    return Built(_filled(table, period, copied, cuts, chosen), chosen, smallest, scales)


def apportion(total: int, weights: Sequence[int]) -> list[int]:
    """Whole shares of a total in proportion to weights: floors, then one more where the remainders are largest.

    Every share is less than 1 from the exact one, and the errors of one sign sum to at most len(weights) / 4. Equal
    remainders are served in order.
    """
    mass = sum(weights)
    pairs = [divmod(total * weight, mass) for weight in weights]
    shares = [whole for whole, _ in pairs]
    left = total - sum(shares)
    for index in sorted(range(len(pairs)), key=lambda index: -pairs[index][1])[:left]:
        shares[index] += 1
    return shares


def _chain(table: Sequence[int], groups: list[Group], c: Fraction) -> tuple[tuple[Fraction, ...], dict[int, _Copied]]:
    """The scales, falling from small groups to large ones (returned in the order of the groups), and the copies."""
    scales = [Fraction(1)] * len(groups)
    copied: dict[int, _Copied] = {}
    present = [index for index, group in enumerate(groups) if group.types]
    copies, scale = c, Fraction(1)
    for index in sorted(present, key=lambda index: groups[index].budget * groups[index].mass(table)):
        group = groups[index]
        scale = min(scale, copies / (group.budget * group.mass(table)))
        scales[index] = scale
        for t in sorted(group.types - copied.keys()):
            copied[t] = _Copied(scale, math.ceil(scale * table[t] - _HALF))  # the nearest integer, ties downwards
            copies += copied[t].count
    return tuple(scales[index] for index in present), copied


def _smallest(
    table: Sequence[int],
    period: int,
    copied: dict[int, _Copied],
    cuts: dict[int, int],
    least_size: int,
    classes: int,
) -> int:
    """Zmin: the smallest Z >= Z0 where every class has a type that left its scale, and room for those that did not.

    Between two cuts the types at their scale are the same, so the room they need is one number; raising Z only helps.
    """
    rest = sum(table) % period
    stops = sorted({least_size, *(cut for cut in cuts.values() if cut > least_size)})
    for left, right in itertools.pairwise([*stops, max(classes, least_size) + 1]):
        low = {t for t, cut in cuts.items() if cut > left}
        needed = left
        for residue in range(period):
            ranks = range(residue, len(table), period)
            if all(t in low for t in ranks if table[t]):
                break
            needed = max(needed, sum(copied[t].count for t in ranks if t in low) - (1 <= residue <= rest))
        else:
            if needed < right:
                return needed
    raise AssertionError("at Z = C no type is at its scale and every class is full")


def _filled(
    table: Sequence[int], period: int, copied: dict[int, _Copied], cuts: dict[int, int], size: int
) -> tuple[int, ...]:
    """The counts at class size Z: copies where they are kept, proportional shares of the rest elsewhere."""
    prefix = sum(table)
    low = {t for t, cut in cuts.items() if cut > size}
    short = [copied[t].count if t in low else 0 for t in range(len(table))]
    for residue in range(period):
        top = [t for t in range(residue, len(table), period) if table[t] and t not in low]
        budget = size + class_size(prefix, residue, period) - prefix // period - sum(short[residue::period])
        if top:
            for t, share in zip(top, apportion(budget, [table[t] for t in top]), strict=True):
                short[t] = share
    return tuple(short)
