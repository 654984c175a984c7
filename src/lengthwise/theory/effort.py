"""How much a search may do, and how it went: evaluations, restarts, and the best error by evaluations."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from jaxtyping import Float

SAME = 1e-12  # an error that is larger by no more than this is no other error: the shorter string stays


@dataclass(frozen=True)
class Progress:
    """How far a search is."""

    done: int
    total: int
    best: float

    @property
    def note(self) -> str:
        """The best error so far."""
        return f"largest error {self.best:.4g}"


@dataclass(frozen=True)
class Effort:
    """What a search may spend: so many evaluations from a seed; with `seconds`, no new ones after that time.

    Two searches of one seed are the same if no time is given. report: told of the progress now and then.
    """

    evaluations: int
    seed: int = 0
    seconds: float | None = None
    report: Callable[[Progress], None] | None = None


@dataclass
class Tally:
    """What a search has spent and found; `best` is whatever the search keeps of its best string."""

    effort: Effort
    evaluations: int = 0
    restarts: int = 0
    error: float = -np.inf
    best: Any = None
    trace: list[tuple[int, float]] = field(default_factory=list)
    started: float = field(default_factory=time.monotonic)

    @property
    def left(self) -> int:
        """How many evaluations are left; 0 after the time."""
        late = self.effort.seconds is not None and time.monotonic() - self.started > self.effort.seconds
        return 0 if late else max(0, self.effort.evaluations - self.evaluations)

    def add(self, errors: Float[np.ndarray, " batch"], kept: Callable[[int], Any]) -> None:
        """Counts a batch of evaluated strings; if one of them is the worst so far, keeps kept(its number)."""
        if not len(errors):
            return
        errors = np.where(np.isnan(errors), np.inf, errors)  # an output that is no number is as wrong as can be
        place = int(np.argmax(errors))
        worst = float(errors[place])
        if worst > self.error and not worst - self.error <= SAME * abs(worst) < np.inf:
            self.error, self.best = worst, kept(place)
            self.trace.append((self.evaluations + place + 1, worst))
        self.spend(len(errors))

    def spend(self, evaluations: int) -> None:
        """Counts evaluations that are no strings: relaxations."""
        self.evaluations += evaluations
        if self.effort.report is not None:
            self.effort.report(Progress(self.evaluations, self.effort.evaluations, self.error))
