"""What the panels of a figure say: lines with intervals and labelled axes, as data. Drawing and CSV both start here."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Float

from lengthwise.study.curves import (
    BOOTSTRAP_SEED,
    Series,
    common_lengths,
    losses_at,
    quantiles,
    resampled_medians,
    shown_value,
)
from lengthwise.study.measure import Required, required_length
from lengthwise.study.scaling import TASK_PARAMETERS, fit

MOST_LINES = 7
LOSS_LABEL = "mean squared error\n(median over seeds)"
TRAINED_ON = "trained on lengths up to"


@dataclass(frozen=True, eq=False)
class Line:
    """One line: places, values, and an interval around each value. kind: how it is drawn.

    "points" and "proved" have error bars; "at most" and "not reached" are arrows at censored values; "reference" and
    "proved" are no measurements.
    """

    label: str
    x: Float[np.ndarray, " points"]
    y: Float[np.ndarray, " points"]
    lower: Float[np.ndarray, " points"] | None = None
    upper: Float[np.ndarray, " points"] | None = None
    kind: Literal["line", "points", "at most", "not reached", "reference", "proved"] = "line"


@dataclass(frozen=True, eq=False)
class Panel:
    """One pair of axes. legend: what the labels of its lines are values of. columns: names of x and y in the CSV."""

    name: str
    title: str
    x_label: str
    y_label: str
    lines: tuple[Line, ...]
    columns: tuple[str, str]
    legend: str = ""
    log_x: bool = True
    log_y: bool = True
    threshold: float | None = None
    whole_numbers: bool = False


def parameter_of(lines: Sequence[Series]) -> str | None:
    """The first task parameter, or else any number, that varies among some settings."""
    names = [*TASK_PARAMETERS, *(name for line in lines for name in line.setting)]
    for name in names:
        values = {line.setting.get(name) for line in lines}
        if len(values) > 1 and all(isinstance(value, (int, float)) for value in values):
            return name
    return None


def label_of(line: Series, parameter: str | None) -> str:
    """A line's label: the value of what varies."""
    return line.name if parameter is None else shown_value(line.setting[parameter])


def spread_out(values: Sequence[int], most: int = MOST_LINES) -> list[int]:
    """At most so many of some ascending lengths, the first and the last among them, evenly spaced in their logarithm."""
    if len(values) <= most:
        return list(values)
    wanted = np.geomspace(values[0], values[-1], most)
    logs = np.log(np.asarray(values, dtype=np.float64))
    return sorted({values[int(np.argmin(np.abs(logs - math.log(place))))] for place in wanted})


def loss_panel(line: Series, parameter: str | None) -> Panel:
    """The loss against the test length, one line a training length, from that length on; at one setting."""
    generator = np.random.default_rng(BOOTSTRAP_SEED)
    drawn = []
    for longest in spread_out(line.lengths):
        members = line.members[longest]
        lengths = [length for length in common_lengths(members) if length >= longest]
        losses = losses_at(members, lengths, "loss")
        draws = np.stack([resampled_medians(column, generator) for column in losses.T], axis=1)
        low, high = quantiles(draws) if len(members) > 1 else (None, None)
        drawn.append(Line(f"{longest}", np.asarray(lengths, float), np.median(losses, axis=0), low, high))
    where = "" if parameter is None else f", {symbol(parameter)} = {label_of(line, parameter)}"
    return Panel(
        "loss",
        f"Loss on longer strings{where}",
        "test length",
        LOSS_LABEL,
        tuple(drawn),
        ("test_length", "loss"),
        TRAINED_ON,
    )


def plateau_panel(lines: Sequence[Series], parameter: str | None, threshold: float) -> Panel:
    """The plateau (loss at the longest test length) against the training length, one line a setting."""
    drawn = []
    for line in lines:
        low, high = line.interval() if line.resampled else (None, None)
        drawn.append(Line(label_of(line, parameter), np.asarray(line.lengths, float), line.medians, low, high))
    longest = max(one.lengths[-1] for line in lines for group in line.members.values() for one in group)
    alone = f", {symbol(parameter)} = {drawn[0].label}" if parameter is not None and len(lines) == 1 else ""
    return Panel(
        "plateau",
        f"Plateau, by training length{alone}",
        "training length",
        f"loss at test length {scientific(longest)}\n(median over seeds)",
        tuple(drawn),
        ("training_length", "plateau"),
        "" if parameter is None else symbol(parameter),
        threshold=threshold,
    )


def scaled_panel(lines: Sequence[Series], parameter: str, threshold: float) -> Panel:
    """The plateau against training length over the parameter."""
    plain = plateau_panel(lines, parameter, threshold)
    drawn = [
        Line(one.label, one.x / float(line.setting[parameter]), one.y, one.lower, one.upper)
        for one, line in zip(plain.lines, lines, strict=True)
    ]
    return Panel(
        "scaled",
        f"The same, over {symbol(parameter)}",
        f"training length / {symbol(parameter)}",
        plain.y_label,
        tuple(drawn),
        (f"training_length_over_{parameter}", "plateau"),
        plain.legend,
        threshold=threshold,
    )


def required_panel(lines: Sequence[Series], parameter: str, threshold: float, slope: str = "") -> Panel:
    """The required length against the parameter, with its interval; censored values as arrows.

    slope: who says that the length grows linearly, for a reference line of exponent 1 on logarithmic axes; without
    it the axes are linear and the line is the least-squares line.
    """
    x = np.asarray([float(line.setting[parameter]) for line in lines])
    needed = [required_length(line, threshold) for line in lines]
    known = np.asarray([need.length is not None for need in needed])
    drawn = required_points(lines, x, threshold)
    found = fit(parameter, {}, list(x), needed, all(line.resampled for line in lines))
    if slope and known.any():
        first = int(np.argmax(known))
        drawn.append(Line(f"slope 1: {slope}", x, drawn[0].y[0] * x / x[first], kind="reference"))
    elif found.slope is not None and found.intercept is not None:
        fitted = found.intercept + found.slope * x[known]
        text = f"{found.intercept:.2g} + {found.slope:.2g} {symbol(parameter)}"
        text += "" if found.r_squared is None else f", $R^2$ = {found.r_squared:.3f}"
        drawn.append(Line(text, x[known], fitted, kind="reference"))
    return Panel(
        "required",
        f"Length needed, by {symbol(parameter)}",
        AXES.get(parameter, parameter),
        f"training length needed\nfor loss {threshold:g}",
        tuple(drawn),
        (parameter, "required_length"),
        log_x=bool(slope),
        log_y=bool(slope),
        whole_numbers=True,
    )


def required_points(lines: Sequence[Series], x: Float[np.ndarray, " lines"], threshold: float) -> list[Line]:
    """The required length of each line with its interval; censored values as arrows."""
    needed = [required_length(line, threshold) for line in lines]
    known = np.asarray([need.length is not None for need in needed])
    y = np.asarray([need.bound if need.length is None else need.length for need in needed], float)
    low, high = (np.asarray([_end(one, need, at) for one, need in zip(lines, needed, strict=True)]) for at in (0, -1))
    drawn = [Line("measured", x[known], y[known], low[known], high[known], "points")] if known.any() else []
    for kind in ("at most", "not reached"):
        mine = np.asarray([need.censored == kind for need in needed])
        if mine.any():
            drawn.append(Line(kind, x[mine], y[mine], kind=kind))
    return drawn


def _end(line: Series, need: Required, at: int) -> float:
    """An end of the interval of a required length: the value itself for one seed, what was trained where it is open."""
    value = float(need.bound if need.length is None else need.length)
    end = need.lower if at == 0 else need.upper
    if end is not None:
        return end
    return float(line.lengths[at]) if line.resampled else value


SYMBOLS = {"omega": "ω", "period": "p", "symbols": "|Σ|", "tail": "tail"}
AXES = {
    "omega": "ω, frequency of the target",
    "period": "p, period of the target",
    "symbols": "|Σ|, size of the vocabulary",
    "tail": "tail, last tokens that the target reads",
}


def symbol(parameter: str) -> str:
    """A parameter as labels have it."""
    return SYMBOLS.get(parameter, parameter)


def scientific(number: int) -> str:
    """A length as people write it: powers of ten from ten thousand on."""
    power = round(math.log10(number))
    return f"$10^{{{power}}}$" if number >= 10_000 and number == 10**power else f"{number:,}"
