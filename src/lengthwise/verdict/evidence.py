"""What follows from a function's values alone: a small automaton, its communication, a short program. Never a proof.

A function on words that is given as Python code, or as labelled words, is known on finitely many words. Every finite set
of labels is that of some program and of some function outside, so nothing here is more than checked to a length.
"""

import itertools
import random
import time
from collections.abc import Mapping
from dataclasses import dataclass

from lengthwise.crasp.automata import Automaton
from lengthwise.verdict.communication import Communication, communication
from lengthwise.verdict.guess import Guess, Word, guess
from lengthwise.verdict.machine import OracleMachine, Output, State

MOST_WORDS = 90_000
LONGEST_UNARY = 60
LONGER, TESTS = 3, 200
FEWEST_HALVES = 5
CLOSELY = 0.1  # bits


@dataclass
class Remembered:
    """A function whose values are kept, so that no word is asked for twice."""

    machine: OracleMachine
    values: dict[Word, Output]

    @property
    def alphabet(self) -> tuple[str, ...]:
        """The symbols."""
        return self.machine.alphabet

    def start(self) -> State:
        """The empty word."""
        return ()

    def step(self, state: State, symbol: int) -> State:
        """The longer word."""
        return (*state, symbol)  # type: ignore[misc]

    def output(self, state: State) -> Output:
        """The value, asked for once."""
        word: Word = state  # type: ignore[assignment]
        if word not in self.values:
            self.values[word] = self.machine.output(word)
        return self.values[word]


def asked(machine: OracleMachine, seconds: float) -> tuple[Remembered, int]:
    """The values on all words up to a length: as long as they are at most 90,000 words, or until the time is used."""
    kept = Remembered(machine, {})
    until = time.perf_counter() + seconds
    symbols = range(len(machine.alphabet))
    longest = -1
    for length in range(LONGEST_UNARY + 1):
        if sum(len(symbols) ** size for size in range(length + 1)) > MOST_WORDS:
            break
        for word in itertools.product(symbols, repeat=length):
            kept.output(word)
            if time.perf_counter() > until and longest >= 1:
                return kept, longest
        longest = length
    return kept, longest


def truths(values: Mapping[Word, Output]) -> dict[Word, bool] | None:
    """The values as truth values; None where some is anything but True, False, 1 or 0."""
    if not set(values.values()) <= {False, True}:
        return None
    return {word: bool(value) for word, value in values.items()}


def small_automaton(kept: Remembered, longest: int) -> Guess | None:
    """The one small automaton that agrees with all words up to a length, and with random ones of three times the length."""
    values = truths(kept.values)
    if values is None:
        return None
    found = guess(kept.alphabet, values, longest)
    return found if found is not None and agrees_on_longer(kept, found.automaton, longest) else None


def agrees_on_longer(kept: Remembered, machine: Automaton, longest: int) -> bool:
    """Whether an automaton agrees on random words of up to three times a length."""
    draw = random.Random(0)
    for _ in range(TESTS):
        word = tuple(draw.randrange(len(kept.alphabet)) for _ in range(draw.randint(longest + 1, LONGER * longest + 1)))
        if bool(kept.output(word)) != (machine.after([machine.alphabet[s] for s in word]) in machine.accepting):
            return False
    return True


def counted(kept: Remembered, longest: int) -> Communication | None:
    """The communication of a function on all words up to a length; None where these are too short to see growth."""
    even = longest // 2 * 2
    return communication(kept, even) if even >= 2 * FEWEST_HALVES else None


def is_linear(found: Communication) -> bool:
    """Whether the bits grow by the same number at each length, as far as counted: the line fits them closely."""
    line = found.growth.linear
    return found.growth.verdict == "linear" and line is not None and line.error <= CLOSELY
