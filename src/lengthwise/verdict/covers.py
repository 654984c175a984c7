"""The last step of the search: one Boolean, or a conjunction of several, that is the target at all labelled prefixes.

Take the Booleans that hold wherever the target holds. Each rules out some of the prefixes where the target does not;
a conjunction of them is the target exactly when together they rule out all: a set cover. Disjunctions are conjunctions for
the opposite target, negated.
"""

import numpy as np
from jaxtyping import Int

from lengthwise.verdict.recipes import Recipe
from lengthwise.verdict.sample import Row, Rows, keys

MOST_KEPT = 40_000
BRANCHES = 400  # sets looked at in one search for a smaller cover, fewer where members are many
MOST_BYTES = 1 << 30  # read on the way
WIDEST = 64  # members tried for one prefix

Places = Int[np.ndarray, " places"]
Often = Int[np.ndarray, " bits"]


class Cover:
    """Booleans that hold on all of `yes`, by what they rule out of `no`; one smallest of each kind, the first 40,000.

    `best` is the smallest cover found: its size, and how its members are made.
    """

    def __init__(self, yes: Row, no: Row) -> None:
        """No members yet."""
        self.yes, self.no = yes, no
        self.recipes: list[Recipe] = []
        self.sizes: list[int] = []
        self.best: tuple[int, tuple[Recipe, ...]] | None = None
        self._out: Rows = np.zeros((256, len(no)), dtype=np.uint8)
        self._place: dict[int, int] = {}
        self._changed = False

    def offer(self, rows: Rows, recipes: list[Recipe], sizes: list[int]) -> None:
        """Keeps those that hold where they must and rule out something, if they are new or smaller."""
        sound = np.flatnonzero(((rows & self.yes) == self.yes).all(axis=1))
        if not len(sound):
            return
        out = ~rows[sound] & self.no
        useful, whole = out.any(axis=1).tolist(), (out == self.no).all(axis=1).tolist()
        for number, (place, key) in enumerate(zip(sound.tolist(), keys(out), strict=True)):
            if whole[number]:
                self._keep(sizes[place], (recipes[place],))
            known = self._place.get(key)
            if known is not None and sizes[place] < self.sizes[known]:
                self.recipes[known], self.sizes[known], self._changed = recipes[place], sizes[place], True
            elif known is None and useful[number] and len(self.recipes) < MOST_KEPT:
                self._append(out[number], key, recipes[place], sizes[place])

    def _append(self, out: Row, key: int, recipe: Recipe, size: int) -> None:
        if len(self.recipes) == len(self._out):
            self._out = np.concatenate([self._out, np.zeros_like(self._out)])
        self._out[len(self.recipes)] = out
        self._place[key] = len(self.recipes)
        self.recipes.append(recipe)
        self.sizes.append(size)
        self._changed = True

    def solve(self) -> None:
        """Looks for a smaller cover: greedily, then by branching on what few rule out, within a number of branches.

        The size of a conjunction of k members is the sum of theirs and k - 1.
        """
        out, sizes = self._out[: len(self.recipes)], np.array(self.sizes, dtype=np.int64)
        if not self._changed or (np.bitwise_or.reduce(out, axis=0) != self.no).any():
            return
        self._changed = False
        order = np.argsort(sizes, kind="stable")  # smaller members first
        out, sizes = out[order], sizes[order]
        chosen = _greedy(out, sizes, self.no)
        self._keep_all(order, chosen)
        self._branch(out, sizes, order)

    def _keep(self, size: int, recipes: tuple[Recipe, ...]) -> None:
        if self.best is None or size < self.best[0]:
            self.best = size, recipes

    def _keep_all(self, order: Places, chosen: tuple[int, ...]) -> None:
        places = [int(order[one]) for one in chosen]
        self._keep(sum(self.sizes[p] for p in places) + len(places) - 1, tuple(self.recipes[p] for p in places))

    def _branch(self, out: Rows, sizes: Places, order: Places) -> None:
        """Depth first: some member must rule out the hardest prefix that is left."""
        least, often = int(sizes[0]), _often(out)
        ahead: list[tuple[int, tuple[int, ...], Row]] = [(0, (), self.no)]
        for _ in range(min(BRANCHES, 1 + MOST_BYTES // out.nbytes)):
            if not ahead:
                return
            spent, chosen, rest = ahead.pop()
            killers = _killers(out, rest, often)
            whole = killers[((out[killers] & rest) == rest).all(axis=1)]
            if len(whole):
                self._keep_all(order, (*chosen, int(whole[0])))
            assert self.best is not None
            room = self.best[0] - spent - len(chosen) - 1 - least  # for a member that is not the last
            further = killers[sizes[killers] < room][:WIDEST].tolist()
            ahead += [(spent + int(sizes[one]), (*chosen, one), rest & ~out[one]) for one in reversed(further)]


def _greedy(out: Rows, sizes: Places, no: Row) -> tuple[int, ...]:
    """What rules out most for its size, again and again; then those are dropped that the others make superfluous."""
    rest, chosen = no.copy(), list[int]()
    words = out.view(np.uint64)
    while rest.any():
        gain = np.bitwise_count(words & rest.view(np.uint64)).sum(axis=1, dtype=np.int64)
        one = int(np.argmax(gain / (sizes + 1)))
        chosen.append(one)
        rest &= ~out[one]
    for one in sorted(chosen, key=lambda place: -int(sizes[place])):
        others = [place for place in chosen if place != one]
        if others and (np.bitwise_or.reduce(out[others], axis=0) == no).all():
            chosen = others
    return tuple(chosen)


def _often(out: Rows) -> Often:
    """How many members rule out each prefix."""
    counts = np.zeros(8 * out.shape[1], dtype=np.int64)
    for first in range(0, len(out), 4096):
        counts += np.unpackbits(out[first : first + 4096], axis=1).sum(axis=0, dtype=np.int64)
    return counts


def _killers(out: Rows, rest: Row, often: Often) -> Places:
    """The members that rule out that prefix of the rest which fewest rule out; ascending."""
    hardest = int(np.argmin(np.where(np.unpackbits(rest), often, np.iinfo(np.int64).max)))
    return np.flatnonzero(out[:, hardest >> 3] & (128 >> (hardest & 7)))
