"""The one small automaton that agrees with all words up to a length, if there is one.

Two different automata with at most n states differ on a word of at most 2n - 2 symbols (lengths: Theorem 2). So an
automaton with n states that agrees with a function on all words up to length 2n - 2 or more is the only one with so few
states. That says nothing of longer words: the function need not be regular. For a function that is not, infinitely many
lengths L leave no automaton with (L + 2) / 2 states or fewer (Karp 1967).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from math import factorial

from lengthwise.crasp.automata import Automaton

Word = tuple[int, ...]


@dataclass(frozen=True)
class Guess:
    """The automaton, minimal, and the length up to which all words agree with it."""

    automaton: Automaton
    agrees_to: int

    def __str__(self) -> str:
        """What is known of a target by it, as the beginning of a sentence."""
        most = self.automaton.states
        few = f"{most} states or fewer" if most > 1 else "one state"
        return f"Of the only automaton with {few} that agrees on all words up to length {self.agrees_to}: "


def guess(alphabet: tuple[str, ...], values: Mapping[Word, bool], longest: int) -> Guess | None:
    """The only automaton with n states, 2n - 2 <= longest, that agrees with `values` on all words up to `longest`.

    Words are told apart by their values after all endings up to a length, 0 first, then longer ones.
    """
    symbols = range(len(alphabet))
    for ending in range(longest + 1):
        endings = [end for size in range(ending + 1) for end in product(symbols, repeat=size)]
        found = _closed(alphabet, values, longest, endings, ending)
        if found is not None and _agrees(found, values, longest):
            return Guess(found, longest)
    return None


def fits_by_chance(found: Guess, words: int) -> bool:
    """Whether so many words, labelled by a fair coin, agree with some automaton as small, more often than once in a hundred.

    At most m^(km) 2^m / (m-1)! languages over k symbols have a minimal automaton with m states: its table and its accepting
    states, however the states but the first are numbered. Each has the labels with chance 2^-words.
    """
    symbols = len(found.automaton.alphabet)
    languages = sum(m ** (symbols * m) * 2**m // factorial(m - 1) for m in range(1, found.automaton.states + 1))
    return bool(2**words < 100 * languages)


def _closed(
    alphabet: tuple[str, ...], values: Mapping[Word, bool], longest: int, endings: list[Word], ending: int
) -> Automaton | None:
    """A state for each row of values, from the empty word on; None where the words are too short to tell them apart."""
    numbers: dict[tuple[bool, ...], int] = {}
    ahead: list[Word] = [()]
    numbers[tuple(values[end] for end in endings)] = 0
    table = []
    for word in ahead:
        row = []
        for symbol in range(len(alphabet)):
            longer = (*word, symbol)
            if len(longer) + ending > longest:
                return None
            says = tuple(values[longer + end] for end in endings)
            if says not in numbers:
                numbers[says] = len(ahead)
                ahead.append(longer)
                if 2 * len(ahead) - 2 > longest:
                    return None
            row.append(numbers[says])
        table.append(tuple(row))
    accepting = frozenset(number for number, word in enumerate(ahead) if values[word])
    return Automaton(alphabet, tuple(table), 0, accepting)


def _agrees(machine: Automaton, values: Mapping[Word, bool], longest: int) -> bool:
    level: list[tuple[Word, int]] = [((), machine.start)]
    for _ in range(longest + 1):
        if any(bool(values[word]) != (state in machine.accepting) for word, state in level):
            return False
        level = [
            ((*word, symbol), target)
            for word, state in level
            if len(word) < longest
            for symbol, target in enumerate(machine.table[state])
        ]
    return True
