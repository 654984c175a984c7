"""Covers as expressions of the language, in the shortest words."""

from collections.abc import Iterable, Sequence
from functools import reduce

from lengthwise.crasp.cover import Box, Interval, Point, Space, cover, length
from lengthwise.crasp.syntax import (
    And,
    Boolean,
    Compare,
    Count,
    Negative,
    Not,
    Number,
    Or,
    Phi,
    Quantity,
    Relation,
    Sym,
    Truth,
)

OPPOSITE: dict[Relation, Relation] = {">=": "<", "<": ">=", "<=": ">", ">": "<=", "==": "!=", "!=": "=="}


def any_of(several: Iterable[Boolean]) -> Boolean:
    """Whether one of some Booleans holds."""
    found = [part for one in several for part in _flat(one, Or)]
    if Truth(True) in found:
        return Truth(True)
    return reduce(Or, found) if found else Truth(False)


def all_of(several: Iterable[Boolean]) -> Boolean:
    """Whether all of some Booleans hold."""
    found = [part for one in several for part in _flat(one, And) if part != Truth(True)]
    return reduce(And, found) if found else Truth(True)


def _flat(one: Boolean, kind: type[And] | type[Or]) -> list[Boolean]:
    """The parts of a chain of one connective, left to right."""
    parts, ahead = list[Boolean](), [one]
    while ahead:
        here = ahead.pop()
        if isinstance(here, kind):
            ahead += [here.right, here.left]
        else:
            parts.append(here)
    return parts


def total(terms: Sequence[tuple[int, Quantity]]) -> Quantity:
    """A sum of integer multiples, those with a plus first."""
    result: Quantity | None = None
    for factor, body in sorted(terms, key=lambda term: term[0] < 0):
        term = body if abs(factor) == 1 else abs(factor) * body
        if result is None:
            result = term if factor > 0 else Negative(body) if factor == -1 else factor * body
        else:
            result = result + term if factor > 0 else result - term
    return Number(0) if result is None else result


def choice(
    wanted: Sequence[Point],
    forbidden: Sequence[Point],
    space: Space,
    alphabet: Sequence[str],
    quantities: Sequence[Quantity],
    exact: bool = False,
) -> Boolean:
    """A test that holds at the wanted points and not at the forbidden ones, said directly or as what it is not."""
    direct = cover(wanted, forbidden, space, exact)
    opposite = cover(forbidden, wanted, space, exact)
    if not opposite or length(direct, space) <= length(opposite, space):
        return test(direct, space, alphabet, quantities)
    everywhere = {point[0] for point in wanted}
    refused = [_letter_turned(box, space, everywhere) or _box(box, space, alphabet, quantities) for box in opposite]
    if all(isinstance(tests, tuple) or len(tests) == 1 for tests in refused):
        return all_of(
            test([tests], space, alphabet, quantities) if isinstance(tests, tuple) else _opposite(tests[0])
            for tests in refused
        )
    return ~test(opposite, space, alphabet, quantities)


def _letter_turned(box: Box, space: Space, read: set[int]) -> Box | None:
    """The other letters, for a box that tests the letter only; None for other boxes. `read`: what may stand there."""
    first, *others = box
    if not isinstance(first, frozenset) or any(side is not None for side in others):
        return None
    none = space.sizes[0] - 1
    turned = frozenset(range(space.sizes[0])) - first
    if none in turned and none not in read and 2 * (len(turned) - 1) <= none:
        turned -= {none}
    return (turned, *others)


def test(boxes: Sequence[Box], space: Space, alphabet: Sequence[str], quantities: Sequence[Quantity]) -> Boolean:
    """A test that holds in some boxes."""
    return any_of(all_of(_box(box, space, alphabet, quantities)) for box in boxes)


def _opposite(one: Boolean) -> Boolean:
    """The negation of a test, without `not` where the language has a relation for it."""
    if isinstance(one, Compare):
        return Compare(one.left, OPPOSITE[one.relation], one.right)
    if isinstance(one, Phi):
        return Phi(one.period, tuple(sorted(set(range(one.period)) - set(one.residues))))
    return one.body if isinstance(one, Not) else ~one


def _box(box: Box, space: Space, alphabet: Sequence[str], quantities: Sequence[Quantity]) -> list[Boolean]:
    finite = len(space.sizes)
    sets = [side if isinstance(side, frozenset) else None for side in box[:finite]]
    tests = [*_letters([sets[0], *sets[2:]], alphabet)]
    if sets[1] is not None:
        tests.append(_remainders(space.sizes[1], sets[1]))
    for quantity, side in zip(quantities, box[finite:], strict=True):
        if isinstance(side, tuple):
            tests += _interval(quantity, side)
    return tests


def _remainders(period: int, residues: frozenset[int]) -> Boolean:
    """A test of the position modulo the least period that does."""
    for least in range(1, period + 1):
        small = {residue % least for residue in residues}
        if period % least == 0 and len(small) * (period // least) == len(residues):
            return Phi(least, tuple(sorted(small))) if len(small) < least else Truth(True)
    raise AssertionError("the period itself does")


def _letters(sets: Sequence[frozenset[int] | None], alphabet: Sequence[str]) -> list[Boolean]:
    """Tests of the letter at the position and at offsets before it; offsets with one set go together."""
    none = len(alphabet)
    groups: dict[frozenset[int], list[int]] = {}
    for offset, allowed in enumerate(sets):
        if allowed is not None:
            groups.setdefault(allowed, []).append(offset)
    tests: list[Boolean] = []
    for allowed, offsets in groups.items():
        symbols = [symbol for index, symbol in enumerate(alphabet) if index in allowed]
        missing = [symbol for index, symbol in enumerate(alphabet) if index not in allowed]
        if offsets == [0]:
            tests.append(_one_of(symbols) if none not in allowed else _none_of(missing))
        elif none in allowed:
            tests.append(Count(any_of(map(Sym, missing)), tuple(offsets)).eq(0))
        elif len(symbols) == len(alphabet):
            tests.append(Count(Truth(True), tuple(offsets)).eq(len(offsets)))
        else:
            tests.append(Count(any_of(map(Sym, symbols)), tuple(offsets)).eq(len(offsets)))
    return tests


def _one_of(symbols: Sequence[str]) -> Boolean:
    return any_of(map(Sym, symbols))


def _none_of(symbols: Sequence[str]) -> Boolean:
    return ~any_of(map(Sym, symbols)) if symbols else Truth(True)


def _interval(quantity: Quantity, side: Interval) -> list[Boolean]:
    low, high = side
    if low is not None and low == high:
        return [quantity.eq(low)]
    tests: list[Boolean] = []
    if low is not None:
        tests.append(quantity > low - 1 if low > 0 else quantity >= low)
    if high is not None:
        tests.append(quantity < high + 1 if high < 0 else quantity <= high)
    return tests
