"""The worst long string of two small models: how long the shortest stand-in can get, between two proven ends."""

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from lengthwise.errors import WrongInput
from lengthwise.limit.model import LimitTransformer
from lengthwise.theory.budgets import Budgets, QueryBudget, query_budgets
from lengthwise.theory.cells import HeadShare
from lengthwise.theory.count_cones import CountCone, Vector
from lengthwise.theory.worst_string import MOST_CELLS, Bracket, worst_class_size

MOST_CASES = 20_000  # query types, endings and supports


@dataclass(frozen=True)
class Case:
    """Long strings with one query type, ending and support, as far as the heads tell them apart."""

    cone: CountCone
    heads: tuple[HeadShare, ...]
    rest: int  # M mod Delta
    enough: int  # ceil(B), a class size that Theorem 1 promises


@dataclass(frozen=True)
class WorstCase:
    """The length that the shortest stand-in of the worst string has, in total variation: at least .. at most.

    at_most is that of Theorem 1 where the covering of some case was not finished. The hardmax threshold is another
    matter: it is not in these numbers. witness: counts by type in the reduced case, where types that no head attends to are merged, and the weight of a
    suffix position.
    """

    at_least: int
    at_most: int
    witness: Vector | None
    cases: int
    cells: int

    def __str__(self) -> str:
        """The bracket in words."""
        return str(Bracket(self.at_least, self.at_most, self.witness, self.cells))


def worst_case(
    first: LimitTransformer, second: LimitTransformer, error: Fraction | float | str, cells: int = MOST_CELLS
) -> WorstCase:
    """The bracket for sup over long strings of the shortest stand-in with the same ending and no new type.

    Every head group keeps its budget of `query_budgets` in total variation, as in Theorem 1; so at_most is never above
    the N of Theorem 2 without its threshold, and at_least says how far another proof of this kind could get. `cells`
    limits the work on each case. Source: one-layer note, section 9.
    """
    budgets = query_budgets(first, second, error)
    least, most, witness, spent = 0, 0, None, 0
    found = list(dict.fromkeys(_cases(budgets)))
    for case in found:
        bracket = worst_class_size(case.cone, case.heads, cells)
        spent += bracket.cells
        base = budgets.locality + 1 + case.rest
        if base + budgets.period * bracket.at_least > least:
            least, witness = base + budgets.period * bracket.at_least, bracket.witness
        size = case.enough if bracket.at_most is None else min(bracket.at_most, case.enough)
        most = max(most, base + budgets.period * size)
    return WorstCase(least, most, witness, len(found), spent)


def _cases(budgets: Budgets) -> Iterator[Case]:
    """All cases: a query type, the tokens of the ending, and which tokens occur in each class."""
    symbols, period, locality = budgets.symbols, budgets.period, budgets.locality
    supports = [tokens for size in range(1, symbols + 1) for tokens in itertools.combinations(range(symbols), size)]
    number = len(budgets.queries) * symbols**locality * len(supports) ** period
    if number > MOST_CASES:
        wanted = f"models with at most {MOST_CASES} query types, endings and supports"
        raise WrongInput(wanted, f"{number}", "the worst case is searched for small models only", "models")
    for query in budgets.queries:
        for ending in itertools.product(range(symbols), repeat=locality):
            for support in itertools.product(supports, repeat=period):
                yield _reduced(query, (query.token, *ending), support, locality)


def _reduced(query: QueryBudget, ending: tuple[int, ...], support: tuple[tuple[int, ...], ...], locality: int) -> Case:
    """A case without the classes that no head attends to, and with one type for all that none attends to in a class.

    Where one class is all that counts, and is no larger than others, even these are left out: a short string needs
    none of them.
    """
    period = query.period
    present = [token * period + residue for residue, tokens in enumerate(support) for token in tokens]
    attended = []
    for group in query.acting:
        options = group.slots
        suffix = [logits[ending[offset] if offset else 0] for offset, logits in enumerate(options.suffix) if logits]
        top = max([options.prefix[t] for t in present] + suffix)
        types = frozenset(t for t in present if options.prefix[t] == top)
        if types:
            attended.append((types, suffix.count(top), group.budget))
    kept = frozenset().union(*(types for types, _, _ in attended))
    rest = (query.residue - locality - 1) % period
    places: dict[int, int] = {}
    sizes: list[int] = []
    larger: list[bool] = []
    classes = {t % period for t in kept}
    for residue in sorted(classes):
        filler = len(classes) > 1 or 1 <= residue <= rest
        own = [t for t in present if t % period == residue and (t in kept or filler)]
        start = sum(sizes)
        places |= {t: start + place for place, t in enumerate(t for t in own if t in kept)}
        sizes.append(len(kept.intersection(own)) + (not kept.issuperset(own)))
        larger.append(1 <= residue <= rest)
    suffixed = any(ties for _, ties, _ in attended)
    heads = {HeadShare(tuple(sorted(places[t] for t in types)), ties, eta) for types, ties, eta in attended}
    ordered = sorted(heads, key=lambda head: (head.places, head.suffix, head.budget))
    return Case(CountCone(tuple(sizes), tuple(larger), suffixed), tuple(ordered), rest, math.ceil(query.class_size))
