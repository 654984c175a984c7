"""What a training length of Theorem 2 is the largest of, what the theorem supposes, and what stands beside it."""

import math
from collections.abc import Iterable
from fractions import Fraction

from lengthwise.limit.margins import Margin
from lengthwise.limit.patterns import Comparison
from lengthwise.theory.answer import Length, Other, Term
from lengthwise.theory.lower_bounds import any_argument, one_string_for_all_heads
from lengthwise.theory.words import number, numbers

THEOREM, SOURCE = "Theorem 2", "one-layer note, sections 2 to 6"


def threshold_term(threshold: Length, period: int, margin: str) -> Term:
    """n0 + Delta - 1, the part of n0 that precision and margin decide."""
    return Term(
        "hardmax threshold",
        threshold.plus(period - 1),
        "2^(bits / margin) + period - 1",
        f"fewer bits, or a larger logit margin ({margin})",
    )


def window_term(period: int, locality: int) -> Term:
    """n0 + Delta - 1, the part of n0 that makes every residue occur before the suffix."""
    return Term(
        "shortest window",
        Length.of(locality + 2 * period),
        "locality + 2 period",
        "a smaller period or locality",
    )


def counting_term(period: int, locality: int, size: Fraction, budgets: str, groups: int) -> Term:
    """Tau + Delta + Delta ceil(B)."""
    growth = f"it grows like (sensitivity / error)^{groups}" if groups > 1 else "it is linear in sensitivity / error"
    alike = "; attention patterns that agree (they would count once)" if groups > 1 else ""
    return Term(
        "counting",
        Length.of(locality + period + period * math.ceil(size)),
        f"locality + period + period * ceil(B), B = {number(size)} for {budgets}",
        f"a larger error or smaller sensitivities ({growth}){alike}; fewer tokens; a smaller period or locality",
    )


def setting(symbols: int, period: int, locality: int, bits: Iterable[int]) -> tuple[str, ...]:
    """What Theorem 2 supposes of every model."""
    precision = " and ".join(f"{count}" for count in dict.fromkeys(bits))
    return (
        f"one layer, log-length attention with {precision} bits: logits are shifted by the largest, weights at most "
        "2^-bits become 0, all else is exact",
        f"{symbols} tokens, period {period}, locality {locality}",
        "the error is the largest difference of an output at the last position",
    )


def lower_bounds(
    slopes: Iterable[Fraction], budgets: Iterable[Fraction], symbols: int, error: Fraction
) -> tuple[Other, ...]:
    """Propositions 1 and 2; with a single token there is nothing to tell apart."""
    if symbols < 2:
        return ()
    chained = one_string_for_all_heads(budgets, symbols)
    return (any_argument(slopes, error), *(() if chained is None else (chained,)))


def moving_margin(comparison: Comparison, index: int) -> Margin:
    """The logit margin gamma# of one model over the heads that can move its output."""
    both = zip(comparison.margins(index), comparison.slopes(index), strict=True)
    return min((margin for margin, slope in both if slope), default=math.inf)


def budget_words(etas: list[Fraction]) -> str:
    """How many patterns there are, and what each may be wrong by."""
    if not etas:
        return "no attention pattern that must be kept"
    if len(etas) == 1:
        return f"one attention pattern with total-variation budget {numbers(etas)}"
    return f"{len(etas)} attention patterns with total-variation budgets {numbers(etas)}"
