"""One table of programs, and every way to run them: interpreter, dense, linear, compiled, reloaded, float32."""

import itertools

import numpy as np

import lengthwise as lw
from crasp_definition import outputs, value
from lengthwise.crasp.interpret import run
from lengthwise.crasp.library import library
from lengthwise.crasp.syntax import Boolean
from lengthwise.limit.evaluate import evaluate
from limit_executor import execute
from random_programs import random_program

LIBRARY = tuple(library())
RANDOM = tuple(range(24))


def program(case):
    """A library program by name, or the random program of a seed."""
    return library()[case] if isinstance(case, str) else random_program(case, depth=2 + case % 4)


def all_words(symbols, longest):
    """All words over symbols 0, 1, ... by length: arrays (words, length), from length 0."""
    for length in range(longest + 1):
        words = list(itertools.product(range(symbols), repeat=length))
        yield np.array(words, dtype=np.int64).reshape(len(words), length)


def interpreted(program, words):
    """What the program says at positions 0..n of words (words, n) of indices: (words, n + 1, outputs)."""
    names = [] if program.accept is None else [None]
    names += [one.name for one in program.outputs if isinstance(one.body, Boolean)]
    count, n = words.shape
    found = np.zeros((count, n + 1, len(names)), dtype=bool)
    answer = run(program, [row.tolist() for row in words], "all") if n else None
    for index, name in enumerate(names):
        start = value(program, program.accept, "", 0) if name is None else outputs(program, "", 0)[name]
        found[:, 0, index] = start
        if answer is not None:
            column = answer.accepts if name is None else answer.values[name]
            found[:, 1:, index] = np.asarray(column).reshape(count, n)
    return found


def with_begin(words):
    """Token indices of the compiled model: the begin symbol is 0, symbols follow."""
    return np.concatenate([np.zeros((len(words), 1), dtype=np.int64), words + 1], axis=1)


def right(model, words, wanted):
    """Whether a model's outputs have the wanted signs everywhere, with the promised distance from 0."""
    found = execute(model, with_begin(words))
    assert np.abs(found).min() >= 0.5
    return np.array_equal(found > 0, wanted)


def harnesses(model, folder):
    """Ways to run a compiled model on one string: each takes token indices and gives outputs at every position."""
    lw.save(model, folder / "model.safetensors")
    reloaded = lw.load(folder / "model.safetensors")
    single = lw.map_arrays(model, lambda array: np.asarray(array, dtype=np.float32))
    return {
        "definition": lambda tokens: execute(model, tokens[None])[0],
        "dense": lambda tokens: evaluate(model, tokens, "dense", "all"),
        "linear": lambda tokens: evaluate(model, tokens, "linear", "all"),
        "reloaded": lambda tokens: evaluate(reloaded, tokens, "linear", "all"),
        "float32": lambda tokens: evaluate(single, tokens, "linear", "all"),
        "float32 dense": lambda tokens: evaluate(single, tokens, "dense", "all"),
    }
