"""How much attention error every head of two models may have on a short string, query type by query type.

The error that a user allows is shared among the groups of heads that attend alike; heads that cannot move the output
are ignored, heads that cannot move it by much are declared free. What is left decides how long the short string is.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import chain, product
from math import inf, prod

from lengthwise.errors import WrongInput
from lengthwise.limit.margins import HardmaxThreshold, Margin, slots_margin, threshold_at
from lengthwise.limit.model import LimitTransformer
from lengthwise.limit.patterns import Comparison, Pattern
from lengthwise.limit.tables import Slots
from lengthwise.theory.answer import NoBoundHolds
from lengthwise.theory.pair import allowed_error, check_pair

HeadOf = tuple[int, int]  # (model, head)
_ZERO = Fraction(0)


@dataclass(frozen=True)
class ActingGroup:
    """Equivalent heads (model, head), the sum of their sensitivities, their budget in (0, 1), one head's slots."""

    heads: tuple[HeadOf, ...]
    sensitivity: Fraction
    budget: Fraction
    slots: Slots


@dataclass(frozen=True)
class Gap:
    """The smallest gap below the largest logit of an acting head, and log2 of the length that makes it a hardmax."""

    head: HeadOf
    margin: Margin
    log2_length: Fraction


@dataclass(frozen=True)
class QueryBudget:
    """The budgets of one query type, and the constants of Theorems 1 and 2 that follow from them.

    types: S, tokens times period. acting: the groups that must be served; free: heads whose sensitivity was charged to
    the error; ignored: heads of sensitivity 0. gap: of the acting head that needs the longest string; None if none.
    """

    token: int
    residue: int
    types: int
    period: int
    acting: tuple[ActingGroup, ...]
    free: tuple[HeadOf, ...]
    ignored: tuple[HeadOf, ...]
    gap: Gap | None

    @cached_property
    def suffix_ties(self) -> int:
        """Bbar: at least the number of suffix positions that a group can attend together with the prefix."""
        return max((suffix_ties(group.slots) for group in self.acting), default=0)

    @cached_property
    def offset(self) -> Fraction:
        """C = S/2 + Delta - 1 + bbar: what every scale may be wrong by before any group is placed."""
        return Fraction(self.types, 2) + self.period - 1 + self.suffix_ties

    @cached_property
    def raised_offset(self) -> Fraction:
        """c~ = c + (S/2) eta_max / (1 + eta_max)."""
        return raised_offset(self.offset, self.types, [group.budget for group in self.acting])

    @cached_property
    def class_size(self) -> Fraction:
        """B: a short string with ceil(B) positions in every class serves all groups."""
        return class_size(self.offset, self.types, [group.budget for group in self.acting])


@dataclass(frozen=True)
class Budgets:
    """The budgets of every query type (token, residue), in the order token * period + residue, and what they share."""

    queries: tuple[QueryBudget, ...]
    symbols: int
    period: int
    locality: int

    def at(self, token: int, residue: int) -> QueryBudget:
        """The budget of one query type; any position's residue may be given."""
        return self.queries[token * self.period + residue % self.period]

    @cached_property
    def largest(self) -> QueryBudget:
        """The query type with the largest B."""
        return max(self.queries, key=lambda query: query.class_size)

    @cached_property
    def gap(self) -> Gap | None:
        """The gap that decides the hardmax threshold."""
        gaps = (query.gap for query in self.queries if query.gap is not None)
        return max(gaps, key=lambda gap: gap.log2_length, default=None)

    @cached_property
    def threshold(self) -> HardmaxThreshold:
        """The length from which rounding leaves every acting head a hardmax, as far as logits decide."""
        return threshold_at(_ZERO if self.gap is None else self.gap.log2_length)

    @cached_property
    def least_length(self) -> int | None:
        """n0 = max(ceil(2^(p / gamma#)), tau + 1 + Delta); None where it is too large to write out."""
        length = self.threshold.length
        return None if length is None else max(length, self.locality + 1 + self.period)


def query_budgets(first: LimitTransformer, second: LimitTransformer, error: Fraction | float | str) -> Budgets:
    """The budgets of all query types for an error.

        for each (y, i):  groups = heads with L > 0, by comparison pattern;  rest = error
                          while the smallest L_G <= rest / (number of groups): rest -= L_G, the group is free
                          eta_G = rest / (number of groups * L_G)                                      all < 1

    so that sum over free L + sum over groups L_G eta_G = error. Source: one-layer note, sections 3 and 6
    (certificate_N). All numbers are exact rationals.
    Ours: the gap is that of acting heads at their own query type alone. A short string has the query type of the long
    one, and Lemma 3 charges a free head with its whole sensitivity, whatever it attends to.
    """
    check_pair(first, second)
    return budgets_of(Comparison(first, second), allowed_error(error))


def budgets_of(comparison: Comparison, error: Fraction) -> Budgets:
    """The same for two models whose heads are already compared."""
    queries = product(range(comparison.symbols), range(comparison.period))
    found = tuple(_budget(comparison, error, token, residue) for token, residue in queries)
    return Budgets(found, comparison.symbols, comparison.period, comparison.locality)


def query_budget(
    first: LimitTransformer, second: LimitTransformer, error: Fraction | float | str, token: int, residue: int
) -> QueryBudget:
    """The budget of one query type."""
    check_pair(first, second)
    comparison = Comparison(first, second)
    return _budget(comparison, allowed_error(error), token, residue % comparison.period)


def suffix_ties(options: Slots) -> int:
    """Offsets that have an option equal to some prefix logit: no more can be attended together with the prefix."""
    prefix = set(options.prefix)
    return sum(not prefix.isdisjoint(slot) for slot in options.suffix)


def class_size(offset: Fraction, types: int, budgets: Iterable[Fraction]) -> Fraction:
    """B = c~ prod over the min(K, S) smallest eta of (1 + 1/eta) - c,  c~ = c + (S/2) eta_max/(1 + eta_max).

    eta_max over all of them; 0 without any. Source: one-layer note, Theorem 1. It grows when a budget is added, and
    while there are no more budgets than types also when one shrinks: c~ (1 + 1/eta_max) = c (1 + 1/eta_max) +
    S/(2 eta_max).
    """
    ascending = sorted(budgets)
    factors = (1 + 1 / budget for budget in ascending[:types])
    return raised_offset(offset, types, ascending) * prod(factors, start=Fraction(1)) - offset if ascending else _ZERO


def raised_offset(offset: Fraction, types: int, budgets: Iterable[Fraction]) -> Fraction:
    """c~ = c + (S/2) eta_max / (1 + eta_max); c without budgets."""
    largest = max(budgets, default=_ZERO)
    return offset + Fraction(types, 2) * largest / (1 + largest)


def shared(error: Fraction, sensitivities: Iterable[Fraction]) -> tuple[Fraction, int]:
    """The equal share of the error that is left for each group which is not free, and how many groups are free.

    sensitivities ascending. The share is 0 where every group is free.
    """
    ascending, rest = list(sensitivities), error
    for number, smallest in enumerate(ascending):
        acting = len(ascending) - number
        if smallest > rest / acting:
            return rest / acting, number
        rest -= smallest
    return _ZERO, len(ascending)


def moving_patterns(comparison: Comparison, token: int, residue: int) -> list[Pattern]:
    """The groups of equivalent heads that can move the output, least sensitivity first."""
    slopes = comparison.sensitivities
    moving = [pattern for pattern in comparison.patterns(token, residue) if pattern.sensitivity]
    if any(pattern.sensitivity == inf for pattern in moving):
        raise NoBoundHolds("a head feeds a Heaviside step, so its sensitivity is infinite and no error can be shared")
    kept = (Pattern(tuple(h for h in one.heads if slopes[h]), one.sensitivity, one.slots) for one in moving)
    return sorted(kept, key=lambda pattern: pattern.sensitivity)


def _budget(comparison: Comparison, error: Fraction, token: int, residue: int) -> QueryBudget:
    ascending = moving_patterns(comparison, token, residue)
    share, free = shared(error, (Fraction(pattern.sensitivity) for pattern in ascending))
    acting = tuple(
        ActingGroup(one.heads, Fraction(one.sensitivity), share / Fraction(one.sensitivity), one.slots)
        for one in ascending[free:]
    )
    return QueryBudget(
        token,
        residue,
        comparison.types,
        comparison.period,
        acting,
        tuple(sorted(chain(*(pattern.heads for pattern in ascending[:free])))),
        tuple(sorted(head for head, slope in comparison.sensitivities.items() if not slope)),
        _gap(comparison, token, residue, acting),
    )


def _gap(comparison: Comparison, token: int, residue: int, acting: tuple[ActingGroup, ...]) -> Gap | None:
    """Equivalent heads have the same attended sets and their own gaps, so every head of a group is asked."""
    gaps = []
    for head in chain(*(group.heads for group in acting)):
        bits = comparison.models[head[0]].bits
        if bits is None:
            raise WrongInput("models with bits", "none", "without rounding no head becomes a hardmax; set bits", "bits")
        margin = slots_margin(comparison.slots(head, token, residue))
        gaps.append(Gap(head, margin, Fraction(0) if margin == inf else bits / Fraction(margin)))
    return max(gaps, key=lambda gap: gap.log2_length, default=None)
