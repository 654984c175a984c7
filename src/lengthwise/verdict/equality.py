"""The shortest word on which two functions differ: automata, machines, and pairs of programs.

Three searches, all breadth-first, so the first difference they meet is a shortest one:

    shortest_between   two automata: merges what is already known to be equal, ends always
    search             two machines: merges equal pairs of states, within a budget
    search_pair        two programs: many states at once, without pairs whose outputs are settled and equal

Source: Hopcroft and Karp 1971; programs note, Theorem 2 and section 4.1.
"""

from dataclasses import dataclass

import numpy as np

from lengthwise.crasp.automata import Automaton
from lengthwise.crasp.empty import at_zero
from lengthwise.errors import WrongInput
from lengthwise.shapes import Bool, Int
from lengthwise.verdict.machine import Machine, State, Word
from lengthwise.verdict.pair import Pair
from lengthwise.verdict.steps import Rows, Steps, unseen

MOST_STATES = 400_000
CELLS = 1 << 22  # numbers in the states that are stepped at once

Links = tuple[
    Int[np.ndarray, " _"], Int[np.ndarray, " _"]
]  # of every state of a level, the one before it and the symbol


@dataclass(frozen=True)
class Found:
    """What a search found: a shortest word, or that there is none, or that there is none up to a length.

    word      symbols of a shortest word on which the two differ, or None
    equal     whether it is proved that they are equal
    agrees    the length up to which they were seen to agree; None where they are equal
    states    how many states were kept
    """

    word: Word | None
    equal: bool
    agrees: int | None
    states: int

    @property
    def decided(self) -> bool:
        """Whether the search came to its end."""
        return self.equal or self.word is not None


def shortest_between(first: Automaton, second: Automaton) -> Word | None:
    """A shortest word in one of two languages and not in the other, or None where they are equal.

    Two automata with n1 and n2 states that differ do so within n1 + n2 - 2 symbols. Pairs already known to have equal
    futures, if the languages are equal at all, are skipped; the first difference found is a shortest one nevertheless.
    Source: Hopcroft and Karp 1971, breadth-first; programs note, Theorem 2 and the proof below it.
    """
    second = same_order(first, second)
    above = list(range(first.states + second.states))

    def top(state: int) -> int:
        while above[state] != state:
            above[state] = above[above[state]]
            state = above[state]
        return state

    def differ(left: int, right: int) -> bool:
        return (left in first.accepting) != (right in second.accepting)

    queue = [(first.start, second.start, -1, -1)]  # the pair, the place of the pair before it, the symbol
    if differ(first.start, second.start):
        return ()
    above[first.states + second.start] = first.start
    for place, (left, right, _, _) in enumerate(queue):
        for symbol in range(len(first.alphabet)):
            after = first.table[left][symbol], second.table[right][symbol]
            if differ(*after):
                return (*_path(queue, place), symbol)
            one, other = top(after[0]), top(first.states + after[1])
            if one != other:
                above[other] = one
                queue.append((*after, place, symbol))
    return None


def _path(queue: list[tuple[int, int, int, int]], place: int) -> Word:
    """The symbols that lead to a pair."""
    found = []
    while queue[place][2] >= 0:
        found.append(queue[place][3])
        place = queue[place][2]
    return tuple(reversed(found))


def same_order(first: Automaton, second: Automaton) -> Automaton:
    """The second automaton with its symbols in the order of the first."""
    if set(first.alphabet) != set(second.alphabet):
        got = f"{' '.join(map(repr, first.alphabet))} and {' '.join(map(repr, second.alphabet))}"
        raise WrongInput("two automata over one alphabet", got, "give both the same symbols")
    order = [second.alphabet.index(symbol) for symbol in first.alphabet]
    table = tuple(tuple(row[place] for place in order) for row in second.table)
    return Automaton(first.alphabet, table, second.start, second.accepting)


def search(first: Machine, second: Machine, most_states: int = MOST_STATES, longest: int | None = None) -> Found:
    """A shortest word on which two machines differ, by pairs of states, each visited once.

    Equal states have equal futures, so merging loses no shorter word, and no new pair means that they are equal.
    """
    if first.alphabet != second.alphabet:
        got = f"{first.alphabet} and {second.alphabet}"
        raise WrongInput("two functions over one alphabet", got, "give both the same symbols in the same order")
    start = first.start(), second.start()
    if first.output(start[0]) != second.output(start[1]):
        return Found((), False, None, 1)
    before: dict[tuple[State, State], tuple[tuple[State, State], int] | None] = {start: None}
    level, length = [start], 0
    while level:
        if length == longest or len(before) > most_states:
            return Found(None, False, length, len(before))
        after = []
        for one in level:
            for symbol in range(len(first.alphabet)):
                new = first.step(one[0], symbol), second.step(one[1], symbol)
                if new in before:
                    continue
                before[new] = one, symbol
                if first.output(new[0]) != second.output(new[1]):
                    return Found(_back(before, new), False, None, len(before))
                after.append(new)
        level, length = after, length + 1
    return Found(None, True, None, len(before))


def _back(before: dict[tuple[State, State], tuple[tuple[State, State], int] | None], here: tuple[State, State]) -> Word:
    found = []
    while (link := before[here]) is not None:
        here, symbol = link
        found.append(symbol)
    return tuple(reversed(found))


def search_pair(
    pair: Pair,
    most_states: int = MOST_STATES,
    longest: int | None = None,
    highest: dict[tuple[tuple[int, int], ...], int] | None = None,
) -> Found:
    """A shortest word on which two programs differ, level by level.

    A state of the pair is left out when its outputs are settled and equal, whatever comes. `highest` gives, for forms by
    their terms, an absolute value that no shortest disagreement exceeds (Theorem 6): states beyond it are left out too.
    No state left means that the programs are equal.
    """
    steps = Steps(pair.operations, [root for both in pair.roots for root in both])
    empty = at_zero(pair.operations)
    if any(bool(empty[left]) != bool(empty[right]) for left, right in pair.roots):
        return Found((), False, None, 1)
    ceilings = [(number, (highest or {}).get(form.terms)) for number, form in enumerate(steps.forms)]
    exact = steps.longest()
    rows = steps.start()
    seen = {rows.tobytes()}
    trail: list[Links] = []
    length = 0
    while len(rows):
        if length == longest or length >= exact:
            return Found(None, False, length, len(seen))
        parts, links = [], []
        size = max(1, CELLS // (steps.width * steps.symbols))
        for first in range(0, len(rows), size):
            after, truth = steps.step(rows[first : first + size])
            differ = np.zeros(len(after), dtype=bool)
            for left, right in pair.roots:
                differ |= truth[left] != truth[right]
            if differ.any():
                last = first * steps.symbols + int(differ.argmax())
                return Found(_trail(trail, last, steps.symbols), False, None, len(seen))
            keep = ~_settled(steps, pair, after)
            for number, ceiling in ceilings:
                if ceiling is not None:
                    keep &= np.abs(after[:, number]) <= ceiling
            kept = unseen(after, np.flatnonzero(keep), seen)
            if len(seen) > most_states:
                return Found(None, False, length, len(seen))
            parts.append(after[kept])
            links.append((first + kept // steps.symbols, kept % steps.symbols))
        trail.append((np.concatenate([one for one, _ in links]), np.concatenate([one for _, one in links])))
        rows, length = np.concatenate(parts), length + 1
    return Found(None, True, None, len(seen))


def _settled(steps: Steps, pair: Pair, rows: Rows) -> Bool[np.ndarray, " states"]:
    """Where every output is the same in both programs for ever."""
    true, false = steps.possible(rows)
    settled = np.ones(len(rows), dtype=bool)
    for left, right in pair.roots:
        if left != right:
            settled &= (~true[left] & ~true[right]) | (~false[left] & ~false[right])
    return settled


def _trail(trail: list[Links], last: int, symbols: int) -> Word:
    """The word that leads to a state, from the parents and symbols of all levels."""
    found = [last % symbols]
    parent = last // symbols
    for parents, letters in reversed(trail):
        found.append(int(letters[parent]))
        parent = int(parents[parent])
    return tuple(reversed(found))
