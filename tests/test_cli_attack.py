"""`lengthwise attack`: what it says, what it refuses, and that its witness is what it says."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import lengthwise as lw
from lengthwise.limit.constructions import simple_task

TRAINED = Path(__file__).parent.parent / "docs" / "golden" / "study" / "weights" / "02b891270bed8eab.safetensors"
WANTED = """
def zeros(tokens):
    return tokens.count(0) / len(tokens)
zeros.shortest = 3
def words(tokens):
    return "many"
"""


def test_the_witness_of_counts_is_what_it_says(command, tmp_path):
    ended = command("attack", TRAINED, "--task", "simple:omega=2", "--evaluations", "20000", "--json")
    assert ended.code == 0
    found = ended.json
    assert found["method"] == "counts"
    assert found["trace"][-1][1] == pytest.approx(found["worst_error"])
    witness = found["witness"]
    (tmp_path / "table.json").write_text(json.dumps(witness["counts"]))
    run = command("run", TRAINED, "--counts", "table.json", "--json").json
    assert run["outputs"][0] == pytest.approx(witness["outputs"], abs=1e-4)  # the file's float32 against float64
    assert run["lengths"] == [witness["length"]]
    assert found["worst_error"] == pytest.approx(abs(witness["outputs"][0] - witness["target"][0]))
    (a,), (b,), _ = witness["counts"]["table"]
    last = witness["counts"]["suffix"][-1]
    a, b = a + (last == "0"), b + (last == "1")
    assert witness["target"][0] == pytest.approx(np.sin(2 * (a - b) / (a + b)) if a + b else 0.0)


def test_the_witness_of_strings_is_what_it_says(command):
    ended = command("attack", "kgram:symbols=2", "--length", "12", "--evaluations", "100", "--seed", "3", "--json")
    found = ended.json
    witness, task = found["witness"], lw.task("kgram:symbols=2")
    assert (found["method"], found["seed"], len(witness["string"])) == ("strings", 3, 12)
    assert witness["target"] == pytest.approx([float(value) for value in task.target(map(int, witness["string"]))])
    assert lw.evaluate(task.construction(), witness["string"]) == pytest.approx(np.asarray(witness["outputs"]))
    again = command("attack", "kgram:symbols=2", "--length", "12", "--evaluations", "100", "--seed", "3", "--json").json
    assert {**again, "seconds": 0} == {**found, "seconds": 0}


def test_people_read_a_sentence_a_string_and_how_it_went(command):
    ended = command("attack", "simple:omega=4", "--bits", "8", "--length", "6")
    sentence, string, went = ended.out.splitlines()
    assert ended.code == 0
    assert "worst of all 63 count tables of length 6" in sentence
    assert len(string) == 6
    assert went.endswith("seed 0")
    assert "0 restarts" in went
    long = command("attack", "simple:omega=4", "--length", "10^4..10^5", "--evaluations", "2000").out
    assert set(json.loads(long.splitlines()[1])) == {"suffix", "table"}


def test_functions_of_a_file_and_programs_are_targets(command, tmp_path):
    (tmp_path / "mine.py").write_text(WANTED)
    lw.save(simple_task(4.0), tmp_path / "m.safetensors")
    ended = command("attack", "m.safetensors", "--task", "mine.py:zeros", "--length", "3..5", "--json")
    assert ended.json["complete"]
    assert ended.json["lengths"] == [3, 5]
    assert "at least 3" in command("attack", "m.safetensors", "--task", "mine.py:zeros", "--length", "2").err
    assert "a finite number" in command("attack", "m.safetensors", "--task", "mine.py:words", "--length", "2").err
    program = command("attack", "crasp:majority", "--length", "1..5", "--json").json
    assert (program["worst_error"], program["complete"]) == (0, True)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["m.safetensors"], "--task TARGET"),
        (["m.safetensors", "--task", "simple:omga=2"], "omega"),
        (["m.safetensors", "--task", "modp"], "a model of 2 tokens"),
        (["m.safetensors", "--task", "crasp:nothing"], "a program of the library"),
        (["m.safetensors", "--task", "none.py:f"], "no such file"),
        (["-", "--task", "-"], "a dash twice"),
        (["simple", "--length", "3-5"], "10..1000"),
        (["simple", "--length", "5..3"], "shorter length first"),
        (["simple", "--length", "0"], "at least 1"),
        (["simple", "--length", "10^18"], "lengths from 1 to"),
        (["kgram", "--length", "10^7"], "up to 1000000"),
        (["simple", "--where", "c0 > 1"], "compared by"),
        (["simple", "--where", "c9 >= 1"], "c0 to c2"),
        (["simple", "--where", "c0@1 >= 1"], "residues 0 to 0"),
        (["simple", "--evaluations", "0"], "--evaluations"),
        (["simple", "--budget", "0"], "--budget"),
    ],
)
def test_bad_input_is_one_line(command, tmp_path, arguments, told):
    lw.save(simple_task(4.0), tmp_path / "m.safetensors")
    ended = command("attack", *arguments)
    assert (ended.code, ended.out) == (2, "")
    assert told in ended.err
    assert len(ended.err.splitlines()) == 1


def test_a_budget_of_time_stops_the_search(command):
    started = time.monotonic()
    ended = command(
        "attack", "kgram:symbols=3,order=2", "--length", "40", "--evaluations", "10000000", "--budget", "0.5", "--json"
    )
    assert ended.code == 0
    assert ended.json["evaluations"] < 10_000_000
    assert time.monotonic() - started < 20


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_interrupted_it_ends_with_130_and_says_nothing(tmp_path):
    at_work = tmp_path / "at_work"
    (tmp_path / "mine.py").write_text(f"def wanted(tokens):\n    open({str(at_work)!r}, 'w')\n    return [0, 0]\n")
    arguments = ["attack", "kgram", "--task", str(tmp_path / "mine.py"), "--evaluations", "10000000", "--json"]
    heed = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"  # background jobs ignore Ctrl-C
    program = f"{heed}; from lengthwise.cli import main; main()"
    running = subprocess.Popen(
        [sys.executable, "-c", program, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    while not at_work.exists() and running.poll() is None:
        time.sleep(0.01)
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=60)
    assert (running.returncode, out) == (130, b"")
    assert b"Traceback" not in err
