"""What a finished run says to measurement: its settings, and its test loss against the test length."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from jaxtyping import Float

from lengthwise.study.runfile import Finished
from lengthwise.tasks.registry import parsed

Metric = Literal["loss", "error"]
Value = int | float | str
METRICS = {
    "loss": "mean squared error over the test strings",
    "error": "worst absolute error over the test strings",
}
DRAWS = 1000  # bootstrap samples
BOOTSTRAP_SEED = 20


@dataclass(frozen=True)
class Member:
    """One trained member: `settings` are the task's parameters and the model's; losses that are not finite are inf.

    stop: the training loss at which it was to stop.
    """

    run: str
    task: str
    settings: Mapping[str, Value]
    longest: int
    seed: int
    lengths: tuple[int, ...]
    loss: tuple[float, ...]
    worst: tuple[float, ...]
    training_loss: float
    ended: str
    stop: float = 0.0

    def values(self, metric: Metric) -> Float[np.ndarray, " tests"]:
        """The metric at each test length: the mean squared error, or the root of the worst squared error."""
        return np.asarray(self.loss) if metric == "loss" else np.sqrt(np.asarray(self.worst))


@dataclass(frozen=True, eq=False)
class Series:
    """One setting: its seeds at each training length, and what the last test length says of them.

    medians and means: over seeds, at the longest test length, one entry a training length. draws: medians of seeds
    resampled with replacement, independently at each training length.
    """

    setting: Mapping[str, Value]
    lengths: tuple[int, ...]
    members: Mapping[int, tuple[Member, ...]]
    medians: Float[np.ndarray, " lengths"]
    means: Float[np.ndarray, " lengths"]
    draws: Float[np.ndarray, "draws lengths"]

    @property
    def name(self) -> str:
        """The setting in words."""
        return named(self.setting)

    @property
    def resampled(self) -> bool:
        """Whether there is more than one seed everywhere, so that an interval means something."""
        return all(len(group) > 1 for group in self.members.values())

    def interval(self) -> tuple[Float[np.ndarray, " lengths"], Float[np.ndarray, " lengths"]]:
        """The bootstrap interval of 95 % around the medians."""
        return quantiles(self.draws)


def member(one: Finished) -> Member:
    """A finished run as measurement sees it."""
    name, parameters = parsed(one.run.task)
    model = one.run.model
    settings: dict[str, Value] = dict(parameters)
    settings |= {"attention": model.attention, "width": model.width, "units": model.units, "heads": model.heads}
    settings["rate"] = one.run.training.rate
    settings["adversarial"] = one.run.training.corner_share
    lengths, loss, worst = zip(*sorted(one.curve), strict=True) if one.curve else ((), (), ())
    return Member(
        run=one.run.id,
        task=name,
        settings=settings,
        longest=one.run.longest,
        seed=one.run.seed,
        lengths=lengths,
        loss=tuple(map(_finite, loss)),
        worst=tuple(map(_finite, worst)),
        training_loss=_finite(one.training_loss),
        ended=one.ended,
        stop=one.run.training.stop,
    )


def series(members: Iterable[Member], metric: Metric = "loss", generator: Any = None) -> list[Series]:
    """The members grouped by what varies among them apart from training length and seed; attention always counts."""
    known = list(members)
    generator = np.random.default_rng(BOOTSTRAP_SEED) if generator is None else generator
    names = [name for name in _names(known) if name == "attention" or len({m.settings.get(name) for m in known}) > 1]
    groups: dict[tuple[Any, ...], dict[int, list[Member]]] = {}
    for one in known:
        key = tuple(one.settings.get(name, "") for name in names)
        groups.setdefault(key, {}).setdefault(one.longest, []).append(one)
    found = []
    for key in sorted(groups, key=lambda key: tuple((isinstance(v, str), v) for v in key)):
        group = {length: tuple(sorted(groups[key][length], key=lambda m: m.seed)) for length in sorted(groups[key])}
        ends = [np.asarray([m.values(metric)[-1] for m in group[length]]) for length in group]
        draws = np.stack([resampled_medians(values, generator) for values in ends], axis=1)
        medians, means = (np.asarray([f(values) for values in ends]) for f in (np.median, np.mean))
        found.append(Series(dict(zip(names, key, strict=True)), tuple(group), group, medians, means, draws))
    return found


def resampled_medians(values: Float[np.ndarray, " seeds"], generator: Any) -> Float[np.ndarray, " draws"]:
    """Medians of the seeds drawn with replacement."""
    chosen = generator.integers(0, len(values), size=(DRAWS, len(values)))
    return np.asarray(np.median(values[chosen], axis=1))


def quantiles(
    draws: Float[np.ndarray, "draws *rest"],
) -> tuple[Float[np.ndarray, "*rest"], Float[np.ndarray, "*rest"]]:
    """The 2.5 % and 97.5 % quantiles of bootstrap draws; draws may be infinite, so nothing is interpolated."""
    low, high = np.quantile(draws, [0.025, 0.975], axis=0, method="inverted_cdf")
    return np.asarray(low), np.asarray(high)


def common_lengths(members: Sequence[Member]) -> tuple[int, ...]:
    """The test lengths that all of some members were tested at."""
    shared = set(members[0].lengths).intersection(*(m.lengths for m in members))
    return tuple(sorted(shared))


def losses_at(members: Sequence[Member], lengths: Sequence[int], metric: Metric) -> Float[np.ndarray, "seeds tests"]:
    """The metric of each member at some test lengths."""
    places = [[m.lengths.index(length) for length in lengths] for m in members]
    return np.stack([m.values(metric)[place] for m, place in zip(members, places, strict=True)])


def named(setting: Mapping[str, Value]) -> str:
    """A setting in words: attention plain, omega 4."""
    return ", ".join(f"{name} {shown_value(value)}" for name, value in setting.items()) or "the one setting"


def shown_value(value: Value) -> str:
    """A parameter as people write it."""
    return f"{value:g}" if isinstance(value, (int, float)) else value


def _names(members: Sequence[Member]) -> list[str]:
    return list(dict.fromkeys(["attention", *(name for m in members for name in m.settings)]))


def _finite(value: float) -> float:
    return float(value) if math.isfinite(value) else math.inf
