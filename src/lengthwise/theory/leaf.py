"""How far a model can be from its target on a cell of strings: linear relaxations, many cells at once.

A cell is the cone of its corners. In the mean that attention makes of them a relu is convex and a linear-fractional
target is the mean of its values at the corners with other weights, so where no unit changes its sign the enclosure is
that of the corners but for terms of second order in the cell's size.

Source: docs/certificate.md, section 8, the enclosure of a leaf, with its proof. Everything is in float64 here; what that
loses is bounded by `Forms.rounding`, and the independent checker computes the same in rationals.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Bool, Float

from lengthwise.theory.cell_corners import TINY, Cells, corners_of, edges
from lengthwise.theory.forms import Forms, activated


@dataclass(frozen=True, eq=False)
class Enclosed:
    """Between which numbers f - T lies on each cell, and what to do to a cell where that is too wide.

    face: the condition that holds at most on a face, or -1; nothing: no string that meets the conditions is in the cell.
    score: what splitting along each edge would gain, one column an edge of `edges`. reach: the largest |f - T| at corners.
    """

    low: Float[np.ndarray, " cells"]
    high: Float[np.ndarray, " cells"]
    face: Any
    nothing: Bool[np.ndarray, " cells"]
    score: Float[np.ndarray, "cells edges"]
    reach: Float[np.ndarray, " cells"]
    masses: Float[np.ndarray, "cells corners"]
    conditions: Float[np.ndarray, "cells corners conditions"]


def enclosed(forms: Forms, cells: Cells, timed: bool) -> Enclosed:
    """The enclosures of all cells."""
    corners = corners_of(forms, cells, timed)
    values, units = corners.values, len(forms.unit)
    blocks = values[..., : forms.heads * (2 + units)].reshape(*values.shape[:2], forms.heads, 2 + units)
    mass = blocks[..., 0]  # cells, corners, heads
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = blocks[..., 1:] / mass[..., None]
    over, under, conditions = values[..., -2 - forms.conditions], *_split(values, forms.conditions)
    face, counted = _faces(conditions)
    mean = _filled(mean, mass, counted)
    nothing: Bool[np.ndarray, " cells"] = np.asarray(~((mass > 0) & counted[..., None]).any(1).all(-1))
    seen = (mass[..., 0] > 0) & counted
    scored = (under > 0) & counted
    inputs = forms.unit + mean[..., 1:].sum(2)
    output = forms.start + mean[..., 0].sum(2) + activated(forms.kinds, inputs) @ forms.readout
    straying = _straying(forms, mean, mass, counted)
    low, high = _relaxed(forms, inputs, output, seen)
    low, high = low - straying, high + straying
    ratio = np.where(scored, over / np.where(scored, under, 1), np.nan)
    theta = forms.target.curve(ratio)
    bends = forms.target.activation == "sin"
    bend = _spread(float(forms.target.scale) * ratio, scored) ** 2 / 8 if bends else np.zeros(len(cells))
    tilt = _distance(under, mass[..., 0], counted)
    found = _together(low, high, seen, scored, theta, bend, tilt, forms.always)
    straddled = np.where(((conditions > 0).any(1) & (conditions < 0).any(1)), 1.0, 0.0)
    score = _scores(forms, corners.shape, inputs, ratio, theta, under, mass, mean, tilt)
    score = score + _cut(corners.shape, conditions, straddled * (found[1] - found[0])[:, None])
    least, most = (np.where(scored, theta, fill) for fill in (np.inf, -np.inf))
    blind = [np.where(np.isfinite(end), end, 0.0) for end in (least.min(1, keepdims=True), most.max(1, keepdims=True))]
    apart = [np.abs(output - np.where(scored, theta, end) - forms.tail) for end in blind]
    reach = np.where(seen, np.maximum(*apart), 0.0).max(1)
    low_end, high_end = (np.where(nothing, 0.0, end - forms.tail) for end in found)
    return Enclosed(low_end, high_end, face, nothing, score, reach, mass[..., 0], conditions)


def _split(values: Any, conditions: int) -> tuple[Any, Any]:
    last = values.shape[-1]
    return values[..., last - conditions - 1], values[..., last - conditions :]


def _filled(mean: Any, mass: Any, counted: Any) -> Any:
    """Where a head's mass is 0, what it brings at the first corner that counts where it is not."""
    if (mass > 0).all():
        return mean
    first = np.argmax((mass > 0) & counted[..., None], axis=1)[:, None, :, None]
    return np.where(mass[..., None] > 0, mean, np.take_along_axis(np.nan_to_num(mean), first, axis=1))


def _faces(conditions: Any) -> tuple[Any, Any]:
    """The condition that holds at most on a face of each cell (-1: none), and the corners that count then."""
    cells, corners, count = conditions.shape
    if not count:
        return np.full(cells, -1), np.ones((cells, corners), dtype=bool)
    outside = (conditions <= 0).all(1) & (conditions < 0).any(1)
    empty = (conditions < 0).all(1)
    best = np.where(empty.any(1), empty.argmax(1), outside.argmax(1))
    face = np.where(outside.any(1), best, -1)
    there = np.take_along_axis(conditions, np.maximum(face, 0)[:, None, None], axis=2)[..., 0]
    return face, (face < 0)[:, None] | (there == 0)


def _straying(forms: Forms, mean: Any, mass: Any, counted: Any) -> Any:
    """Delta: how far the output strays because the heads weigh the corners differently; 0 for one head."""
    total = np.zeros(len(mean))
    for head in range(1, forms.heads):
        spread = _spread(mean[:, :, head], counted[..., None])
        apart = _distance(mass[..., head], mass[..., 0], counted)
        total += apart * (spread[:, 0] + spread[:, 1:] @ np.abs(forms.readout))
    return total[:, None]


def _distance(one: Any, other: Any, counted: Any) -> Any:
    """(rho - 1) / (rho + 3), rho the largest ratio of two values of one / other; 1 where just one is 0 at some corner.

    At least the total variation of two laws of which one is the other reweighted by one / other. Corners where both are
    0 have no weight in either.
    """
    counted = counted & ((one > 0) | (other > 0))
    whole = (((one > 0) & (other > 0)) | ~counted).all(1) & counted.any(1)
    ratio = np.where(counted & (other > 0), one / np.where(other > 0, other, 1.0), np.nan)
    top, bottom = (np.where(np.isnan(ratio), fill, ratio) for fill in (-np.inf, np.inf))
    with np.errstate(over="ignore"):
        rho = np.where(whole, top.max(1), 1.0) / np.where(whole, bottom.min(1), 1.0)
    return np.where(whole, 1 - 4 / (rho + 3), 1.0)  # that is 1 where rho is too large for a float


def _relaxed(forms: Forms, inputs: Any, output: Any, seen: Any) -> tuple[Any, Any]:
    """F- and F+ at the corners, NaN where a corner is not seen: the output less, and plus, the gaps of the units."""
    known = seen[..., None]
    top = np.where(known, inputs, -np.inf).max(1)
    bottom = np.where(known, inputs, np.inf).min(1)
    bent = (forms.bent > 0) & (top > 0) & (bottom < 0)
    low, high = np.where(seen, output, np.nan), np.where(seen, output, np.nan)
    some = np.flatnonzero(bent.any(0))
    if len(some):
        with np.errstate(invalid="ignore", divide="ignore"):
            slope = np.where(bent, top / (top - bottom), 0.0)[:, None, some]
        z = inputs[..., some]
        gap = np.where(bent[:, None, some], np.maximum(z, 0.0) - slope * z, 0.0)
        low = low - gap @ np.maximum(forms.readout[some], 0.0)
        high = high + gap @ np.maximum(-forms.readout[some], 0.0)
    if forms.curved.any():
        with np.errstate(invalid="ignore"):
            spread = np.nan_to_num(top - bottom, nan=0.0, neginf=0.0)
        curved = (spread**2 / 8) @ (np.abs(forms.readout) * forms.curved)
        low, high = low - curved[:, None], high + curved[:, None]
    return low, high


def _spread(values: Any, counted: Any) -> Any:
    """Largest minus smallest value over the corners that count; 0 if there is none."""
    top, bottom = np.where(counted, values, -np.inf).max(1), np.where(counted, values, np.inf).min(1)
    return np.where(counted.any(1), top, 0.0) - np.where(counted.any(1), bottom, 0.0)


def _together(
    low: Any, high: Any, seen: Any, scored: Any, theta: Any, bend: Any, tilt: Any, always: bool
) -> tuple[Any, Any]:
    """Steps 3 to 5 of the format's enclosure; psi(0) is 0 for both activations."""
    least = np.where(scored, theta, np.inf).min(1)
    most = np.where(scored, theta, -np.inf).max(1)
    some = scored.any(1)
    with np.errstate(invalid="ignore"):
        middle, width = np.where(some, (least + most) / 2, 0.0), np.where(some, most - least, 0.0)
        least, most = np.where(some, least, 0.0), np.where(some, most, 0.0)
    f_low, f_high = np.where(seen, low, np.inf), np.where(seen, high, -np.inf)
    direct = f_low.min(1) - most - bend, f_high.max(1) - least + bend
    at = np.where(scored, theta, middle[:, None])
    wide = bend + tilt * width
    by_corner = (f_low - at).min(1) - wide, (f_high - at).max(1) + wide
    lower, upper = np.maximum(direct[0], by_corner[0]), np.minimum(direct[1], by_corner[1])
    blind = seen & ~scored & (not always)
    lower = np.minimum(lower, np.where(blind, low, np.inf).min(1))
    upper = np.maximum(upper, np.where(blind, high, -np.inf).max(1))
    none = ~seen.any(1)
    return np.where(none, 0.0, lower), np.where(none, 0.0, upper)


def _scores(
    forms: Forms,
    shape: tuple[int, ...],
    inputs: Any,
    ratio: Any,
    theta: Any,
    under: Any,
    mass: Any,
    mean: Any,
    tilt: Any,
) -> Any:
    """What each edge contributes to the width: kinks of units between its ends, bends, and unlike weights.

    Only a guide for splitting: nothing that is claimed rests on it.
    """
    cells, weight = len(inputs), np.abs(forms.readout)
    scale = float(forms.target.scale) if forms.target.activation == "sin" else 0.0
    every = np.ones(mass.shape[:2], dtype=bool)
    columns = []
    logs = [np.log(np.maximum(one, TINY)) for one in (under, *(mass[..., a] for a in range(forms.heads)))]
    unlike = [(logs[0] - logs[1], theta[..., None], np.ones(1), _spread(theta, np.isfinite(theta)), tilt)]
    for head in range(1, forms.heads):
        part, by = mean[:, :, head], np.concatenate([[1.0], weight])
        away = _distance(mass[..., head], mass[..., 0], every)
        unlike.append((logs[head + 1] - logs[1], part, by, _spread(part, every[..., None]) @ by, away))

    def ends(values: Any, axis: int, a: int, b: int) -> list[Any]:
        grid = values.reshape(cells, *shape, *values.shape[2:])
        rest = mass.shape[1] // shape[axis]
        return [np.take(grid, end, axis=axis + 1).reshape(cells, rest, *values.shape[2:]) for end in (a, b)]

    for axis, a, b in edges(shape):
        z, v = ends(inputs, axis, a, b), ends(ratio, axis, a, b)
        with np.errstate(divide="ignore", invalid="ignore"):
            kink = np.where(z[0] * z[1] < 0, np.abs(z[0] * z[1]) / np.abs(z[0] - z[1]), 0.0)
        gain = kink @ (weight * forms.bent) + ((z[0] - z[1]) ** 2 / 8) @ (weight * forms.curved)
        gain = gain + np.nan_to_num((scale * (v[0] - v[1])) ** 2 / 8) + 1e-9 * np.abs(z[0] - z[1]) @ weight
        for log, part, by, width, away in unlike:
            w, x = ends(log, axis, a, b), ends(part, axis, a, b)
            gain = gain + away[:, None] * (np.nan_to_num(np.abs(x[0] - x[1])) @ by) / 2
            gain = gain + width[:, None] * (_tilt(np.abs(w[0] - w[1])) - _tilt(np.abs(w[0] - w[1]) / 2))
        columns.append(gain.mean(1))
    return np.stack(columns, axis=1) if columns else np.zeros((cells, 0))


def _tilt(log_ratio: Any) -> Any:
    """(rho - 1) / (rho + 3) by the logarithm of rho; nothing is gained by halving an edge along which it is infinite."""
    rho = np.exp(np.minimum(log_ratio, 500.0))
    return (rho - 1) / (rho + 3)


def _cut(shape: tuple[int, ...], conditions: Any, width: Any) -> Any:
    """What an edge contributes because conditions change their sign along it, where none is put on its plane."""
    columns = [np.zeros((len(conditions), 0))]
    if not conditions.shape[2]:
        return 0.0
    signs = np.sign(conditions).reshape(len(conditions), *shape, -1)
    for axis, a, b in edges(shape):
        first, second = (np.take(signs, end, axis=axis + 1) for end in (a, b))
        changes = (first * second < 0).reshape(len(conditions), -1, conditions.shape[2]).mean(1)
        columns.append((changes * width).sum(1, keepdims=True))
    return np.concatenate(columns, axis=1)
