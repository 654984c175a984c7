"""Every published claim judged on curves built to fulfil it, to break it, and to leave it open."""

import math

import numpy as np
import pytest

from lengthwise.study import claims as judge
from lengthwise.study.attention_profile import Profile
from lengthwise.study.curves import series
from study_helpers import member

LENGTHS = (4, 8, 16, 32, 64)
VALUES = (1, 2, 4, 6, 8, 12)
TESTS = (100, 10_000, 100_000, 1_000_000)
INF = math.inf


def curve(end, change=0.0):
    """A test curve that ends at `end` and changes by `change` a decade, nearly, before."""
    return tuple(end * (1 + change) ** (math.log10(length) - 6) for length in TESTS)


def grid(parameter="omega", plateau=None, values=VALUES, lengths=LENGTHS, seeds=4, scatter=0.02, change=0.0, **options):
    """Members with plateau(x, N): by default (N / 2x)^-2 / 100, for omega and for the period alike."""
    plateau = plateau or (lambda x, n: 0.01 * (n / (2 * x)) ** -2.0)
    generator = np.random.default_rng(0)
    return [
        member(
            curve(plateau(x, n) * math.exp(scatter * generator.standard_normal()), change),
            TESTS,
            longest=n,
            seed=seed,
            **{parameter: x},
            **options,
        )
        for x in values
        for n in lengths
        for seed in range(seeds)
    ]


def judged(figure, members, profiles=()):
    """What holds of each claim, by the first words of its name."""
    return {one.claim.split(" [")[0]: one for one in judge.claims(figure, series(members), profiles)}


def holds(figure, members, profiles=()):
    return {name: one.holds for name, one in judged(figure, members, profiles).items()}


SETTLES = "(a) the test loss settles at a finite value"
FALLS = "(b) the plateau falls with the training length"
LINEAR = {
    "figure1": "(c) the needed length is linear in omega",
    "figure2": "(c) the needed length is linear in p",
}
OVERLAPS = "(c) plateaus overlap in N/p"
RISES = {
    "figure1": "ICLR, right: the plateau rises with omega",
    "figure2": "ICLR, right: the plateau rises with the period",
}
FIGURES = [("figure1", "omega"), ("figure2", "period")]


@pytest.mark.parametrize(("figure", "parameter"), FIGURES)
@pytest.mark.parametrize("seeds", [1, 2, 8])
def test_curves_as_published_fulfil_every_claim(figure, parameter, seeds):
    found = judged(figure, grid(parameter, seeds=seeds))
    assert {name: one.holds for name, one in found.items()} == dict.fromkeys(found, True)
    assert len(found) == (4 if figure == "figure1" else 5)
    for one in found.values():
        assert one.required
        assert one.measured
        assert one.published
        assert type(one.holds) is bool


@pytest.mark.parametrize(("figure", "parameter"), FIGURES)
def test_swapping_two_curves_flips_the_claims_about_the_parameter(figure, parameter):
    """The curves of 2 and 8 under each other's names."""
    swap = {2: 8, 8: 2}
    wrong = grid(parameter, plateau=lambda x, n: 0.01 * (n / (2 * swap.get(x, x))) ** -2.0)
    found = holds(figure, wrong)
    assert found[RISES[figure]] is False
    assert found[LINEAR[figure]] is False
    assert found[FALLS] is True
    assert found[SETTLES] is True
    if figure == "figure2":
        assert found[OVERLAPS] is False


@pytest.mark.parametrize(("figure", "parameter"), FIGURES)
def test_swapping_two_training_lengths_breaks_the_fall(figure, parameter):
    swap = {8: 32, 32: 8}
    wrong = grid(parameter, plateau=lambda x, n: 0.01 * (swap.get(n, n) / (2 * x)) ** -2.0)
    one = judged(figure, wrong)[FALLS]
    assert one.holds is False
    assert "beyond the seeds' interval" in one.reason
    assert one.data


# --- (a) settles


@pytest.mark.parametrize(("change", "wanted"), [(0.04, True), (-0.08, True), (0.12, False), (-0.15, False)])
def test_a_settles(change, wanted):
    assert holds("figure1", grid(change=change))[SETTLES] is wanted


def test_a_one_curve_that_moves_breaks_it_and_is_named():
    members = grid()
    moving = [m for m in members if (m.settings["omega"], m.longest) == (4, 16)]
    members = [m for m in members if m not in moving]
    members += [member(curve(0.01, 0.3), TESTS, longest=16, seed=m.seed, omega=4) for m in moving]
    one = judged("figure1", members)[SETTLES]
    assert one.holds is False
    assert [(row["omega"], row["training_length"], row["certain"]) for row in one.data] == [(4, 16, True)]
    assert "omega 4, N = 16" in one.measured
    assert f"{len(VALUES) * len(LENGTHS) - 1} of {len(VALUES) * len(LENGTHS)} curves" in one.measured


def test_a_movement_by_chance_is_told_and_does_not_break_it():
    members = grid(values=(1,), lengths=(4,), seeds=0)
    members += [
        member(curve(0.01, change), TESTS, longest=n, seed=seed, omega=x)
        for x in (1, 2)
        for n in LENGTHS
        for seed, change in enumerate([0.12, 0.12, 0.12, 0.0, 0.0])
    ]
    one = judged("figure1", members)[SETTLES]
    assert one.holds is True
    assert "within the seeds' interval" in one.reason


def test_a_infinite_loss_is_no_finite_value():
    members = grid() + [member(INF, TESTS, longest=128, seed=seed, omega=4) for seed in range(4)]
    assert holds("figure1", members)[SETTLES] is False


def test_a_without_long_tests_nobody_can_say():
    members = [member(0.5, (10, 1000), longest=n, seed=s, omega=x) for x in (1, 2) for n in LENGTHS for s in (0, 1)]
    one = judged("figure1", members)[SETTLES]
    assert one.holds is None
    assert "10^4 and 10^6" in one.reason


# --- (b) falls


def test_b_a_rise_within_the_interval_is_told_and_does_not_break_it():
    """At one step the medians rise by 2 % where seeds scatter by half."""
    bump = {16: 1.02, 32: 4.0}  # times the law, so that 16 -> 32 is flat
    members = grid(plateau=lambda x, n: 0.01 * (n / (2 * x)) ** -2.0 * bump.get(n, 1.0), scatter=0.5, seeds=8)
    one = judged("figure1", members)[FALLS]
    assert one.holds is True
    assert "within the seeds' interval" in one.measured


@pytest.mark.parametrize("scatter", [0.0, 0.3])
@pytest.mark.parametrize("seeds", [4, 8])
def test_b_flat_curves_do_not_fall(scatter, seeds):
    """No step is a rise beyond the interval, and yet nothing falls: noise must not fulfil a claim."""
    members = grid(plateau=lambda x, n: 0.01 * x, scatter=scatter, seeds=seeds)
    found = holds("figure1", members)
    assert found[FALLS] is not True


def test_b_one_seed_that_rises_leaves_it_open():
    members = grid(plateau=lambda x, n: 0.01 * (n if n < 64 else 20) ** -2.0, seeds=1, scatter=0.0)
    one = judged("figure1", members)[FALLS]
    assert one.holds is None
    assert "one seed" in one.reason


def test_b_divergence_at_both_ends_is_no_fall_and_no_crash():
    members = grid(plateau=lambda x, n: INF, scatter=0.0)
    assert holds("figure1", members)[FALLS] is not True
    half = grid(plateau=lambda x, n: INF if n < 16 else 1 / n, scatter=0.0)
    assert holds("figure1", half)[FALLS] is True


def test_b_lengths_too_near_each_other():
    one = judged("figure1", grid(lengths=(10, 11, 12)))[FALLS]
    assert one.holds is None
    assert "1.5 times apart" in one.reason


# --- (c) linear


@pytest.mark.parametrize(
    ("needed", "wanted"),
    [
        (lambda x: 3 * x, True),
        (lambda x: 5 + 3 * x, True),
        (lambda x: 4 * 1.45**x / 1.45, False),  # R^2 0.9
        (lambda x: 30 / x, False),
        (lambda x: 20 if x in (2, 10) else 30, False),
    ],
)
def test_c_lines(needed, wanted):
    members = grid(plateau=lambda x, n: 0.01 * (n / needed(x)) ** -2.0, values=(2, 4, 6, 8, 10, 12))
    one = judged("figure1", members)[LINEAR["figure1"]]
    assert one.holds is wanted, one.measured


def test_c_only_the_published_omegas_are_fitted():
    """Omega = 1 and 16 lie far off the line and do not count."""
    members = grid(
        plateau=lambda x, n: 0.01 * (n / (50 if x in (1, 16) else 3 * x)) ** -2.0, values=(1, 2, 4, 6, 8, 16)
    )
    one = judged("figure1", members)[LINEAR["figure1"]]
    assert one.holds is True
    assert [row["omega"] for row in one.data] == [2, 4, 6, 8]
    assert [row["required_length"] for row in one.data] == pytest.approx([6, 12, 18, 24], rel=0.05)


def test_c_too_few_known_lengths():
    one = judged("figure1", grid(values=(2, 4, 50, 60, 70)))[LINEAR["figure1"]]
    assert one.holds is None
    assert "three known lengths" in one.reason


def test_c_overlap_needs_the_scale():
    """Plateaus that are the same function of N itself overlap everywhere, so N / p explains nothing."""
    members = grid("period", plateau=lambda x, n: 0.01 * (n / 10) ** -0.3)
    assert holds("figure2", members)[OVERLAPS] is False
    apart = grid("period", plateau=lambda x, n: 5.0**x * 0.01 * (n / (2 * x)) ** -2.0)
    assert holds("figure2", apart)[OVERLAPS] is False


def test_c_no_common_stretch():
    members = grid("period", values=(1, 50))
    one = judged("figure2", members)[OVERLAPS]
    assert one.holds is None
    assert "N / period" in one.reason


# --- ICLR: rises


def test_rises_is_judged_from_where_everything_trained():
    """Below N = 16 the order is wrong and training loss is high: told, not judged."""
    members = grid(plateau=lambda x, n: 1 / x if n < 16 else 0.01 * (n / (2 * x)) ** -2.0, training_loss=1e-2)
    members = [m for m in members if m.longest < 16] + [m for m in grid() if m.longest >= 16]
    one = judged("figure1", members)[RISES["figure1"]]
    assert one.holds is True
    assert "from N = 16 on" in one.measured
    assert "out of order at 2 of the 2 lengths below" in one.measured
    assert [row["judged"] for row in one.data] == [False, False, True, True, True]


def test_rises_without_training_nobody_can_say():
    one = judged("figure1", grid(training_loss=1e-3))[RISES["figure1"]]
    assert one.holds is None
    assert "1" in one.reason
    assert holds("figure1", grid(training_loss=0.99e-4))[RISES["figure1"]] is True


def test_flat_in_the_parameter_does_not_rise():
    for scatter in (0.0, 0.3):
        members = grid(plateau=lambda x, n: 0.01 * n**-2.0, scatter=scatter, seeds=8)
        assert holds("figure1", members)[RISES["figure1"]] is not True


# --- the stop rule


def at_the_stop_rule(x, n):
    """A law down to n = 16; from there on every plateau is about 1e-5, and smaller for larger x and shorter n."""
    return 0.01 * (n / (2 * x)) ** -2.0 if n <= 16 else 1.5e-5 / x**0.2 * (n / 16) ** 0.1


@pytest.mark.parametrize(("stop", "wanted"), [(1e-5, True), (0.0, False), (5e-6, False)])
@pytest.mark.parametrize("claim", [FALLS, RISES["figure1"]])
def test_no_order_is_read_off_plateaus_at_the_loss_where_training_stops(stop, wanted, claim):
    """Training stops at 1e-5, so plateaus of 1e-5 tell when it stopped. The same plateaus without that rule do tell."""
    one = judged("figure1", grid(plateau=at_the_stop_rule, stop=stop))[claim]
    assert one.holds is wanted, one.measured
    assert ("more between plateaus at the stop rule's loss" in one.measured) is wanted


def test_plateaus_that_are_all_at_the_stop_rule_leave_it_open():
    found = judged("figure1", grid(plateau=lambda x, n: 1e-5, stop=1e-5))
    assert found[FALLS].holds is found[RISES["figure1"]].holds is None
    assert "where training stops" in found[FALLS].reason


# --- what is not there


@pytest.mark.parametrize(("figure", "parameter"), FIGURES)
def test_one_value_of_the_parameter(figure, parameter):
    """A study of a single omega or period: what is about several is open, what is about one is judged."""
    found = holds(figure, grid(parameter, values=(4,)))
    assert found.pop(SETTLES) is True
    assert found.pop(FALLS) is True
    assert set(found.values()) == {None}


def test_missing_runs_leave_everything_open():
    found = judge.claims("figure1", series(grid()), whole=False)
    assert {one.holds for one in found} == {None}
    assert {one.reason for one in found} == {"runs are missing: see --resume"}


def test_both_attention_rules_are_judged_and_plain_is_required():
    members = grid() + grid(attention="log-length", plateau=lambda x, n: 0.01 * n)
    found = judge.claims("figure1", series(members))
    assert [one.required for one in found] == [True] * 4 + [False] * 4
    assert {one.claim.split("[")[1] for one in found[:4]} == {"plain]"}
    assert [one.holds for one in found[:4]] == [True] * 4
    assert found[5].holds is False  # the plateau rises with N


def test_an_unknown_figure_claims_nothing():
    assert judge.claims("figure9", series(grid())) == []


# --- Figure 3


def profile(on=1 / 16, off=0.001, plateau=1e-4, longest=24, attention="plain"):
    positions = np.arange(1, 81)
    residue = positions % 5 == 2
    mean = np.where(residue, on, off)
    return Profile(
        attention, longest, plateau, 2, mean, np.full(80, 0.01), residue,
        float(np.mean(mean[residue])), 0.01, float(np.mean(mean[~residue])), 0.0,
    )  # fmt: skip


FINDS = "attention finds the residue"


@pytest.mark.parametrize(
    ("changed", "wanted"),
    [
        ({}, True),
        ({"on": 1.09 / 16}, True),
        ({"on": 1.11 / 16}, False),
        ({"on": 0.89 / 16}, False),
        ({"off": 0.09 / 16}, True),
        ({"off": 0.11 / 16}, False),
        ({"plateau": 2e-3}, None),
    ],
)
def test_attention_finds_the_residue(changed, wanted):
    members = grid("period", values=(5,))
    assert holds("figure3", members, [profile(**changed)])[FINDS] is wanted


def test_one_position_that_is_off_counts():
    one = profile()
    one.mean[1] *= 1.2  # position 2 has the residue
    assert one.on[1]
    assert one.count == 16
    assert one.farthest_on == pytest.approx(0.2)
    assert holds("figure3", grid("period", values=(5,)), [one])[FINDS] is False


def test_lengths_that_do_not_suffice_are_data_only():
    profiles = [profile(plateau=0.5, on=0.01, longest=6), profile(longest=24), profile(longest=48)]
    one = judged("figure3", grid("period", values=(5,)), profiles)[FINDS]
    assert one.holds is True
    assert one.measured.startswith("2 of 2 training lengths that suffice; at N = 48")
    assert [row["training_length"] for row in one.data] == [6, 24, 48]
    assert holds("figure3", grid("period", values=(5,)), [])[FINDS] is None


# --- the tests notice wrong constants


@pytest.mark.parametrize(
    ("name", "value", "test"),
    [
        ("LOSS", 1.2e-2, test_c_only_the_published_omegas_are_fitted),
        ("TRAINED", 1e-5, test_rises_without_training_nobody_can_say),
        ("TRAINED", 1e-2, test_rises_without_training_nobody_can_say),
        (
            "STOPPED",
            1.0,
            lambda: test_no_order_is_read_off_plateaus_at_the_loss_where_training_stops(1e-5, True, FALLS),
        ),
        (
            "STOPPED",
            4.0,
            lambda: test_no_order_is_read_off_plateaus_at_the_loss_where_training_stops(5e-6, False, FALLS),
        ),
        ("NEARLY", 1e9, test_c_overlap_needs_the_scale),
        ("CLOSE", 0.12, lambda: test_attention_finds_the_residue({"on": 1.11 / 16}, False)),
        ("CLOSE", 0.08, lambda: test_attention_finds_the_residue({"off": 0.09 / 16}, True)),
        ("SUFFICES", 0.1, lambda: test_attention_finds_the_residue({"plateau": 2e-3}, None)),
    ],
)
def test_a_wrong_constant_is_noticed(monkeypatch, name, value, test):
    monkeypatch.setattr(judge, name, value)
    with pytest.raises(AssertionError):
        test()
