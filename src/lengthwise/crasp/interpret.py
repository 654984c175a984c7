"""What a program computes on a batch of words: in time linear in their total length, on as many threads as there are cores.

A comparison costs one running sum over the batch, everything else a few passes over bytes. Nothing overflows: sums that
32 bits do not hold for sure are kept in 64, and those that 64 do not hold in Python's integers.
"""

import os
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import Any

import numpy as np
from jaxtyping import Bool, Int

from lengthwise.crasp.blocks import Block, blocks
from lengthwise.crasp.columns import Carry, Columns
from lengthwise.crasp.demand import demand
from lengthwise.crasp.empty import at_zero, quantity_at_zero
from lengthwise.crasp.ends import Ends
from lengthwise.crasp.operations import Cases, Operations, case_inputs, operations
from lengthwise.crasp.room import Room
from lengthwise.crasp.syntax import Program
from lengthwise.crasp.words import Words
from lengthwise.errors import WrongInput, shown

THREADED = 1 << 20  # symbols from which on threads are worth starting


@dataclass(frozen=True, eq=False)
class Answer:
    """What a program says of words.

    With positions "last" every array has one entry a word; with "all" one entry a position, the words one after the
    other, and `of(word)` cuts out one of them. `values` are the outputs, and with `every` all other names too; Booleans
    are true or false, quantities integers. `accepts` is None for a program without accept.
    """

    positions: str
    lengths: Int[np.ndarray, " words"]
    accepts: Bool[np.ndarray, " entries"] | None
    values: Mapping[str, Any]

    def of(self, word: int) -> "Answer":
        """The part about one word, by its number from 0."""
        if self.positions == "last":
            part = slice(word, word + 1)
        else:
            end = int(self.lengths[: word + 1].sum())
            part = slice(end - int(self.lengths[word]), end)
        accepts = None if self.accepts is None else self.accepts[part]
        values = {name: column[part] for name, column in self.values.items()}
        return Answer(self.positions, self.lengths[word : word + 1], accepts, values)

    def to_json(self) -> dict[str, Any]:
        """The answer in JSON's own types: for each word a value, or with positions "all" a list of values."""
        accepts = None if self.accepts is None else self._listed(self.accepts)
        return {"accepts": accepts, "outputs": {name: self._listed(column) for name, column in self.values.items()}}

    def _listed(self, column: Any) -> list[Any]:
        if self.positions == "last":
            return list(column.tolist())
        ends = np.cumsum(self.lengths)
        return [part.tolist() for part in np.split(column, ends[:-1])] if len(ends) else []

    def __str__(self) -> str:
        """The answer as a sentence."""
        if self.accepts is None:
            return f"{len(self.lengths)} words; outputs {', '.join(self.values) or 'none'}"
        what = "words" if self.positions == "last" else f"positions of {len(self.lengths)} words"
        return f"accepts {int(self.accepts.sum())} of {len(self.accepts)} {what}"


def run(program: Any, words: Any, positions: str = "last", every: bool = False) -> Answer:
    """Runs a program on words: texts, lists of symbols or of their indices, an array with one word a row, or `Words`.

    The answer is read at each word's last position, or at all of them; the empty word is read at position 0, and has no
    other positions. With `every` all named values are in the answer, not only the outputs.
    """
    if positions not in ("last", "all"):
        raise WrongInput("last or all", shown(positions), "say which positions you want", "positions")
    if not isinstance(program, Program):
        raise WrongInput("a program", shown(program), "make one with lengthwise.crasp.parse(text)")
    return _Run(operations(program), Words.of(words, program.alphabet), positions, every).answer()


class _Run:
    """One question to one program: what to compute, and where the results go."""

    def __init__(self, form: Operations, words: Words, positions: str, every: bool) -> None:
        self.form, self.words, self.positions = form, words, positions
        self.rooms: SimpleQueue[Room] = SimpleQueue()  # as many as threads work at a time
        names = [*form.names, *form.quantities] if every else form.shown
        self.booleans = {name: form.names[name] for name in names if name in form.names}
        self.quantities = {name: form.quantities[name] for name in names if name in form.quantities}
        self.order = [name for name in names if name in self.booleans or name in self.quantities]
        if form.accept is not None:
            self.booleans[""] = form.accept
        roots = [*self.booleans.values(), *_tests(form, self.quantities.values())]
        self.demand = demand(form, roots, ()) if positions == "all" else demand(form, (), roots)
        entries = len(words) if positions == "last" else len(words.tokens)
        self.results: dict[str, Any] = {name: np.zeros(entries, dtype=bool) for name in self.booleans}
        longest = int(words.lengths.max()) if len(words) else 0
        reach = max((_reach(cases, longest) for cases in self.quantities.values()), default=0)
        dtype: Any = np.int64 if reach < 2**62 else object
        self.results |= {name: np.zeros(entries, dtype=dtype) for name in self.quantities}

    def answer(self) -> Answer:
        """Everything computed, block by block."""
        cut = list(blocks(self.words))
        workers = min(len(cut), os.cpu_count() or 1)
        if workers > 1 and len(self.words.tokens) >= THREADED:
            with ThreadPoolExecutor(workers) as pool:
                for _ in pool.map(self._pieces, cut):
                    pass
        else:
            for pieces in cut:
                self._pieces(pieces)
        if self.positions == "last":
            self._empty_words()
        accepts = self.results.get("")
        values = {name: self.results[name] for name in self.order}
        return Answer(self.positions, self.words.lengths, accepts, values)

    def _pieces(self, pieces: list[Block]) -> None:
        carry: Carry = {}
        room = self._room()
        for block in pieces:
            columns = Columns(self.form, block, carry, room)
            columns.compute(self.demand.everywhere)
            if self.positions == "all":
                part = slice(block.start, block.start + block.size)
                for name, index in self.booleans.items():
                    self.results[name][part] = columns.known[index]
                for name, cases in self.quantities.items():
                    self.results[name][part] = columns.quantity(cases)
            else:
                ends = Ends(columns)
                ends.compute(self.demand.last)
                for name, index in self.booleans.items():
                    self.results[name][block.words] = ends.at(index)
                for name, cases in self.quantities.items():
                    self.results[name][block.words] = ends.quantity(cases)
            room.clear()
            block.cache.clear()
        self.rooms.put(room)

    def _room(self) -> Room:
        try:
            return self.rooms.get_nowait()
        except Empty:
            return Room()

    def _empty_words(self) -> None:
        empty = np.flatnonzero(self.words.lengths == 0)
        if not len(empty):
            return
        values = at_zero(self.form)
        for name, index in self.booleans.items():
            self.results[name][empty] = values[index]
        for name, cases in self.quantities.items():
            self.results[name][empty] = quantity_at_zero(cases, values)


def _tests(form: Operations, quantities: Iterable[Cases]) -> list[int]:
    """The operations that quantities rest on: guards, and tallies."""
    return [index for cases in quantities for case in cases for index in case_inputs(case)]


def _reach(cases: Cases, length: int) -> int:
    return max(abs(case.constant) + sum(abs(k) for k, _ in case.terms) * length for case in cases)
