"""From the Booleans that were enumerated to a program: each as it is and counted, for the target and for its opposite."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from lengthwise.crasp.syntax import And, Boolean, Not, Or
from lengthwise.verdict.candidates import Bank, pieces
from lengthwise.verdict.covers import Cover
from lengthwise.verdict.recipes import Recipe, cost, expression, size
from lengthwise.verdict.sample import pack

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
        """Comparisons of the counts with their least and largest value where they must hold: those rule out most."""
        counts = self.bank.sample.count(self.bank.rows[places.start : places.stop])
        overall = counts.max(axis=1)
        for cover, labelled in zip((self.target, self.opposite), self._labelled, strict=True):
            there = counts[:, labelled]
            least, most = there.min(axis=1), there.max(axis=1)
            for relation, constants, useful in (
                ("==", least, least == most),
                (">=", least, (least > 0) & (least < most)),
                ("<=", most, (least < most) & (most < overall)),
            ):
                rows = np.flatnonzero(useful)
                if not len(rows):
                    continue
                bounds = constants[rows]
                recipes: list[Recipe] = [
                    ("sum", ((1, places[row]),), relation, bound)
                    for row, bound in zip(rows.tolist(), bounds.tolist(), strict=True)
                ]
                truth = COMPARED[relation](counts[rows], bounds[:, None])
                sizes = [size + 2 + (_cost if cover is self.target else _cost_opposite)(recipe) for recipe in recipes]
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
