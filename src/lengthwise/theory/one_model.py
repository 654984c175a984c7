"""The training length for one model against every model that is no worse."""

import math
from fractions import Fraction
from itertools import product

from lengthwise.limit.patterns import Comparison
from lengthwise.theory.answer import Bound, Length
from lengthwise.theory.budgets import class_size, moving_patterns, shared, suffix_ties
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
from lengthwise.theory.words import number, numbers


def class_bound(comparison: Comparison, error: Fraction, same_attention: bool = False) -> Bound:
    """The training length for one model, the only one of the comparison, against every model with no worse constants.

    The class: one-layer log-length models g over the same vocabulary with no more bits, a period that divides the
    model's, no larger locality, a logit margin (over heads of nonzero sensitivity) that is no smaller, and no more
    heads, whose sensitivities, in decreasing order, are no larger than the model's. With same_attention also: every
    head of g is equivalent to a head of the model that can move the output.

    Proof. Theorem 1 holds for any list of heads with budgets eta_a and sum L_a eta_a + sum over free L_a <= error;
    heads that attend alike may be listed once or more often. The list here, for each query type, is the model's groups
    and, one by one, as many heads as it has, with its sensitivities in decreasing order and bbar = tau + 1. Matching g's
    heads to the latter in decreasing order, the same free heads and the same budgets spend no more than the error.
    B does not grow when a group leaves the list: neither c~ nor the product does. g's hardmax threshold is no
    larger, because p / gamma# is not. With same_attention every group of the model is given the budget error /
    (2 sum L): however g's heads are spread over the groups, both models together spend at most the error, and bbar is
    that of the groups.
    """
    (model,) = comparison.models
    slopes = sorted((Fraction(slope) for slope in comparison.slopes(0) if slope), reverse=True)
    margin = moving_margin(comparison, 0)
    period, locality, types, bits = model.period, model.locality, comparison.types, model.bits or 0
    offset = Fraction(types, 2) + period - 1
    found: list[tuple[Fraction, list[Fraction]]] = []
    for token, residue in product(range(model.symbols), range(period)):
        groups = moving_patterns(comparison, token, residue)
        if same_attention:
            ties = max((suffix_ties(group.slots) for group in groups), default=0)
            etas = [error / (2 * sum(slopes))] * len(groups)
        else:
            ties = locality + 1
            listed = sorted([*(Fraction(group.sensitivity) for group in groups), *slopes])
            share, free = shared(error, listed)
            etas = [share / slope for slope in listed[free:]]
        found.append((class_size(offset + ties, types, etas), etas))
    size, etas = max(found, key=lambda entry: entry[0])
    exponent = Fraction(0) if margin == math.inf else bits / Fraction(margin)
    terms = (
        threshold_term(Length.power_of_two(exponent), period, f"the model's is {number(margin)}"),
        window_term(period, locality),
        counting_term(period, locality, size, budget_words(etas), len(etas)),
    )
    alike = " and the same attention, head for head" if same_attention else ""
    return Bound(
        Length.longest(*(term.length for term in terms)),
        error,
        period,
        terms,
        THEOREM,
        SOURCE,
        "log-length",
        (
            *setting(model.symbols, period, locality, [bits]),
            f"the other model has the same vocabulary{alike}, a period that divides {period}, locality at most "
            f"{locality}, at most {bits} bits, a logit margin of at least {number(margin)}; its heads that move the output "
            f"are at most {len(slopes)}, of sensitivities at most {numbers(slopes)}",
        ),
        lower_bounds(slopes * 2, etas, model.symbols, error),
        printed_forms(model.symbols, period, locality, [sum(slopes, Fraction(0))], [(bits, margin)], error),
    )
