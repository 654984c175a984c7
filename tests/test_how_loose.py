"""The page of looseness says what was kept, and what was kept is in the order that theory promises."""

import importlib.util
import json
from pathlib import Path

import pytest

DOCS = Path(__file__).parent.parent / "docs"
KEPT = json.loads((DOCS / "looseness" / "results.json").read_text())


@pytest.fixture
def script(monkeypatch):
    """The script as a module; it stands beside the one that writes the page."""
    monkeypatch.syspath_prepend(DOCS)
    spec = importlib.util.spec_from_file_location("make_looseness", DOCS / "make_looseness.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_is_up_to_date(script):
    assert script.looseness_page.page(KEPT) == (DOCS / "how-loose.md").read_text(), (
        "run `python docs/make_looseness.py`"
    )
    assert (DOCS / "looseness" / "figure.svg").stat().st_size < 300_000


@pytest.mark.parametrize("target", KEPT["targets"])
def test_the_kept_numbers_are_in_order(target):
    for row in KEPT["targets"][target]["proved"].values():
        assert row["shortest"] <= row["tuned"] <= row["constructed"] <= row["bound"]
        assert row["worst_at_least"] <= row["worst_at_most"] <= row["bound"]
        assert row["average"] > 0
    for rule in ("plain", "log-length"):
        found = KEPT["targets"][target][rule]
        assert all(row["mean"] <= row["worst"] for row in found["medians"].values())


def test_all_tables_of_a_length_are_all_of_them(script):
    from lengthwise.tasks.registry import task

    made = script
    tables, query = made.all_tables(task("modp:period=2"), 6)  # classes of 2 and 3 positions
    assert tables.shape[1] == query.shape[1] == 2 * 3 * 4
    assert (tables.reshape(2, 2, -1).sum(axis=0).T == [2, 3]).all()
    assert len({tuple(column) for column in [*tables.T, *()]}) == 12
    assert made.all_tables(task("simple:omega=1"), 10**6) is None


def test_the_target_of_a_table_is_that_of_its_string(script):
    import numpy as np

    from lengthwise.limit.constructions import simple_task
    from lengthwise.tasks.registry import task
    from lengthwise.theory.realise import spelled
    from lengthwise.type_counts import Counts

    asked, model = task("simple:omega=2"), simple_task(2, attention="plain")
    tables, query = np.array([[3], [1], [4]]), np.array([[1]])
    found = script.errors(model, asked, tables, query, 9)
    string = spelled(Counts((1,), tables.tolist()))
    import lengthwise as lw

    assert found[0] == pytest.approx(abs(lw.evaluate(model, string)[0] - asked.target(string)))


def test_the_first_length_that_stays_below(script):
    medians = {4: {"worst": 0.05}, 8: {"worst": 0.3}, 16: {"worst": 0.09}, 32: {"worst": 0.01}}
    assert script.required(medians, "worst") == 16
    assert script.required({4: {"worst": 0.3}}, "worst") is None
