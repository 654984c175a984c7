"""Theorem 2 in closed form, where the models allow it: weaker numbers whose growth can be read off."""

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction

from lengthwise.limit.margins import Margin
from lengthwise.theory.answer import Length, Other
from lengthwise.theory.budgets import Budgets, class_size
from lengthwise.theory.words import number

NOTE = "one-layer note, section 6"


def corollaries(
    budgets: Budgets,
    slopes: Sequence[Sequence[Fraction]],
    precisions: Iterable[tuple[int, Margin]],
    error: Fraction,
) -> tuple[Other, ...]:
    """Corollaries A, B and C of Theorem 2, those whose hypotheses hold; slopes: the sensitivities, model by model.

    The threshold n0 takes all heads that can move the output, as the corollaries declare none free.
    """
    period, locality = budgets.period, budgets.locality
    exponents = (Fraction(0) if margin == math.inf else bits / Fraction(margin) for bits, margin in precisions)
    threshold = Length.longest(*map(Length.power_of_two, exponents), Length.of(locality + 1 + period))
    found = (
        _any_attention(budgets, slopes, error),
        _same_attention(budgets, slopes, error),
        _any_heads(budgets, slopes, error),
    )
    return tuple(
        Other(name, Length.longest(threshold.plus(period - 1), Length.of(math.ceil(counted))), statement, NOTE)
        for name, counted, statement in (one for one in found if one is not None)
    )


def _any_attention(
    budgets: Budgets, slopes: Sequence[Sequence[Fraction]], error: Fraction
) -> tuple[str, Fraction, str] | None:
    """Corollary A: one head a model and error < 2 L_f, 2 L_g; c <= S/2 + Delta + tau and c~ <= 3 S/4 + Delta + tau.

    tau + 2 Delta + Delta (3 S/4 + Delta + tau) (1 + 2 L_f/error) (1 + 2 L_g/error)
    """
    if any(len(own) != 1 or error >= 2 * own[0] for own in slopes):
        return None
    period, locality, types = budgets.period, budgets.locality, budgets.symbols * budgets.period
    factor = math.prod((1 + 2 * own[0] / error for own in slopes), start=Fraction(3 * types, 4) + period + locality)
    return (
        "Corollary A",
        locality + 2 * period + period * factor,
        "one head in each model, nothing assumed of their attention: "
        "locality + 2 period + period (3/4 types + period + locality) (1 + 2 L_f/error) (1 + 2 L_g/error)",
    )


def _same_attention(
    budgets: Budgets, slopes: Sequence[Sequence[Fraction]], error: Fraction
) -> tuple[str, Fraction, str] | None:
    """Corollary B with one pattern: for every query type all heads that can move the output attend alike.

    tau + 2 Delta + Delta (c sum L / error + S/2)
    """
    if any(len(query.acting) != 1 or query.free for query in budgets.queries):
        return None
    period, types = budgets.period, budgets.symbols * budgets.period
    offset = max(query.offset for query in budgets.queries)
    counted = offset * sum(map(sum, slopes)) / error + Fraction(types, 2)
    return (
        "Corollary B",
        budgets.locality + 2 * period + period * counted,
        f"all heads attend alike: locality + 2 period + period (c sum L / error + types/2), c = {number(offset)}; "
        "linear in sensitivity / error",
    )


def _any_heads(
    budgets: Budgets, slopes: Sequence[Sequence[Fraction]], error: Fraction
) -> tuple[str, Fraction, str] | None:
    """Corollary C: every head for itself, eta_a = error/(K L_a), all below 1; nothing assumed of the attention.

    tau + Delta + Delta ceil(B),   B = c~ prod over the min(K, S) largest L_a of (1 + K L_a/error) - c,   c = S/2 + Delta + tau
    """
    moving = [slope for own in slopes for slope in own if slope]
    if len(moving) < 3 or any(error >= len(moving) * slope for slope in moving):
        return None
    period, locality, types = budgets.period, budgets.locality, budgets.symbols * budgets.period
    etas = [error / (len(moving) * slope) for slope in moving]
    size = class_size(Fraction(types, 2) + period + locality, types, etas)
    return (
        "Corollary C",
        Fraction(locality + period + period * math.ceil(size)),
        f"{len(moving)} heads, nothing assumed of their attention: locality + period + period * ceil(B) with "
        f"B = c~ prod (1 + {len(moving)} L/error) - c over the {min(len(moving), types)} largest sensitivities",
    )
