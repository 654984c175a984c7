"""What one layer sees of a string, whatever its length: its suffix, and the counts of its prefix by type.

A *type* is a pair (token, residue of the position modulo the period). Positions are 1, 2, ..., n.
"""

import operator
from dataclasses import dataclass
from typing import Any

import numpy as np

from lengthwise.errors import WrongInput, shown
from lengthwise.shapes import Int, Real


@dataclass(frozen=True, eq=False)
class Counts:
    """What a one-layer model sees of a string, whatever its length.

    suffix: the last tokens in reading order, the last token last (at least locality + 1 of them, or the whole string).
    table: table[token][residue] = how often the token stands at positions of that residue in the prefix, the part
    before the suffix. Entries are Python integers of any size.
    """

    __no_type_check__ = True  # for the tests' type checker: __post_init__ checks, with errors for people

    suffix: tuple[int, ...]
    table: tuple[tuple[int, ...], ...]

    def __post_init__(self) -> None:
        """Turns any nested sequence of integers into tuples of Python integers, or says which entry is none."""
        object.__setattr__(
            self, "suffix", tuple(_natural(v, f"suffix[{i}]") for i, v in enumerate(_entries(self.suffix, "suffix")))
        )
        table = tuple(
            tuple(_natural(v, f"table[{s}][{r}]") for r, v in enumerate(_entries(row, f"table[{s}]")))
            for s, row in enumerate(_entries(self.table, "table"))
        )
        object.__setattr__(self, "table", table)
        if not self.suffix:
            raise WrongInput(
                "a suffix with at least the last token", "an empty suffix", "give the last tokens", "suffix"
            )
        if not table or not table[0] or len({len(row) for row in table}) != 1:
            raise WrongInput(
                "table[token][residue] with rows of one length >= 1",
                f"rows of lengths {sorted({len(r) for r in table})}",
                "give one row a token and one column a residue",
                "table",
            )
        self._check_classes()
        bad = next((t for t in self.suffix if t >= self.symbols), None)
        if bad is not None:
            raise WrongInput(
                f"tokens 0..{self.symbols - 1}", f"token {shown(bad)}", "add a row to the table or fix it", "suffix"
            )

    def _check_classes(self) -> None:
        """Positions 1..M hold floor(M/period) + [1 <= r <= M mod period] positions of residue r, no more and no fewer."""
        prefix = self.prefix_length
        for residue in range(self.period):
            wanted = class_size(prefix, residue, self.period)
            got = sum(row[residue] for row in self.table)
            if got != wanted:
                raise WrongInput(
                    f"{shown(wanted)} prefix positions of residue {residue} "
                    f"(a prefix of {shown(prefix)} positions, period {self.period})",
                    f"counts that sum to {shown(got)}",
                    "no string has these counts: fix the column",
                    f"table, residue {residue}",
                )

    @property
    def symbols(self) -> int:
        """Size of the vocabulary."""
        return len(self.table)

    @property
    def period(self) -> int:
        """Number of residues."""
        return len(self.table[0])

    @property
    def prefix_length(self) -> int:
        """Number of positions before the suffix."""
        return sum(sum(row) for row in self.table)

    @property
    def length(self) -> int:
        """Length of the whole string."""
        return self.prefix_length + len(self.suffix)

    @classmethod
    def of(cls, string: Int[Any, " n"], symbols: int, period: int, locality: int) -> "Counts":
        """The counts of an explicit string: suffix of locality + 1 tokens (or all of a shorter string), and the rest."""
        if period < 1 or locality < 0:
            raise WrongInput("a period >= 1 and a locality >= 0", f"{period} and {locality}", "fix them")
        indices = check_tokens(np.asarray(string), symbols)
        cut = max(0, len(indices) - locality - 1)
        residues = np.arange(1, cut + 1) % period
        table = np.bincount(indices[:cut] * period + residues, minlength=symbols * period).reshape(symbols, period)
        return cls(tuple(indices[cut:].tolist()), tuple(map(tuple, table.tolist())))


@dataclass(frozen=True, eq=False)
class Statistics:
    """Sufficient statistics of a batch of strings for one layer read at the last position; one column a string.

    length: the lengths n. prefix: counts by type token * period + residue before the suffix; a relaxation may split tokens.
    suffix: the type t positions back, row 0 the last token; -1 where the string has no such position.
    """

    length: Int[Any, " batch"]
    prefix: Real[Any, "types batch"]
    suffix: Int[Any, "offsets batch"]


def class_size(prefix: int, residue: int, period: int) -> int:
    """How many of the positions 1..prefix are congruent to residue: floor(M/period) + [1 <= residue <= M mod period]."""
    return prefix // period + (1 <= residue <= prefix % period)


def as_list(value: Any, wanted: str, remedy: str, where: str = "") -> list[Any]:
    """Any sequence as a list; what has no order, or iterates over something else than its entries, is none."""
    try:
        if isinstance(value, (str, bytes, bytearray, dict, set, frozenset)):
            raise TypeError
        return list(value)
    except TypeError:
        raise WrongInput(wanted, shown(value), remedy, where) from None


def check_tokens(indices: np.ndarray, symbols: int) -> Int[np.ndarray, " n"]:
    """A nonempty string of token indices 0..symbols - 1, or where it is none."""
    if indices.ndim != 1 or (indices.size and not np.issubdtype(indices.dtype, np.integer)):
        raise WrongInput(
            "one row of token indices", f"an array of shape {indices.shape}, {indices.dtype}", "pass one string"
        )
    if indices.size == 0:
        raise WrongInput("a nonempty string", "no tokens", "give at least one token")
    outside = np.flatnonzero((indices < 0) | (indices >= symbols))
    if outside.size:
        raise WrongInput(
            f"token indices 0..{symbols - 1}",
            f"{indices[outside[0]]}",
            "fix the token",
            f"position {outside[0] + 1}",
        )
    return indices.astype(np.int64)


def _entries(value: Any, where: str) -> list[Any]:
    return as_list(value, "a sequence", "give nested lists of whole numbers", where)


def _natural(value: Any, where: str) -> int:
    try:
        number = operator.index(value)
    except TypeError:
        raise WrongInput("a whole number", shown(value), "counts and tokens are whole numbers", where) from None
    if isinstance(value, bool) or number < 0:
        raise WrongInput("a whole number >= 0", shown(value), "counts and tokens are not negative", where)
    return number
