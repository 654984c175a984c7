"""Where two linear-top programs differ, as boxes: an interval for every form, on edges of one setting.

On an edge the programs are Boolean combinations of literals F >= c. A literal is picked and set true, then false, until
both programs are constants; a box whose intervals are empty is dropped on the way.

Source: programs note, section 3.5.
"""

from collections.abc import Iterator

from lengthwise.crasp.operations import AllOf, AnyOf, AtLeastZero, Opposite, inputs
from lengthwise.verdict.guards import Guards, Setting

Interval = tuple[int | None, int | None]  # None: unbounded
Box = tuple[Interval, ...]
Values = dict[int, bool | None]


class TooManyCells(Exception):
    """The programs' Boolean part is too large to be taken apart."""


def differing_cells(guards: Guards, setting: Setting, most: int) -> Iterator[Box]:
    """All boxes on which the programs differ, on edges of a setting; a form without negative steps is at least 0."""
    start: list[Interval] = [(0, None) if form.monotone else (None, None) for form in guards.forms]
    ahead: list[Box] = [tuple(start)]
    visited = 0
    while ahead:
        box = ahead.pop()
        visited += 1
        if visited > most:
            raise TooManyCells
        values = known(guards, setting, box)
        both = [(values[left], values[right]) for left, right in guards.pair.roots]
        if any(one is not None and other is not None and one != other for one, other in both):
            yield box
            continue
        unknown = [
            root
            for (left, right), pair in zip(guards.pair.roots, both, strict=True)
            if left != right
            for root, value in zip((left, right), pair, strict=True)
            if value is None
        ]
        if unknown:
            ahead += _split(box, *_open_literal(guards, setting, values, unknown[0]))


def known(guards: Guards, setting: Setting, box: Box) -> Values:
    """Every operation at the top: true, false, or None where the box leaves it open."""
    literals = dict(setting.literals)
    values: Values = dict(setting.settled)
    for index in guards.top:
        if index in values:
            continue
        match guards.pair.operations.list[index]:
            case Opposite(one):
                inner = values[one]
                values[index] = None if inner is None else not inner
            case AllOf(several):
                found = [values[one] for one in several]
                values[index] = False if False in found else None if None in found else True
            case AnyOf(several):
                found = [values[one] for one in several]
                values[index] = True if True in found else None if None in found else False
            case AtLeastZero():
                form, threshold, above = literals[index]
                low, high = box[form]
                if low is not None and low >= threshold:
                    values[index] = above
                elif high is not None and high < threshold:
                    values[index] = not above
                else:
                    values[index] = None
    return values


def _open_literal(guards: Guards, setting: Setting, values: Values, index: int) -> tuple[int, int]:
    """The form and threshold of a literal that leaves an operation open."""
    listed = guards.pair.operations.list
    while not isinstance(listed[index], AtLeastZero):
        index = next(one for one in inputs(listed[index]) if values[one] is None)
    form, threshold, _ = dict(setting.literals)[index]
    return form, threshold


def _split(box: Box, form: int, threshold: int) -> list[Box]:
    """The part of a box where F < threshold, and the part where F >= threshold; both are not empty."""
    low, high = box[form]
    below, above = list(box), list(box)
    below[form], above[form] = (low, threshold - 1), (threshold, high)
    return [tuple(below), tuple(above)]
