"""Common random numbers: exact products in 32 bits, uniform at every bound, alike at every length."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.stats import chisquare

from lengthwise.tasks.regression import ModPTask, SimpleTask
from lengthwise.train.common_draws import common_drawing, scaled


def test_the_product_is_exact():
    generator = np.random.default_rng(1)
    digits = generator.integers(0, 1 << 16, (3, 2000))
    digits[:, :50] = 0xFFFF
    digits[:, 50:100] = 0
    bounds = generator.integers(1, 1 << generator.integers(1, 32, 2000))
    bounds[:4] = 1, (1 << 31) - 1, 1 << 31, 1 << 16
    found = np.asarray(scaled(jnp.asarray(digits, jnp.uint32), jnp.asarray(bounds, jnp.uint32)))
    for (a, b, c), bound, value in zip(digits.T.tolist(), bounds.tolist(), found.tolist(), strict=True):
        assert value == ((a << 32 | b << 16 | c) * bound) >> 48


@pytest.mark.parametrize("bound", [1, 2, 3, 7, 100, 997])
def test_values_are_uniform(bound):
    values = np.asarray(common_drawing(jax.random.key(bound))(jnp.full(40_000, bound)))
    assert values.min() >= 0
    assert values.max() < bound
    if bound > 1:
        assert chisquare(np.bincount(values, minlength=bound)).pvalue > 1e-3


def test_calls_are_independent_of_one_another():
    draw = common_drawing(jax.random.key(0))
    pairs = np.asarray(draw(jnp.full(40_000, 4))) * 4 + np.asarray(draw(jnp.full(40_000, 4)))
    assert chisquare(np.bincount(pairs, minlength=16)).pvalue > 1e-3


@pytest.mark.parametrize("task", [SimpleTask(2.0), ModPTask(3, 1)])
def test_two_lengths_read_nearly_the_same_strings(task):
    shares = []
    for length in (12_000, 1_200_000):
        statistics = task.statistics(jnp.full(500, length), common_drawing(jax.random.key(3)))
        shares.append(np.asarray(statistics.prefix) / length)
    apart = np.max(np.abs(shares[0] - shares[1]), axis=0)
    assert np.mean(apart < 1e-3) > 0.99  # all but those whose two bars fall on one place
    assert np.max(np.std(shares[0], axis=1)) > 0.05  # and the strings differ from one another
