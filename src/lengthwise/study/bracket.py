"""Which training lengths a forecast tries next, and what it knows so far: decided by results, never by the clock."""

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from lengthwise.study.curves import BOOTSTRAP_SEED, Member, Metric, Series, resampled_medians
from lengthwise.study.measure import Required, required_length

TRIED = 4  # lengths of a ladder
FEW = 4  # seeds of a ladder
ENOUGH = 8  # seeds at both ends of the bracket from which on a bootstrap interval covers what it says
PLENTY = 32  # seeds after which nothing more is tried
LADDERS = 3  # upwards: 4..32, 64..512, 1024..8192
LONGEST = 100_000  # training length that is tried; what is tested must be longer
FINE = 1.3  # ends of a bracket nearer than this are not divided further: between them the loss is a power of the length
NARROW = 1.1  # upper over lower end of an interval that is good enough


@dataclass(frozen=True)
class Round:
    """Members trained together: every length with every seed."""

    lengths: tuple[int, ...]
    seeds: int

    def __str__(self) -> str:
        """The round in words."""
        return f"training lengths {', '.join(map(str, self.lengths))}, {self.seeds} seeds each"


def beyond(member: Member, metric: Metric, tests: Collection[int]) -> float:
    """A member's largest value over the given test lengths that are longer than what it was trained on."""
    values = zip(member.lengths, member.values(metric), strict=True)
    return max(float(value) for length, value in values if length > member.longest and length in tests)


def line(members: Sequence[Member], metric: Metric, tests: Collection[int]) -> Series:
    """The members by training length, each with its largest value at longer test lengths."""
    lengths = tuple(sorted({one.longest for one in members}))
    groups = {n: tuple(sorted((m for m in members if m.longest == n), key=lambda m: m.seed)) for n in lengths}
    values = [np.asarray([beyond(one, metric, tests) for one in group]) for group in groups.values()]
    generator = np.random.default_rng(BOOTSTRAP_SEED)
    return Series(
        setting={},
        lengths=lengths,
        members=groups,
        medians=np.asarray([np.median(entry) for entry in values]),
        means=np.asarray([np.mean(entry) for entry in values]),
        draws=np.stack([resampled_medians(entry, generator) for entry in values], axis=1),
    )


def next_round(known: Series | None, threshold: float, metric: Metric, shortest: int) -> Round | None:
    """What to train next; None when more of the same would not change the answer.

    First a ladder of doubled lengths; upwards while its top fails, downwards while its foot passes; then two lengths
    inside the bracket; then more seeds, at its ends and where they matter most, until the interval is narrow.
    """
    foot = max(TRIED, shortest)
    if known is None:
        return Round(tuple(foot << k for k in range(TRIED)), FEW)
    failing = ends(known.medians, threshold)
    if failing == len(known.lengths):
        top = known.lengths[-1]
        if undertrained(known, threshold, metric) or top >= foot << (TRIED * LADDERS - 1) or 2 * top > LONGEST:
            return None
        return Round(tuple(top << k for k in range(1, TRIED + 1) if top << k <= LONGEST), FEW)
    if failing == 0:
        lower = spread(shortest - 1, known.lengths[0], TRIED - 1)
        return Round(lower, FEW) if lower else None
    low, high = known.lengths[failing - 1 : failing + 1]
    inside = spread(low, high, 2)
    if inside and high > FINE * low:
        return Round(inside if len(inside) > 1 else (*inside, high), ENOUGH)
    if min(len(known.members[length]) for length in (low, high)) < ENOUGH:
        return Round((low, high), ENOUGH)
    need = required_length(known, threshold)
    more = doubtful(known, threshold, need.length or low)
    return Round(more, ENOUGH) if more and not narrow(need) else None


def doubtful(known: Series, threshold: float, answer: float) -> tuple[int, ...]:
    """The two training lengths where more seeds narrow the interval most; none once they all have plenty.

    Each length is weighed by how often its resampled median lies on the other side of the threshold, times how far
    (in log length) that takes the answer; among equals the nearest to the answer come first.
    """
    other_side = np.mean((known.draws > threshold) != (known.medians > threshold), axis=0)
    distance = np.abs(np.log(known.lengths) - math.log(answer))
    order = sorted(range(len(known.lengths)), key=lambda k: (-other_side[k] * distance[k], distance[k]))
    few = [known.lengths[k] for k in order if len(known.members[known.lengths[k]]) < PLENTY]
    return tuple(sorted(few[:2]))


def ends(medians: Float[np.ndarray, " lengths"], threshold: float) -> int:
    """How many training lengths fail: all up to the last one whose median is above the threshold."""
    above = np.flatnonzero(medians > threshold)
    return int(above[-1]) + 1 if len(above) else 0


def undertrained(known: Series, threshold: float, metric: Metric) -> bool:
    """Whether training itself stays above the threshold at the two longest lengths: longer ones would not help.

    The worst error over strings is at least the root of their mean squared error.
    """
    limit = threshold if metric == "loss" else threshold**2
    return all(float(np.median([m.training_loss for m in known.members[n]])) > limit for n in known.lengths[-2:])


def spread(low: int, high: int, count: int) -> tuple[int, ...]:
    """Up to `count` different integers strictly between two, in geometric steps; all of them if there are no more."""
    between = range(low + 1, high)
    if len(between) <= count:
        return tuple(between)
    start = max(low, 1)
    steps = [round(start * (high / start) ** (k / (count + 1))) for k in range(1, count + 1)]
    return tuple(sorted({min(max(step, low + 1), high - 1) for step in steps}))


def narrow(need: Required) -> bool:
    """Whether the interval leaves one or two whole lengths, or hardly more than its middle."""
    if need.lower is None or need.upper is None:
        return False
    return math.ceil(need.upper) - math.ceil(need.lower) <= 1 or need.upper <= NARROW * need.lower


def certain(known: Series, need: Required, threshold: float) -> bool:
    """Whether there are seeds enough around the answer for the interval to cover what it says."""
    failing = ends(known.medians, threshold)
    around = known.lengths[max(failing - 1, 0) : failing + 1]
    return need.length is not None and all(len(known.members[length]) >= ENOUGH for length in around)
