"""The bounds as the literature prints them, for comparison only: their constants and exact hypotheses are not known to us.

Every O(.) is read as the expression itself. None is proved for a model of ours, and section 12 of the one-layer note
has models where the printed form is too short.
"""

import math
from collections.abc import Iterable
from fractions import Fraction

from lengthwise.limit.margins import Margin
from lengthwise.theory.answer import Length, Other

NOT_PROVED = "as printed, every constant read as 1; not proved for this model"
PAPER = "Quantitative Bounds for Length Generalization in Transformers"


def printed_forms(
    symbols: int,
    period: int,
    locality: int,
    sensitivities: Iterable[Fraction],
    precisions: Iterable[tuple[int, Margin]],
    error: Fraction,
) -> tuple[Other, ...]:
    """The one-layer bounds of the workshop and the later version, with L the largest sum over a model's heads.

        workshop:  max{ 2^(p / gamma),  tau Delta L^2 / eps^2 },   |Sigma| = O(1)
        later:     max{ 2^p / gamma,  L^2 Delta^7 |Sigma|^6 tau^2 / eps^2 }

    precisions: bits and margin of each model. Source: one-layer note, section 13. With locality 0 the second entries
    vanish. Ours: the printed margin is replaced by the exact one, which favours the printed form.
    """
    slope = max(sensitivities, default=Fraction(0))
    finite = [(bits, Fraction(margin)) for bits, margin in precisions if margin != math.inf]
    power = max((Length.power_of_two(bits / margin) for bits, margin in finite), key=_log2, default=Length.of(1))
    quotient = max((_whole(Fraction(2) ** bits / margin) for bits, margin in finite), key=_log2, default=Length.of(1))
    workshop = _whole(locality * period * (slope / error) ** 2)
    later = _whole((slope / error) ** 2 * period**7 * symbols**6 * locality**2)
    return (
        Other(
            "printed form, workshop",
            Length.longest(power, workshop),
            f"max(2^(bits / margin), locality period L^2 / error^2), {NOT_PROVED}",
            f"{PAPER}, workshop version",
        ),
        Other(
            "printed form, later version",
            Length.longest(quotient, later),
            f"max(2^bits / margin, L^2 period^7 vocabulary^6 locality^2 / error^2), {NOT_PROVED}",
            f"{PAPER}, later version, after its summary",
        ),
    )


def _whole(value: Fraction) -> Length:
    return Length.of(math.ceil(value))


def _log2(length: Length) -> float:
    return length.log2
