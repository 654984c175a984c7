"""What heads average at the end of a string, as far as an integer program for short strings needs to know it."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from lengthwise.exact import entries
from lengthwise.limit.sensitivity import SLOPES
from lengthwise.theory.attended import View
from lengthwise.theory.errors import Reading

Row = tuple[Fraction, ...]


@dataclass(frozen=True)
class Mixture:
    """Weights of one key of each type, and of the suffix positions (type, weight); what is left out weighs nothing.

    Hardmax: weight 1 for what has the largest logit. Plain attention: e^(logit - largest), as the nearest floats.
    """

    weights: tuple[tuple[int, Fraction], ...]
    near: tuple[tuple[int, Fraction], ...]

    @classmethod
    def of(cls, view: View, plain: bool, table: Sequence[int], allowed: Iterable[int]) -> "Mixture":
        """What a head gives to the allowed types where the long prefix has these counts."""
        suffix = [(key, logit) for key, logit in zip(view.keys, view.suffix, strict=True) if logit is not None]
        top = max([view.prefix[t] for t, count in enumerate(table) if count] + [logit for _, logit in suffix])

        def weight(logit: int) -> Fraction:
            if plain:
                return Fraction(math.exp(Fraction(logit - top, view.denominator)))
            return Fraction(logit == top)

        prefix = ((t, weight(view.prefix[t])) for t in allowed)
        return cls(
            tuple((t, w) for t, w in prefix if w),
            tuple((key, weight(logit)) for key, logit in suffix if weight(logit)),
        )

    @property
    def suffix(self) -> Fraction:
        """The weight of the suffix positions together."""
        return sum((weight for _, weight in self.near), Fraction(0))

    def mass(self, table: Sequence[int]) -> Fraction:
        """The attended mass of a prefix and the suffix: N for the long string, M for a short one."""
        return sum((table[t] * weight for t, weight in self.weights), self.suffix)

    def variation(self, long: Sequence[int], short: Sequence[int]) -> Fraction:
        """The exact total variation between the attended laws on two prefixes; 1 where one attends to nothing."""
        n, m = self.mass(long), self.mass(short)
        if not m or not n:
            return Fraction(int(m != n))
        moved = sum((abs(long[t] / n - short[t] / m) * weight for t, weight in self.weights), Fraction(0))
        return (moved + self.suffix * abs(1 / n - 1 / m)) / 2


@dataclass(frozen=True)
class Unit:
    """Heads of one model with one mixture: their sum is one mean, over rows that say what a key adds.

    rows: what a unit of attention on a type brings, first to the outputs, then to the inputs of the hidden units.
    """

    reading: Reading
    heads: tuple[int, ...]
    mixture: Mixture
    rows: Mapping[int, Row]

    @classmethod
    def of(cls, reading: Reading, heads: Sequence[int], mixture: Mixture) -> "Unit":
        """The unit of some heads of a model."""
        own, lifted = reading.model.period, reading.period
        tables = [(entries(reading.values[h]), entries(reading.inside[h]) if reading.inside else None) for h in heads]
        rows = {}
        for t in {t for t, _ in (*mixture.weights, *mixture.near)}:
            place = t // lifted * own + t % lifted % own
            parts = [(*values[place], *(inside[place] if inside else ())) for values, inside in tables]
            rows[t] = tuple(sum(column, Fraction(0)) for column in zip(*parts, strict=True))
        return cls(reading, tuple(heads), mixture, rows)

    @cached_property
    def outputs(self) -> int:
        """Number of outputs."""
        return len(self.reading.model.unembedding)

    def mean(self, table: Sequence[int]) -> Row:
        """The mean row on a prefix with these counts."""
        parts = [(table[t] * weight, self.rows[t]) for t, weight in self.mixture.weights if table[t]]
        parts += [(weight, self.rows[t]) for t, weight in self.mixture.near]
        mass = sum((weight for weight, _ in parts), Fraction(0))
        return tuple(
            sum((weight * row[k] for weight, row in parts), Fraction(0)) / mass for k in range(len(parts[0][1]))
        )

    def linear(self, row: Row) -> Row:
        """(Lin d)_c = d_c + sum_j W_cj mid_j (A d)_j, what moves each output at the middle slopes."""
        return tuple(
            row[c]
            + sum((weight * d for weight, d in zip(self.middle[c], row[self.outputs :], strict=True) if d), Fraction(0))
            for c in range(self.outputs)
        )

    @cached_property
    def middle(self) -> list[list[Fraction]]:
        """W_cj mid_j, one row an output."""
        return self._scaled(0)

    @cached_property
    def swing(self) -> list[list[Fraction]]:
        """|W_cj| rad_j, one row an output."""
        return [[abs(value) for value in row] for row in self._scaled(1)]

    def _scaled(self, which: int) -> list[list[Fraction]]:
        mlp, readout = self.reading.model.layers[0].mlp, self.reading.readout
        if mlp is None or readout is None:
            return [[] for _ in range(self.outputs)]
        slopes = [SLOPES[name][which] for name in mlp.activations]
        columns = entries(readout)  # one row a hidden unit
        return [
            [weights[c] * slope for weights, slope in zip(columns, slopes, strict=True)] for c in range(self.outputs)
        ]

    @property
    def smooth(self) -> bool:
        """Whether every activation has slopes; a step has none."""
        mlp = self.reading.model.layers[0].mlp
        return mlp is None or all(name in SLOPES for name in mlp.activations)
