"""How fast heads approach their limits: the smoothed margin against the printed one, and both against the heads."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from helpers_quantities import common_model, input_rows, log_suffix_layer, random_two_layer
from lengthwise.exact import Ball, power_sum
from lengthwise.limit.arithmetic import balls, float_power_sum, floats
from lengthwise.limit.decay import decays
from lengthwise.limit.distance import LimitError
from lengthwise.limit.quantities import complexity, limit_rows

PHIS = [[0.0, 0.0], [0.25, 0.5], [0.25, 1.0], [0.25, 1.5], [-0.5, 0.3], [0.999, 0.0], [-np.inf, 0.7], [2.5, 2.5]]


@pytest.mark.parametrize("exponent", [0.1, 0.5, 0.999999, 1, 1.5, 3])
def test_float_power_sums_against_enclosures(exponent):
    for first, last in ((1, 1), (1, 10), (1, 24), (2, 26), (1, 1000), (7, 10**6), (10**9, 10**12), (3, 10**40)):
        assert float_power_sum(first, last, exponent) == pytest.approx(
            float(power_sum(first, last, Fraction(exponent))), rel=1e-9
        )
    assert float_power_sum(5, 4, exponent) == 0


@pytest.mark.parametrize("phi", PHIS)
def test_the_smoothed_decay_falls_and_is_never_above_the_printed_one(phi):
    model = common_model(phi)
    ((smooth,), _), ((printed,), _) = decays(model, 1, True), decays(model, 1, False)
    places = [2, 3, 4, 5, 8, 20, 100, 1000, 10**4, 10**6, 10**9, 10**30]
    found = [float(smooth.at(i, balls())) for i in places]
    assert found == sorted(found, reverse=True)
    assert all(value <= float(printed.at(i, balls())) * (1 + 1e-12) for i, value in zip(places, found, strict=True))
    assert [smooth.at(i, floats()) for i in places] == pytest.approx(found, rel=1e-9)


@pytest.mark.parametrize("phi", PHIS)
@pytest.mark.parametrize("ratio", [1.0, 3.7, 1e3])
def test_means_bound_the_running_mean_and_hardly_exceed_it(phi, ratio):
    for smoothed in (True, False):
        ((decay,), _) = decays(common_model(phi), 1, smoothed)
        for length in (1, 2, 7, 100, 3000):
            direct = math.fsum(min(1.0, ratio * float(decay.at(i, floats()))) for i in range(1, length + 1)) / length
            for numbers in (floats(), balls()):
                found = float(decay.mean(numbers.upto(ratio), length, numbers))
                assert direct * (1 - 1e-9) <= found <= direct * 1.4 + 4 * decay.settled / length


def test_heads_are_within_the_smoothed_decay_of_their_limit():
    closest = 0.0
    for seed in range(120):
        rng = np.random.default_rng(seed)
        model = random_two_layer(rng, ("relu", "sin", "tanh"))
        if seed % 3 == 0:
            phi = model.layers[0].heads[0].phi.copy()
            phi[rng.integers(0, len(phi))] = -np.inf
            heads = (replace(model.layers[0].heads[0], phi=phi), *model.layers[0].heads[1:])
            model = replace(model, layers=(replace(model.layers[0], heads=heads), model.layers[1]))
        string = rng.integers(0, model.symbols, size=60)
        if seed % 2:
            string[:-1] = string[0]
        away = np.linalg.norm(
            log_suffix_layer(model.layers[0], input_rows(model, string)) - limit_rows(model, string), axis=1
        )
        first, second = decays(model, model.locality, True)
        error = LimitError(complexity(model), first, second)
        bounds = np.array([error.first_layer(i, balls()).upper() for i in range(1, 61)])
        assert (away <= bounds + 1e-9).all()
        closest = max(closest, (away[5:] / np.maximum(bounds[5:], 1e-12)).max())
    assert closest > 0.4


def test_uniform_attention_has_no_limit_error_and_a_halved_decay_would_be_noticed():
    model = common_model([0.0, 0.0])
    first, second = decays(model, 1, True)
    assert LimitError(complexity(model), first, second).at(10, balls()).upper() == 0
    # a^(n-1) b, phi = 1/2 at offset 0: the last token's weight n^(1/2) against n - 1 others, limit 1 against n - 1
    n, phi = 10**6, 0.5
    ((decay,), _) = decays(common_model([phi]), 0, True)
    away = n**phi / (n - 1 + n**phi) - 1 / n
    bound = float(decay.at(n, balls()))
    assert bound / 2 < 0.99 * away < away <= bound


def test_a_ball_of_infinity_stays_a_bound():
    assert Ball.upto(math.inf).upper() == math.inf
    assert LimitError.printed(complexity(common_model([0.25, 0.5]))).at(1, balls()).upper() < math.inf
