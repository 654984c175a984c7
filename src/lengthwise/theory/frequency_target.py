"""A target that is a function of how often tokens stand at which residues, and of the last tokens."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

import numpy as np
from jaxtyping import Float

from lengthwise.errors import WrongInput
from lengthwise.exact import Ball
from lengthwise.type_counts import Counts

Table = tuple[tuple[Fraction, ...], ...]  # [token][residue]


@dataclass(frozen=True)
class FrequencyTarget:
    """T(x) = psi(scale (over . c) / (under . c)) + sum over k of tail[k][x_(n-k)].

    c are the counts of the whole string by token and residue, the ratio is 0 where under . c is 0, psi is the activation,
    and tail has one row an offset from the end, one number a token. under has no negative entry, and over is 0 where it is 0,
    so that the ratio is bounded. Source: docs/certificate.md, section 8.
    """

    activation: Literal["identity", "sin"]
    scale: Fraction
    over: Table
    under: Table
    tail: Table = ()
    words: str = "the target"

    def __post_init__(self) -> None:
        """The ratio is bounded."""
        pairs = [pair for rows in zip(self.over, self.under, strict=True) for pair in zip(*rows, strict=True)]
        if any(below < 0 or (above and not below) for above, below in pairs):
            raise WrongInput(
                "a ratio whose lower side is not negative, and not 0 where the upper side is not",
                "one that is not bounded",
                "count below everything that is counted above",
                "task",
            )

    @property
    def symbols(self) -> int:
        """Size of the vocabulary."""
        return len(self.over)

    @property
    def period(self) -> int:
        """Number of residues that are told apart."""
        return len(self.over[0])

    def value(self, counts: Counts) -> Ball:
        """T on any string with these counts, enclosed."""
        whole = whole_counts(counts)
        above, below = (_weighed(table, whole) for table in (self.over, self.under))
        ratio = self.scale * above / below if below else Fraction(0)
        found = Ball.of(ratio) if self.activation == "identity" or not ratio else Ball.of(ratio).apply("sin")
        return found + self.tail_of(counts.suffix)

    def tail_of(self, suffix: Sequence[int]) -> Fraction:
        """What the last tokens add, as far as the suffix goes."""
        ending = zip(self.tail, reversed(suffix), strict=False)
        return sum((row[token] for row, token in ending), Fraction(0))

    def curve(self, ratio: Float[np.ndarray, "*any"]) -> Float[np.ndarray, "*any"]:
        """Psi of the ratio times the scale, in floating point."""
        inside = float(self.scale) * ratio
        return np.sin(inside) if self.activation == "sin" else inside

    def fields(self) -> dict[str, Any]:
        """The target as it is written down."""
        return {
            "activation": self.activation,
            "scale": self.scale,
            "over": self.over,
            "under": self.under,
            "tail": self.tail,
        }


def whole_counts(counts: Counts) -> list[list[int]]:
    """The counts of the whole string, suffix included, by token and residue."""
    whole, n = [list(row) for row in counts.table], counts.length
    for offset, token in enumerate(reversed(counts.suffix)):
        whole[token][(n - offset) % counts.period] += 1
    return whole


def table_of(symbols: int, period: int, entries: dict[tuple[int, int], int]) -> Table:
    """A table with some entries that are not 0, by token and residue."""
    return tuple(tuple(Fraction(entries.get((s, r), 0)) for r in range(period)) for s in range(symbols))


def _weighed(table: Table, whole: Sequence[Sequence[int]]) -> Fraction:
    pairs = ((w, c) for weights, counts in zip(table, whole, strict=True) for w, c in zip(weights, counts, strict=True))
    return sum((weight * count for weight, count in pairs if weight), Fraction(0))
