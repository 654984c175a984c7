"""What is kept of published figures: trained in pieces, packed, unpacked elsewhere, and told in tables."""

import csv
import gzip
import importlib.util
import io
import json
import sys
from pathlib import Path

import jax
import pytest

import lengthwise as lw
from figure_helpers import NO_PICTURES
from lengthwise.study import drawing
from lengthwise.study.published import FIGURES as FIGURES_OF_RESULTS
from lengthwise.study.store import Store
from lengthwise.train import ensemble
from study_helpers import NOTHING, contents, study

ROOT = Path(__file__).parents[1]
FIGURES = ["figure1", "figure3"]


@pytest.fixture
def script(monkeypatch):
    """The script, with the small study in place of each figure's."""
    monkeypatch.syspath_prepend(str(ROOT / "results"))
    spec = importlib.util.spec_from_file_location("make_results", ROOT / "results" / "make_results.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "published", lambda name, scale: study(f"name={name}"))
    monkeypatch.setattr(drawing, "drawn", lambda rows: NO_PICTURES)
    yield module
    jax.config.update("jax_compilation_cache_dir", None)


@pytest.fixture
def swept(tmp_path):
    """Both studies, laid out without training."""
    for name in FIGURES:
        lw.sweep(study(f"name={name}"), tmp_path / "work" / name, trainer=NOTHING)
    return tmp_path / "work"


def test_packed_runs_are_the_same_runs_elsewhere(script, swept, tmp_path, monkeypatch):
    monkeypatch.setattr(script, "PART", 5_000)
    script.pack(swept, FIGURES, tmp_path / "out")
    parts = list((tmp_path / "out").glob("runs-*.tar.xz"))
    assert len(parts) > 2
    assert all(path.stat().st_size <= 5_000 for path in parts)
    script.unpack(tmp_path / "out", tmp_path / "there")
    for name in FIGURES:
        here, there = (contents(place / name) for place in (swept, tmp_path / "there"))
        assert {key: here[key] for key in there} == there
        assert {key for key in here if key.startswith("runs")} == {key for key in there if key.startswith("runs")}
        assert script.done("quick", name, tmp_path / "there")
    weights = [len(list(Store(tmp_path / "there" / name).weights.glob("*"))) for name in FIGURES]
    assert weights == [4, 8]  # for bounds the longest trained are looked at, for Figure 3 all


def test_a_packed_run_that_was_changed_is_not_used(script, swept, tmp_path):
    script.pack(swept, FIGURES, tmp_path / "out")
    script.unpack(tmp_path / "out", tmp_path / "there")
    path = next((tmp_path / "there" / "figure1" / "runs").iterdir())
    path.write_text(path.read_text().replace('"steps": 3', '"steps": 4'))
    assert not script.done("quick", "figure1", tmp_path / "there")


def test_training_in_pieces_ends_with_what_one_piece_gives(script, tmp_path, monkeypatch):
    """The first call has time for half of the members; the second finishes them on another machine."""
    monkeypatch.setitem(ensemble.TILES_AT_ONCE, "cpu", 1)
    whole, first, second = (tmp_path / name for name in ("whole", "first", "second"))
    script.compile_ahead("quick", ["figure1"], tmp_path / "compiled")
    told = script.train("quick", ["figure1"], whole, 10)
    assert told["figure1"]["done"] == 8
    assert script.train("quick", FIGURES, first, 0)["figure1"]["done"] == 0
    stop = iter([False] * 25 + [True]).__next__
    assert lw.sweep(study("name=figure1"), first / "figure1", resume=True, should_stop=stop).done == 4
    script.pack(first, ["figure1"], tmp_path / "out")
    script.unpack(tmp_path / "out", second)
    assert script.train("quick", ["figure1"], second, 10)["figure1"]["done"] == 8
    both = [lw.measure(place / "figure1").members for place in (whole, second)]
    assert both[0] == both[1]


def test_what_is_kept_says_what_the_runs_say(script, swept, tmp_path):
    script.keep(swept, FIGURES, tmp_path / "results")
    folder = tmp_path / "results" / "figure1"
    assert {path.suffix for path in folder.iterdir()} == {".svg", ".csv", ".json", ".gz"}
    rows = list(csv.DictReader(io.StringIO(gzip.decompress((folder / "members.csv.gz").read_bytes()).decode())))
    members = {one.run: one for one in lw.measure(swept / "figure1").members}
    assert {row["run"] for row in rows} == set(members)
    for row in rows:
        one = members[row["run"]]
        assert (int(row["longest"]), int(row["seed"])) == (one.longest, one.seed)
        assert float(row["omega"]) == one.settings["omega"]
        for place, length in enumerate(one.lengths):
            assert float(row[f"loss@{length}"]) == pytest.approx(one.loss[place], rel=1e-4)
            assert float(row[f"worst@{length}"]) == pytest.approx(one.worst[place] ** 0.5, rel=1e-4)
    told = json.loads((folder / "claims.json").read_text())
    assert (told["runs"], told["done"], told["device"]) == (8, 8, "nothing")
    assert "8 of 8 members" in (tmp_path / "results" / "claims.md").read_text()


def test_the_estimate_counts_members_and_operations(script, capsys):
    script.estimate("quick", ["figure1"])
    said = capsys.readouterr().out
    assert said.startswith("figure1: 8 members, 1 programs, 0.00 10^15 operations")


def test_the_kernels_of_a_gpu_are_not_used_elsewhere(script):
    assert script.check_kernels() == "not used on this device"


def test_the_script_changes_no_path_for_good():
    assert str(ROOT / "results") not in sys.path


def test_what_is_committed_is_small_and_whole():
    """Figures, claims, members and their table fit together; the pages show every figure."""
    files = [path for path in (ROOT / "results").rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    assert sum(path.stat().st_size for path in files) < 10_000_000
    page = (ROOT / "docs" / "results.md").read_text()
    folders = [path.parent for path in files if path.name == "claims.json"]
    assert {folder.name for folder in folders if folder.parent.name == "quick"} == set(FIGURES_OF_RESULTS)
    for folder in folders:
        told = json.loads((folder / "claims.json").read_text())
        assert told["done"] == told["runs"]
        assert told["device"]
        assert told["versions"]["jax"]
        table = (folder.parent / "claims.md").read_text().replace("\\|", "|")
        assert all(f"| {claim['claim']} |" in table for claim in told["claims"])
        rows = gzip.decompress((folder / "members.csv.gz").read_bytes()).decode().splitlines()
        assert len(rows) == told["runs"] + 1
        assert f"../results/{folder.parent.name}/{folder.name}/{folder.name}.svg" in page
