"""Strings, and what one layer sees of a string: its suffix and the counts of its prefix by type.

A *type* is a pair (token, residue of the position modulo the period). Positions are 1, 2, ..., n.
"""

import operator
import reprlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Int

from lengthwise.errors import WrongInput, nearest, shown


def default_names(symbols: int) -> tuple[str, ...]:
    """Token names where none were given: 0, 1, 2, ..."""
    return tuple(str(index) for index in range(symbols))


def encode(string: str | Sequence[int] | Sequence[str] | Any, names: Sequence[str]) -> Int[np.ndarray, " n"]:
    """A nonempty string as token indices; it may be text, token names or indices.

    Text is split at blanks if it has any, else into characters where every token name is one character.
    """
    if isinstance(string, str):
        tokens: Any = split_text(string, names)
    elif isinstance(string, np.ndarray) or hasattr(string, "__array_namespace__"):
        return _checked_indices(np.asarray(string), names)
    else:
        try:
            tokens = list(string)
        except TypeError:
            raise WrongInput("a string of tokens", shown(string), "pass text, token names or token indices") from None
    if tokens and all(isinstance(token, str) for token in tokens):
        return _look_up(tokens, names)
    try:
        indices = np.asarray([operator.index(token) for token in tokens], dtype=np.int64)
    except (TypeError, OverflowError):
        raise WrongInput("token names or token indices", reprlib.repr(tokens), "use one kind throughout") from None
    return _checked_indices(indices, names)


def split_text(text: str, names: Sequence[str]) -> list[str]:
    """Cuts text into token names: at blanks if there are any, else one character a token where the names allow it."""
    text = text.strip()
    if any(character.isspace() for character in text):
        return text.split()
    if all(len(name) == 1 for name in names):
        return list(text)
    return [text] if text else []


def decode(indices: Iterable[int], names: Sequence[str]) -> str:
    """Token indices as text that `encode` reads back."""
    glue = "" if all(len(name) == 1 for name in names) else " "
    return glue.join(names[index] for index in indices)


def read_strings(lines: Iterable[bytes], names: Sequence[str], source: str) -> Iterator[Int[np.ndarray, " n"]]:
    """The strings of a text file, one a line, in order; an error names the line."""
    count = 0
    for count, line in enumerate(lines, start=1):
        place = f"{source}, line {count}"
        try:
            text = line.decode("utf-8")
        except UnicodeDecodeError as error:
            raise WrongInput(
                "UTF-8 text",
                f"byte 0x{line[error.start]:02x} at column {error.start + 1}",
                "save the file as UTF-8",
                place,
            ) from None
        try:
            yield encode(text, names)
        except WrongInput as error:
            raise error.at(place) from None
    if count == 0:
        raise WrongInput("at least one string", "an empty file", "write one string a line", source)


@dataclass(frozen=True, eq=False)
class Counts:
    """What a one-layer model sees of a string, whatever its length.

    suffix: the last tokens in reading order, the last token last (at least locality + 1 of them, or the whole string).
    table: table[token][residue] = how often the token stands at positions of that residue in the prefix, the part
    before the suffix. Entries are Python integers of any size.
    """

    suffix: tuple[int, ...]
    table: tuple[tuple[int, ...], ...]

    def __post_init__(self) -> None:
        """Turns any nested sequence of integers into tuples of Python integers, or says which entry is none."""
        object.__setattr__(
            self, "suffix", tuple(_natural(v, f"suffix[{i}]") for i, v in enumerate(_rows(self.suffix, "suffix")))
        )
        table = tuple(
            tuple(_natural(v, f"table[{s}][{r}]") for r, v in enumerate(_rows(row, f"table[{s}]")))
            for s, row in enumerate(_rows(self.table, "table"))
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
                f"tokens 0..{self.symbols - 1}", f"token {bad}", "add a row to the table or fix it", "suffix"
            )

    def _check_classes(self) -> None:
        """Positions 1..M hold floor(M/period) + [1 <= r <= M mod period] positions of residue r, no more and no fewer."""
        prefix = self.prefix_length
        for residue in range(self.period):
            wanted = class_size(prefix, residue, self.period)
            got = sum(row[residue] for row in self.table)
            if got != wanted:
                raise WrongInput(
                    f"{wanted} prefix positions of residue {residue} (a prefix of {prefix} positions, period {self.period})",
                    f"counts that sum to {got}",
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
        indices = np.asarray(string)
        cut = max(0, len(indices) - locality - 1)
        residues = np.arange(1, cut + 1) % period
        table = np.bincount(indices[:cut] * period + residues, minlength=symbols * period).reshape(symbols, period)
        return cls(tuple(indices[cut:].tolist()), tuple(map(tuple, table.tolist())))


def class_size(prefix: int, residue: int, period: int) -> int:
    """How many of the positions 1..prefix are congruent to residue: floor(M/period) + [1 <= residue <= M mod period]."""
    return prefix // period + (1 <= residue <= prefix % period)


def _rows(value: Any, where: str) -> list[Any]:
    try:
        return list(value)
    except TypeError:
        raise WrongInput("a sequence", shown(value), "give nested lists of whole numbers", where) from None


def _natural(value: Any, where: str) -> int:
    try:
        number = operator.index(value)
    except TypeError:
        raise WrongInput("a whole number", shown(value), "counts and tokens are whole numbers", where) from None
    if isinstance(value, bool) or number < 0:
        raise WrongInput("a whole number >= 0", shown(value), "counts and tokens are not negative", where)
    return number


def _checked_indices(indices: np.ndarray, names: Sequence[str]) -> Int[np.ndarray, " n"]:
    if indices.ndim != 1 or (indices.size and not np.issubdtype(indices.dtype, np.integer)):
        raise WrongInput(
            "one row of token indices", f"an array of shape {indices.shape}, {indices.dtype}", "pass one string"
        )
    if indices.size == 0:
        raise WrongInput("a nonempty string", "no tokens", "a transformer needs at least one token")
    outside = np.flatnonzero((indices < 0) | (indices >= len(names)))
    if outside.size:
        raise WrongInput(
            f"token indices 0..{len(names) - 1}",
            f"{indices[outside[0]]}",
            "fix the token",
            f"position {outside[0] + 1}",
        )
    return indices.astype(np.int64)


def _look_up(tokens: list[str], names: Sequence[str]) -> Int[np.ndarray, " n"]:
    index = {name: position for position, name in enumerate(names)}
    try:
        return np.fromiter((index[token] for token in tokens), dtype=np.int64, count=len(tokens))
    except KeyError as error:
        place = tokens.index(error.args[0]) + 1
        near = " or ".join(nearest(error.args[0], list(names)))
        raise WrongInput(
            f"one of the {len(names)} tokens of the vocabulary",
            f"{shown(error.args[0])}",
            f"nearest: {near}",
            f"position {place}",
        ) from None
