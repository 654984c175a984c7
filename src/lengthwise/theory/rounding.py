"""How much float64 can lose of f - T on a cell or a string: bounded beforehand, from the sizes of all that is added."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from jaxtyping import Float

from lengthwise.errors import WrongInput
from lengthwise.limit.model import LimitTransformer
from lengthwise.limit.tables import LogitTable
from lengthwise.theory.frequency_target import FrequencyTarget

WIDEST = 500  # difference of two logits of plain attention; e^-500 times a vertex is far above what underflows
BELOW = 746  # e^-746 is 0: what is lost of a weight far below another one that occurs
DEEPEST = 200  # splits of a cell: a coordinate is 0 or at least 16^-200, and off by 3 roundings for every split
LARGEST = 1e60  # of all sizes together, so that nothing overflows
ROUNDOFF = 2.0**-53


def float_loss(model: LimitTransformer, target: FrequencyTarget, tables: Sequence[LogitTable]) -> float:
    """16 m u (1 + S): more than float64 loses of an enclosure of f - T, u = 2^-53.

    S: the sum of the sizes of everything that is added on the way to f - T, that is what it would be if all signs were
    alike; a sum that cancels is off by its terms, not by itself. m: the roundings that one term can go through. The 16:
    beside the output, which counts once, the gaps of units, the spreads of the heads' parts and of the target, and the
    factors (rho - 1) / (rho + 3) before them, whose slope in log rho is at most 1/3, are each off by at most 2 m u S.

    Source: Higham, Accuracy and Stability of Numerical Algorithms, 2nd edition, 2002, chapter 3.
    """
    layer, mlp = model.layers[0], model.layers[0].mlp
    vectors = _sizes(model.embedding)[:, None, :] + _sizes(model.positions)
    out, kinds = _sizes(model.unembedding)[0], () if mlp is None else mlp.activations
    with np.errstate(over="ignore", invalid="ignore"):
        carried = [vectors] + [vectors @ _sizes(head.value).T for head in layer.heads]
        sizes = sum(float((one @ out).max()) for one in carried)
        if mlp is not None:
            units = _sizes(mlp.bias) + sum((one @ _sizes(mlp.inner).T).max((0, 1)) for one in carried)
            bends = np.where([kind in ("sin", "tanh") for kind in kinds], units**2, 0.0)
            sizes += float((out @ _sizes(mlp.outer)) @ (units + bends))
    scaled = abs(float(target.scale * _largest_ratio(target)))
    sizes += scaled + (scaled**2 if target.activation == "sin" else 0.0)
    sizes += sum(max(abs(float(value)) for value in row) for row in target.tail)
    if not sizes <= LARGEST:
        raise WrongInput(
            f"a model and a target with numbers up to some {LARGEST:g}", f"{sizes:.3g}", "divide them", "model"
        )
    widest = float(widest_gap(tables)) if model.attention == "plain" else BELOW
    entries = target.symbols * target.period + max((len(table.phi) for table in tables), default=0)
    share = 3 * widest + 3 * DEEPEST + entries + 16  # a weight times a count, and the sum of all of them
    terms = 4 * model.width + len(kinds) + len(layer.heads) + 2 * share + 16
    return 16 * terms * ROUNDOFF * (1 + sizes)


def widest_gap(tables: Sequence[LogitTable]) -> Fraction:
    """The largest difference of two logits of one head; WrongInput if float64 cannot hold both weights."""
    widest = max(map(_spread, tables), default=Fraction(0))
    if widest > WIDEST:
        raise WrongInput(
            f"plain attention whose logits differ by at most {WIDEST}",
            f"{float(min(widest, Fraction(10**300))):.4g}",
            "its weights are too far apart for float64; mask offsets that do not matter, or use log-length attention",
            "model",
        )
    return widest


def _spread(table: LogitTable) -> Fraction:
    given = [0, *(shift for shift in table.phi if shift is not None)]
    return max(Fraction(max(row) - min(row) + max(given) - min(given), table.denominator) for row in table.content)


def _sizes(array: Any) -> Float[np.ndarray, "..."]:
    return np.abs(np.asarray(array, dtype=np.float64))


def _largest_ratio(target: FrequencyTarget) -> Fraction:
    pairs = [pair for rows in zip(target.over, target.under, strict=True) for pair in zip(*rows, strict=True)]
    return max((abs(above) / below for above, below in pairs if below), default=Fraction(0))
