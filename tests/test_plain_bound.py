"""The training length of plain attention: the formula from the weights, its growth, and the claim by brute force."""

import math
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import lengthwise as lw
from bound_oracles import theorem_p
from helpers_quantities import random_one_layer, table_model
from lengthwise.limit.constructions import simple_task
from lengthwise.limit.patterns import Comparison
from lengthwise.theory.plain_bound import demand, shares

STUDY = Path(__file__).parent.parent / "docs" / "golden" / "study"


def pairs(count, start=0, **shape):
    for seed in range(start, start + count):
        rng = np.random.default_rng(seed)
        f, g = (random_one_layer(rng, attention="plain", **shape) for _ in range(2))
        error = Fraction(int(rng.integers(1, 40)), 400)
        if all(all(lw.sensitivity(model)) for model in (f, g)):
            yield f, g, error


def test_the_formula_by_hand():
    """SimpleTask, plain: L = 2 omega, spread 1, three types, Phi = 1, so N = 1 + ceil(2 * 2 omega e (3/4 + 1) / error)."""
    f = simple_task(2, attention="plain")
    assert lw.bound(f, f, error="0.1").training_length == 1 + math.ceil(2 * 4 * math.e * 1.75 / 0.1)
    assert lw.bound(f, error="0.1").training_length == lw.bound(f, f, error="0.1").training_length


def test_the_formula_from_the_weights():
    seen = 0
    for f, g, error in pairs(40):
        found = lw.bound(f, g, error=error)
        total, period, locality = theorem_p(f, g, error)
        classes = (found.training_length - locality - period) / period
        assert classes == int(classes)
        if not any("free" in line for line in found.hypotheses):
            assert total / period <= classes * (1 + 1e-9)
            assert classes <= total / period * (1 + 1e-9) + 1
            seen += 1
        assert classes <= total / period * (1 + 1e-9) + 1
    assert seen > 12


def test_freeing_heads_is_never_worse_than_any_other_choice_in_its_order():
    freed = 0
    for f, g, error in pairs(40, start=200, heads=2):
        comparison = Comparison(f, g)
        asked = shares(comparison, 0, 0)
        found = demand(asked, error)
        for count in range(len(asked)):
            rest = error - sum(share.sensitivity for share in asked[:count])
            if rest > 0:
                total = sum(float(share.sensitivity) * float(share.reach) for share in asked[count:]) / float(rest)
                assert found.positions.lower() <= total * (1 + 1e-9)
        spent = sum(share.sensitivity for share in found.free)
        assert spent + found.rest == error
        freed += bool(found.free)
    quiet = table_model([30, 0], [1e-3, 0], attention="plain")
    loud = table_model([1, 0], [1, 0], attention="plain")
    found = lw.bound(quiet, loud, error=0.1)
    assert found.training_length < 300
    assert any("head 1 of the first model is free" in line for line in found.hypotheses)


def test_linear_in_one_over_the_error():
    f, g = next((f, g) for f, g, _ in pairs(20))
    logs = [math.log2(lw.bound(f, g, error=Fraction(1, 10**k)).training_length) for k in range(4, 9)]
    assert np.diff(logs) / math.log2(10) == pytest.approx(np.ones(4), abs=0.002)


def outputs(model, suffix, table):
    return lw.evaluate_counts(model, lw.Counts(suffix=suffix, table=table))


def split(counts, places):
    """Places for the types in proportion to their counts, largest remainders rounded up."""
    total = sum(counts)
    exact = [Fraction(count * places, total) for count in counts]
    floor = [math.floor(value) for value in exact]
    order = sorted(range(len(counts)), key=lambda k: floor[k] - exact[k])
    for k in order[: places - sum(floor)]:
        floor[k] += 1
    return floor


def error_of(f, g, length, rng):
    """The two models' moves from a random long string to its proportional copy at the length N or just below."""
    period, locality = math.lcm(f.period, g.period), max(f.locality, g.locality)
    m = length + 1 + int(rng.integers(0, 50 * length))
    shape = rng.dirichlet(np.full(f.symbols, rng.choice([0.05, 0.5, 1])), size=period)
    prefix = m - locality - 1
    size = [prefix // period + (1 <= r <= prefix % period) for r in range(period)]
    table = np.array([split([int(1e6 * value) + 1 for value in shape[r]], size[r]) for r in range(period)]).T
    whole = (length - locality - 1 - prefix % period) // period
    short = [size[r] - prefix // period + whole for r in range(period)]
    copy = np.array([split(table[:, r].tolist(), short[r]) for r in range(period)]).T
    suffix = rng.integers(0, f.symbols, size=locality + 1).tolist()
    moves = [
        np.max(np.abs(outputs(model, suffix, table.tolist()) - outputs(model, suffix, copy.tolist())))
        for model in (f, g)
    ]
    assert length - period < copy.sum() + locality + 1 <= length
    return float(sum(moves))


def worst_ratio(count, factor):
    worst, seen = 0.0, 0
    for f, g, error in pairs(count, start=400, masks=False):
        found = lw.bound(f, g, error=error)
        if found.training_length < 5000:
            least = max(f.locality, g.locality) + 2 * math.lcm(f.period, g.period)
            length = max(least, int(found.training_length * factor))
            rng = np.random.default_rng(seen)
            worst = max(worst, max(error_of(f, g, length, rng) for _ in range(10)) / float(error))
            seen += 1
    assert seen > 10
    return worst


def test_proportional_copies_stay_within_the_error():
    assert worst_ratio(50, 1) <= 1


def test_a_twentieth_of_the_length_is_too_short_for_some():
    assert worst_ratio(50, 0.05) > 1


def test_brute_force_on_a_small_model():
    """All strings of 2 tokens longer than N, by counts: some string of length N has nearly the same mean."""
    f = table_model([0.5, 0], [1, 0], attention="plain")
    found = lw.bound(f, f, error=Fraction(1, 4))
    n = found.training_length
    assert n < 60
    for last in range(2):
        short = [outputs(f, [last], [[a], [n - 1 - a]])[0] for a in range(n)]
        for m in (n + 1, n + 17, 5 * n):
            for a in range(m):
                value = outputs(f, [last], [[a], [m - 1 - a]])[0]
                assert 2 * min(abs(value - other) for other in short) <= 0.25


def test_a_model_that_the_engine_trained():
    first, second = (lw.load(path) for path in sorted((STUDY / "weights").glob("*.safetensors"))[:2])
    found = lw.bound(first, second, error=0.1)
    assert (found.attention, found.theorem, found.window) == ("plain", "Theorem P", 1)
    assert 1000 < found.training_length < 10**6
    total, period, locality = theorem_p(first, second, 0.1)
    assert found.training_length == pytest.approx(locality + period + total, abs=2)
    alone = lw.bound(first, error=0.1)
    assert any("its heads match heads of the first" in line for line in alone.hypotheses)
    assert [term.name for term in alone.terms[1:]] == ["head 1 of the first model", "head 1 of the other model"]


def test_a_spread_too_large_for_any_float():
    steep = table_model([10**5, 0], [1, 0], attention="plain")
    found = lw.bound(steep, steep, error=0.1)
    assert found.training_length is None
    assert found.log2_training_length == pytest.approx(1e5 / math.log(2), rel=1e-3)
    assert "2^" in str(found)


def test_periods_and_localities_are_lifted():
    base = {"symbols": 2, "locality": 1, "masks": False, "attention": "plain"}
    f = random_one_layer(np.random.default_rng(1), period=2, **base)
    g = random_one_layer(np.random.default_rng(5), period=3, **base)
    found = lw.bound(f, g, error=0.01)
    assert found.window == 6
    total, period, locality = theorem_p(f, g, 0.01)
    assert found.training_length <= locality + period + period * math.ceil(total / period)


def test_masked_offsets_count_nothing():
    f = table_model([1, 0], [1, 0], phi=[0.0, 1.0], attention="plain")
    masked = replace(f, layers=(replace(f.layers[0], heads=(replace(f.layers[0].heads[0], phi=[-math.inf, 1.0]),)),))
    assert lw.bound(masked, masked, error=0.01).training_length < lw.bound(f, f, error=0.01).training_length


def test_models_that_attention_cannot_move():
    deaf = table_model([1, 0], [0, 0], attention="plain")
    assert lw.bound(deaf, deaf, error=5).training_length == 1
