"""A condition on the counts of a string, as people write it: `c0 + c1 >= 0.05 n and n >= 10`."""

import itertools
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from jaxtyping import Int

from lengthwise.errors import WrongInput, shown

EXAMPLE = 'write it as "c0 + c1 >= 0.05 n", conditions joined by and'
_MOST_DIGITS = 40
_NUMBER = r"\d+(?:\.\d*)?|\.\d+"
_TERM = re.compile(rf"(?P<number>(?:{_NUMBER})(?:\s*/\s*\d+)?)?\s*\*?\s*(?P<name>c\d+(?:@\d+)?|n)?\s*")


@dataclass(frozen=True)
class Row:
    """One condition:  sum over tokens s and residues r of counts[s][r] c(s, r)  +  length n  +  constant  >=  0."""

    counts: tuple[tuple[Fraction, ...], ...]
    length: Fraction
    constant: Fraction

    def value(self, counts: Sequence[Sequence[int]], length: int) -> Fraction:
        """The left side, exactly."""
        weighed = (
            weight * number
            for weights, numbers in zip(self.counts, counts, strict=True)
            for weight, number in zip(weights, numbers, strict=True)
            if weight
        )
        return sum(weighed, self.length * length + self.constant)

    @property
    def whole(self) -> list[int]:
        """The weights by type, of the length, and the constant, times their common denominator."""
        flat = [*itertools.chain(*self.counts), self.length, self.constant]
        common = math.lcm(*(value.denominator for value in flat))
        return [int(value * common) for value in flat]


@dataclass(frozen=True)
class Condition:
    """Linear conditions on the counts of a whole string by token and residue, suffix included; all of them must hold.

    c3 is how often token 3 stands anywhere, c3@1 how often at positions i (from 1) with i mod period = 1, n the length.
    """

    rows: tuple[Row, ...]
    text: str = ""

    def holds(self, counts: Sequence[Sequence[int]], length: int) -> bool:
        """Whether a string with these counts, counts[token][residue] of the whole of it, meets every condition."""
        return all(row.value(counts, length) >= 0 for row in self.rows)

    def holding(self, counts: Int[np.ndarray, "types batch"], lengths: Int[np.ndarray, " batch"]) -> Any:
        """`holds` for many strings, one a column, the rows by type code token * period + residue; as exact."""
        ok = np.ones(len(lengths), dtype=bool)
        for row in self.rows:
            *weights, length, constant = row.whole
            largest = max(map(abs, [*weights, length])) * int(lengths.max(initial=0)) * 2 + abs(constant)
            kind = np.int64 if largest * (len(weights) + 1) < 2**62 else object
            value = np.asarray(weights, dtype=kind) @ counts.astype(kind) + length * lengths.astype(kind) + constant
            ok &= np.asarray(value >= 0, dtype=bool)
        return ok

    @property
    def homogeneous(self) -> bool:
        """Whether it is about frequencies alone, the same at every length."""
        return not any(row.constant for row in self.rows)

    def __str__(self) -> str:
        """As it was written."""
        return self.text


def parse_where(text: str, symbols: int, period: int = 1) -> Condition:
    """The condition of a text: sides linear in c0, c1, ..., c0@1, ..., n, compared by >= or <=, joined by `and`.

    Numbers are whole, decimal or fractions p/q, and exact. A chain `0.1 n <= c0 <= 0.5 n` is two conditions.
    """
    try:
        rows = tuple(row for part in re.split(r"\band\b", text) for row in _rows(part, symbols, period))
    except WrongInput as error:
        raise error.at("where") from None
    return Condition(rows, " ".join(text.split()))


def _rows(part: str, symbols: int, period: int) -> Iterator[Row]:
    pieces = re.split(r"(>=|<=)", part)
    if len(pieces) < 3 or re.search(r"[<>=]", "".join(pieces[::2])):
        raise WrongInput("two sides compared by >= or <=", shown(part.strip()), EXAMPLE)
    sides = [_side(piece, symbols, period) for piece in pieces[::2]]
    for place, sign in enumerate(pieces[1::2]):
        large, small = (sides[place], sides[place + 1]) if sign == ">=" else (sides[place + 1], sides[place])
        yield Row(
            tuple(
                tuple(a - b for a, b in zip(*rows, strict=True))
                for rows in zip(large.counts, small.counts, strict=True)
            ),
            large.length - small.length,
            large.constant - small.constant,
        )


def _side(text: str, symbols: int, period: int) -> Row:
    """One side, as the row that it would be if it were compared with 0."""
    counts = [[Fraction(0)] * period for _ in range(symbols)]
    length = constant = Fraction(0)
    for sign, term in _terms(text):
        found = _TERM.fullmatch(term)
        if found is None or not (found["number"] or found["name"]) or len(term) > _MOST_DIGITS:
            raise WrongInput("a term as 2, 0.05 n, c0 or 3 c0@1", shown(term), EXAMPLE)
        number = sign * _number(found["number"] or "1", term)
        if found["name"] is None:
            constant += number
        elif found["name"] == "n":
            length += number
        else:
            token, residues = _type(found["name"], symbols, period)
            for residue in residues:
                counts[token][residue] += number
    return Row(tuple(map(tuple, counts)), length, constant)


def _terms(text: str) -> Iterator[tuple[int, str]]:
    """The terms of a sum with their signs; the first sign may be left out."""
    pieces = re.split(r"([+-])", text)
    if pieces[0].strip():
        yield 1, pieces[0].strip()
    elif len(pieces) == 1:
        raise WrongInput("something on both sides", "nothing on one side", EXAMPLE)
    for sign, term in zip(pieces[1::2], pieces[2::2], strict=True):
        yield (1 if sign == "+" else -1), term.strip()


def _number(text: str, term: str) -> Fraction:
    numerator, _, denominator = text.partition("/")
    if denominator and not int(denominator):
        raise WrongInput("a fraction", shown(term), "divide by something else than 0")
    return Fraction(numerator.strip()) / (int(denominator) if denominator else 1)


def _type(name: str, symbols: int, period: int) -> tuple[int, range]:
    """The token of c3 or c3@1, and the residues it is about."""
    token, at, residue = name.removeprefix("c").partition("@")
    if int(token) >= symbols:
        raise WrongInput(f"tokens c0 to c{symbols - 1}", name, "count a token of the vocabulary")
    if not at:
        return int(token), range(period)
    if int(residue) >= period:
        raise WrongInput(f"residues 0 to {period - 1}, below the period", name, "fix the residue")
    return int(token), range(int(residue), int(residue) + 1)
