"""The worst long string: how short a stand-in every string has, in total variation, by a covering of all directions.

A short prefix m serves a long string x if every head's attended law moves by at most its budget. For a fixed m the
strings it serves form a convex cone in (counts, weight of a suffix position). So a simplicial cone whose generators are
all served by one m is served by it entirely: cells are split until the best m for a whole cell is as short as the best
one for a string inside it, or until a limit.
"""

import heapq
import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from jaxtyping import Int

from lengthwise.theory.cells import HeadShare, concrete, mass_of, split, variation
from lengthwise.theory.count_cones import CountCone, Vector, compositions

MOST_TABLES = 1_000_000  # short prefixes kept at a time
MOST_CELLS = 20_000
PATIENCE = 200  # cells that a pass goes on for after it has found a worse string
Some = Int[np.ndarray, " _"]


@dataclass(frozen=True)
class Bracket:
    """The worst case of the shortest stand-in, as a class size Z: at least .. at most.

    at_most is None where the covering was not finished: undecided above. witness: the counts of a string that needs
    at_least, a direction (any multiple will do) or, where suffix positions count, the string itself.
    """

    at_least: int
    at_most: int | None
    witness: Vector | None
    cells: int

    @property
    def decided(self) -> bool:
        """Whether the two ends meet."""
        return self.at_least == self.at_most

    def __str__(self) -> str:
        """The bracket in words."""
        if self.decided:
            return f"{self.at_least}"
        if self.at_most is None:
            return f"at least {self.at_least}, undecided above"
        return f"at least {self.at_least}, at most {self.at_most}, undecided between"


class Tables:
    """All short prefixes with class sizes up to some Z, shortest first, and which of them serve a direction, exactly.

    A group with places and without tied suffix positions needs one of its types to be there. `Some` are indices.
    """

    def __init__(self, cone: CountCone, heads: Sequence[HeadShare], largest: int) -> None:
        self.heads, self.largest = heads, largest
        blocks = [tables_of(cone, size) for size in range(largest + 1)]
        sizes = np.repeat(np.arange(largest + 1), [len(block) for block in blocks])
        counts = np.concatenate(blocks)
        masses = [counts[:, list(head.places)].sum(axis=1) + head.suffix for head in heads]
        kept = np.logical_and.reduce([mass > 0 for mass in masses])
        self.sizes: Int[np.ndarray, " tables"] = sizes[kept]
        self.counts: Int[np.ndarray, "tables types"] = counts[kept]
        self.masses = [mass[kept] for mass in masses]

    @property
    def all(self) -> Some:
        """Every table."""
        return np.arange(len(self.sizes))

    def serving(self, some: Some, direction: Vector, budgets: Sequence[Fraction | None]) -> Some:
        """Those of some tables that serve a direction (n, u): for every group with a budget eta

            sum_t |n_t M - m_t nu| + b |u M - nu| <= 2 eta nu M,      nu = n(T) + b u,  M = m(T) + b

        in whole numbers, of 64 bits where they fit.
        """
        *n, u = direction
        for head, masses, budget in zip(self.heads, self.masses, budgets, strict=True):
            nu = mass_of(direction, head)
            if not nu or budget is None or not len(some):
                continue
            p, q = budget.numerator, budget.denominator
            mass = masses[some]
            bound = int(mass.max()) * nu * max(2 * p, 2 * q) * (1 + len(head.places) + head.suffix)
            kind = np.int64 if bound < 2**62 else object
            m, counts = mass.astype(kind), self.counts[some].astype(kind)
            moved = head.suffix * np.abs(u * m - nu)
            for t in head.places:
                moved = moved + np.abs(n[t] * m - counts[:, t] * nu)
            some = some[np.asarray(q * moved <= 2 * p * nu * m, dtype=bool)]
        return some

    def shortest(self, some: Some, directions: Sequence[Vector]) -> int:
        """The least class size of a table that serves all directions; one more than the largest where none does."""
        for direction in directions:
            some = self.serving(some, direction, [head.budget for head in self.heads])
        return int(self.sizes[some[0]]) if len(some) else self.largest + 1

    def near(self, some: Some, cell: tuple[Vector, ...]) -> Some:
        """Those of some tables that can serve anything inside a cell.

        What serves a string of the cell is within eta of its law, which is a mean of the generators' laws; so it is
        within eta + diameter of each of those. The diameter is rounded up.
        """
        for place, head in enumerate(self.heads):
            ends = [vector for vector in cell if mass_of(vector, head)]
            wide = max((variation(a, b, head) for a, b in itertools.combinations(ends, 2)), default=0.0)
            relaxed: list[Fraction | None] = [None] * len(self.heads)
            relaxed[place] = head.budget + Fraction(math.ceil(wide * 2**20) + 1, 2**20)
            some = self.serving(some, ends[0], relaxed)
        return some


def tables_of(cone: CountCone, size: int) -> Int[np.ndarray, "tables types"]:
    """All prefixes of a class size: every class filled in every way."""
    table = np.zeros((1, 0), dtype=np.int64)
    for types, more in zip(cone.classes, cone.larger, strict=True):
        own = compositions(size + more, types)
        table = np.concatenate([np.repeat(table, len(own), axis=0), np.tile(own, (len(table), 1))], axis=1)
    return table


def worst_class_size(cone: CountCone, heads: Sequence[HeadShare], cells: int = MOST_CELLS) -> Bracket:
    """The worst case over a cone of long strings of the shortest prefix that serves, between two ends.

    Branch and bound over cells: a cell's upper end is the shortest table that serves all its generators, its lower end
    the shortest one that serves its barycentre. The cell with the largest upper end is split at the edge along which
    the heads' laws differ most. Source: one-layer note, section 9. Ours: one pass finds both ends, where the note asks
    for each N whether it is enough.
    """
    heads = [head for head in heads if head.places]
    if not heads:
        return Bracket(0, 0, None, 0)
    largest, done, best = 8, 0, Bracket(0, None, None, 0)
    while done < cells and _count(cone, largest) <= MOST_TABLES:
        known = best.at_least if cone.mixed else 0
        found = _search(cone, Tables(cone, heads, largest), known, cells - done)
        done += found.cells
        witness = found.witness if found.at_least > best.at_least else best.witness
        ends = [end for end in (best.at_most, found.at_most) if end is not None]
        best = Bracket(max(best.at_least, found.at_least), min(ends, default=None), witness, done)
        if best.decided:
            return best
        if 2 * best.at_least > largest:
            largest *= 2
        elif best.at_least == known or not cone.mixed:
            return best
    return best


def _search(cone: CountCone, tables: Tables, known: int, limit: int) -> Bracket:
    """One pass with the tables up to a class size, over the strings with larger classes than `known`.

    Where u counts, shorter strings are not in the cells: between them there are directions of no string. They need no
    covering, since each serves itself. It ends early when a longer worst case is found, to begin anew from there.
    It gives up at a string that needs more than half of that: where prefixes are only just long enough, their cones
    touch without overlapping and no covering ends, so longer ones must be there too.
    """
    at_least, witness, order, patience = known, None, itertools.count(), limit
    heap = [(-tables.shortest(tables.all, cell), next(order), cell, tables.all) for cell in cone.cells(known)]
    heapq.heapify(heap)
    for number in range(1, limit + 1):
        top, _, cell, some = heap[0]
        if -top <= at_least:
            return Bracket(at_least, at_least, witness, number)
        string = concrete(cone, cell)
        if string is not None:
            size = tables.shortest(some, [string])
            if size > at_least and cone.mixed:  # with u the string may lie outside the cell: ask all tables
                size = tables.shortest(tables.all, [string])
            if size > at_least:
                at_least, witness, patience = size, string, min(patience, number + PATIENCE)
        halves = split(cell, tables.heads)
        if 2 * at_least > tables.largest or halves is None or (cone.mixed and number > patience):
            return _between(at_least, -top, tables, witness, number)
        heapq.heappop(heap)
        for half in halves:
            near = tables.near(some, half)
            heapq.heappush(heap, (-min(-top, tables.shortest(near, half)), next(order), half, near))
    return _between(at_least, -heap[0][0], tables, witness, limit)


def _between(at_least: int, top: int, tables: Tables, witness: Vector | None, cells: int) -> Bracket:
    return Bracket(at_least, None if top > tables.largest else top, witness, cells)


def _count(cone: CountCone, largest: int) -> int:
    return sum(
        math.prod(
            math.comb(size + more + types - 1, types - 1) for types, more in zip(cone.classes, cone.larger, strict=True)
        )
        for size in range(largest + 1)
    )
