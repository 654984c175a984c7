"""Bounds for a class of models: from constants alone, and for one model against every one that is no worse."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import lengthwise as lw
from bound_oracles import uniform
from helpers_quantities import random_one_layer, table_model
from lengthwise.errors import WrongInput
from lengthwise.limit.constructions import mod_p_task, simple_task
from lengthwise.limit.quantities import ignorable, logit_margin

SIMPLE = {"vocabulary": 3, "sensitivity": 8, "margin": 1, "bits": 4}


@pytest.mark.parametrize(("same", "length"), [(False, 65043), (True, 403)])
def test_the_constants_of_simple_task(same, length):
    found = lw.bound(lw.Constants(**SIMPLE, same_attention=same), error="0.1")
    assert (found.training_length, found.window, found.attention) == (length, 1, "log-length")
    assert found.dominant.name == "counting"


@pytest.mark.parametrize(("period", "same", "different"), [(2, 166, 3606), (3, 372, 8112), (5, 1030, 22530)])
def test_the_constants_of_mod_p_task(period, same, different):
    constants = {"vocabulary": 2, "period": period, "sensitivity": 1, "margin": 1, "bits": 4}
    assert lw.bound(lw.Constants(**constants), error="1/10").training_length == different
    assert lw.bound(lw.Constants(**constants, same_attention=True), error="1/10").training_length == same


def pairs(count, start=0, alike=False):
    """Random pairs with bits; alike: the second attends as the first does, with values of its own."""
    for seed in range(start, start + count):
        rng = np.random.default_rng(seed)
        shape = {"symbols": int(rng.integers(2, 4)), "locality": int(rng.integers(0, 3)), "heads": 1 + seed % 2}
        f, g = (replace(random_one_layer(rng, period=2, **shape), bits=int(rng.integers(1, 9))) for _ in range(2))
        if alike:
            heads = tuple(replace(h, value=h.value.T, query=2 * h.query, phi=2 * h.phi) for h in f.layers[0].heads)
            g = replace(f, layers=(replace(f.layers[0], heads=heads),), bits=g.bits)
        error = Fraction(int(rng.integers(1, 40)), 80)
        total = sum(Fraction(L) for model in (f, g) for L in lw.sensitivity(model))
        if error < total:
            yield f, g, error


def margin(model):
    return logit_margin(model, skip=ignorable(model))


def constants_of(*models, same_attention=False):
    return lw.Constants(
        vocabulary=models[0].symbols,
        period=math.lcm(*(model.period for model in models)),
        locality=max(model.locality for model in models),
        heads=max(len(model.layers[0].heads) for model in models),
        sensitivity=max(Fraction(L) for model in models for L in lw.sensitivity(model)),
        margin=min(map(margin, models)),
        bits=max(model.bits for model in models),
        same_attention=same_attention,
    )


def lengths(bound):
    """Log2 of every term, under its name."""
    return {term.name: term.length.log2 for term in bound.terms}


@pytest.mark.parametrize("alike", [False, True])
def test_constants_give_at_least_what_every_pair_within_them_needs(alike):
    strict = 0
    for f, g, error in pairs(50, alike=alike):
        above, own = (
            lengths(lw.bound(*args, error=error)) for args in ((constants_of(f, g, same_attention=alike),), (f, g))
        )
        assert all(own[name] <= above[name] for name in own), (own, above)
        strict += own["counting"] < above["counting"]
    assert strict > 8


@pytest.mark.parametrize("worse", ["vocabulary", "period", "locality", "heads", "sensitivity", "bits", "margin"])
@pytest.mark.parametrize("same", [False, True])
def test_worse_constants_need_no_shorter_strings(worse, same):
    base = {"vocabulary": 3, "period": 2, "locality": 1, "heads": 2, "sensitivity": Fraction(3), "bits": 6}
    base |= {"margin": Fraction(1, 4), "same_attention": same}
    changed = base | {worse: Fraction(1, 8) if worse == "margin" else base[worse] * 2}
    before, after = (lengths(lw.bound(lw.Constants(**one), error=0.5)) for one in (base, changed))
    assert all(before[name] <= after[name] for name in before)
    assert before != after


def test_a_longer_list_of_heads_and_its_exponent():
    errors = [Fraction(1, 10**k) for k in range(3, 7)]
    for heads, same, order in ((1, False, 2), (1, True, 1), (2, False, 4), (2, True, 2)):
        constants = lw.Constants(vocabulary=5, sensitivity=1, margin=1, bits=1, heads=heads, same_attention=same)
        logs = [lw.bound(constants, error=error).log2_training_length for error in errors]
        slopes = np.diff(logs) / math.log2(10)
        assert slopes == pytest.approx(np.full(3, order), abs=0.02)


def test_the_growth_with_the_period_is_quadratic_not_the_seventh_power():
    def log2(period):
        constants = lw.Constants(vocabulary=3, period=period, locality=3, sensitivity=1, margin=1, bits=1)
        found = lw.bound(constants, error=0.01)
        return np.array([found.log2_training_length, found.others[-1].length.log2])

    assert log2(2**12) - log2(2**11) == pytest.approx([2, 7], abs=0.01)


def test_one_model_is_bounded_against_every_model_no_worse():
    seen = freed = 0
    for f, g, error in pairs(80, start=1000):
        g = replace(g, unembedding=g.unembedding / 4)
        slopes = [sorted((L for L in lw.sensitivity(model) if L), reverse=True) for model in (f, g)]
        inside = (
            len(slopes[1]) <= len(slopes[0])
            and all(mine >= other for mine, other in zip(*slopes, strict=False))
            and margin(g) >= margin(f)
            and g.locality <= f.locality
        )
        g = replace(g, bits=min(f.bits, g.bits))
        total = sum(Fraction(L) for model in (f, g) for L in lw.sensitivity(model))
        if inside and error < total:
            above, own = lw.bound(f, error=error), lw.bound(f, g, error=error)
            assert all(lengths(own)[name] <= lengths(above)[name] for name in lengths(own))
            seen += 1
            freed += any("free" in line for line in own.hypotheses)
    assert seen > 15


def test_one_model_whose_attention_is_known():
    f = simple_task(4, bits=4)
    assert lw.bound(f, error="0.1").training_length == 65043 == lw.bound(f, uniform(4), error="0.1").training_length
    assert lw.bound(f, error="0.1", same_attention=True).training_length == 403
    p = mod_p_task(3, 0, bits=4)
    assert lw.bound(p, error="0.1").training_length == 8112
    assert lw.bound(p, error="0.1", same_attention=True).training_length == 372
    for f, g, error in pairs(30, start=3000, alike=True):
        f, g = replace(f, bits=4), replace(g, bits=4)
        ours = [sorted(lw.sensitivity(model), reverse=True) for model in (f, g)]
        if all(mine >= other for mine, other in zip(*ours, strict=True)) and error < sum(map(sum, ours)):
            above, own = lw.bound(f, error=error, same_attention=True), lw.bound(f, g, error=error)
            assert own.terms[-1].length.value <= above.terms[-1].length.value


def test_the_class_is_stated():
    (line,) = (line for line in lw.bound(simple_task(4, bits=4), error=0.1).hypotheses if "other model" in line)
    for part in ("same vocabulary", "a period that divides 1", "at most 4 bits", "margin of at least 1", "at most 8"):
        assert part in line
    found = lw.bound(lw.Constants(**SIMPLE), error=0.1)
    assert any("two models within these constants" in line for line in found.hypotheses)


def test_margins_without_limit_and_models_without_gaps():
    flat = table_model([1, 1, 1], [1, -1, 0], bits=4)
    assert lw.bound(lw.Constants(vocabulary=3, sensitivity=2, margin=math.inf, bits=4), error=1).training_length >= 2
    assert lw.bound(flat, error=1).terms[0].length.value == 1


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"vocabulary": 0}, "vocabulary: wanted a whole number from 1"),
        ({"period": 0}, "period: wanted"),
        ({"locality": -1}, "locality: wanted"),
        ({"heads": 0}, "heads: wanted"),
        ({"bits": 10**12}, "bits: wanted"),
        ({"sensitivity": 0}, "sensitivity: wanted a sensitivity above 0"),
        ({"sensitivity": math.inf}, "sensitivity: wanted"),
        ({"sensitivity": math.nan}, "sensitivity: wanted"),
        ({"margin": 0}, "margin: wanted a margin above 0"),
        ({"margin": "-1"}, "margin: wanted"),
        ({"margin": math.nan}, "margin: wanted"),
        ({"heads": 10**5}, "heads: wanted a whole number from 1 to 10000"),
        (
            {"heads": 10**4, "vocabulary": 10**9, "sensitivity": "1e50"},
            "heads: wanted constants whose bound has at most a million bits",
        ),
    ],
)
def test_constants_that_no_model_has(changed, said):
    with pytest.raises(WrongInput, match=said):
        lw.bound(lw.Constants(**(SIMPLE | changed)), error=0.1)


def test_constants_and_trivial_errors():
    with pytest.raises(WrongInput, match="below 16, the sum of all sensitivities"):
        lw.bound(lw.Constants(**SIMPLE), error=16)
    with pytest.raises(WrongInput, match="constants alone"):
        lw.bound(lw.Constants(**SIMPLE), simple_task(1), error=0.1)
    assert lw.bound(lw.Constants(**SIMPLE), error=15.9).training_length >= 16


def test_enormous_constants_have_a_logarithm():
    found = lw.bound(lw.Constants(vocabulary=10**9, sensitivity=10**6, margin="1e-9", bits=64, heads=8), error="1e-9")
    assert found.training_length is None
    assert found.log2_training_length >= 64e9
    counting = found.terms[-1].length
    assert counting.log2 == pytest.approx(math.log2(5e8) + 16 * math.log2(1.6e16), rel=1e-6)


def test_a_million_bits_are_no_burden():
    found = lw.bound(lw.Constants(**(SIMPLE | {"bits": 10**6, "margin": "1/7"})), error=0.1)
    assert found.log2_training_length == pytest.approx(7e6)
    assert found.others[-1].length.log2 == pytest.approx(10**6 + math.log2(7))
