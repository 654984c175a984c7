"""All count tables of some lengths, as a search needs them: one by one, drawn at random, rounded, within a condition.

A table is what one layer sees of a string: its length, its last locality + 1 tokens, and how often each token stands at
positions of each residue before them. Many tables are a `Statistics`, one a column.
"""

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int, Real

from lengthwise.errors import WrongInput
from lengthwise.theory.count_cones import compositions
from lengthwise.theory.where import Condition
from lengthwise.type_counts import Counts, Statistics, class_size

LONGEST = 10**15  # floats hold all counts up to here
CHUNK = 1 << 13  # tables of a batch
KINDS = 5


@dataclass(frozen=True)
class CountSpace:
    """The strings of lengths shortest..longest that meet a condition, as one layer of this period and locality sees them."""

    symbols: int
    period: int
    locality: int
    shortest: int
    longest: int
    where: Condition | None = None

    def __post_init__(self) -> None:
        """Lengths that there are, and that floats hold."""
        if not 1 <= self.shortest <= self.longest <= LONGEST:
            got = f"{self.shortest}..{self.longest}"
            raise WrongInput(f"lengths from 1 to {LONGEST}, the shorter one first", got, "fix them", "length")

    @property
    def offsets(self) -> int:
        """How many tokens a suffix has."""
        return self.locality + 1

    def sizes(self, lengths: Int[np.ndarray, " batch"]) -> Int[np.ndarray, "period batch"]:
        """How many positions of each residue a prefix has."""
        prefix = np.maximum(lengths - self.offsets, 0)
        residues = np.arange(self.period)[:, None]
        return np.asarray(prefix // self.period + ((residues >= 1) & (residues <= prefix % self.period)))

    def tables_at(self, length: int) -> int:
        """How many tables of a length there are, whatever the condition."""
        prefix, parts = max(0, length - self.offsets), self.symbols - 1
        ways = (math.comb(class_size(prefix, r, self.period) + parts, parts) for r in range(self.period))
        return int(self.symbols ** min(length, self.offsets) * math.prod(ways))

    def every(self, length: int) -> Iterator[Statistics]:
        """All tables of a length that meet the condition, in batches."""
        prefix = max(0, length - self.offsets)
        ways = [compositions(class_size(prefix, r, self.period), self.symbols) for r in range(self.period)]
        near = min(length, self.offsets)
        shape = (*(len(way) for way in ways), *(self.symbols,) * near)
        for start in range(0, math.prod(shape), CHUNK):
            chosen = np.unravel_index(np.arange(start, min(start + CHUNK, math.prod(shape))), shape)
            table = np.stack([way[index] for way, index in zip(ways, chosen, strict=False)], axis=2)
            tokens = np.full((self.offsets, len(table)), -1)
            tokens[:near] = np.stack(chosen[self.period :])
            lengths = np.full(len(table), length)
            yield self.meeting(self.statistics(lengths, tokens, table.reshape(len(table), -1).T))

    def statistics(
        self, lengths: Int[np.ndarray, " batch"], tokens: Int[np.ndarray, "offsets batch"], prefix: Any
    ) -> Statistics:
        """Tables from the tokens at the offsets 0, 1, ... from the end, -1 before the beginning."""
        offsets = np.arange(self.offsets)[:, None]
        types = tokens * self.period + (lengths - offsets) % self.period
        return Statistics(lengths, prefix, np.where((tokens < 0) | (offsets >= lengths), -1, types))

    def whole(self, tables: Statistics) -> Real[np.ndarray, "types batch"]:
        """The counts of the whole strings, suffix included."""
        types = np.arange(self.symbols * self.period)[:, None]
        return np.asarray(tables.prefix + sum(types == row for row in tables.suffix))

    def meeting(self, tables: Statistics) -> Statistics:
        """The tables that meet the condition, exactly."""
        return tables if self.where is None else select(tables, self.where.holding(self.whole(tables), tables.length))

    def draw(self, generator: np.random.Generator, lengths: Int[np.ndarray, " batch"]) -> Statistics:
        """Random tables: corners and edges of the simplex, its inside, and tables where most tokens are rare.

        A share of a rare token is log-uniform between that of a single one and 1, or that of 0 to 3 of them. Classes of
        residues are filled alike in half of the tables.
        """
        batch, sizes = len(lengths), self.sizes(lengths)
        shape = (self.symbols, self.period, batch)
        kind = generator.integers(0, KINDS, batch)
        order = generator.random(shape).argsort(axis=0)
        rare = np.exp(-generator.random(shape) * np.log(2.0 * np.maximum(sizes, 1)))
        few = generator.integers(0, 4, shape) / np.maximum(sizes, 1)
        inside = generator.exponential(size=shape)
        weights = np.select(
            [kind == 0, kind == 1, kind == 2, kind == 3],
            [order == 0, (order == 0) + (order == 1) * rare, inside, rare],
            (order == 0) * 1.0 + (order > 0) * few,
        )
        alike = generator.random(batch) < 0.5
        weights[:, :, alike] = weights[:, :1, alike]
        tokens = generator.integers(0, self.symbols, (self.offsets, batch))
        prefix = rounded(weights / weights.sum(axis=0) * sizes, sizes)
        return self.statistics(lengths, tokens, prefix.reshape(-1, batch))

    def rounded(self, tables: Statistics) -> Statistics:
        """Whole tables near some that need not be whole; those that miss the condition are left out."""
        sizes = self.sizes(tables.length)
        whole = rounded(np.asarray(tables.prefix, dtype=float).reshape(self.symbols, self.period, -1), sizes)
        return self.meeting(Statistics(tables.length, whole.reshape(len(tables.prefix), -1), tables.suffix))

    def counts(self, tables: Statistics, place: int) -> Counts:
        """One of some tables, as people name it."""
        suffix = [int(code) // self.period for code in tables.suffix[::-1, place] if code >= 0]
        prefix = np.asarray(tables.prefix[:, place]).astype(np.int64).reshape(self.symbols, self.period).tolist()
        return Counts(tuple(suffix), tuple(map(tuple, prefix)))

    def grid(self, above: int) -> Int[np.ndarray, " lengths"]:
        """Lengths above a given one to search at: the longest ones and every power of ten below, all residues of each."""
        powers = itertools.takewhile(lambda n: n > above, (self.longest // 10**k for k in range(16)))
        near = {n - k for n in (*powers, above + 1 + self.period) for k in range(min(self.period, 12))}
        kept = sorted(n for n in near if max(above, self.shortest - 1) < n <= self.longest)
        return np.asarray(kept or [self.longest])


def select(tables: Statistics, chosen: Bool[np.ndarray, " batch"] | Int[np.ndarray, " _"]) -> Statistics:
    """Some of the tables."""
    return Statistics(tables.length[chosen], tables.prefix[:, chosen], tables.suffix[:, chosen])


def joined(tables: list[Statistics]) -> Statistics:
    """Tables side by side."""
    return Statistics(
        np.concatenate([one.length for one in tables]),
        np.concatenate([one.prefix for one in tables], axis=1),
        np.concatenate([one.suffix for one in tables], axis=1),
    )


def rounded(
    shares: Float[np.ndarray, "symbols period batch"], sizes: Int[np.ndarray, "period batch"]
) -> Int[np.ndarray, "symbols period batch"]:
    """Whole numbers near shares that sum to the sizes over the tokens: the largest remainders are rounded up."""
    low = np.floor(shares + 1e-9).astype(np.int64)
    missing = sizes - low.sum(axis=0)
    rank = np.argsort(np.argsort(low - shares, axis=0, kind="stable"), axis=0, kind="stable")
    whole = low + (rank < missing)
    whole[np.argmax(whole, axis=0), *np.indices(sizes.shape)] += sizes - whole.sum(axis=0)  # what floats lost
    return np.asarray(whole)
