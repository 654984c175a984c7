"""Regimes, position margins and snapping of positional logits."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from helpers_quantities import BAL, MILD_H, POS, TOK, TOK_L2BAL, TOK_PERIOD_2, common_model, random_two_layer
from lengthwise.errors import WrongInput
from lengthwise.limit.model import Head
from lengthwise.limit.quantities import head_regime, position_margin, regimes, snap_positions


def head(phi):
    return Head(np.eye(1), np.eye(1), np.eye(1), phi)


@pytest.mark.parametrize(
    ("model", "margin", "domination"),
    [
        (TOK, Fraction(1, 2), "token"),
        (BAL, Fraction(3, 4), "balanced"),
        (POS, Fraction(1, 2), "position"),
        (TOK_L2BAL, Fraction(1, 2), "token"),
        (TOK_PERIOD_2, Fraction(1, 2), "token"),
        (MILD_H, Fraction(1, 2), "position"),
    ],
)
def test_printed_margins(model, margin, domination):
    assert position_margin(model) == margin
    assert regimes(model)[0][0].domination == domination


@pytest.mark.parametrize(
    ("phi", "domination", "offsets", "margin"),
    [
        ([], "token", (), 1),  # phi = 0 at offset 0
        ([1.0], "balanced", (0,), math.inf),
        ([2.5], "position", (0,), Fraction(3, 2)),
        ([2.5, 2.5, 2.0], "position", (0, 1), Fraction(1, 2)),
        ([1.0, 1.0, -3.0], "balanced", (0, 1), 4),
        ([-1.0], "token", (), 2),
        ([-math.inf, 0.75], "token", (), Fraction(1, 4)),
        ([0.5, -math.inf, 1.5], "position", (2,), Fraction(1, 2)),
        ([-math.inf], "token", (), math.inf),
    ],
)
def test_regime_of_a_head(phi, domination, offsets, margin):
    found = head_regime(head(phi), max(len(phi) - 1, 0))
    assert (found.domination, found.offsets, found.margin) == (domination, offsets, margin)
    assert found.rate == min(margin, 1)


def test_phi_is_padded_to_the_common_locality():
    assert head_regime(head([1.0]), 0).margin == math.inf
    assert head_regime(head([1.0]), 1).margin == 1


def test_margins_are_exact_differences_of_floats():
    assert head_regime(head([0.3]), 0).margin == 1 - Fraction(0.3)
    assert head_regime(head([1 + 2.0**-52]), 0).margin == Fraction(1, 2**52)


def test_second_layer_heads_count_only_with_a_suffix_term():
    near = common_model([0.25, 0.5], [0.0, 1.125])
    assert position_margin(near) == Fraction(1, 8)
    assert position_margin(common_model([0.25, 0.5], [0.0, 0.0])) == Fraction(1, 2)


def test_snapping_makes_near_ties_ties():
    noisy = common_model([0.25, 0.25 + 3e-10], [1e-12, 1 + 4e-10])
    assert position_margin(noisy) < 1e-9
    snapped = snap_positions(noisy)
    assert snapped.layers[0].heads[0].phi.tolist() == [0.25, 0.25]
    assert snapped.layers[1].heads[0].phi.tolist() == [0.0, 1.0]
    assert position_margin(snapped) == Fraction(3, 4)
    assert regimes(snapped)[1][0].domination == "balanced"


def test_snapping_moves_nothing_else_and_is_idempotent():
    for seed in range(20):
        model = random_two_layer(np.random.default_rng(seed))
        again = snap_positions(model)
        for layer, same in zip(model.layers, again.layers, strict=True):
            for old, new in zip(layer.heads, same.heads, strict=True):
                assert old.phi.tolist() == new.phi.tolist()
                assert np.array_equal(old.key, new.key)
    chain = common_model([0.5, 0.5 + 0.9e-9, 0.5 + 1.8e-9, -math.inf])
    assert snap_positions(chain).layers[0].heads[0].phi.tolist() == [0.5, 0.5, 0.5, -math.inf]
    apart = common_model([0.5, 0.5 + 1.1e-9])
    assert snap_positions(apart).layers[0].heads[0].phi.tolist() == [0.5, 0.5 + 1.1e-9]


def test_wrong_input_is_told():
    with pytest.raises(WrongInput, match="logit margin"):
        position_margin(replace(TOK, attention="plain"))
    with pytest.raises(WrongInput, match="tolerance"):
        snap_positions(TOK, 0.5)
