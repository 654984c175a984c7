"""Automata whose letters are arrows between idempotents; what `obstruction` is made of.

A place is (idempotent e, state q = q e); an arrow (e, t, f) with t = e t f leads it to (f, q t).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from lengthwise.crasp.automata import Automaton
from lengthwise.crasp.languages import components
from lengthwise.crasp.semigroup import Element
from lengthwise.crasp.separation import levels

Arrow = tuple[int, int, Element]  # number of e, number of f, t


class Spent(Exception):
    """More work than allowed."""


@dataclass
class Budget:
    """How much work is left: products of elements, and moves of arrows."""

    left: int

    def spend(self, work: int) -> None:
        """Takes some work off; raises when there is none left."""
        self.left -= work
        if self.left < 0:
            raise Spent


def component_of(machine: Automaton) -> list[int]:
    """For each state the number of its strongly connected component."""
    numbers = [0] * machine.states
    for number, states in enumerate(components(machine.table)):
        for state in states:
            numbers[state] = number
    return numbers


def confused(
    machine: Automaton,
    component: Sequence[int],
    idempotents: Sequence[Element],
    arrows: Iterable[Arrow],
    budget: Budget,
) -> tuple[int, int, int] | None:
    """An idempotent (its number) and two of its states in one class that some letter leads to different states.

    Leaving out arrows can only tell more places apart, so what is confused on some arrows is confused on all.
    """
    places = [(index, state) for index, e in enumerate(idempotents) for state in sorted(set(e))]
    number = {place: index for index, place in enumerate(places)}
    moves = []
    for letter, (i, j, t) in enumerate(arrows):
        inside = [state for state in set(idempotents[i]) if component[state] == component[t[state]]]
        budget.spend(len(inside))
        moves += [(number[i, state], letter, number[j, t[state]]) for state in inside]
    after: list[set[int]] = [set() for _ in places]
    for source, _, target in moves:
        after[source].add(target)
    groups = components([sorted(targets) for targets in after])
    together = {place: index for index, group in enumerate(groups) for place in group}
    kept = [move for move in moves if together[move[0]] == together[move[2]]]
    classes = levels([(i, together[number[i, state]]) for i, state in places], kept)[-1].after
    first: dict[int, int] = {}
    for index, klass in enumerate(classes):
        (i, p), (_, q) = places[index], places[first.setdefault(klass, index)]
        if machine.table[p] != machine.table[q]:
            return i, q, p
    return None
