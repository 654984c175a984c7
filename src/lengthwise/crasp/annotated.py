"""Automata whose states also know what periodic and local predicates see: the position modulo a period, the last letters.

A state of the annotated automaton is (state, position modulo m, last t letters). Near the start fewer than t letters
have been read, and the window is shorter. All that a program with period m and window t reads of positions, at a letter,
is this annotation before the letter and the letter.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from lengthwise.crasp.automata import Automaton
from lengthwise.crasp.languages import components
from lengthwise.crasp.separation import Level, Move, levels

MOST_ANNOTATED = 6_000


class Place(NamedTuple):
    """Where a word has led: state, residue of its length, its last letters."""

    state: int
    residue: int
    window: tuple[int, ...]


@dataclass(frozen=True)
class Annotated:
    """The annotated automaton, from its start; places are numbered in breadth-first order."""

    machine: Automaton
    period: int
    window: int
    places: tuple[Place, ...]
    table: tuple[tuple[int, ...], ...]

    def annotations(self) -> list[tuple[int, tuple[int, ...]]]:
        """What is seen of the position at each place, apart from the state."""
        return [(place.residue, place.window) for place in self.places]

    def internal(self, part: Sequence[int]) -> list[Move]:
        """The moves inside a part."""
        inside = set(part)
        return [(s, letter, t) for s in part for letter, t in enumerate(self.table[s]) if t in inside]


def annotated(machine: Automaton, period: int, window: int, most: int = MOST_ANNOTATED) -> Annotated | None:
    """The annotated automaton; None where it has more than `most` places."""
    places = [Place(machine.start, 0, ())]
    numbers, table = {places[0]: 0}, list[tuple[int, ...]]()
    for place in places:
        row = []
        for letter, state in enumerate(machine.table[place.state]):
            recent = (*place.window, letter)[-window:] if window else ()
            after = Place(state, (place.residue + 1) % period, recent)
            if after not in numbers:
                if len(places) == most:
                    return None
                numbers[after] = len(places)
                places.append(after)
            row.append(numbers[after])
        table.append(tuple(row))
    return Annotated(machine, period, window, tuple(places), tuple(table))


@dataclass(frozen=True)
class Part:
    """A part of the annotated automaton that is left once and for all, and how far its places can be told apart."""

    places: tuple[int, ...]
    moves: tuple[Move, ...]
    levels: tuple[Level, ...]  # over indices into places; moves too
    confused: tuple[int, int] | None  # two places of one class that some letter leads to different states


def part_of(product: Annotated, places: Sequence[int]) -> Part:
    """Refines a part; no more rounds than it takes to tell apart what must be told apart."""
    number = {place: index for index, place in enumerate(places)}
    moves = [(number[s], letter, number[t]) for s, letter, t in product.internal(places)]
    notes = product.annotations()
    rounds = levels([notes[place] for place in places], moves)
    rows = [product.machine.table[product.places[place].state] for place in places]
    needed = []
    confused = _confused(rounds[0].before, rows)
    for level in rounds:
        if confused is None:
            break
        needed.append(level)
        confused = _confused(level.after, rows)
    found = None if confused is None else (places[confused[0]], places[confused[1]])
    return Part(tuple(places), tuple(moves), tuple(needed), found)


def _confused(classes: Sequence[int], rows: Sequence[tuple[int, ...]]) -> tuple[int, int] | None:
    """Two members of one class with different rows."""
    first: dict[int, int] = {}
    for index, number in enumerate(classes):
        other = first.setdefault(number, index)
        if rows[other] != rows[index]:
            return other, index
    return None


def parts_by(product: Annotated, grain: str) -> list[list[int]]:
    """The places in parts, each before those it leads to.

    grain "places": the components of the annotated automaton; "phases": those of the automaton with residues, all
    windows together; "states": those of the automaton. Each choice makes a right program where it tells states apart;
    the first does so whenever any program can, the last makes the fewest parts.
    """
    keys: list[object]
    if grain == "places":
        keys = list(range(len(product.places)))
    elif grain == "phases":
        keys = [(place.state, place.residue) for place in product.places]
    else:
        keys = [place.state for place in product.places]
    numbers: dict[object, int] = {}
    node = [numbers.setdefault(key, len(numbers)) for key in keys]
    after: list[set[int]] = [set() for _ in numbers]
    for place, row in enumerate(product.table):
        after[node[place]].update(node[target] for target in row)
    members: list[list[int]] = [[] for _ in numbers]
    for place, number in enumerate(node):
        members[number].append(place)
    return [
        sorted(place for number in part for place in members[number]) for part in components([sorted(s) for s in after])
    ]


def joined(product: Annotated, parts: Sequence[Sequence[int]]) -> list[list[int]]:
    """The parts with neighbours joined where the states of both, and of what lies between, can still be told apart.

    One round of counts must be enough for what is joined, or as many as one of the two took before. Each pass joins
    neighbours, so that long chains take few passes; a pass that joins nothing is the last.
    """
    here = [list(part) for part in parts]
    rounds = [len(part_of(product, part).levels) for part in here]
    index, before = 0, 0
    while index < len(here) or len(here) != before:
        if index >= len(here):
            index, before = 0, len(here)
        after = _after(product, here)
        for other in sorted(after[index] - {index}):
            group = _between(after, index, other)
            places = sorted(place for number in group for place in here[number])
            both = part_of(product, places)
            if both.confused is None and len(both.levels) <= max(1, rounds[index], rounds[other]):
                kept = [(part, rounds[n]) for n, part in enumerate(here) if n not in group]
                here, rounds = _ordered(product, [*kept, (places, len(both.levels))])
                index = here.index(places) + 1
                break
        else:
            index += 1
    return here


def _after(product: Annotated, parts: Sequence[Sequence[int]]) -> list[set[int]]:
    """For each part the parts that a letter leads to."""
    home = {place: number for number, part in enumerate(parts) for place in part}
    return [{home[t] for place in part for t in product.table[place] if t in home} for part in parts]


def _between(after: Sequence[set[int]], first: int, last: int) -> set[int]:
    """Two parts with all that lie on paths from the first to the last; parts come before those they lead to."""
    leads = [number == last for number in range(last + 1)]
    for number in reversed(range(first, last)):
        leads[number] = any(leads[other] for other in after[number] if number < other <= last)
    reached = {first}
    for number in range(first, last):
        if number in reached:
            reached |= after[number]
    return {number for number in reached if number <= last and leads[number]}


def _ordered(product: Annotated, parts: Sequence[tuple[list[int], int]]) -> tuple[list[list[int]], list[int]]:
    """The parts with their rounds, each before those it leads to."""
    after = _after(product, [part for part, _ in parts])
    order = [number for group in components([sorted(targets) for targets in after]) for number in group]
    return [parts[number][0] for number in order], [parts[number][1] for number in order]


def all_told_apart(product: Annotated) -> bool:
    """Whether programs of this period and window tell all places apart."""
    return all(part_of(product, places).confused is None for places in parts_by(product, "places"))


def told_apart(machine: Automaton, period: int, window: int) -> bool | None:
    """Whether some program of this period and window accepts a regular language; None where that is too large to ask.

    The automaton must be minimal. Exact for the one period and window: docs/decide.md, Theorems 1 and 2.
    """
    product = annotated(machine, period, window)
    return None if product is None else all_told_apart(product)
