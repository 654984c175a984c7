"""A whole study measured: what `lw.measure` returns and the verb prints."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from lengthwise.errors import WrongInput
from lengthwise.study.curves import METRICS, Member, Metric, Series, series
from lengthwise.study.measure import Plateau, Required, plateaus, required_length
from lengthwise.study.scaling import Scaling, exponents


@dataclass(frozen=True, eq=False)
class Measurement:
    """Curves of a study by setting, ready to be asked."""

    members: tuple[Member, ...]
    metric: Metric
    series: tuple[Series, ...]

    def plateaus(self) -> list[list[Plateau]]:
        """For each setting the plateau at each training length."""
        return [plateaus(line, self.metric) for line in self.series]

    def required_lengths(self, threshold: float) -> list[Required]:
        """For each setting the training length that the threshold needs."""
        return [required_length(line, threshold) for line in self.series]

    def required_length(self, loss: float | None = None, error: float | None = None) -> float | None:
        """The required length of a study with one setting; None where it is not reached.

        A study with several settings has several: ask `required_lengths`.
        """
        metric, threshold = metric_of(loss, error)
        lines = self.series if metric == self.metric else tuple(series(self.members, metric))
        if len(lines) != 1:
            raise WrongInput(
                "a study with one setting",
                f"{len(lines)}: {'; '.join(line.name for line in lines[:3])}...",
                "ask required_lengths(threshold), one entry a setting",
            )
        found = required_length(lines[0], threshold)
        return float(found.bound) if found.censored == "at most" else found.length

    def exponents(self, threshold: float) -> list[Scaling]:
        """How the required length grows with each quantity that varies, and with 1/error."""
        return exponents(self.series, threshold, self.metric)

    def to_json(self, threshold: float) -> dict[str, Any]:
        """The fields that `lengthwise measure --json` prints; lists run over the settings."""
        needed = self.required_lengths(threshold)
        reasons = [None if need.length is not None else need.sentence for need in needed]
        return {
            "metric": f"{self.metric}: {METRICS[self.metric]}",
            "threshold": threshold,
            "averaged": "median over seeds, at the longest test length",
            "settings": [dict(line.setting) for line in self.series],
            "required_length": [need.length for need in needed],
            "required_length_reason": reasons,
            "interval": [[need.lower, need.upper] for need in needed],
            "interval_reason": [need.interval_reason or None for need in needed],
            "plateaus": [[_plateau(found) for found in group] for group in self.plateaus()],
            "exponents": [_without_empty_reason(asdict(found)) for found in self.exponents(threshold)],
        }


def measured(members: Iterable[Member], metric: Metric = "loss") -> Measurement:
    """The measurement of some members by one metric."""
    known = tuple(members)
    if not known:
        raise WrongInput("a study with at least one finished run", "none", "run lengthwise sweep first")
    short = next((one for one in known if not one.lengths), None)
    if short is not None:
        raise WrongInput("runs that were tested", f"run {short.run} without a test curve", "run it again")
    return Measurement(known, metric, tuple(series(known, metric)))


def metric_of(loss: float | None, error: float | None) -> tuple[Metric, float]:
    """Which of the two kinds of threshold was given."""
    if (loss is None) == (error is None):
        got = "neither" if loss is None else "both"
        raise WrongInput("--loss L or --error E", got, "give one of them: they are different things")
    threshold = loss if loss is not None else error
    assert threshold is not None
    if not 0 < threshold < float("inf"):
        raise WrongInput("a threshold above 0", f"{threshold}", "the paper's is a loss of 0.01")
    return ("loss" if loss is not None else "error"), float(threshold)


def _plateau(found: Plateau) -> dict[str, Any]:
    fields = asdict(found) | {"bad_seeds": list(found.bad_seeds)}
    fields["training_length"] = fields.pop("longest")
    fields["settled_reason"] = fields.pop("reason") or None
    if fields["change"] is None:
        for name in ("change", "change_lower", "change_upper"):
            fields[f"{name}_reason"] = fields["settled_reason"]
    elif fields["change_lower"] is None:
        fields["change_lower_reason"] = fields["change_upper_reason"] = "one seed: no interval"
    return fields


def _without_empty_reason(fields: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if name != "reason" or value}
