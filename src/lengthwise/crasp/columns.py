"""The values of operations over one block of words, column by column, in 32-bit integers wherever they suffice.

Sums are the heart of it. A linear form  F = sum of k * Tally(P)  needs one running sum, that of  sum of k * P , and
serves every comparison of F and of -F with any constant. Over a block of words the sum runs straight through and the
value before each word is taken off.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from lengthwise.crasp.blocks import Block
from lengthwise.crasp.operations import (
    AllOf,
    AnyOf,
    AtLeastZero,
    Case,
    Constant,
    InResidues,
    Operation,
    Operations,
    Opposite,
    RecentTally,
    SymbolIs,
    Tally,
    Terms,
)
from lengthwise.crasp.room import Room

Column = Any  # one value a symbol: Booleans, or integers of 8, 32 or 64 bits, or Python's where those are too small
Carry = dict[tuple[str, Any], Any]  # what the pieces of a long word hand on to the next piece


class Columns:
    """The operations of a program over one block; what an earlier piece of the same word left is in `carry`."""

    def __init__(self, form: Operations, block: Block, carry: Carry, room: Room) -> None:
        """A block before anything is computed; columns live in the room until it is cleared."""
        self.form, self.block, self.carry, self.room = form, block, carry, room
        self.known: dict[int, Column] = {}
        self.forms: dict[Terms, tuple[Column, int]] = {}
        self.shifts: dict[tuple[int, int], Column] = {}

    def compute(self, indices: Iterable[int]) -> None:
        """Computes Boolean operations at every position, in ascending order; tallies come with their comparisons."""
        for index in indices:
            operation = self.form.list[index]
            if not isinstance(operation, (Tally, RecentTally)):
                self.known[index] = self._boolean(operation)

    def _new(self, dtype: Any = bool) -> Column:
        return self.room.array(self.block.size, dtype)

    def _boolean(self, operation: Operation) -> Column:
        match operation:
            case SymbolIs(symbol):
                return np.equal(self.block.tokens, symbol, out=self._new())
            case InResidues(period, residues):
                return self.block.in_residues(period, residues)
            case Constant(value):
                return np.full(self.block.size, value)
            case Opposite(one):
                return np.logical_not(self.known[one], out=self._new())
            case AllOf(several):
                return self._joined(np.logical_and, several)
            case AnyOf(several):
                return self._joined(np.logical_or, several)
            case AtLeastZero(terms, constant):
                return self.at_least_zero(terms, constant)
        raise TypeError(operation)

    def _joined(self, junction: np.ufunc, several: tuple[int, ...]) -> Column:
        result = junction(self.known[several[0]], self.known[several[1]], out=self._new())
        for index in several[2:]:
            junction(result, self.known[index], out=result)
        return result

    def at_least_zero(self, terms: Terms, constant: int) -> Column:
        """Whether a sum of multiples of tallies and a constant is at least zero."""
        whole, recent = self.split(terms)
        if recent:
            column, base = self.total(whole, recent)
            return self._compared(np.greater_equal, column, -constant - base)
        sign = 1 if whole[0][0] > 0 else -1
        column, base = self.running(tuple((sign * k, index) for k, index in whole))
        bound = -constant * sign - base  # sign * (column + base) + constant >= 0
        return self._compared(np.greater_equal if sign > 0 else np.less_equal, column, bound)

    def _compared(self, relation: np.ufunc, column: Column, bound: int) -> Column:
        """A column against a number, which may be beyond what the column's type holds."""
        if column.dtype != object:
            limits = np.iinfo(column.dtype)
            if not limits.min <= bound <= limits.max:
                return np.full(len(column), (bound < limits.min) == (relation is np.greater_equal))
            return relation(column, column.dtype.type(bound), out=self._new())
        return relation(column, bound).astype(bool)

    def split(self, terms: Terms) -> tuple[Terms, Terms]:
        """The terms with tallies over the whole past, and those over some offsets."""
        recent = tuple(term for term in terms if isinstance(self.form.list[term[1]], RecentTally))
        return tuple(term for term in terms if term not in recent), recent

    def total(self, whole: Terms, recent: Terms) -> tuple[Column, int]:
        """A sum with recent tallies in it, as a column and a number to add to it."""
        reach = sum(abs(k) * len(self._recent(index).offsets) for k, index in recent)
        columns = [(k, self.recent(index)) for k, index in recent]
        if not whole:
            return self._summed(columns, np.int8 if reach < 128 else _fitting(reach)), 0
        reach += sum(abs(k) for k, _ in whole) * self.block.size
        column, base = self.running(whole)
        return self._summed([(1, column), *columns], _fitting(reach)), base

    def running(self, terms: Terms) -> tuple[Column, int]:
        """The linear form over tallies of the whole past, as a column and what earlier pieces of the word add to it."""
        if terms not in self.forms:
            total = sum(abs(k) for k, _ in terms)
            inputs = [(k, self.known[self._tally(index).input]) for k, index in terms]
            steps = self._summed(inputs, np.int8 if total < 128 else _fitting(total))
            column = self._running(steps, _fitting(total * self.block.size))
            base = int(self.carry.get(("form", terms), 0))
            self.carry["form", terms] = base + int(column[-1])
            self.forms[terms] = (column, base)
        return self.forms[terms]

    def _summed(self, parts: Sequence[tuple[int, Column]], dtype: Any) -> Column:
        """A sum of integer multiples of columns, in a type that holds it and each of its parts."""
        result = self._new(dtype)
        spare = None
        for number, (factor, column) in enumerate(parts):
            narrow = column.view(np.int8) if column.dtype == bool else column
            if number == 0 and factor == 1:
                np.copyto(result, narrow, casting="unsafe")
            elif number == 0 or abs(factor) > 1:
                scaled = result if number == 0 else spare if spare is not None else self._new(dtype)
                np.copyto(scaled, narrow, casting="unsafe")
                np.multiply(scaled, factor if dtype is object else dtype(factor), out=scaled)
                if number > 0:
                    spare = scaled
                    np.add(result, scaled, out=result)
            else:
                (np.add if factor > 0 else np.subtract)(result, narrow, out=result)
        return result

    def _running(self, steps: Column, dtype: Any) -> Column:
        column = self._new(dtype)
        np.copyto(column, steps, casting="unsafe")
        np.cumsum(column, out=column)
        if len(self.block.lengths) > 1:
            before = np.concatenate([np.zeros(1, dtype=dtype), column[self.block.ends[:-1]]])
            if self.block.width is None:
                np.subtract(column, np.repeat(before, self.block.lengths), out=column)
            else:
                rows = self.block.rows(column)
                np.subtract(rows, before[:, None], out=rows)
        return column

    def recent(self, index: int) -> Column:
        """At how many of some offsets back an input is true, as small integers."""
        one = self._recent(index)
        parts = [(1, self.shifted(one.input, offset)) for offset in one.offsets]
        return self._summed(parts, np.int8 if len(parts) < 128 else np.int32)

    def shifted(self, index: int, offset: int) -> Column:
        """Whether an input was true so many positions earlier in the same word."""
        if offset == 0:
            return self.known[index]
        if (index, offset) not in self.shifts:
            self.shifts[index, offset] = self._shifted(index, offset)
        return self.shifts[index, offset]

    def _shifted(self, index: int, offset: int) -> Column:
        column, block = self.known[index], self.block
        result = self._new()
        if block.before or not block.final:
            past = self.carry.get(("past", (index, offset)), np.zeros(0, dtype=bool))
            seen = np.concatenate([past, column])
            missing = min(block.size, max(0, offset - block.before))  # nothing stands that far before the first ones
            result[:missing] = False
            result[missing:] = seen[: block.size - missing]
            self.carry["past", (index, offset)] = seen[-offset:]
        elif block.width is not None:
            rows = block.rows(result)
            rows[:, :offset] = False
            if offset < block.width:
                rows[:, offset:] = block.rows(column)[:, :-offset]
        elif offset < block.size:
            result[:offset] = False
            np.logical_and(column[:-offset], block.offsets[offset:] >= offset, out=result[offset:])
        else:
            result[:] = False
        return result

    def quantity(self, cases: Iterable[Case]) -> Column:
        """A quantity at every position, in 64-bit integers or Python's."""
        result: Column = None
        for case in cases:
            value = self._sum(case.terms, case.constant)
            result = value if case.guard is None or result is None else np.where(self.known[case.guard], value, result)
        return result

    def _sum(self, terms: Terms, constant: int) -> Column:
        whole, recent = self.split(terms)
        reach = abs(constant) + sum(abs(k) for k, _ in terms) * (self.block.size + self.block.before)
        dtype: Any = np.int64 if reach < 2**62 else object
        result = np.full(self.block.size, constant, dtype=dtype)
        for k, index in recent:
            result += self.recent(index).astype(dtype) * k
        if whole:
            column, base = self.running(whole)
            result += column.astype(dtype) + base
        return result

    def _tally(self, index: int) -> Tally:
        operation = self.form.list[index]
        assert isinstance(operation, Tally)
        return operation

    def _recent(self, index: int) -> RecentTally:
        operation = self.form.list[index]
        assert isinstance(operation, RecentTally)
        return operation


def _fitting(reach: int) -> Any:
    """The smallest type of integer that is fast to add up and holds -reach..reach."""
    return np.int32 if reach < 2**31 else np.int64 if reach < 2**63 else object
