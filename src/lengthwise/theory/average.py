"""The average case: training lengths for a small *expected* error, where tokens follow a Dirichlet law.

Under hardmax a head averages over the tokens it attends to. On a random string their counts are near their
expectations, so a string of one length and a string of another, drawn from the same proportions, give nearly the same
output. How nearly is a Beta integral for each head and query.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property
from itertools import product
from math import inf
from typing import Any

from lengthwise.exact import Ball
from lengthwise.limit.margins import slots_margin, threshold
from lengthwise.limit.model import LimitTransformer
from lengthwise.limit.patterns import Comparison
from lengthwise.limit.tables import Slots
from lengthwise.theory.beta_integrals import Straying
from lengthwise.theory.law import DirichletLaw
from lengthwise.theory.pair import allowed_error, check_pair
from lengthwise.theory.plain_straying import PlainStraying

EXACT_BITS = 128  # class sizes up to 2^128 are found to the integer, larger ones to 64 binary digits
LARGEST_BITS = 4096
Strays = Straying | PlainStraying


@dataclass(frozen=True)
class Drift:
    """R_i(C) of two models under a law: how far expected errors at two lengths can be apart.

    terms[residue]: pairs (P(query token) * L, how that group of heads strays), equal ones merged.
    exponent: R falls like C^-exponent. log2_threshold: log2 of the length from which attention is a hardmax.
    """

    terms: tuple[tuple[tuple[Fraction, Strays], ...], ...]
    period: int
    locality: int
    log2_threshold: Fraction

    @classmethod
    def of(cls, first: LimitTransformer, second: LimitTransformer, law: DirichletLaw) -> "Drift":
        """The drift of a pair with finite sensitivities: plain attention, or log-length attention with bits.

        The latter needs a law without weights of 0.
        """
        check_pair(first, second)
        plain = first.attention == "plain"
        comparison = Comparison(first, second)
        terms: list[dict[Strays, Fraction]] = [{} for _ in range(comparison.period)]
        moving = {head: Fraction(slope) for head, slope in comparison.sensitivities.items() if slope}
        exponent = Fraction(0)
        for token, residue in product(range(comparison.symbols), range(comparison.period)):
            chance = law.alpha[token] / law.total
            for head, slope in moving.items():
                options = comparison.slots(head, token, residue)
                strays: Strays
                if plain:
                    strays = plain_straying(options, comparison.shifts(head))
                else:
                    strays = straying(options, law.after(token))
                terms[residue][strays] = terms[residue].get(strays, Fraction(0)) + chance * slope
                margin, bits = slots_margin(options), comparison.models[head[0]].bits
                if margin != inf and bits is not None:
                    exponent = max(exponent, bits / Fraction(margin))
        merged = tuple(tuple((weight, strays) for strays, weight in found.items()) for found in terms)
        return cls(merged, comparison.period, comparison.locality, exponent)

    def at(self, size: int) -> tuple[Ball, ...]:
        """R_i(C) = sum_y (alpha_y/A) sum_a L_a Psi_a(C; alpha + e_y) for every residue i, enclosed.

        Source: one-layer note, section 8. The upper end is what a claim rests on.
        """
        return self._sums(lambda strays: strays.expected(size))

    def closed_form(self, size: int) -> tuple[Ball, ...]:
        """The same with a bound that has no integrals in the place of Psi."""
        return self._sums(lambda strays: strays.closed_form(size))

    @cached_property
    def exponent(self) -> Fraction:
        """The slowest rate of all groups of heads: min of 1/2 and of the weights of what is attended."""
        return min((strays.exponent for found in self.terms for _, strays in found), default=Fraction(1, 2))

    @property
    def least_length(self) -> int | None:
        """n0 = max(ceil(2^(p / gamma#)), tau + 1 + Delta); None where it is too large to write out."""
        length = threshold(1, 1 / self.log2_threshold).length if self.log2_threshold else 1
        return None if length is None else max(length, self.locality + 1 + self.period)

    def class_size(self, error: Fraction | float | str, closed: bool = False) -> int | None:
        """The least C with 2 max_i R_i(C) <= error, as far as balls decide; None beyond 2^4096.

        R falls with C, so doubling the number of digits and bisection find it: to the integer up to 2^128, and beyond
        that the least C with 64 significant binary digits (a little larger, never smaller).
        """
        allowed = allowed_error(error)

        def enough(size: int) -> bool:
            rates = self.closed_form(size) if closed else self.at(size)
            return all((2 * rate).certainly_less(allowed) for rate in rates)

        return least_size(enough)

    def _sums(self, psi: Callable[[Strays], Ball]) -> tuple[Ball, ...]:
        known = cache(psi)
        return tuple(
            sum((known(strays) * weight for weight, strays in found), Ball.of(0)) if found else Ball.of(0)
            for found in self.terms
        )


def straying(options: Slots, law: DirichletLaw) -> Straying:
    """How a head strays at one query type, q following the law that the query token leaves.

    T: the types with the largest prefix logit mu_T, over all types. b: the offsets with an option equal to mu_T (a
    larger option takes all attention away from the prefix, in both strings). Source: one-layer note, section 8.
    """
    top = max(options.prefix)
    types = [divmod(t, options.period) for t, logit in enumerate(options.prefix) if logit == top]
    tokens = [token for token, _ in types]
    attended, other = law.share(tokens)
    return Straying(
        types=len(types),
        residues=min(tokens.count(token) for token in tokens),
        ties=sum(top in slot for slot in options.suffix),
        attended=attended,
        other=other,
        periodic=options.period > 1,
    )


def plain_straying(options: Slots, shifts: tuple[Fraction | None, ...]) -> PlainStraying:
    """How a plain head strays at one query type; shifts: its phi by offset, None where masked."""
    spread = options.exact(max(options.prefix) - min(options.prefix))
    kept = tuple(shift for shift in shifts if shift is not None)
    return PlainStraying(len(options.prefix), options.period, spread, kept)


def least_size(enough: Callable[[int], bool]) -> int | None:
    """The least size with a property that larger sizes share: to the integer up to 2^128, then to 64 binary digits."""
    if enough(1):
        return 1
    low, high = 1, 2  # binary digits: 2^(low - 1) is not enough
    while not enough(1 << (high - 1)):
        low, high = high, 2 * high
        if low > LARGEST_BITS:
            return None
    while high - low > 1:
        bits = (low + high) // 2
        low, high = (low, bits) if enough(1 << (bits - 1)) else (bits, high)
    step = 1 << max(0, high - 1 - 64) if high > EXACT_BITS + 1 else 1
    failed, size = (1 << (low - 1)) // step, (1 << (high - 1)) // step
    while size - failed > 1:
        middle = (failed + size) // 2
        failed, size = (failed, middle) if enough(middle * step) else (middle, size)
    return size * step


def drift(first: LimitTransformer, second: LimitTransformer, alpha: Any) -> Drift:
    """The drift of two models under Dirichlet weights (one number for equal ones)."""
    return Drift.of(first, second, DirichletLaw.of(alpha, first.symbols))
