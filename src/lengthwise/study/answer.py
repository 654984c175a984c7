"""What a forecast says: the required length, how sure it is, and what the check showed; as a sentence and as fields."""

import json
import math
from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np

from lengthwise.config import Model, Training
from lengthwise.study.bracket import Round, certain, undertrained
from lengthwise.study.curves import METRICS, Metric, Series
from lengthwise.study.guarantee import Theory
from lengthwise.study.held_out import HeldOut
from lengthwise.study.machine import versions
from lengthwise.study.measure import required_length
from lengthwise.tasks.registry import task
from lengthwise.verdict.predict import predict

WORDS: dict[Metric, str] = {"loss": "a mean squared error", "error": "a worst absolute error"}
WHOLE = 1e-9  # a crossing at 14 is 14, whatever its last bit
NO_REPORT = "a report is not part of this version"


@dataclass(frozen=True)
class Found:
    """The answer so far. length: the first whole training length that suffices; None: not reached.

    censored: "at most" where every trained length suffices, "not reached" where none does. trained: the shortest and the
    longest. safe: a training length that suffices with near certainty. sure: whether seeds are enough for
    `lower` to `upper` to be 95 %. reason: why there is no length, or no interval.
    """

    length: int | None
    censored: str
    lower: int | None
    upper: int | None
    safe: int
    sure: bool
    trained: tuple[int, int]
    reason: str

    @property
    def between(self) -> str:
        """The interval in words, or nothing."""
        if self.lower is None and self.upper is None:
            return ""
        low = f"below {self.trained[0]}" if self.lower is None else f"{self.lower}"
        high = f"above {self.trained[1]}" if self.upper is None else f"{self.upper}"
        return f" (95 %: {low} to {high})" if self.sure else f" (roughly {low} to {high}, from few seeds)"


def found(known: Series, threshold: float, metric: Metric) -> Found:
    """What the members known so far say."""
    need = required_length(known, threshold)
    shortest, longest = known.lengths[0], known.lengths[-1]
    if need.censored:
        length = need.bound if need.censored == "at most" else None
        reason = need.interval_reason or f"it is {need.sentence}"
        if need.censored == "not reached":
            reason = _why_not(known, threshold, metric)
        return Found(length, need.censored, None, None, need.bound, False, (shortest, longest), reason)
    assert need.length is not None
    lower, upper = (None if end is None else math.ceil(end - WHOLE) for end in (need.lower, need.upper))
    sure = certain(known, need, threshold)
    few = "" if sure else "fewer than 8 seeds around it: rougher than 95 %"
    reason = "; ".join(part for part in (need.interval_reason, few) if part)
    length = math.ceil(need.length - WHOLE)
    return Found(length, "", lower, upper, upper or longest, sure, (shortest, longest), reason)


def _why_not(known: Series, threshold: float, metric: Metric) -> str:
    last = f"with training lengths up to {known.lengths[-1]} the median over seeds is {known.medians[-1]:.2g}"
    if undertrained(known, threshold, metric):
        return f"{last}, and training itself stays above the threshold: more --steps may help"
    return last


@dataclass(frozen=True, eq=False)
class Forecast:
    """The forecast of one task; prints as its sentence. budget_spent: seconds."""

    task: str
    metric: Metric
    threshold: float
    found: Found
    held_out: HeldOut | None
    held_out_reason: str
    failed_checks: tuple[HeldOut, ...]
    theory: Theory
    known: Series
    rounds: tuple[Round, ...]
    model: Model
    training: Training
    seed: int
    budget: float
    budget_spent: float
    exhausted: bool
    device: str
    directory: str | None

    @property
    def required_length(self) -> int | None:
        """The first training length that suffices, or an upper bound where `found.censored` says so; None: not reached."""
        return self.found.length

    @property
    def interval(self) -> tuple[int | None, int | None]:
        """Its interval over seeds; None where it is open."""
        return self.found.lower, self.found.upper

    @property
    def holds(self) -> bool:
        """Whether the threshold is reached and no check speaks against it."""
        return self.found.length is not None and (self.held_out is None or self.held_out.holds)

    @property
    def sentence(self) -> str:
        """The answer in words."""
        aim = f"{WORDS[self.metric]} of {self.threshold:g} at every longer length"
        if self.found.length is None:
            within = f" within the budget of {self.budget:g} s" if self.exhausted else ""
            return f"Not reached{within}: {aim}; {self.found.reason}."
        if self.found.censored:
            least = task(self.task).shortest == self.found.length
            fewer = "the least there are, are enough" if least else "are enough, and shorter ones may be,"
            said = f"Training lengths up to {self.found.length}{',' if least else ''} {fewer} for {aim}"
        else:
            said = f"Train on lengths up to about {self.found.length}{self.found.between} for {aim}"
        return f"{said}; {self.held_out.sentence if self.held_out else self.held_out_reason}."

    def fields(self) -> dict[str, Any]:
        """What the verb prints with --json."""
        worst = self.held_out.worst_error if self.held_out else None
        reason = self.found.reason or None
        return {
            "sentence": self.sentence,
            "task": self.task,
            "required_length": self.found.length,
            "required_length_reason": reason if self.found.length is None else None,
            "censored": self.found.censored or None,
            "interval": list(self.interval),
            "interval_reason": reason if self.found.length is not None else "there is no length",
            "metric": f"{self.metric}: {METRICS[self.metric]}",
            "threshold": self.threshold,
            "averaged": "median over seeds, of the largest value at longer test lengths",
            "held_out": self.held_out.fields() if self.held_out else None,
            "held_out_reason": self.held_out_reason or None,
            "failed_checks": [check.fields() for check in self.failed_checks],
            "worst_error": worst if worst is None or math.isfinite(worst) else None,
            "worst_error_reason": self.held_out_reason or (None if worst != math.inf else "a seed diverged"),
            "theory": self.theory.fields(),
            "theory_reason": self.theory.reason or None,
            "prediction": predict(task(self.task), name=self.task).fields(),
            "prediction_reason": None,
            "report": None,
            "report_reason": NO_REPORT,
            "budget": self.budget,
            "budget_spent": self.budget_spent,
            "medians": [_median(self.known, place) for place in range(len(self.known.lengths))],
            "rounds": [{"training_lengths": list(one.lengths), "seeds": one.seeds} for one in self.rounds],
            "model": msgspec.to_builtins(self.model),
            "training": msgspec.to_builtins(self.training),
            "directory": self.directory,
            "seed": self.seed,
            "device": self.device,
            "versions": versions(),
        }

    def to_json(self) -> str:
        """The fields as a JSON object."""
        return json.dumps(self.fields())

    def __str__(self) -> str:
        """Its sentence."""
        return self.sentence


def _median(known: Series, place: int) -> dict[str, Any]:
    """One training length with its median, its seeds and the loss that training ended with."""
    length, value = known.lengths[place], float(known.medians[place])
    group = known.members[length]
    trained = float(np.median([one.training_loss for one in group]))
    numbers = {"median": value, "training_loss": trained}
    fields: dict[str, Any] = {"training_length": length, "seeds": len(group)}
    for name, number in numbers.items():
        fields |= {name: number} if math.isfinite(number) else {name: None, f"{name}_reason": "infinite"}
    return fields
