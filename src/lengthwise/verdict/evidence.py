"""What is known of a function by its values alone, and what those tell: a small automaton, communication. Never a proof.

A function on words that is given as Python code, or as labelled words, is known on finitely many words. Every finite set
of labels is that of some program and of some function outside, so nothing here is more than checked to a length.
"""

import itertools
import math
import random
import time
from collections.abc import Hashable
from dataclasses import dataclass, field

from lengthwise.crasp.automata import Automaton
from lengthwise.crasp.syntax import Program
from lengthwise.errors import WrongInput, shown
from lengthwise.verdict.far import far_words, reach_of
from lengthwise.verdict.guess import Guess, fits_by_chance, guess
from lengthwise.verdict.labelled import Labelled, length_within, spelt
from lengthwise.verdict.machine import Machine, Output, State, Word

FIRST_WORDS, MOST_WORDS = 20_000, 90_000  # for an automaton, and for communication
LONGEST_UNARY = 60
LONGER, TESTS = 3, 200
TRUTHS: set[Hashable] = {False, True}


@dataclass
class Known:
    """The values of a function on all words up to `longest` and on some others; read as a machine, each word a state.

    function  what to ask for the value of any other word; None for labelled words, which are all there is
    until     when to stop asking, on the monotonic clock
    truths    whether all values up to `longest` are true or false (1 and 0 are)
    """

    alphabet: tuple[str, ...]
    values: dict[Word, Output]
    longest: int
    function: Machine | None = None
    until: float = math.inf
    truths: bool = field(init=False)

    def __post_init__(self) -> None:
        """Notes whether the function is a language."""
        self.truths = set(self.values.values()) <= TRUTHS

    def start(self) -> State:
        """The empty word."""
        return ()

    def step(self, state: State, symbol: int) -> State:
        """The longer word."""
        return (*state, symbol)  # type: ignore[misc]

    def output(self, state: State) -> Output:
        """The value of a word, asked for once."""
        word: Word = state  # type: ignore[assignment]
        if word not in self.values:
            assert self.function is not None, "only words that are known are asked for"
            self.values[word] = value_of(self.function, word)
        value = self.values[word]
        if not self.truths:
            return value
        if value not in TRUTHS:
            wanted, remedy = "True or False, as for shorter words", "answer every word in one way"
            raise WrongInput(wanted, shown(value), remedy, f"word {shown(spelt(word, self.alphabet))}")
        return bool(value)

    def labelled(self) -> Labelled:
        """A sample to search with: of a function, some thousand words; of labelled words, all."""
        longest = self.longest
        if self.function is not None:
            longest = min(longest, length_within(len(self.alphabet)))
        words = sorted(
            (word for word in self.values if self.function is None or len(word) <= longest), key=lambda w: (len(w), w)
        )
        labels = tuple(self.output(word) for word in words)
        return Labelled(self.alphabet, tuple(words), labels, longest, f"all words up to length {longest}")


def value_of(machine: Machine, word: Word) -> Output:
    """A machine's value on a word."""
    state = machine.start()
    for symbol in word:
        state = machine.step(state, symbol)
    return machine.output(state)


def asked(machine: Machine, until: float, end: float, most: int, before: Known | None = None) -> Known:
    """The values on all words up to a length: at most so many words, or as many as there is time for; no word twice.

    until: when to stop; end: when to stop asking for other words later on.
    """
    values: dict[Word, Output] = {} if before is None else before.values
    level: list[tuple[Word, State]] = [((), machine.start())]
    values.setdefault((), machine.output(machine.start()))
    symbols, total = range(len(machine.alphabet)), 1
    for length in range(1, LONGEST_UNARY + 1):
        total += len(level) * len(symbols)
        if total > most:
            break
        longer = []
        for word, state in level:
            if time.monotonic() > until and length > 1:
                return Known(machine.alphabet, values, length - 1, machine, end)
            for symbol in symbols:
                after = (*word, symbol), machine.step(state, symbol)
                longer.append(after)
                if after[0] not in values:
                    values[after[0]] = machine.output(after[1])
        level = longer
    return Known(machine.alphabet, values, len(level[0][0]), machine, end)


def small_automaton(known: Known) -> Guess | None:
    """The one small automaton that agrees with all words up to a length, and with the longer ones at hand or drawn.

    None also where the words are so few that some automaton with as many states may agree by chance.
    """
    if not known.truths:
        return None
    values = {word: bool(value) for word, value in known.values.items()}
    found = guess(known.alphabet, values, known.longest)
    if found is None or fits_by_chance(found, len(values)):
        return None
    return found if agrees_on_longer(known, found.automaton) else None


def agrees_on_longer(known: Known, machine: Automaton) -> bool:
    """Whether an automaton agrees on longer words: those at hand, random ones of up to three times the length, far ones."""
    words = [word for word in known.values if len(word) > known.longest]
    if known.function is not None:
        draw = random.Random(0)
        symbols, longest = len(known.alphabet), known.longest
        lengths = (draw.randint(longest + 1, LONGER * longest + 1) for _ in range(TESTS))
        words += [tuple(draw.randrange(symbols) for _ in range(length)) for length in lengths]
        words += far_words(symbols, LONGER * longest + 1)
    return first_wrong(known, [(word, _after(machine, word) in machine.accepting) for word in words]) is None


def wrong_far(known: Known, program: Program) -> Word | None:
    """A far word, beyond all constants of a program, on which it and the function differ; None where they agree."""
    from lengthwise.crasp.interpret import run

    words = far_words(len(known.alphabet), LONGER * max(known.longest, reach_of(program)) + 1)
    said = run(program, [[known.alphabet[symbol] for symbol in word] for word in words]).accepts
    assert said is not None
    return first_wrong(known, list(zip(words, map(bool, said), strict=True)))


def first_wrong(known: Known, said: list[tuple[Word, bool]]) -> Word | None:
    """The shortest word of which something else was said than the function says, as far as there is time to ask it.

    Shorter words first, so that a function that takes ever longer is left before it takes too long.
    """
    for word, says in sorted(said, key=lambda pair: len(pair[0])):
        if word not in known.values and time.monotonic() > known.until:
            return None
        if known.output(word) != says:
            return word
    return None


def _after(machine: Automaton, word: Word) -> int:
    state = machine.start
    for symbol in word:
        state = machine.table[state][symbol]
    return state


def rows_of(known: Known) -> list[int]:
    """For n = 1, 2, ...: how many different rows f(xy) has, x of n symbols, y of at most n; as far as words are known.

    Whoever holds x must send at least log2 of that, one way. y of every length up to n, not of n alone, because the words
    of some functions that matter all have odd length.
    """
    symbols = range(len(known.alphabet))
    counts = []
    for half in range(1, known.longest // 2 + 1):
        ends = [end for size in range(half + 1) for end in itertools.product(symbols, repeat=size)]
        starts = itertools.product(symbols, repeat=half)
        counts.append(len({tuple(known.values[start + end] for end in ends) for start in starts}))
    return counts


def by_chance(sample: Labelled, candidates: int) -> bool:
    """Whether one of so many candidates may agree with the labels by chance alone, more often than once in a hundred.

    Of N words k are accepted. If the k were drawn at random, a candidate would be right with chance 1 / C(N, k) at
    most, so one of M is with chance M / C(N, k) at most.
    """
    accepted = sum(map(bool, sample.labels))
    return math.comb(len(sample.labels), accepted) < 100 * max(1, candidates)
