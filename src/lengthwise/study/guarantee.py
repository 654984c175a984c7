"""What a theorem says of trained weights: the training length it gives, beside the worst errors that were measured."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lengthwise.errors import WrongInput
from lengthwise.limit.model import LimitTransformer
from lengthwise.study.curves import BOOTSTRAP_SEED, Member, Metric, Series, quantiles, resampled_medians
from lengthwise.study.panels import AXES, Line, Panel, required_points, symbol
from lengthwise.study.store import Store
from lengthwise.theory.answer import Bound, NoBound
from lengthwise.theory.bound import bound

ERROR = 0.5  # the worst absolute error that figures ask for
MOST_TERMS = 1 << 26  # pairs of types times weights of the hidden layer; larger models take minutes in exact rationals
LARGEST_DRAWN = 1000.0  # log2; axes are in floats


@dataclass(frozen=True)
class Guarantee:
    """Training lengths for trained models, one a model, as their log2; none where no theorem applies, and why.

    A length N means: a model that agrees with one of them on the strings of the window up to N, and has no worse
    constants, agrees up to `error` more on every longer string.
    """

    error: float
    bounds: tuple[Bound, ...]
    reason: str

    @property
    def log2_lengths(self) -> tuple[float, ...]:
        """Log2 of each model's length, rounded up."""
        return tuple(one.log2_training_length for one in self.bounds)

    @property
    def theorem(self) -> str:
        """The theorem, where there is one."""
        return self.bounds[0].theorem if self.bounds else ""


def guarantee(models: Iterable[LimitTransformer], error: float) -> Guarantee:
    """The bound of each model against every model that is no worse, or the first reason why there is none."""
    found: list[Bound] = []
    for model in models:
        reason = ""
        if terms(model) > MOST_TERMS:
            return Guarantee(error, (), "these models are too large to be weighed for every report")
        try:
            one = bound(model, error=error)
        except WrongInput as wrong:  # an error that no two outputs differ by
            reason = f"wanted {wrong.wanted}; got {wrong.got}"
        else:
            reason = one.reason if isinstance(one, NoBound) else ""
            if isinstance(one, Bound):
                found.append(one)
        if reason:
            return Guarantee(error, (), reason)
    return Guarantee(error, tuple(found), "" if found else "there are no weights to look at")


def terms(model: LimitTransformer) -> int:
    """What the sensitivity of a head sums, for each pair of types."""
    mlp = model.layers[0].mlp
    weights = 1 if mlp is None else np.size(mlp.inner)
    return int((model.symbols * model.period) ** 2 * weights)


def weighed(line: Series) -> tuple[Member, ...]:
    """The members whose weights are looked at: those of the longest training length that did not diverge."""
    return tuple(one for one in line.members[line.lengths[-1]] if one.ended != "diverged")


def proved(lines: Sequence[Series], store: Store, error: float = ERROR) -> list[Guarantee]:
    """The guarantee of each setting's longest trained models; what an archive left out is not looked at."""
    return [
        guarantee((store.model(one.run) for one in weighed(line) if store.has_model(one.run)), error) for line in lines
    ]


def beside_the_measured(
    errors: Sequence[Series], store: Store, reasons: list[str]
) -> Callable[[Sequence[Series], str], Panel | None]:
    """For `figures.rows_of`: the panel of worst errors of a group; why there is none is added to `reasons`."""
    known = {tuple(line.setting.items()): line for line in errors}

    def panel(group: Sequence[Series], parameter: str) -> Panel | None:
        lines = [known[tuple(line.setting.items())] for line in group]
        found = proved(lines, store)
        why = next((one.reason for one in found if one.reason), "")
        if why:
            reasons.append(f"No bound beside {group[0].setting['attention']} attention: {why}.")
            return None
        return worst_panel(lines, parameter, found)

    return panel


def worst_panel(lines: Sequence[Series], parameter: str, found: Sequence[Guarantee]) -> Panel:
    """The training length for a worst absolute error: where measured ones stay below it, and what the theorem gives.

    lines: of the metric "error". Both are about the worst string: measured over the test strings, so the true worst
    is no smaller; proved over all strings, for the weights of the longest training length, with an interval over seeds.
    """
    error = found[0].error
    x = np.asarray([float(line.setting[parameter]) for line in lines])
    drawn = required_points(lines, x, error)
    generator = np.random.default_rng(BOOTSTRAP_SEED)
    logs = [np.minimum(one.log2_lengths, LARGEST_DRAWN) for one in found]
    ends = [quantiles(resampled_medians(values, generator)) for values in logs]
    middle, low, high = (2.0 ** np.asarray(part) for part in (list(map(np.median, logs)), *zip(*ends, strict=True)))
    drawn.append(Line(f"{found[0].theorem} for the trained weights", x, middle, low, high, "proved"))
    return Panel(
        "worst",
        f"Length for worst error {error:g}, by {symbol(parameter)}",
        AXES.get(parameter, parameter),
        f"training length\n(worst absolute error {error:g})",
        tuple(drawn),
        (parameter, "training_length_for_worst_error"),
        whole_numbers=True,
    )


def words(error: float = ERROR) -> str:
    """What the panel of worst errors shows, for the caption."""
    return (
        f"Worst error {error:g}: circles, where the largest absolute error over the test strings stays below it; squares, "
        f"the length up to which two models that agree differ by at most {error:g} more on every longer string, for the "
        "weights of the longest training length against all that are no worse."
    )


@dataclass(frozen=True)
class Theory:
    """What a theorem says of the members that a forecast trained; `proof` is None where it says nothing, see reason.

    error: the worst absolute error asked for, which for a loss L is its root, because errors of at most sqrt(L) make a
    loss of at most L. trained_up_to, seed: whose weights the theorem speaks of.
    """

    error: float
    trained_up_to: int
    seed: int
    proof: Bound | None
    reason: str

    @property
    def sentence(self) -> str:
        """The theory in words."""
        if self.proof is None:
            return f"theory: no bound; {self.reason}"
        return f"theory, for the weights of seed {self.seed} trained up to {self.trained_up_to}: {self.proof}"

    def fields(self) -> dict[str, Any] | None:
        """What `forecast --json` has under theory."""
        if self.proof is None:
            return None
        return {
            "theorem": self.proof.theorem,
            "source": self.proof.source,
            "error": self.error,
            "training_length": self.proof.training_length,
            "log2_training_length": self.proof.log2_training_length,
            "window": self.proof.window,
            "dominant_term": self.proof.dominant.name,
            "attention": self.proof.attention,
            "trained_up_to": self.trained_up_to,
            "seed": self.seed,
            "sentence": f"{self.proof}",
        }


def theory_of(one: Member, model: LimitTransformer, metric: Metric, threshold: float) -> Theory:
    """The guarantee of one trained member, for the error or the loss that a forecast was asked for."""
    error = threshold if metric == "error" else math.sqrt(threshold)
    found = guarantee([model], error)
    return Theory(error, one.longest, one.seed, found.bounds[0] if found.bounds else None, found.reason)
