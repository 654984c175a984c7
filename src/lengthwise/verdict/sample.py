"""The positions of labelled words as a tree of prefixes, and what a Boolean or a count is at all of them.

Two words share their common prefix, so a position is a prefix: 0 is the empty one, the virtual position, and every other
has one before it. A Boolean is a row of bits, one a prefix; rows are padded to whole 64-bit words, the padding is 0.
"""

from dataclasses import dataclass
from functools import cache, cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from jaxtyping import Bool, Int, Integer, UInt8, UInt64

from lengthwise.verdict.labelled import Labelled

Rows = UInt8[np.ndarray, "rows bytes"]
Row = UInt8[np.ndarray, " bytes"]
Truths = Bool[np.ndarray, "rows prefixes"]
Counts = Integer[np.ndarray, "rows prefixes"]


@dataclass(frozen=True, eq=False)
class Sample:
    """Prefixes, shortest first and then as the words bring them.

    before    the prefix without its last symbol; of the empty one itself
    symbols   the last symbol; -1 for the empty one
    lengths   how long it is
    yes, no   bits of the prefixes that are labelled true, and false
    """

    labelled: Labelled
    before: Int[np.ndarray, " prefixes"]
    symbols: Int[np.ndarray, " prefixes"]
    lengths: Int[np.ndarray, " prefixes"]
    yes: Row
    no: Row

    @classmethod
    def of(cls, labelled: Labelled) -> "Sample":
        """The prefixes of labelled words; each is a step from the one before it, so long words cost their length."""
        steps: dict[tuple[int, int], int] = {}
        found, ends = [(0, -1, 0)], []
        for word in labelled.words:
            here = 0
            for length, symbol in enumerate(word, start=1):
                there = steps.setdefault((here, symbol), len(found))
                if there == len(found):
                    found.append((here, symbol, length))
                here = there
            ends.append(here)
        before, symbols, lengths = np.array(found).T
        order = np.argsort(lengths, kind="stable")
        place = np.argsort(order)
        marked = np.zeros((2, len(order)), dtype=bool)
        for end, label in zip(ends, labelled.labels, strict=True):
            marked[0 if label else 1, place[end]] = True
        yes, no = pack(marked)
        return cls(labelled, place[before[order]], symbols[order], lengths[order], yes, no)

    @property
    def size(self) -> int:
        """How many prefixes there are."""
        return len(self.before)

    @cached_property
    def levels(self) -> tuple[slice, ...]:
        """The prefixes of length 1, 2, ..."""
        ends = np.searchsorted(self.lengths, np.arange(self.lengths[-1] + 2))
        return tuple(slice(int(a), int(b)) for a, b in pairwise(ends[1:]))

    @cached_property
    def kind(self) -> Any:
        """The smallest integers that hold a difference of two counts, less another."""
        longest = int(self.lengths[-1])
        return np.int8 if longest < 2**6 else np.int16 if longest < 2**14 else np.int32

    def unpack(self, rows: Rows) -> Truths:
        """The bits as truth values."""
        return np.unpackbits(rows, axis=1, count=self.size).view(bool)

    def count(self, rows: Rows) -> Counts:
        """At how many positions so far each Boolean held: that of the prefix before, plus one where it holds."""
        found = np.unpackbits(rows, axis=1, count=self.size).astype(self.kind)
        found[:, 0] = 0
        for level in self.levels:
            found[:, level] += np.take(found, self.before[level], axis=1)
        return found

    def recent(self, rows: Rows, offsets: tuple[int, ...]) -> Counts:
        """At how many of the positions so far back, as far as they are 1 or more, each Boolean held."""
        bits = np.unpackbits(rows, axis=1, count=self.size).astype(self.kind)
        bits[:, 0] = 0  # position 0 is never counted, and what lies before it leads back to it
        found = np.zeros_like(bits)
        for offset in offsets:
            back = np.arange(self.size)
            for _ in range(offset):
                back = self.before[back]
            found += np.take(bits, back, axis=1)
        return found


def pack(truth: Truths) -> Rows:
    """Truth values as rows of bits."""
    bits = np.packbits(truth, axis=1)
    rows = np.zeros((len(bits), -(-bits.shape[1] // 8) * 8), dtype=np.uint8)
    rows[:, : bits.shape[1]] = bits
    return rows


def keys(rows: Rows) -> list[int]:
    """A 64-bit key a row, by which equal rows are met again: a sum of odd multiples of its mixed 64-bit words.

    The multiples are fixed, so runs agree. Were they random, different rows would share a key with probability about
    2^-64, some two of a million with less than 1 in 10^7; then one of the two is lost to the search, never wrongly
    reported: what is found is run on all words.
    """
    words = np.ascontiguousarray(rows).view(np.uint64) * np.uint64(0xD6E8FEB86659FD93)
    words ^= words >> np.uint64(32)
    words *= np.uint64(0xCA9B0C7EBA1DA115)  # the sum alone would not tell two top bits from none
    words ^= words >> np.uint64(29)
    found: list[int] = (words @ _multiples(words.shape[1])).tolist()
    return found


@cache
def _multiples(many: int) -> UInt64[np.ndarray, " many"]:
    return np.random.default_rng(6).integers(0, 2**63, many, dtype=np.uint64) * np.uint64(2) + np.uint64(1)
