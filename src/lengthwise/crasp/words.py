"""Batches of words: all their symbols one after the other, and their lengths."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Int, Integer

from lengthwise.errors import WrongInput, nearest, shown
from lengthwise.strings import split_text
from lengthwise.type_counts import check_tokens


@dataclass(frozen=True, eq=False)
class Words:
    """Words over an alphabet: `tokens` are symbol indices, those of the first word first; `lengths` cut them up."""

    __no_type_check__ = True  # for the tests' type checker: __post_init__ checks, with errors for people

    tokens: Integer[np.ndarray, " symbols"]
    lengths: Int[np.ndarray, " words"]

    def __post_init__(self) -> None:
        """Checks that the lengths cut up the tokens exactly."""
        lengths = np.asarray(self.lengths, dtype=np.int64).reshape(-1)
        tokens = np.asarray(self.tokens).reshape(-1)
        object.__setattr__(self, "lengths", lengths)
        object.__setattr__(self, "tokens", tokens)
        if (lengths < 0).any() or int(lengths.sum()) != len(tokens):
            wanted, got = f"lengths that add up to {len(tokens)} symbols", f"{shown(int(lengths.sum()))}"
            raise WrongInput(wanted, got, "give one length a word, none negative")

    def __len__(self) -> int:
        """How many words there are."""
        return len(self.lengths)

    @classmethod
    def of(cls, words: Any, alphabet: Sequence[str], called: str = "word", first: int = 1) -> "Words":
        """Words from texts, lists of symbols or of symbol indices, or the rows of an array of indices.

        Text is split at blanks if it has any, else into characters where every symbol is one character. The empty
        word is the empty text or list. Errors count the words from `first` and call them what `called` says.
        """
        if isinstance(words, Words):
            return cls(_narrow(words.tokens, alphabet), words.lengths)
        if isinstance(words, (str, bytes)):
            raise WrongInput("a list of words", shown(words), "put the one word into a list")
        if isinstance(words, np.ndarray) and words.ndim == 2:
            return cls(_narrow(words.reshape(-1), alphabet), np.full(len(words), words.shape[1]))
        try:
            listed = list(words)
        except TypeError:
            raise WrongInput("a list of words", shown(words), "put words into a list") from None
        if all(isinstance(word, str) for word in listed):
            return _of_texts(listed, alphabet, called, first)
        return _joined(_encoded(word, alphabet, f"{called} {first + index}") for index, word in enumerate(listed))

    def slices(self) -> "list[slice]":
        """Where each word stands among the tokens."""
        ends = np.cumsum(self.lengths).tolist()
        return [slice(end - length, end) for end, length in zip(ends, self.lengths.tolist(), strict=True)]


def encode_word(word: str, alphabet: Sequence[str]) -> Int[np.ndarray, " n"]:
    """One word, which may be empty, as symbol indices."""
    return _looked_up(split_text(word, alphabet), alphabet)


def _looked_up(symbols: list[str], alphabet: Sequence[str]) -> Int[np.ndarray, " n"]:
    index = {symbol: position for position, symbol in enumerate(alphabet)}
    try:
        return np.array([index[symbol] for symbol in symbols], dtype=np.int64)
    except KeyError as error:
        symbol, near = error.args[0], " or ".join(nearest(error.args[0], list(alphabet)))
        place = f"position {symbols.index(symbol) + 1}"
        wanted = f"one of the {len(alphabet)} symbols of the alphabet"
        raise WrongInput(wanted, shown(symbol), f"nearest: {near}", place) from None


def _of_texts(words: list[str], alphabet: Sequence[str], called: str, first: int) -> Words:
    """Texts, all at once where every symbol is one character and no word has blanks."""
    joined = "".join(words)
    if all(len(symbol) == 1 for symbol in alphabet):
        codes = np.frombuffer(joined.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
        table = np.full(max(map(ord, alphabet)) + 1, len(alphabet), dtype=np.min_scalar_type(len(alphabet)))
        table[[ord(symbol) for symbol in alphabet]] = np.arange(len(alphabet))
        if not len(codes) or int(codes.max()) < len(table):
            tokens = table[codes]
            if not (tokens == len(alphabet)).any():
                lengths = np.fromiter(map(len, words), dtype=np.int64, count=len(words))
                return Words(tokens, lengths)
    return _joined(_encoded(word, alphabet, f"{called} {first + index}") for index, word in enumerate(words))


def _joined(words: Iterable[Int[np.ndarray, " n"]]) -> Words:
    rows = list(words)
    tokens = np.concatenate(rows) if rows else np.zeros(0, dtype=np.int64)
    return Words(tokens, np.array([len(row) for row in rows], dtype=np.int64))


def _encoded(word: Any, alphabet: Sequence[str], place: str) -> Int[np.ndarray, " n"]:
    try:
        if isinstance(word, str):
            return encode_word(word, alphabet)
        symbols = list(word)
        if symbols and all(isinstance(symbol, str) for symbol in symbols):
            return _looked_up(symbols, alphabet)
        if not symbols:
            return np.zeros(0, dtype=np.int64)
        return check_tokens(np.asarray(symbols), len(alphabet))
    except TypeError:
        wanted = "a word as text, or a list of symbols or of their indices"
        raise WrongInput(wanted, shown(word), "give one of these", place) from None
    except WrongInput as error:
        raise error.at(place) from None


def _narrow(tokens: Any, alphabet: Sequence[str]) -> Any:
    """Checked tokens in the smallest type that holds them: bytes are compared eight times as fast as 64-bit integers."""
    if tokens.size and (tokens.dtype.kind not in "iu" or tokens.min() < 0 or tokens.max() >= len(alphabet)):
        check_tokens(tokens, len(alphabet))
    return tokens.astype(np.min_scalar_type(len(alphabet)), copy=False)
