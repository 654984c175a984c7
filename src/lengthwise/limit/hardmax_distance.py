"""How far attention is from the hardmax on given strings: total variation, at a cost that does not grow with the length.

The distance of a head on a string is the total variation between its attention and the uniform law on the positions
with the largest logit.

    TV = 1 - (attention of the maximisers)

Proof. All m maximisers get the same weight, so each has the attention A / m of their sum A <= 1, which is at most 1 / m.
The uniform law therefore exceeds the attention exactly there, by 1 / m - A / m each, 1 - A in all.
"""

from fractions import Fraction
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from lengthwise.errors import WrongInput
from lengthwise.exact import Ball, power_reaches
from lengthwise.limit.model import LimitTransformer
from lengthwise.limit.tables import Slots, logit_tables, slots


def distances(
    model: LimitTransformer, prefix: Int[Any, "types columns"], suffix: Int[Any, "offsets columns"], length: int
) -> Float[np.ndarray, "heads columns"]:
    """The distance of every head from its hardmax, for strings of one length given by counts and suffixes, one a column.

    suffix: types, row 0 the last position, at least locality + 1 rows or the whole string; -1 where there is none. Which
    logits tie, and which weights are flushed, is decided on rationals; the weights themselves are floats.
    """
    if len(suffix) <= model.locality and np.any(np.sum(prefix, axis=0)):
        raise WrongInput(f"a suffix of {model.locality + 1} positions", f"{len(suffix)}", "give more", "suffix")
    found = np.zeros((len(model.layers[0].heads), suffix.shape[1]))
    for head, table in enumerate(logit_tables(model)):
        for query in np.unique(suffix[0]):
            here = suffix[0] == query
            options = slots(table, *divmod(int(query), model.period))
            found[head, here] = _query_distances(model, options, prefix[:, here], suffix[:, here], length)
    return found


def _query_distances(model: LimitTransformer, options: Slots, prefix: Any, suffix: Any, length: int) -> Any:
    """The same for one query: counts by level of logit, and the weight of each level below each possible top."""
    levels = sorted({*options.prefix, *(value for slot in options.suffix for value in slot)})
    rank = {value: place for place, value in enumerate(levels)}
    counts = np.zeros((len(levels), prefix.shape[1]))
    columns = np.arange(prefix.shape[1])
    for code, logit in enumerate(options.prefix):
        counts[rank[logit]] += prefix[code]
    for offset, codes in enumerate(suffix):
        for code in np.unique(codes[codes >= 0]):
            near = _suffix_logit(options, offset, int(code))
            if near is not None:
                counts[rank[near], columns[codes == code]] += 1
    weights = np.zeros((len(levels), len(levels)))
    for top, below in np.ndindex(*weights.shape):
        if below <= top:
            weights[top, below] = float(weight(model, options.exact(levels[top] - levels[below]), length))
    largest = len(levels) - 1 - np.argmax((counts > 0)[::-1], axis=0)
    mass = np.sum(weights[largest].T * counts, axis=0)
    others = np.sum(np.where(np.arange(len(levels))[:, None] < largest, weights[largest].T * counts, 0.0), axis=0)
    return others / np.where(mass == 0, 1.0, mass)


def _suffix_logit(options: Slots, offset: int, code: int) -> int | None:
    """The logit of a type at an offset; None where the offset is masked, the prefix's beyond the locality."""
    if offset >= len(options.suffix):
        return options.prefix[code]
    slot = options.suffix[offset]
    return None if not slot else slot[0] if offset == 0 else slot[code // options.period]


def weight(model: LimitTransformer, gap: Fraction, length: int) -> Ball:
    """The weight of a key that is a gap below the largest: e^-gap (plain), n^-gap (log-length), 0 where rounding says so."""
    if gap == 0:
        return Ball.of(1)
    if model.attention == "plain":
        return Ball.of(-gap).apply("exp")
    if model.bits is not None and power_reaches(length, gap, model.bits):
        return Ball.of(0)
    return Ball.of(length).power(-gap)
