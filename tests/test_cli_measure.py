"""The verbs measure, report and reproduce: tables, JSON, exit codes, and what is said of wrong input."""

import json
from pathlib import Path

import pytest

import lengthwise as lw
from cli_helpers import command
from figure_helpers import DEVICE, NO_PICTURES, laid, refuses, trainer
from lengthwise.cli.endings import outcome
from lengthwise.study import drawing
from lengthwise.study import sweep as sweeping
from study_helpers import sweep

assert command is not None


@pytest.fixture(autouse=True)
def no_pictures(monkeypatch):
    monkeypatch.setattr(drawing, "drawn", lambda rows: NO_PICTURES)


@pytest.fixture
def figure1(tmp_path):
    return laid("figure1", tmp_path / "f")


def rows(ended):
    return [line.split("\t") for line in ended.out.splitlines()]


def test_measure_prints_the_required_length_of_every_setting(command, figure1):
    ended = command("measure", figure1, "--loss", "0.01")
    assert ended.code == 0
    asked = lw.measure(figure1)
    needed = [
        ["required", line.name, need.sentence]
        for line, need in zip(asked.series, asked.required_lengths(0.01), strict=True)
    ]
    assert [row for row in rows(ended) if row[0] == "required"] == needed
    plateaus = [row for row in rows(ended) if row[0] == "plateau"]
    assert len(plateaus) == sum(map(len, asked.plateaus()))
    assert {row[5] for row in plateaus} == {"yes"}
    assert [row[1] for row in rows(ended) if row[0] == "exponent"] == [one.sentence for one in asked.exponents(0.01)]


def test_measure_as_json_is_what_python_says(command, figure1):
    told = command("measure", figure1, "--loss", "0.01", "--json").json
    asked = lw.measure(figure1)
    assert told["required_length"] == [need.length for need in asked.required_lengths(0.01)]
    assert [(s["attention"], s["omega"]) for s in told["settings"]] == [
        ("log-length", 4), ("plain", 2), ("plain", 4), ("plain", 8)
    ]  # fmt: skip
    for place in (0, 2, 3):
        low, high = told["interval"][place]
        assert low <= told["required_length"][place] <= high
    assert "below the shortest trained length, 4" in told["interval_reason"][1]
    assert (told["device"], told["runs"], told["done"]) == (DEVICE, 32, 32)


def test_the_two_kinds_of_threshold_are_different_things(command, figure1):
    loss = command("measure", figure1, "--loss", "0.01", "--json").json
    error = command("measure", figure1, "--error", "0.2", "--json").json
    assert error["metric"].startswith("error: worst absolute error")
    assert loss["metric"].startswith("loss: mean squared error")
    # the worst squared error is 4 times the loss here, so 0.2 is reached where the loss is 0.2^2 / 4 = 0.01
    assert error["required_length"] == pytest.approx(loss["required_length"], rel=1e-4)
    for options in ([], ["--loss", "0.01", "--error", "0.1"]):
        ended = command("measure", figure1, *options)
        assert (ended.code, ended.out) == (2, "")
        assert "--loss L or --error E" in ended.err


@pytest.mark.parametrize(("loss", "code"), [("1e-9", 1), ("0.01", 0), ("100", 0)])
def test_measure_answers_no_where_nothing_is_reached(command, figure1, loss, code):
    assert command("measure", figure1, "--loss", loss).code == code


@pytest.mark.parametrize("options", [["--loss", "0"], ["--loss", "-1"], ["--loss", "nan"], ["--error", "x"]])
def test_thresholds_that_are_none(command, figure1, options):
    ended = command("measure", figure1, *options)
    assert ended.code == 2
    assert ended.err.count("\n") == 1


@pytest.mark.parametrize("verb", [["measure", "--loss", "1"], ["report"]])
@pytest.mark.parametrize("place", ["nowhere", "file", "empty"])
def test_places_that_are_no_study(command, tmp_path, verb, place):
    (tmp_path / "file").write_text("x")
    (tmp_path / "empty").mkdir()
    ended = command(verb[0], place, *verb[1:], "--json")
    assert (ended.code, ended.out) == (2, "")
    assert ended.error["where"].startswith(place)


def test_measure_says_which_runs_do_not_count(command, tmp_path):
    sweep(tmp_path / "own")
    torn = next((tmp_path / "own" / "runs").iterdir())
    torn.write_text("{")
    ended = command("measure", "own", "--loss", "0.5")
    assert torn.stem in ended.err
    assert "7 of 8 runs are done" in ended.err


def test_report_prints_where_the_page_is(command, figure1):
    ended = command("report", figure1)
    assert (ended.code, ended.out.strip()) == (0, str(figure1 / "report.html"))
    told = command("report", figure1, "--json").json
    assert told["report"] == str(figure1 / "report.html")
    assert str(figure1 / "figures" / "figure1-plateau.csv") in told["figures"]


def test_reproduce_trains_judges_and_answers(command, monkeypatch):
    monkeypatch.setattr(sweeping, "ensemble_on", lambda device: trainer())
    ended = command("reproduce", "figure1", "--out", "there")
    assert ended.code == 0
    assert [row[1] for row in rows(ended)] == ["holds"] * 6 + ["cannot be judged"] * 2
    assert "see there/report.html" in ended.err
    monkeypatch.setattr(sweeping, "ensemble_on", lambda device: refuses())
    told = command("reproduce", "figure1", "--out", "there", "--json").json
    assert [claim["holds"] for claim in told["claims"] if claim["required"]] == [True] * 4
    assert (told["figure"], told["scale"], told["report"]) == ("figure1", "quick", "there/report.html")


def test_reproduce_answers_no_when_a_required_claim_is_false(command, monkeypatch):
    monkeypatch.setattr(
        sweeping,
        "ensemble_on",
        lambda device: trainer(lambda run: [(n, run.longest / 1000, 1.0) for n in run.testing.lengths]),
    )
    ended = command("reproduce", "figure1", "--json")
    assert ended.code == 1
    assert False in [claim["holds"] for claim in ended.json["claims"] if claim["required"]]


def test_reproduce_that_is_stopped_says_how_to_go_on(command, monkeypatch, tmp_path):
    calls = iter([False, False, *[True] * 100])
    real = trainer()

    def stopping(runs, *, should_stop, **told):
        real.train(runs, should_stop=lambda: next(calls), **told)

    monkeypatch.setattr(sweeping, "ensemble_on", lambda device: real._replace(train=stopping))
    ended = command("reproduce", "figure1", "--out", "there")
    assert (ended.code, ended.out) == (130, "")
    assert "lengthwise reproduce figure1 --scale quick --out there --resume" in ended.err
    monkeypatch.setattr(sweeping, "ensemble_on", lambda device: real)
    assert command("reproduce", "figure1", "--out", "there").code == 2
    assert command("reproduce", "figure1", "--out", "there", "--resume").code == 0


@pytest.mark.parametrize(
    ("arguments", "near"), [(["figure7"], "figure"), (["figure1", "--scale", "papers"], "paper"), ([], "NAME")]
)
def test_unknown_figures_and_scales(command, arguments, near):
    ended = command("reproduce", *arguments)
    assert ended.code == 2
    assert near in ended.err


def test_what_python_returns_prints_as_a_sentence(figure1):
    found = lw.report(figure1)
    assert f"{found}" == f"{found.page}: 1 figure of figure1-quick"
    assert json.loads(json.dumps(found.fields()))["runs"] == 32
    assert outcome(["measure", str(figure1), "--loss", "0.01", "--json"]) == 0


def test_the_page_shows_what_reproduce_prints(command, monkeypatch):
    """The golden example took minutes to train; its names must be those that the verb prints today."""
    monkeypatch.setattr(sweeping, "ensemble_on", lambda device: trainer())
    now = command("reproduce", "figure1", "--json").json
    shown = json.loads((Path(__file__).parent.parent / "docs" / "golden" / "reproduce.json").read_text())
    assert list(shown) == list(now)
    for said, told in zip(shown["claims"], now["claims"], strict=True):
        assert list(said) == list(told)
        assert [said[key] for key in ("claim", "published", "required")] == [
            told[key] for key in ("claim", "published", "required")
        ]
    assert shown["figures"] == now["figures"]
    assert shown["report"] == now["report"]
