"""The training length for a small expected error, where tokens follow a Dirichlet law."""

from fractions import Fraction
from typing import Any

from lengthwise.limit.model import LimitTransformer
from lengthwise.theory.answer import Bound, Length, NoBound, Term
from lengthwise.theory.average import Drift
from lengthwise.theory.law import DirichletLaw
from lengthwise.theory.terms import setting, threshold_term, window_term
from lengthwise.theory.words import number

THEOREM, SOURCE = "Theorem 3", "one-layer note, section 8"
PLAIN_THEOREM, PLAIN_SOURCE = "Theorem 3 for plain attention", "ours; proved on the page of the average case"
PLAIN = ("one layer, plain attention: weights exp(content + phi), no rounding",)


def average_bound(first: LimitTransformer, second: LimitTransformer, error: Fraction, alpha: Any) -> Bound | NoBound:
    """The training length for two models, log-length with bits or plain, whose strings are drawn from a law.

        err(n) = E ||f(x) - g(x)|| over strings of n tokens:  q ~ Dirichlet(alpha), tokens independent draws from q
        N = max{ n0 + Delta - 1,  tau + Delta + Delta C },   C the least class size with 2 max_i R_i(C) <= error

    If err <= delta on the Delta lengths N - Delta + 1 .. N, then err <= delta + error on all longer ones: a length n
    and the length of the window with the same residue i have classes of at least C positions, and |err(n) - err(N)| <=
    R_i(C_n) + R_i(C_N) <= 2 R_i(C), because R falls. Source: one-layer note, Theorem 3.
    Ours: a law with a token of weight 0 gets no bound. Agreement under it cannot speak of strings that have the token:
    two models may be equal on all others, and differ by their whole sensitivity where a head attends to it. Plain
    attention has a bound of its own (`PlainStraying`) without threshold, which asks nothing of the weights.
    """
    law = DirichletLaw.of(alpha, first.symbols)
    plain = first.attention == "plain"
    if law.missing and not plain:
        token = first.names[law.missing[0]]
        return NoBound(
            f"the token {token} has weight 0 and never occurs, so agreement under this law says nothing of strings that "
            "have it: two models may be equal on all others and differ by their whole sensitivity where a head attends it",
            "give every token a weight above 0, or compare models without that token",
            first.attention,
        )
    drift = Drift.of(first, second, law)
    size = drift.class_size(error)
    if size is None:
        return NoBound(
            "the expected error falls so slowly under this law that the length has more than 4096 binary digits",
            "ask for a larger error, or give the tokens larger weights",
            first.attention,
        )
    period, locality = drift.period, drift.locality
    threshold = Length.power_of_two(drift.log2_threshold)
    rounding = (threshold_term(threshold, period, f"they make it 2^{number(drift.log2_threshold)}"),)
    terms = (
        *(() if plain else rounding),
        window_term(period, locality),
        Term(
            "averaging",
            Length.of(locality + period + period * size),
            f"locality + period + period * C, C = {size} the least class size with 2 R(C) <= error",
            f"a larger error or smaller sensitivities (it grows like their quotient to the power "
            f"{number(1 / drift.exponent)}), or "
            + ("smaller logit spreads" if plain else "larger weights of the tokens that heads attend to"),
        ),
    )
    weights = (
        number(law.alpha[0]) + " for every token" if len(set(law.alpha)) == 1 else ", ".join(map(number, law.alpha))
    )
    return Bound(
        Length.longest(*(term.length for term in terms)),
        error,
        period,
        terms,
        PLAIN_THEOREM if plain else THEOREM,
        PLAIN_SOURCE if plain else SOURCE,
        first.attention,
        (
            *(PLAIN if plain else ()),
            *(() if plain else setting(first.symbols, period, locality, [first.bits or 0, second.bits or 0])),
            f"tokens are drawn independently from proportions that follow a Dirichlet law of weights {weights}",
            "agreement is small expected error at the lengths of the window, and so is what follows",
        ),
        law=f"Dirichlet weights {weights}",
    )
