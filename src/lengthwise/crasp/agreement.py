"""Whether a program and an automaton agree: on all words up to a length, and on long words that stay alive.

Both are read at every position, so that all words of one length stand for all shorter ones too.
"""

import numpy as np
from jaxtyping import Int

from lengthwise.crasp.automata import Automaton
from lengthwise.crasp.interpret import run
from lengthwise.crasp.languages import live_states
from lengthwise.crasp.syntax import Program


def disagreement(program: Program, machine: Automaton, longest: int) -> tuple[str, ...] | None:
    """A shortest word of at most a length on which the two differ; None where they agree on all of them."""
    symbols = len(machine.alphabet)
    number = np.arange(symbols**longest)
    words = np.stack([number // symbols**place % symbols for place in reversed(range(longest))] or [number], axis=1)
    return _first(program, machine, words[:, :longest])


def disagreement_on_long(
    program: Program, machine: Automaton, length: int, count: int, seed: int
) -> tuple[str, ...] | None:
    """The same on random words, at each of their positions; None where they agree.

    Half of the words never leave the states from which a word is accepted, where they can; the others leave them with
    chance 1 / length at each position.
    """
    rng = np.random.default_rng(seed)
    live = live_states(machine)
    alive = np.array([[target in live for target in row] for row in machine.table])
    alive[~alive.any(axis=1)] = True
    table = np.array(machine.table)
    states = np.full(count, machine.start)
    words = np.zeros((count, length), dtype=np.int64)
    for position in range(length):
        allowed = alive[states]
        allowed[count // 2 :][rng.random(count - count // 2) < 1 / length] = True
        words[:, position] = np.argmax(np.where(allowed, rng.random(allowed.shape), -1), axis=1)
        states = table[states, words[:, position]]
    return _first(program, machine, words)


def _first(program: Program, machine: Automaton, words: Int[np.ndarray, "words length"]) -> tuple[str, ...] | None:
    """The shortest prefix of some words on which the two differ."""
    good = np.array([state in machine.accepting for state in range(machine.states)])
    empty = run(program, [[]]).accepts
    assert empty is not None
    if bool(empty[0]) != bool(good[machine.start]):
        return ()
    if not words.size:
        return None
    accepted = run(program, words, positions="all").accepts
    assert accepted is not None
    table, states = np.array(machine.table), np.full(len(words), machine.start)
    for position in range(words.shape[1]):
        states = table[states, words[:, position]]
        wrong = np.flatnonzero(accepted.reshape(words.shape)[:, position] != good[states])
        if len(wrong):
            return tuple(machine.alphabet[symbol] for symbol in words[wrong[0], : position + 1])
    return None


def affordable_length(symbols: int, most_words: int, longest: int = 40) -> int:
    """The largest length up to which there are at most so many words over some symbols."""
    total, length = 1, 0
    while length < longest and total + symbols ** (length + 1) <= most_words:
        length += 1
        total += symbols**length
    return length
