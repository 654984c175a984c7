"""Which states of an automaton the counts of a C-RASP program can tell apart.

Inside a part of an automaton let every move carry a label, so that the labels of a word so far can be counted. A linear
form  sum of weight(label) * count(label)  tells states apart, whatever loops the word went through, exactly if it is a
*potential*: a value v for each state with

    v(target) - v(source) = weight(label)      for every move.

Two states are in one class if every potential gives them one value. Then the class of its source, which counts can see,
joins the label of a move, and there are more potentials; and so on until nothing changes. Each round is one level of
nested counts.

All is exact: potentials are integers, and the classes come from the null space of a linear system over the rationals.
No cycle is ever listed.

Source: the decision procedure for regular languages of Yang et al. 2026 (arXiv 2608.13433) and its public code, which
lists simple cycles. Ours: potentials, periods and windows, and the last symbol, see docs/decide.md.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from lengthwise.exact import null_space

Move = tuple[int, int, int]  # source, letter, target; a letter has one target


@dataclass(frozen=True)
class Level:
    """One round: the classes that labels see, a basis of the potentials modulo constants on these classes, and the classes after.

    A potential of the basis is 0 at the first state of each class before.
    """

    before: tuple[int, ...]
    basis: tuple[dict[int, int], ...]  # each: its values by state, where not 0
    after: tuple[int, ...]


def levels(classes: Sequence[object], moves: Sequence[Move], most: int | None = None) -> list[Level]:
    """The rounds of refinement from some first classes on, until nothing changes; at least one."""
    found: list[Level] = []
    before = _numbered(classes)
    while most is None or len(found) < most:
        basis = _potentials(before, moves)
        values: list[list[tuple[int, int]]] = [[] for _ in before]
        for index, potential in enumerate(basis):
            for state, value in potential.items():
                values[state].append((index, value))
        after = _numbered([(old, *new) for old, new in zip(before, values, strict=True)])
        found.append(Level(before, tuple(basis), after))
        if max(after) == max(before):
            break
        before = after
    return found


def _numbered(keys: Sequence[object]) -> tuple[int, ...]:
    numbers: dict[object, int] = {}
    return tuple(numbers.setdefault(key, len(numbers)) for key in keys)


def _potentials(classes: tuple[int, ...], moves: Sequence[Move]) -> list[dict[int, int]]:
    """A basis of the potentials that are 0 at the first state of each class, for labels (class of source, letter).

    Moves s -> t and s' -> t' of one label have one weight:  x(t') - x(t) - x(s') + x(s) = 0. The sources are in one
    class, and then so are the targets, so constants on classes always solve this and are left out.
    """
    united = _Equal(len(classes))
    first: dict[int, int] = {}
    for state, number in enumerate(classes):
        if first.setdefault(number, state) == state:
            united.zero(state)
    base: dict[tuple[int, int], tuple[int, int]] = {}
    equations = []
    for source, letter, target in moves:
        s, t = base.setdefault((classes[source], letter), (source, target))
        if s != source:
            equations.append(((target, 1), (t, -1), (source, -1), (s, 1)))
    left = _without_equalities(equations, united)
    roots = sorted({root for equation in left for root in equation})
    blocks = _blocks(roots, left)
    members: dict[int, list[int]] = {}
    for state in range(len(classes)):
        members.setdefault(united.root(state), []).append(state)
    basis: list[dict[int, int]] = []
    for block, rows in blocks:
        place = {root: index for index, root in enumerate(block)}
        renamed = [{place[root]: value for root, value in row.items()} for row in rows]
        for vector in null_space(renamed, len(block)):
            basis.append({s: value for root, value in zip(block, vector, strict=True) if value for s in members[root]})
    bound = set(roots)
    basis += [dict.fromkeys(states, 1) for root, states in members.items() if root not in bound and root != united.none]
    return sorted(basis, key=lambda potential: sorted(potential))


class _Equal:
    """Unknowns known to be equal, and those known to be 0."""

    def __init__(self, count: int) -> None:
        self.parent = list(range(count + 1))
        self.last = count

    def root(self, state: int) -> int:
        while self.parent[state] != state:
            self.parent[state] = self.parent[self.parent[state]]
            state = self.parent[state]
        return state

    @property
    def none(self) -> int:
        """The root of the unknowns that are 0."""
        return self.root(self.last)

    def unite(self, one: int, two: int) -> None:
        self.parent[self.root(one)] = self.root(two)

    def zero(self, state: int) -> None:
        self.unite(state, self.last)


def _without_equalities(equations: Sequence[Sequence[tuple[int, int]]], united: _Equal) -> list[dict[int, int]]:
    """The equations between roots, once those that say x = y or x = 0 are used up."""
    reduced: list[dict[int, int]] = []
    changed = True
    while changed:
        changed, reduced, seen = False, [], set[frozenset[tuple[int, int]]]()
        for equation in equations:
            row: dict[int, int] = {}
            for state, sign in equation:
                root = united.root(state)
                if root != united.none:
                    row[root] = row.get(root, 0) + sign
            row = {root: value for root, value in row.items() if value}
            if len(row) == 1:
                united.zero(next(iter(row)))
                changed = True
            elif len(row) == 2 and sum(row.values()) == 0:
                united.unite(*row)
                changed = True
            elif row and (key := frozenset(row.items())) not in seen:
                seen.add(key)
                reduced.append(row)
    return reduced


def _blocks(roots: list[int], rows: list[dict[int, int]]) -> list[tuple[list[int], list[dict[int, int]]]]:
    """The unknowns and equations in blocks that share none."""
    linked = _Equal(max(roots, default=0) + 1)
    for row in rows:
        one, *rest = row
        for other in rest:
            linked.unite(one, other)
    blocks: dict[int, tuple[list[int], list[dict[int, int]]]] = {}
    for root in roots:
        blocks.setdefault(linked.root(root), ([], []))[0].append(root)
    for row in rows:
        blocks[linked.root(next(iter(row)))][1].append(row)
    return list(blocks.values())
