"""Counts at and near the corners and edges of all counts: where a task's own law hardly ever looks.

Rare tokens come at every scale, whatever the length: the number of binary digits of a rare count is uniform.
"""

from typing import Any

import numpy as np
from jaxtyping import Int

from lengthwise.limit.attention import namespace
from lengthwise.tasks.protocol import Draw


def digit_uniform(total: Int[Any, "*batch"], draw: Draw) -> Int[Any, "*batch"]:
    """A number from 0..total whose number of binary digits is uniform: 0, or 1, or 2..3, or 4..7, ..., up to the total.

    P(r) = 1 / (D + 1) / (how many numbers in 0..total have as many digits as r),   D the digits of the total, 0 has none
    """
    xp = namespace(total)
    powers = xp.asarray([1 << j for j in range(np.iinfo(total.dtype).bits - 1)], dtype=total.dtype)
    reached = xp.reshape(powers, (-1,) + (1,) * total.ndim) <= total
    digits = draw(xp.sum(xp.asarray(reached, dtype=total.dtype), axis=0) + 1)
    low = xp.where(digits == 0, 0, powers[xp.maximum(digits - 1, 0)])
    return low + draw(xp.minimum(xp.maximum(low, 1), total - low + 1))


def either_end(total: Int[Any, "*batch"], draw: Draw) -> Int[Any, "*batch"]:
    """A digit-uniform number, or the total minus such a number, with equal odds."""
    rare = digit_uniform(total, draw)
    return namespace(total).where(draw(total * 0 + 2) == 0, rare, total - rare)


def near_corner(total: Int[Any, " batch"], parts: int, draw: Draw) -> Int[Any, "parts batch"]:
    """An ordered sum of `parts` naturals with every part but one rare: n - r_1, r_1 - r_2, ..., r_(parts - 1), shuffled.

    r_1 is digit-uniform in 0..n, r_2 in 0..r_1, and so on. r_1 = 0 is a corner, r_2 = 0 an edge. Shuffled as Fisher and
    Yates do.
    """
    xp = namespace(total)
    left, counts = total, []
    for _ in range(parts - 1):
        rest = digit_uniform(left, draw)
        counts.append(left - rest)
        left = rest
    counts.append(left)
    for end in range(parts - 1, 0, -1):
        place = draw(total * 0 + end + 1)
        moved = sum(xp.where(place == other, counts[other], 0) for other in range(end + 1))
        for other in range(end):
            counts[other] = xp.where(place == other, counts[end], counts[other])
        counts[end] = moved
    return xp.stack(counts)
