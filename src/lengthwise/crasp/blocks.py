"""Batches cut into blocks that stay in the processor's cache: some whole words, or a piece of one long word."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from jaxtyping import Bool, Int, Integer

from lengthwise.crasp.words import Words

SYMBOLS = 1 << 18  # a block's size: Python's share of the time is small, and a column of sums takes 1 MiB


@dataclass(frozen=True, eq=False)
class Block:
    """Nonempty words one after the other, or a piece of one word that `before` symbols come before.

    `words` are their numbers in the batch, `start` where the first symbol stands among all tokens; `width` is the
    length of each word where all are equally long. A piece has one word.
    """

    tokens: Integer[np.ndarray, " symbols"]
    lengths: Int[np.ndarray, " words"]
    words: Int[np.ndarray, " words"]
    start: int
    before: int = 0
    final: bool = True
    width: int | None = None
    cache: dict[str, Any] = field(default_factory=dict)

    @property
    def size(self) -> int:
        """How many symbols there are."""
        return len(self.tokens)

    @property
    def ends(self) -> Int[np.ndarray, " words"]:
        """The index of each word's last symbol."""
        if "ends" not in self.cache:
            self.cache["ends"] = np.cumsum(self.lengths) - 1
        found: Int[np.ndarray, " words"] = self.cache["ends"]
        return found

    @property
    def starts(self) -> Int[np.ndarray, " words"]:
        """The index of each word's first symbol."""
        found: Int[np.ndarray, " words"] = self.ends - self.lengths + 1
        return found

    @property
    def offsets(self) -> Int[np.ndarray, " symbols"]:
        """How many symbols of its word stand before each symbol, within the block."""
        if "offsets" not in self.cache:
            index = np.arange(self.size, dtype=np.int32)
            self.cache["offsets"] = index - np.repeat(self.starts.astype(np.int32), self.lengths)
        found: Int[np.ndarray, " symbols"] = self.cache["offsets"]
        return found

    def rows(self, column: Any) -> Any:
        """A column with one row a word, where the words are equally long."""
        return column.reshape(len(self.lengths), self.width)

    def in_residues(self, period: int, residues: tuple[int, ...]) -> Bool[np.ndarray, " symbols"]:
        """Whether each position, counted from 1 in its word, has one of some remainders."""
        longest = int(self.lengths.max())
        pattern = np.zeros(longest, dtype=bool)
        first = self.before + 1
        for residue in residues:
            pattern[(residue - first) % period :: period] = True
        spread = pattern[self.offsets] if self.width is None else np.tile(pattern, len(self.lengths))
        found: Bool[np.ndarray, " symbols"] = spread
        return found


def blocks(words: Words, symbols: int = SYMBOLS) -> Iterator[list[Block]]:
    """The batch in blocks of about so many symbols; each list is the pieces of one word in order, or one block.

    Empty words are in no block.
    """
    numbers = np.flatnonzero(words.lengths)
    lengths = words.lengths[numbers]
    ends = np.cumsum(lengths)
    at = 0
    while at < len(numbers):
        start = int(ends[at] - lengths[at])
        if lengths[at] > symbols:
            yield _pieces(words, int(numbers[at]), start, int(lengths[at]), symbols)
            at += 1
            continue
        stop = max(at + 1, int(np.searchsorted(ends, start + symbols, side="right")))
        inside = lengths[at:stop]
        width = int(inside[0]) if (inside == inside[0]).all() else None
        yield [Block(words.tokens[start : int(ends[stop - 1])], inside, numbers[at:stop], start, width=width)]
        at = stop


def _pieces(words: Words, number: int, start: int, length: int, symbols: int) -> list[Block]:
    numbers = np.array([number])
    return [
        Block(
            words.tokens[start + before : start + min(before + symbols, length)],
            np.array([min(symbols, length - before)]),
            numbers,
            start + before,
            before,
            before + symbols >= length,
            min(symbols, length - before),
        )
        for before in range(0, length, symbols)
    ]
