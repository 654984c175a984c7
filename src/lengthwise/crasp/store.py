"""Operations as they are made: each one once, in the simplest form that is equal everywhere."""

import math
from collections.abc import Iterable

from lengthwise.crasp.operations import (
    AllOf,
    AnyOf,
    AtLeastZero,
    Constant,
    InResidues,
    Operation,
    Opposite,
    RecentTally,
    Terms,
)


class Store:
    """The operations made so far; asked for one that exists, it gives that."""

    def __init__(self) -> None:
        """An empty store."""
        self.list: list[Operation] = []
        self.known: dict[Operation, int] = {}

    def add(self, operation: Operation) -> int:
        """The index of an operation, which is made if it does not exist."""
        index = self.known.setdefault(operation, len(self.list))
        if index == len(self.list):
            self.list.append(operation)
        return index

    def constant(self, value: bool) -> int:
        """True everywhere, or false everywhere."""
        return self.add(Constant(value))

    def in_residues(self, period: int, residues: tuple[int, ...]) -> int:
        """Whether the position has one of the remainders, modulo the least period of the set."""
        if not residues or len(residues) == period:
            return self.constant(bool(residues))
        period, residues = least_period(period, residues)
        return self.add(InResidues(period, residues))

    def opposite(self, index: int) -> int:
        """Whether an operation is false."""
        match self.list[index]:
            case Constant(value):
                return self.constant(not value)
            case Opposite(input):
                return input
            case AtLeastZero(terms, constant):
                return self.add(negated(terms, constant))
        return self.add(Opposite(index))

    def known_opposite(self, index: int) -> int | None:
        """The opposite of an operation if it exists already."""
        match self.list[index]:
            case Opposite(input):
                return input
            case AtLeastZero(terms, constant):
                return self.known.get(negated(terms, constant))
        return self.known.get(Opposite(index))

    def all_of(self, links: Iterable[int]) -> int:
        """The and of any number of Booleans."""
        return self._junction(links, True)

    def any_of(self, links: Iterable[int]) -> int:
        """The or of any number of Booleans."""
        return self._junction(links, False)

    def _junction(self, links: Iterable[int], neutral: bool) -> int:
        """And where true is neutral, or where false is; P beside not P settles either."""
        found: set[int] = set()
        for link in links:
            match self.list[link]:
                case Constant(value) if value == neutral:
                    continue
                case Constant(value):
                    return self.constant(value)
                case AllOf(inner) if neutral:
                    found.update(inner)
                case AnyOf(inner) if not neutral:
                    found.update(inner)
                case _:
                    found.add(link)
        if any(self.known_opposite(index) in found for index in found):
            return self.constant(not neutral)
        if not found:
            return self.constant(neutral)
        if len(found) == 1:
            return found.pop()
        return self.add((AllOf if neutral else AnyOf)(tuple(sorted(found))))

    def at_least_zero(self, terms: Terms, constant: int) -> int:
        """Whether a sum of multiples of tallies and a constant is at least zero."""
        least, most = constant, constant
        bounded_below = bounded_above = True
        for coefficient, index in terms:
            operation = self.list[index]
            if isinstance(operation, RecentTally):
                least += min(0, coefficient) * len(operation.offsets)
                most += max(0, coefficient) * len(operation.offsets)
            else:
                bounded_below &= coefficient > 0
                bounded_above &= coefficient < 0
        if bounded_below and least >= 0:
            return self.constant(True)
        if bounded_above and most < 0:
            return self.constant(False)
        shared = math.gcd(*(coefficient for coefficient, _ in terms))
        return self.add(AtLeastZero(tuple((k // shared, index) for k, index in terms), constant // shared))


def negated(terms: Terms, constant: int) -> AtLeastZero:
    """Not (F >= 0) is -F - 1 >= 0 over the integers."""
    return AtLeastZero(tuple((-coefficient, index) for coefficient, index in terms), -constant - 1)


def least_period(period: int, residues: tuple[int, ...]) -> tuple[int, tuple[int, ...]]:
    """The same set of positions with the least period.

    A shift by period / p that keeps the set moves its elements in circles of p, so p divides their number.
    """
    for prime in range(2, len(residues) + 1):
        while period % prime == 0 and len(residues) % prime == 0:
            step = period // prime
            found = set(residues)
            if any((residue + step) % period not in found for residue in residues):
                break
            period, residues = step, tuple(sorted(residue for residue in residues if residue < step))
    return period, residues
