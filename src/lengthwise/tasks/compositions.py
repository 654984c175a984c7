"""Draws of counts at a cost that does not grow with the length: compositions of a total, and tokens taken from counts."""

from collections.abc import Iterator
from itertools import accumulate, pairwise
from typing import Any

import numpy as np
from jaxtyping import Int

from lengthwise.limit.attention import namespace
from lengthwise.tasks.protocol import Draw


def composition(total: Int[Any, " batch"], parts: int, draw: Draw) -> Int[Any, "parts batch"]:
    """Uniform over the ways to write each total as an ordered sum of `parts` naturals.

    Stars and bars: parts - 1 distinct bars among total + parts - 1 places (Floyd's sampling without replacement),
    sorted; the parts are the gaps.
    """
    xp = namespace(total)
    places = total + parts - 1
    bars: list[Any] = []
    for index in range(parts - 1):
        last = places - (parts - 1) + index  # places 0..last are open in this round
        bar = draw(last + 1)
        for other in list(bars):
            bar = xp.where(bar == other, last, bar)
        bars.append(bar)
    for i, j in exchanges(parts - 1):
        bars[i], bars[j] = xp.minimum(bars[i], bars[j]), xp.maximum(bars[i], bars[j])
    edges = [xp.zeros_like(total) - 1, *bars, places]
    return xp.stack([right - left - 1 for left, right in pairwise(edges)])


def exchanges(count: int) -> Iterator[tuple[int, int]]:
    """Comparisons that sort: odd-even transposition, `count` rounds. A few rows need no general sort, slow on GPUs."""
    return ((i, i + 1) for r in range(count) for i in range(r % 2, count - 1, 2))


def take_one(
    counts: Int[Any, "types batch"], total: Int[Any, " batch"], draw: Draw
) -> tuple[Int[Any, " batch"], Int[Any, "types batch"]]:
    """Draws one token from each column's counts; returns it and the counts that are left."""
    xp = namespace(counts)
    place = draw(total)
    token = sum(xp.asarray(place >= below, dtype=counts.dtype) for below in accumulate(counts))
    return token, counts - (np.arange(counts.shape[0])[:, None] == token)


def take_one_kind(counts: Int[Any, "types batch"], draw: Draw) -> tuple[Int[Any, " batch"], Int[Any, "types batch"]]:
    """Draws one of the tokens that each column has, whatever its count; returns it and the counts that are left."""
    xp = namespace(counts)
    there = xp.asarray(counts > 0, dtype=counts.dtype)
    token, others = take_one(there, xp.sum(there, axis=0), draw)
    return token, counts - (there - others)
