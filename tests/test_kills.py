"""Sweeps that are killed with -9, interrupted, or run out of disk: nothing is lost, and resuming gives the same bits."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from study_helpers import TEXT, contents

TESTS = Path(__file__).parent
COMMAND = [sys.executable, "-c", "import sys; from lengthwise.cli import main; sys.exit(main())"]


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    """Processes that share their compiled programs, or most of the time would go into compiling the same again."""
    cache = tmp_path_factory.mktemp("compiled")
    return os.environ | {
        "JAX_COMPILATION_CACHE_DIR": str(cache),
        "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
        "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1",
        "JAX_PLATFORMS": "cpu",
    }


@pytest.fixture(scope="module")
def reference(tmp_path_factory, environment):
    """The study file beside its directory, swept without interruption."""
    folder = tmp_path_factory.mktemp("reference")
    text = TEXT.replace("steps = 200", "steps = 800\nstop = 0.03")  # members stop at various steps
    (folder / "study.toml").write_text(text)
    subprocess.run(
        [*COMMAND, "sweep", folder / "study.toml", "--out", folder / "study", "--device", "cpu"],
        env=environment, check=True, capture_output=True,
    )  # fmt: skip
    return folder


def killed(environment, looks, seconds, *arguments):
    """Runs the command line; True if it was killed before it had finished."""
    code = [sys.executable, TESTS / "dying.py", "after", str(looks), str(seconds), *map(str, arguments)]
    done = subprocess.run(code, env=environment, capture_output=True, text=True)
    assert done.returncode in (0, -signal.SIGKILL), done.stderr
    return done.returncode != 0


def sweep_under_fire(reference, environment, path, kills, longest, seed):
    """Kills one sweep so many times at random moments, and finishes it."""
    order = random.Random(seed)
    arguments = ["sweep", reference / "study.toml", "--out", path, "--resume", "--device", "cpu"]
    kept, done_at_kill = {}, []
    for kill in range(kills):
        early = kill % 7 == 3  # while it starts: reading, locking, compiling
        looks, seconds = (0, order.uniform(0.2, 2.0)) if early else (order.randint(1, longest), order.uniform(0, 0.01))
        assert killed(environment, looks, seconds, *arguments), "finished too early: make the study longer"
        runs = path / "runs"
        there = {file.name: file.read_bytes() for file in runs.glob("[!.]*.json")} if runs.is_dir() else {}
        assert kept.items() <= there.items()  # nothing that was done is lost, or done again
        kept = there
        done_at_kill.append(len(there))
    code = subprocess.run([*COMMAND, *arguments], env=environment, capture_output=True, text=True, check=True)
    assert "not used" not in code.stderr
    assert kept.items() <= {file.name: file.read_bytes() for file in (path / "runs").iterdir()}.items()
    assert contents(path) == contents(reference / "study")
    return done_at_kill


def test_three_kills(reference, environment, tmp_path):
    sweep_under_fire(reference, environment, tmp_path / "study", 3, 8, seed=1)


def test_two_simulated_devices_give_the_same_bits(reference, environment, tmp_path):
    """Tiles are spread over all devices of a kind; which one trained a member changes nothing in what is left of it."""
    two = environment | {"XLA_FLAGS": "--xla_force_host_platform_device_count=2"}
    code = "import jax; assert len(jax.devices()) == 2; " + COMMAND[2]
    arguments = ["sweep", reference / "study.toml", "--out", tmp_path / "study", "--device", "cpu"]
    subprocess.run([sys.executable, "-c", code, *arguments], env=two, check=True, capture_output=True)
    assert contents(tmp_path / "study") == contents(reference / "study")


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
def test_twenty_kills(reference, environment, tmp_path, seed):
    done = sweep_under_fire(reference, environment, tmp_path / "study", 20, 6, seed)
    assert len(done) == 20
    assert done == sorted(done)


def test_a_kill_before_every_file_operation(tmp_path):
    """Not at random: the sweep of two runs dies before each of its operations on files once, without training."""
    program = [sys.executable, TESTS / "dying.py", "points", tmp_path]
    done = subprocess.run(program, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(found) > 30
    assert {one["done"] for one in found} == {0, 1, 2}  # kills fell between all runs
    for one in found:
        assert one | {"done": 0} == {"done": 0, "broken": {}, "redone": [], "lost": [], "same": True, "complete": True}


def interrupted(reference, environment, path, times):
    """Sends Ctrl-C when training is about to begin."""
    program = [*COMMAND, "sweep", "study.toml", "--out", path, "--device", "cpu"]
    process = subprocess.Popen(
        program, env=environment, cwd=reference, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        until = time.monotonic() + 120
        while not (path / "checkpoints").is_dir() and process.poll() is None and time.monotonic() < until:
            time.sleep(0.005)
        for _ in range(times):
            process.send_signal(signal.SIGINT)
            time.sleep(0.2)
        out, said = process.communicate(timeout=120)
    finally:
        process.kill()
    assert process.returncode == 130, said
    assert out == ""
    return said


def test_ctrl_c_leaves_a_study_that_resume_finishes(reference, environment, tmp_path):
    path = tmp_path / "study"
    said = interrupted(reference, environment, path, 1)
    assert "stopping at the next checkpoint" in said
    assert "Traceback" not in said
    assert list((path / "checkpoints").iterdir())
    [command] = [line.split("continue with: ")[1] for line in said.splitlines() if "continue with: " in line]
    assert command.startswith("lengthwise sweep ")
    again = [*COMMAND, *command.split()[1:], "--device", "cpu", "--json"]
    done = subprocess.run(again, env=environment, capture_output=True, text=True, check=True)
    fields = json.loads(done.stdout)
    assert fields["runs"] == fields["done"] == 8
    assert contents(path) == contents(reference / "study")


def test_a_second_ctrl_c_stops_at_once(reference, environment, tmp_path):
    path = tmp_path / "study"
    said = interrupted(reference, environment, path, 2)
    assert "continue with: lengthwise sweep " in said.splitlines()[-1]  # after "; " where the first one was quicker


FULL = """
import json, subprocess, sys
from pathlib import Path
sys.path.insert(0, sys.argv[2])
import lengthwise as lw
from study_helpers import contents, sweep
place, size = Path(sys.argv[1]), 0
subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", place], check=True)
ballast, path = place / "ballast", place / "study"
outcomes = []
for room in (0, 4096, 12288, 24576, 40960, 65536, 102400, 10**6):
    free = sum(f.stat().st_size for f in place.rglob("*") if f.is_file() and f != ballast)
    try:
        ballast.unlink(missing_ok=True)
        with ballast.open("wb", buffering=0) as file:
            while file.write(b"x" * 4096): pass
    except OSError:
        pass
    with ballast.open("r+b") as file:
        file.truncate(max(0, ballast.stat().st_size - room))
    try:
        outcomes.append((0, sweep(path, resume=True).done, ""))
    except lw.MachineStopped as stop:
        outcomes.append((stop.exit_code, len(list((path / "runs").glob("[!.]*.json"))), str(stop)))
ballast.unlink()
for mode in ("ro", "rw"):
    subprocess.run(["mount", "-o", f"remount,{mode}", place], check=True)
    try:
        outcomes.append((0, sweep(path, resume=True).done, ""))
    except lw.MachineStopped as stop:
        outcomes.append((stop.exit_code, len(list((path / "runs").glob("[!.]*.json"))), str(stop)))
sweep(Path(sys.argv[3]))
print(json.dumps([outcomes, contents(path) == contents(Path(sys.argv[3]))]))
"""


def test_a_disk_that_is_full_and_a_disk_that_cannot_be_written(tmp_path):
    """A real one of a megabyte, in a mount namespace of its own: with ever more room, then read only."""
    (tmp_path / "disk").mkdir()
    arguments = [sys.executable, "-c", FULL, tmp_path / "disk", TESTS, tmp_path / "reference"]
    if subprocess.run(["unshare", "-m", "true"], capture_output=True).returncode:
        pytest.skip("no mount namespaces here")
    done = subprocess.run(["unshare", "-m", *arguments], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    outcomes, same = json.loads(done.stdout)
    *full, read_only, good = outcomes
    codes = [code for code, _, _ in full]
    assert codes == sorted(codes, reverse=True)  # until there is room enough
    assert (codes[0], codes[-1]) == (3, 0)
    counts = [count for _, count, _ in full]
    assert counts == sorted(counts)
    assert counts[-1] == 8
    assert any(0 < count < 8 for count in counts)
    for _, count, said in full[: codes.count(3)]:
        assert "No space left" in said
        if count:
            assert f"{count} finished runs are kept" in said
    assert read_only[:2] == [3, 8]
    assert "Read-only" in read_only[2]
    assert good == [0, 8, ""]
    assert same
