"""What `bound` answers: a training length with its reasons, or the reason why there is none."""

import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from lengthwise.errors import LengthwiseError
from lengthwise.exact import ceil_float, ceil_power_of_two
from lengthwise.jsonform import to_json

LARGEST_WRITTEN = 4096  # bits of the longest length that is written out; beyond, its log2 is kept
TOO_LARGE = "too large to write out: see its log2"


class NoBoundHolds(LengthwiseError):
    """Somebody asked for the number of a bound that there is not; the command line answers no."""


@dataclass(frozen=True)
class Length:
    """A length: its exact value, or None where that is too large to write out, and its log2, rounded up."""

    value: int | None
    log2: float

    @classmethod
    def of(cls, value: int) -> "Length":
        """The length of an exact integer."""
        return cls(value if value.bit_length() <= LARGEST_WRITTEN else None, log2_upper(value))

    @classmethod
    def power_of_two(cls, exponent: Fraction) -> "Length":
        """The least whole length >= 2^exponent."""
        if exponent <= LARGEST_WRITTEN:
            return cls.of(ceil_power_of_two(exponent))
        return cls(None, math.nextafter(ceil_float(exponent), math.inf))

    @classmethod
    def longest(cls, *lengths: "Length") -> "Length":
        """The largest of several: its value where all are written out, or where the one that is not is shorter."""
        written = [length.value for length in lengths if length.value is not None]
        log2 = max(length.log2 for length in lengths)
        known = max(written, default=0)
        return cls.of(known) if len(written) == len(lengths) else cls(None, log2)

    def plus(self, count: int) -> "Length":
        """The length and some more positions; what is not written out is above 2^4095, so a float's step covers them."""
        if self.value is not None:
            return Length.of(self.value + count)
        small = count.bit_length() < LARGEST_WRITTEN // 2
        log2 = math.nextafter(self.log2, math.inf) if small else max(self.log2, log2_upper(count)) + 1
        return Length(None, log2)

    def fields(self, name: str) -> dict[str, Any]:
        """The length under a name, its log2 beside it, and why there are no digits where there are none."""
        reason = {} if self.value is not None else {f"{name}_reason": TOO_LARGE}
        return {name: self.value, f"log2_{name}": self.log2} | reason

    def __str__(self) -> str:
        """The digits of a length that a person can read, else a power of two."""
        if self.value is not None and self.value < 10**15:
            return f"{self.value:,}"
        return f"2^{self.log2:.6g}"


@dataclass(frozen=True)
class Term:
    """One of the numbers that a training length is the largest (or the sum) of, and the input that would lower it."""

    name: str
    length: Length
    formula: str
    lowered_by: str

    def fields(self) -> dict[str, Any]:
        """The term as the command line prints it with --json."""
        return {
            "name": self.name,
            **self.length.fields("length"),
            "formula": self.formula,
            "lowered_by": self.lowered_by,
        }


@dataclass(frozen=True)
class Other:
    """A number shown beside a bound: a lower bound, a corollary, or a printed form not proved for this model."""

    name: str
    length: Length
    statement: str
    source: str

    def fields(self) -> dict[str, Any]:
        """The number as the command line prints it with --json."""
        return {"name": self.name, **self.length.fields("length"), "statement": self.statement, "source": self.source}


@dataclass(frozen=True)
class Bound:
    """A training length that suffices: agreement on the `window` lengths up to it carries over to all longer ones.

    If two models agree within delta on every string of the lengths N - window + 1 .. N, then within delta + error on
    every longer string; a window of None stands for all lengths up to N. terms: what N is made of, `dominant` by name;
    lower_bounds: what no method can beat, the one that binds every argument first. law: empty where the bound holds for
    every string; else the law under which differences are expected ones.
    """

    length: Length
    error: Fraction
    window: int | None
    terms: tuple[Term, ...]
    theorem: str
    source: str
    attention: str
    hypotheses: tuple[str, ...]
    lower_bounds: tuple[Other, ...] = ()
    others: tuple[Other, ...] = field(default=())
    law: str = ""

    @property
    def training_length(self) -> int | None:
        """N, or None where it is too large to write out: then see log2_training_length."""
        return self.length.value

    @property
    def log2_training_length(self) -> float:
        """Log2 of N, rounded up."""
        return self.length.log2

    @property
    def dominant(self) -> Term:
        """The largest term."""
        return max(self.terms, key=lambda term: term.length.log2)

    def fields(self) -> dict[str, Any]:
        """The bound as the command line prints it with --json."""
        last = self.training_length
        return {
            "kind": "bound",
            "sentence": str(self),
            **self.length.fields("training_length"),
            "window": None if last is None else [last - (self.window or last) + 1, last],
            "window_lengths": self.window or last,
            "terms": [term.fields() for term in self.terms],
            "dominant_term": self.dominant.name,
            "lower_bound": self.lower_bounds[0].length.value if self.lower_bounds else None,
            "lower_bounds": [other.fields() for other in self.lower_bounds],
            "others": [other.fields() for other in self.others],
            "theorem": self.theorem,
            "source": self.source,
            "hypotheses": self.hypotheses,
            "attention": self.attention,
            "error": self.error,
            "law": self.law or None,
            "reason": None,
        }

    def to_json(self) -> str:
        """The fields as a JSON object."""
        return to_json(self.fields())

    def __str__(self) -> str:
        """The bound as a sentence."""
        lengths = {None: "up to that length", 1: "of that length"}.get(
            self.window, f"of the {self.window} lengths up to it"
        )
        why = f"({self.theorem}; {self.dominant.name} dominates)"
        if self.law:
            return (
                f"Training length {self.length}: if the expected difference of the models is at most d on strings {lengths}, "
                f"it is at most d + {float(self.error):g} on longer ones, under {self.law} {why}."
            )
        return (
            f"Training length {self.length}: models that agree on all strings {lengths} differ by at most "
            f"{float(self.error):g} more on every longer string {why}."
        )


@dataclass(frozen=True)
class NoBound:
    """There is no bound, why, and what would change that."""

    reason: str
    remedy: str
    attention: str

    @property
    def training_length(self) -> int:
        """There is none: raises the reason."""
        raise NoBoundHolds(str(self))

    log2_training_length = training_length

    def fields(self) -> dict[str, Any]:
        """The answer as the command line prints it with --json: the fields of a bound, and the reason."""
        nothing = ("training_length", "log2_training_length", "window", "dominant_term", "lower_bound", "theorem")
        return {
            "kind": "no bound",
            "sentence": str(self),
            **dict.fromkeys(nothing),
            "terms": [],
            "hypotheses": [],
            "attention": self.attention,
            "reason": self.reason,
            "remedy": self.remedy,
        }

    def to_json(self) -> str:
        """The fields as a JSON object."""
        return to_json(self.fields())

    def __str__(self) -> str:
        """The reason as a sentence."""
        return f"No bound: {self.reason}; {self.remedy}."


def log2_upper(value: int | Fraction) -> float:
    """A float that is certainly not below log2 of a positive number, however large; -inf for 0."""
    if value <= 0:
        return -math.inf
    whole = Fraction(value)
    if whole.denominator == 1 and whole.numerator.bit_count() == 1:
        return float(whole.numerator.bit_length() - 1)
    shift = max(0, math.floor(value).bit_length() - 60)
    return math.nextafter(
        math.nextafter(math.log2(ceil_float(Fraction(value) / (1 << shift))) + shift, math.inf), math.inf
    )
