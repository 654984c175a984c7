"""Cells of strings, many at once, and what the forms of an ending are at their corners.

Source: docs/certificate.md, section 8, cells and the enclosure of a leaf.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
from jaxtyping import Float, Shaped

from lengthwise.theory.forms import Forms

TINY = 1e-300
UNSURE = 2.0**-36  # a sum that is smaller than that beside its terms may have the other sign


@dataclass(frozen=True, eq=False)
class Cells:
    """Some cells of one root: vertices[residue] has one point of the simplex a vertex; interval: the ends of t.

    sides: the exact value of every condition at every vertex, where there are conditions, one residue and no suffix.
    """

    vertices: tuple[Float[np.ndarray, "cells _ symbols"], ...]
    interval: Float[np.ndarray, "cells 2"]
    sides: Shaped[np.ndarray, "cells _"] | None = None

    def __len__(self) -> int:
        """How many cells."""
        return len(self.interval)

    def pick(self, places: Any) -> "Cells":
        """Some of them."""
        sides = None if self.sides is None else self.sides[places]
        return Cells(tuple(q[places] for q in self.vertices), self.interval[places], sides)

    @classmethod
    def joined(cls, several: "Sequence[Cells]") -> "Cells":
        """All of several."""
        vertices = zip(*(cells.vertices for cells in several), strict=True)
        sides = [cells.sides for cells in several if cells.sides is not None]
        intervals = np.concatenate([cells.interval for cells in several])
        return cls(tuple(map(np.concatenate, vertices)), intervals, np.concatenate(sides) if sides else None)


@dataclass(frozen=True, eq=False)
class Corners:
    """The corners of cells; axis 1 runs over the choices of one vertex a residue and of an end of t.

    values: every form. shape: the number of vertices of each residue, then of the ends of t.
    """

    values: Float[np.ndarray, "cells corners forms"]
    shape: tuple[int, ...]


def corners_of(forms: Forms, cells: Cells, timed: bool) -> Corners:
    """The forms at all corners; a condition's value is 0 or negative only where it certainly is."""
    shape = (*(q.shape[1] for q in cells.vertices), 2 if timed else 1)
    values = _at_corners(forms, cells, timed, forms.types, forms.own)
    count = forms.conditions
    if cells.sides is not None:
        for k in range(count):
            values[..., k - count] = [[_float(sides[k]) for sides in row] for row in cells.sides]
    elif count:
        sizes = _at_corners(forms, cells, timed, np.abs(forms.types[-count:]), np.abs(forms.own[-count:]))
        unsure = np.abs(values[..., -count:]) <= UNSURE * sizes  # where all terms are 0 so is the sum
        values[..., -count:] = np.where(unsure, UNSURE * sizes, values[..., -count:])
    return Corners(values, shape)


def _at_corners(forms: Forms, cells: Cells, timed: bool, types: Any, own: Any) -> Any:
    """Linear forms at n_(s,r) = (1 + e_r t) q_(s,r), and t times the suffix."""
    ends = cells.interval if timed else cells.interval[:, :1]
    ends = ends[:, :, None]  # cells, ends, 1
    total = ends * own
    for residue, (q, extra) in enumerate(zip(cells.vertices, forms.extra(), strict=True)):
        here = q @ types[:, residue].T  # cells, vertices, forms
        grown = here[:, :, None, :] * (1 + extra * ends)[:, None]  # cells, vertices, ends, forms
        before = total.reshape(len(cells), -1, 1, ends.shape[1], total.shape[-1])
        total = (before + grown[:, None]).reshape(len(cells), -1, total.shape[-1])
    return total


def _float(value: Fraction) -> float:
    """Of the same sign."""
    return float(value) or math.copysign(TINY, value) * bool(value)


def edges(shape: Sequence[int]) -> list[tuple[int, int, int]]:
    """Every pair of vertices of one residue, and of the ends of t: (axis, first, second)."""
    return [(axis, a, b) for axis, size in enumerate(shape) for a, b in combinations(range(size), 2)]
