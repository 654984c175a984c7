"""What `shorten` answers: a short string that stands in for a long one, and how far the models' outputs move."""

import os
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from lengthwise.exact import Ball
from lengthwise.jsonform import to_json
from lengthwise.limit.model import LimitTransformer
from lengthwise.strings import decode
from lengthwise.theory.answer import Bound, Length, NoBound
from lengthwise.theory.bound import bound
from lengthwise.theory.errors import Exact
from lengthwise.theory.realise import spelled
from lengthwise.type_counts import Counts

LONGEST_SPELLED = 100_000  # tokens of the longest string that is written out
ITSELF = "the string itself"


@dataclass(frozen=True)
class Asked:
    """One or two models, and how far their outputs may move: the sum over the models of the largest coordinate."""

    models: tuple[LimitTransformer, ...]
    error: Fraction

    @property
    def pair(self) -> tuple[LimitTransformer, LimitTransformer, Fraction]:
        """Two models and their error. One model twice has every sensitivity twice: with twice the error its budgets,
        and the lengths that follow from them, are those of the model alone.
        """
        single = len(self.models) == 1
        return self.models[0], self.models[-1], self.error * (2 if single else 1)

    @cached_property
    def bound(self) -> Bound | NoBound:
        """The length that is enough for every long string, or why no theorem gives one."""
        first, second, error = self.pair
        return bound(first, second, error=error)


@dataclass(frozen=True)
class Shortening:
    """A short string that stands in for a long one.

    errors: for each model the largest coordinate of f(long) - f(short), exact or a ball; their sum is at most `error`.
    method: how the short string was found; reason: why no shorter one is given, where it is the string itself.
    """

    asked: Asked
    original: Counts
    counts: Counts
    errors: tuple[Exact, ...]
    method: str
    reason: str = ""

    @property
    def models(self) -> tuple[LimitTransformer, ...]:
        """The models, one or two."""
        return self.asked.models

    @property
    def error(self) -> Fraction:
        """What was allowed."""
        return self.asked.error

    @property
    def bound(self) -> Bound | NoBound:
        """The length that is enough for every long string, or why no theorem gives one."""
        return self.asked.bound

    @property
    def length(self) -> int:
        """The length of the short string."""
        return self.counts.length

    @property
    def names(self) -> tuple[str, ...]:
        """The tokens, as the first model that names them does."""
        return next((model.tokens for model in self.models if model.tokens), self.models[0].names)

    @cached_property
    def tokens(self) -> list[int] | None:
        """The short string as token indices; None where it is too long to write out."""
        if self.length > LONGEST_SPELLED:
            return None
        return [int(token) for token in spelled(self.counts)]

    @property
    def string(self) -> str | None:
        """The short string as text, which `lw.evaluate` reads; None where it is too long to write out."""
        return None if self.tokens is None else decode(self.tokens, self.names)

    def certificate(self, path: str | os.PathLike[str]) -> None:
        """Writes a certificate that `lengthwise check`, which shares no code with this, verifies."""
        from lengthwise.theory.certificate import shortening_certificate, write_certificate

        second = self.models[1] if len(self.models) > 1 else None
        claim = shortening_certificate(self.models[0], second, self.original, self.counts, self.error)
        write_certificate(claim, path)

    def fields(self) -> dict[str, Any]:
        """What the verb prints with --json."""
        fields: dict[str, Any] = {
            "sentence": str(self),
            "length": self.length,
            "original_length": self.original.length,
            "error": self.error,
            "errors": self.errors,
            "exactness": "exact",
            "method": self.method,
            "reason": self.reason or None,
            "string": self.string,
        }
        if self.string is None:
            fields["string_reason"] = f"longer than {LONGEST_SPELLED} tokens: see counts"
        suffix = [self.names[token] for token in self.counts.suffix]
        return fields | {"counts": {"suffix": suffix, "table": self.counts.table}} | bound_fields(self.bound)

    def to_json(self) -> str:
        """The fields as a JSON object."""
        return to_json(self.fields())

    def __str__(self) -> str:
        """Its sentence."""
        if self.method == ITSELF:
            return f"The string itself, {written(self.length)} tokens: {self.reason}."
        errors = " and ".join(f"{_upper(error):.3g}" for error in self.errors)
        move = "the output moves by" if len(self.errors) == 1 else "the outputs move by"
        bound = f"; {self.bound.length} are enough for every string" if isinstance(self.bound, Bound) else ""
        return (
            f"{written(self.length)} tokens stand in for {written(self.original.length)}: {move} {errors}, "
            f"{float(self.error):g} allowed ({self.method}{bound})."
        )


def bound_fields(bound: Bound | NoBound) -> dict[str, Any]:
    """N, or null with the reason: too large to write out (its log2 is there), or no theorem."""
    if isinstance(bound, NoBound):
        return {"bound": None, "bound_reason": f"{bound.reason}; {bound.remedy}"}
    if bound.training_length is None:
        reason = "too large to write out: see log2_bound"
        return {"bound": None, "bound_reason": reason, "log2_bound": bound.log2_training_length}
    return {"bound": bound.training_length}


def written(length: int) -> str:
    """All digits of a length that a person can read, else a power of two."""
    return f"{length:,}" if length < 10**21 else str(Length.of(length))


def _upper(error: Exact) -> float:
    return error.upper() if isinstance(error, Ball) else float(error)
