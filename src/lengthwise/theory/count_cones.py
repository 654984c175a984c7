"""Long strings as directions: the cone of all count vectors with one support, cut into simplicial cones.

Only the direction of (n, u) matters, n the counts by type and u the weight of one suffix position (1 in a string).
"""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from jaxtyping import Int

Vector = tuple[int, ...]
Element = tuple[int, int]  # (class, place of a partial sum in it)


@dataclass(frozen=True)
class CountCone:
    """Prefix types class by class, which classes are larger by one position, and whether a suffix position counts.

    classes: in each class the number of its types, all of them present; larger: those of size C + 1 marked. A vector
    lists the types class after class and ends with u.
    """

    classes: tuple[int, ...]
    larger: tuple[bool, ...]
    suffix: bool

    @property
    def types(self) -> int:
        """Number of types."""
        return sum(self.classes)

    @property
    def mixed(self) -> bool:
        """Whether u can be told: some position of the suffix is attended, or classes differ."""
        return self.suffix or len(set(self.larger)) > 1

    @property
    def once(self) -> Vector:
        """One place for as many types of every class as leave all classes equally large: (s, 1).

        Every type of a support occurs, so n_t >= u. With K = min over classes of (types - [larger]), K + [larger]
        types of a class are counted once each; what n exceeds u s by is at least 0 and has equal sums in all classes.
        """
        common = self._common
        ones = [[int(place < common + more) for place in range(size)] for size, more in self._sized()]
        return (*(one for row in ones for one in row), 1)

    def cells(self, beyond: int = 0) -> Iterator[tuple[Vector, ...]]:
        """Simplicial cones that cover all strings of this support with C > beyond, each by its generators.

        (n, u) = u (s, 1) + (n', 0), where n' has the sum v in every class: partial sums c_(r,1) <= c_(r,2) <= ... <= v.
        Such maps from disjoint chains with a common top are cut by the orders x_1 <= x_2 <= ... <= v in which the
        chains can be merged, each a simplicial cone whose generators g_j are 1 on the last elements of the order. With
        k = max(0, beyond + 1 - K) what is left is v >= k u: a prism with the ends g_j and k g_j + (s, 1), cut into the
        cells (k g_1 + (s, 1), ..., k g_j + (s, 1), g_j, ..., g_d).
        """
        chains = tuple(tuple((r, place) for place in range(1, size)) for r, size in enumerate(self.classes))
        least = max(0, beyond + 1 - self._common)
        for order in _merged(chains):
            ends = [self._counts(frozenset(order[start:])) for start in range(len(order) + 1)]
            if not self.mixed:
                yield tuple(ends)
            elif not least:
                yield (*ends, self.once)
            else:
                near = [tuple(least * a + b for a, b in zip(end, self.once, strict=True)) for end in ends]
                for j in range(len(ends)):
                    yield (*near[: j + 1], *ends[j:])

    def _counts(self, ones: frozenset[Element]) -> Vector:
        """The counts whose partial sums are 1 on an upper set, and v = 1."""
        counts = []
        for r, size in enumerate(self.classes):
            sums = [0, *(int((r, place) in ones) for place in range(1, size)), 1]
            counts += [after - before for before, after in itertools.pairwise(sums)]
        return (*counts, 0)

    @property
    def _common(self) -> int:
        return min(size - more for size, more in self._sized())

    def _sized(self) -> Iterator[tuple[int, bool]]:
        return zip(self.classes, self.larger, strict=True)


def _merged(chains: tuple[tuple[Element, ...], ...]) -> Iterator[tuple[Element, ...]]:
    """All ways to merge chains into one order."""
    if not any(chains):
        yield ()
        return
    for index, chain in enumerate(chains):
        if chain:
            rest = (*chains[:index], chain[1:], *chains[index + 1 :])
            for order in _merged(rest):
                yield (chain[0], *order)


def compositions(total: int, parts: int) -> Int[np.ndarray, "ways parts"]:
    """All ways to write a whole number as an ordered sum of parts >= 0."""
    if parts == 1:
        return np.array([[total]])
    rest = [compositions(total - first, parts - 1) for first in range(total + 1)]
    firsts = np.repeat(np.arange(total + 1), [len(ways) for ways in rest])
    return np.concatenate([firsts[:, None], np.concatenate(rest)], axis=1)
