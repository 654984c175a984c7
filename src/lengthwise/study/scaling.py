"""How the required length grows: exponents and lines, with intervals over seeds."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from lengthwise.study.curves import Metric, Series, Value, named, quantiles
from lengthwise.study.measure import Required, by_parameter, crossing, required_length

TASK_PARAMETERS = ("omega", "period", "symbols", "tail")


@dataclass(frozen=True)
class Scaling:
    """The required length N against one quantity x, on the points where N is known.

    exponent: slope of log N against log x, by least squares. slope, intercept, r_squared: of the line
    N = intercept + slope x. lower and upper are bootstrap intervals of 95 %; r_squared needs three points. left_out:
    values of x without a number, and why.
    """

    against: str
    setting: dict[str, Value]
    points: tuple[tuple[float, float], ...]
    left_out: tuple[tuple[float, str], ...]
    exponent: float | None = None
    exponent_lower: float | None = None
    exponent_upper: float | None = None
    slope: float | None = None
    slope_lower: float | None = None
    slope_upper: float | None = None
    intercept: float | None = None
    r_squared: float | None = None
    reason: str = ""

    @property
    def sentence(self) -> str:
        """The exponent and the line in words."""
        where = f" ({named(self.setting)})" if self.setting else ""
        if self.exponent is None or self.slope is None or self.intercept is None:
            return f"required length against {self.against}{where}: {self.reason}"
        between = (
            "" if self.exponent_lower is None else f" (95 %: {self.exponent_lower:.2f} to {self.exponent_upper:.2f})"
        )
        line = f"{self.intercept:.3g} + {self.slope:.3g} x"
        fit = "" if self.r_squared is None else f", R^2 {self.r_squared:.3f}"
        return f"required length against {self.against}{where}: exponent {self.exponent:.2f}{between}; line {line}{fit}"


def fit(
    against: str, setting: dict[str, Value], x: Sequence[float], needed: Sequence[Required], resampled: bool
) -> Scaling:
    """The exponent and the line through the known points; each bootstrap draw fits the points it knows."""
    places = np.asarray(x, dtype=np.float64)
    lengths = np.asarray([np.nan if need.length is None else need.length for need in needed], dtype=np.float64)
    draws = np.stack([need.draws for need in needed], axis=1)
    known = np.isfinite(lengths)
    points = tuple((float(a), float(b)) for a, b in zip(places[known], lengths[known], strict=True))
    left_out = tuple((float(a), need.sentence) for a, need in zip(places, needed, strict=True) if need.length is None)
    if len(points) < 2:
        reason = f"the length is known at {len(points)} value{'s' if len(points) != 1 else ''} only"
        return Scaling(against, setting, points, left_out, reason=reason)
    exponent, _, _ = line(np.log(places), np.log(lengths)[None])
    slope, intercept, r_squared = line(places, lengths[None])
    ends: list[float | None] = [None] * 4
    if resampled:
        with np.errstate(divide="ignore", invalid="ignore"):
            logs = np.log(np.where(np.isfinite(draws), draws, np.nan))
        for index, (a, b) in enumerate(((np.log(places), logs), (places, np.exp(logs)))):
            slopes, _, _ = line(a, b)
            slopes = slopes[np.isfinite(slopes)]
            if len(slopes):
                ends[2 * index : 2 * index + 2] = [float(end) for end in quantiles(slopes)]
    return Scaling(
        against,
        setting,
        points,
        left_out,
        float(exponent[0]),
        ends[0],
        ends[1],
        float(slope[0]),
        ends[2],
        ends[3],
        float(intercept[0]),
        float(r_squared[0]) if len(points) > 2 else None,
    )


def line(
    x: Float[np.ndarray, " points"], y: Float[np.ndarray, "draws points"]
) -> tuple[Float[np.ndarray, " draws"], Float[np.ndarray, " draws"], Float[np.ndarray, " draws"]]:
    """Least squares y = intercept + slope x for each row, over its entries that are numbers.

    Returns slope, intercept and R^2 = 1 - residual / total; nan where fewer than two points are known.
    """
    known = np.isfinite(y)
    count = np.sum(known, axis=1)
    safe = np.maximum(count, 1)
    values = np.where(known, y, 0.0)
    mean_x = np.sum(known * x, axis=1) / safe
    mean_y = np.sum(values, axis=1) / safe
    dx = known * (x[None] - mean_x[:, None])
    dy = known * (values - mean_y[:, None])
    total = np.sum(dy**2, axis=1)
    spread = np.sum(dx**2, axis=1)
    enough = (count > 1) & (spread > 0)
    slope = np.where(enough, np.sum(dx * dy, axis=1) / np.where(spread > 0, spread, 1.0), np.nan)
    residual = np.sum((dy - np.where(enough, slope, 0.0)[:, None] * dx) ** 2, axis=1)
    r_squared = np.where(enough, 1 - residual / np.where(total > 0, total, 1.0), np.nan)
    return slope, mean_y - slope * mean_x, r_squared


def exponents(lines: Sequence[Series], threshold: float, metric: Metric = "loss") -> list[Scaling]:
    """The required length against every task parameter that varies, and against 1/error for every setting."""
    found = []
    for parameter in TASK_PARAMETERS:
        if all(parameter in one.setting for one in lines):
            for rest, group in by_parameter(lines, parameter).items():
                x = [float(one.setting[parameter]) for one in group]
                needed = [required_length(one, threshold) for one in group]
                found.append(fit(parameter, dict(rest), x, needed, all(one.resampled for one in group)))
    return found + [against_error(one, metric) for one in lines]


def against_error(one: Series, metric: Metric = "loss") -> Scaling:
    """The required length against 1/error, the error being the root of a loss, or a worst error itself.

    Thresholds stand on a fixed grid of two a decade; those below the smallest plateau or above the largest say nothing.
    """
    grid = [10 ** (-k / 2) for k in range(25)]
    lengths = np.asarray(one.lengths, dtype=np.float64)
    inside = [value for value in grid if np.isfinite(crossing(lengths, one.medians[None], value)[0])]
    error: dict[float, float] = {value: math.sqrt(value) if metric == "loss" else value for value in inside}
    needed = [required_length(one, value) for value in inside]
    if not inside:
        reason = "no threshold of the grid is crossed"
        return Scaling("1/error", dict(one.setting), (), (), reason=reason)
    return fit("1/error", dict(one.setting), [1 / error[value] for value in inside], needed, one.resampled)
