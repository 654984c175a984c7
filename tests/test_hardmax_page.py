"""The page of hard attention: its numbers are those of the committed models, and its promises hold in them."""

import csv
import importlib.util
import json
from pathlib import Path

import pytest

import lengthwise as lw
from lengthwise.study.plan import Study

ROOT = Path(__file__).parents[1]
KEPT = ROOT / "docs" / "onset"


@pytest.fixture(scope="module")
def script():
    spec = importlib.util.spec_from_file_location("make_onset", ROOT / "docs" / "make_onset.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def rows(name):
    return list(csv.reader((KEPT / name).read_text().splitlines()))[1:]


@pytest.mark.parametrize("name", ["explicit simple, margin 2", "simple-omega2-log-length-seed1"])
def test_a_row_measured_again_is_the_row_that_was_kept(script, name):
    case = next(case for case in script.cases() if case.name == name and case.grid in (None, 2))
    kept = next(row for row in rows("onset.csv") if row[0] == name and row[3] in ("", "2^-2"))
    for now, then in zip(map(str, script.onset_row(case)), kept, strict=True):
        assert now == then or float(now) == pytest.approx(float(then), rel=0.01)


def test_table_and_figure_are_made_of_the_kept_numbers(script):
    assert script.table(rows("onset.csv")) == (KEPT / "table.md").read_text()
    drawn = script.draw(rows("distance.csv"), rows("profile.csv"))
    assert drawn.count(b"<use") == (KEPT / "figure.svg").read_bytes().count(b"<use")
    assert (KEPT / "figure.svg").stat().st_size < 400_000


def test_what_the_page_says_holds_in_every_row(script):
    """Typical strings are never later than all; plain models have a plateau; no explicit margin 1 is early for all."""
    found = [dict(zip(script.COLUMNS, row, strict=True)) for row in rows("onset.csv")]
    assert len(found) == 5 + 2 * 16
    for one in found:
        means = [one[f"mean_{distance:g}"] for distance in script.DISTANCES]
        reached = [int(length) for length in means if length]
        assert reached == sorted(reached)
        assert means[: len(reached)] == [str(length) for length in reached]
        if one["worst_0.01_at_most"] and reached[1:]:
            assert reached[1] <= int(one["worst_0.01_at_most"])
        if one["attention"] == "plain":
            assert one["worst_0.01_at_most"] == one["log2_threshold"] == ""
            assert float(one["mean_distance_at_10^6"]) > 0.005
        elif float(one["margin"]) <= 1 and "modp" not in one["model"]:
            assert int(one["worst_0.01_at_least"]) == int(one["worst_0.01_at_most"]) >= 2**21


def test_worst_distances_bound_means_everywhere():
    for _, _, mean, _, worst in rows("distance.csv"):
        assert float(mean) <= float(worst) * (1 + 1e-9)


def test_every_member_of_the_studies_is_kept():
    members = json.loads((ROOT / "results" / "onset" / "index.json").read_text())["members"]
    runs = [
        run for name in ("simple", "modp") for run in Study.load(ROOT / "results" / "onset" / f"{name}.toml").runs()
    ]
    assert [one["id"] for one in members] == [run.id for run in runs]
    for one in members:
        assert lw.load(ROOT / "results" / "onset" / one["file"]).attention == one["attention"]
