"""The models that show what a loss hides: the search over counts against all strings, and what is committed."""

import importlib.util
import itertools
import json
from pathlib import Path

import numpy as np
import pytest

import lengthwise as lw
from lengthwise.study.plan import Study

ROOT = Path(__file__).parents[1] / "results"
MEMBERS = json.loads((ROOT / "hides" / "index.json").read_text())["members"]


@pytest.fixture
def count_scan(monkeypatch):
    """The search, as the script beside it imports it."""
    monkeypatch.syspath_prepend(str(ROOT))
    spec = importlib.util.spec_from_file_location("count_scan", ROOT / "count_scan.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def member(name):
    one = next(one for one in MEMBERS if one["file"] == f"{name}.safetensors")
    return lw.load(ROOT / "hides" / one["file"]), lw.task(one["task"]), one


def worst_string(model, task, length):
    """The definition: the error of every string."""
    strings = itertools.product(range(task.symbols), repeat=length)
    return max(abs(lw.evaluate(model, np.array(s), "dense")[0] - task.target(s)) for s in strings)


@pytest.mark.parametrize(("name", "length"), [("simple-omega4", 5), ("modp-period3-residue1", 7)])
def test_the_search_finds_the_worst_of_all_strings(count_scan, name, length):
    model, task, _ = member(name)
    found = count_scan.scan(model, task, [length], every=True)
    wanted = worst_string(model, task, length)
    assert found.error == pytest.approx(wanted, rel=1e-4)
    some = count_scan.scan(model, task, [length], every=True, keep=lambda counts, _: counts[0] == counts[1])
    assert 0 < some.looked_at < found.looked_at
    assert count_scan.scan(model, task, [length - 1], every=True).error != pytest.approx(wanted, rel=1e-3)


@pytest.mark.parametrize("one", MEMBERS[:3] + MEMBERS[-3:], ids=lambda one: one["file"])
def test_what_was_found_is_the_error_of_a_string(one):
    """Counts of the right class sizes (`Counts` checks), evaluated in double precision, against the definition."""
    model = lw.map_arrays(lw.load(ROOT / "hides" / one["file"]), lambda array: np.asarray(array, np.float64))
    task = lw.task(one["task"])
    for found in one["found"].values():
        table = np.array(found["counts"]).reshape(task.symbols, task.period)
        if task.name == "modp":
            target = table[1, task.residue] / np.sum(table[:, task.residue])
        else:
            target = np.sin(task.omega * (table[0, 0] - table[1, 0]) / (table[0, 0] + table[1, 0]))
        table[found["last"], found["length"] % task.period] -= 1
        [output] = lw.evaluate_counts(model, lw.Counts((found["last"],), table.tolist()))
        assert abs(output - target) == pytest.approx(found["error"], abs=1e-9)


def test_every_member_of_the_studies_is_kept_with_its_twin():
    runs = [run for name in ("simple", "modp", "four") for run in Study.load(ROOT / "hides" / f"{name}.toml").runs()]
    assert [one["id"] for one in MEMBERS] == [run.id for run in runs]
    assert {path.name for path in (ROOT / "hides").glob("*.safetensors")} == {one["file"] for one in MEMBERS}
    for run, one in zip(runs, MEMBERS, strict=True):
        assert (one["task"], one["longest"], one["adversarial"]) == (run.task, run.longest, run.training.corner_share)
        assert one["training_loss"] < 1e-5
        assert one["ended"] == "loss"
        model = lw.load(ROOT / "hides" / one["file"])
        assert (model.depth, model.attention, model.width) == (1, "plain", 16)
