"""Up to which length a compiled model is right, threshold by threshold: its margin against what arithmetic may add.

Every output of a compiled model is a chain of Heaviside units, and each is right as long as what enters it is computed
with an error below its margin. So the model is right, at every position of every word of length n, if for each unit

    error of the value at length n  <  margin at length n.

With N = n + 1 keys at most (the begin symbol is one), u = 2^-digits the roundoff of the format and eps(N) the evaluator's
relative error of one average (|computed - exact| <= eps(N) * mean of |values|; nondecreasing in N):

average   eps(N) (n a + b) < 1/2, a and b being the largest sizes of a value at the word and at the begin symbol.
          Proof. The exact mean over q <= N keys is at least 1/(2 q) from 0 (units.py, `mean_row`), and the mean of the
          sizes is at most ((q - 1) a + b)/q. So the error stays below the margin if eps(q) ((q - 1) a + b) < 1/2, and the
          left side is largest at q = N. The unit multiplies the mean by 1 and adds gates that are exactly 0 where they
          matter. Where a gate is 1 the value is m - M F with |m| <= (1 + eps) M/2 and F >= 1; its w terms are added with
          relative error w u, so its sign is right if eps <= 1/2 and w u <= 1/8: (3/2)(9/8)/2 < 7/8.  QED
          If an evaluator adds the values exactly, dividing afterwards, the sign is always right: values are multiples
          of 1/2, so every partial sum in any order is exact while 2 (n a + b) <= 2^digits. Ours do: logits 0 give
          weights of exactly 1, and V is applied before the division.
lookup    L rho(2) 2^(30 k u) (1 + 8 u) + L eps(N) + w u (s + b) < 1/2, L values being looked up with K = 2 k, s the
          sum of the sizes of the weights, b the size of the bias. Proof. Looked-up values are within rho(N) of their
          truths (units.py, `look_row`). Exponents (content + phi) log2 N of size <= 3 k log2 N are formed and shifted by
          the largest with an absolute error of at most 5 u each times that size, exp2 adds 4 u: weights relative to each
          other are off by a factor of at most N^(30 k u) (1 + 8 u), and so is rho(N), a ratio of weights. For
          30 u <= 0.1175 the product N^(30 k u) rho(N) is largest at N = 2; and 2^x <= 1 + x for 0 <= x <= 1.
          eps(N) is added for the average itself, w u (s + b) for the w terms of the unit.  QED
exact     2 (s + b) <= 2^digits: sums of half-integers, exact in any order.

All weights must be numbers of the format; where one is not, the ledger says 0. In exact arithmetic every length is right.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from lengthwise.crasp.plan import Threshold

DIGITS = {"float64": 53, "float32": 24, "bfloat16": 8}  # of the significand, the hidden one included
RelativeError = Callable[[int, Fraction], Fraction]  # of one average: from the number of keys and the roundoff
EVALUATORS: Mapping[str, RelativeError | None] = {
    "exact_sums": None,
    "counts_divided_once": lambda keys, roundoff: 2 * roundoff,
    "pairwise_sums": lambda keys, roundoff: roundoff * (keys - 1).bit_length(),
    "sequential_sums": lambda keys, roundoff: roundoff * keys,
}
LONGEST = 2**200  # what is right up to here is called right at every length: relative errors do not grow that far
_HALF = Fraction(1, 2)


@dataclass(frozen=True)
class Ledger:
    """The thresholds of a compiled model, and the sharpness K of its heads that look back."""

    thresholds: tuple[Threshold, ...]
    sharpness: int

    def length(self, digits: int, error: RelativeError | None = None) -> int | None:
        """The longest word up to which all outputs are right, None for every length.

        digits: of the significand of the format (24 for float32). error: the evaluator's relative error of one average,
        from the number of keys and the roundoff 2^-digits; None for one that adds values exactly while they fit.
        """
        lengths = [self.threshold_length(one, digits, error) for one in set(map(_alike, self.thresholds))]
        return min((length for length in lengths if length is not None), default=None)

    def threshold_length(self, threshold: Threshold, digits: int, error: RelativeError | None = None) -> int | None:
        """The longest word up to which one threshold is right, None for every length."""
        if not self.right(threshold, 0, digits, error):
            return 0
        if threshold.kind == "exact":
            return None
        low, high = 0, 1
        while self.right(threshold, high, digits, error):
            low, high = high, 2 * high
            if high > LONGEST:
                return None
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self.right(threshold, middle, digits, error) else (low, middle)
        return low

    def right(self, threshold: Threshold, length: int, digits: int, error: RelativeError | None = None) -> bool:
        """Whether the inequality of the threshold's kind holds at a length; see the top of this file."""
        keys, roundoff = length + 1, Fraction(1, 2**digits)
        if not all(_fits(weight, digits) for weight in threshold.weights):
            return False
        size = threshold.slope * (length if threshold.kind == "average" else 1) + Fraction(threshold.start)
        few = threshold.terms * roundoff <= Fraction(1, 8)
        if threshold.kind == "exact" or (threshold.kind == "average" and error is None):
            return 2 * size <= 2**digits and (few or threshold.kind == "exact")
        relative = error(keys, roundoff) if error is not None else keys * roundoff
        if threshold.kind == "average":
            return relative * size < _HALF and few
        if 30 * roundoff > Fraction(47, 400):
            return False
        half = self.sharpness // 2
        tilt = 30 * half * roundoff
        distance = Fraction(1, 1 + 2**half) * (1 + tilt if tilt <= 1 else 2 ** math.ceil(tilt)) * (1 + 8 * roundoff)
        return threshold.looked_up * (distance + relative) + threshold.terms * roundoff * size < _HALF

    def margin(self, threshold: Threshold, length: int) -> Fraction:
        """How far from 0 the value of a unit is, at least, on words up to a length, in exact arithmetic."""
        keys = length + 1
        if threshold.kind == "average":
            return Fraction(1, 2 * keys)
        return _HALF - threshold.looked_up * Fraction(1, 1 + 2 ** (self.sharpness // 2))

    def lengths(self) -> dict[str, dict[str, int | None]]:
        """The longest word by format and evaluator, None for every length."""
        return {
            name: {evaluator: self.length(digits, error) for evaluator, error in EVALUATORS.items()}
            for name, digits in DIGITS.items()
        }

    def to_json(self) -> dict[str, Any]:
        """The ledger as plain values: one row a threshold, and the lengths; null stands for every length."""
        known = {one: self.threshold_length(one, DIGITS["float32"]) for one in set(map(_alike, self.thresholds))}
        rows = [
            {
                "threshold": one.name,
                "layer": one.layer,
                "kind": one.kind,
                "margin": self.margin_text(one),
                "slope": one.slope,
                "start": one.start,
                "looked_up": one.looked_up,
                **_said({"float32": known[_alike(one)]}),
            }
            for one in self.thresholds
        ]
        return {
            **_said({"exact": None}),
            "lengths": {name: _said(found) for name, found in self.lengths().items()},
            "sharpness": self.sharpness,
            "thresholds": rows,
        }

    def margin_text(self, threshold: Threshold) -> str:
        """The margin as a function of the word's length n."""
        if threshold.kind == "average":
            return "1/(2 (n + 1))"
        return str(self.margin(threshold, 1))

    def __str__(self) -> str:
        """Two tables: lengths by format and evaluator; thresholds with their margins."""
        head = ["right up to length", *(name.replace("_", " ") for name in EVALUATORS)]
        rows = [
            [name, *("every length" if one is None else str(one) for one in found.values())]
            for name, found in self.lengths().items()
        ]
        rows = [["exact arithmetic", *["every length"] * len(EVALUATORS)], *rows]
        units = [[one.name, str(one.layer), one.kind, self.margin_text(one)] for one in self.thresholds]
        return _columns([head, *rows]) + "\n\n" + _columns([["threshold", "layer", "kind", "margin"], *units])


def _alike(threshold: Threshold) -> Threshold:
    """What of a threshold its length depends on: most thresholds of a model are alike."""
    return replace(threshold, name="", layer=0)


def _said(lengths: Mapping[str, int | None]) -> dict[str, Any]:
    """Lengths, each null with its reason beside it."""
    reasons = {f"{name}_reason": "right at every length" for name, length in lengths.items() if length is None}
    return {**lengths, **reasons}


def _fits(weight: float, digits: int) -> bool:
    """Whether a number is one of the format's: a power of two times an integer of at most that many digits."""
    if weight == 0:
        return True
    numerator, _ = weight.as_integer_ratio()
    odd = numerator // (numerator & -numerator)
    return odd.bit_length() <= digits


def _columns(rows: list[list[str]]) -> str:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ("  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip() for row in rows)
    return "\n".join(lines)
