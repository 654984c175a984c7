"""One layer of plain attention, what ordinary trained models compute: no margin, no threshold, linear in 1/error.

Weights do not depend on the length, so a string with every type scaled down alike changes each head's mean by a
term that falls with the number of positions; one short string serves all models at once.
"""

from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product

from lengthwise.exact import Ball
from lengthwise.limit.model import LimitTransformer
from lengthwise.limit.patterns import Comparison
from lengthwise.theory.answer import Bound, Length, Term
from lengthwise.theory.lower_bounds import any_argument
from lengthwise.theory.words import head_name, number

SECOND = "second model"
THEOREM, SOURCE = "Theorem P", "one-layer note, section 6b"


@dataclass(frozen=True)
class Share:
    """What one head asks of a short string at one query type: L times reach / (number of prefix positions).

    reach: e^omega (S/4 + Delta - 1 + Phi), spread: omega, the range of its logits over types.
    """

    head: tuple[int, int]
    sensitivity: Fraction
    spread: Fraction
    reach: Ball


@dataclass(frozen=True)
class Demand:
    """How many prefix positions suffice at one query type, for whom, and which heads are free."""

    positions: Ball
    acting: tuple[Share, ...]
    free: tuple[Share, ...]
    rest: Fraction  # of the error, once the free heads have taken their sensitivities


def plain_pair_bound(comparison: Comparison, error: Fraction) -> Bound:
    """The training length for two one-layer plain models, their heads compared.

        N = tau + Delta + Delta ceil( max over query types of  sum_a L_a e^omega_a (S/4 + Delta - 1 + Phi_a) / (Delta error) )
        omega_a = largest minus smallest content logit over types,   Phi_a = sum_{k <= tau} e^phi_a(k)

    If the models agree within delta on all strings of the Delta lengths N - Delta + 1 .. N, they agree within
    delta + error on all longer ones. Source: one-layer note, Theorem P, with its refinement per query type.
    Ours: heads may be free. TV_a <= 1 in any case, so a head with a large spread may be charged with L_a instead; the
    others then share what is left of the error, and the better choice is taken.
    """
    queries = product(range(comparison.symbols), range(comparison.period))
    demands = [demand(shares(comparison, *query), error) for query in queries]
    worst = max(demands, key=lambda one: one.positions.log2_upper())
    period, locality = comparison.period, comparison.locality
    counted = Length.longest(*(_classes(one.positions, period) for one in demands))
    base = locality + period
    length = Length(None, counted.log2) if counted.value is None else Length.of(base + period * counted.value)
    slopes = [Fraction(slope) for slope in comparison.sensitivities.values()]
    return Bound(
        length,
        error,
        period,
        (_base_term(base), *(_term(share, worst.rest) for share in worst.acting)),
        THEOREM,
        SOURCE,
        "plain",
        _hypotheses(comparison, worst),
        (any_argument(slopes, error),) if comparison.symbols > 1 else (),
    )


def plain_class_bound(model: LimitTransformer, error: Fraction) -> Bound:
    """The training length for one plain model against every model with no worse constants.

    The class: one-layer plain models over the same vocabulary with a period that divides the model's and no larger
    locality, whose heads can be matched with heads of the model so that, at every query type, sensitivity, spread and
    Phi are no larger. Their shares of the demand are then no larger, with the same heads free, so the number for the
    model beside itself serves: no head of one model helps a head of the other in Theorem P.
    """
    found = plain_pair_bound(Comparison(model, model), error)
    every = "each with no larger sensitivity, logit spread and Phi at every query type"
    mine = tuple(one for one in found.hypotheses if SECOND not in one)
    other = (
        f"the other model has the same vocabulary, a period that divides {model.period} and locality at most "
        f"{model.locality}; its heads match heads of the first, {every}"
    )
    terms = tuple(replace(term, name=term.name.replace(SECOND, "other model")) for term in found.terms)
    return replace(found, terms=terms, hypotheses=(*mine, other))


def shares(comparison: Comparison, token: int, residue: int) -> list[Share]:
    """What every head that can move the output asks for at one query type, the largest spread first."""
    found = []
    for head, slope in comparison.sensitivities.items():
        if not slope:
            continue
        options = comparison.slots(head, token, residue)
        spread = options.exact(max(options.prefix) - min(options.prefix))
        near = sum((_exp(shift) for shift in comparison.shifts(head) if shift is not None), Ball.of(0))
        reach = (near + Fraction(comparison.types, 4) + comparison.period - 1) * _exp(spread)
        found.append(Share(head, Fraction(slope), spread, reach))
    return sorted(found, key=lambda share: share.spread, reverse=True)


def demand(every: list[Share], error: Fraction) -> Demand:
    """The least sum_a L_a reach_a / (error - sum of the free L) over freeing no head, the first, the first two, ..."""
    best = None
    for count in range(len(every) + 1):
        rest = error - sum(share.sensitivity for share in every[:count])
        if rest <= 0:
            break
        positions = sum((share.reach * share.sensitivity for share in every[count:]), Ball.of(0)) / rest
        if best is None or positions.certainly_less(best.positions):
            best = Demand(positions, tuple(every[count:]), tuple(every[:count]), rest)
    assert best is not None
    return best


def _classes(positions: Ball, period: int) -> Length:
    """ceil(positions / period) as a length; where it is too large to write out, log2 of positions and a little more."""
    written = (positions / period).ceil()
    return Length(None, positions.log2_upper()).plus(1 << 20) if written is None else Length.of(written)


def _exp(value: Fraction) -> Ball:
    return Ball.of(value).apply("exp")


def _base_term(base: int) -> Term:
    return Term("suffix and period", Length.of(base), "locality + period", "a smaller locality or period")


def _term(share: Share, error: Fraction) -> Term:
    positions = share.reach * share.sensitivity / error
    written = positions.ceil()
    return Term(
        head_name(share.head),
        Length(None, positions.log2_upper()) if written is None else Length.of(written),
        f"L e^spread (types/4 + period - 1 + Phi) / error, L = {number(share.sensitivity)}, "
        f"spread = {number(share.spread)}",
        "a larger error, a smaller logit spread (it enters as e^spread) or sensitivity, fewer tokens",
    )


def _hypotheses(comparison: Comparison, worst: Demand) -> tuple[str, ...]:
    heads = tuple(
        f"{head_name(head)} has sensitivity {number(slope)}" for head, slope in comparison.sensitivities.items()
    )
    free = tuple(f"{head_name(share.head)} is free at the query type that decides" for share in worst.free)
    return (
        "one layer, plain attention: weights exp(content + phi), no rounding",
        f"{comparison.symbols} tokens, period {comparison.period}, locality {comparison.locality}",
        "the error is the largest difference of an output at the last position",
        *heads,
        *free,
    )
