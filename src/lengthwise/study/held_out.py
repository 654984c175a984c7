"""The check of a forecast: new seeds, tested at lengths that had no part in it.

The answer is where a measured curve crosses a threshold, so it leans towards the luck of the seeds it was read from.
New seeds have no part in that; and they are trained at the upper end of the answer's interval too, where they must
stay below the threshold if the interval is honest. At the answer itself, half of all samples are above.
"""

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from lengthwise.study.curves import Member, Metric, losses_at

SEEDS = 8
LENGTHS = 6
FURTHEST = 1_000_000


@dataclass(frozen=True)
class HeldOut:
    """What new seeds show. values: medians over seeds at each test length; those at the answer stand beside them.

    worst_error: the largest absolute error of any seed trained at `training_length` on any string of these lengths.
    """

    answer: int
    training_length: int
    seeds: tuple[int, ...]
    lengths: tuple[int, ...]
    values: tuple[float, ...]
    answer_values: tuple[float, ...]
    worst_error: float
    threshold: float

    @property
    def holds(self) -> bool:
        """Whether the median stays at or below the threshold at every held-out length."""
        return all(value <= self.threshold for value in self.values)

    def fields(self) -> dict[str, Any]:
        """The check with words for names."""
        return {
            "holds": self.holds,
            "training_length": self.training_length,
            "seeds": list(self.seeds),
            "lengths": list(self.lengths),
            **_listed("medians", self.values),
            **_listed("medians_at_required_length", self.answer_values),
        }

    @property
    def sentence(self) -> str:
        """The check in words."""
        who = f"{len(self.seeds)} new seeds trained up to {self.training_length}"
        if self.holds:
            where = f"{len(self.lengths)} held-out lengths from {self.lengths[0]} to {self.lengths[-1]:,}"
            return f"checked: {who} stay at or below {max(self.values):.2g} at {where}"
        first = next(k for k, value in enumerate(self.values) if value > self.threshold)
        return f"the check FAILED: {who} reach {self.values[first]:.2g} at length {self.lengths[first]:,}"


def held_out_lengths(after: int, used: Collection[int], seed: int, check: int) -> tuple[int, ...]:
    """Test lengths beyond one, up to a million, that were not used: one in each of six stretches of equal log length."""
    generator = np.random.default_rng([seed, check, after])
    edges = np.geomspace(after + 1, max(FURTHEST, 64 * after), LENGTHS + 1)
    found: list[int] = []
    for low, high in pairwise(edges):
        length = int(np.exp(generator.uniform(np.log(low), np.log(high))))
        while length in used or length in found or length <= after:
            length += 1
        found.append(length)
    return tuple(sorted(found))


def checked(
    members: Sequence[Member], answer: int, training_length: int, lengths: tuple[int, ...], metric: Metric, limit: float
) -> HeldOut:
    """The check from its members, which were trained at the answer and at `training_length`."""
    above = [one for one in members if one.longest == training_length]
    at = [one for one in members if one.longest == answer]
    places = [above[0].lengths.index(length) for length in lengths]
    worst = max(float(one.values("error")[place]) for one in above for place in places)
    medians = [np.median(losses_at(group, lengths, metric), axis=0) for group in (above, at)]
    return HeldOut(
        answer=answer,
        training_length=training_length,
        seeds=tuple(one.seed for one in above),
        lengths=lengths,
        values=tuple(float(value) for value in medians[0]),
        answer_values=tuple(float(value) for value in medians[1]),
        worst_error=worst,
        threshold=limit,
    )


def _listed(name: str, values: Sequence[float]) -> dict[str, Any]:
    """Numbers for JSON; one that is not finite is null, and the reason stands beside the list."""
    found: dict[str, Any] = {name: [value if math.isfinite(value) else None for value in values]}
    return found | ({f"{name}_reason": "null stands for: infinite"} if None in found[name] else {})
