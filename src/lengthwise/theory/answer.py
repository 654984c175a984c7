"""What `bound` answers: a training length with its reasons, or the reason why there is none."""

import math
from dataclasses import dataclass, field
from fractions import Fraction

from lengthwise.errors import LengthwiseError
from lengthwise.exact import ceil_float

LARGEST_WRITTEN = 4096  # bits of the longest length that is written out; beyond, its log2 is kept


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


@dataclass(frozen=True)
class Other:
    """A number shown beside a bound: a lower bound, a corollary, or a printed form not proved for this model."""

    name: str
    length: Length
    statement: str
    source: str


@dataclass(frozen=True)
class Bound:
    """A training length that suffices: agreement on the `window` lengths up to it carries over to all longer ones.

    If two models agree within delta on every string of the lengths N - window + 1 .. N, then within delta + error on
    every longer string. terms: what N is made of, `dominant` by name; lower_bounds: what no method can beat.
    """

    length: Length
    error: Fraction
    window: int
    terms: tuple[Term, ...]
    theorem: str
    source: str
    attention: str
    hypotheses: tuple[str, ...]
    lower_bounds: tuple[Other, ...] = ()
    others: tuple[Other, ...] = field(default=())

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

    def __str__(self) -> str:
        """The bound as a sentence."""
        window = "that length" if self.window == 1 else f"the {self.window} lengths up to it"
        return (
            f"Training length {self.length}: models that agree on {window} differ by at most {float(self.error):g} "
            f"more on every longer string ({self.theorem}; {self.dominant.name} dominates)."
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

    def __str__(self) -> str:
        """The reason as a sentence."""
        return f"No bound: {self.reason}; {self.remedy}."


def log2_upper(value: int | Fraction) -> float:
    """A float that is certainly not below log2 of a positive number, however large; -inf for 0."""
    if value <= 0:
        return -math.inf
    shift = max(0, math.floor(value).bit_length() - 60)
    return math.nextafter(
        math.nextafter(math.log2(ceil_float(Fraction(value) / (1 << shift))) + shift, math.inf), math.inf
    )
