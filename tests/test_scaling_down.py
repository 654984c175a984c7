"""Theorem P as a theorem: proportions alone keep every plain head in place, for weights that are powers of two."""

import math
import random
from dataclasses import dataclass
from fractions import Fraction

import pytest

from helpers_stand_ins import class_sums, sizes_of
from lengthwise.theory.scaling import scale, window_size

F = Fraction


@dataclass
class PlainHead:
    """Weights e^logit as rationals: by type, and e^phi by offset; L, its sensitivity."""

    weights: list[Fraction]
    phi: list[Fraction]
    sensitivity: Fraction

    def law(self, table, ending, period, length):
        """The attention on every type of the prefix and every offset of the suffix."""
        parts = {("type", t): n * self.weights[t] for t, n in enumerate(table) if n}
        for k, (token, phi) in enumerate(zip(ending, self.phi, strict=True)):
            parts["offset", k] = self.weights[token * period + (length - k) % period] * phi
        mass = sum(parts.values())
        return {key: part / mass for key, part in parts.items()}

    def moved(self, table, short, ending, period, length):
        """L times the total variation between the laws on the long and on the short string."""
        laws = [self.law(counts, ending, period, length) for counts in (table, short)]
        atoms = laws[0].keys() | laws[1].keys()
        return self.sensitivity * sum(abs(laws[0].get(k, 0) - laws[1].get(k, 0)) for k in atoms) / 2


def training_length(heads, types, period, offsets, error, shrink=1):
    """N of Theorem P, straight from its sentence; shrink makes the constant too small."""
    total = F(0)
    for head in heads:
        spread = max(head.weights) / min(head.weights)  # e^omega
        total += head.sensitivity * spread * (F(types, 4) + period - 1 + sum(head.phi))
    return offsets - 1 + period + period * math.ceil(shrink * total / (period * error))


def violated(rng, shrink=1):
    """Whether a random instance breaks the theorem: a string just above N, or far above it."""
    tokens, period, offsets = rng.randint(1, 4), rng.randint(1, 3), rng.randint(1, 4)
    types = tokens * period
    heads = [
        PlainHead(
            [F(2) ** rng.randint(-3, 3) for _ in range(types)],
            [F(2) ** rng.randint(-2, 2) for _ in range(offsets)],
            F(rng.randint(1, 40), rng.randint(1, 8)),
        )
        for _ in range(rng.randint(1, 4))
    ]
    error = rng.choice([F(1, 2), F(1, 10), F(1, 30)])
    n_bound = training_length(heads, types, period, offsets, error, shrink)
    length = n_bound + rng.choice([1, 2, rng.randint(1, 50), rng.randint(1, 10 ** rng.choice([3, 12, 60]))])
    table = random_table(rng, tokens, period, length - offsets)
    size = window_size(length - offsets, offsets, period, n_bound)
    short = scale(table, period, size)
    z = sum(short) + offsets
    assert n_bound - period < z <= n_bound
    assert (length - z) % period == 0
    assert class_sums(short, period) == sizes_of(sum(short), period)
    ending = [rng.randrange(tokens) for _ in range(offsets)]
    return sum(head.moved(table, short, ending, period, length) for head in heads) > error


def random_table(rng, tokens, period, prefix):
    """Counts with the class sizes of a prefix: uniform, or with rare types."""
    table = [0] * (tokens * period)
    for residue, left in enumerate(sizes_of(prefix, period)):
        for token in range(tokens - 1):
            share = min(left, rng.choice([rng.randint(0, left), rng.randint(0, 3), left // 2 + 1]))
            table[token * period + residue], left = share, left - share
        table[(tokens - 1) * period + residue] = left
    return table


def test_theorem_p():
    rng = random.Random(11)
    assert not any(violated(rng) for _ in range(600))


@pytest.mark.slow
def test_theorem_p_in_ten_thousand():
    rng = random.Random(12)
    assert not any(violated(rng) for _ in range(10_000))


def test_a_tenth_of_its_constant_is_too_little():
    rng = random.Random(13)
    assert sum(violated(rng, F(1, 10)) for _ in range(600)) > 30


def test_proportions_are_kept_class_by_class():
    assert scale((600, 0, 1, 1, 601, 600), 3, 10) == (10, 0, 0, 0, 10, 10)
    assert scale((600, 0, 301, 300, 900, 599), 3, 100) == (67, 0, 33, 33, 100, 67)


def test_the_whole_string_at_its_own_size():
    rng = random.Random(14)
    for _ in range(100):
        tokens, period, prefix = rng.randint(1, 4), rng.randint(1, 4), rng.randint(4, 10**6)
        table = random_table(rng, tokens, period, prefix)
        assert list(scale(table, period, prefix // period)) == table
