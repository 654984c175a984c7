"""Two layers in one line: the closed forms we prove, the ones that were published, and what no method can beat."""

import math
from collections.abc import Sequence
from fractions import Fraction

from lengthwise.exact import Ball
from lengthwise.limit.complexity import Complexity
from lengthwise.limit.layer_constants import total
from lengthwise.theory.answer import LARGEST_WRITTEN, Length, Other
from lengthwise.theory.simulation import Pair

_HALF = Fraction(1, 2)
NOTE = "two-layer note"
NOT_PROVED = "a form printed in the literature, shown for comparison; not proved for this model"


def least_margin(pair: Pair) -> Fraction | None:
    """Gamma = min(gamma(f), gamma(g)); None for infinity."""
    margins = [Fraction(model.constants.margin) for model in pair.models if model.constants.margin != math.inf]
    return min(margins, default=None)


def cubic_form(pair: Pair, error: Fraction) -> Length:
    """Theorem B.2 for the complexities and the margin of a pair."""
    logs = [model.constants.log2_complexity for model in pair.models]
    known = [Fraction(model.constants.complexity) for model in pair.models if math.isfinite(model.constants.complexity)]
    total = sum(known, Fraction(0)) if len(known) == len(logs) else None
    return cubic_length(total, log2_sum(logs), least_margin(pair), pair.shape.locality, pair.shape.period, error)


def cubic_length(
    complexity: Fraction | None, log2: float, margin: Fraction | None, locality: int, period: int, error: Fraction
) -> Length:
    """N = floor(9n/4) + 2 tau + Delta, n = max(27, Delta^3, ceil((C / eps)^max(3, 1/gamma))), C = C(f) + C(g).

    Source: two-layer note, Theorem B.2: stratified windows; comparable to the published theorem. complexity is None
    where only its log2 is known; a margin of None is infinite.
    """
    exponent = max(Fraction(3), 1 / (margin or Fraction(1)))
    log2_kept = _above(float(exponent) * (log2 - math.log2(error)))
    if complexity is None or log2_kept > LARGEST_WRITTEN - 8:
        return Length(None, log2_kept + 2)
    if exponent.denominator == 1:
        grown = math.ceil((complexity / error) ** int(exponent))
    else:
        grown = -(0 - Ball.of(complexity / error).power(exponent)).floor()
    kept = max(27, period**3, grown)
    return Length.of(9 * kept // 4 + 2 * locality + period)


def quadratic_form(pair: Pair, error: Fraction) -> Length:
    """N = floor(12n/5) + 2 tau + Delta for an n >= max(27, Delta^2) with sum C_2 (1 + log ceil sqrt n) n^-m <= eps.

        C_2 = 6 (tau + Delta + D_tot)(G + L) + J,   m = min(gamma, 1/2)

    Source: two-layer note, Theorem B.3: balanced windows, exponent 2 instead of 3 at the price of D_tot. Ours: the n
    taken is found by doubling and bisection, and its inequality is checked in balls.
    """
    shape, rate = pair.shape, min(least_margin(pair) or _HALF, _HALF)
    gain = total(second_complexity(model.constants, pair) for model in pair.models)
    low = max(27, shape.period**2)

    def holds(kept: int) -> bool:
        harmonic = 1 + Ball.of(math.isqrt(kept - 1) + 1).apply("log")
        return (gain * harmonic * Ball.of(kept).power(-rate)).upper() <= error

    if holds(low):
        return Length.of(12 * low // 5 + shape.tail)
    log2_gain, needed = gain.log2_upper() - math.log2(error), 0.0
    for _ in range(100):  # n^m >= (gain / eps)(1 + log sqrt n), in log2; the right side grows by less than the left
        needed = (log2_gain + math.log2(2 + needed * math.log(2) / 2)) / float(rate)
    if needed > LARGEST_WRITTEN - 8:
        return Length(None, _above(needed) + 2)
    high = 2 * low
    while not holds(high):
        high *= 2
    low = high // 2
    while high - low > 1 + (low >> 60):
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return Length.of(12 * high // 5 + shape.tail)


def second_complexity(constants: Complexity, pair: Pair) -> Ball:
    """C_2 = 6 (tau + Delta + D_tot)(G + L) + J. Source: two-layer note, Theorem B.3."""
    shape = pair.shape
    gains = Ball.upto(constants.sampling_gain) + Ball.upto(constants.histogram_sensitivity)
    return 6 * (shape.locality + shape.period + shape.statistics) * gains + Ball.upto(constants.limit_gain)


def log2_sum(logs: Sequence[float]) -> float:
    """log2 of the sum of 2^l, rounded up."""
    top = max(logs)
    return _above(top + math.log2(math.fsum(2.0 ** (value - top) for value in logs)))


def published_forms(pair: Pair, error: Fraction) -> tuple[Other, ...]:
    """The three published statements of the two-layer theorem, with our C in the place of theirs.

        A  max C * eps^-max(1/gamma, 3)     B  (max C / eps)^max(1/gamma, 3)     C  max(C^2, log(1/eps)/gamma) / eps^2

    Source: summaries of Theorem 5.2 of Izzo, Nichani, Lee (2025); two-layer note, section 12. B is ours up to
    constants; A is stronger than what we can prove; C contradicts the margin's lower bound where gamma < 1/2.
    """
    gamma = least_margin(pair) or Fraction(1)
    power, scale = float(max(1 / gamma, Fraction(3))), -math.log2(error)
    largest = max(model.constants.log2_complexity for model in pair.models)
    wait = math.log2(max(math.log(1 / float(error)), 1e-300) / float(gamma)) if error < 1 else -math.inf
    source = "summaries of Izzo, Nichani, Lee 2025, Theorem 5.2"
    return (
        _other("published form A", largest + power * scale, f"C error^-{power:g}", source),
        _other("published form B", power * (largest + scale), f"(C / error)^{power:g}", source),
        _other(
            "published form C", max(2 * largest, wait) + 2 * scale, "max(C^2, log(1/error)/margin) error^-2", source
        ),
    )


def lower_bounds(pair: Pair, error: Fraction) -> tuple[Other, ...]:
    """What any method needs for models with the margin and the largest logit spread of a pair."""
    first = (head.spread for model in pair.models for head in model.constants.first)
    second = (head.spread for model in pair.models for head in model.constants.second)
    return lower_bounds_of(least_margin(pair), max([*first, *second], default=0.0), error)


def lower_bounds_of(gamma: Fraction | None, spread: float, error: Fraction) -> tuple[Other, ...]:
    """What any method needs for all pairs with such a margin, such spreads, or at all (agreement exact below N).

        C  (4 eps)^(-1/gamma) if gamma < 1         D  e^beta / 3 for the largest logit spread beta > 2, if eps < 1/4
        E  (6 eps)^(-1/2)

    Source: two-layer note, Propositions C, D and E, with eps_0 = 2 eps. Each speaks of the class: there is a pair of
    models with this margin (or spread) that agrees up to the length and then differs by more than the error.
    """
    found, log2_error = [], math.log2(error)
    if gamma is not None and gamma < 1 and error < Fraction(1, 4):
        length = -(2 + log2_error) / float(gamma)
        found.append(_other("margin", length, f"(4 error)^(-1/{gamma})", f"{NOTE}, Proposition C", proved=True))
    if spread > 2 and error < Fraction(1, 4):
        length = spread / math.log(2) - math.log2(3)
        found.append(_other("logit spread", length, f"e^{spread:.4g} / 3", f"{NOTE}, Proposition D", proved=True))
    if error < Fraction(1, 6):
        length = -(math.log2(6) + log2_error) / 2
        found.append(_other("histogram", length, "(6 error)^(-1/2)", f"{NOTE}, Proposition E", proved=True))
    return tuple(found)


def _other(name: str, log2: float, formula: str, source: str, proved: bool = False) -> Other:
    """A number known by its log2; a length where it fits one. Lower bounds are rounded down, the others up."""
    if log2 > 1000 or log2 < 0:
        length = Length(None if log2 > 1000 else 1, max(log2, 0.0))
    else:
        length = Length.of(math.floor(2**log2 * (1 - 1e-12)) if proved else math.ceil(2**log2))
    statement = "no smaller length suffices for all models of its class" if proved else NOT_PROVED
    return Other(name, length, f"{formula}: {statement}", source)


def _above(value: float) -> float:
    return value + 1e-9 * (1 + abs(value))
