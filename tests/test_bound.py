"""The training length of Theorem 2: the published tables, an oracle, its growth, and what it says of itself."""

import itertools
import json
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import lengthwise as lw
from bound_oracles import certificate_n, uniform
from helpers_quantities import random_one_layer, table_model
from lengthwise.errors import WrongInput
from lengthwise.limit.constructions import kgram_and, mod_p_task, simple_task
from lengthwise.theory.answer import Bound, Length, NoBound, NoBoundHolds

SIMPLE = {  # omega, error: N with the same attention, N with uniform attention
    (1, "1/2"): (23, 215),
    (1, "1/10"): (103, 4263),
    (2, "1/2"): (43, 747),
    (2, "1/10"): (203, 16523),
    (4, "1/2"): (83, 2771),
    (4, "1/10"): (403, 65043),
}
MOD_P = {  # period, error: N with the same residue, N with another one
    (2, "1/10"): (166, 3606),
    (2, "1/20"): (326, 13606),
    (3, "1/10"): (372, 8112),
    (3, "1/20"): (732, 30612),
    (5, "1/10"): (1030, 22530),
    (5, "1/20"): (2030, 85030),
}


@pytest.mark.parametrize(("omega", "error"), SIMPLE)
def test_simple_task(omega, error):
    f = simple_task(omega, bits=4)
    found = lw.bound(f, f, error=error), lw.bound(f, uniform(omega), error=error)
    assert tuple(bound.training_length for bound in found) == SIMPLE[omega, error]


@pytest.mark.parametrize(("period", "error"), MOD_P)
def test_mod_p_task(period, error):
    f = mod_p_task(period, 0, bits=4)
    found = lw.bound(f, f, error=error), lw.bound(f, mod_p_task(period, 1, bits=4), error=error)
    assert tuple(bound.training_length for bound in found) == MOD_P[period, error]
    assert found[0].window == period


def pairs(count, start=0, **shape):
    """Random pairs with an error that is not trivial; in a third of them the second model attends like the first."""
    for seed in range(start, start + count):
        rng = np.random.default_rng(seed)
        f, g = (replace(random_one_layer(rng, **shape), bits=int(rng.integers(1, 4))) for _ in range(2))
        if seed % 3 == 0:
            heads = tuple(replace(head, value=head.value.T + np.eye(f.width)) for head in f.layers[0].heads)
            g = replace(f, layers=(replace(f.layers[0], heads=heads),))
        error = Fraction(int(rng.integers(1, 60)), 40)
        if error < sum(Fraction(L) for model in (f, g) for L in lw.sensitivity(model)):
            yield f, g, error, lw.bound(f, g, error=error)


CHANGES = [
    "heads are never grouped",
    "no head is free",
    "the error is not shared",
    "c without the period",
    "c without ties",
    "c is not raised",
    "no cap",
    "one too many",
]


def agrees(f, g, error, found, change=None):
    n, size, threshold = certificate_n(f, g, error, change)
    *_, counting = found.terms
    counted = counting.length.value == max(f.locality, g.locality) + found.window * (size + 1)
    if threshold > 50:  # a float does not hold it
        return counted and found.log2_training_length == pytest.approx(float(threshold))
    return counted and found.training_length == n


@pytest.mark.parametrize("symbols", [2, 3])
def test_the_note_s_pseudo_code_gives_the_same_number(symbols):
    seen = 0
    for f, g, error, found in pairs(25, symbols=symbols, locality=1):
        assert agrees(f, g, error, found)
        seen += 1
    assert seen > 5


@pytest.mark.parametrize("change", CHANGES)
def test_each_mistake_in_the_pseudo_code_would_be_noticed(change):
    shape = {"symbols": 2, "period": 1, "heads": 3} if change == "no cap" else {"symbols": 2, "period": 2}
    many = pairs(60, start=500, locality=1, **shape)
    assert not all(agrees(*one, change) for one in many)


def slope_of(lengths, errors):
    logs = np.log2([float(error) for error in errors])
    return -np.polyfit(logs, [math.log2(n) for n in lengths], 1)[0]


def test_quadratic_in_one_over_the_error_linear_where_attention_agrees():
    errors = [Fraction(1, 10**k) for k in range(3, 8)]
    f = simple_task(2, bits=4)
    same = [lw.bound(f, f, error=error).training_length for error in errors]
    different = [lw.bound(f, uniform(2), error=error).training_length for error in errors]
    assert slope_of(same, errors) == pytest.approx(1, abs=0.002)
    assert slope_of(different, errors) == pytest.approx(2, abs=0.002)


def test_a_larger_error_needs_no_longer_strings_and_a_larger_sensitivity_no_shorter_ones():
    for f, g, error, found in pairs(25, start=900):
        louder = replace(g, unembedding=g.unembedding * 1.5)
        total = sum(Fraction(L) for model in (f, g) for L in lw.sensitivity(model))
        if error * 2 < total:
            assert lw.bound(f, g, error=error * 2).log2_training_length <= found.log2_training_length
        assert lw.bound(f, louder, error=error).log2_training_length >= found.log2_training_length


def test_agreement_up_to_the_bound_is_enough_for_every_longer_count_vector():
    """SimpleTask against itself at error 1/2: for all counts up to length 60, some string of length N = 23 stands in."""
    omega, error, n = 1, 0.5, 23

    def output(zeros, ones):
        return math.sin(omega * (zeros - ones) / (zeros + ones)) if zeros + ones else 0.0

    short = {q: [] for q in range(3)}
    for counts in itertools.product(range(n), repeat=2):
        if sum(counts) <= n - 1:
            for q in range(3):
                short[q].append(output(counts[0] + (q == 0), counts[1] + (q == 1)))
    for m in (24, 37, 60):
        for counts in itertools.product(range(m), repeat=2):
            if sum(counts) <= m - 1:
                for q in range(3):
                    value = output(counts[0] + (q == 0), counts[1] + (q == 1))
                    assert 2 * min(abs(value - other) for other in short[q]) <= error


def test_a_threshold_too_large_to_write_is_kept_as_its_logarithm():
    narrow = table_model([1, 1 - 2**-20, 0], [1, 0, 0], bits=8)
    found = lw.bound(narrow, narrow, error=0.1)
    assert found.training_length is None
    assert found.log2_training_length == pytest.approx(8 * 2**20)
    assert found.log2_training_length >= 8 * 2**20
    assert found.dominant.name == "hardmax threshold"
    assert "1/1048576" in found.dominant.lowered_by or "9.53674e-07" in found.dominant.lowered_by
    fields = json.loads(found.to_json())
    assert fields["training_length"] is None
    assert fields["window"] is None
    assert "log2" in fields["training_length_reason"]
    assert "2^8.38861e+06" in str(found)
    wide = table_model([1, 0.99, 0], [1, 0, 0], bits=8)
    assert lw.bound(wide, wide, error=0.1).training_length.bit_length() == 800  # 1 - 0.99 is a little above 1/100


def test_lengths_as_powers_of_two():
    assert Length.power_of_two(Fraction(5)) == Length(32, 5.0)
    assert Length.power_of_two(Fraction(1, 2)).value == 2
    huge = Length.power_of_two(Fraction(10**6))
    assert huge.value is None
    assert huge.plus(7).log2 > huge.log2 >= 10**6
    assert Length.longest(huge, Length.of(9)).value is None
    assert Length.longest(Length.of(4), Length.of(9)) == Length.of(9)


def test_models_that_attention_cannot_move():
    deaf = table_model([1, 0], [0, 0], bits=4)
    found = lw.bound(deaf, deaf, error=5)
    assert found.training_length == 2  # locality 0, period 1: only the suffix counts
    assert found.lower_bounds[0].length.value == 0
    assert sum("is ignored" in line for line in found.hypotheses) == 2


def test_free_heads_are_named():
    small, large = table_model([1, 0], [0.01, 0], bits=4), table_model([0, 1], [1, 0], bits=4)
    found = lw.bound(small, large, error=0.1)
    assert any("head 1 of the first model" in line and "free" in line for line in found.hypotheses)


def test_the_sentence_and_the_fields():
    f = mod_p_task(3, 1, bits=4)
    found = lw.bound(f, f, error=0.1)
    assert str(found) == (
        "Training length 372: models that agree on all strings of the 3 lengths up to it differ by at most 0.1 more on "
        "every longer string (Theorem 2; counting dominates)."
    )
    fields = json.loads(found.to_json())
    assert (fields["kind"], fields["training_length"], fields["window"]) == ("bound", 372, [370, 372])
    assert (fields["dominant_term"], fields["theorem"], fields["error"]) == ("counting", "Theorem 2", "1/10")
    assert [term["name"] for term in fields["terms"]] == ["hardmax threshold", "shortest window", "counting"]
    assert max(term["length"] for term in fields["terms"]) == 372
    assert all(term["lowered_by"] for term in fields["terms"])
    assert all("not proved for this model" in o["statement"] for o in fields["others"] if "printed" in o["name"])
    assert sum("printed" in other["name"] for other in fields["others"]) == 2


NONE = {
    "two layers": (lambda: (replace(kgram_and(2, 1, 0.25), attention="plain"),) * 2, "2 layers of plain"),
    "no bits": (lambda: (simple_task(1), simple_task(1, bits=4)), "without bits"),
    "two rules": (lambda: (simple_task(1, bits=4), simple_task(1, attention="plain")), "log-length with plain"),
    "a step": (lambda: (step(simple_task(1, bits=4)),) * 2, "Heaviside"),
    "a plain step": (lambda: (step(simple_task(1, attention="plain")),) * 2, "Heaviside"),
}


def step(model):
    return replace(model, layers=(replace(model.layers[0], mlp=replace(model.layers[0].mlp, activation="heaviside")),))


@pytest.mark.parametrize("case", NONE)
def test_where_there_is_no_bound_the_reason_is_said(case):
    make, reason = NONE[case]
    models = make()
    for found in (lw.bound(*models, error=0.1), lw.bound(models[0], error=0.1)):
        if isinstance(found, Bound):
            assert case == "two rules"
            assert found.attention == models[0].attention
            continue
        assert isinstance(found, NoBound)
        assert reason in found.reason
        assert found.remedy
        assert str(found).startswith("No bound: ")
        with pytest.raises(NoBoundHolds, match=r"No bound"):
            _ = found.training_length
        fields = json.loads(found.to_json())
        assert (fields["kind"], fields["reason"], fields["training_length"]) == ("no bound", found.reason, None)


def test_wrong_inputs():
    f = simple_task(1, bits=4)
    with pytest.raises(WrongInput, match="below 4, the sum of all sensitivities"):
        lw.bound(f, f, error=4)
    assert lw.bound(f, f, error=Fraction(399, 100)).training_length >= 16
    with pytest.raises(WrongInput, match="same attention only"):
        lw.bound(f, f, error=0.1, same_attention=True)
    with pytest.raises(WrongInput, match="as many outputs"):
        lw.bound(f, replace(f, unembedding=np.eye(2, 5)), error=0.1)
    with pytest.raises(WrongInput, match="the same tokens"):
        lw.bound(replace(f, tokens=("a", "b", "c")), replace(f, tokens=("a", "c", "b")), error=0.1)
    for error in (0, -0.1, math.nan, math.inf, "1e99999", "1e-99999", "x", True):
        with pytest.raises(WrongInput, match="error above 0"):
            lw.bound(f, f, error=error)


def test_a_float_error_is_the_decimal_it_is_written_as():
    f = mod_p_task(2, 0, bits=4)
    assert lw.bound(f, f, error=0.1).error == lw.bound(f, f, error="0.1").error == Fraction(1, 10)
