"""The values of operations over one block of words, column by column, in 32-bit integers wherever they suffice.

Sums are the heart of it. A linear form  F = sum of k * Tally(P)  needs one running sum, that of  sum of k * P , and
serves every comparison of F and of -F with any constant. Over a block of words the sum runs straight through and the
value before each word is taken off.
"""

from collections.abc import Iterable
from functools import reduce
from operator import add
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

Column = Any  # one value a symbol: Booleans, or integers of 8, 32 or 64 bits, or Python's where those are too small
Carry = dict[tuple[str, Any], Any]  # what the pieces of a long word hand on to the next piece


class Columns:
    """The operations of a program over one block; what an earlier piece of the same word left is in `carry`."""

    def __init__(self, form: Operations, block: Block, carry: Carry) -> None:
        """A block before anything is computed."""
        self.form, self.block, self.carry = form, block, carry
        self.known: dict[int, Column] = {}
        self.forms: dict[Terms, tuple[Column, int]] = {}
        self.shifts: dict[tuple[int, int], Column] = {}

    def compute(self, indices: Iterable[int]) -> None:
        """Computes Boolean operations at every position, in ascending order; tallies come with their comparisons."""
        for index in indices:
            operation = self.form.list[index]
            if not isinstance(operation, (Tally, RecentTally)):
                self.known[index] = self._boolean(operation)

    def _boolean(self, operation: Operation) -> Column:
        match operation:
            case SymbolIs(symbol):
                return self.block.tokens == symbol
            case InResidues(period, residues):
                return self.block.in_residues(period, residues)
            case Constant(value):
                return np.full(self.block.size, value)
            case Opposite(one):
                return np.logical_not(self.known[one])
            case AllOf(several):
                return self._joined(np.logical_and, several)
            case AnyOf(several):
                return self._joined(np.logical_or, several)
            case AtLeastZero(terms, constant):
                return self.at_least_zero(terms, constant)
        raise TypeError(operation)

    def _joined(self, junction: np.ufunc, several: tuple[int, ...]) -> Column:
        result = junction(self.known[several[0]], self.known[several[1]])
        for index in several[2:]:
            junction(result, self.known[index], out=result)
        return result

    def at_least_zero(self, terms: Terms, constant: int) -> Column:
        """Whether a sum of multiples of tallies and a constant is at least zero."""
        whole, recent = self.split(terms)
        if not recent:
            sign = 1 if whole[0][0] > 0 else -1
            column, base = self.running(tuple((sign * k, index) for k, index in whole))
            bound = -constant * sign - base  # sign * (column + base) + constant >= 0
            return _at_least(column, bound) if sign > 0 else _at_most(column, bound)
        column, base = self.total(whole, recent)
        return _at_least(column, -constant - base)

    def split(self, terms: Terms) -> tuple[Terms, Terms]:
        """The terms with tallies over the whole past, and those over some offsets."""
        recent = tuple(term for term in terms if isinstance(self.form.list[term[1]], RecentTally))
        return tuple(term for term in terms if term not in recent), recent

    def total(self, whole: Terms, recent: Terms) -> tuple[Column, int]:
        """A sum with recent tallies in it, as a column and a number to add to it."""
        reach = sum(abs(k) * len(self._recent(index).offsets) for k, index in recent)
        dtype = _fitting(reach + sum(abs(k) for k, _ in whole) * self.block.size)
        parts = [_times(k, self.recent(index), dtype) for k, index in recent]
        if not whole:
            return reduce(add, parts), 0
        column, base = self.running(whole)
        return reduce(add, parts, column.astype(dtype, copy=False)), base

    def running(self, terms: Terms) -> tuple[Column, int]:
        """The linear form over tallies of the whole past, as a column and what earlier pieces of the word add to it."""
        if terms not in self.forms:
            total = sum(abs(k) for k, _ in terms)
            step = np.int8 if total < 128 else _fitting(total)
            steps = reduce(add, (_times(k, self.known[self._tally(index).input], step) for k, index in terms))
            column = self._running(steps, _fitting(total * self.block.size))
            base = int(self.carry.get(("form", terms), 0))
            self.carry["form", terms] = base + int(column[-1])
            self.forms[terms] = (column, base)
        return self.forms[terms]

    def _running(self, steps: Column, dtype: Any) -> Column:
        column = np.cumsum(steps.astype(dtype))
        if len(self.block.lengths) > 1:
            before = np.concatenate([np.zeros(1, dtype=dtype), column[self.block.ends[:-1]]])
            if self.block.width is None:
                column -= np.repeat(before, self.block.lengths)
            else:
                self.block.rows(column)[...] -= before[:, None]
        return column

    def recent(self, index: int) -> Column:
        """At how many of some offsets back an input is true, as small integers."""
        one = self._recent(index)
        parts = [self.shifted(one.input, offset).view(np.int8) for offset in one.offsets]
        if len(parts) < 128:
            return reduce(add, parts)
        return reduce(add, (part.astype(np.int64) for part in parts))

    def shifted(self, index: int, offset: int) -> Column:
        """Whether an input was true so many positions earlier in the same word."""
        if offset == 0:
            return self.known[index]
        if (index, offset) not in self.shifts:
            self.shifts[index, offset] = self._shifted(index, offset)
        return self.shifts[index, offset]

    def _shifted(self, index: int, offset: int) -> Column:
        column, block = self.known[index], self.block
        result = np.zeros(block.size, dtype=bool)
        if block.before or not block.final:
            past = self.carry.get(("past", (index, offset)), np.zeros(0, dtype=bool))
            seen = np.concatenate([past, column])
            missing = max(0, offset - block.before)  # of the first positions nothing stands that far back
            taken = seen[: block.size - missing] if missing < block.size else seen[:0]
            result[block.size - len(taken) :] = taken
            self.carry["past", (index, offset)] = seen[-offset:]
        elif block.width is not None:
            if offset < block.width:
                block.rows(result)[:, offset:] = block.rows(column)[:, :-offset]
        elif offset < block.size:
            np.logical_and(column[:-offset], block.offsets[offset:] >= offset, out=result[offset:])
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
        parts = [_times(k, self.recent(index), dtype) for k, index in recent]
        if whole:
            column, base = self.running(whole)
            parts.append(column.astype(dtype) + base)
        return reduce(add, parts, np.full(self.block.size, constant, dtype=dtype))

    def _tally(self, index: int) -> Tally:
        operation = self.form.list[index]
        assert isinstance(operation, Tally)
        return operation

    def _recent(self, index: int) -> RecentTally:
        operation = self.form.list[index]
        assert isinstance(operation, RecentTally)
        return operation


def _times(factor: int, column: Column, dtype: Any) -> Column:
    """Factor * column in a type that holds it."""
    narrow = column.view(np.int8) if column.dtype == bool else column
    if factor == 1:
        return narrow.astype(dtype, copy=False)
    if factor == -1:
        return np.negative(narrow.astype(dtype, copy=False))
    return narrow.astype(dtype, copy=False) * (dtype(factor) if dtype is not object else factor)


def _fitting(reach: int) -> Any:
    """The smallest type of integer that is fast to add up and holds -reach..reach."""
    return np.int32 if reach < 2**31 else np.int64 if reach < 2**63 else object


def _at_least(column: Column, bound: int) -> Column:
    low, high = _range(column)
    return column >= bound if low <= bound <= high else np.full(len(column), bound < low)


def _at_most(column: Column, bound: int) -> Column:
    low, high = _range(column)
    return column <= bound if low <= bound <= high else np.full(len(column), bound > high)


def _range(column: Column) -> tuple[float, float]:
    if column.dtype == object:
        return -np.inf, np.inf
    limits = np.iinfo(column.dtype)
    return limits.min, limits.max
