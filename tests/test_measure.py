"""Plateaus, required lengths and overlaps against their definitions, on curves made to order."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lengthwise.study import curves, measure
from lengthwise.study.curves import DRAWS, quantiles, resampled_medians, series
from lengthwise.study.measure import crossing, overlap, plateaus, required_length
from lengthwise.study.measurement import measured
from lengthwise.study.runfile import decoded, encoded
from study_helpers import member, result, study

LENGTHS = (1_000, 10_000, 100_000, 1_000_000)
INF = math.inf


def one_series(losses, **options):
    """A series from losses[training length][seed], each a plateau or a whole curve."""
    members = [
        member(loss, longest=length, seed=seed, **options)
        for length, group in losses.items()
        for seed, loss in enumerate(group)
    ]
    [found] = series(members)
    return found


# --- resampling


def test_bootstrap_medians_have_the_law_of_all_resamplings():
    """Against all 4^4 resamplings of four values: the share of each median within five standard deviations."""
    values = np.array([1.0, 2.0, 5.0, 11.0])
    exact = [float(np.median(chosen)) for chosen in itertools.product(values, repeat=4)]
    draws = np.concatenate([resampled_medians(values, np.random.default_rng(seed)) for seed in range(20)])
    assert set(draws) <= set(exact)
    for value in set(exact):
        share = exact.count(value) / len(exact)
        assert abs(np.mean(draws == value) - share) < 5 * math.sqrt(share * (1 - share) / len(draws))


@given(st.lists(st.floats(-5, 5) | st.sampled_from([INF, -INF]), min_size=1, max_size=200))
@settings(max_examples=100, deadline=None)
def test_quantiles_are_the_smallest_values_with_enough_below(values):
    """Also where some draws are infinite: nothing is interpolated, nothing becomes nan."""
    draws = np.asarray(values)
    low, high = quantiles(draws)
    for found, share in ((low, 0.025), (high, 0.975)):
        wanted = next(v for v in sorted(values) if np.mean(draws <= v) >= share - 1e-12)
        assert float(found) == wanted


def test_training_lengths_are_resampled_independently():
    line = one_series({4: [1.0, 2.0, 3.0, 4.0], 8: [1.0, 2.0, 3.0, 4.0]})
    assert line.draws.shape == (DRAWS, 2)
    assert abs(np.corrcoef(line.draws.T)[0, 1]) < 0.15


# --- required length


def brute_force(lengths, losses, threshold):
    """The least length from which on the envelope is at most the threshold, by looking at 200,001 lengths."""
    if all(loss <= threshold for loss in losses):
        return -INF
    if losses[-1] > threshold:
        return INF
    envelope = [max(losses[index:]) for index in range(len(losses))]
    logs = np.log(np.clip(envelope, 1e-300, 1e300))
    places = np.exp(np.linspace(np.log(lengths[0]), np.log(lengths[-1]), 200_001))
    values = np.interp(np.log(places), np.log(lengths), logs)
    for index, value in enumerate(envelope):  # a divergence is not interpolated: the next length, not before
        if math.isinf(value):
            values[places < lengths[index + 1] * (1 - 1e-9)] = INF
    return float(places[np.argmax(values <= math.log(threshold) + 1e-12)])


@pytest.mark.parametrize("seed", range(40))
def test_crossing_against_brute_force(seed):
    """Curves that fall, rise, oscillate, diverge, reach 0 or stand still."""
    generator = np.random.default_rng(seed)
    count = int(generator.integers(1, 9))
    lengths = np.sort(generator.choice(np.arange(1, 200), count, replace=False)).astype(float)
    losses = 10 ** generator.uniform(-4, 0, size=(5, count))
    losses[generator.random(losses.shape) < 0.1] = INF
    losses[generator.random(losses.shape) < 0.05] = 0.0
    losses[1] = np.sort(losses[1])[::-1]
    losses[2] = losses[2, 0]
    found = crossing(lengths, losses, 1e-2)
    for value, row in zip(found, losses, strict=True):
        assert value == pytest.approx(brute_force(lengths, list(row), 1e-2), rel=2e-4)


def test_a_length_suffices_only_if_every_longer_one_does():
    """The first crossing of a curve that rises again is no answer."""
    line = one_series({4: [1.0], 8: [1e-3], 16: [0.1], 32: [1e-3]})
    found = required_length(line, 1e-2)
    assert found.length == pytest.approx(16 * 2 ** (1 / 2), rel=1e-12)  # 0.1 to 1e-3 passes 1e-2 halfway


def test_the_crossing_of_a_power_law_is_exact():
    """Loss = (N / 20)^-3: interpolation in logarithms meets every threshold where the law does."""
    line = one_series({n: [(n / 20) ** -3] for n in (2, 3, 7, 30, 100)})
    for threshold in (100.0, 1.0, 0.05):
        assert required_length(line, threshold).length == pytest.approx(20 * threshold ** (-1 / 3), rel=1e-12)


def test_a_plateau_equal_to_the_threshold_suffices():
    line = one_series({4: [1.0], 8: [1e-2], 16: [1e-3]})
    assert required_length(line, 1e-2).length == pytest.approx(8.0)
    assert required_length(line, 0.99e-2).length > 8


def test_censored_at_the_short_end():
    line = one_series({4: [1e-3, 2e-3, 3e-3], 8: [1e-4, 2e-4, 1e-4]})
    found = required_length(line, 1e-2)
    assert (found.length, found.censored, found.bound, found.sentence) == (None, "at most", 4, "at most 4")
    assert found.lower is found.upper is None
    assert found.interval_reason == "all draws lie below the shortest trained length, 4"


def test_censored_at_the_long_end():
    line = one_series({4: [1.0, 2.0, 3.0], 8: [1.0, 0.5, 0.6]})
    found = required_length(line, 1e-2)
    assert (found.length, found.censored, found.bound, found.sentence) == (None, "not reached", 8, "not reached by 8")
    assert found.interval_reason == "all draws lie above the longest trained length, 8"


def test_an_interval_that_is_open_on_one_side_says_so():
    """One of three seeds at the longest length fails, so some resamplings never reach the threshold."""
    line = one_series({4: [1.0] * 3, 8: [1e-3, 1e-3, 0.5]})
    found = required_length(line, 1e-2)
    assert found.length == found.lower == pytest.approx(4 * 2 ** (2 / 3))
    assert found.upper is None
    assert found.interval_reason == "open: it reaches above the longest trained length, 8"
    assert found.sentence == "6.35 (95 %: 6.35 to > what was trained)"
    below = required_length(one_series({4: [1e-3, 0.5, 0.5], 8: [1e-3] * 3}), 1e-2)
    assert below.lower is None
    assert below.upper is not None
    assert "(95 %: < what was trained to " in below.sentence


def test_one_seed_has_no_interval():
    found = required_length(one_series({4: [1.0], 8: [1e-3]}), 1e-2)
    assert (found.lower, found.upper, found.interval_reason) == (None, None, "one seed: no interval")
    assert found.sentence == "6.35"
    mixed = required_length(one_series({4: [1.0, 1.0], 8: [1e-3]}), 1e-2)
    assert mixed.interval_reason == "one seed: no interval"


def test_diverged_seeds_count_as_infinite_loss():
    """One of three is a bad seed; two of three make the median infinite, and nothing is interpolated across it."""
    line = one_series({4: [INF, INF, 1.0], 8: [1e-3, 1e-3, INF]})
    assert list(line.medians) == [INF, 1e-3]
    found = required_length(line, 1e-2)
    assert found.length == 8.0
    assert plateaus(line)[1].bad_seeds == (2,)
    assert math.isinf(plateaus(line)[0].median)


def test_intervals_cover_the_truth():
    """True medians are a power law; seeds scatter by a factor of about 1.6; 95 % intervals hold it mostly."""
    hits, trials = 0, 60
    for trial in range(trials):
        generator = np.random.default_rng(trial)
        scatter = {n: np.exp(0.5 * generator.standard_normal(8)) * (n / 2) ** -2.0 for n in (4, 8, 16, 32, 64)}
        found = required_length(one_series({n: map(float, losses) for n, losses in scatter.items()}), 1e-2)
        hits += found.lower <= 20.0 <= found.upper
    assert 0.8 * trials <= hits < trials  # an interval that always holds it would be too wide


def test_the_worst_error_is_a_metric_of_its_own():
    members = [member(1e-4, longest=n, worst=[w] * 3) for n, w in ((4, 4.0), (8, 1e-4))]
    found = measured(members, "error").required_lengths(0.1)[0]
    assert found.length == pytest.approx(4 * 2 ** (math.log(20) / math.log(200)))  # worst errors 2 and 0.01
    assert measured(members, "loss").required_lengths(0.1)[0].censored == "at most"


# --- plateaus


def changes_by_definition(losses, lengths):
    """The largest, over pairs a decade or more apart in the window, of the median relative change a decade."""
    found = []
    for (i, a), (j, b) in itertools.product(enumerate(lengths), repeat=2):
        if a >= 10**4 and b <= 10**6 and b >= 10 * a:
            found.append(np.median([(row[j] / row[i] - 1) / math.log10(b / a) for row in losses]))
    return max(found, key=abs)


@pytest.mark.parametrize("seed", range(10))
def test_the_change_of_a_plateau_is_its_definition(seed):
    generator = np.random.default_rng(seed)
    lengths = (100, 10_000, 30_000, 100_000, 300_000, 1_000_000, 10_000_000)
    losses = np.exp(generator.normal(0, 0.15, size=(5, len(lengths)))) * (1 if seed % 2 else 1e-5)
    [found] = plateaus(one_series({8: map(tuple, losses.tolist())}, lengths=lengths))
    assert found.change == pytest.approx(changes_by_definition(losses, lengths), rel=1e-12)
    assert found.settled == (abs(found.change) < 0.1)
    assert found.change_lower <= found.change <= found.change_upper
    assert found.median == np.median(losses[:, -1])


@pytest.mark.parametrize(("slope", "settled"), [(0.0, True), (0.03, True), (-0.04, True), (0.045, False), (0.3, False)])
def test_a_loss_that_grows_as_a_power_settles_only_if_the_power_is_small(slope, settled):
    """Loss = T^slope: the change a decade from 10^4 to 10^6 is (10^(2 slope) - 1) / 2."""
    curve = tuple(1e-3 * length**slope for length in LENGTHS)
    [found] = plateaus(one_series({8: [curve] * 3}, lengths=LENGTHS))
    by_hand = max((10 ** (2 * slope) - 1) / 2, 10**slope - 1, key=abs)
    assert found.change == pytest.approx(by_hand, rel=1e-9, abs=1e-12)
    assert found.settled is settled
    assert found.certainly_moving is not settled  # all seeds agree, so the interval is a point


def test_movement_within_the_seeds_interval_is_not_certain():
    up, down = (1.0, 1.0, 1.3, 1.6), (1.0, 1.0, 0.95, 0.9)
    [found] = plateaus(one_series({8: [up, up, up, down, down]}, lengths=LENGTHS))
    assert found.settled is False
    assert not found.certainly_moving
    [found] = plateaus(one_series({8: [up] * 5}, lengths=LENGTHS))
    assert found.certainly_moving
    [one] = plateaus(one_series({8: [up]}, lengths=LENGTHS))
    assert one.settled is False
    assert one.certainly_moving
    assert one.change_lower is one.change_upper is None


@pytest.mark.parametrize("lengths", [(10, 1000), (10_000, 100_000), (20_000, 1_000_000), (1_000_000,)])
def test_test_lengths_that_cannot_tell(lengths):
    [found] = plateaus(one_series({8: [1e-3, 1e-3]}, lengths=lengths))
    assert (found.settled, found.change) == (None, None)
    assert "10^4 and 10^6" in found.reason


def test_an_infinite_plateau_has_not_settled():
    [found] = plateaus(one_series({8: [(1.0, 1.0, INF, INF)] * 3}, lengths=LENGTHS))
    assert found.settled is False
    assert found.certainly_moving
    [found] = plateaus(one_series({8: [(1.0, 1.0, 1.0, 1.0)] * 3 + [(INF,) * 4]}, lengths=LENGTHS))
    assert found.settled is True
    assert found.bad_seeds == (3,)


def test_the_overshoot_is_the_peak_beyond_the_training_length():
    lengths = (4, 50, 10_000, 100_000, 1_000_000)
    curve = (9.0, 3.0, 1.0, 1.0, 1.0)
    [at_8, at_4] = plateaus(one_series({8: [curve] * 3}, lengths=lengths)) + plateaus(
        one_series({4: [curve] * 3}, lengths=lengths)
    )
    assert (at_8.overshoot, at_8.peak_length) == (3.0, 50)  # length 4 was trained on
    assert (at_4.overshoot, at_4.peak_length) == (9.0, 4)


def test_bad_seeds_are_those_beyond_ten_medians():
    [found] = plateaus(one_series({8: [1.0, 1.0, 9.9, 10.1, INF]}))
    assert found.median == 9.9  # the middle of five
    [found] = plateaus(one_series({8: [1.0, 1.0, 1.0, 9.9, 10.1]}))
    assert found.bad_seeds == (4,)


# --- grouping


def test_settings_are_what_varies_and_attention():
    members = [
        member(float(omega), longest=n, seed=seed, omega=omega, width=16, attention=attention)
        for omega in (10, 2)
        for n in (16, 4)
        for seed in (1, 0)
        for attention in ("plain", "log-length")
    ]
    found = measured(members)
    assert [dict(line.setting) for line in found.series] == [
        {"attention": attention, "omega": omega} for attention in ("log-length", "plain") for omega in (2, 10)
    ]
    for line in found.series:
        assert line.lengths == (4, 16)
        assert [m.seed for m in line.members[4]] == [0, 1]
        assert list(line.medians) == [line.setting["omega"]] * 2
    assert found.series[0].name == "attention log-length, omega 2"


def test_order_of_members_changes_nothing():
    generator = np.random.default_rng(0)
    members = [
        member(float(generator.random()), longest=n, seed=s, omega=w) for n in (4, 8) for s in (0, 1) for w in (1, 2)
    ]
    forward, backward = measured(members), measured(reversed(members))
    assert forward.to_json(0.5) == backward.to_json(0.5)


def test_a_member_is_what_its_file_says():
    run = study().runs()[0]
    content = encoded(run, result(run, [(1000, 0.5, INF), (10, math.nan, 2.0)]), "0" * 64, {})
    found = curves.member(decoded(content, run.id))
    assert found.lengths == (10, 1000)
    assert found.loss == (INF, 0.5)  # not a number: as bad as can be
    assert found.worst == (2.0, INF)
    assert found.settings == {
        "omega": 1.0, "symbols": 3, "attention": "plain", "width": 4, "units": 16, "heads": 1, "rate": 0.01,
        "adversarial": 0.0,
    }  # fmt: skip
    assert (found.longest, found.seed, found.task) == (run.longest, run.seed, "simple")
    assert list(found.values("error")) == [math.sqrt(2.0), INF]


# --- overlap


def test_parallel_power_laws_lie_a_constant_factor_apart():
    x = np.array([1.0, 3.0, 10.0, 90.0])
    found = overlap({1: (x, x**-2), 2: (2 * x, 5 * (2 * x) ** -2.0), 3: (x, 3 * x**-2)})
    assert found.largest == pytest.approx(5.0)
    assert found.median == pytest.approx(5.0)
    assert (found.grid[0], found.grid[-1]) == (pytest.approx(2.0), pytest.approx(90.0))


@pytest.mark.parametrize("seed", range(5))
def test_overlap_against_its_definition(seed):
    generator = np.random.default_rng(seed)
    curves = {}
    for name in range(3):
        x = np.sort(generator.uniform(1, 50, 6))
        curves[name] = x, 10 ** generator.uniform(-3, 0, 6)
    found = overlap(curves)
    for place, ratio in zip(found.grid, found.ratio, strict=True):
        values = [math.exp(np.interp(math.log(place), np.log(x), np.log(y))) for x, y in curves.values()]
        assert ratio == pytest.approx(max(values) / min(values), rel=1e-9)
    assert found.largest == max(found.ratio)
    assert found.median == np.median(found.ratio)


def test_curves_without_a_common_stretch():
    x = np.array([1.0, 2.0])
    assert overlap({}) is None
    assert overlap({1: (x, x)}) is None
    assert overlap({1: (x, x), 2: (x + 5, x)}) is None
    assert overlap({1: (x, x), 2: (x, np.array([INF, 1.0]))}) is None
    assert overlap({1: (x, x), 2: (x, np.array([0.0, 1.0]))}) is None


# --- the tests notice wrong constants


@pytest.mark.parametrize(("name", "value", "test"), [
    ("SETTLED", 0.2, lambda: test_a_loss_that_grows_as_a_power_settles_only_if_the_power_is_small(0.045, False)),
    ("SETTLED", 0.05, lambda: test_a_loss_that_grows_as_a_power_settles_only_if_the_power_is_small(0.03, True)),
    ("WINDOW", (10**3, 10**6), lambda: test_the_change_of_a_plateau_is_its_definition(3)),
    ("BAD", 9.8, test_bad_seeds_are_those_beyond_ten_medians),
    ("BAD", 10.2, test_bad_seeds_are_those_beyond_ten_medians),
])  # fmt: skip
def test_a_wrong_constant_is_noticed(monkeypatch, name, value, test):
    monkeypatch.setattr(measure, name, value)
    with pytest.raises(AssertionError):
        test()


def test_the_comparison_of_members_sees_a_changed_curve():
    a, b = member(0.5), replace(member(0.5), loss=(0.5, 0.5, 0.6))
    assert measured([a]).to_json(0.5) != measured([b]).to_json(0.5)
