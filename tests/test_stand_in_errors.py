"""Errors between long and short strings, against the definition of every attention rule on explicit strings."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from helpers_quantities import random_one_layer, table_model
from lengthwise.exact import Ball, certainly_at_most, greatest, power_reaches
from lengthwise.limit.constructions import simple_task
from lengthwise.limit.counts import evaluate_counts
from lengthwise.limit.evaluate import evaluate
from lengthwise.limit.model import MLP
from lengthwise.theory.errors import Reading, distance
from lengthwise.theory.realise import as_counts, by_type, lifted, spelled, with_prefix
from lengthwise.type_counts import Counts

F = Fraction


def close(exact, floats):
    return [float(value) for value in exact] == pytest.approx(list(floats), abs=1e-9)


def rules(rng):
    """A random rule of attention: with rounding, without, plain."""
    return [("log-length", int(rng.integers(1, 6))), ("log-length", None), ("plain", None)][int(rng.integers(0, 3))]


def test_outputs_are_those_of_the_definition():
    """Ties, masks, two heads, every activation; the table at a multiple of the period and with a longer suffix."""
    rng = np.random.default_rng(0)
    for _ in range(250):
        attention, bits = rules(rng)
        model = replace(random_one_layer(rng, symbols=3, attention=attention), bits=bits)
        string = rng.integers(0, 3, size=int(rng.integers(1, 40)))
        times, longer = int(rng.integers(1, 3)), int(rng.integers(0, 3))
        counts = Counts.of(string, 3, model.period * times, model.locality + longer)
        outputs = Reading.of(model, counts).outputs(by_type(counts), counts.length)
        assert close(outputs, evaluate(model, string, "dense"))


def test_a_heaviside_unit_steps_above_zero():
    """The mean of +1 for token 0 and -1 for token 1 through a step: 1 above a half, 0 at it."""
    task = simple_task(1, bits=4)
    layer = task.layers[0]
    model = replace(
        task, layers=(replace(layer, mlp=MLP(layer.mlp.inner, layer.mlp.bias, layer.mlp.outer, "heaviside")),)
    )
    for zeros, ones, wanted in ((60, 40, 1), (50, 50, 0), (40, 60, 0)):
        counts = Counts([2], [[zeros], [ones], [7]])
        assert Reading.of(model, counts).outputs(by_type(counts), counts.length) == [wanted]
    plain = replace(model, attention="plain", bits=None)
    counts = Counts([2], [[60], [40], [0]])
    (step,) = Reading.of(plain, counts).outputs(by_type(counts), counts.length)
    assert (step.lower(), step.upper()) == (1, 1)
    counts = Counts([2], [[50], [50], [0]])
    (step,) = Reading.of(plain, counts).outputs(by_type(counts), counts.length)
    assert (step.lower(), step.upper()) == pytest.approx((0, 1), abs=1e-6), "balls cannot tell 0 from slightly more"


def test_outputs_of_a_hardmax_are_exact_at_any_length():
    rng = np.random.default_rng(1)
    for _ in range(60):
        model = replace(random_one_layer(rng, symbols=3), bits=2)
        size = 10 ** int(rng.integers(30, 60))
        table = np.array([[size] * model.period, [3 * size] * model.period, [7] * model.period], object).tolist()
        counts = Counts(rng.integers(0, 3, size=model.locality + 1).tolist(), table)
        outputs = Reading.of(model, counts).outputs(by_type(counts), counts.length)
        expected = evaluate_counts(model, counts, hardmax=True)
        for ours, theirs in zip(outputs, expected, strict=True):
            if isinstance(ours, Fraction):
                assert ours == theirs
            else:
                assert ours.overlaps(theirs)


def test_rounding_is_decided_at_its_edge():
    """n^gap = 2^p exactly is flushed; one token less is not. Gap 1/2, 3 bits: the edge is at 64."""
    model = table_model([0.5, 0.0], [1, 0], bits=3)
    for length, wanted in ((64, 1), (63, None)):
        counts = Counts([0], [[1], [length - 2]])
        (value,) = Reading.of(model, counts).outputs(by_type(counts), length)
        if wanted is not None:
            assert value == wanted
        else:
            assert float(value) == pytest.approx(2 / (2 + 61 * 63**-0.5), abs=1e-12)


def test_powers_are_compared_for_certain():
    for base in (1, 2, 3, 7, 8, 10, 64, 1000):
        for exponent in (F(1, 3), F(1, 2), F(2, 3), F(1), F(5, 4), F(7)):
            for bits in (1, 2, 3, 6, 10):
                u, v = exponent.numerator, exponent.denominator
                assert power_reaches(base, exponent, bits) == (base**u >= 2 ** (bits * v))
    assert power_reaches(2**200, F(1, 100), 2)
    assert not power_reaches(2**200 - 1, F(1, 100), 2)
    assert power_reaches(2**200 + 1, F(1, 100), 2)
    assert not power_reaches(10**60, F(1, 10**30), 1)


def test_the_largest_of_numbers_and_balls():
    assert greatest([F(1), F(5, 2), F(-3)]) == F(5, 2)
    ball = greatest([F(1), Ball.of(2).apply("sqrt"), F(1)])
    assert float(ball) == pytest.approx(math.sqrt(2))
    assert certainly_at_most(ball, F(15, 10))
    assert not certainly_at_most(ball, F(14, 10))
    assert certainly_at_most(F(1, 3), F(1, 3))
    assert not certainly_at_most(Ball.between(0, 1), F(1, 2))
    assert float(distance([F(1), Ball.of(3)], [F(4), Ball.of(1)])) == 3


def test_a_lifted_string_is_the_same_string():
    """Folded to a divisor of its period and with its suffix cut, a string's counts are those counted anew."""
    rng = np.random.default_rng(2)
    for _ in range(200):
        period, locality, times, longer = (int(v) for v in rng.integers((1, 0, 1, 0), (4, 4, 4, 5)))
        string = rng.integers(0, 3, size=int(rng.integers(1, 60)))
        counts = Counts.of(string, 3, period * times, locality + longer)
        wanted = Counts.of(string, 3, period, locality)
        found = as_counts(counts, ("0", "1", "2"), period, locality)
        assert (found.suffix, found.table) == (wanted.suffix, wanted.table)
        assert lifted(wanted, period, locality).table == wanted.table


def test_a_string_spelled_from_counts_has_these_counts():
    """Lemma 0: a string of the counts exists, and outputs do not depend on the order within a residue."""
    rng = np.random.default_rng(3)
    for _ in range(200):
        period, locality = int(rng.integers(1, 5)), int(rng.integers(0, 4))
        string = rng.integers(0, 3, size=int(rng.integers(1, 60)))
        counts = Counts.of(string, 3, period, locality)
        again = Counts.of(spelled(counts), 3, period, locality)
        assert (again.suffix, again.table) == (counts.suffix, counts.table)
        assert with_prefix(counts, by_type(counts)).table == counts.table
