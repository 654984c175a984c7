"""What the heads of a one-layer model attend to at the end of one string, decided on rationals."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from lengthwise.exact import Ball, power_reaches
from lengthwise.limit.model import Head, LimitTransformer
from lengthwise.limit.tables import LogitTable, slots
from lengthwise.type_counts import Counts


@dataclass(frozen=True)
class Attended:
    """The keys with the largest logit: types of the prefix, offsets of the suffix; and the gap to the next logit value.

    gap is infinite where all keys have the same logit.
    """

    types: frozenset[int]
    offsets: tuple[int, ...]
    gap: Fraction | float


@dataclass(frozen=True)
class View:
    """One head at the last position of strings with one ending: the logit of every prefix type and suffix offset.

    Logits are numerators over one denominator. keys: the type at every offset; a logit None there is masked.
    """

    prefix: tuple[int, ...]
    suffix: tuple[int | None, ...]
    keys: tuple[int, ...]
    denominator: int

    @classmethod
    def of(cls, model: LimitTransformer, head: Head, counts: Counts) -> "View":
        """The view of a head from the end of a string, by the types of the string's own table.

        Needs a table whose period is a multiple of the model's, and a suffix longer than its locality.
        """
        token, n, last = counts.suffix[-1], counts.length, len(counts.suffix) - 1
        table = LogitTable.of_head(model, head, model.locality)
        options = slots(table, token, n % counts.period, counts.period, last)
        ending = list(reversed(counts.suffix))
        near = [
            None if not logits else logits[key if offset else 0]  # offset 0 has one option, the query's own token
            for offset, (key, logits) in enumerate(zip(ending, options.suffix, strict=False))
        ]
        keys = [key * counts.period + (n - offset) % counts.period for offset, key in enumerate(ending)]
        return cls(options.prefix, tuple(near), tuple(keys), options.denominator)

    def attended(self, table: Sequence[int]) -> Attended:
        """What a hardmax attends to where the prefix has these counts by type; equality of logits is exact."""
        logits = {self.prefix[t] for t, count in enumerate(table) if count}
        logits |= {logit for logit in self.suffix if logit is not None}
        if not logits:
            return Attended(frozenset(), (), math.inf)
        largest = max(logits)
        below = max(logits - {largest}, default=None)
        return Attended(
            frozenset(t for t, count in enumerate(table) if count and self.prefix[t] == largest),
            tuple(offset for offset, logit in enumerate(self.suffix) if logit == largest),
            math.inf if below is None else Fraction(largest - below, self.denominator),
        )

    def law(self, model: LimitTransformer, table: Sequence[int], length: int) -> dict[int, "int | Ball"]:
        """How much attention every type gets at this length, up to a common factor: integers where it is a hardmax.

            weight = n_t w,   w = n^(logit - largest), flushed to 0 where <= 2^-bits   (log-length)
                              w = e^(logit - largest)                                  (plain)

        A suffix position counts as one key of its type. Source: one-layer note, section 2, count form. The flush is
        decided by `power_reaches`, so no rounding can; a hardmax is the case where all but the largest are flushed.
        """
        near = [(key, logit) for key, logit in zip(self.keys, self.suffix, strict=True) if logit is not None]
        seen = [(t, self.prefix[t], count) for t, count in enumerate(table) if count]
        seen += [(key, logit, 1) for key, logit in near]
        largest = max((logit for _, logit, _ in seen), default=0)
        weights: dict[int, int | Ball] = {}
        for logit in {logit for _, logit, _ in seen}:
            weights[largest - logit] = self._weight(model, Fraction(largest - logit, self.denominator), length)
        law: dict[int, int | Ball] = {}
        for t, logit, count in seen:
            weight = weights[largest - logit]
            if isinstance(weight, Ball) or weight:
                law[t] = law.get(t, 0) + weight * count
        return law

    def _weight(self, model: LimitTransformer, gap: Fraction, length: int) -> "int | Ball":
        if not gap:
            return 1
        if model.attention == "plain":
            return Ball.of(-gap).apply("exp")
        if model.bits is not None and power_reaches(length, gap, model.bits):
            return 0
        return Ball.of(length).power(-gap)
