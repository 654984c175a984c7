"""What every task provides, and what one layer may be told about a string instead of the string."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, SupportsInt, runtime_checkable

import numpy as np
from jaxtyping import Float, Int

from lengthwise.limit.model import LimitTransformer
from lengthwise.type_counts import Statistics as Statistics

Draw = Callable[[Any], Any]  # draw(bounds): independent uniform integers in [0, bound), one for each entry


@dataclass(frozen=True)
class Known:
    """Constants of a task's solution by hardmax attention; None where there is none to state."""

    sensitivity: float | None
    margin: float | None
    period: int
    source: str


@runtime_checkable  # isinstance: for the shape checks of the tests
class Task(Protocol):
    """What every task says of itself."""

    name: ClassVar[str]

    @property
    def symbols(self) -> int:
        """Size of the vocabulary."""

    @property
    def period(self) -> int:
        """Period of the positions that the target reads."""

    @property
    def locality(self) -> int:
        """Largest offset from the end whose token the target reads."""

    @property
    def shortest(self) -> int:
        """Least length of a string."""

    def strings(self, generator: np.random.Generator, length: int, count: int) -> Int[np.ndarray, "count length"]:
        """Strings of one length from the task's law."""

    def known(self) -> Known:
        """What is known of its solution."""

    def construction(self) -> LimitTransformer:
        """Weights that solve the task on all long strings."""


@runtime_checkable
class RegressionTask(Task, Protocol):
    """A real-valued target at the last position of a string.

    Parameters named in `traced` are numbers that may be traced (one compiled program serves all their values);
    the others change shapes.
    """

    traced: ClassVar[tuple[str, ...]]

    def target(self, string: Iterable[SupportsInt]) -> float:
        """The exact target of one string."""

    def statistics(self, length: Int[Any, " batch"], draw: Draw) -> Statistics:
        """The statistics of one string of each length, exactly in distribution, at a cost that does not grow with it."""

    def corners(self, length: Int[Any, " batch"], draw: Draw) -> Statistics:
        """The statistics of one string of each length with counts at or near the corners and edges of what they can be.

        One token or two and hardly another, rare tokens at every scale, a rare last token as likely as a common one:
        strings that the task's law hardly ever draws, and where a small mean loss says the least.
        """

    def target_of(self, statistics: Statistics) -> Float[Any, " batch"]:
        """The targets, from the statistics alone."""
