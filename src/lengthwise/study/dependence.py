"""How fast the required length grows with vocabulary and locality, beside what the theory's worst case says."""

from collections.abc import Sequence

from lengthwise.study.claims import LOSS, Claim
from lengthwise.study.curves import Series
from lengthwise.study.measure import by_parameter, required_length
from lengthwise.study.scaling import fit

WORST_CASE = {
    "vocabulary": ("symbols", "|Sigma|"),
    "locality": ("tail", "tau"),
}
LINEAR = 1.0  # Theorem P's exponent of both, at fixed weights


def dependences(figure: str, lines: Sequence[Series]) -> list[Claim]:
    """For each attention rule: whether the exponent of the required length is at most the worst case's, 1.

    Not required: the theorem compares two models of fixed weights by their worst error, a study trains new weights for
    each value and reads a mean loss. So a larger exponent would refute nothing; it would say that the weights pay too.

    Source: one-layer theory, Theorem P: the length is a constant times |Sigma| / 4 + the sum of exp(phi) over the
    suffix, of tau + 1 terms.
    """
    if figure not in WORST_CASE:
        return []
    parameter, symbol = WORST_CASE[figure]
    found = []
    for rest, group in by_parameter(lines, parameter).items():
        needed = [required_length(line, LOSS) for line in group]
        x = [float(line.setting[parameter]) for line in group]
        grown = fit(parameter, {}, x, needed, all(line.resampled for line in group))
        holds, reason = None, grown.reason
        if grown.exponent is not None:
            lower, upper = (
                (grown.exponent, grown.exponent)
                if grown.exponent_lower is None or grown.exponent_upper is None
                else (grown.exponent_lower, grown.exponent_upper)
            )
            holds = True if upper <= LINEAR else False if lower > LINEAR else None
            reason = "" if holds is not None else "the interval of the exponent holds 1"
        left = "; ".join(f"{value:g}: {why}" for value, why in grown.left_out)
        found.append(
            Claim(
                figure,
                f"the length grows at most linearly with {symbol} [{dict(rest)['attention']}]",
                f"not published; ours, after the worst case of Theorem P at fixed weights, linear in {symbol}",
                grown.sentence + (f"; left out: {left}" if left else ""),
                holds,
                False,
                reason,
            )
        )
    return found
