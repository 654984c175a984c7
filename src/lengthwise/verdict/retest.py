"""Words that a candidate is tested on after it was found, longer than those it was found from."""

import random
from collections.abc import Callable, Sequence
from itertools import chain, product

import numpy as np

from lengthwise.crasp.interpret import run
from lengthwise.crasp.syntax import Program
from lengthwise.crasp.words import Words
from lengthwise.verdict.machine import Machine, Output, ProgramMachine, Word

MOST = 3_000
NEXT = 100_000


def longer_words(program: Program, shortest: int, longest: int, known: Sequence[Word], seed: int) -> list[Word]:
    """Words to test a candidate on, shortest first: random ones, and of the next lengths some that it accepts.

    Few words are in most languages, and a candidate that accepts too much is wrong on few. So all words of the next
    lengths, as far as 100,000 words reach, are run through the candidate, and those it accepts are tested, evenly
    spread 1,500 of them if they are more.
    """
    symbols = len(program.alphabet)
    following: list[Word] = []
    for length in range(shortest, longest + 1):
        if len(following) + symbols**length > NEXT:
            break
        following += product(range(symbols), repeat=length)
    suspects = [word for word, yes in zip(following, accepted(program, following), strict=True) if yes]
    spread = suspects[:: 1 + 2 * len(suspects) // MOST]
    words = {*random_words(symbols, shortest, longest, known, seed), *spread}
    return sorted(words, key=lambda word: (len(word), word))


def random_words(symbols: int, shortest: int, longest: int, known: Sequence[Word], seed: int) -> list[Word]:
    """Different random words of the lengths from shortest to longest, shortest first.

    One in six has independent symbols; one, runs of one symbol; one, a few short words each repeated, often equally
    often, such as aaabbb; three are made of `known` words: each symbol or the whole word repeated, as in aabb and abab
    from ab, then parts moved or repeated or symbols changed.
    Independent symbols alone would miss most languages: almost no such word is in them.
    """
    rng = random.Random(f"retest {seed} {symbols} {shortest} {longest}")
    first: list[Callable[[], Word]] = [
        lambda: _letters(rng, symbols, longest)[: rng.randint(shortest, longest)],
        lambda: _runs(rng, symbols, longest)[: rng.randint(shortest, longest)],
        lambda: _powers(rng, symbols, longest),
    ]
    found: dict[Word, None] = {}
    for attempt in range(4 * MOST):
        if attempt % 2 and known:  # mostly the first ones, which are short
            word = _grown(rng, symbols, longest, known[rng.randrange(1 + rng.randrange(len(known)))])
        else:
            word = first[attempt // 2 % 3]()
        if len(word) >= shortest and len(found) < MOST:
            found[word] = None
    return sorted(found, key=lambda word: (len(word), word))


def _letters(rng: random.Random, symbols: int, longest: int) -> Word:
    return tuple(rng.choices(range(symbols), k=longest))


def _runs(rng: random.Random, symbols: int, longest: int) -> Word:
    word: list[int] = []
    while len(word) < longest:
        word += [rng.randrange(symbols)] * rng.randint(1, rng.choice((2, 4, longest)))
    return tuple(word[:longest])


def _powers(rng: random.Random, symbols: int, longest: int) -> Word:
    parts = [rng.choices(range(symbols), k=rng.choice((1, 1, 2, 3))) for _ in range(rng.randint(1, symbols + 1))]
    most = max(1, longest // sum(map(len, parts)))
    together = rng.randint(1, most)
    word: list[int] = []
    for part in parts:
        word += part * max(0, together + rng.choice((0, 0, 0, 0, 0, 0, 1, -1)))
    return tuple(word[:longest])


def _grown(rng: random.Random, symbols: int, longest: int, word: Word) -> Word:
    times = rng.randint(1, max(1, longest // max(1, len(word))))
    grown = [symbol for symbol in word for _ in range(times)] if rng.random() < 0.5 else list(word) * times
    for _ in range(rng.choice((0, 0, 1, 2, 4))):
        first = rng.randint(0, len(grown))
        last = min(len(grown), first + rng.randint(0, 4))
        kind = rng.randrange(4)
        if kind == 0:
            grown[first:first] = grown[first:last] * rng.randint(1, 3)
        elif kind < 3:
            part = grown[first:last]
            del grown[first:last]
            place = rng.randint(0, len(grown))
            grown[place:place] = part
        else:
            grown[first : first + rng.randint(0, 1)] = rng.choices(range(symbols), k=rng.randint(0, 1))
    return tuple(grown[:longest])


def values(machine: Machine, words: Sequence[Word]) -> list[bool]:
    """Whether a machine accepts each word; a program is run on all at once."""
    if isinstance(machine, ProgramMachine) and machine.roots == (machine.operations.accept,):
        return accepted(machine.program, words)
    found = []
    for word in words:
        state = machine.start()
        for symbol in word:
            state = machine.step(state, symbol)
        found.append(bool(machine.output(state)))
    return found


def accepted(program: Program, words: Sequence[Word]) -> list[bool]:
    """Whether a program accepts each word."""
    lengths = np.fromiter(map(len, words), dtype=np.int64, count=len(words))
    tokens = np.fromiter(chain.from_iterable(words), dtype=np.int64, count=int(lengths.sum()))
    accepts = run(program, Words(tokens, lengths)).accepts
    assert accepts is not None
    found: list[bool] = accepts.tolist()
    return found


def wrong_words(program: Program, words: Sequence[Word], labels: Sequence[Output]) -> list[Word]:
    """The words whose label the program gets wrong."""
    said = accepted(program, words)
    return [word for word, one, label in zip(words, said, labels, strict=True) if one != bool(label)]
