"""The training length for expected errors: from the class size to the window, and what has no bound."""

import json
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import lengthwise as lw
from bound_oracles import uniform
from helpers_quantities import table_model
from lengthwise.errors import WrongInput
from lengthwise.limit.constructions import kgram_and, mod_p_task, simple_task
from lengthwise.theory.answer import NoBound
from lengthwise.theory.average import drift


def test_the_published_class_size():
    found = lw.bound(simple_task(4, bits=4), uniform(4), error=0.5, average=1)
    assert found.training_length == pytest.approx(9201, rel=1e-3)
    assert (found.window, found.theorem, found.law) == (1, "Theorem 3", "Dirichlet weights 1 for every token")
    assert "if the expected difference of the models is at most d on strings of that length" in str(found)
    assert json.loads(found.to_json())["law"] == found.law
    assert lw.bound(simple_task(4, bits=4), uniform(4), error=0.5).fields()["law"] is None


@pytest.mark.parametrize("error", [Fraction(1, 2), Fraction(1, 5)])
def test_the_least_class_size_with_twice_the_drift_below_the_error(error):
    f, g = mod_p_task(3, 0, bits=4), mod_p_task(3, 1, bits=6)
    found = lw.bound(f, g, error=error, average=["1/2", 2])
    rates = drift(f, g, ["1/2", 2])
    classes = (found.training_length - found.window + 1 - 1) // 3  # of the shortest string in the window, locality 0
    assert all((2 * rate).certainly_less(error) for rate in rates.at(classes))
    assert not all((2 * rate).certainly_less(error) for rate in rates.at(classes - 1))


def test_the_drift_of_drawn_strings_is_below_the_error():
    """SimpleTask against uniform attention: mean |f - g| at a window length and far beyond it, from drawn proportions."""
    rng = np.random.default_rng(0)
    f, g = simple_task(1, bits=4), uniform(1)
    found = lw.bound(f, g, error=1, average=1)

    def mean(length):
        counts = rng.multinomial(length, rng.dirichlet(np.ones(3), size=20_000))
        zeros, ones = counts[:, 0], counts[:, 1]
        here = np.sin((zeros - ones) / np.maximum(zeros + ones, 1)) - np.sin((zeros - ones) / length)
        return np.abs(here).mean()

    assert found.training_length >= 16
    assert abs(mean(100 * found.training_length) - mean(found.training_length)) < 1


def test_the_threshold_of_the_hardmax_counts_too():
    f = simple_task(1, bits=40)
    found = lw.bound(f, f, error=1, average=1)
    assert found.training_length == 2**40
    assert found.dominant.name == "hardmax threshold"


def test_quadratic_in_one_over_the_error_for_large_weights():
    f, g = simple_task(4, bits=4), uniform(4)
    lengths = [lw.bound(f, g, error=Fraction(1, 2**k), average=2).training_length for k in (4, 6, 8)]
    assert np.diff(np.log2(lengths)) == pytest.approx([4, 4], abs=0.1)


def test_where_there_is_no_bound():
    f, g = simple_task(1, bits=4), uniform(1)
    found = lw.bound(f, g, error=0.5, average=[1, 1, 0])
    assert isinstance(found, NoBound)
    assert "token 2 has weight 0" in found.reason
    slow = lw.bound(mod_p_task(2, 0, bits=4), mod_p_task(2, 1, bits=4), error=Fraction(1, 10**6), average="1e-9")
    assert isinstance(slow, NoBound) or slow.training_length > 0
    grams = kgram_and(2, 1, 0.1)
    assert isinstance(lw.bound(grams, grams, error=0.01, average=1), NoBound)
    assert isinstance(lw.bound(simple_task(1), g, error=0.5, average=1), NoBound)


def test_plain_attention_needs_no_threshold_and_asks_nothing_of_the_law():
    """R(C) by the formula, in floats; the least C with 2 R(C) <= error; tokens of weight 0 are no obstacle."""
    f = replace(simple_task(2, bits=4), attention="plain", bits=None)
    g = replace(uniform(2), attention="plain", bits=None)

    def rate(size):
        kappa, near = (math.sqrt(3) + 1) / 2, 1
        spreads = [1, 0]  # of f and of g, at every query; L = 4 each
        return sum(4 * min(1, kappa * math.exp(w / 2) / math.sqrt(size) + math.exp(w) * near / size) for w in spreads)

    for alpha in (1, [1, 1, 0], "1/1000"):
        found = lw.bound(f, g, error=0.5, average=alpha)
        size = found.training_length - 1
        assert 2 * rate(size) <= 0.5 < 2 * rate(size - 1)
    assert found.theorem == "Theorem 3 for plain attention"
    assert [term.name for term in found.terms] == ["shortest window", "averaging"]


def test_the_example_of_a_law_without_regularity():
    """Equal on every string over the first two tokens, a third apart where the third one is as frequent as the others."""
    reads = table_model([0, 0, 0], [0, 0, 1], bits=4)
    silent = table_model([0, 0, 0], [0, 0, 0], bits=4)
    for counts in ([[7], [8], [0]], [[10**6], [3], [0]]):
        assert lw.evaluate_counts(reads, lw.Counts((0,), counts)) == lw.evaluate_counts(silent, lw.Counts((0,), counts))
    far = lw.Counts((0,), [[10**9 - 1], [10**9], [10**9]])
    assert lw.evaluate_counts(reads, far) - lw.evaluate_counts(silent, far) == pytest.approx(1 / 3)
    assert isinstance(lw.bound(reads, silent, error=0.1, average=[1, 1, 0]), NoBound)
    assert lw.bound(reads, silent, error=0.1, average=[1, 1, "1/100"]).training_length > 0


def test_wrong_inputs():
    f = simple_task(1, bits=4)
    with pytest.raises(WrongInput, match="two models for an average"):
        lw.bound(f, error=0.5, average=1)
    with pytest.raises(WrongInput, match="sum of all sensitivities"):
        lw.bound(f, f, error=50, average=1)
    with pytest.raises(WrongInput, match="constants alone"):
        lw.bound(lw.Constants(vocabulary=3, sensitivity=8, margin=1, bits=4), error=0.5, average=1)
    for alpha in ("x", -1, math.nan, [1, 1], [0, 0, 0]):
        with pytest.raises(WrongInput, match="alpha"):
            lw.bound(f, f, error=0.5, average=alpha)


def test_on_the_command_line(command):
    ended = command(
        "bound", "simple:omega=4", "simple:omega=3", "--bits", "4", "--error", "0.5", "--average", "1", "--json"
    )
    assert (ended.code, ended.json["theorem"]) == (0, "Theorem 3")
    listed = command(
        "bound", "simple:omega=4", "simple:omega=3", "--bits", "4", "--error", "0.5", "--average", "1,1,1", "--json"
    )
    assert listed.json["training_length"] == ended.json["training_length"]
    none = command("bound", "simple", "simple", "--bits", "4", "--error", "0.5", "--average", "1,1,0")
    assert (none.code, none.out.startswith("No bound: the token 2")) == (1, True)
    for bad in (["simple"], []):
        wrong = command("bound", *bad, "--bits", "4", "--error", "0.5", "--average", "1")
        assert (wrong.code, len(wrong.err.splitlines())) == (2, 1)
