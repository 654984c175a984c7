"""Reads a certificate's text: limits before anything is parsed, then JSON, then numbers, each refused with a reason."""

import json
import re
from collections.abc import Callable
from fractions import Fraction
from itertools import accumulate
from math import ceil
from typing import Any, NoReturn

MOST_BYTES = 1 << 24
DEEPEST = 12
MOST_DIGITS = 2_000
LARGEST_EXPONENT = 2_200
MOST_WORK = 200_000_000

_INTEGER = rf"-?(?:0|[1-9][0-9]{{0,{MOST_DIGITS - 1}}})"
_NUMBER = re.compile(rf"({_INTEGER})(?:/([1-9][0-9]{{0,{MOST_DIGITS - 1}}})|\*2\^(-?(?:0|[1-9][0-9]{{0,4}})))?")
_FORMS = 'a JSON integer, or a string like "-12", "3/40" or "5*2^-7"'
_NOT_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))
_STEPS = bytes.maketrans(b"[{]}", b"\x01\x01\xff\xff")  # +1 and -1 as signed bytes: depth without a loop in Python


class Unreadable(ValueError):
    """The file is no certificate as docs/certificate.md defines one: where, what was wanted, and what came."""

    def __init__(self, wanted: str, got: str, where: str = "") -> None:
        self.wanted, self.got, self.where = wanted, got, where
        super().__init__(wanted, got, where)

    def __str__(self) -> str:
        """One line."""
        return f"{self.where}: " * bool(self.where) + f"wanted {self.wanted}; got {self.got}"


class Refused(Exception):
    """The certificate can be read, and what it claims does not follow, or could not be decided."""


def parse(data: bytes) -> dict[str, Any]:
    """The JSON object in a certificate's bytes. Size, alphabet and nesting are checked before parsing."""
    if len(data) > MOST_BYTES:
        raise Unreadable(f"at most {MOST_BYTES} bytes", "more")
    outside = b"".join(data.split(b'"')[::2])  # strings have no escapes, so every other part is outside strings
    steps = memoryview(outside.translate(_STEPS, _NOT_BRACKETS)).cast("b")
    if max(accumulate(steps), default=0) > DEEPEST:
        raise Unreadable(f"brackets nested at most {DEEPEST} deep", "deeper ones")
    if b"\\" in data or not data.isascii():
        raise Unreadable("ASCII text without a backslash", "another character")
    try:
        found = json.loads(
            data.decode("ascii"),
            parse_int=_json_integer,
            parse_float=_no_float,
            parse_constant=_no_float,
            object_pairs_hook=_object,
        )
    except json.JSONDecodeError as error:
        raise Unreadable("JSON", f"{error.msg} in line {error.lineno}, column {error.colno}") from None
    if not isinstance(found, dict):
        raise Unreadable("a JSON object", shown(found))
    return found


def fields(value: Any, where: str, *names: str) -> list[Any]:
    """The values of an object that has exactly these fields, in this order."""
    if not isinstance(value, dict):
        raise Unreadable(f"an object with the fields {', '.join(names)}", shown(value), where)
    for name in names:
        if name not in value:
            raise Unreadable(f"the field {name}", "an object without it", where)
    for name in value:
        if name not in names:
            raise Unreadable(f"only the fields {', '.join(names)}", f"also {shown(name)}", where)
    return [value[name] for name in names]


def number(value: Any, where: str) -> Fraction:
    """A number in one of the forms of section 2 of the format."""
    if isinstance(value, int) and not isinstance(value, bool):
        return Fraction(value)
    match = _NUMBER.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        raise Unreadable(f"a number: {_FORMS}", shown(value), where)
    top, bottom, power = match.groups()
    if power is None:
        return Fraction(int(top), int(bottom or 1))
    exponent = int(power)
    if abs(exponent) > LARGEST_EXPONENT:
        raise Unreadable(f"exponents from -{LARGEST_EXPONENT} to {LARGEST_EXPONENT}", power, where)
    return Fraction(int(top) << max(exponent, 0), 1 << max(-exponent, 0))


def natural(value: Any, where: str, least: int = 0) -> int:
    """A number whose value is an integer, at least `least`."""
    found = number(value, where)
    if found.denominator != 1 or found < least:
        raise Unreadable(f"a whole number >= {least}", shown(value), where)
    return int(found)


def numbers(value: Any, where: str, length: int | None = None) -> list[Fraction]:
    """A list of numbers, of a given length where there is one."""
    return [number(entry, where) for entry in items(value, where, length)]


def matrix(value: Any, where: str, columns: int, rows: int | None = None) -> list[list[Fraction]]:
    """A list of rows of numbers, `columns` each."""
    return [numbers(row, where, columns) for row in items(value, where, rows)]


def items(value: Any, where: str, length: int | None = None) -> list[Any]:
    """A list, of a given length where there is one."""
    if not isinstance(value, list):
        raise Unreadable("a list", shown(value), where)
    if length is not None and len(value) != length:
        raise Unreadable(f"a list of {length} entries", f"one of {len(value)}", where)
    return value


def one_of(value: Any, where: str, *words: str) -> str:
    """One of some words."""
    if not isinstance(value, str) or value not in words:
        raise Unreadable(f"one of {', '.join(words)}", shown(value), where)
    return value


def shown(value: Any) -> str:
    """A value as it fits into one line."""
    kinds: list[tuple[type, Callable[[Any], str]]] = [
        (dict, lambda found: f"an object with {len(found)} fields"),
        (list, lambda found: f"a list of {len(found)} entries"),
        (bool, lambda found: str(found).lower()),
        (int, about),
        (str, lambda found: repr(found if len(found) < 40 else found[:39] + "...")),
    ]
    return next((say(value) for kind, say in kinds if isinstance(value, kind)), "null")


def about(value: int) -> str:
    """An integer in digits, or its number of bits where that would fill the line."""
    return str(value) if abs(value) < 10**40 else f"an integer of {value.bit_length()} bits"


def upward(value: Fraction) -> str:
    """A number >= 0, exactly where that is short, else six digits, rounded up."""
    if value.denominator < 100_000 and value.numerator < 10**12:
        return str(value)
    tens = (value.numerator.bit_length() - value.denominator.bit_length() - 1) * 30103 // 100_000 - 1
    while value >= Fraction(10) ** (tens + 1):  # tens began at or below the exponent, by 2 at most
        tens += 1
    digits = str(ceil(value * Fraction(10) ** (5 - tens)))  # 1000000 where all nines are rounded up: still above
    return f"{digits[:-5]}.{digits[-5:]}e{tens}"


def _json_integer(digits: str) -> int:
    if len(digits.lstrip("-")) > MOST_DIGITS:
        raise Unreadable(f"integers of at most {MOST_DIGITS} digits", f"one of {len(digits)}")
    return int(digits)


def _no_float(text: str) -> NoReturn:
    raise Unreadable(f"numbers without a point or an exponent: {_FORMS}", text[:40])


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        raise Unreadable("every field once", f"{shown(next(n for n in names if names.count(n) > 1))} twice")
    return found
