"""Quantities by cases: what if-then-else makes of sums."""

import math
from itertools import product

from lengthwise.crasp.operations import Terms
from lengthwise.errors import WrongInput

MOST_CASES = 4096

Sum = tuple[Terms, int]  # sum of coefficient * tally, and a constant
Guard = frozenset[tuple[int, bool]]  # tests with the values they must have
Split = tuple[tuple[Guard, Sum], ...]  # a quantity by cases; at every position exactly one guard holds


def always(terms: Terms, constant: int) -> Split:
    """A quantity with one case."""
    return ((frozenset(), (terms, constant)),)


def combined(*parts: tuple[int, Split]) -> Split:
    """The sum of integer multiples of quantities, case by case; cases that contradict one another never happen."""
    factors = [factor for factor, _ in parts]
    if math.prod(len(split) for _, split in parts) > 16 * MOST_CASES:
        raise _too_many()
    cases: list[tuple[Guard, Sum]] = []
    for choice in product(*(split for _, split in parts)):
        guard = frozenset().union(*(guard for guard, _ in choice))
        if any((test, not holds) in guard for test, holds in guard):
            continue
        total: dict[int, int] = {}
        constant = 0
        for factor, (_, (terms, inner)) in zip(factors, choice, strict=True):
            constant += factor * inner
            for coefficient, index in terms:
                total[index] = total.get(index, 0) + factor * coefficient
        cases.append((guard, (tuple((k, index) for index, k in sorted(total.items()) if k), constant)))
    if len(cases) > MOST_CASES:
        raise _too_many()
    return tuple(cases)


def within(test: int, holds: bool, split: Split) -> Split:
    """The cases of a quantity in which a test has a value."""
    return tuple((guard | {(test, holds)}, total) for guard, total in split if (test, not holds) not in guard)


def _too_many() -> WrongInput:
    remedy = "give the cases names of their own: let each := P and comparison"
    return WrongInput(f"at most {MOST_CASES} cases of if in one sum", "more", remedy)
