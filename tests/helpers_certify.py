"""Random models and targets for certified worst errors, and the definition that they are held against."""

import itertools
import math
from fractions import Fraction

import numpy as np

import lengthwise as lw
from lengthwise.theory.frequency_target import FrequencyTarget


def random_model(rng, symbols, period, locality, heads, units, activation, attention):
    """One layer with small weights; log-length logits are whole numbers, so that attention is soon hard."""
    hard = attention != "plain"

    def matrix(*shape):
        return np.round(rng.normal(size=shape), 2)

    def head():
        key, query, phi = matrix(2, 3), matrix(2, 3), np.round(rng.normal(size=locality + 1), 1)
        if hard:
            key, query, phi = np.round(key), np.round(query), np.round(phi)
        return lw.Head(key, query, matrix(3, 3), phi=phi)

    embedding, positions = matrix(symbols, 3), matrix(period, 3)
    if hard:
        embedding, positions = np.round(embedding), np.round(positions)
    mlp = lw.MLP(matrix(units, 3), matrix(units), matrix(3, units), activation) if units else None
    return lw.LimitTransformer(
        embedding=embedding,
        positions=positions,
        layers=[lw.Layer([head() for _ in range(heads)], mlp)],
        unembedding=matrix(1, 3),
        attention=attention,
        bits=3 if hard else None,
    )


def random_target(rng, symbols, period):
    """Small whole numbers above and below; a tail now and then."""
    shape = (symbols, period)
    under = rng.integers(0, 2, shape)
    over = rng.integers(-1, 2, shape) * under
    tail = tuple(fractions([rng.integers(-1, 2, symbols)])[0] for _ in range(int(rng.integers(0, 2))))
    kind = "sin" if rng.random() < 0.5 else "identity"
    return FrequencyTarget(kind, Fraction(2), fractions(over), fractions(under), tail)


def fractions(rows):
    return tuple(tuple(Fraction(int(value)) for value in row) for row in rows)


def case(seed):
    """A random model with a random target; the same for a seed."""
    rng = np.random.default_rng(seed)
    symbols = int(rng.integers(2, 4))
    period = int(rng.integers(1, 3)) if symbols == 2 else 1
    locality, heads, units = int(rng.integers(-1, 2)), int(rng.integers(1, 3)), int(rng.integers(0, 4))
    activation, attention = str(rng.choice(["relu", "relu", "sin", "tanh"])), str(rng.choice(["plain", "log-length"]))
    model = random_model(rng, symbols, period, locality, heads, units, activation, attention)
    where = "c0 >= 0.2 n" if rng.random() < 0.4 else None
    return model, random_target(rng, symbols, period), where


def target_by_definition(target, string):
    """T(x), from the string itself."""
    over = under = 0.0
    for place, token in enumerate(string, start=1):
        over += float(target.over[token][place % target.period])
        under += float(target.under[token][place % target.period])
    inside = float(target.scale) * over / under if under else 0.0
    value = math.sin(inside) if target.activation == "sin" else inside
    return value + sum(float(row[token]) for row, token in zip(target.tail, reversed(string), strict=False))


def short_strings(symbols, longest):
    """All strings up to a length."""
    for length in range(1, longest + 1):
        yield from itertools.product(range(symbols), repeat=length)


def error_of(model, target, string):
    """|f(x) - T(x)| by the definitions."""
    return abs(float(lw.evaluate(model, list(string), method="dense")[0]) - target_by_definition(target, string))
