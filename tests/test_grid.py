"""Rounding to a grid: every logit lands on it, nothing else moves, and the change of the output is within its bound."""

import itertools
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import lengthwise.limit.quantities as weigh
from helpers_quantities import (
    TOK,
    exact_logit,
    input_rows,
    log_suffix_layer,
    one_layer_laws,
    one_layer_output,
    random_one_layer,
    random_two_layer,
    table_model,
)
from lengthwise.errors import WrongInput
from lengthwise.limit.model import MLP, Head, Layer, LimitTransformer
from lengthwise.limit.quantities import logit_margin, round_to_grid, sensitivity


def trained(seed, attention="plain", mlp=True, symbols=3, period=2):
    """A model with float weights like those of training: no two logits tie."""
    rng = np.random.default_rng(seed)
    width, units = 4, 5
    heads = tuple(
        Head(*(rng.normal(size=(width, width)) * 0.5 for _ in range(3)), rng.normal(size=2)) for _ in range(2)
    )
    return LimitTransformer(
        embedding=rng.normal(size=(symbols, width)),
        positions=rng.normal(size=(period, width)) * 0.5,
        layers=(
            Layer(
                heads,
                MLP(rng.normal(size=(units, width)), rng.normal(size=units), rng.normal(size=(width, units)), "tanh")
                if mlp
                else None,
            ),
        ),
        unembedding=rng.normal(size=(2, width)),
        attention=attention,
    )


def all_logits(model, head):
    """Every logit a head can give, from the weights: (key, query, offset) -> rational or None."""
    table = {}
    types = list(itertools.product(range(model.symbols), range(model.period)))
    for query, key in itertools.product(types, types):
        for offset in range(len(model.layers[0].heads[0].phi) + 1):
            table[key, query, offset] = exact_logit(model, head, key, query, offset)
    return table


@pytest.mark.parametrize("bits", [0, 3, 12])
def test_every_logit_is_a_multiple_and_the_change_is_the_largest_one(bits):
    for seed in range(2):
        model = trained(seed)
        rounded = round_to_grid(model, bits)
        changes = []
        for old, new in zip(model.layers[0].heads, rounded.model.layers[0].heads, strict=True):
            before, after = all_logits(model, old), all_logits(rounded.model, new)
            assert all((value * 2**bits).denominator == 1 for value in after.values())
            # at most the bound of all (key, query, offset), at least that of the combinations a string can show
            shown = [
                abs(after[what] - before[what])
                for what in before
                if what[2] == 2
                or ((what[0][1] - what[1][1] + what[2]) % 2 == 0 and (what[2] or what[0][0] == what[1][0]))
            ]
            changes.append(max(shown))
        assert rounded.head_changes == tuple(changes)
        assert rounded.logit_change == max(changes) <= Fraction(5, 2) / 2**bits
        assert logit_margin(rounded.model) >= Fraction(1, 2**bits)


def test_the_margin_of_a_trained_model_is_tiny_before():
    model = trained(0)
    assert logit_margin(model) < logit_margin(round_to_grid(model, 4).model)


def test_a_model_on_the_grid_stays_the_same_function():
    for seed in range(20):
        model = random_one_layer(np.random.default_rng(seed), symbols=3)
        rounded = round_to_grid(model, 10)
        assert rounded.logit_change == 0
        assert rounded.error_at(10**9) == 0
        assert logit_margin(rounded.model) == logit_margin(model)
        assert sensitivity(rounded.model) == sensitivity(model)
        string = np.random.default_rng(seed).integers(0, 3, size=9)
        assert one_layer_output(rounded.model, string) == pytest.approx(one_layer_output(model, string), abs=1e-12)


@pytest.mark.parametrize("attention", ["plain", "log-length"])
def test_the_output_changes_by_no_more_than_the_bound(attention):
    closest = 0.0
    for seed in range(12):
        model = trained(seed, attention, mlp=seed % 2 == 0)
        rounded, rng = round_to_grid(model, 3), np.random.default_rng(seed)
        for n in (2, 5, 40):
            bound = rounded.error_at(n)
            assert 0 < bound < math.inf
            for _ in range(10):
                string = rng.integers(0, 3, size=n)
                change = one_layer_output(rounded.model, string) - one_layer_output(model, string)
                assert np.abs(change).max() <= bound * (1 + 1e-12)
                closest = max(closest, np.abs(change).max() / bound)
    assert closest > 0.1


@pytest.mark.parametrize(("attention", "length"), [("plain", 2), ("log-length", 2), ("plain", 1001)])
def test_the_total_variation_in_the_bound_is_attained(attention, length):
    """Logits +d/2, -d/2 that both round away by d/2: with balanced weights the law moves by tanh(d s / 4)."""
    quarter = 0.24  # rounds to 0: a change of 0.24 for each of the two tokens, in opposite directions
    model = table_model([quarter, -quarter], [1, 0], attention=attention)
    rounded = round_to_grid(model, 0)
    assert rounded.head_changes == (Fraction(quarter),)
    stretch = math.log(length) if attention == "log-length" else 1.0
    # x = p(A) = 1 / (1 + sqrt R) with R = e^2d is where the proof's maximum sits
    share = 1 / (1 + math.exp(-quarter * stretch))
    zeros = max(1, min(length - 1, round(length * (1 - share))))
    string = [0] * zeros + [1] * (length - zeros)
    old, new = one_layer_laws(model, string)[0], one_layer_laws(rounded.model, string)[0]
    tv = 0.5 * np.abs(old - new).sum()
    bound = rounded.error_at(length)
    assert tv <= bound
    assert tv > 0.98 * bound


def test_rounding_that_can_flush_has_no_bound_and_says_so():
    model = replace(trained(0, "log-length"), bits=8)
    rounded = round_to_grid(model, 3)
    assert rounded.error_at(10**6) == math.inf
    assert "flushed" in rounded.why_unbounded(10**6)
    flat = replace(table_model([0.3, 0.1], [1, 0], bits=8))
    fine = round_to_grid(flat, 2)
    assert fine.why_unbounded(10**3) is None  # n^-0.3 > 2^-8 there
    assert 0 < fine.error_at(10**3) <= 1
    assert "flushed" in fine.why_unbounded(10**10)
    step = replace(
        trained(0),
        layers=(Layer(trained(0).layers[0].heads, MLP(np.ones((1, 4)), [0.0], np.ones((4, 1)), "heaviside")),),
    )
    assert round_to_grid(step, 3).error_at(5) == math.inf
    assert "Heaviside" in round_to_grid(step, 3).why_unbounded(5)


def test_two_layers_are_rounded_in_the_first_and_have_no_bound():
    for seed in range(8):
        model = random_two_layer(np.random.default_rng(seed), ("relu", "tanh"))
        fine = round_to_grid(model, 40)
        assert "one layer" in fine.why_unbounded(10)
        assert fine.error_at(10) == math.inf
        string = np.random.default_rng(seed).integers(0, model.symbols, size=12)
        outputs = []
        for m in (model, fine.model):
            rows = log_suffix_layer(m.layers[1], log_suffix_layer(m.layers[0], input_rows(m, string)))
            outputs.append(m.unembedding @ rows[-1])
        assert outputs[1] == pytest.approx(outputs[0], rel=1e-8, abs=1e-8)


def test_declared_constants_survive_only_an_unchanged_function():
    def declared(model):
        second = replace(model.layers[1].heads[0], known_spread=1.0, known_diameter=2.0)
        return replace(model, layers=(model.layers[0], replace(model.layers[1], heads=(second,))))

    assert round_to_grid(declared(TOK), 5).logit_change == 0
    assert round_to_grid(declared(TOK), 5).model.layers[1].heads[0].known_spread == 1.0
    assert round_to_grid(declared(TOK), 1).logit_change > 0
    assert round_to_grid(declared(TOK), 1).model.layers[1].heads[0].known_spread is None


def test_coordinates_have_names_and_can_be_rounded_again():
    model = replace(trained(0), tokens=("a", "b", "c"))
    once = round_to_grid(model, 6).model
    assert once.coordinates[:5] == ("token=a", "token=b", "token=c", "residue=0", "residue=1")
    assert once.width == 5 + 4
    twice = round_to_grid(once, 6)
    assert twice.logit_change == 0
    assert len(set(twice.model.coordinates)) == twice.model.width


def test_masks_stay_masks_and_large_logits_stay_on_the_grid():
    model = table_model([2.0**60 + 2.0**9, 0.1], [1, 0], phi=[0.3, -math.inf])
    rounded = round_to_grid(model, 2)
    assert rounded.model.layers[0].heads[0].phi.tolist() == [0.25, -math.inf]
    assert logit_margin(rounded.model).denominator <= 4


def test_wrong_bits_are_told():
    for wrong in (-1, 1001, True):
        with pytest.raises(WrongInput, match="whole number of bits"):
            weigh.round(TOK, wrong)
    layers = (Layer((Head([[1e200]], [[1.0]], [[1.0]]),)),)
    huge = LimitTransformer(embedding=[[1e200]], layers=layers, unembedding=[[1.0]], attention="plain")
    with pytest.raises(WrongInput, match="fit a float"):
        round_to_grid(huge, 2)
