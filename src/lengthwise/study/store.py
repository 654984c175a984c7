"""A study directory: nothing in it is ever half written, and what someone else broke is found and named.

study.toml          the study with nothing left out
runs/ID.json        one finished run; it is done when this file is in place
weights/ID.safetensors       its model, in place before the run's file
checkpoints/ID.safetensors   the state of a run that is not finished
index.sqlite        derived from the runs
lock                the process id of the sweep at work, if there is one
"""

import hashlib
import os
import re
import sqlite3
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

from lengthwise.config import Run
from lengthwise.errors import MachineStopped, WrongInput
from lengthwise.limit.model import LimitTransformer
from lengthwise.limit.storage import load, save, write_aside
from lengthwise.study.index import write_index
from lengthwise.study.lock import locked
from lengthwise.study.plan import Study, differences
from lengthwise.study.runfile import Damaged, Finished, Trained, decoded, encoded

OURS = {"study.toml", "runs", "weights", "checkpoints", "figures", "report.html", "index.sqlite", "lock"}
_ASIDE = re.compile(r"\..+\.[0-9a-f]+(-journal)?")
Say = Callable[[str], None]


class Store(NamedTuple):
    """The places in a study directory."""

    path: Path

    @property
    def runs(self) -> Path:
        """One JSON file a finished run."""
        return self.path / "runs"

    @property
    def weights(self) -> Path:
        """One model file a finished run."""
        return self.path / "weights"

    @property
    def checkpoints(self) -> Path:
        """States of unfinished runs."""
        return self.path / "checkpoints"

    def study(self) -> Study:
        """The study that this directory holds."""
        if not self.path.is_dir():
            raise WrongInput("a study directory", "no such folder", "check the path", str(self.path))
        return Study.load(self.path / "study.toml")

    def model(self, run_id: str) -> LimitTransformer:
        """The trained model of a run."""
        return load(self.weights / f"{run_id}.safetensors")

    def has_model(self, run_id: str) -> bool:
        """Whether a run's weights are here."""
        return (self.weights / f"{run_id}.safetensors").is_file()

    def finished(
        self, runs: Collection[Run] | None = None, say: Say | None = None, weights: bool = True
    ) -> dict[str, Finished]:
        """The runs that are done, by id, in the study's order; a file that is not whole is named and left out.

        weights: whether a run's weights must be there. Curves can be read without them; where they are, they must fit.
        """
        found, broken = self.examined(self.study().runs() if runs is None else runs, weights)
        for run_id, reason in broken.items():
            if say is not None:
                say(f"{self.runs / run_id}.json is not used and its run counts as not done: {reason}")
        return found

    def examined(self, runs: Collection[Run], weights: bool = True) -> tuple[dict[str, Finished], dict[str, str]]:
        """The runs that are done, and those whose file is not whole with the reason, by id."""
        found: dict[str, Finished] = {}
        broken: dict[str, str] = {}
        for run in runs:
            try:
                one = self._read(run.id, weights)
            except (Damaged, WrongInput) as error:
                broken[run.id] = f"{error}"
                continue
            if one is not None:
                found[run.id] = one
        return found, broken

    def keep(self, run: Run, trained: Trained, made: Mapping[str, Any]) -> None:
        """Puts a finished run in place: first its weights, then its file, which makes it done."""
        path = self.weights / f"{run.id}.safetensors"
        save(trained.weights, path)
        write_aside(self.runs / f"{run.id}.json", encoded(run, trained, _digest(path), made))

    def _read(self, run_id: str, weights: bool) -> Finished | None:
        path = self.runs / f"{run_id}.json"
        try:
            content = path.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise Damaged(f"it cannot be read ({error.strerror})") from None
        one = decoded(content, run_id)
        model = self.weights / f"{run_id}.safetensors"
        if not weights and not model.exists():
            return one
        try:
            whole = _digest(model) == one.weights_checksum
        except OSError as error:
            raise Damaged(f"its weights cannot be read ({error.strerror})") from None
        if not whole:
            raise Damaged("the checksum of its weights does not fit")
        return one


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


@contextmanager
def opened(study: Study, path: Path, resume: bool) -> Iterator[Store]:
    """The directory of a study, made or taken up again, and held against other sweeps while the body runs."""
    store = Store(path)
    _check_place(path)
    try:
        path.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError, ValueError):
        raise WrongInput("a path for a folder", "a file on the way", "choose another place", str(path)) from None
    except OSError as error:
        raise MachineStopped("to make a folder", f"{error.strerror}", "choose another place", str(path)) from None
    with locked(path / "lock"):
        if (path / "study.toml").exists():
            _check_same(store, study, resume)
        else:
            write_aside(path / "study.toml", study.toml().encode())
        yield store


def _check_place(path: Path) -> None:
    """A folder with other people's things is not ours to write into."""
    try:
        names = {name for name in os.listdir(path) if not _ASIDE.fullmatch(name)}
    except (OSError, ValueError):
        return  # it is not there yet, or making it will say what is wrong
    if "study.toml" not in names and names - OURS:
        got = f"a folder that holds {min(names - OURS)} and no study.toml"
        raise WrongInput("a new folder, or one that a sweep has made", got, "choose another with --out", str(path))


def _check_same(store: Store, study: Study, resume: bool) -> None:
    differ = differences(store.study(), study)
    if differ:
        remedy = "choose another folder with --out, or undo the change"
        raise WrongInput("the study that this folder holds", "; ".join(differ), remedy, str(store.path))
    if not resume:
        remedy = "--resume continues the study there; --out names another folder"
        raise WrongInput("a folder without a study", "one with this study", remedy, str(store.path))


def tidy(store: Store, done: Collection[str]) -> None:
    """Removes what a killed sweep left: files written aside, checkpoints of runs that are done."""
    for folder in (store.path, store.runs, store.weights, store.checkpoints):
        for path in folder.glob(".*.*") if folder.is_dir() else ():
            if _ASIDE.fullmatch(path.name):
                path.unlink(missing_ok=True)
    for run_id in done:
        (store.checkpoints / f"{run_id}.safetensors").unlink(missing_ok=True)


def foreign(store: Store, runs: Collection[Run]) -> list[Path]:
    """Files among runs and checkpoints that belong to no run of the study."""
    names = {f"{run.id}{suffix}" for run in runs for suffix in (".json", ".safetensors")}
    found: list[Path] = []
    for folder in (store.runs, store.checkpoints):
        with suppress(OSError):
            found += sorted(path for path in folder.iterdir() if path.name not in names)
    return [path for path in found if not _ASIDE.fullmatch(path.name)]


def rebuild_index(path: str | os.PathLike[str], say: Say | None = None, weights: bool = True) -> Path:
    """Writes index.sqlite of a study directory anew from its run files, and returns its path."""
    store = Store(Path(path))
    target = store.path / "index.sqlite"
    results = store.finished(say=say, weights=weights)
    try:
        write_index(target, results.values())
    except (OSError, sqlite3.OperationalError) as error:
        raise MachineStopped("to write the index", f"{error}", "free the disk and try again", str(target)) from None
    return target
