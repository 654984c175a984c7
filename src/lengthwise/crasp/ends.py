"""The values of operations at the last position of each word of a block: totals instead of running sums."""

from collections.abc import Iterable
from functools import reduce
from operator import add
from typing import Any

import numpy as np

from lengthwise.crasp.columns import Columns
from lengthwise.crasp.operations import (
    AllOf,
    AnyOf,
    AtLeastZero,
    Case,
    Constant,
    InResidues,
    Operation,
    Opposite,
    RecentTally,
    SymbolIs,
    Tally,
    Terms,
)

Column = Any  # one value a word


class Ends:
    """The last positions of a block whose columns are computed."""

    def __init__(self, columns: Columns) -> None:
        """Before anything is computed."""
        self.columns, self.block, self.carry = columns, columns.block, columns.carry
        self.known: dict[int, Column] = {}
        self.totals: dict[int, Column] = {}

    def at(self, index: int) -> Column:
        """A Boolean operation at each word's end."""
        if index not in self.known:
            self.known[index] = self.columns.known[index][self.block.ends]
        return self.known[index]

    def compute(self, indices: Iterable[int]) -> None:
        """Computes Boolean operations at the ends, in ascending order; tallies come with their comparisons."""
        for index in indices:
            operation = self.columns.form.list[index]
            if not isinstance(operation, (Tally, RecentTally)):
                self.known[index] = self._boolean(operation)

    def _boolean(self, operation: Operation) -> Column:
        block = self.block
        match operation:
            case SymbolIs(symbol):
                return block.tokens[block.ends] == symbol
            case InResidues(period, residues):
                remainders = (block.lengths + block.before) % min(period, 2**62)
                return np.isin(remainders, [residue for residue in residues if residue < 2**62])
            case Constant(value):
                return np.full(len(block.lengths), value)
            case Opposite(one):
                return ~self.at(one)
            case AllOf(several):
                return reduce(np.logical_and, [self.at(one) for one in several])
            case AnyOf(several):
                return reduce(np.logical_or, [self.at(one) for one in several])
            case AtLeastZero(((coefficient, index),), constant) if abs(coefficient) == 1 and self._asks_for_any(
                coefficient, index, constant
            ):
                return self.some(index) if coefficient > 0 else ~self.some(index)
            case AtLeastZero(terms, constant):
                return self.sum(terms, constant) >= 0
        raise TypeError(operation)

    def _asks_for_any(self, coefficient: int, index: int, constant: int) -> bool:
        """Whether a comparison is count(P) >= 1, or count(P) == 0."""
        return isinstance(self.columns.form.list[index], Tally) and constant == (-1 if coefficient > 0 else 0)

    def sum(self, terms: Terms, constant: int) -> Column:
        """A sum of multiples of tallies and a constant, in 64-bit integers or Python's."""
        longest = int(self.block.lengths.max()) + self.block.before
        reach = abs(constant) + sum(abs(k) for k, _ in terms) * longest
        dtype: Any = np.int64 if reach < 2**62 else object
        whole, recent = self.columns.split(terms)
        sign = -1 if whole and whole[0][0] < 0 else 1
        known = self.columns.forms.get(tuple((sign * k, index) for k, index in whole))
        if known is None:
            parts = [self.total(index).astype(dtype) * k for k, index in terms]
        else:  # its running sum was needed, so the last value of that is the total
            column, base = known
            parts = [(column[self.block.ends].astype(dtype) + base) * sign]
            parts += [self.total(index).astype(dtype) * k for k, index in recent]
        return reduce(add, parts, np.full(len(self.block.lengths), constant, dtype=dtype))

    def quantity(self, cases: Iterable[Case]) -> Column:
        """A quantity at each word's end."""
        result: Column = None
        for case in cases:
            value = self.sum(case.terms, case.constant)
            result = value if case.guard is None or result is None else np.where(self.at(case.guard), value, result)
        return result

    def total(self, index: int) -> Column:
        """A tally at each word's end, earlier pieces of the word included."""
        if index not in self.totals:
            operation = self.columns.form.list[index]
            if isinstance(operation, RecentTally):
                self.totals[index] = self._recent(index, operation)
            else:
                assert isinstance(operation, Tally)
                self.totals[index] = self._whole(index, operation)
        return self.totals[index]

    def _whole(self, index: int, operation: Tally) -> Column:
        column = self.columns.known[operation.input]
        base = self.carry.get(("total", index), 0)
        if len(self.block.lengths) == 1:
            found = np.array([base + np.count_nonzero(column)], dtype=np.int64)
            self.carry["total", index] = int(found[0])
            return found
        running = self.columns.room.array(self.block.size, np.int32)
        np.copyto(running, column)
        np.cumsum(running, out=running)
        return np.diff(running[self.block.ends].astype(np.int64), prepend=0)

    def some(self, index: int) -> Column:
        """Whether a tally is positive at each word's end."""
        if index in self.totals:
            return self.totals[index] > 0
        operation = self.columns.form.list[index]
        assert isinstance(operation, Tally)
        column = self.columns.known[operation.input]
        if len(self.block.lengths) == 1:
            found = np.array([bool(column.any()) or self.carry.get(("some", index), False)])
            self.carry["some", index] = bool(found[0])
            return found
        return np.logical_or.reduceat(column, self.block.starts)

    def _recent(self, index: int, operation: RecentTally) -> Column:
        block = self.block
        if block.before or not block.final:
            return self.columns.recent(index)[block.ends].astype(np.int64)
        column = self.columns.known[operation.input]
        total = np.zeros(len(block.lengths), dtype=np.int64)
        for offset in operation.offsets:
            reaches = block.lengths > offset
            total += column[np.where(reaches, block.ends - min(offset, block.size), 0)] & reaches
        return total
