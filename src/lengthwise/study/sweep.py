"""Runs a study: what is done is read, what is not is trained, every finished run is put in place at once."""

import dataclasses
import json
import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from lengthwise.config import Run
from lengthwise.errors import MachineStopped, WrongInput, nearest, shown
from lengthwise.study.machine import DEVICES, Trainer, ensemble_on, versions
from lengthwise.study.plan import Study
from lengthwise.study.runfile import Trained
from lengthwise.study.store import Say, Store, foreign, opened, rebuild_index, tidy


@dataclass(frozen=True)
class Swept:
    """How far a sweep came. failed: the diverged runs. redone: runs whose file was not whole."""

    study: Study
    directory: Path
    runs: int
    done: int
    failed: list[Run]
    redone: list[str]
    device: str

    @property
    def complete(self) -> bool:
        """Whether every run is done."""
        return self.done == self.runs

    def fields(self) -> dict[str, Any]:
        """What the verb prints with --json."""
        failed = [{"id": run.id, "task": run.task, "longest": run.longest, "seed": run.seed} for run in self.failed]
        return {
            "study": self.study.name,
            "directory": str(self.directory),
            "runs": self.runs,
            "done": self.done,
            "failed": failed,
            "redone": self.redone,
            "seeds": self.study.seeds,
            "device": self.device,
            "versions": versions(),
        }

    def to_json(self) -> str:
        """The fields as a JSON object."""
        return json.dumps(self.fields())

    def __str__(self) -> str:
        """The outcome in a sentence."""
        said = f"{self.done} of {self.runs} runs of {self.study.name} are done, in {self.directory}"
        if not self.failed:
            return said
        return f"{said}; {len(self.failed)} diverged: {', '.join(map(str, self.failed))}"


def sweep(
    study: Study,
    out: str | os.PathLike[str] | None = None,
    *,
    resume: bool = False,
    device: str = "auto",
    progress: Callable[[Any], None] | None = None,
    say: Say | None = None,
    should_stop: Callable[[], bool] | None = None,
    trainer: Trainer | None = None,
    weights: bool = True,
) -> Swept:
    """Trains every run of a study that is not done yet, into the folder `out` (else one with the study's name).

    resume: continue the study that the folder holds. progress: told how far it is (train.ensemble.Progress, counting
    all runs of the study). say: told of files that are not used. should_stop: asked between chunks of steps.
    weights: whether a run of an earlier sweep needs its weights to count as done, or its curve will do.
    """
    if device not in DEVICES:
        raise WrongInput("a kind of device", shown(device), f"nearest: {nearest(device, list(DEVICES))[0]}", "device")
    path = Path(study.name if out is None else out)
    runs = study.runs()
    using = trainer or ensemble_on(device)
    for run in runs:
        using.check(run)
    with opened(study, path, resume) as store:
        try:
            return _train(study, store, runs, using, progress, say or _nobody, should_stop, weights)
        except MachineStopped as stop:
            raise MachineStopped(stop.wanted, stop.got, _kept(stop.remedy, store), stop.where) from stop
        except OSError as error:
            reason, where = error.strerror or str(error), str(error.filename or path)
            remedy = _kept("free the disk or repair the folder", store)
            raise MachineStopped("to read and write the study", reason, remedy, where) from error


def _train(
    study: Study,
    store: Store,
    runs: list[Run],
    using: Trainer,
    progress: Callable[[Any], None] | None,
    say: Say,
    should_stop: Callable[[], bool] | None,
    weights: bool,
) -> Swept:
    results, broken = store.examined(runs, weights)
    for run_id, reason in broken.items():
        say(f"{store.runs / run_id}.json is not used and its run is done again: {reason}")
    for path in foreign(store, runs):
        say(f"{path} belongs to no run of this study and is not used")
    tidy(store, results)
    before, done, made_with = len(results), set(results), versions()
    failed = [run for run in runs if run.id in results and results[run.id].diverged]

    def keep(run: Run, trained: Trained) -> None:
        now = datetime.now(UTC).isoformat(timespec="seconds")
        made = {"seconds": trained.seconds, "device": using.device, "versions": made_with, "date": now}
        store.keep(run, trained, made)
        done.add(run.id)
        if trained.ended == "diverged":
            failed.append(run)

    def forward(told: Any) -> None:
        if progress is not None:
            progress(dataclasses.replace(told, done=told.done + before, total=len(runs)))

    left = [run for run in runs if run.id not in results]
    if left:
        store.checkpoints.mkdir(exist_ok=True)
        using.train(
            left, finished=keep, checkpoints=store.checkpoints, progress=forward, should_stop=should_stop, say=say
        )
    rebuild_index(store.path, weights=weights)
    return Swept(study, store.path, len(runs), len(done), failed, list(broken), using.device)


def _nobody(message: str) -> None:
    """Hears nothing."""


def _kept(remedy: str, store: Store) -> str:
    """The remedy, and what is not lost."""
    count = 0
    with suppress(OSError):
        count = sum(1 for _ in store.runs.glob("[!.]*.json"))
    return f"{remedy}; {count} finished runs are kept, --resume continues"
