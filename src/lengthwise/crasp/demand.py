"""Which operations a question needs at every position of a word, and which at its last one only.

Most programs ask `count(P) == 0` at the end: then P is needed everywhere, but of its tally only the total.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from lengthwise.crasp.operations import Operations, RecentTally, Tally, inputs


@dataclass(frozen=True)
class Demand:
    """Indices in ascending order; those that are needed everywhere are not repeated among the last ones."""

    everywhere: tuple[int, ...]
    last: tuple[int, ...]


def demand(form: Operations, everywhere: Iterable[int], last: Iterable[int]) -> Demand:
    """What must be computed where, for some operations that are asked for everywhere and some at the last position."""
    all_over = set(form.needed(everywhere))
    at_end: set[int] = set()
    ahead = list(last)
    while ahead:
        index = ahead.pop()
        if index in at_end or index in all_over:
            continue
        at_end.add(index)
        operation = form.list[index]
        if isinstance(operation, (Tally, RecentTally)):
            all_over.update(form.needed([operation.input]))
        else:
            ahead += inputs(operation)
    return Demand(tuple(sorted(all_over)), tuple(sorted(at_end - all_over)))
