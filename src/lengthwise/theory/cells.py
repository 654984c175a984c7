"""Cells of a cone of long strings: a string in them, and where to cut them in two."""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from lengthwise.theory.count_cones import CountCone, Vector

LONGEST_VECTOR = 10**9


@dataclass(frozen=True)
class HeadShare:
    """What a group of heads attends to, in the types of a cone (their places), its tied suffix positions, its budget."""

    places: tuple[int, ...]
    suffix: int
    budget: Fraction


def concrete(cone: CountCone, cell: tuple[Vector, ...]) -> Vector | None:
    """A string inside or near a cell: its barycentre; where u counts, with u = 1 and whole class sums, or None.

    With u dropped any multiple of a direction is a string. With u the direction is divided by its u, and rounded down
    in all types but the last of each class, which completes the sum; being near is enough, for the string is tested.
    """
    centre = tuple(map(sum, zip(*cell, strict=True)))
    if not cone.mixed:
        return primitive(centre)
    *counts, u = centre
    if not u:
        return None
    start, rounded, sums = 0, [], []
    for size, more in zip(cone.classes, cone.larger, strict=True):
        sums.append(sum(counts[start : start + size]) // u - more)
        start += size
    start, common = 0, max(0, min(sums))
    for size, more in zip(cone.classes, cone.larger, strict=True):
        own = [max(1, count // u) for count in counts[start : start + size - 1]]
        last = common + more - sum(own)
        if last < 1:
            return None
        rounded += [*own, last]
        start += size
    return (*rounded, 1)


def split(cell: tuple[Vector, ...], heads: Sequence[HeadShare]) -> tuple[tuple[Vector, ...], ...] | None:
    """Two halves of a cell, cut where some head's law changes most along an edge; None where no law changes."""
    best, edge = 0.0, None
    for i, j in itertools.combinations(range(len(cell)), 2):
        for head in heads:
            change = variation(cell[i], cell[j], head)
            if change > best:
                best, edge = change, (i, j, head)
    if edge is None:
        return None
    i, j, head = edge
    middle = cut(cell[i], cell[j], head)
    return tuple(tuple(middle if place == end else vector for place, vector in enumerate(cell)) for end in (i, j))


def cut(first: Vector, second: Vector, head: HeadShare) -> Vector:
    """A direction between two in the plane they span, where a head's law is between a quarter and three quarters.

    The law's fastest coordinate is made the simplest fraction there is: where the cones of two prefixes just touch,
    which happens at simple fractions, the cut meets the place exactly, which halving never would. Numbers that grow
    too long are replaced by short ones near by; a cut may lie anywhere.
    """
    mass, other = mass_of(first, head), mass_of(second, head)
    place = max(head.places, key=lambda t: abs(Fraction(first[t], mass) - Fraction(second[t], other)))
    low, high = Fraction(first[place], mass), Fraction(second[place], other)
    if low == high:
        ratio = Fraction(other, mass)
    else:
        quarter = (high - low) / 4
        share = (simplest_between(*sorted((low + quarter, high - quarter))) - low) / (high - low)
        ratio = (1 - share) / share * Fraction(other, mass)
    if max(ratio.numerator * max(first), ratio.denominator * max(second)) > LONGEST_VECTOR:
        ratio = Fraction(max(1, round(ratio))) if ratio >= 1 else 1 / Fraction(round(1 / ratio))
    return primitive(tuple(ratio.numerator * a + ratio.denominator * b for a, b in zip(first, second, strict=True)))


def simplest_between(low: Fraction, high: Fraction) -> Fraction:
    """The fraction with the least denominator in [low, high], 0 <= low < high; by continued fractions."""
    whole = math.ceil(low)
    if whole <= high:
        return Fraction(whole)
    below = math.floor(low)
    return below + 1 / simplest_between(1 / (high - below), 1 / (low - below))


def variation(first: Vector, second: Vector, head: HeadShare) -> float:
    """How far a head's laws in two directions are apart; it only steers, so a float will do."""
    laws = []
    for vector in (first, second):
        mass = mass_of(vector, head)
        if not mass:
            return 0.0
        laws.append([vector[t] / mass for t in head.places] + [head.suffix * vector[-1] / mass])
    return float(sum(abs(a - b) for a, b in zip(*laws, strict=True))) / 2


def mass_of(vector: Vector, head: HeadShare) -> int:
    """Nu = n(T) + b u, what a group of heads attends to."""
    return sum(vector[t] for t in head.places) + head.suffix * vector[-1]


def primitive(vector: Vector) -> Vector:
    """The shortest whole vector of a direction."""
    divisor = math.gcd(*vector)
    return tuple(value // divisor for value in vector) if divisor > 1 else vector
