"""How much the first part of a word must tell the second: rows, rank and fooling sets of M[x, y] = f(xy).

Whoever holds x must send at least log2 of the number of different rows, one way; log2 of the rank, or of a fooling set, bounds
conversations both ways. A periodic, local limit transformer gets by with O(log n) bits (Huang et al. 2025, Theorem
12), so linear growth puts a function outside the class; slower growth says nothing.
"""

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from lengthwise.errors import WrongInput
from lengthwise.jsonform import to_json
from lengthwise.verdict.growth import Growth, growth_of
from lengthwise.verdict.machine import Machine, OracleMachine, Output, State

PRIME = 2**61 - 1
MOST_STATES = 200_000  # states in one layer
DETAILED = 40  # lengths up to which ranks and fooling sets are found; beyond, rows alone
MOST_CELLS = 250_000  # entries of a matrix that is searched for a fooling set


@dataclass(frozen=True)
class Row:
    """One length, cut after `cut` symbols: different rows, rank over Q (at least) and GF(2), a fooling set (at least).

    The last three are None where the function has more than two values or the word is long; fooling also where the
    matrix is too large to write down.
    """

    length: int
    cut: int
    rows: int
    rank: int | None
    rank_mod_2: int | None
    fooling: int | None

    @property
    def bits(self) -> int:
        """One-way communication, exactly: ceil(log2 rows)."""
        return (self.rows - 1).bit_length()


@dataclass(frozen=True)
class Communication:
    """The table for the lengths 2, 4, ... cut in the middle, the worst cut of each, and how the rows grow."""

    name: str
    rows: tuple[Row, ...]
    worst: tuple[Row, ...]
    growth: Growth
    stopped: str | None

    @property
    def rank(self) -> tuple[int | None, ...]:
        """The ranks over Q, length by length."""
        return tuple(row.rank for row in self.rows)

    def fields(self) -> dict[str, Any]:
        """What the verb prints with --json."""
        return {
            "sentence": str(self),
            "rows": [_fields(row) for row in self.rows],
            "worst_cuts": [_fields(row) for row in self.worst],
            "rank": self.rank,
            "growth": self.growth.verdict,
            "fits": self.growth.fits(),
            "stopped": self.stopped,
        }

    def to_json(self) -> str:
        """The fields as a JSON object."""
        return to_json(self.fields())

    def __str__(self) -> str:
        """The verdict as a sentence."""
        last = self.rows[-1]
        means = {
            "linear": "and if it goes on so, no periodic, local limit transformer computes it",
            "undecided": "which these lengths cannot tell",
        }.get(self.growth.verdict, "which is no obstacle to a periodic, local limit transformer")
        return (
            f"{self.name}: {last.rows} different rows at length {last.length} cut in the middle, {last.bits} bits; "
            f"growth {self.growth.verdict} as far as counted, {means}."
        )


def communication(machine: Machine, max_length: int, name: str = "the function") -> Communication:
    """The communication table of a function on words for even lengths up to max_length.

    Ours: states of the machine are merged, so n reaches as far as they stay few; a function of which only its values
    are known has a state for every word. The table ends before a layer of more than 200,000 states.
    """
    if max_length < 2:
        raise WrongInput(
            "a length of at least 2", f"{max_length}", "a word of one symbol has no two parts", "max_length"
        )
    rows, worst, stopped = [], [], None
    layers: Layers | None = None
    for length in range(2, max_length + 1, 2):
        layers = reachable(machine, length, layers)
        if layers is None:
            stopped = f"more than {MOST_STATES} states at length {length}"
            break
        merged = merge(machine, layers)
        rows.append(_row(machine, layers, merged, length // 2))
        cut = max(range(1, length), key=lambda c: len(set(merged[c].values())))
        worst.append(rows[-1] if cut == length // 2 else _row(machine, layers, merged, cut))
    if not rows:
        raise WrongInput(
            "a function with few states", str(stopped), "give a shorter length or an automaton", "max_length"
        )
    return Communication(name, tuple(rows), tuple(worst), growth_of([row.rows for row in rows]), stopped)


Layers = list[list[State]]
Merged = list[dict[State, int]]


def reachable(machine: Machine, length: int, begun: Layers | None = None) -> Layers | None:
    """The states after 0, 1, ..., length symbols, the first of them already known; None where a layer has too many."""
    layers: Layers = [[machine.start()]] if begun is None else list(begun)
    symbols = range(len(machine.alphabet))
    while len(layers) <= length:
        after = dict.fromkeys(machine.step(state, symbol) for state in layers[-1] for symbol in symbols)
        if len(after) > MOST_STATES:
            return None
        layers.append(list(after))
    return layers


def merge(machine: Machine, layers: Layers) -> Merged:
    """For every layer, states numbered so that two have one number iff all words to the end give them one value."""
    symbols = range(len(machine.alphabet))
    merged: Merged = [{} for _ in layers]
    numbers: dict[Hashable, int] = {}
    for state in layers[-1]:
        merged[-1][state] = numbers.setdefault(machine.output(state), len(numbers))
    for depth in range(len(layers) - 2, -1, -1):
        numbers = {}
        after = merged[depth + 1]
        for state in layers[depth]:
            key = tuple(after[machine.step(state, symbol)] for symbol in symbols)
            merged[depth][state] = numbers.setdefault(key, len(numbers))
    return merged


def _row(machine: Machine, layers: Layers, merged: Merged, cut: int) -> Row:
    values = {machine.output(state) for state in layers[-1]}
    count = len(set(merged[cut].values()))
    length = len(layers) - 1
    if len(values) > 2 or length > DETAILED:
        return Row(length, cut, count, None, None, None)
    ordered = sorted(values, key=repr)  # False before True
    truth = {
        value: int(bool(value)) if isinstance(value, (bool, int)) else place for place, value in enumerate(ordered)
    }
    ranks = [rank(machine, layers, merged, cut, truth, modulus) for modulus in (PRIME, 2)]
    matrix = written(machine, layers, merged, cut, truth)
    return Row(length, cut, count, ranks[0], ranks[1], None if matrix is None else fooling_set(matrix))


def rank(machine: Machine, layers: Layers, merged: Merged, cut: int, truth: dict[Output, int], modulus: int) -> int:
    """The rank of M modulo a prime: over Q it is at least that, and the same unless the prime divides a minor.

    Rows are vectors over all words to the end. Those of one layer are spanned by few; a row's coordinates are read off
    its successors' coordinates, symbol by symbol, so the matrix is never written down.
    """
    coordinates: dict[int, tuple[int, ...]] = {}
    for state, number in merged[-1].items():
        coordinates[number] = (truth[machine.output(state)],)
    width = 1
    for depth in range(len(layers) - 2, cut - 1, -1):
        vectors: dict[int, tuple[int, ...]] = {}
        for state, number in merged[depth].items():
            if number not in vectors:
                parts = (coordinates[merged[depth + 1][machine.step(state, a)]] for a in range(len(machine.alphabet)))
                vectors[number] = tuple(entry for part in parts for entry in part)
        coordinates, width = in_basis(vectors, modulus)
    return width if cut < len(layers) - 1 else int(any(any(row) for row in coordinates.values()))


def in_basis(vectors: dict[int, tuple[int, ...]], modulus: int) -> tuple[dict[int, tuple[int, ...]], int]:
    """The vectors' coordinates in a basis of their span, modulo a prime, and its dimension.

    The entries of a reduced echelon basis at its pivots are the coordinates: v = sum_i v[pivot_i] b_i.
    """
    basis: dict[int, list[int]] = {}
    for vector in vectors.values():
        rest = [entry % modulus for entry in vector]
        for pivot, row in basis.items():
            if rest[pivot]:
                factor = rest[pivot]
                rest = [(a - factor * b) % modulus for a, b in zip(rest, row, strict=True)]
        lead = next((place for place, entry in enumerate(rest) if entry), None)
        if lead is None:
            continue
        inverse = pow(rest[lead], -1, modulus)
        rest = [entry * inverse % modulus for entry in rest]
        for pivot, row in basis.items():
            if row[lead]:
                factor = row[lead]
                basis[pivot] = [(a - factor * b) % modulus for a, b in zip(row, rest, strict=True)]
        basis[lead] = rest
    pivots = sorted(basis)
    found = {number: tuple(vector[pivot] % modulus for pivot in pivots) for number, vector in vectors.items()}
    return found, len(pivots)


def written(
    machine: Machine, layers: Layers, merged: Merged, cut: int, truth: dict[Output, int]
) -> list[tuple[int, ...]] | None:
    """The matrix of different rows by different columns, as a list of columns; None where it has too many entries."""
    columns = {tuple(truth[_value(machine, layers[-1], merged[-1], n)] for n in range(_size(merged[-1])))}
    for depth in range(len(layers) - 2, cut - 1, -1):
        heads: dict[int, State] = {}
        for state, number in merged[depth].items():
            heads.setdefault(number, state)
        steps = [
            [merged[depth + 1][machine.step(heads[number], symbol)] for number in range(len(heads))]
            for symbol in range(len(machine.alphabet))
        ]
        columns = {tuple(column[target] for target in row) for column in columns for row in steps}
        if len(columns) * len(heads) > MOST_CELLS:
            return None
    return sorted(columns)


def _size(numbers: dict[State, int]) -> int:
    return len(set(numbers.values()))


def _value(machine: Machine, states: list[State], numbers: dict[State, int], wanted: int) -> Output:
    return machine.output(next(state for state in states if numbers[state] == wanted))


def fooling_set(columns: Sequence[tuple[int, ...]]) -> int:
    """The size of a set of ones, no two of which have ones at both of their crossings; found greedily.

    Any protocol, both ways, must tell all of them apart.
    """
    ones = [(row, c) for c, column in enumerate(columns) for row, entry in enumerate(column) if entry]
    weight = {row: sum(column[row] for column in columns) for row, _ in ones}
    ones.sort(key=lambda place: (weight[place[0]] * sum(columns[place[1]]), place))
    chosen: list[tuple[int, int]] = []
    for row, c in ones:
        if all(not (columns[other][row] and columns[c][before]) for before, other in chosen):
            chosen.append((row, c))
    return len(chosen)


def distinct_rows(function: Callable[[Any, Any], Hashable], first: Iterable[Any], second: Iterable[Any]) -> int:
    """How many of the first parts behave differently on some second part, for any function of two parts."""
    others = list(second)
    return len({tuple(function(one, other) for other in others) for one in first})


def all_words(alphabet: Sequence[str], length: int) -> list[str]:
    """All words of one length."""
    return ["".join(word) for word in product(alphabet, repeat=length)]


def oracle_communication(
    alphabet: Sequence[str], function: Callable[[Any], Any], max_length: int, name: str = "the function"
) -> Communication:
    """The table of a function of which only its values are known."""
    return communication(OracleMachine(tuple(alphabet), function), max_length, name)


def _fields(row: Row) -> dict[str, Any]:
    return {
        "length": row.length,
        "cut": row.cut,
        "rows": row.rows,
        "bits": row.bits,
        "rank": row.rank,
        "rank_mod_2": row.rank_mod_2,
        "fooling": row.fooling,
    }
