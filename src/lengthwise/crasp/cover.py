"""Short tests that tell two sets of points apart.

A point has some coordinates out of finite sets (the letter, the remainder, the letters before) and then some integers
(the potentials). A box allows, per coordinate, everything (None), a set, or an interval with ends that may be open. A
cover is a list of boxes that contains every point of the one set and none of the other; elsewhere it may be anything.

The covers are made greedily: a box grows from a point, one coordinate after the other, as far as it meets no forbidden
point, in several orders; the box that covers most for its length is taken; boxes that others make superfluous go.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

Point = tuple[int, ...]
Interval = tuple[int | None, int | None]
Box = tuple[frozenset[int] | Interval | None, ...]

MOST_ORDERS = 8
SEEDS = 4


@dataclass(frozen=True)
class Space:
    """The coordinates: the sizes of the finite ones, then how many integers."""

    sizes: tuple[int, ...]
    integers: int

    @property
    def dimensions(self) -> int:
        """How many coordinates a point has."""
        return len(self.sizes) + self.integers


def contains(box: Box, point: Point) -> bool:
    """Whether a point lies in a box."""
    return all(_allows(side, value) for side, value in zip(box, point, strict=True))


def _allows(side: frozenset[int] | Interval | None, value: int) -> bool:
    if side is None:
        return True
    if isinstance(side, frozenset):
        return value in side
    low, high = side
    return (low is None or value >= low) and (high is None or value <= high)


def length(boxes: Iterable[Box], space: Space) -> int:
    """About how many tests a cover takes to write."""
    return sum(sum(_side_length(side, space, index) for index, side in enumerate(box)) or 1 for box in boxes)


def _side_length(side: frozenset[int] | Interval | None, space: Space, index: int) -> int:
    if side is None:
        return 0
    if isinstance(side, frozenset):
        weight = 2 if index > 1 else 1  # a look back is longer to write than a letter
        return weight * max(1, min(len(side), space.sizes[index] - len(side)))
    low, high = side
    return 1 if low is None or high is None or low == high else 2


def cover(wanted: Sequence[Point], forbidden: Sequence[Point], space: Space, exact: bool = False) -> list[Box]:
    """Boxes that contain all wanted points and no forbidden one; no point may be both.

    With `exact` an interval that is used for one value only is that value.
    """
    left, orders = sorted(set(wanted)), _orders(space)
    points = sorted(set(forbidden))
    small = all(abs(value) < 2**62 for point in points + left for value in point)
    wall = np.array(points, dtype=np.int64 if small else object).reshape(-1, space.dimensions)
    columns = [wall[:, index] for index in range(space.dimensions)]
    chosen: list[Box] = []
    covered: list[list[Point]] = []
    while left:
        candidates = {_grown(seed, order, columns, space) for seed in left[:SEEDS] for order in orders}
        best = min(candidates, key=lambda box: _price(box, left, space))
        covered.append([point for point in wanted if contains(best, point)])
        left = [point for point in left if not contains(best, point)]
        chosen.append(_tight(best, covered[-1], space, exact))
    return sorted(_needed(chosen, covered), key=_sorting)


def _sorting(box: Box) -> list[tuple[int, list[int]]]:
    """An order that reads well: tests of letters in the order of the alphabet, lower intervals first."""
    keys: list[tuple[int, list[int]]] = []
    for side in box:
        if side is None:
            keys.append((1, []))
        elif isinstance(side, frozenset):
            keys.append((0, sorted(side)))
        else:
            low, high = side
            keys.append((0, [] if low is None else [low, 0 if high is None else 1]))
    return keys


def _price(box: Box, left: Sequence[Point], space: Space) -> tuple[float, str]:
    gained = sum(contains(box, point) for point in left)
    return length([box], space) / gained, repr([sorted(s) if isinstance(s, frozenset) else s for s in box])


def _tight(box: Box, points: Sequence[Point], space: Space, exact: bool) -> Box:
    """The box with what makes it easier to say: ends of intervals at the points inside, few letters.

    A set of letters is cut down to those of the points, if these are not more than the letters that it lacks. The last
    index stands for no letter: before the start, or at position 0.
    """
    sides = list(box)
    for index, side in enumerate(box):
        values = {point[index] for point in points}
        if isinstance(side, frozenset):
            none = space.sizes[index] - 1
            if index != 1 and none not in values and len(values) <= none - len(side - {none}):
                sides[index] = frozenset(values)
        elif side is not None:
            low, high = side
            if exact and len(values) == 1:
                low, high = min(values), max(values)
            sides[index] = (None if low is None else min(values), None if high is None else max(values))
    return tuple(sides)


def _needed(boxes: list[Box], covered: list[list[Point]]) -> list[Box]:
    """The boxes without those whose points all lie in others."""
    kept = list(range(len(boxes)))
    for index in range(len(boxes)):
        others = {point for other in kept if other != index for point in covered[other]}
        if all(point in others for point in covered[index]):
            kept.remove(index)
    return [boxes[index] for index in kept]


def _orders(space: Space) -> list[tuple[int, ...]]:
    """Orders in which to grow: far looks back first, then remainders, integers, the letter; and some others."""
    finite = len(space.sizes)
    usual = [*range(finite - 1, 0, -1), *range(finite, space.dimensions), 0]
    turned = [tuple(usual[i:] + usual[:i]) for i in range(len(usual))]
    return list(dict.fromkeys([*turned, *(order[::-1] for order in turned)]))[:MOST_ORDERS]


def _grown(seed: Point, order: Sequence[int], columns: Sequence["np.ndarray"], space: Space) -> Box:
    """The box around a point that has grown in each coordinate, in some order, until it would meet a forbidden point."""
    meets = [column == value for column, value in zip(columns, seed, strict=True)]
    misses = np.sum([~meet for meet in meets], axis=0)
    box: list[frozenset[int] | Interval | None] = [None] * space.dimensions
    for index in order:
        column = columns[index]
        blocked = set(column[misses - ~meets[index] == 0].tolist())
        inside = np.ones(len(column), dtype=bool)
        if blocked and index < len(space.sizes):
            side = frozenset(range(space.sizes[index])) - blocked
            box[index] = side
            inside = np.array([value in side for value in range(space.sizes[index])])[column.astype(np.int64)]
        elif blocked:
            low = max((value + 1 for value in blocked if value < seed[index]), default=None)
            high = min((value - 1 for value in blocked if value > seed[index]), default=None)
            box[index] = (low, high)
            if low is not None:
                inside &= (column >= low).astype(bool)
            if high is not None:
                inside &= (column <= high).astype(bool)
        misses = misses + ~inside - ~meets[index]
        meets[index] = inside
    return tuple(box)
