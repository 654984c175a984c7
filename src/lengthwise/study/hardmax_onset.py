"""How far attention is from its hardmax on the strings of a task's law, at any length, and from which length on it is near."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from lengthwise.errors import WrongInput
from lengthwise.limit.hardmax_distance import distances
from lengthwise.limit.model import LimitTransformer
from lengthwise.tasks.protocol import Draw, RegressionTask

_PRIMES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53)
LONGEST = 1 << 50  # uniform fractions have 53 binary digits, and counts are exact in a float up to there


@dataclass(frozen=True, eq=False)
class LawDistances:
    """Distances from the hardmax on strings of one length from a task's law: the largest over heads, one a string."""

    length: int
    values: Float[np.ndarray, " samples"]

    @property
    def mean(self) -> float:
        """The mean over strings."""
        return float(np.mean(self.values))

    @property
    def standard_error(self) -> float:
        """Of the mean of as many independent strings; evenly spread ones are nearer."""
        return float(np.std(self.values) / math.sqrt(len(self.values)))

    def quantile(self, share: float) -> float:
        """The distance that a share of the strings keeps."""
        return float(np.quantile(self.values, share, method="inverted_cdf"))

    def within(self, share: float | None) -> float:
        """The mean, or the quantile of a share of the strings."""
        return self.mean if share is None else self.quantile(share)


def law_distances(
    model: LimitTransformer, task: RegressionTask, length: int, samples: int = 8192, seed: int = 0
) -> LawDistances:
    """The distances on `samples` strings of one length, drawn with the same numbers (`common_draw`) at every length."""
    if not task.shortest <= length <= LONGEST:
        raise WrongInput(f"a length from {task.shortest} to {LONGEST}", f"{length}", "change the length", "length")
    drawn = task.statistics(np.full(samples, length), common_draw(seed))
    return LawDistances(length, np.max(distances(model, drawn.prefix, drawn.suffix, length), axis=0))


def common_draw(seed: int) -> Draw:
    """Integers floor(u bound) in [0, bound), whose u depends on the seed, the number of the row drawn and the place in it.

    u_j = j sqrt(q) + shift mod 1, with a prime q and a random shift of its own for each row: spread more evenly than random
    numbers, so that a mean over N strings is off by about 1/N and not by 1/sqrt(N). Rows beyond the primes are random.
    """
    rows = iter(range(1 << 16))

    def draw(bounds: Any) -> Int[np.ndarray, "..."]:
        shape = np.shape(bounds)
        fraction = np.stack([_spread(seed, next(rows), shape[-1]) for _ in range(math.prod(shape[:-1]))])
        return np.asarray(np.minimum((fraction.reshape(shape) * bounds).astype(np.int64), np.asarray(bounds) - 1))

    return draw


def _spread(seed: int, row: int, size: int) -> Float[np.ndarray, " size"]:
    generator = np.random.default_rng((seed, row))
    if row >= len(_PRIMES):
        return generator.random(size)
    return (np.arange(size) * math.sqrt(_PRIMES[row]) + generator.random()) % 1.0


def law_onset(
    model: LimitTransformer,
    task: RegressionTask,
    distance: float,
    share: float | None = None,
    samples: int = 8192,
    seed: int = 0,
) -> int | None:
    """The length from which the mean distance (or that of a share of the strings) stays within a distance, measured.

    Powers of two up to 2^49 are measured, each with the period - 1 lengths behind it, so that the last position has every
    residue; between the last that is further and the next one the crossing is found by halving. None if the last power
    is further still.
    """

    def further(length: int) -> bool:
        around = range(length, length + model.period)
        return any(law_distances(model, task, n, samples, seed).within(share) > distance for n in around)

    powers = [1 << k for k in range(LONGEST.bit_length() - 1) if 1 << k >= max(task.shortest, model.locality + 1)]
    outside = [place for place, length in enumerate(powers) if further(length)]
    if not outside:
        return powers[0]
    if outside[-1] == len(powers) - 1:
        return None
    low, high = powers[outside[-1]], powers[outside[-1] + 1]
    while high - low > max(1, low >> 10):
        middle = (low + high) // 2
        low, high = (middle, high) if further(middle) else (low, middle)
    return high
