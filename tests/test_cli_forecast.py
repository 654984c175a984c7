"""`lengthwise forecast` on the command line: what it prints and how it ends."""

import json
import math

import pytest

from forecast_helpers import Known
from lengthwise.study import forecast as module
from lengthwise.study.forecast import DECIDING

FIELDS = [
    "sentence",
    "required_length",
    "interval",
    "metric",
    "threshold",
    "held_out",
    "worst_error",
    "theory",
    "prediction",
    "budget_spent",
    "report",
    "required_length_reason",
    "interval_reason",
    "held_out_reason",
    "worst_error_reason",
    "theory_reason",
    "prediction_reason",
    "report_reason",
    "seed",
    "device",
    "versions",
    "directory",
    "rounds",
    "medians",
    "model",
    "training",
    "averaged",
    "censored",
    "failed_checks",
    "task",
    "budget",
]


@pytest.fixture
def known(monkeypatch):
    """A trainer of known curves in place of the ensemble."""
    made = Known(13.3)
    monkeypatch.setattr(module, "ensemble_on", lambda device: made.trainer(DECIDING))
    return made


def test_the_share_of_corners_reaches_every_member(command, known, tmp_path):
    asked = ["forecast", "simple:omega=4", "--loss", "0.01", "--json"]
    ended = command(*asked, "--adversarial", "0.25")
    assert json.loads(ended.out)["training"]["adversarial"] == 0.25
    assert {run.training.corner_share for run in known.trained} == {0.25}
    wrong = command(*asked, "--adversarial", "1.5")
    assert (wrong.code, "a share from 0 to 1" in wrong.err) == (2, True)
    assert "adversarial" not in json.loads(command(*asked, "--out", "other").out)["training"]


def test_one_sentence_on_standard_output(command, known, tmp_path):
    ended = command("forecast", "simple:omega=4", "--loss", "0.01")
    assert (ended.code, len(ended.out.splitlines())) == (0, 1)
    assert ended.out.startswith("Train on lengths up to about 14 (95 %: 14 to 14) for a mean squared error of 0.01 at")
    assert "checked: 16 new seeds trained up to 14 stay at or below 0.0088" in ended.out
    assert ended.err.startswith("round 1: training lengths 4, 8, 16, 32, 4 seeds each\n")
    assert "median loss by training length: 4: 0.2, 8: 0.036, 16: 0.0063, 32: 0.0011\n" in ended.err
    assert (tmp_path / "forecast-simple-omega-4.0-symbols-3").is_dir()


def test_json_has_every_field(command, known):
    ended = command("forecast", "simple", "--loss", "0.01", "--out", "here", "--json")
    assert ended.code == 0
    assert set(FIELDS) | {"lengthwise", "verb", "seconds"} == set(ended.json)
    assert (ended.json["required_length"], ended.json["interval"], ended.json["threshold"]) == (14, [14, 14], 0.01)
    assert ended.json["held_out"]["holds"] is True
    assert ended.json["theory"]["error"] == pytest.approx(0.1)  # no error above 0.1 makes no loss above 0.01
    assert ended.json["theory"]["trained_up_to"] >= 14
    assert ended.json["theory_reason"] is None
    assert (ended.json["prediction"]["verdict"], ended.json["prediction_reason"]) == ("generalizes", None)
    assert ended.json["report"] is None
    assert ended.json["report_reason"]
    assert len(ended.json["held_out"]["lengths"]) == len(ended.json["held_out"]["medians"]) == 6
    assert ended.json["directory"] == "here"


def test_not_reached_ends_with_1(command, known):
    known.needed = 1e6
    ended = command("forecast", "simple", "--loss", "0.01", "--json")
    assert ended.code == 1
    assert ended.json["required_length"] is None
    assert ended.json["held_out"] is None
    assert ended.json["held_out_reason"]
    assert ended.json["worst_error_reason"]


def test_a_failed_check_ends_with_1(command, known):
    known.surprise = 1000.0
    ended = command("forecast", "simple", "--loss", "0.01")
    assert ended.code == 1
    assert "the check FAILED" in ended.out


def test_losses_that_are_not_finite_are_no_numbers_of_json(command, known):
    known.surprise = known.training = math.inf
    ended = command("forecast", "simple", "--loss", "0.01", "--json")
    said = json.loads(ended.out, parse_constant=pytest.fail)
    assert said["held_out"]["medians"] == [None] * 6
    assert said["held_out"]["medians_reason"] == "null stands for: infinite"
    assert (said["worst_error"], said["worst_error_reason"]) == (None, "a seed diverged")
    assert said["medians"][0]["training_loss_reason"] == "infinite"
    again = module.forecast("simple", loss=0.01, budget=10, clock=known.clock)
    json.loads(again.to_json(), parse_constant=pytest.fail)


def test_ctrl_c_says_how_to_go_on(command, known, monkeypatch):
    def interrupted(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(module, "sweep", interrupted)
    ended = command("forecast", "simple", "--loss", "0.01", "--out", "here")
    assert (ended.code, ended.out) == (130, "")
    assert "finished runs are kept in here; the same command continues" in ended.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["simpel", "--loss", "0.1"], "nearest: simple"),
        (["simple:omga=4", "--loss", "0.1"], "nearest: omega"),
        (["simple:omega=-4", "--loss", "0.1"], "omega above 0"),
        (["simple"], "wanted --loss L or --error E; got neither"),
        (["simple", "--loss", "0.1", "--error", "0.1"], "wanted --loss L or --error E; got both"),
        (["simple", "--loss", "0"], "a threshold above 0; got 0.0"),
        (["simple", "--loss", "nan"], "a threshold above 0; got nan"),
        (["simple", "--error", "-1"], "a threshold above 0; got -1.0"),
        (["simple", "--loss", "0.1", "--budget", "0"], "budget: wanted a finite number above 0; got 0.0"),
        (["simple", "--loss", "0.1", "--budget", "inf"], "budget: wanted a finite number above 0; got inf"),
        (["simple", "--loss", "0.1", "--budget", "soon"], "wanted a number for --budget; got 'soon'"),
        (["simple", "--loss", "0.1", "--seed", "-1"], "seed: wanted an integer of at least 0"),
        (["simple", "--loss", "0.1", "--steps", "0"], "steps: wanted an integer of at least 1"),
        (["simple", "--loss", "0.1", "--out", "file"], "file"),
        (["simple", "--los", "0.1"], "nearest: --loss"),
        ([], "TARGET"),
    ],
)
def test_wrong_input(command, known, tmp_path, arguments, message):
    (tmp_path / "file").write_text("no folder")
    for extra in ([], ["--json"]):
        ended = command("forecast", *arguments, *extra)
        assert (ended.code, ended.out) == (2, "")
        lines = ended.err.splitlines()
        said = ended.err.splitlines()[-1]
        assert message in (said if not extra else " ".join(_line(json.loads(said)["error"]))), lines
    assert known.trained == []


def _line(error):
    """The parts of an error as its line has them."""
    place = f"{error['where']}: " if error["where"] else ""
    return [f"{place}wanted {error['wanted']}; got {error['got']}; {error['remedy']}"]
