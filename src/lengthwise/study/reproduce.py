"""A published figure from its study to its claims: train what is not trained, measure, draw, judge."""

import json
import math
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lengthwise.study.machine import Trainer
from lengthwise.study.plan import Study, differences
from lengthwise.study.published import published
from lengthwise.study.report import Report, report
from lengthwise.study.store import Say, Store
from lengthwise.study.sweep import sweep


@dataclass(frozen=True)
class Reproduced:
    """A figure, reproduced: the report of its study."""

    figure: str
    scale: str
    report: Report

    @property
    def holds(self) -> bool:
        """Whether no required claim is false."""
        return not self.report.failed

    def fields(self) -> dict[str, Any]:
        """What the verb prints with --json."""
        known = self.report.fields()
        return {"figure": self.figure, "scale": self.scale, "claims": self.report.claim_fields()} | known

    def to_json(self) -> str:
        """The fields as a JSON object."""
        return json.dumps(_finite(self.fields()), allow_nan=False)

    def __str__(self) -> str:
        """The outcome in a sentence."""
        claims = self.report.claims
        count = [sum(claim.holds is verdict for claim in claims) for verdict in (True, False, None)]
        said = f"{self.figure} ({self.scale}): {count[0]} claims hold, {count[1]} fail, {count[2]} cannot be judged"
        return f"{said}; see {self.report.page}"


def reproduce(
    name: str,
    scale: str = "quick",
    out: str | os.PathLike[str] | None = None,
    *,
    resume: bool = False,
    device: str = "auto",
    progress: Callable[[Any], None] | None = None,
    say: Say | None = None,
    should_stop: Callable[[], bool] | None = None,
    trainer: Trainer | None = None,
) -> Reproduced | None:
    """Reproduces a figure in the folder `out` (else NAME-SCALE); a finished study there is measured, not trained.

    None if `should_stop` ended the training before its end; `resume` continues it.
    """
    study = published(name, scale)
    path = Path(study.name if out is None else out)
    if not finished(study, path):
        told = {"progress": progress, "say": say, "should_stop": should_stop}
        swept = sweep(study, path, resume=resume, device=device, trainer=trainer, **told)  # type: ignore[arg-type]
        if not swept.complete:
            return None
    return Reproduced(name, scale, report(path, say))


def finished(study: Study, path: Path) -> bool:
    """Whether a folder holds this study with every run done and whole."""
    store = Store(path)
    if not (path / "study.toml").is_file() or differences(store.study(), study):
        return False
    runs = study.runs()
    return len(store.finished(runs)) == len(runs)


def _finite(value: Any) -> Any:
    """The value with null for every number that is not finite."""
    if isinstance(value, dict):
        return {name: _finite(entry) for name, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(entry) for entry in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
