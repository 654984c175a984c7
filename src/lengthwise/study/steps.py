"""Monotone or not, step by step, with the seeds' interval."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from lengthwise.study.curves import quantiles

STEP = 1.5  # neighbours nearer than this are not compared


@dataclass(frozen=True)
class FallingStep:
    """From one place to another, farther one: falls; or rises, surely (beyond the interval) or not.

    surely: whether the fall is beyond the seeds' interval. None, there and in rises: one seed, nobody can say.
    level: neither end is above what the stop rule of the training leaves, so their order says nothing.
    """

    where: str
    start: float
    end: float
    ratio: float
    falls: bool
    rises: bool | None
    surely: bool | None
    level: bool


def steps(
    places: Sequence[float],
    medians: Float[np.ndarray, " places"],
    draws: Float[np.ndarray, "draws places"],
    where: str,
    resampled: bool,
    floor: float,
) -> list[FallingStep]:
    """Each place (ascending) with the first place at least 1.5 times as far; a fall is value(end) < value(start).

    floor: where both values are at most so far from 0, the step is level.
    """
    found = []
    for i, start in enumerate(places):
        j = next((j for j in range(i + 1, len(places)) if places[j] >= STEP * start), None)
        if j is not None:
            found.append(_step(places, medians, draws, where, resampled, floor, i, j))
    return found


def whole_way(
    places: Sequence[float],
    medians: Float[np.ndarray, " places"],
    draws: Float[np.ndarray, "draws places"],
    where: str,
    resampled: bool,
    floor: float,
) -> FallingStep:
    """The first place with the last."""
    return _step(places, medians, draws, where, resampled, floor, 0, len(places) - 1)


def _step(
    places: Sequence[float],
    medians: Float[np.ndarray, " places"],
    draws: Float[np.ndarray, "draws places"],
    where: str,
    resampled: bool,
    floor: float,
    i: int,
    j: int,
) -> FallingStep:
    drop = bool(medians[j] < medians[i])
    with np.errstate(invalid="ignore"):
        difference = draws[:, j] - draws[:, i]  # inf - inf: both diverged
        ratio = float(medians[j] / medians[i]) if medians[i] else float("inf")
    low, high = quantiles(np.where(np.isnan(difference), 0.0, difference))
    return FallingStep(
        where,
        float(places[i]),
        float(places[j]),
        ratio,
        drop,
        False if drop else bool(low > 0) if resampled else None,
        False if not drop else bool(high < 0) if resampled else None,
        bool(max(abs(medians[i]), abs(medians[j])) <= floor),
    )


def judged(
    found: Sequence[FallingStep], ways: Sequence[FallingStep], verb: str = "fall"
) -> tuple[bool | None, str, str]:
    """Whether all steps go the right way; why not; and "7 of 8 steps" in words.

    ways: from the first place to the last. Curves that only scatter have no step beyond the interval in the wrong
    direction either; so at least half of the ways must be beyond it in the right one. What is level is not judged.
    """
    level = sum(one.level for one in found)
    found, ways = ([one for one in some if not one.level] for some in (found, ways))
    wrong = [one for one in found if one.rises]
    unknown = [one for one in found if one.rises is None]
    within = [one for one in found if one.rises is False and not one.falls]
    opposite = "rises" if verb == "fall" else "falls"
    count = f"{sum(one.falls for one in found)} of {len(found)} steps"
    count += f" ({len(within)} more within the seeds' interval)" if within else ""
    count += f" ({level} more between plateaus at the stop rule's loss)" if level else ""
    if not found or not ways:
        return None, "every plateau is at the loss where training stops", count
    if wrong:
        return False, f"{len(wrong)} steps: it {opposite} beyond the seeds' interval, first {_said(wrong[0])}", count
    if unknown:
        reason = f"{len(unknown)} steps: it {opposite}, with one seed nobody can say by chance or not, first"
        return None, f"{reason} {_said(unknown[0])}", count
    doubtful = [one for one in ways if not one.falls or one.surely is False]
    if 2 * len(doubtful) > len(ways):
        reason = f"{len(doubtful)} of {len(ways)} from end to end do not {verb} beyond the seeds' interval, first"
        return None, f"{reason} {_said(doubtful[0])}", count
    return True, "", count


def _said(one: FallingStep) -> str:
    return f"{one.where}, {one.start:g} to {one.end:g}: x{one.ratio:.2f}"
