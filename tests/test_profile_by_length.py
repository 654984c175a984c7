"""Figure 3 from counts: against the profile of explicit strings, position by position."""

from dataclasses import replace

import numpy as np
import pytest

import lengthwise as lw
from helpers_quantities import random_one_layer
from lengthwise.limit.constructions import mod_p_task, tail_task
from lengthwise.study.attention_profile import attention_weights, profile
from lengthwise.study.profile_by_length import focus, position_attention
from lengthwise.tasks.protocol import Statistics
from lengthwise.tasks.regression import ModPTask


def trained_like(seed, attention):
    """Random weights with logits of some size."""
    model = random_one_layer(np.random.default_rng(seed), symbols=2, period=3, locality=0, attention=attention)
    heads = tuple(replace(head, phi=()) for head in model.layers[0].heads)
    return replace(model, layers=(replace(model.layers[0], heads=heads),))


def statistics_of(string, period):
    counts = lw.Counts.of(string, 2, period, 0)
    last = counts.suffix[-1] * period + len(string) % period
    return Statistics(np.array([len(string)]), np.ravel(counts.table)[:, None], np.array([[last]]))


@pytest.mark.parametrize("attention", ["plain", "log-length"])
def test_attention_of_a_type_is_that_of_its_positions(attention):
    for seed in range(6):
        model, string = trained_like(seed, attention), np.random.default_rng(seed).integers(0, 2, 20)
        by_position = attention_weights(model, string[None])[0]
        by_type = position_attention(model, statistics_of(string, 3))[:, 0]
        codes = string * 3 + np.arange(1, 21) % 3
        assert by_type[codes] == pytest.approx(by_position, rel=1e-12)
        assert np.ptp(by_position) > 1e-3


@pytest.mark.parametrize("attention", ["plain", "log-length"])
def test_the_focus_is_that_of_the_profile_of_many_strings(attention):
    task, length = ModPTask(3, 1), 21
    models = [trained_like(seed, attention) for seed in range(3)]
    strings = task.strings(np.random.default_rng(0), length, 20_000)
    wanted = profile(models, strings, task.residue, task.period, 1, 0.0)
    found = focus(models, task, length, samples=20_000)
    for name in ("mean_on", "deviation_on", "mean_off", "deviation_off"):
        assert getattr(found, name) == pytest.approx(getattr(wanted, name) * wanted.count, rel=0.03)


def test_the_construction_looks_at_the_residue_alone_where_rounding_has_set_in():
    task = ModPTask(5, 1)
    near, far = (focus([mod_p_task(5, 1, bits=10)], task, length) for length in (100, 1100))
    assert (far.mean_on, far.mean_off, far.deviation_on) == pytest.approx((1, 0, 0), abs=1e-12)
    assert near.mean_on == pytest.approx(1 / (1 + 4 / 100), rel=1e-9)
    assert near.mean_off == pytest.approx(near.mean_on / 100, rel=1e-9)


def test_a_model_with_positional_logits_is_refused():
    with pytest.raises(lw.WrongInput, match="without positional logits"):
        focus([tail_task(2)], ModPTask(1, 0), 10)
