"""Strings, and files of strings or of what one layer sees of them."""

import codecs
import json
import operator
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Never

import numpy as np

from lengthwise.errors import WrongInput, nearest, shown
from lengthwise.shapes import Int
from lengthwise.type_counts import Counts, as_list, check_tokens, class_size

__all__ = ["Counts", "class_size", "decode", "default_names", "encode", "read_counts", "read_strings", "split_text"]


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
        return check_tokens(np.asarray(string), len(names))
    else:
        tokens = as_list(string, "a string of tokens", "pass text, token names or token indices")
    kinds = set(map(type, tokens))
    if kinds and all(issubclass(kind, str) for kind in kinds):
        return _look_up(tokens, names)
    try:
        if bool in kinds:
            raise TypeError
        indices = np.asarray([operator.index(token) for token in tokens], dtype=np.int64)
    except (TypeError, OverflowError):
        raise WrongInput("token names or token indices", shown(tokens), "use one kind throughout") from None
    return check_tokens(indices, len(names))


def split_text(text: str, names: Sequence[str]) -> list[str]:
    """Cuts text into token names: at blanks if there are any, else one character a token where the names allow it."""
    text = text.strip()
    tokens = text.split()
    if len(tokens) > 1:
        return tokens
    if all(len(name) == 1 for name in names):
        return list(text)
    return [text] if text else []


def decode(indices: Iterable[int], names: Sequence[str]) -> str:
    """Token indices as text that `encode` reads back."""
    glue = "" if all(len(name) == 1 for name in names) else " "
    return glue.join(names[index] for index in indices)


def read_strings(lines: Iterable[bytes], names: Sequence[str], source: str) -> Iterator[Int[np.ndarray, " n"]]:
    """The strings of a text file, one a line, in order; an error names the line. A byte order mark is no token."""
    count = 0
    for count, line in enumerate(lines, start=1):
        try:
            text = _utf8(line.removeprefix(codecs.BOM_UTF8) if count == 1 else line).rstrip("\r\n")
            if "\r" in text:
                raise WrongInput("one string a line", "a carriage return inside", "end lines with a line feed")
            yield encode(text, names)
        except WrongInput as error:
            raise error.at(f"{source}, line {count}") from None
    if count == 0:
        raise WrongInput("at least one string", "an empty file", "write one string a line", source)


def read_counts(text: bytes, names: Sequence[str], source: str) -> list[Counts]:
    """The counts in a JSON text: {"suffix": ..., "table": [[...], ...]}, or a list of such objects.

    suffix is what `encode` takes, the table is that of `Counts` with one row a token; integers of any size survive.
    """
    try:
        found = json.loads(
            _utf8(text.removeprefix(codecs.BOM_UTF8)),
            parse_int=_whole,
            parse_float=_no_whole,
            parse_constant=_no_whole,
            object_pairs_hook=_object,
        )
    except json.JSONDecodeError as error:
        got = f"{error.msg} in line {error.lineno}, column {error.colno}"
        raise WrongInput("JSON", got, "fix the text", source) from None
    except RecursionError:
        raise WrongInput("lists nested two deep", "far deeper ones", "fix the text", source) from None
    except WrongInput as error:
        raise error.at(source) from None
    if not isinstance(found, list):
        return [_counts(found, names, source)]
    if not found:
        raise WrongInput("at least one table of counts", "an empty list", "write one", source)
    return [_counts(entry, names, f"{source}, entry {index}") for index, entry in enumerate(found, start=1)]


def _counts(found: Any, names: Sequence[str], source: str) -> Counts:
    if not isinstance(found, dict) or set(found) != {"suffix", "table"}:
        raise WrongInput('an object with the keys "suffix" and "table"', shown(found), "give these two", source)
    suffix, table = found["suffix"], found["table"]
    try:
        try:
            tokens = encode(suffix, names)
        except WrongInput as error:
            raise error.at("suffix") from None
        counts = Counts(tuple(tokens.tolist()), table)
        if counts.symbols != len(names):
            raise WrongInput(f"{len(names)} rows, one a token", f"{counts.symbols}", "add or drop rows", "table")
    except WrongInput as error:
        raise error.at(source) from None
    return counts


def _whole(digits: str) -> int:
    try:
        return int(digits)
    except ValueError:
        wanted = f"whole numbers of at most {sys.get_int_max_str_digits()} digits"
        raise WrongInput(wanted, f"one of {len(digits)}", "give smaller counts") from None


def _no_whole(text: str) -> Never:
    raise WrongInput("whole numbers", text, "counts and tokens are whole numbers")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    names = [name for name, _ in pairs]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise WrongInput("every key once", f"{shown(twice)} twice", "drop one of them")
    return dict(pairs)


def _utf8(data: bytes) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        got = f"byte 0x{data[error.start]:02x} at byte {error.start + 1}"
        raise WrongInput("UTF-8 text", got, "save the file as UTF-8") from None


def _look_up(tokens: list[str], names: Sequence[str]) -> Int[np.ndarray, " n"]:
    index = {name: position for position, name in enumerate(names)}
    try:
        return np.fromiter(map(index.__getitem__, tokens), dtype=np.int64, count=len(tokens))
    except KeyError as error:
        place = tokens.index(error.args[0]) + 1
        near = " or ".join(nearest(error.args[0], list(names)))
        raise WrongInput(
            f"one of the {len(names)} tokens of the vocabulary",
            f"{shown(error.args[0])}",
            f"nearest: {near}",
            f"position {place}",
        ) from None
