"""What the comparisons of a program read of its counts: sums of them, with the value from which nothing changes.

Source: programs note, section 3.1.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass

from lengthwise.crasp.operations import AtLeastZero, Operations, RecentTally, Tally


@dataclass(frozen=True)
class Form:
    """A sum of global tallies, sum of coefficient * tally, whose coefficients have no common factor, the first above 0.

    cap: for a form without negative coefficients the least value from which all its tests are constant, else None.
    """

    terms: tuple[tuple[int, int], ...]
    cap: int | None

    @property
    def monotone(self) -> bool:
        """Whether it never decreases."""
        return all(coefficient > 0 for coefficient, _ in self.terms)


@dataclass(frozen=True)
class Test:
    """One comparison: factor * form + sum of coefficient * recent tally + constant >= 0; form is an index or None."""

    form: int | None
    factor: int
    recent: tuple[tuple[int, int], ...]
    constant: int


def forms_of(listed: Operations, needed: Iterable[int]) -> tuple[tuple[Form, ...], dict[int, Test]]:
    """The forms of all comparisons, and every comparison as a test of one; terms of a form name the tallied Booleans."""
    numbers: dict[tuple[tuple[int, int], ...], int] = {}
    tests: dict[int, Test] = {}
    for index in needed:
        operation = listed.list[index]
        if not isinstance(operation, AtLeastZero):
            continue
        tallied, recent = [], []
        for coefficient, term in operation.terms:
            inner = listed.list[term]
            if isinstance(inner, Tally):
                tallied.append((coefficient, inner.input))
            else:
                recent.append((coefficient, term))
        form, factor = None, 0
        if tallied:
            tallied.sort(key=lambda pair: pair[1])
            factor = math.gcd(*(coefficient for coefficient, _ in tallied)) * (1 if tallied[0][0] > 0 else -1)
            key = tuple((coefficient // factor, input_) for coefficient, input_ in tallied)
            form = numbers.setdefault(key, len(numbers))
        tests[index] = Test(form, factor, tuple(recent), operation.constant)
    forms = [Form(key, None) for key in numbers]
    caps = [0] * len(forms)
    for test in tests.values():
        if test.form is not None:
            caps[test.form] = max(caps[test.form], _cap(test, listed))
    return tuple(Form(f.terms, caps[i] if f.monotone else None) for i, f in enumerate(forms)), tests


def _cap(test: Test, listed: Operations) -> int:
    """The least value of a form from which a test of it is constant, whatever the recent tallies are."""
    sizes = [(coefficient, len(getattr(listed.list[index], "offsets", ()))) for coefficient, index in test.recent]
    low = test.constant + sum(min(0, coefficient * size) for coefficient, size in sizes)
    high = test.constant + sum(max(0, coefficient * size) for coefficient, size in sizes)
    if test.factor > 0:
        return max(0, -(low // test.factor))
    return max(0, high // -test.factor + 1)


def lookback_of(listed: Operations, needed: Iterable[int]) -> tuple[tuple[int, int], ...]:
    """The Booleans whose past values are asked for, and how far back."""
    reach: dict[int, int] = {}
    for index in needed:
        operation = listed.list[index]
        if isinstance(operation, RecentTally):
            reach[operation.input] = max(reach.get(operation.input, 0), *operation.offsets)
    return tuple((index, far) for index, far in sorted(reach.items()) if far)
