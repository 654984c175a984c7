"""All Booleans of C-RASP[periodic, local] by size, one smallest of each kind: those that agree on a sample are one.

Enumerated, smallest size first (recipes.py defines it), for Booleans P, Q already found:

    'a'   true   pos % m in {r}, m = 2, 3, 4          not P   P and Q   P or Q
    count(P) R c   count(P) - count(Q) R c            R one of == >= <= !=, every c that makes a difference
    count[back S](P) R c                              S one of {1} {2} {0,1} {1,2} {0,1,2}
    linear forms of at least two counts of symbols    coefficients up to 3 in absolute value, without common factor

Not enumerated: larger periods, sets of residues but as `or`, other windows, sums of counts of anything but symbols,
windows and global counts in one comparison, if-then-else (a Boolean combination of the two cases).

Why one of each kind is enough. Let P and P' hold at the same prefixes of the sample. Every operation's value at a
prefix is a function of the values of its inputs at prefixes of that prefix, which are in the sample too: not, and, or of
the values there, a count of those at the prefixes before, a comparison of counts there. So by induction on a program
that uses P', the program with P in its place has the same values at all prefixes, the labelled ones among them, and it
is no larger where P is no larger. Hence some smallest consistent program uses only representatives.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations, product
from math import gcd

import numpy as np

from lengthwise.verdict.recipes import Recipe, Terms, cost
from lengthwise.verdict.sample import Counts, Rows, Sample, keys, pack

PERIODS = (2, 3, 4)
RELATIONS = ("==", ">=", "<=", "!=")
WINDOWS = ((1,), (0, 1), (2,), (1, 2), (0, 1, 2))
LARGEST_COEFFICIENT = 3
CELLS = 1 << 20  # truth values in one piece of work


class Bank:
    """The Booleans found so far: rows, recipes and sizes, in the order in which they were found."""

    def __init__(self, sample: Sample) -> None:
        """Nothing yet."""
        self.sample = sample
        self.alphabet = sample.labelled.alphabet
        self.recipes: list[Recipe] = []
        self.starts = [0, 0]  # where the Booleans of each size begin
        self.looked_at = 0
        self.full = pack(np.ones((1, sample.size), dtype=bool))[0]
        self._rows: Rows = np.zeros((1024, len(sample.yes)), dtype=np.uint8)
        self._seen: set[int] = set()

    def __len__(self) -> int:
        """How many there are."""
        return len(self.recipes)

    @property
    def rows(self) -> Rows:
        """The bits of all of them."""
        return self._rows[: len(self)]

    def of_size(self, size: int) -> range:
        """The places of the Booleans of one size."""
        if size < 1 or size + 1 >= len(self.starts):
            return range(0)
        return range(self.starts[size], self.starts[size + 1])

    def add(self, rows: Rows, recipe: Callable[[int], Recipe]) -> None:
        """Keeps the rows that are new; `recipe` tells how a row was made, by its place."""
        self.looked_at += len(rows)
        new = [place for place, key in enumerate(keys(rows)) if key not in self._seen and not self._seen.add(key)]  # type: ignore[func-returns-value]
        while len(self) + len(new) > len(self._rows):
            self._rows = np.concatenate([self._rows, np.zeros_like(self._rows)])
        self._rows[len(self) : len(self) + len(new)] = rows[new]
        self.recipes += map(recipe, new)

    def piece(self) -> int:
        """How many rows are worked on at once."""
        return max(16, CELLS // self.sample.size)


def enumerate_size(bank: Bank, size: int) -> Iterator[None]:
    """Adds all Booleans of a size to a bank that has the smaller ones; stops after every piece of work."""
    _leaves(bank, size)
    yield
    for inside in range(size - 2, 0, -1):
        yield from _counts(bank, inside, size - 2 - inside)
    yield from _forms(bank, size)
    yield from _differences(bank, size)
    for left in range(1, (size - 1) // 2 + 1):
        yield from _pairs(bank, left, size - 1 - left)
    for one in pieces(bank.of_size(size - 1), bank.piece()):
        bank.add(~bank.rows[one.start : one.stop] & bank.full, lambda k, one=one: ("not", one[k]))  # type: ignore[misc]
        yield
    bank.starts.append(len(bank))


def pieces(places: range, length: int) -> Iterator[range]:
    """A range in parts."""
    for first in range(places.start, places.stop, length):
        yield range(first, min(first + length, places.stop))


def _leaves(bank: Bank, size: int) -> None:
    sample = bank.sample
    made: list[tuple[np.ndarray, Recipe]] = []
    if size == 1:
        made += [(sample.symbols == symbol, ("is", symbol)) for symbol in range(len(bank.alphabet))]
        made.append((np.ones(sample.size, dtype=bool), ("true",)))
    for period in PERIODS:
        if 1 + cost(period) == size:
            made += [(sample.lengths % period == r, ("phi", period, r)) for r in range(period)]
    if made:
        bank.add(pack(np.array([truth for truth, _ in made])), lambda k: made[k][1])


def thresholds(least: int, most: int, worth: int) -> list[int]:
    """The constants of one cost from least to most, the smallest in absolute value first."""
    return sorted((c for c in range(least, most + 1) if cost(c) == worth), key=lambda c: (abs(c), -c))


def _compared(bank: Bank, counts: Counts, constants: Sequence[int], recipe: Callable[[int, str, int], Recipe]) -> None:
    """Adds the four comparisons of counts with constants; `recipe` takes the row, the relation and the constant."""
    if not constants:
        return
    table = counts[None] - np.array(constants, dtype=counts.dtype)[:, None, None]
    truth = np.concatenate([table == 0, table >= 0, table <= 0, table != 0])
    many = len(counts)

    def of(k: int) -> Recipe:
        which, row = divmod(k, many)
        relation, constant = divmod(which, len(constants))
        return recipe(row, RELATIONS[relation], constants[constant])

    bank.add(pack(truth.reshape(-1, counts.shape[1])), of)


def _counts(bank: Bank, inside: int, spare: int) -> Iterator[None]:
    """Comparisons of one count of a Boolean of a size, with constants, and offsets, of the cost that is left."""
    for one in pieces(bank.of_size(inside), bank.piece() // 4):
        rows = bank.rows[one.start : one.stop]
        counts = bank.sample.count(rows)
        constants = thresholds(0, int(counts.max()), spare)
        _compared(bank, counts, constants, lambda k, r, c, one=one: ("sum", ((1, one[k]),), r, c))  # type: ignore[misc]
        yield
        for offsets in WINDOWS:
            left = spare - sum(map(cost, offsets))
            if left >= 0 and (constants := thresholds(0, len(offsets), left)):
                recent = bank.sample.recent(rows, offsets)
                _compared(bank, recent, constants, lambda k, r, c, one=one, s=offsets: ("recent", one[k], s, r, c))  # type: ignore[misc]
        yield


def _differences(bank: Bank, size: int) -> Iterator[None]:
    """Comparisons of the difference of two counts with a constant."""
    for both in range(2, size - 2):
        for first in range(1, both // 2 + 1):
            for i, j in _couples(bank, first, both - first, bank.piece() // 4):
                counts = bank.sample.count(bank.rows[i]) - bank.sample.count(bank.rows[j])
                constants = thresholds(int(counts.min()), int(counts.max()), size - 3 - both)
                _compared(bank, counts, constants, lambda k, r, c, i=i, j=j: ("sum", ((1, i[k]), (-1, j[k])), r, c))  # type: ignore[misc]
                yield


def _forms(bank: Bank, size: int) -> Iterator[None]:
    """Comparisons of linear forms of counts of symbols with a constant."""
    letters = len(bank.alphabet)
    tallies = bank.sample.count(bank.rows[:letters]).astype(np.int32)
    by_cost: dict[int, list[Terms]] = {}
    for terms, spare in symbol_forms(letters, size - 1):
        by_cost.setdefault(spare, []).append(terms)
    for spare, forms in by_cost.items():
        for one in pieces(range(len(forms)), bank.piece() // 8):
            some = [forms[place] for place in one]
            factors = np.array([[{i: k for k, i in terms}.get(i, 0) for i in range(letters)] for terms in some])
            counts = factors.astype(np.int32) @ tallies
            constants = thresholds(int(counts.min()), int(counts.max()), spare)
            _compared(bank, counts, constants, lambda k, r, c, some=some: ("sum", some[k], r, c))  # type: ignore[misc]
            yield


def symbol_forms(letters: int, size: int) -> Iterator[tuple[Terms, int]]:
    """Linear forms of at least two counts of symbols of at most a size, and what that leaves for a constant."""
    values = [k for k in range(-LARGEST_COEFFICIENT, LARGEST_COEFFICIENT + 1) if k]
    for many in range(2, min(letters, size // 2) + 1):
        for chosen in combinations(range(letters), many):
            for coefficients in product(values, repeat=many):
                spare = size - 2 * many - sum(map(cost, coefficients))
                if spare >= 0 and coefficients[0] > 0 and gcd(*coefficients) == 1:
                    yield tuple(zip(coefficients, chosen, strict=True)), spare


def _pairs(bank: Bank, first: int, second: int) -> Iterator[None]:
    """P and Q, P or Q for P and Q of two sizes."""
    for i, j in _couples(bank, first, second, bank.piece()):
        left, right = bank.rows[i], bank.rows[j]
        bank.add(left & right, lambda k, i=i, j=j: ("and", i[k], j[k]))  # type: ignore[misc]
        bank.add(left | right, lambda k, i=i, j=j: ("or", i[k], j[k]))  # type: ignore[misc]
        yield


def _couples(bank: Bank, first: int, second: int, length: int) -> Iterator[tuple[list[int], list[int]]]:
    """Pairs of a Boolean of one size and a later one of another, in parts of about so many."""
    for many in pieces(bank.of_size(second), length):
        for few in pieces(bank.of_size(first), max(1, length // len(many))):
            later = np.array(many)[None, :] > np.array(few)[:, None]
            i, j = np.nonzero(later)
            if len(i):
                yield (i + few.start).tolist(), (j + many.start).tolist()
