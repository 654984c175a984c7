"""A forecast finds the length that curves were made for, says how sure it is, and does not hide a failed check."""

import json
import math

import numpy as np
import pytest

import lengthwise as lw
from forecast_helpers import Known
from lengthwise.study.answer import found
from lengthwise.study.bracket import ENOUGH, PLENTY, Round, line, next_round, spread
from lengthwise.study.forecast import DECIDING, NEW_SEEDS, forecast, model_for
from lengthwise.study.held_out import held_out_lengths
from study_helpers import member


def asked(known, target="simple:omega=4", budget=1e6, **options):
    """The forecast of a trainer that is known."""
    if not {"loss", "error"} & set(options):
        options["loss"] = known.threshold
    return forecast(target, budget=budget, trainer=known.trainer(DECIDING), clock=known.clock, **options)


def planned(needed, noise=0.0, power=2.5, seed=0, rounds=50):
    """The rounds alone, on members that are made up, and the answer after the last."""
    generator = np.random.default_rng(seed)
    members, steps = [], []
    while len(steps) < rounds:
        known = line(members, "loss", DECIDING) if members else None
        step = next_round(known, 0.01, "loss", 1)
        if step is None:
            break
        for n in step.lengths:
            for _ in range(step.seeds):
                loss = 0.01 * (needed / n) ** power * math.exp(noise * generator.normal())
                members.append(member(loss, (1000, 1_000_000), longest=n, seed=len(members)))
        steps.append(step)
    return steps, found(line(members, "loss", DECIDING), 0.01, "loss")


@pytest.mark.parametrize("needed", [1.5, 2.5, 4.5, 7.9, 13.3, 29.5, 33.3, 100.5, 700.2, 5000.3])
def test_the_length_that_curves_were_made_for(needed):
    """Log-log interpolation is exact on a power law, so nothing but the bracket can be wrong."""
    known = Known(needed)
    said = asked(known)
    assert said.required_length == math.ceil(needed)
    assert said.interval == (said.required_length, said.required_length)
    assert said.found.sure
    assert said.holds
    assert said.held_out.training_length == said.required_length
    assert f"up to about {math.ceil(needed)} (95 %:" in said.sentence


@pytest.mark.parametrize("power", [1.0, 4.0])
@pytest.mark.parametrize("threshold", [1e-4, 0.3])
def test_neither_slope_nor_threshold_matter(power, threshold):
    assert asked(Known(21.7, threshold, power)).required_length == 22


def test_rounds_divide_the_bracket_then_add_seeds():
    steps, _ = planned(13.3)
    assert steps == [Round((4, 8, 16, 32), 4), Round((10, 13), ENOUGH), Round((13, 16), ENOUGH)]
    noisy, _ = planned(13.3, noise=1.5, seed=3)
    counts = {n: sum(step.seeds for step in noisy if n in step.lengths) for step in noisy for n in step.lengths}
    assert max(counts.values()) >= PLENTY


def test_an_interval_of_95_percent_covers_as_often_as_it_says():
    """Noise of a factor of 2 a seed; the plan looks at the data before it chooses lengths, so this is no textbook case."""
    finals = [planned(needed, noise=0.7, seed=seed)[1] for seed in range(20) for needed in (13.3, 90.7)]
    assert all(final.sure for final in finals)
    hits = [
        low <= math.ceil(needed) <= high
        for (low, high), needed in zip([(f.lower, f.upper) for f in finals], [13.3, 90.7] * 20, strict=True)
    ]
    assert np.mean(hits) > 0.88
    shifted = [f.lower <= math.ceil(1.4 * n) <= f.upper for f, n in zip(finals, [13.3, 90.7] * 20, strict=True)]
    assert np.mean(shifted) < 0.5


def test_few_seeds_are_said_to_be_few():
    first = planned(13.3, noise=0.7, rounds=1)[1]
    assert not first.sure
    assert "from few seeds" in first.between
    assert "8 seeds" in first.reason


def test_all_lengths_suffice():
    said = asked(Known(0.6))
    assert (said.required_length, said.found.censored, said.holds) == (1, "at most", True)
    assert {n for step in said.rounds for n in step.lengths} == {1, 2, 3, 4, 8, 16, 32}
    assert said.sentence.startswith(
        "Training lengths up to 1, the least there are, are enough for a mean squared error"
    )
    early = asked(Known(0.6, seconds=20.0), budget=45)
    assert (early.required_length, early.found.censored, len(early.rounds)) == (4, "at most", 1)
    assert early.sentence.startswith("Training lengths up to 4 are enough, and shorter ones may be, for a mean")
    assert said.fields()["interval"] == [None, None]


def test_no_length_suffices():
    known = Known(50_000.0)
    said = asked(known)
    assert (said.required_length, said.found.censored, said.holds) == (None, "not reached", False)
    assert max(run.longest for run in known.trained) == 8192
    assert said.sentence.startswith("Not reached: a mean squared error of 0.01")
    fields = said.fields()
    assert (fields["required_length"], fields["held_out"]) == (None, None)
    assert "8192" in fields["required_length_reason"]


def test_training_that_does_not_get_there_is_not_made_longer():
    known = Known(1000.0, training=0.02)
    said = asked(known)
    assert max(run.longest for run in known.trained) == 32
    assert "--steps" in said.sentence
    assert asked(Known(1000.0, training=0.005)).required_length == 1000


def test_a_peak_on_the_way_counts():
    """The loss at length 48 is 5 times that at a million: the length must bring the peak below the threshold."""
    assert asked(Known(13.3, peak=5.0)).required_length == math.ceil(13.3 * 5 ** (1 / 2.5))


def test_the_error_is_the_root_of_the_worst():
    """Losses of 0.01 (10.5 / N)^2 with worst squares 9 times as large: the worst error is 0.3 (10.5 / N)."""
    said = asked(Known(10.5, power=2.0), error=0.3)
    assert said.required_length == 11
    assert asked(Known(10.5, power=2.0), error=0.1).required_length == 32
    assert "a worst absolute error of 0.3" in said.sentence
    assert said.fields()["metric"].startswith("error")
    assert said.fields()["worst_error"] == pytest.approx(0.3 * 10.5 / 11)


def test_the_clock_decides_when_to_stop():
    """Rounds of 20 s, of which 16 members each tell the time: no round begins that does not fit with the check."""
    for budget, rounds, checked in ((10, 1, False), (45, 1, True), (70, 2, True), (90, 3, True)):
        known = Known(13.3, seconds=20.0)
        said = asked(known, budget=budget)
        assert (len(said.rounds), said.held_out is not None) == (rounds, checked), budget
        assert known.now == pytest.approx(20.0 * (rounds + checked))
        assert said.budget_spent == pytest.approx(known.now)
        assert said.required_length == 14
    assert "not checked, the budget was spent" in asked(Known(13.3, seconds=20.0), budget=10).sentence
    assert "within the budget of 10 s" in asked(Known(700.0, seconds=20.0), budget=10).sentence


def test_more_rounds_keep_the_numbers_of_the_first(tmp_path):
    known = [Known(13.3, noise=0.5, seconds=20.0) for _ in range(2)]
    short, long = (asked(one, budget=b, out=tmp_path / str(b)) for one, b in zip(known, (45, 500), strict=True))
    assert short.rounds == long.rounds[:1]
    first = [run.id for run in known[0].trained[:16]]
    assert first == [run.id for run in known[1].trained[:16]]


def test_a_check_that_fails_is_said_and_counts():
    """The seeds of checks are 3 times as bad: the first check fails, joins the evidence, and so on up to three."""
    said = asked(Known(13.3, bad_luck=3.0))
    assert said.failed_checks
    assert all(max(check.values) > 0.01 for check in said.failed_checks)
    assert said.failed_checks[0].training_length == 14
    hopeless = asked(Known(13.3, surprise=1000.0))
    assert not hopeless.holds
    assert not hopeless.held_out.holds
    assert len(hopeless.failed_checks) == 2
    assert "the check FAILED" in hopeless.sentence
    assert hopeless.fields()["held_out"]["holds"] is False


def test_a_failed_check_is_final_when_there_is_no_time():
    said = asked(Known(13.3, surprise=1000.0, seconds=20.0), budget=45)
    assert (len(said.failed_checks), said.holds, said.required_length) == (0, False, 14)
    assert "FAILED" in said.sentence


def test_what_is_held_out_had_no_part():
    known = Known(13.3, noise=0.2)
    said = asked(known, seed=3)
    new = [run for run in known.trained if run.seed % 1_000_000 >= NEW_SEEDS]
    old = [run for run in known.trained if run.seed % 1_000_000 < NEW_SEEDS]
    assert {run.seed for run in new}.isdisjoint({run.seed for run in old})
    used = {length for run in old for length in run.testing.lengths}
    assert used == set(DECIDING)
    assert used.isdisjoint(said.held_out.lengths)
    assert min(said.held_out.lengths) > said.held_out.training_length
    assert set(said.held_out.seeds) <= {run.seed for run in new}
    assert len({(run.longest, run.seed) for run in known.trained}) == len(known.trained)


@pytest.mark.parametrize("after", [1, 3, 14, 191, 5000, 90_000])
def test_held_out_lengths_are_spread_to_a_million(after):
    lengths = held_out_lengths(after, DECIDING, seed=1, check=0)
    assert len(set(lengths)) == 6
    assert after < lengths[0]
    assert lengths[-1] > 10 * lengths[0]
    assert set(lengths).isdisjoint(DECIDING)
    assert lengths != held_out_lengths(after, DECIDING, seed=1, check=1)
    assert lengths == held_out_lengths(after, DECIDING, seed=1, check=0)


def same(a, b):
    """Equal up to the time and the place."""
    return [{**said.fields(), "budget_spent": 0, "directory": ""} for said in (a, b)]


def test_the_same_seed_says_the_same(tmp_path):
    again = [asked(Known(13.3, noise=0.2), seed=seed, out=tmp_path / f"{i}") for i, seed in enumerate((1, 1, 2))]
    first, second = same(*again[:2])
    assert first == second
    assert again[2].fields()["medians"] != first["medians"]
    assert json.loads(again[0].to_json())["sentence"] == str(again[0])


def test_the_same_folder_continues_and_serves_other_thresholds(tmp_path):
    known = Known(13.3, noise=0.3)
    said = asked(known, out=tmp_path / "f")
    again = Known(13.3, noise=0.3)
    first, second = same(said, asked(again, out=tmp_path / "f"))
    assert first == second
    assert again.trained == []
    other = Known(13.3, noise=0.3)
    looser = asked(other, out=tmp_path / "f", loss=0.03)
    assert looser.required_length < said.required_length
    assert looser.rounds[0] == said.rounds[0]
    assert not {run.id for run in known.trained[:16]} & {run.id for run in other.trained}
    with pytest.raises(lw.WrongInput, match=r"steps.*--out"):
        asked(Known(13.3), out=tmp_path / "f", steps=500)


def test_an_interrupted_forecast_continues(tmp_path):
    whole = asked(Known(13.3, noise=0.2), out=tmp_path / "whole")
    known = Known(13.3, noise=0.2)
    with pytest.raises(KeyboardInterrupt):
        asked(known, out=tmp_path / "cut", should_stop=lambda: len(known.trained) >= 20)
    rest = Known(13.3, noise=0.2)
    first, second = same(whole, asked(rest, out=tmp_path / "cut"))
    assert first == second
    assert len(known.trained) == 20
    assert not {run.id for run in known.trained} & {run.id for run in rest.trained}


def test_a_task_with_a_shortest_length(tmp_path):
    known = Known(55.5)
    said = asked(known, "modp:period=20")
    assert said.required_length == 56
    assert min(run.longest for run in known.trained) == 20
    assert min(length for run in known.trained for length in run.testing.lengths) >= 20
    with pytest.raises(lw.WrongInput, match="at most 10000 tokens"):
        asked(Known(5.0), "modp:period=20000")


def test_a_model_that_can_express_the_task():
    assert (model_for(lw.task("simple")).heads, model_for(lw.task("simple")).attention) == (1, "plain")
    tail = model_for(lw.task("tail:tail=3"))
    assert (tail.heads, tail.attention, tail.offsets) == (2, "log-length", 3)


def test_a_task_object_serves_as_well():
    assert asked(Known(13.3), lw.task("simple:omega=4")).task == "simple:omega=4.0,symbols=3"


@pytest.mark.parametrize(("low", "high", "count"), [(0, 4, 3), (8, 16, 2), (7, 8, 2), (100, 200, 2), (3, 1000, 3)])
def test_spread_lies_strictly_between(low, high, count):
    inside = spread(low, high, count)
    assert len(inside) == min(count, high - low - 1)
    assert all(low < n < high for n in inside)
    assert list(inside) == sorted(set(inside))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"loss": 0.0}, "threshold above 0"),
        ({"loss": -1.0}, "threshold above 0"),
        ({"loss": 0.1, "error": 0.1}, "both"),
        ({"loss": 0.1, "budget": 0}, "budget"),
        ({"loss": 0.1, "budget": math.nan}, "budget"),
        ({"loss": 0.1, "seed": -1}, "seed"),
        ({"loss": 0.1, "steps": 0}, "steps"),
        ({"loss": 0.1, "target": "simpel"}, "nearest: simple"),
    ],
)
def test_wrong_input(options, message):
    with pytest.raises(lw.WrongInput, match=message):
        asked(Known(13.3), **options)


def test_a_threshold_is_needed():
    with pytest.raises(lw.WrongInput, match="neither"):
        forecast("simple")
