"""Cells of strings and how they are split: a root, its tree, and the nodes as a certificate lists them.

Source: docs/certificate.md, section 8, cells.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from lengthwise.theory.forms import Forms
from lengthwise.theory.leaf import ZERO, Cells, Enclosed, edges

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
    return Cells(vertices, np.asarray([[0.0, 1.0 / fewest if is_timed(forms) else 0.0]]))


def is_timed(forms: Forms) -> bool:
    """Whether a suffix is set apart or classes differ in size, so that the length matters beside the frequencies."""
    return forms.apart > 0 or any(forms.extra())


def divided(cells: Cells, splits: "list[Split]", conditions: Float[np.ndarray, "cells corners conditions"]) -> Cells:
    """The two children of every cell, the first children before the second.

    An edge (a, b) is split at p = (w a + (16 - w) b) / 16, or where a condition changes its sign; then b, or a, is p.
    """
    first = [q.copy() for q in cells.vertices]
    second = [q.copy() for q in cells.vertices]
    ends = cells.interval.copy(), cells.interval.copy()
    for place, split in enumerate(splits):
        if isinstance(split, str):
            middle = cells.interval[place].mean()
            ends[0][place, 1] = ends[1][place, 0] = middle
            continue
        axis, a, b, w = split
        share = w / PARTS
        if w < 0:
            at_a, at_b = (abs(conditions[place, corner, -1 - w]) for corner in (a, b))
            share = at_b / (at_a + at_b)
        q = cells.vertices[axis][place]
        point = share * q[a] + (1 - share) * q[b]
        first[axis][place, b], second[axis][place, a] = point, point
    return Cells.joined([Cells(tuple(first), ends[0]), Cells(tuple(second), ends[1])])


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
        below, above = np.flatnonzero(conditions[:, k] < -ZERO), np.flatnonzero(conditions[:, k] > ZERO)
        if len(below) and len(above):
            a, b = sorted((int(below[0]), int(above[0])))
            return (0, a, b, -1 - k)
    return None
