"""`lengthwise sweep` and `lengthwise tasks`: what they print, how they end, and what a stranger gets wrong."""

import errno
import json
import math
import os
import signal
import sys
from types import SimpleNamespace

import pytest

import lengthwise as lw
from lengthwise.cli import progress
from lengthwise.study import sweep as sweeping
from lengthwise.study.store import Store
from lengthwise.tasks import registry
from study_helpers import NOTHING, TEXT, contents, lay, result, study

IDS = [run.id for run in study().runs()]


@pytest.fixture
def sweep(command, monkeypatch, tmp_path):
    """Runs `lengthwise sweep study.toml ...` with a trainer that computes nothing, or another."""
    (tmp_path / "study.toml").write_text(TEXT)

    def run(*arguments, train=lay, file="study.toml", stdin=b""):
        monkeypatch.setattr(sweeping, "ensemble_on", lambda device: NOTHING._replace(train=train))
        return command("sweep", file, *arguments, stdin=stdin)

    return run


def one_line(ended, code=2):
    assert (ended.code, ended.out) == (code, ""), ended
    [line] = ended.err.splitlines()
    assert "wanted " in line
    assert "; got " in line
    return line


def test_a_sweep_says_what_is_done(sweep, tmp_path):
    ended = sweep()
    assert (ended.code, ended.out, ended.err) == (0, "8 of 8 runs of study are done, in study\n", "")
    assert list(Store(tmp_path / "study").finished()) == IDS
    assert sorted(path.name for path in (tmp_path / "study").iterdir()) == [
        "checkpoints", "index.sqlite", "lock", "runs", "study.toml", "weights",
    ]  # fmt: skip


def test_json(sweep, tmp_path):
    ended = sweep("--json", "--out", "there")
    assert ended.err == ""
    assert {name: ended.json[name] for name in ("verb", "study", "directory", "runs", "done", "failed", "redone")} == {
        "verb": "sweep", "study": "study", "directory": "there", "runs": 8, "done": 8, "failed": [], "redone": [],
    }  # fmt: skip
    assert (ended.json["seeds"], ended.json["device"]) == (2, "nothing")
    assert set(ended.json["versions"]) >= {"python", "lengthwise", "jax", "numpy"}


def test_a_second_run_needs_resume_and_then_does_nothing(sweep, tmp_path):
    def never(runs, **_):
        raise AssertionError("nothing is left")

    sweep()
    before = contents(tmp_path / "study")
    assert "one with this study; --resume continues" in one_line(sweep())
    ended = sweep("--json")
    assert (ended.code, ended.out) == (2, "")
    assert ended.error["where"] == "study"
    assert sweep("--resume", train=never).out == "8 of 8 runs of study are done, in study\n"
    assert contents(tmp_path / "study") == before


def test_another_study_in_the_folder(sweep):
    sweep()
    said = one_line(sweep("--resume", "--set", "seeds=3", "--set", "training.steps=7"))
    assert "seeds: 2 there, 3 here; training.steps: 200 there, 7 here" in said


def test_standard_input(sweep, tmp_path):
    ended = sweep("--set", "name=piped", file="-", stdin=TEXT.encode())
    assert ended.out == "8 of 8 runs of piped are done, in piped\n"
    assert sweep("--out", "x", file="-", stdin=TEXT.encode()).out.endswith("in x\n")
    assert one_line(sweep(file="-", stdin=b"\xff")).startswith("standard input: ")
    assert one_line(sweep(file="-", stdin=b"tsak = 3")).startswith("standard input: wanted a known key; got 'tsak'")


@pytest.mark.parametrize(
    ("setting", "parts"),
    [
        ("lenghts=[8]", ["'lenghts'", "nearest: lengths"]),
        ("training.stesp=3", ["'stesp'", "nearest: steps", "training"]),
        ("model.attention=plian", ["'plian'", "nearest: plain"]),
        ("grid.omgea=[2]", ["'omgea'", "nearest: omega"]),
        ("task=simple:omgea=2", ["'omgea'", "nearest: omega"]),
        ("task=smiple", ["'smiple'", "nearest: simple"]),
        ("lengths=[0]", ["at least 1", "got 0"]),
        ("testing.lengths=[0]", ["at least 1", "got 0"]),
        ("seeds", ["key=value"]),
    ],
)
def test_wrong_settings(sweep, tmp_path, setting, parts):
    line = one_line(sweep("--set", setting))
    assert all(part in line for part in parts), line
    ended = sweep("--set", setting, "--json")
    assert (ended.code, ended.out) == (2, "")
    assert set(ended.error) == {"wanted", "got", "remedy", "where"}
    assert not (tmp_path / "study").exists()  # refused before anything is written


@pytest.mark.parametrize("wrong", ["lenghts = [3]\n", "[trainig]\nsteps = 3\n", "[model]\nwitdh = 3\n"])
def test_wrong_files(sweep, tmp_path, wrong):
    text = TEXT.replace("[model]\n", wrong) if wrong.startswith("[model]") else TEXT + wrong
    text = wrong + TEXT if wrong.startswith("lenghts") else text
    (tmp_path / "study.toml").write_text(text)
    line = one_line(sweep())
    assert line.startswith("study.toml")
    assert "nearest: " in line


def test_files_that_are_not_there(sweep, tmp_path):
    for file in ("nowhere.toml", ".", "a\0b"):
        one_line(sweep(file=file))
    (tmp_path / "taken").write_text("x")
    one_line(sweep("--out", "taken"))
    one_line(sweep("--out", "taken/inside"))
    assert "device" in one_line(sweep("--device", "tpu"))


def test_a_training_length_beyond_what_is_counted_exactly(command, tmp_path):
    """With the real trainer, which checks every member before anything is written."""
    (tmp_path / "study.toml").write_text(TEXT)
    line = one_line(command("sweep", "study.toml", "--set", "testing.lengths=[100000000]", "--device", "cpu"))
    assert "16777216" in line
    assert not (tmp_path / "study").exists()


# --- the machine stops it


def test_a_gpu_that_is_not_there(command, sweep, tmp_path, monkeypatch):
    import jax

    if jax.default_backend() != "cpu":
        pytest.skip("it is there")
    sweep()
    before = contents(tmp_path / "study")
    monkeypatch.undo()
    monkeypatch.chdir(tmp_path)
    line = one_line(command("sweep", "study.toml", "--device", "gpu", "--resume"), 3)
    assert line.startswith("wanted a device of kind gpu; got a machine with cpu; use --device auto")
    ended = command("sweep", "study.toml", "--device", "gpu", "--json", "--out", "new")
    assert (ended.code, ended.out) == (3, "")
    assert ended.error["got"] == "a machine with cpu"
    assert not (tmp_path / "new").exists()
    assert contents(tmp_path / "study") == before


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EROFS])
@pytest.mark.parametrize("writes", [0, 1, 5, 6, 17, 30])
def test_a_disk_that_fails(sweep, tmp_path, monkeypatch, number, writes):
    """At the lowest level, after some writes: exit 3, finished runs kept and counted, --resume finishes."""
    reached, fsync = iter(range(10**6)), os.fsync

    def fail(file):
        if next(reached) >= writes:
            raise OSError(number, os.strerror(number))
        fsync(file)

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", fail)
        line = one_line(sweep(), 3)
    assert os.strerror(number) in line
    kept = {path.name for path in (tmp_path / "study" / "runs").glob("*.json")}
    assert len(kept) == max(0, writes - 1) // 5  # study.toml, then three checkpoints, weights and file of each run
    if writes:
        assert f"{len(kept)} finished runs are kept, --resume continues" in line
    done = []

    def watched(runs, **told):
        done.extend(f"{run.id}.json" for run in runs)
        lay(runs, **told)

    assert sweep("--resume", train=watched).code == 0
    assert not kept & set(done)
    sweep("--out", "whole")
    assert contents(tmp_path / "study") == contents(tmp_path / "whole")


def test_a_folder_that_cannot_be_written(sweep, monkeypatch, tmp_path):
    def refuse(*_, **__):
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    sweep()
    before = contents(tmp_path / "study")
    with monkeypatch.context() as patch:
        patch.setattr("lengthwise.study.lock.os.open", refuse)
        assert "Read-only" in one_line(sweep("--resume"), 3)
    with monkeypatch.context() as patch:
        patch.setattr(os, "mkdir", refuse)
        line = one_line(sweep("--out", "new"), 3)
    assert line.startswith("new: ")
    assert contents(tmp_path / "study") == before


# --- interrupted, diverged, damaged


def test_ctrl_c_stops_at_a_checkpoint(sweep, tmp_path):
    def until_asked(runs, *, finished, should_stop, **_):
        finished(runs[0], result(runs[0]))
        assert not should_stop()
        os.kill(os.getpid(), signal.SIGINT)
        assert should_stop()

    before = signal.getsignal(signal.SIGINT)
    for options in ([], ["--json"]):
        ended = sweep("--out", f"x{len(options)}", *options, train=until_asked)
        assert (ended.code, ended.out) == (130, "")
        stopping, continued = ended.err.splitlines()
        assert stopping.startswith("stopping at the next checkpoint")
        assert continued.startswith("1 of 8 runs of study are done")
        assert continued.endswith(f"lengthwise sweep x{len(options)}/study.toml --resume --out x{len(options)}")
    assert signal.getsignal(signal.SIGINT) is before
    words = continued.split("lengthwise ")[1].split()
    assert sweep(*words[2:], file=words[1]).out == "8 of 8 runs of study are done, in x1\n"


def test_a_second_ctrl_c_stops_at_once(sweep, tmp_path):
    def insist(runs, **_):
        os.kill(os.getpid(), signal.SIGINT)
        os.kill(os.getpid(), signal.SIGINT)
        raise AssertionError("it went on")

    ended = sweep(train=insist)
    assert (ended.code, ended.out) == (130, "")
    assert ended.err.splitlines()[-1] == "continue with: lengthwise sweep study/study.toml --resume --out study"
    assert sweep("--resume").code == 0


def test_members_that_diverge_are_named(sweep):
    def diverge(runs, *, finished, **_):
        for index, run in enumerate(runs):
            finished(run, result(run, ended="steps" if index else "diverged"))

    ended = sweep(train=diverge)
    assert ended.code == 0
    assert f"1 diverged: {IDS[0]} (simple:omega=1.0,symbols=3, longest 6, seed 0)" in ended.out
    again = sweep("--resume", "--json")
    assert again.json["failed"] == [{"id": IDS[0], "task": "simple:omega=1.0,symbols=3", "longest": 6, "seed": 0}]


def test_a_damaged_file_is_named_and_in_the_answer(sweep, tmp_path):
    sweep()
    (tmp_path / "study" / "runs" / f"{IDS[3]}.json").write_text("{")
    ended = sweep("--resume", "--json")
    assert ended.json["redone"] == [IDS[3]]
    [line] = ended.err.splitlines()
    assert IDS[3] in line
    assert "torn" in line


# --- progress


def told(done=3, seconds_left=75.0):
    return SimpleNamespace(done=done, total=8, steps_per_second=12345.6, seconds_left=seconds_left)


def test_lines_elsewhere_come_now_and_then(capsys):
    lines = progress.Lines("members", between=3600.0)
    lines.progress(told())
    assert capsys.readouterr().err == ""
    lines.between = 0.0
    lines.progress(told())
    lines.progress(told(seconds_left=math.inf))
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err == "3 of 8 members, 12,346 steps/s, 1 min 15 s left\n3 of 8 members, starting\n"


def test_a_bar_on_a_terminal(capsys, monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    with progress.teller("members") as tell:
        tell.progress(told())
        tell.say("[bold]a line[/bold] that has to be read")
    said = capsys.readouterr()
    assert said.out == ""
    assert "[bold]a line[/bold] that has to be read" in said.err  # as it is, no markup
    assert "3/8" in said.err


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (-1, "0 s"),
        (0, "0 s"),
        (59.4, "59 s"),
        (59.6, "1 min 00 s"),
        (3599, "59 min 59 s"),
        (3600, "1 h 00 min"),
        (90061, "25 h 01 min"),
    ],
)
def test_durations_as_people_say_them(seconds, words):
    assert progress.clock(seconds) == words


def test_progress_counts_what_was_done_before(tmp_path):
    seen = []
    stops = iter([False] * 10 + [True] * 90)
    lw.sweep(study(), tmp_path / "s", trainer=NOTHING, progress=seen.append, should_stop=lambda: next(stops))
    assert [one.done for one in seen] == [0, 0, 0, 1, 1, 1, 2, 2, 2, 3]
    seen.clear()
    lw.sweep(study(), tmp_path / "s", trainer=NOTHING, progress=seen.append, resume=True)
    assert seen[0].done == 3
    assert {one.total for one in seen} == {8}


# --- tasks


def test_tasks_are_those_of_the_registry(command):
    ended = command("tasks", "--json")
    assert ended.err == ""
    assert [entry["task"] for entry in ended.json["tasks"]] == list(registry.TASKS)
    for entry in ended.json["tasks"]:
        task = lw.task(entry["example"])
        assert registry.describe(task) == entry["example"]
        assert registry.describe(lw.task(entry["task"])) == entry["example"]  # the defaults
        assert entry["parameters"] == registry.parameters(entry["task"])
        for name in ("symbols", "period", "locality", "shortest"):
            assert entry[name] == getattr(task, name)
        assert (entry["sensitivity"], entry["margin"]) == (task.known().sensitivity, task.known().margin)
        assert entry["target"] in " ".join(type(task).__doc__.split())
    listed = command("tasks").out
    for entry in ended.json["tasks"]:
        assert entry["example"] in listed
    assert json.loads(json.dumps(ended.json)) == ended.json


def test_tasks_takes_no_argument(command):
    assert one_line(command("tasks", "simple"))
