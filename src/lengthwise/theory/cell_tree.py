"""Cells of strings and how they are split: a root, its tree, and the nodes as a certificate lists them.

Source: docs/certificate.md, section 8, cells.
"""

from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from jaxtyping import Float

from lengthwise.theory.cell_corners import Cells, edges
from lengthwise.theory.forms import Forms
from lengthwise.theory.leaf import Enclosed

UNIT = 2.0**-30  # of the ends of an enclosure in a certificate
PARTS = 16  # an edge is split at a multiple of 1 / PARTS
Split = tuple[int, ...] | str


@dataclass(eq=False)
class Node:
    """A cell: a leaf with its enclosure, or split into two.

    low, high: in units of UNIT, rounded outward. bound: the largest size of f - T there, 0 where nothing is claimed.
    reach: how large |f - T| is near its corners. next: how the cell would be split; None for a single point.
    """

    cell: Cells
    low: int
    high: int
    face: int
    reach: float
    next: Split | None
    split: Split | None = None
    children: "tuple[Node, ...]" = ()
    depth: int = 0

    @property
    def bound(self) -> int:
        """In units of UNIT."""
        return max(abs(self.low), abs(self.high))

    def written(self) -> list[int] | str:
        """The node as a certificate writes it."""
        if self.split is not None:
            return self.split if isinstance(self.split, str) else list(self.split)
        return [self.low, self.high] if self.face < 0 else [self.low, self.high, self.face]


@dataclass(eq=False)
class Root:
    """All long strings of one ending, with the tree of its cells. timed: whether a position more or less matters."""

    forms: Forms
    timed: bool
    node: Node
    leaves: int = 1

    def nodes(self) -> Iterator[Node]:
        """Every node before its children."""
        waiting = [self.node]
        while waiting:
            node = waiting.pop()
            yield node
            waiting.extend(reversed(node.children))


def whole_cell(forms: Forms, fewest: int) -> Cells:
    """The cell of a root: the corners of the allowed tokens, and t in [0, 1 / fewest], fewest the least class size."""
    corners = np.eye(forms.target.symbols)
    vertices = tuple(corners[list(tokens)][None] for tokens in forms.allowed)
    sides = None
    if forms.conditions and forms.period == 1 and not forms.apart:
        sides = np.empty((1, len(forms.allowed[0])), dtype=object)
        for place, token in enumerate(forms.allowed[0]):
            sides[0, place] = tuple(table[token][0] for table in forms.planes)
    return Cells(vertices, np.asarray([[0.0, 1.0 / fewest if is_timed(forms) else 0.0]]), sides)


def is_timed(forms: Forms) -> bool:
    """Whether a suffix is set apart or classes differ in size, so that the length matters beside the frequencies."""
    return forms.apart > 0 or any(forms.extra())


def divided(cells: Cells, splits: "Sequence[Split]") -> Cells:
    """The two children of every cell, the first children before the second.

    An edge (a, b) is split at p = (w a + (16 - w) b) / 16, or where a condition changes its sign; then b, or a, is p.
    """
    first, second = (
        Cells(tuple(q.copy() for q in cells.vertices), cells.interval.copy(), copy(cells.sides)) for _ in range(2)
    )
    for place, split in enumerate(splits):
        if isinstance(split, str):
            first.interval[place, 1] = second.interval[place, 0] = cells.interval[place].mean()
            continue
        axis, a, b, w = split
        share = Fraction(w, PARTS)
        if cells.sides is not None:
            of_a, of_b = cells.sides[place, a], cells.sides[place, b]
            if w < 0:
                at_a, at_b = (abs(values[-1 - w]) for values in (of_a, of_b))
                share = at_b / (at_a + at_b)
            sides = tuple(share * x + (1 - share) * y for x, y in zip(of_a, of_b, strict=True))
            assert first.sides is not None
            assert second.sides is not None
            first.sides[place, b] = second.sides[place, a] = sides
        q = cells.vertices[axis][place]
        point = float(share) * q[a] + float(1 - share) * q[b]
        first.vertices[axis][place, b], second.vertices[axis][place, a] = point, point
    return Cells.joined([first, second])


def chosen_splits(forms: Forms, found: Enclosed, shape: tuple[int, ...]) -> "list[Split | None]":
    """How to split every cell: where a condition changes its sign if there is such an edge, else where most is gained."""
    listed = edges(shape)
    splits: list[Split | None] = []
    if not listed:
        return [None] * len(found.low)
    plain = len(shape) == 2 and shape[-1] == 1 and not forms.apart
    best = found.score.argmax(1)
    grid = found.masses.reshape(len(best), *shape)
    for place, choice in enumerate(best):
        crossing = _crossing(found.conditions[place]) if plain and forms.conditions else None
        if crossing is not None:
            splits.append(crossing)
            continue
        axis, a, b = listed[choice]
        if axis == len(shape) - 1:
            splits.append("t")
            continue
        mass = [float(np.take(grid[place], end, axis=axis).mean()) for end in (a, b)]
        share = mass[1] / (mass[0] + mass[1]) if sum(mass) > 0 else 0.5
        splits.append((axis, a, b, min(PARTS - 1, max(1, round(PARTS * share)))))
    return splits


def _crossing(conditions: Float[np.ndarray, "corners conditions"]) -> Split | None:
    """The first condition that changes its sign along an edge, with the edge."""
    for k in range(conditions.shape[1]):
        below, above = np.flatnonzero(conditions[:, k] < 0), np.flatnonzero(conditions[:, k] > 0)
        if len(below) and len(above):
            a, b = sorted((int(below[0]), int(above[0])))
            return (0, a, b, -1 - k)
    return None


def possible(root: Root, node: Node, entry: object) -> Split | None:
    """The split that an entry of an earlier certificate is, if this cell can be split so."""
    if entry == "t":
        return "t" if root.timed else None
    if not isinstance(entry, list) or len(entry) != 4 or any(type(value) is not int for value in entry):
        return None
    axis, a, b, w = entry
    if not (0 <= axis < root.forms.period and 0 <= a < b < node.cell.vertices[axis].shape[1] and w < PARTS and w):
        return None
    if w < 0:
        if node.cell.sides is None or -1 - w >= root.forms.conditions:
            return None
        of_a, of_b = (node.cell.sides[0, place][-1 - w] for place in (a, b))
        if of_a * of_b >= 0:
            return None
    return axis, a, b, w
