"""From curves to answers: does the loss settle, how long must training be, do curves overlap, which seeds are bad."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float

from lengthwise.study.curves import BOOTSTRAP_SEED, DRAWS, Member, Metric, Series, common_lengths, losses_at, quantiles

SETTLED = 0.1  # relative change a decade
WINDOW = (10**4, 10**6)
NEAR = 0.01  # a test length this near to an end of the window stands for it: 9,960 is a multiple of more periods
BAD = 10.0  # times the median


@dataclass(frozen=True)
class Plateau:
    """Where the loss goes as the test length grows, for one setting and training length.

    change: median over seeds of the relative change a decade within the window, the largest such over pairs of test
    lengths a decade or more apart; change_lower and change_upper: its bootstrap interval. settled is None where the
    test lengths cannot tell, False where the median is infinite. overshoot: the highest median over test lengths beyond training, over the last one.
    """

    longest: int
    seeds: int
    median: float
    mean: float
    lower: float
    upper: float
    settled: bool | None
    reason: str
    change: float | None
    change_lower: float | None
    change_upper: float | None
    overshoot: float
    peak_length: int
    bad_seeds: tuple[int, ...]
    training_loss: float

    @property
    def certainly_moving(self) -> bool:
        """Whether the change is above the limit beyond the seeds' interval."""
        if self.change_lower is None or self.change_upper is None:
            return self.settled is False
        return self.change_lower > SETTLED or self.change_upper < -SETTLED


def plateaus(line: Series, metric: Metric = "loss") -> list[Plateau]:
    """The plateau at every training length of one setting."""
    low, high = line.interval()
    return [
        _plateau(line.members[length], length, metric, float(low[index]), float(high[index]))
        for index, length in enumerate(line.lengths)
    ]


def _plateau(members: Sequence[Member], longest: int, metric: Metric, low: float, high: float) -> Plateau:
    lengths = common_lengths(members)
    losses = losses_at(members, lengths, metric)
    ends = losses[:, -1]
    median = float(np.median(ends))
    beyond = [index for index, length in enumerate(lengths) if length >= longest] or [len(lengths) - 1]
    curve = np.median(losses[:, beyond], axis=0)
    top = int(np.argmax(curve))
    bad = tuple(m.seed for m, end in zip(members, ends, strict=True) if end > BAD * median or not math.isfinite(end))
    change, interval, reason = _change(losses, lengths)
    settled = False if not math.isfinite(median) else None if change is None else bool(abs(change) < SETTLED)
    return Plateau(
        longest=longest,
        seeds=len(members),
        median=median,
        mean=float(np.mean(ends)),
        lower=low,
        upper=high,
        settled=settled,
        reason=reason if math.isfinite(median) else "the median loss is infinite",
        change=change,
        change_lower=interval[0],
        change_upper=interval[1],
        overshoot=float(curve[top] / median) if 0 < median < math.inf else 1.0,
        peak_length=lengths[beyond[top]],
        bad_seeds=bad,
        training_loss=float(np.median([m.training_loss for m in members])),
    )


def _change(
    losses: Float[np.ndarray, "seeds tests"], lengths: Sequence[int]
) -> tuple[float | None, tuple[float | None, float | None], str]:
    """The largest relative change a decade in the window, over pairs of test lengths at least a decade apart.

    For one pair: the median over seeds of (l(T') / l(T) - 1) / log10(T'/T). Pairs nearer than a decade would only
    magnify the noise of sampling.
    """
    least, most = WINDOW
    inside = [k for k, length in enumerate(lengths) if least * (1 - NEAR) <= length <= most * (1 + NEAR)]
    pairs = [(i, j) for i in inside for j in inside if lengths[j] >= 10 * lengths[i]]
    if not pairs or lengths[inside[0]] > least * (1 + NEAR) or lengths[inside[-1]] < most * (1 - NEAR):
        return None, (None, None), "no test lengths at 10^4 and 10^6"
    good = losses[np.all(np.isfinite(losses) & (losses > 0), axis=1)]
    if not len(good):
        return None, (None, None), "no seed with a finite loss above 0"
    found = []
    for i, j in pairs:
        changes = (good[:, j] / good[:, i] - 1) / math.log10(lengths[j] / lengths[i])
        found.append(changes)
    worst = max(found, key=lambda changes: abs(float(np.median(changes))))
    if len(good) == 1:
        return float(worst[0]), (None, None), ""
    generator = np.random.default_rng(BOOTSTRAP_SEED)
    draws = np.median(worst[generator.integers(0, len(worst), size=(DRAWS, len(worst)))], axis=1)
    low, high = quantiles(draws)
    return float(np.median(worst)), (float(low), float(high)), ""


@dataclass(frozen=True, eq=False)
class Required:
    """The training length that a threshold needs; `censored` says what is known where there is no number.

    length None: "at most" the shortest trained length (in `bound`), or "not reached" by the longest. lower and upper
    bound the interval of 95 % over seeds; None where it is open on that side, or, with `interval_reason`, unknown.
    """

    threshold: float
    length: float | None
    censored: str
    bound: int
    lower: float | None
    upper: float | None
    interval_reason: str
    draws: Float[np.ndarray, " draws"]

    @property
    def sentence(self) -> str:
        """The length in words."""
        if self.length is not None:
            if self.lower is None and self.upper is None:
                return f"{self.length:.3g}"
            return f"{self.length:.3g} (95 %: {_end(self.lower, '<')} to {_end(self.upper, '>')})"
        return f"at most {self.bound}" if self.censored == "at most" else f"not reached by {self.bound}"


def required_length(line: Series, threshold: float) -> Required:
    """The training length from which on the median plateau stays at or below the threshold.

    Log loss is interpolated against log length on the *upper envelope* e(N) = max over N' >= N of the plateau at N':
    a length suffices only if every longer one that was trained does.
    """
    lengths = np.asarray(line.lengths, dtype=np.float64)
    value = float(crossing(lengths, line.medians[None], threshold)[0])
    draws = crossing(lengths, line.draws, threshold)
    low, high = (float(end) for end in quantiles(draws))
    censored = "" if math.isfinite(value) else "at most" if value < 0 else "not reached"
    return Required(
        threshold=threshold,
        length=None if censored else value,
        censored=censored,
        bound=line.lengths[-1] if censored == "not reached" else line.lengths[0],
        lower=low if line.resampled and math.isfinite(low) else None,
        upper=high if line.resampled and math.isfinite(high) else None,
        interval_reason=_interval_reason(line, low, high),
        draws=draws,
    )


def _interval_reason(line: Series, low: float, high: float) -> str:
    if not line.resampled:
        return "one seed: no interval"
    below = f"below the shortest trained length, {line.lengths[0]}" if math.isinf(low) and low < 0 else ""
    above = f"above the longest trained length, {line.lengths[-1]}" if math.isinf(high) and high > 0 else ""
    open_ends = [end for end in (below, above) if end]
    if math.isinf(low) and low == high:
        return f"all draws lie {open_ends[0]}"
    return "open: it reaches " + " and ".join(open_ends) if open_ends else ""


def crossing(
    lengths: Float[np.ndarray, " lengths"], losses: Float[np.ndarray, "draws lengths"], threshold: float
) -> Float[np.ndarray, " draws"]:
    """Where each row's upper envelope meets the threshold; -inf: below it from the start; inf: never."""
    envelope = np.maximum.accumulate(losses[:, ::-1], axis=1)[:, ::-1]
    first = np.sum(envelope > threshold, axis=1)  # the envelope falls, so these come first
    inner = (first > 0) & (first < len(lengths))
    right = np.where(inner, first, 1 if len(lengths) > 1 else 0)
    rows = np.arange(len(losses))
    above, below = (np.log(np.clip(envelope[rows, place], 1e-300, 1e300)) for place in (right - 1, right))
    span = np.where(inner & (above > below), above - below, 1.0)
    share = np.clip((above - math.log(threshold)) / span, 0.0, 1.0)
    share = np.where(np.isfinite(envelope[rows, right - 1]), share, 1.0)  # after a divergence: the next length
    logs = np.log(lengths)
    between = np.exp(logs[right - 1] + share * (logs[right] - logs[right - 1]))
    between = np.where(share == 1.0, lengths[right], between)  # exp and log do not undo each other in the last bit
    return np.where(inner, between, np.where(first == 0, -np.inf, np.inf))


@dataclass(frozen=True, eq=False)
class Overlap:
    """How far curves lie apart: at each point of a common grid, the largest plateau over the smallest."""

    largest: float
    median: float
    grid: Float[np.ndarray, " grid"]
    ratio: Float[np.ndarray, " grid"]


def overlap(curves: Mapping[float, tuple[Any, Any]], points: int = 25) -> Overlap | None:
    """The ratio largest / smallest of the curves' values, interpolated log-log on their common stretch.

    curves: for each name the places (such as training length over period) and the median plateaus there. None where
    fewer than two curves share a stretch.
    """
    finite = {}
    for name, (places, values) in curves.items():
        known = np.isfinite(values) & (np.asarray(values) > 0)
        if np.sum(known) > 1:
            finite[name] = np.log(np.asarray(places, float)[known]), np.log(np.asarray(values, float)[known])
    low = max((places[0] for places, _ in finite.values()), default=0.0)
    high = min((places[-1] for places, _ in finite.values()), default=0.0)
    if len(finite) < 2 or high <= low:
        return None
    grid = np.linspace(low, high, points)
    logs = np.stack([np.interp(grid, places, values) for places, values in finite.values()])
    ratio = np.exp(np.max(logs, axis=0) - np.min(logs, axis=0))
    return Overlap(float(np.max(ratio)), float(np.median(ratio)), np.exp(grid), ratio)


def by_parameter(lines: Sequence[Series], parameter: str) -> dict[tuple[Any, ...], list[Series]]:
    """The settings that differ in one parameter only, in its order; the key is the rest of the setting."""
    groups: dict[tuple[Any, ...], list[Series]] = {}
    for line in lines:
        rest = tuple(pair for pair in line.setting.items() if pair[0] != parameter)
        groups.setdefault(rest, []).append(line)
    return {rest: sorted(group, key=lambda line: float(line.setting[parameter])) for rest, group in groups.items()}


def _end(value: float | None, otherwise: str) -> str:
    return f"{value:.3g}" if value is not None else f"{otherwise} what was trained"
