"""The page of what a loss hides: up to date, its numbers consistent, a few of them computed anew."""

import importlib.util
import json
from pathlib import Path

import pytest

import lengthwise as lw

DOCS = Path(__file__).parent.parent / "docs"
KEPT = json.loads((DOCS / "hides" / "results.json").read_text())
CLAIMS = [(row, name) for row in KEPT["rows"] for name in ("all", "cut") if name in row]


def script():
    spec = importlib.util.spec_from_file_location("make_hides", DOCS / "make_hides.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_is_what_the_numbers_say():
    assert script().page(KEPT) == (DOCS / "what-a-loss-hides.md").read_text(encoding="utf-8")


def test_every_model_that_is_kept_is_on_the_page():
    members = json.loads((DOCS.parent / "results" / "hides" / "index.json").read_text())["members"]
    assert sorted(row["file"] for row in KEPT["rows"]) == sorted(member["file"] for member in members)


@pytest.mark.parametrize(("row", "name"), CLAIMS, ids=lambda value: value["file"] if isinstance(value, dict) else value)
def test_brackets_are_narrow_checked_and_nearly_reached_by_the_attack(row, name):
    """Below 0.005; the attack finds at least 95 % of what is certain, and never more than what is proved."""
    found = row[name]
    assert found["checked"]
    assert found["lower"] <= found["upper"] <= found["lower"] + 0.005
    assert 0.95 * found["lower"] <= found["attacked"] <= found["upper"]


@pytest.mark.parametrize("place", [2, 12])
def test_a_row_is_found_again(place):
    row = KEPT["rows"][place]
    model, task = lw.load(DOCS.parent / "results" / "hides" / row["file"]), lw.task(row["task"])
    name, where = ("cut", script().CUT) if task.name == "simple" else ("all", None)
    found = lw.certify(model, task, where=where)
    assert found.upper == pytest.approx(row[name]["upper"], abs=1e-3)
    assert found.lower == pytest.approx(row[name]["lower"], abs=1e-3)
    assert lw.bound(model, error=script().ERROR).training_length == row["theorem_p"]
