"""A study directory as answers need it: its study, the runs that are done, and the machine that made them."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lengthwise.errors import WrongInput
from lengthwise.study.curves import Metric, member
from lengthwise.study.measurement import Measurement, measured
from lengthwise.study.plan import Study
from lengthwise.study.runfile import Finished
from lengthwise.study.store import Store


@dataclass(frozen=True)
class Directory:
    """What a study directory holds."""

    path: Path
    study: Study
    finished: Mapping[str, Finished]

    @property
    def whole(self) -> bool:
        """Whether every run is done."""
        return len(self.finished) == self.study.members

    @property
    def device(self) -> str:
        """The device, or devices, that the runs were made on."""
        return ", ".join(sorted({str(one.made.get("device", "unknown")) for one in self.finished.values()}))

    @property
    def versions(self) -> dict[str, str]:
        """The versions that the runs were made with; more than one of a library are listed."""
        found: dict[str, dict[str, None]] = {}
        for one in self.finished.values():
            for name, version in dict(one.made.get("versions", {})).items():
                found.setdefault(name, {})[str(version)] = None
        return {name: ", ".join(versions) for name, versions in found.items()}

    @property
    def seconds(self) -> float:
        """The machine's time for all runs together."""
        return sum(float(one.made.get("seconds") or 0.0) for one in self.finished.values())

    def measurement(self, metric: Metric = "loss") -> Measurement:
        """The curves of the runs that are done."""
        return measured((member(one) for one in self.finished.values()), metric)

    def origin(self) -> dict[str, Any]:
        """What every answer from this directory says of where it comes from."""
        return {
            "study": self.study.name,
            "directory": str(self.path),
            "runs": self.study.members,
            "done": len(self.finished),
            "seeds": self.study.seeds,
            "device": self.device,
            "versions": self.versions,
        }


def read(path: str | os.PathLike[str], say: Callable[[str], None] | None = None) -> Directory:
    """A study directory with at least one finished run; a run file that is not whole is named and left out.

    Weights that are not there, because a directory was archived without them, are missed only where they are looked at.
    """
    store = Store(Path(path))
    study = store.study()
    finished = store.finished(study.runs(), say, weights=False)
    if not finished:
        raise WrongInput("a study with at least one finished run", "none", "run lengthwise sweep first", str(path))
    return Directory(store.path, study, finished)


def measure(study: Study | str | os.PathLike[str], metric: Metric = "loss") -> Measurement:
    """The measurement of a study directory, or of a study that was swept into the folder of its name.

    metric: "loss" is the mean squared error, "error" the worst absolute error over the test strings.
    """
    return read(study.name if isinstance(study, Study) else study).measurement(metric)
