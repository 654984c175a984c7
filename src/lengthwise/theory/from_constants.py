"""The training length for every pair of one-layer models within given constants."""

import math
from dataclasses import dataclass
from fractions import Fraction

from lengthwise.errors import WrongInput, shown
from lengthwise.theory.answer import Bound, Length
from lengthwise.theory.budgets import class_size
from lengthwise.theory.pair import allowed_error, positive_rational
from lengthwise.theory.printed_forms import printed_forms
from lengthwise.theory.terms import (
    SOURCE,
    THEOREM,
    budget_words,
    counting_term,
    lower_bounds,
    setting,
    threshold_term,
    window_term,
)
from lengthwise.theory.words import number

LARGEST = 10**9  # of vocabulary, period and locality: beyond, a bound says nothing to anybody
MOST = {"heads": 10_000, "bits": 1_000_000}


@dataclass(frozen=True, kw_only=True)
class Constants:
    """What two one-layer log-length models with bits are known to satisfy, both of them.

    sensitivity: at least that of every head. margin: at most the logit margin of both, infinite where no two logits
    differ. heads: at most so many in each model. same_attention: every head of one is equivalent to one of the other.
    Both numbers may be given as texts, and are kept as the exact rationals that were written.
    """

    vocabulary: int
    sensitivity: Fraction | float | str
    margin: Fraction | float | str
    bits: int
    period: int = 1
    locality: int = 0
    heads: int = 1
    same_attention: bool = False

    def __post_init__(self) -> None:
        """Refuses what no model can have."""
        for name, least in (("vocabulary", 1), ("period", 1), ("locality", 0), ("heads", 1), ("bits", 1)):
            value, most = getattr(self, name), MOST.get(name, LARGEST)
            if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
                raise WrongInput(f"a whole number from {least} to {most}", shown(value), f"change the {name}", name)
        for name in ("sensitivity", "margin"):
            value = _positive(getattr(self, name), name, infinite=name == "margin")
            object.__setattr__(self, name, value)


def constants_bound(constants: Constants, error: Fraction | float | str) -> Bound:
    """The training length for every pair of models within the constants.

        N = max{ ceil(2^(p / gamma)) + Delta - 1,  tau + 2 Delta,  tau + Delta + Delta ceil(B) }
        B = c~ (1 + 1/eta)^min(K, S) - c,   eta = error / (2 H L),   c = S/2 + Delta + tau,   c~ = c + (S/2) eta/(1 + eta)
        K = 2 H patterns, or H with the same attention

    Proof. Give every head of such a pair the budget eta, groups of heads that attend alike one and the same. Then
    sum L_a eta <= 2 H L eta = error, there are at most K groups (heads of the two models pair up where the attention
    is the same, so H at most), bbar <= tau + 1, and p / gamma# of either model is at most p / gamma. Theorem 1 for
    equal budgets gives B, which grows with the number of groups and with c; a smaller period that divides Delta and a
    smaller locality are lifted. Theorem 2 holds for every N' >= N, so one N serves all pairs.

    Source: one-layer note, Theorem 2, with the budgets of Corollary C. Ours: for all pairs at once.
    """
    slope = Fraction(constants.sensitivity)
    margin = math.inf if constants.margin == math.inf else Fraction(constants.margin)
    allowed, total = allowed_error(error), 2 * constants.heads * slope
    if allowed >= total:
        raise trivial_error(allowed, total)
    period, locality = constants.period, constants.locality
    types = constants.vocabulary * period
    groups = constants.heads if constants.same_attention else 2 * constants.heads
    _refuse_endless(min(groups, types), total / allowed)
    etas = [allowed / total] * groups
    size = class_size(Fraction(types, 2) + period + locality, types, etas)
    exponent = Fraction(0) if margin == math.inf else constants.bits / Fraction(margin)
    terms = (
        threshold_term(Length.power_of_two(exponent), period, f"it is {number(margin)}"),
        window_term(period, locality),
        counting_term(period, locality, size, budget_words(etas), groups),
    )
    attention = "and the same attention, head for head" if constants.same_attention else "and any attention"
    return Bound(
        Length.longest(*(term.length for term in terms)),
        allowed,
        period,
        terms,
        THEOREM,
        SOURCE,
        "log-length",
        (
            *setting(constants.vocabulary, period, locality, [constants.bits]),
            f"two models within these constants {attention}: periods that divide {period}, at most {locality} for the "
            f"locality, {constants.bits} bits and {constants.heads} heads each, every head of sensitivity at most "
            f"{number(slope)}, logit margins of at least {number(margin)}",
        ),
        lower_bounds([total], etas, constants.vocabulary, allowed),
        printed_forms(constants.vocabulary, period, locality, [total / 2], [(constants.bits, margin)], allowed),
    )


def trivial_error(error: Fraction, total: Fraction) -> WrongInput:
    """What we say of an error that needs no training at all."""
    return WrongInput(
        f"an error below {number(total)}, the sum of all sensitivities",
        number(error),
        "from there on any two strings with the same suffix serve; ask for a smaller error",
        "error",
    )


def _refuse_endless(factors: int, ratio: Fraction) -> None:
    """B has one factor a pattern; a number of millions of digits helps nobody."""
    if factors * math.log2(ratio + 1) > 1_000_000:
        raise WrongInput(
            "constants whose bound has at most a million bits",
            f"{factors} factors (1 + {number(ratio)})",
            "ask for fewer heads",
            "heads",
        )


def _positive(value: Fraction | float | str, name: str, infinite: bool) -> Fraction | float:
    if infinite and value in (math.inf, "inf"):
        return math.inf
    found = positive_rational(value)
    if found is None:
        raise WrongInput(f"a {name} above 0", shown(value), f"change the {name}", name)
    return found
