"""Walks the tree of a root: cells by splitting, every leaf's claim against its enclosure. Section 8 of the format, Cells."""

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import product
from math import gcd, lcm
from operator import mul
from typing import Any

from .corner import Corner, Scene
from .leaf import enclosure
from .model import LARGEST
from .reader import Refused, Unreadable, shown, upward
from .words import decimal

LEAF = 30  # binary places of a leaf's claim
SPLIT = 16  # parts of an edge
REMEMBERED = 1_000_000  # integers kept with corners that neighbours share


@dataclass(frozen=True, slots=True, eq=False)
class Vertex:
    """A point of the simplex over one denominator."""

    q: tuple[int, ...]
    below: int


@dataclass(frozen=True, slots=True)
class Cell:
    """Vertices by residue, and the interval of t."""

    vertices: tuple[tuple[Vertex, ...], ...]
    low: Fraction
    high: Fraction


def whole_root(symbols: int, allowed: list[list[int]], high: Fraction) -> Cell:
    """The corners of the allowed tokens by residue, and [0, high]."""
    corners = [[Vertex(tuple(int(s == token) for s in range(symbols)), 1) for token in own] for own in allowed]
    return Cell(tuple(map(tuple, corners)), Fraction(0), high)


class Walk:
    """The tree of one root; `one_more` has a 1 by residue where a class has C + 1 positions, 0 where it has C."""

    def __init__(self, scene: Scene, one_more: list[int]) -> None:
        self.scene, self.one_more = scene, one_more
        self.near = len(scene.over) - len(scene.case.types)
        columns = len(scene.base) * len(scene.weights)
        self.corner = lru_cache(max(64, REMEMBERED // columns))(self._corner)

    def check(self, start: Cell, tree: list[Any], where: str) -> None:
        """Every node in its turn, on a stack of cells still to come."""
        cells = [start]
        for index, node in enumerate(tree):
            place = f"{where}, node {index}"
            if not cells:
                raise Unreadable("a tree that ends where all cells are leaves", "a superfluous node", place)
            cell = cells.pop()
            if isinstance(node, str):
                if node != "t":
                    raise Unreadable('a list or "t"', shown(node), place)
                middle = (cell.low + cell.high) / 2
                if cell.low == cell.high or middle.denominator > LARGEST:
                    raise Refused(f"{place}: the interval is a point, or too short to be halved")
                cells += [Cell(cell.vertices, middle, cell.high), Cell(cell.vertices, cell.low, middle)]
            elif not isinstance(node, list) or not 2 <= len(node) <= 4 or any(type(v) is not int for v in node):
                raise Unreadable("a list of 2 to 4 integers", shown(node), place)
            elif len(node) == 4:
                one, two = self._split(cell, node, place)
                cells += [two, one]
            else:
                self._leaf(cell, node, place)
        if cells:
            raise Unreadable("a node for every cell", "a tree that ends before", f"{where}, node {len(tree)}")

    def _corner(self, vertices: tuple[Vertex, ...], t: Fraction) -> Corner:
        """n_(s,r) = (1 + e_r t) q_(s,r), and t of every suffix token, times a common denominator."""
        below, top, bottom = lcm(*(v.below for v in vertices)), t.numerator, t.denominator
        counts = []
        for vertex, more in zip(vertices, self.one_more, strict=True):
            factor = below // vertex.below * (bottom + more * top)
            counts += [factor * q for q in vertex.q]
        return self.scene.at(counts + [below * top] * self.near)

    def corners(self, cell: Cell) -> list[Corner]:
        """One vertex a residue, and one end of the interval."""
        ends = [cell.low] if cell.low == cell.high else [cell.low, cell.high]
        return [self.corner(vertices, t) for vertices in product(*cell.vertices) for t in ends]

    def _split(self, cell: Cell, node: list[int], place: str) -> tuple[Cell, Cell]:
        r, a, b, cut = node
        if not 0 <= r < len(cell.vertices) or not 0 <= a < b < len(cell.vertices[r]) or not cut < SPLIT or not cut:
            raise Refused(f"{place}: [residue, a, b, cut] does not name an edge of the cell and a point inside it")
        own = cell.vertices[r]
        point = self._point(own[a], own[b], cut, place)
        one, two = ((*own[:k], point, *own[k + 1 :]) for k in (b, a))
        before, after = cell.vertices[:r], cell.vertices[r + 1 :]
        return Cell((*before, one, *after), cell.low, cell.high), Cell((*before, two, *after), cell.low, cell.high)

    def _point(self, a: Vertex, b: Vertex, cut: int, place: str) -> Vertex:
        if cut > 0:
            below = lcm(a.below, b.below)
            first, second, under = cut * (below // a.below), (SPLIT - cut) * (below // b.below), SPLIT * below
        else:
            if self.near or len(self.one_more) > 1 or -1 - cut >= len(self.scene.conditions):
                raise Refused(f"{place}: there is no such condition, or period 1 and no suffix would be needed")
            row = self.scene.conditions[-1 - cut]
            at_a, at_b = (sum(map(mul, row, v.q)) for v in (a, b))
            if at_a * at_b >= 0:
                raise Refused(f"{place}: the condition does not change its sign on the edge")
            first, second = abs(at_b), abs(at_a)
            under = first * a.below + second * b.below
        q = [first * x + second * y for x, y in zip(a.q, b.q, strict=True)]
        common = gcd(under, *q)
        if under // common > LARGEST:
            raise Unreadable("vertices with a common denominator up to 2^1100", "a larger one", place)
        return Vertex(tuple(v // common for v in q), under // common)

    def _leaf(self, cell: Cell, node: list[int], place: str) -> None:
        low, high, *conditions = node
        error, corners = self.scene.case.error, self.corners(cell)
        if low > high or max(-low, high) > error * (1 << LEAF):
            raise Refused(f"{place}: the leaf's claim is empty or exceeds the error {upward(error)}")
        if conditions:
            [k] = conditions
            if not 0 <= k < len(self.scene.conditions):
                raise Refused(f"{place}: there is no condition {k}")
            signs = [sum(map(mul, self.scene.conditions[k], c.counts)) for c in corners]
            if max(signs) > 0:
                raise Refused(f"{place}: condition {k} holds at a corner, and not only just")
            corners = [c for c, sign in zip(corners, signs, strict=True) if not sign]
        try:
            found = enclosure(self.scene, corners) if corners else None
        except Refused as refusal:
            raise Refused(f"{place}: {refusal}") from None
        shift = self.scene.network.digits - LEAF
        if found and not low << shift <= found[0] <= found[1] <= high << shift:
            least, most = (
                decimal(Fraction(v, 1 << shift + LEAF), up) for v, up in zip(found, (False, True), strict=True)
            )
            raise Refused(f"{place}: the difference is only known to be between {least} and {most}")
