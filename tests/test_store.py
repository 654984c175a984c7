"""A study directory: what someone broke is named and done again, two sweeps never meet, the index is the files."""

import copy
import json
import math
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lengthwise as lw
from lengthwise.config import canonical
from lengthwise.study.lock import locked
from lengthwise.study.runfile import Damaged, checksum, decoded, encoded
from lengthwise.study.store import Store, rebuild_index
from lengthwise.train.checkpoint import Saved, write_checkpoint
from study_helpers import NOTHING, Result, contents, lay, result, study, sweep

SETTINGS = ("grid.omega=[1]", "lengths=[6]")  # two runs
RUNS = study(*SETTINGS).runs()
IDS = [run.id for run in RUNS]


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A finished study; tests copy it before they break it."""
    path = tmp_path_factory.mktemp("whole") / "study"
    sweep(path, *SETTINGS)
    return path


@pytest.fixture
def there(whole, tmp_path):
    return shutil.copytree(whole, tmp_path / "study")


# --- run files


@given(
    st.lists(st.tuples(st.integers(1, 2**24), st.floats(), st.floats()), max_size=5, unique_by=lambda point: point[0]),
    st.lists(st.floats(width=32), max_size=8),
    st.floats(),
)
@settings(max_examples=80, deadline=None)
def test_a_run_file_reads_back_bit_for_bit(curve, history, loss):
    """Whatever the numbers are: huge, tiny, minus zero, infinite or not a number."""
    run = RUNS[0]
    one = Result(curve, 3, loss, "steps", None, history, 0.1)
    content = encoded(run, one, "f" * 64, {"device": "x"})
    back = decoded(content, run.id)
    assert repr(back.curve) == repr(curve)
    assert repr(back.training_loss) == repr(loss)
    assert repr(back.history) == repr([v if math.isfinite(v) else math.nan for v in history])
    assert (back.run, back.steps, back.ended, back.made) == (run, 3, "steps", {"device": "x"})
    assert json.loads(content, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))


def signed(content):
    fields = json.loads(content)
    return {name: value for name, value in fields.items() if name != "made"}


@given(st.integers(0), st.integers(1, 255))
@settings(max_examples=300, deadline=None)
def test_no_changed_byte_of_a_run_file_is_believed(place, flip):
    """Either it is refused, or what it says is what was written (a blank, or outside the checksum)."""
    run = RUNS[0]
    content = bytearray(encoded(run, result(run), "f" * 64, {"seconds": 1.0}))
    before = signed(content)
    content[place % len(content)] ^= flip
    try:
        decoded(bytes(content), run.id)
    except (Damaged, lw.WrongInput):
        return
    assert signed(content) == before


def test_every_truncation_of_a_run_file_is_refused():
    run = RUNS[0]
    content = encoded(run, result(run), "f" * 64, {"seconds": 1.0})
    assert decoded(content, run.id).run == run
    for length in range(len(content) - 2):  # without the last newline it is whole
        with pytest.raises(Damaged):
            decoded(content[:length], run.id)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{}",
        b"[]",
        b"7",
        b"null",
        b"\xff",
        b'{"checksum": "x"}',
        b"[" * 100_000,
        b'{"checksum": NaN, "format": 1}',
    ],
)
def test_no_run_files(content):
    with pytest.raises(Damaged):
        decoded(content, IDS[0])


def test_a_newer_format_and_another_run_are_refused_in_their_own_words():
    run = RUNS[0]
    fields = json.loads(encoded(run, result(run), "f" * 64, {}))
    newer = copy.deepcopy(fields) | {"format": 2}
    newer["checksum"] = checksum(newer)
    with pytest.raises(Damaged, match="format is 2"):
        decoded(canonical(newer), run.id)
    with pytest.raises(Damaged, match="another run"):
        decoded(canonical(fields), IDS[1])
    renamed = copy.deepcopy(fields) | {"id": IDS[1]}  # the record under a name that is not its own
    renamed["checksum"] = checksum(renamed)
    with pytest.raises(Damaged, match="another run"):
        decoded(canonical(renamed), IDS[1])


# --- what someone broke


def first_half(path):
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def flipped(path):
    content = bytearray(path.read_bytes())
    content[-5] ^= 1
    path.write_bytes(content)


def better(path):
    """A loss that is made to look better, the checksum left as it was."""
    fields = json.loads(path.read_bytes())
    fields["result"]["curve"][0]["loss"] /= 2
    path.write_text(json.dumps(fields))


def empty(path):
    path.write_bytes(b"")


def the_other(path):
    shutil.copy(path.with_name(path.name.replace(IDS[0], IDS[1])), path)


BREAKS = [
    ("runs", "json", first_half, "torn"),
    ("runs", "json", empty, "torn"),
    ("runs", "json", better, "checksum"),
    ("runs", "json", the_other, "another run"),
    ("weights", "safetensors", first_half, "weights"),
    ("weights", "safetensors", flipped, "weights"),
    ("weights", "safetensors", empty, "weights"),
    ("weights", "safetensors", the_other, "weights"),
    ("weights", "safetensors", os.unlink, "weights"),
]


@pytest.mark.parametrize(("folder", "suffix", "damage", "reason"), BREAKS)
def test_what_is_broken_is_named_and_done_again(whole, there, folder, suffix, damage, reason):
    damage(there / folder / f"{IDS[0]}.{suffix}")
    said, done = [], []
    assert list(Store(there).finished(say=said.append)) == [IDS[1]]
    assert IDS[0] in said[0]
    assert reason in said[0]

    def watched(runs, **told):
        done.extend(run.id for run in runs)
        lay(runs, **told)

    said.clear()
    swept = sweep(there, *SETTINGS, resume=True, say=said.append, trainer=NOTHING._replace(train=watched))
    assert done == swept.redone == [IDS[0]]
    assert swept.complete
    assert [line for line in said if IDS[0] in line and reason in line and "done again" in line]
    assert contents(there) == contents(whole)


def test_a_folder_without_weights_can_be_measured_and_continued(whole, there):
    shutil.rmtree(there / "weights")
    assert list(Store(there).finished()) == []
    assert list(Store(there).finished(weights=False)) == IDS
    assert len(lw.measure(there).members) == len(IDS)
    swept = sweep(there, *SETTINGS, resume=True, weights=False, trainer=NOTHING._replace(train=None))
    assert (swept.done, swept.redone) == (len(IDS), [])
    assert sweep(there, *SETTINGS, resume=True).redone == IDS  # unless told so, a run without weights is done again


@pytest.mark.parametrize("damage", [first_half, flipped, the_other])
def test_weights_that_are_there_must_fit_even_where_none_are_needed(there, damage):
    damage(there / "weights" / f"{IDS[0]}.safetensors")
    assert list(Store(there).finished(weights=False)) == [IDS[1]]


def test_what_stands_outside_the_checksum_may_differ(there):
    path = there / "runs" / f"{IDS[0]}.json"
    fields = json.loads(path.read_bytes())
    fields["made"]["device"] = "another"
    path.write_text(json.dumps(fields))
    assert list(Store(there).finished()) == IDS


def test_a_torn_checkpoint_is_named_and_its_run_starts_again(whole, tmp_path):
    path, said = tmp_path / "study", []
    calls = iter(range(100))
    assert not sweep(path, *SETTINGS, should_stop=lambda: next(calls) == 2).complete
    [kept] = (path / "checkpoints").iterdir()
    first_half(kept)
    swept = sweep(path, *SETTINGS, resume=True, say=said.append)
    assert kept.name in said[0]
    assert swept.complete
    assert swept.redone == []
    assert contents(path) == contents(whole)


def test_a_checkpoint_of_another_run_is_not_taken_up(whole, tmp_path):
    path, said = tmp_path / "study", []
    calls = iter(range(100))
    sweep(path, *SETTINGS, should_stop=lambda: next(calls) == 2)
    write_checkpoint(path / "checkpoints", "0" * 16, Saved({"step": np.int32(0)}, (9.0, 9.0, 9.0)))
    (path / "checkpoints" / f"{'0' * 16}.safetensors").rename(path / "checkpoints" / f"{IDS[0]}.safetensors")
    sweep(path, *SETTINGS, resume=True, say=said.append)
    assert "does not fit" in said[0]
    assert contents(path) == contents(whole)


def test_files_that_belong_to_no_run_are_named_and_left_alone(there):
    stray = [there / "runs" / f"{'0' * 16}.json", there / "runs" / "notes.txt", there / "checkpoints" / "x.safetensors"]
    for path in stray:
        path.write_text("x")
    said = []
    sweep(there, *SETTINGS, resume=True, say=said.append)
    assert all(any(str(path) in line for line in said) for path in stray)
    assert all(path.read_text() == "x" for path in stray)


def test_what_a_kill_left_aside_is_removed(there, whole):
    for folder, name in (("runs", f".{IDS[0]}.json.0a1b2c3d"), ("weights", f".{IDS[0]}.safetensors.00000000")):
        (there / folder / name).write_text("half")
    write_checkpoint(there / "checkpoints", IDS[0], Saved({"step": np.int32(0)}, (0.5,)))  # of a run that is done
    sweep(there, *SETTINGS, resume=True)
    assert contents(there) == contents(whole)


# --- which study is here


def test_a_second_sweep_needs_resume_and_the_same_study(there, tmp_path):
    for options, got in (({}, "one with this study"), ({"resume": True}, "training.steps: 200 there, 300 here")):
        changed = ("training.steps=300",) if options else ()
        with pytest.raises(lw.WrongInput) as caught:
            sweep(there, *SETTINGS, *changed, **options)
        assert caught.value.got == got
        assert caught.value.where == str(there)
    assert sweep(there, *SETTINGS, "name=renamed", resume=True).complete
    assert sweep(tmp_path / "new", *SETTINGS, resume=True).complete  # nothing to resume is a beginning


def test_a_folder_of_other_things_is_refused(tmp_path):
    (tmp_path / "thesis.tex").write_text("x")
    with pytest.raises(lw.WrongInput, match=r"thesis\.tex"):
        sweep(tmp_path, *SETTINGS)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]
    with pytest.raises(lw.WrongInput, match="a file on the way"):
        sweep(tmp_path / "thesis.tex", *SETTINGS)
    with pytest.raises(lw.WrongInput, match="no such folder"):
        Store(tmp_path / "nowhere").study()


@pytest.mark.parametrize("text", ["", "task = ", "task = 'simple'"])
def test_a_broken_study_file_is_named(there, text):
    (there / "study.toml").write_text(text)
    with pytest.raises(lw.WrongInput) as caught:
        sweep(there, *SETTINGS, resume=True)
    assert caught.value.where.startswith(str(there / "study.toml"))


def test_the_study_in_the_folder_is_the_study(there):
    assert Store(there).study().runs() == RUNS
    assert msgspec.to_builtins(Store(there).study()) == msgspec.to_builtins(study(*SETTINGS))


def test_a_kept_model_is_the_trained_one(there):
    for run in RUNS:
        kept, trained = Store(there).model(run.id), result(run).weights
        assert np.array_equal(kept.embedding, trained.embedding)
        assert np.array_equal(kept.layers[0].heads[0].key, trained.layers[0].heads[0].key)


# --- one sweep at a time

HOLD = "import sys, time; from pathlib import Path; from lengthwise.study.lock import locked\n"
HOLD += "with locked(Path(sys.argv[1])): print('held', flush=True); time.sleep(60)"


@pytest.fixture
def holder(there):
    process = subprocess.Popen([sys.executable, "-c", HOLD, there / "lock"], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "held\n"
    yield process
    process.kill()
    process.wait()
    process.stdout.close()


def test_a_second_sweep_is_refused_with_the_holders_pid(there, holder, whole):
    before = contents(there)
    with pytest.raises(lw.WrongInput) as caught:
        sweep(there, *SETTINGS, resume=True)
    assert caught.value.exit_code == 2
    assert caught.value.got == f"process {holder.pid} working on it"
    assert f"kill {holder.pid}" in caught.value.remedy
    assert contents(there) == before
    holder.send_signal(signal.SIGKILL)  # leaves its id in the file, and no lock
    holder.wait()
    assert (there / "lock").read_text() == f"{holder.pid}\n"
    assert sweep(there, *SETTINGS, resume=True).complete
    assert contents(there) == contents(whole)


def test_a_holder_that_has_not_written_its_id_yet(there, holder, monkeypatch):
    (there / "lock").write_text("")
    monkeypatch.setattr("lengthwise.study.lock._PATIENCE", 0.05)
    with pytest.raises(lw.WrongInput, match="another process"):
        sweep(there, *SETTINGS, resume=True)


def test_the_lock_is_free_again_whatever_the_body_does(tmp_path):
    def fail():
        with locked(tmp_path / "lock"):
            assert (tmp_path / "lock").read_text() == f"{os.getpid()}\n"
            raise ZeroDivisionError

    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            fail()
        assert (tmp_path / "lock").read_text() == ""


# --- the index


def test_the_index_rebuilt_equals_the_files(there):
    before = contents(there)["index.sqlite"]
    (there / "index.sqlite").write_bytes(b"no database")
    rebuild_index(there)
    assert contents(there)["index.sqlite"] == before
    finished = Store(there).finished()
    with closing(sqlite3.connect(there / "index.sqlite")) as database:
        database.row_factory = sqlite3.Row
        rows = {row["id"]: dict(row) for row in database.execute("SELECT * FROM runs")}
        curves = database.execute("SELECT id, length, loss, worst FROM curves ORDER BY id, length").fetchall()
    assert rows == {
        key: {
            "id": key,
            "task": "simple",
            "parameters": '{"omega": 1.0, "symbols": 3}',
            "longest": one.run.longest,
            "seed": one.run.seed,
            "attention": one.run.model.attention,
            "width": one.run.model.width,
            "units": one.run.model.units,
            "heads": one.run.model.heads,
            "offsets": one.run.model.offsets,
            "rate": one.run.training.rate,
            "steps": one.steps,
            "training_loss": one.training_loss,
            "ended": one.ended,
            "seconds": one.made["seconds"],
            "device": one.made["device"],
            "date": one.made["date"],
            "checksum": one.checksum,
        }
        for key, one in finished.items()
    }
    assert [tuple(row) for row in curves] == sorted(
        (key, *point) for key, one in finished.items() for point in one.curve
    )


def test_the_index_tells_losses_that_are_no_numbers(tmp_path):
    def diverge(runs, *, finished, **_):
        for run in runs:
            finished(run, result(run, [(10, math.nan, math.inf)], ended="diverged"))

    swept = sweep(tmp_path / "s", *SETTINGS, trainer=NOTHING._replace(train=diverge))
    assert swept.complete
    assert [run.id for run in swept.failed] == IDS
    assert all(run_id in str(swept) for run_id in IDS)
    with closing(sqlite3.connect(tmp_path / "s" / "index.sqlite")) as database:
        assert database.execute("SELECT DISTINCT loss, worst FROM curves").fetchall() == [(None, math.inf)]
    again = sweep(tmp_path / "s", *SETTINGS, resume=True)
    assert [run.id for run in again.failed] == IDS  # a run that diverged is a finished run


def test_a_torn_run_is_not_in_the_index(there):
    first_half(there / "runs" / f"{IDS[0]}.json")
    said = []
    rebuild_index(there, say=said.append)
    with closing(sqlite3.connect(there / "index.sqlite")) as database:
        assert database.execute("SELECT id FROM runs").fetchall() == [(IDS[1],)]
        assert {row[0] for row in database.execute("SELECT id FROM curves")} == {IDS[1]}
    assert IDS[0] in said[0]


def test_resuming_a_finished_study_trains_nothing(there, whole):
    def never(runs, **_):
        raise AssertionError("nothing is left to train")

    before = {path: path.stat().st_mtime_ns for path in (there / "runs").iterdir()}
    time.sleep(0.01)
    assert sweep(there, *SETTINGS, resume=True, trainer=NOTHING._replace(train=never)).complete
    assert {path: path.stat().st_mtime_ns for path in (there / "runs").iterdir()} == before
    assert contents(there) == contents(whole)
