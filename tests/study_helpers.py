"""Studies for tests: a small one, a trainer that computes nothing, and curves made to order."""

import json
import sqlite3
from contextlib import closing
from dataclasses import dataclass
from typing import Any

import numpy as np

import lengthwise as lw
from lengthwise.study.curves import Member
from lengthwise.study.machine import Trainer
from lengthwise.study.plan import Study
from lengthwise.train.checkpoint import Saved, read_checkpoint, write_checkpoint

TEXT = """\
task = "simple"
lengths = [6, 12]
seeds = 2
tile = 4
[grid]
omega = [1, 2]
[model]
width = 4
units = 16
[training]
batch = 16
steps = 200
chunk = 10
[testing]
lengths = [10, 1000]
samples = 64
"""
STEPS = 3


@dataclass(frozen=True)
class Result:
    """What train.ensemble.Result has; these helpers import no JAX, so that a process may fork."""

    curve: list[tuple[int, float, float]]
    steps: int
    training_loss: float
    ended: str
    weights: Any
    history: list[float]
    seconds: float


@dataclass(frozen=True)
class Progress:
    """What train.ensemble.Progress has."""

    done: int
    total: int
    steps_per_second: float
    seconds_left: float


def study(*settings):
    """The small study, changed as --set does."""
    return Study.parse(TEXT, "study.toml", settings)


def result(run, curve=None, ended="steps"):
    """What training would leave of a run: numbers that depend on its id alone."""
    generator = np.random.default_rng([int(run.id, 16), 1])
    loss = [float(value) for value in generator.random(STEPS)]
    key, query, value = generator.random((3, 4, 4))
    weights = lw.LimitTransformer(
        embedding=generator.random((3, 4)),
        layers=[lw.Layer([lw.Head(key, query, value, [])])],
        unembedding=generator.random((1, 4)),
        attention="plain",
    )
    curve = curve or [(length, loss[0], 2 * loss[0]) for length in run.testing.lengths]
    return Result(curve, STEPS, loss[-1], ended, weights, loss, 0.1)


def lay(runs, *, finished, checkpoints=None, progress=None, should_stop=None, say=None):
    """Keeps the promises of a trainer: a step and a checkpoint at a time, what was kept is taken up again."""
    for done, run in enumerate(runs):
        saved = read_checkpoint(checkpoints, run.id, say)
        for step in range(len(saved.history) if saved else 0, STEPS):
            if should_stop is not None and should_stop():
                return
            write_checkpoint(checkpoints, run.id, Saved({"step": np.int32(step)}, (0.5,) * (step + 1)))
            if progress is not None:
                progress(Progress(done, len(runs), 1.0, 1.0))
        finished(run, result(run))
        (checkpoints / f"{run.id}.safetensors").unlink(missing_ok=True)


NOTHING = Trainer(lay, "nothing", lambda run: None)


def sweep(path, *settings, **options):
    """The small study swept without computing."""
    return lw.sweep(study(*settings), path, **({"trainer": NOTHING} | options))


def contents(path):
    """What a sweep leaves, by name, bit for bit; of a run's file the signed part; the index as its dump."""
    found = {}
    for file in sorted(path.rglob("*")):
        name = str(file.relative_to(path))
        if file.suffix == ".json":
            found[name] = {key: value for key, value in json.loads(file.read_bytes()).items() if key != "made"}
        elif file.suffix == ".sqlite":
            with closing(sqlite3.connect(file)) as database:
                made = "seconds, device, date"
                names = [
                    row[1] for row in database.execute("PRAGMA table_info(runs)") if row[1] not in made.split(", ")
                ]
                runs = database.execute(f"SELECT {', '.join(names)} FROM runs ORDER BY id").fetchall()
                found[name] = runs, database.execute("SELECT * FROM curves ORDER BY id, length").fetchall()
        elif file.is_file():
            found[name] = file.read_bytes()
    return found


def member(
    loss,
    lengths=(10_000, 100_000, 1_000_000),
    *,
    longest=8,
    seed=0,
    training_loss=1e-6,
    worst=None,
    stop=0.0,
    **settings,
):
    """A trained member with a given curve."""
    loss = (loss,) * len(lengths) if isinstance(loss, (int, float)) else tuple(loss)
    known = {"attention": "plain"} | settings
    worst = tuple(4 * value for value in loss) if worst is None else tuple(worst)
    name = "-".join(map(str, (*known.values(), longest, seed)))
    return Member(name, "simple", known, longest, seed, tuple(lengths), loss, worst, training_loss, "loss", stop)
