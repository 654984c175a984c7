"""From the Booleans that were enumerated to a program: each as it is and counted, for the target and for its opposite."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from lengthwise.crasp.syntax import And, Boolean, Not, Or
from lengthwise.verdict.candidates import Bank, pieces
from lengthwise.verdict.covers import Cover
from lengthwise.verdict.recipes import Recipe, Terms, cost, expression, size
from lengthwise.verdict.sample import Counts, Truths, pack

MOST_DIFFERENCES = 50_000
FEW = 512  # prefixes that are looked at before all
COMPARED: dict[str, Callable[..., Any]] = {"==": np.equal, ">=": np.greater_equal, "<=": np.less_equal}


class Closing:
    """Two covers: conjunctions that are the target, and conjunctions that are its opposite."""

    def __init__(self, bank: Bank) -> None:
        """Nothing offered yet."""
        sample = bank.sample
        self.bank = bank
        self.target, self.opposite = Cover(sample.yes, sample.no), Cover(sample.no, sample.yes)
        self._labelled = [np.flatnonzero(sample.unpack(one[None])[0]) for one in (sample.yes, sample.no)]
        self._offered = 0

    def offer_new(self, size: int) -> None:
        """Offers the Booleans that the bank has got since the last time, all of one size."""
        for one in pieces(range(self._offered, len(self.bank)), self.bank.piece()):
            rows = self.bank.rows[one.start : one.stop]
            recipes = self.bank.recipes[one.start : one.stop]
            self.target.offer(rows, recipes, [size] * len(rows))
            self.opposite.offer(rows, recipes, [size + _more(recipe) for recipe in recipes])
            self._offer_counts(one, size)
        self._offered = len(self.bank)

    def _offer_counts(self, places: range, size: int) -> None:
        """Comparisons of the counts of these Booleans with a constant."""
        counts = self.bank.sample.count(self.bank.rows[places.start : places.stop])
        self._offer_compared(counts, [(((1, place),), size + 2) for place in places])

    def offer_differences(self, size: int) -> Iterator[None]:
        """Offers count(P) - count(Q) R c for all Booleans of at most this size, ahead of their turn, if they are few.

        Stops after every piece of work.
        """
        many = self.bank.starts[size + 1]
        if many * (many - 1) // 2 > MOST_DIFFERENCES:
            return
        sizes = [one for one in range(1, size + 1) for _ in self.bank.of_size(one)]
        counts = self.bank.sample.count(self.bank.rows[:many])
        for left in range(many):
            for some in pieces(range(left + 1, many), self.bank.piece()):
                differences = counts[left] - counts[some.start : some.stop]
                names: list[tuple[Terms, int]] = [
                    (((1, left), (-1, right)), sizes[left] + sizes[right] + 3) for right in some
                ]
                self._offer_compared(differences, names)
            yield

    def _offer_compared(self, counts: Counts, forms: Sequence[tuple[Terms, int]]) -> None:
        """Comparisons with the least and largest value where they must hold: those rule out most.

        `forms` are the counts' terms, and the size of a comparison with 0.
        """
        lowest, highest = counts.min(axis=1), counts.max(axis=1)
        for cover, labelled in zip((self.target, self.opposite), self._labelled, strict=True):
            few = counts[:, labelled[:: 1 + len(labelled) // FEW]]
            maybe = np.flatnonzero((few.min(axis=1) > lowest) | (few.max(axis=1) < highest))
            if not len(maybe):
                continue
            there = counts[np.ix_(maybe, labelled)]
            least, most = there.min(axis=1), there.max(axis=1)
            for relation, constants, useful in (
                ("==", least, (least == most) & (lowest < highest)[maybe]),
                (">=", least, (lowest[maybe] < least) & (least < most)),
                ("<=", most, (least < most) & (most < highest[maybe])),
            ):
                rows, bounds = maybe[useful], constants[useful]
                if len(rows):
                    truth = COMPARED[relation](counts[rows], bounds[:, None])
                    self._offer_bounds(cover, relation, truth, [forms[row] for row in rows.tolist()], bounds.tolist())

    def _offer_bounds(
        self, cover: Cover, relation: str, truth: Truths, forms: Sequence[tuple[Terms, int]], bounds: list[int]
    ) -> None:
        recipes: list[Recipe] = [
            ("sum", terms, relation, bound) for (terms, _), bound in zip(forms, bounds, strict=True)
        ]
        worth = _cost if cover is self.target else _cost_opposite
        sizes = [size + worth(recipe) for (_, size), recipe in zip(forms, recipes, strict=True)]
        cover.offer(pack(truth), recipes, sizes)

    def best(self) -> Boolean | None:
        """The smallest program found so far."""
        found: list[Boolean] = []
        for cover in (self.target, self.opposite):
            cover.solve()
            if cover.best is None:
                continue
            if cover is self.target:
                found.append(joined(And, [self._expression(recipe) for recipe in cover.best[1]]))
            else:
                found.append(joined(Or, [self._negated(recipe) for recipe in cover.best[1]]))
        return min(found, key=size, default=None)

    def _expression(self, recipe: Recipe) -> Boolean:
        return expression(self.bank.recipes, recipe, self.bank.alphabet)

    def _negated(self, recipe: Recipe) -> Boolean:
        """The negation, without `not` where the recipe has one, or compares."""
        match recipe:
            case ("not", int(place)):
                return self._expression(self.bank.recipes[place])
            case (*_, _, int(_)) if recipe[0] in ("sum", "recent"):
                return self._expression(turned(recipe))
        return Not(self._expression(recipe))


def turned(recipe: Recipe) -> Recipe:
    """The comparison that holds where this one does not."""
    *rest, relation, constant = recipe
    assert isinstance(constant, int)
    opposite = {"==": ("!=", 0), "!=": ("==", 0), ">=": ("<=", -1), "<=": (">=", 1)}
    other, step = opposite[str(relation)]
    return (*rest, other, constant + step)


def _cost(recipe: Recipe) -> int:
    """What the constant of a comparison adds to its size."""
    constant = recipe[-1]
    assert isinstance(constant, int)
    return cost(constant)


def _cost_opposite(recipe: Recipe) -> int:
    return _cost(turned(recipe))


def _more(recipe: Recipe) -> int:
    """What negation adds to a size."""
    if recipe[0] in ("sum", "recent"):
        return _cost_opposite(recipe) - _cost(recipe)
    return -1 if recipe[0] == "not" else 1


def joined(join: type[And] | type[Or], parts: Sequence[Boolean]) -> Boolean:
    """All parts, or one of them."""
    found = parts[0]
    for part in parts[1:]:
        found = join(found, part)
    return found
