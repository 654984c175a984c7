"""One layer with finite precision: from which training length on agreement carries over to all longer strings.

From the hardmax threshold on, a head averages over the types with the largest logit, so outputs depend on counts. A
long string then has a short one with nearly the same counts for every head at once (Theorem 1), and two models that
agree on all short strings agree on all long ones up to the error (Theorem 2).
"""

from fractions import Fraction
from itertools import chain

from lengthwise.limit.patterns import Comparison
from lengthwise.theory.answer import Bound, Length
from lengthwise.theory.budgets import Budgets, Gap, budgets_of
from lengthwise.theory.corollaries import corollaries
from lengthwise.theory.printed_forms import printed_forms
from lengthwise.theory.terms import (
    SOURCE,
    THEOREM,
    budget_words,
    counting_term,
    lower_bounds,
    moving_margin,
    setting,
    threshold_term,
    window_term,
)
from lengthwise.theory.words import head_name, number, numbers


def pair_bound(comparison: Comparison, error: Fraction) -> Bound:
    """The training length for two one-layer log-length models with bits, their heads compared.

        N = max{ n0 + Delta - 1,  tau + Delta + Delta ceil(max over query types of B) }
        n0 = max{ ceil(2^(p / gamma#)),  tau + 1 + Delta }

    If the models agree within delta on all strings of the Delta lengths N - Delta + 1 .. N, they agree within
    delta + error on all longer ones. Source: one-layer note, Theorem 2 (certificate_N).
    """
    budgets = budgets_of(comparison, error)
    worst = budgets.largest
    terms = (
        threshold_term(Length.power_of_two(budgets.threshold.log2_length), budgets.period, _narrowest(budgets.gap)),
        window_term(budgets.period, budgets.locality),
        counting_term(
            budgets.period,
            budgets.locality,
            worst.class_size,
            budget_words([group.budget for group in worst.acting]),
            len(worst.acting),
        ),
    )
    slopes = [[Fraction(slope) for slope in comparison.slopes(index)] for index in (0, 1)]
    totals = [sum(own, Fraction(0)) for own in slopes]
    margins = [moving_margin(comparison, index) for index in (0, 1)]
    precisions = [(model.bits or 0, margin) for model, margin in zip(comparison.models, margins, strict=True)]
    return Bound(
        Length.longest(*(term.length for term in terms)),
        error,
        budgets.period,
        terms,
        THEOREM,
        SOURCE,
        "log-length",
        (
            *setting(budgets.symbols, budgets.period, budgets.locality, [bits for bits, _ in precisions]),
            *(
                f"the {which} model's heads have sensitivities {numbers(own)} and logit margin {number(margin)}"
                for which, own, margin in zip(("first", "second"), slopes, margins, strict=True)
            ),
            *_spared(budgets),
        ),
        lower_bounds(chain(*slopes), (group.budget for group in worst.acting), budgets.symbols, error),
        (
            *corollaries(budgets, slopes, precisions, error),
            *printed_forms(budgets.symbols, budgets.period, budgets.locality, totals, precisions, error),
        ),
    )


def _narrowest(gap: Gap | None) -> str:
    return "no head needs one" if gap is None else f"the smallest is {number(gap.margin)}, of {head_name(gap.head)}"


def _spared(budgets: Budgets) -> tuple[str, ...]:
    """Which heads need no hardmax at any query type."""
    never = set.intersection(*({*query.free} for query in budgets.queries))
    ignored = set(budgets.queries[0].ignored)
    return tuple(
        f"{head_name(head)} {why}"
        for heads, why in (
            (ignored, "cannot move the output and is ignored"),
            (never, "moves the output by less than its share of the error and is free"),
        )
        for head in sorted(heads)
    )
