"""The worst error of a one-layer model over tables of counts: all of them at a modest length, log-spaced ones at a long one.

One layer sees of a string the counts by type and the last token, so a table stands for all strings that have it. What is
found is the error of a real string; at a long length, where most tables are left out, there may be worse ones.
"""

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from lengthwise.limit.linear import first_layer_columns
from lengthwise.limit.model import LimitTransformer, map_arrays
from lengthwise.tasks.protocol import RegressionTask, Statistics

Keep = Callable[[Any, int], Any]  # keep(counts, length): which columns belong to the domain
BLOCK = 1 << 14


@dataclass(frozen=True)
class Found:
    """The worst of what was looked at. counts: by type token * period + residue, of the whole string."""

    error: float
    length: int
    counts: list[int]
    last: int
    looked_at: int


def scan(
    model: LimitTransformer, task: RegressionTask, lengths: Sequence[int], every: bool, keep: Keep | None = None
) -> Found:
    """The worst error over the tables of some lengths, all of them or the log-spaced ones; ties go to the first."""
    best, looked_at = Found(-1.0, 0, [], 0, 0), 0
    wide = widened(model)
    for length in lengths:
        for counts in blocks(tables(task, length, every)):
            kept = counts if keep is None else counts[:, keep(counts, length)]
            for last in range(task.symbols):
                here = last * task.period + length % task.period
                columns = kept[:, kept[here] > 0]
                if columns.shape[1]:
                    errors = errors_of(wide, task, columns, here, length)
                    looked_at += len(errors)
                    place = int(np.argmax(errors))
                    if errors[place] > best.error:
                        best = Found(float(errors[place]), length, columns[:, place].tolist(), last, 0)
    return Found(best.error, best.length, best.counts, best.last, looked_at)


def errors_of(
    model: LimitTransformer, task: RegressionTask, counts: Int[np.ndarray, "types columns"], last: int, length: int
) -> Float[np.ndarray, " columns"]:
    """|model - target| for each column of counts, its last position of type `last`."""
    prefix = counts - (np.arange(len(counts))[:, None] == last)
    suffix = np.full((1, counts.shape[1]), last)
    log_position = np.full(counts.shape[1], math.log(length))
    after = first_layer_columns(model, prefix.astype(np.float64), suffix, log_position, length)
    target = task.target_of(Statistics(np.full(counts.shape[1], length), prefix, suffix))
    return np.abs((model.unembedding @ after)[0] - target)


def tables(task: RegressionTask, length: int, every: bool) -> Iterator[tuple[int, ...]]:
    """Counts by type: the parts of each residue's class, all of them or the log-spaced ones."""
    sizes = [len(range(residue or task.period, length + 1, task.period)) for residue in range(task.period)]
    for classes in itertools.product(*(splits(size, task.symbols, every) for size in sizes)):
        yield tuple(one[token] for token in range(task.symbols) for one in classes)


def splits(size: int, parts: int, every: bool) -> list[tuple[int, ...]]:
    """The ways to write a size as an ordered sum; else those in which all parts but one are log-spaced."""
    if every:
        return [tuple(one) for one in compositions(size, parts)]
    few = spaced(size)
    found = {
        (*some[:place], size - sum(some), *some[place:])
        for some in itertools.product(few, repeat=parts - 1)
        if sum(some) <= size
        for place in range(parts)
    }
    return sorted(found)


def spaced(size: int) -> list[int]:
    """0, 1, 2, 3, 4, 6, 8, 12, 16, ... up to the size: two to an octave."""
    steps = {step for j in range(size.bit_length() + 1) for step in (1 << j, 3 << j)}
    return sorted({0, *(step for step in steps if step <= size)})


def compositions(size: int, parts: int) -> Iterator[tuple[int, ...]]:
    """All ordered sums of `parts` naturals."""
    if parts == 1:
        yield (size,)
        return
    for first in range(size + 1):
        for rest in compositions(size - first, parts - 1):
            yield (first, *rest)


def blocks(rows: Iterator[tuple[int, ...]]) -> Iterator[Int[np.ndarray, "types columns"]]:
    """The rows as columns of arrays of a limited size."""
    while some := list(itertools.islice(rows, BLOCK)):
        yield np.array(some).T


def widened(model: LimitTransformer) -> LimitTransformer:
    """The same weights in double precision: the search should not find the rounding of float32."""
    return map_arrays(model, lambda array: np.asarray(array, np.float64))
