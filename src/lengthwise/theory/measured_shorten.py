"""A short string for a long one where outputs are more than functions of counts: sampled, measured, kept if it fits."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from jaxtyping import Int

from lengthwise.errors import WrongInput
from lengthwise.jsonform import to_json
from lengthwise.strings import decode, encode
from lengthwise.theory.answer import Bound, NoBound
from lengthwise.theory.measured_search import Measured, measured_search, shape_of
from lengthwise.theory.samplers import tail_length
from lengthwise.theory.shortening import ITSELF, Asked, bound_fields, written
from lengthwise.type_counts import Counts

FINER = 5  # halvings, on a logarithmic scale, between a length that is too short and one that fits
MEASURED = "measured in float64, no a-priori guarantee"
Report = Callable[[int, int, float], None]


@dataclass(frozen=True)
class Sampled:
    """A short string made of pieces of the long one; errors are the Euclidean output errors that were measured."""

    asked: Asked
    original: Int[np.ndarray, " n"]
    found: Measured
    reason: str = ""

    @property
    def models(self) -> tuple[Any, ...]:
        """The models, one or two."""
        return self.asked.models

    @property
    def errors(self) -> tuple[float, ...]:
        """For each model the Euclidean length of f(long) - f(short)."""
        return self.found.errors

    @property
    def bound(self) -> Bound | NoBound:
        """The length that is enough for every long string, or why no theorem gives one."""
        return self.asked.bound

    @cached_property
    def tokens(self) -> list[int]:
        """The short string as token indices."""
        return [int(token) for token in self.original[self.found.positions]]

    @property
    def length(self) -> int:
        """The length of the short string."""
        return len(self.found.positions)

    @property
    def method(self) -> str:
        """How the pieces were chosen."""
        return self.found.sampler

    @property
    def names(self) -> tuple[str, ...]:
        """The tokens, as the first model that names them does."""
        return next((model.tokens for model in self.models if model.tokens), self.models[0].names)

    @property
    def string(self) -> str:
        """The short string as text, which `lw.evaluate` reads."""
        return decode(self.tokens, self.names)

    def certificate(self, path: str | os.PathLike[str]) -> None:
        """Writes a certificate that `lengthwise check` verifies: both strings, evaluated anew in enclosures.

        For one or two layers of log-suffix attention and strings that are not too long; other answers are numerical.
        """
        from lengthwise.theory.certificate import strings_certificate, write_certificate

        claim = strings_certificate(self.models, self.original.tolist(), self.tokens, self.asked.error)
        write_certificate(claim, path)

    def fields(self) -> dict[str, Any]:
        """What the verb prints with --json: the fields of an exact answer, and what kind of answer this is."""
        return {
            "sentence": str(self),
            "length": self.length,
            "original_length": len(self.original),
            "error": self.asked.error,
            "errors": self.errors,
            "exactness": MEASURED,
            "method": self.method,
            "reason": self.reason or None,
            "string": self.string,
            "counts": None,
            "counts_reason": "the order of the tokens matters to these models",
            "windows": self.found.blocks,
            "window": self.found.window,
            "tried": self.found.tried,
        } | bound_fields(self.bound)

    def to_json(self) -> str:
        """The fields as a JSON object."""
        return to_json(self.fields())

    def __str__(self) -> str:
        """Its sentence."""
        if self.method == ITSELF:
            return f"The string itself, {written(self.length)} tokens: {self.reason}."
        errors = " and ".join(f"{error:.3g}" for error in self.errors)
        bound = f"; {self.bound.length} are enough for every string" if isinstance(self.bound, Bound) else ""
        return (
            f"{written(self.length)} tokens stand in for {written(len(self.original))}: the outputs move by {errors}, "
            f"{float(self.asked.error):g} allowed ({self.method}, {MEASURED}{bound})."
        )


def measured_shortening(
    asked: Asked, string: Any, draws: int = 16, seed: int = 0, report: Report | None = None
) -> Sampled:
    """The shortest sampled string on which outputs move by at most the error, in Euclidean norm, summed over models.

    Lengths are doubled until one fits, then refined between the last two; at each length the best of `draws` samples
    counts. Source: two-layer note, section 7. Ours: the search over lengths; errors need not fall with the length, so
    a shorter string may exist that was not tried.
    """
    if isinstance(string, Counts):
        got = "a table of counts"
        raise WrongInput("a string, token by token", got, "these models see the order of tokens", "counts")
    tokens = np.asarray(encode(string, next((m.tokens for m in asked.models if m.tokens), asked.models[0].names)))
    shape = shape_of(asked.models)
    shortest = tail_length(len(tokens), shape) + shape.period
    tried: dict[int, Measured] = {}

    def fits(length: int) -> bool:
        tried[length] = measured_search(asked.models, tokens, length, draws, seed, balanced=length >= 64, report=report)
        return tried[length].error <= asked.error

    low, high = 0, shortest
    while high < len(tokens) and not fits(high):
        low, high = high, 2 * high
    if high >= len(tokens):
        whole = Measured(np.arange(len(tokens)), (0.0,) * len(asked.models), ITSELF, 0, 0, 0)
        reason = "none that was tried is within the error" if tried else "no shorter one has the same ending"
        return Sampled(asked, tokens, whole, reason)
    for _ in range(FINER if low else 0):
        middle = round((low * high) ** 0.5)
        if not low < middle < high:
            break
        low, high = (low, middle) if fits(middle) else (middle, high)
    return Sampled(asked, tokens, tried[high])
