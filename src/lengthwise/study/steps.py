"""Monotone or not, step by step, with the seeds' interval."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from lengthwise.study.curves import quantiles

STEP = 1.5  # neighbours nearer than this are not compared


@dataclass(frozen=True)
class FallingStep:
    """From one place to the next at least 1.5 times as far: falls; or rises, surely (beyond the interval) or not."""

    where: str
    start: float
    end: float
    ratio: float
    falls: bool
    rises: bool | None  # None: one seed, nobody can say


def steps(
    places: Sequence[float],
    medians: Float[np.ndarray, " places"],
    draws: Float[np.ndarray, "draws places"],
    where: str,
    resampled: bool,
) -> list[FallingStep]:
    """Each place (ascending) with the first place at least 1.5 times as far; a fall is value(end) < value(start)."""
    found = []
    for i, start in enumerate(places):
        j = next((j for j in range(i + 1, len(places)) if places[j] >= STEP * start), None)
        if j is None:
            continue
        drop = bool(medians[j] < medians[i])
        with np.errstate(invalid="ignore"):
            difference = draws[:, j] - draws[:, i]  # inf - inf: both diverged
        low, _ = quantiles(np.where(np.isnan(difference), 0.0, difference))
        rises = False if drop else bool(low > 0) if resampled else None
        ratio = float(medians[j] / medians[i]) if medians[i] else float("inf")
        found.append(FallingStep(where, float(start), float(places[j]), ratio, drop, rises))
    return found


def judged(found: Sequence[FallingStep], verb: str = "fall") -> tuple[bool | None, str, str]:
    """Whether all steps go the right way; why not; and "7 of 8 steps" in words."""
    wrong = [one for one in found if one.rises]
    unknown = [one for one in found if one.rises is None]
    within = [one for one in found if one.rises is False and not one.falls]
    opposite = "rises" if verb == "fall" else "falls"
    count = f"{sum(one.falls for one in found)} of {len(found)} steps"
    count += f" ({len(within)} more within the seeds' interval)" if within else ""
    if wrong:
        one = wrong[0]
        first = f"{one.where}, {one.start:g} to {one.end:g}: x{one.ratio:.2f}"
        return False, f"{len(wrong)} steps: it {opposite} beyond the seeds' interval, first {first}", count
    if unknown:
        one = unknown[0]
        first = f"{one.where}, {one.start:g} to {one.end:g}: x{one.ratio:.2f}"
        return (
            None,
            f"{len(unknown)} steps: it {opposite}, with one seed nobody can say by chance or not, first {first}",
            count,
        )
    return True, "", count
