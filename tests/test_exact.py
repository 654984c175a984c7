"""Exact numbers: rounding goes the way it says, and sums over astronomic ranges are right."""

import math
from fractions import Fraction

import numpy as np
import pytest

from lengthwise.exact import (
    Ball,
    ceil_float,
    ceil_power_of_two,
    common_denominator,
    entries,
    floor_float,
    least,
    matrix_of,
    power_sum,
    rational_matrix,
    scaled,
)


def test_ceil_and_floor_are_the_neighbouring_floats():
    for value in (
        Fraction(1, 3),
        Fraction(-1, 3),
        Fraction(10**400),
        Fraction(1, 10**400),
        Fraction(0),
        Fraction(7, 2),
    ):
        up, down = ceil_float(value), floor_float(value)
        assert down <= value <= up
        assert up == down or math.nextafter(down, math.inf) == up


def test_matrices_keep_every_bit_of_a_float():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(3, 4)) * 1e-200, rng.normal(size=(4, 2)) * 1e150
    product = entries(rational_matrix(a) * rational_matrix(b))
    for i in range(3):
        for j in range(2):
            assert product[i][j] == sum(Fraction(x) * Fraction(y) for x, y in zip(a[i], b[:, j], strict=True))
    numerators, denominator = common_denominator(rational_matrix(a))
    assert Fraction(numerators[1][2], denominator) == Fraction(a[1, 2])
    assert entries(scaled(matrix_of([[1, Fraction(2, 3)]]), Fraction(3, 2))) == [[Fraction(3, 2), Fraction(1)]]


@pytest.mark.parametrize("exponent", [Fraction(7, 2), Fraction(1, 1000), Fraction(-1, 3), Fraction(401, 4)])
def test_ceil_power_of_two_is_the_least_integer(exponent):
    found = ceil_power_of_two(exponent)
    p, q = exponent.numerator, exponent.denominator

    def at_least(m):  # m >= 2^(p/q)
        return m**q * 2 ** max(-p, 0) >= 2 ** max(p, 0)

    assert at_least(found)
    assert found == 1 or not at_least(found - 1)


def test_ceil_power_of_two_is_exact_at_and_next_to_integers():
    assert ceil_power_of_two(Fraction(800)) == 2**800
    assert ceil_power_of_two(Fraction(10) + Fraction(1, 2**900)) == 1025
    assert ceil_power_of_two(Fraction(10) - Fraction(1, 2**900)) == 1024


@pytest.mark.parametrize("exponent", [0.25, 0.5, 1.0, Fraction(1) - Fraction(1, 2**50), Fraction(3, 7)])
def test_power_sum_is_the_sum(exponent):
    for first, last in ((1, 1), (1, 50), (17, 400), (5, 4)):
        direct = math.fsum(i ** -float(exponent) for i in range(first, last + 1))
        ball = power_sum(first, last, exponent)
        assert ball.upper() >= ball.lower()
        assert float(ball) == pytest.approx(direct, rel=1e-12)
    n = 10**60
    ends = power_sum(1, n, exponent)
    assert ends.upper() - ends.lower() <= 1e-12 * ends.upper()


def test_zero_times_an_infinite_bound_is_zero_and_nothing_is_nan():
    infinite = Ball.upto(math.inf)
    assert (infinite * 0).upper() == 0
    assert (0 * infinite).upper() == 0
    assert (infinite * 2).upper() == math.inf
    assert least(infinite, Ball.of(3)).upper() == 3
    assert Ball.of(0).log2_upper() == -math.inf
    assert Ball.of(10**6).apply("exp").upper() == math.inf
    assert Ball.of(10**6).apply("exp").log2_upper() == pytest.approx(10**6 / math.log(2))
