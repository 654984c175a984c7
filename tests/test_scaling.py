"""Exponents and lines: made-to-order laws give their own exponents back, least squares is SciPy's."""

import math

import numpy as np
import pytest
from scipy.stats import linregress

from lengthwise.study.curves import series
from lengthwise.study.measurement import measured
from lengthwise.study.scaling import against_error, exponents, fit, line
from study_helpers import member

LENGTHS = (4, 8, 16, 32, 64, 128)
INF = math.inf


def law(needed, fall=2.0, seeds=1, scatter=0.0, lengths=LENGTHS, **settings):
    """Members whose plateau is (N / needed)^-fall / 100, so that exactly `needed` brings loss 1e-2."""
    generator = np.random.default_rng(int(1000 * needed))
    return [
        member(
            0.01 * (n / needed) ** -fall * math.exp(scatter * generator.standard_normal()),
            longest=n,
            seed=seed,
            **settings,
        )
        for n in lengths
        for seed in range(seeds)
    ]


@pytest.mark.parametrize("exponent", [0.5, 1.0, 1.7])
@pytest.mark.parametrize("parameter", ["omega", "period", "symbols", "tail"])
def test_the_exponent_of_a_power_law_is_its_exponent(parameter, exponent):
    """Needed = 5 x^exponent, without noise: exact up to rounding, for every parameter that studies vary."""
    members = [one for x in (1.0, 2.0, 3.0, 5.0) for one in law(5 * x**exponent, **{parameter: x})]
    found = exponents(series(members), 1e-2)
    assert [one.against for one in found] == [parameter] + ["1/error"] * 4
    assert found[0].exponent == pytest.approx(exponent, rel=1e-9)
    assert [a for a, _ in found[0].points] == [1.0, 2.0, 3.0, 5.0]
    assert [b for _, b in found[0].points] == pytest.approx([5 * x**exponent for x in (1, 2, 3, 5)])
    if exponent == 1.0:
        assert found[0].slope == pytest.approx(5.0)
        assert found[0].intercept == pytest.approx(0.0, abs=1e-9)
        assert found[0].r_squared == pytest.approx(1.0)
    else:
        assert found[0].r_squared < 0.999
    assert found[0].exponent_lower is None  # one seed
    assert f"exponent {exponent:.2f}" in found[0].sentence


@pytest.mark.parametrize("fall", [1.0, 2.0, 3.0])
def test_the_exponent_against_one_over_the_error(fall):
    """Loss = 0.01 (N / 20)^-fall, error = sqrt(loss): N = const error^(-2 / fall)."""
    [one] = series(law(20.0, fall))
    found = against_error(one)
    assert found.exponent == pytest.approx(2 / fall, rel=1e-9)
    assert len(found.points) >= 3
    worst = [member(1e-3, longest=n, worst=[(n / 20) ** (-2 * fall)] * 3) for n in LENGTHS]
    [by_worst] = measured(worst, "error").exponents(0.1)  # error = (N / 20)^-fall itself
    assert by_worst.exponent == pytest.approx(1 / fall, rel=1e-9)


def test_no_threshold_of_the_grid_is_crossed():
    [one] = series([member(0.2, longest=4), member(0.15, longest=8)])
    found = against_error(one)
    assert (found.exponent, found.points) == (None, ())
    assert "no threshold" in found.sentence


def test_intervals_of_exponents_cover_the_truth():
    """Eight seeds that scatter by a factor of 1.5: the interval holds the exponent 1 in most of 30 studies."""
    hits = 0
    for trial in range(30):
        members = [
            one for x in (1.0, 2.0, 4.0, 6.0) for one in law(5 * x + 1e-3 * trial * x, seeds=8, scatter=0.4, omega=x)
        ]
        found = exponents(series(members), 1e-2)[0]
        hits += found.exponent_lower <= 1.0 <= found.exponent_upper
        assert found.exponent_lower < found.exponent < found.exponent_upper
        assert found.slope_lower < found.slope < found.slope_upper
    assert hits >= 24


def test_censored_points_are_left_out_and_named():
    members = [one for x in (1.0, 2.0, 4.0, 50.0) for one in law(5 * x, omega=x, seeds=3, scatter=0.01)]
    members += law(1.0, omega=0.5, seeds=3, scatter=0.01)
    found = exponents(series(members), 1e-2)[0]
    assert [a for a, _ in found.points] == [1.0, 2.0, 4.0]
    assert dict(found.left_out) == {0.5: "at most 4", 50.0: "not reached by 128"}
    assert found.exponent == pytest.approx(1.0, abs=0.02)


@pytest.mark.parametrize("known", [0, 1])
def test_too_few_points_say_so(known):
    members = [one for x in (50.0, 60.0)[known:] for one in law(5 * x, omega=x)]
    members += [one for x in (1.0, 2.0)[:known] for one in law(5 * x, omega=x)]
    found = exponents(series(members), 1e-2)[0]
    assert found.exponent is found.slope is found.r_squared is None
    assert f"at {known} value" in found.reason
    assert found.reason in found.sentence


def test_two_points_have_no_r_squared():
    members = [one for x in (1.0, 2.0) for one in law(5 * x, omega=x)]
    found = exponents(series(members), 1e-2)[0]
    assert found.exponent == pytest.approx(1.0)
    assert found.r_squared is None


def test_a_second_parameter_makes_a_second_line():
    """Omega varies within each attention rule: one exponent each, named by the rest of the setting."""
    members = [
        one
        for attention, exponent in (("plain", 1.0), ("log-length", 0.5))
        for x in (1.0, 2.0, 4.0)
        for one in law(5 * x**exponent, omega=x, attention=attention)
    ]
    found = [one for one in exponents(series(members), 1e-2) if one.against == "omega"]
    assert {one.setting["attention"]: round(one.exponent, 6) for one in found} == {"plain": 1.0, "log-length": 0.5}


@pytest.mark.parametrize("seed", range(10))
def test_lines_are_scipys(seed):
    """Row by row over the entries that are numbers; too few, or all at one place, give nan."""
    generator = np.random.default_rng(seed)
    x = generator.uniform(0, 10, 6)
    y = generator.normal(size=(8, 6)) + x
    y[generator.random(y.shape) < 0.3] = np.nan
    y[0] = 3.0  # a horizontal line
    y[1, 1:] = np.nan
    slope, intercept, r_squared = line(x, y)
    for row, a, b, c in zip(y, slope, intercept, r_squared, strict=True):
        known = np.isfinite(row)
        if known.sum() < 2:
            assert np.isnan(a)
            assert np.isnan(c)
            continue
        wanted = linregress(x[known], row[known])
        assert a == pytest.approx(wanted.slope, abs=1e-9)
        assert b == pytest.approx(wanted.intercept, abs=1e-9)
        if np.ptp(row[known]) > 0:
            assert c == pytest.approx(wanted.rvalue**2, abs=1e-9)
    assert np.isnan(line(np.array([2.0, 2.0]), np.array([[1.0, 5.0]]))[0][0])


def test_draws_that_do_not_know_a_point_fit_the_others():
    """A bad seed at one place makes some draws infinite there; the interval stays finite."""
    members = [one for x in (1.0, 2.0, 4.0) for one in law(5 * x, omega=x, seeds=3)]
    members = [
        m if (m.settings["omega"], m.seed) != (4.0, 0) else member(INF, longest=m.longest, seed=0, omega=4.0)
        for m in members
    ]
    found = exponents(series(members), 1e-2)[0]
    assert found.exponent == pytest.approx(1.0)
    assert math.isfinite(found.exponent_lower)
    assert math.isfinite(found.slope_upper)


def test_swapping_two_settings_changes_the_exponent():
    """What a mislabelled curve would do."""
    right = [one for x in (1.0, 2.0, 4.0) for one in law(5 * x, omega=x)]
    wrong = [one for x, y in ((1.0, 4.0), (2.0, 2.0), (4.0, 1.0)) for one in law(5 * y, omega=x)]
    assert exponents(series(right), 1e-2)[0].exponent == pytest.approx(1.0)
    assert exponents(series(wrong), 1e-2)[0].exponent == pytest.approx(-1.0)


def test_fit_without_intervals_for_one_seed():
    members = [one for x in (1.0, 2.0, 4.0) for one in law(5 * x, omega=x)]
    lines = series(members)
    needed = measured(members).required_lengths(1e-2)
    found = fit("omega", {}, [1.0, 2.0, 4.0], needed, resampled=False)
    assert found.exponent == exponents(lines, 1e-2)[0].exponent
    assert (found.exponent_lower, found.slope_lower) == (None, None)
