"""All states of one length at once: a column a form, a column a bit looked back at, and the position's residue.

A state is what `verdict.machine` says it is: forms clipped at their caps, bits, residue. Here a level of states is one
integer array, so that a step costs a few passes over columns and not one walk through the program a state.
"""

import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from lengthwise.crasp.operations import (
    AllOf,
    AnyOf,
    AtLeastZero,
    Constant,
    InResidues,
    Operations,
    Opposite,
    RecentTally,
    SymbolIs,
)
from lengthwise.shapes import Bool, Int
from lengthwise.verdict.forms import Form, Test, forms_of, lookback_of

Rows = Int[np.ndarray, "states columns"]
After = Int[np.ndarray, "after columns"]
Truth = dict[int, Bool[np.ndarray, " _"]]
LARGEST = 2**62


class Steps:
    """Some operations of a normal form, stepped for many states at once."""

    def __init__(self, listed: Operations, roots: Iterable[int]) -> None:
        """The operations that some roots rest on."""
        self.operations = listed
        self.needed = listed.needed(roots)
        self.forms: tuple[Form, ...]
        self.tests: Mapping[int, Test]
        self.forms, self.tests = forms_of(listed, self.needed)
        self.lookback = lookback_of(listed, self.needed)
        found = (listed.list[index] for index in self.needed)
        self.modulus = math.lcm(1, *(one.period for one in found if isinstance(one, InResidues)))
        self.place: dict[int, int] = {}  # the column of the latest bit of a Boolean looked back at
        width = len(self.forms)
        for index, reach in self.lookback:
            self.place[index] = width
            width += reach
        self.width = width + 1

    @property
    def symbols(self) -> int:
        """How many symbols there are."""
        return len(self.operations.alphabet)

    def longest(self) -> int:
        """A length up to which no sum leaves 64 bits."""
        step = max((sum(abs(k) for k, _ in form.terms) for form in self.forms), default=0)
        factor = max((abs(test.factor) for test in self.tests.values()), default=0)
        rest = max((_rest(test, self.operations) for test in self.tests.values()), default=0)
        if rest >= LARGEST // 2 or any(form.cap is not None and form.cap >= LARGEST for form in self.forms):
            return 0
        return int(LARGEST // 2 // max(1, step * factor))

    def start(self) -> Rows:
        """The one state at position 0."""
        return np.zeros((1, self.width), dtype=np.int64)

    def step(self, rows: Rows) -> tuple[After, Truth]:
        """The states after one more symbol, those of one state in the order of the alphabet; and all Booleans there."""
        k = self.symbols
        symbol = np.tile(np.arange(k), len(rows))
        rows = np.repeat(rows, k, axis=0)
        position = rows[:, -1] + 1
        found: Truth = {}
        updated: set[int] = set()
        for index in self.needed:
            match self.operations.list[index]:
                case SymbolIs(wanted):
                    found[index] = symbol == wanted
                case InResidues(period, residues):
                    found[index] = np.isin(position % period, residues)
                case Constant(value):
                    found[index] = np.full(len(rows), value)
                case Opposite(one):
                    found[index] = ~found[one]
                case AllOf(several):
                    found[index] = np.logical_and.reduce([found[one] for one in several])
                case AnyOf(several):
                    found[index] = np.logical_or.reduce([found[one] for one in several])
                case AtLeastZero():
                    found[index] = self._holds(index, rows, found, updated)
        for number in range(len(self.forms)):
            self._update(number, rows, found, updated)
        after = rows.copy()
        for number, form in enumerate(self.forms):
            if form.cap is not None:
                np.minimum(after[:, number], form.cap, out=after[:, number])
        for index, reach in self.lookback:
            at = self.place[index]
            after[:, at + 1 : at + reach] = rows[:, at : at + reach - 1]
            after[:, at] = found[index]
        after[:, -1] = position % self.modulus
        return after, found

    def _holds(self, index: int, rows: Rows, found: Truth, updated: set[int]) -> Bool[np.ndarray, " states"]:
        test = self.tests[index]
        total = np.full(len(rows), test.constant, dtype=np.int64)
        if test.form is not None:
            self._update(test.form, rows, found, updated)
            total += test.factor * rows[:, test.form]
        for coefficient, tally in test.recent:
            total += coefficient * self.recent(tally, rows, found)
        return total >= 0

    def recent(self, tally: int, rows: Rows, found: Truth) -> Int[np.ndarray, " states"]:
        """A count with offsets, at the new position; `rows` are those before it."""
        operation = self.operations.list[tally]
        assert isinstance(operation, RecentTally)
        count = np.zeros(len(rows), dtype=np.int64)
        for offset in operation.offsets:
            count += rows[:, self.place[operation.input] + offset - 1] if offset else found[operation.input]
        return count

    def _update(self, number: int, rows: Rows, found: Truth, updated: set[int]) -> None:
        if number not in updated:
            updated.add(number)
            for coefficient, index in self.forms[number].terms:
                rows[:, number] += coefficient * found[index]

    def possible(self, rows: Rows) -> tuple[Truth, Truth]:
        """Which Booleans may be true, and which may be false, at some later position.

        Letter tests, residues and recent counts are unknown; a form that nothing raises any more stays below, one that
        nothing lowers stays above, where it is. So a form without negative coefficients only rises, and one whose
        counted Booleans are false for ever stays.
        """
        true: Truth = {}
        false: Truth = {}
        for index in self.needed:
            operation = self.operations.list[index]
            match operation:
                case Opposite(one):
                    true[index], false[index] = false[one], true[one]
                case AllOf(several):
                    true[index] = np.logical_and.reduce([true[one] for one in several])
                    false[index] = np.logical_or.reduce([false[one] for one in several])
                case AnyOf(several):
                    true[index] = np.logical_or.reduce([true[one] for one in several])
                    false[index] = np.logical_and.reduce([false[one] for one in several])
                case AtLeastZero():
                    true[index], false[index] = self._may_hold(index, rows, true)
                case Constant(value):
                    true[index], false[index] = np.full(len(rows), value), np.full(len(rows), not value)
                case _:
                    true[index], false[index] = np.full(len(rows), True), np.full(len(rows), True)
        return true, false

    def _may_hold(
        self, index: int, rows: Rows, true: Truth
    ) -> tuple[Bool[np.ndarray, " states"], Bool[np.ndarray, " states"]]:
        test = self.tests[index]
        low, high = recent_range(test, self.operations)
        now = np.zeros(len(rows), dtype=np.int64)
        rises, falls = np.zeros(len(rows), dtype=bool), np.zeros(len(rows), dtype=bool)
        if test.form is not None:
            now = test.factor * rows[:, test.form]
            for coefficient, counted in self.forms[test.form].terms:
                if coefficient * test.factor > 0:
                    rises |= true[counted]
                else:
                    falls |= true[counted]
        return rises | (now + test.constant + high >= 0), falls | (now + test.constant + low < 0)


def unseen(rows: Rows, places: Int[np.ndarray, " places"], seen: set[bytes]) -> Int[np.ndarray, " kept"]:
    """The places of states that were not met before, each state once; they are remembered."""
    keys: Any = np.ascontiguousarray(rows[places]).view(np.dtype((np.void, rows.shape[1] * 8))).ravel().tolist()
    found = []
    for place, key in zip(places.tolist(), keys, strict=True):
        if key not in seen:
            seen.add(key)
            found.append(place)
    return np.array(found, dtype=np.int64)


def recent_range(test: Test, listed: Operations) -> tuple[int, int]:
    """The least and the largest value of the recent counts in a test."""
    sizes = [(coefficient, len(getattr(listed.list[index], "offsets", ()))) for coefficient, index in test.recent]
    return sum(min(0, k * size) for k, size in sizes), sum(max(0, k * size) for k, size in sizes)


def _rest(test: Test, listed: Operations) -> int:
    low, high = recent_range(test, listed)
    return abs(test.constant) + max(-low, high)
