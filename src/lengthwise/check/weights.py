"""How much every entry of a string weighs in every head: exactly where attention is hard, else up to a known factor.

The *entries* are all types by index and then, where the last tokens are set apart, these, offset by offset.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from .claim import Case
from .enclose import Enclosure, exp, log, reaches
from .model import Type
from .reader import Refused

DIGITS = 112  # certain binary digits of a weight that is not rational
WIDEST = 4_096  # largest difference of logits, in units of which e is the base, that is followed

Weights = list[list[int]]  # [head][entry], common factors do not matter
Values = list[int | None]  # logits by entry, None where masked


@dataclass(frozen=True)
class Frame:
    """What asks, and which tokens are set apart (by offset, from 0)."""

    query: Type
    near: list[Type]

    @classmethod
    def of(cls, case: Case, suffix: list[int], residue: int, apart: bool) -> "Frame":
        """A suffix in reading order whose last token stands at the residue."""
        places = [(token, (residue - k) % case.period) for k, token in enumerate(reversed(suffix))]
        return cls(places[0], places if apart else [])

    def logits(self, case: Case) -> list[Values]:
        """By head and entry, over the denominator of Logits."""
        own, found = case.model.period, []
        for head in case.logits:
            row = head.content[self.query[0], self.query[1] % own]
            far: Values = [row[token, residue % own] for token, residue in case.types]
            shifts = head.phi[: len(self.near)]
            close: Values = [
                None if phi is None else row[token, residue % own] + phi
                for (token, residue), phi in zip(self.near, shifts, strict=True)
            ]
            found.append(far + close)
        return found


def plain(case: Case, logits: list[Values]) -> tuple[Weights, list[Fraction]]:
    """e^logit, and for every head a bound on the relative error of its weights."""
    every = Enclosure.of(1)
    pairs = [
        _exponentials(values, max(v for v in values if v is not None), head.denominator, every, _never)
        for values, head in zip(logits, case.logits, strict=True)
    ]
    return [weights for weights, _ in pairs], [error for _, error in pairs]


def hard(logits: list[Values], tops: list[int]) -> Weights:
    """1 where the logit is the largest there is, else 0."""
    return [[int(v == top) for v in values] for values, top in zip(logits, tops, strict=True)]


def soft(case: Case, logits: list[Values], tops: list[int | None], length: int) -> tuple[Weights, list[Fraction]]:
    """n^(logit - top) unless flushed to 0, for strings of length n in which `tops` are the largest logits (None: none)."""
    bits, stretch = case.model.bits or 1, log(Fraction(length), DIGITS + 64)
    pairs = [
        _exponentials(values, top, head.denominator, stretch, lambda gap: reaches(length, gap, bits))
        for values, top, head in zip(logits, tops, case.logits, strict=True)
    ]
    return [weights for weights, _ in pairs], [error for _, error in pairs]


def _never(gap: Fraction) -> bool:
    return False


def _exponentials(
    values: Values, top: int | None, below: int, stretch: Enclosure, flushed: Callable[[Fraction], bool]
) -> tuple[list[int], Fraction]:
    """e^(stretch (v - top)) over one denominator, rounded down, and the largest relative error; 0 where v > top.

    With K binary places, K = DIGITS + 2 + 3/2 (the largest exponent), every weight is an integer above 2^DIGITS. The error
    is not estimated but taken from the enclosures: the true weight is between w and w (1 + error).
    """
    if top is None:
        return [0] * len(values), Fraction(0)
    gaps = {v: Fraction(top - v, below) for v in {*values} if v is not None and v <= top}
    kept = {v: gap for v, gap in gaps.items() if not (gap and flushed(gap))}
    widest = max(kept.values()) * stretch.high if kept else Fraction(0)
    if widest > WIDEST:
        raise Refused("logits of one head are so far apart that its weights are not followed")
    one = 1 << DIGITS + 2 + int(widest * 3 / 2)
    found: dict[int | None, int] = {}
    error = Fraction(0)
    for v, gap in kept.items():
        ends = exp((stretch * -gap).rounded(), DIGITS)
        found[v] = int(ends.low * one)
        error = max(error, ends.high * one / found[v] - 1)
    return [found.get(v, 0) for v in values], error
