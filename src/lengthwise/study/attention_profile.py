"""Where the last position looks: attention probabilities of trained one-layer models, for Figure 3."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from lengthwise.limit.attention import exponent, power
from lengthwise.limit.model import LimitTransformer


@dataclass(frozen=True, eq=False)
class Profile:
    """Attention by position over a batch of strings and all seeds of one training length.

    mean and deviation: one entry a position 1..n. on: positions of the residue. plateau: the median test loss there.
    """

    attention: str
    longest: int
    plateau: float
    seeds: int
    mean: Float[np.ndarray, " positions"]
    deviation: Float[np.ndarray, " positions"]
    on: Any
    mean_on: float
    deviation_on: float
    mean_off: float
    deviation_off: float

    @property
    def count(self) -> int:
        """How many positions have the residue."""
        return int(np.sum(self.on))

    @property
    def farthest_on(self) -> float:
        """The largest distance of a residue position's mean from 1/count, relative to it."""
        return float(np.max(np.abs(self.mean[self.on] * self.count - 1)))

    @property
    def largest_off(self) -> float:
        """The largest mean elsewhere, relative to 1/count."""
        return float(np.max(self.mean[~self.on], initial=0.0) * self.count)

    def row(self) -> dict[str, Any]:
        """The numbers of this training length."""
        names = ("plateau", "seeds", "mean_on", "deviation_on", "mean_off", "deviation_off", "farthest_on")
        return {"training_length": self.longest} | {name: getattr(self, name) for name in (*names, "largest_off")}


def attention_weights(
    model: LimitTransformer, strings: Int[np.ndarray, "count length"]
) -> Float[np.ndarray, "count length"]:
    """The attention that the last position of each string pays to each position; heads are averaged.

    a_j = w_j / sum_i w_i,   w_j = weight of (key @ y_j) . (query @ y_n) + phi[n - j] by the model's rule
    """
    count, length = strings.shape
    residues = np.arange(1, length + 1) % model.period
    y = np.asarray(model.embedding, np.float64)[strings] + np.asarray(model.positions, np.float64)[residues]
    total = np.zeros((count, length))
    for head in model.layers[0].heads:
        key, query = np.asarray(head.key, np.float64), np.asarray(head.query, np.float64)
        content = np.einsum("bjd,bd->bj", y @ key.T, y[:, -1] @ query.T)
        phi = np.zeros(length)
        near = min(len(head.phi), length)
        phi[length - near :] = np.asarray(head.phi, np.float64)[:near][::-1]
        logits = exponent(model.attention, content, phi[None], float(np.log(length)), float(np.log2(length)))
        weights = power(model.attention, logits - np.max(logits, axis=1, keepdims=True), model.bits)
        total += weights / np.sum(weights, axis=1, keepdims=True)
    return total / len(model.layers[0].heads)


def profile(
    models: Iterable[LimitTransformer],
    strings: Int[np.ndarray, "count length"],
    residue: int,
    period: int,
    longest: int,
    plateau: float,
) -> Profile:
    """The profile of one training length: all strings under all seeds' models together."""
    known: Sequence[LimitTransformer] = list(models)
    weights = np.concatenate([attention_weights(model, strings) for model in known])
    on = np.arange(1, strings.shape[1] + 1) % period == residue
    return Profile(
        attention=known[0].attention,
        longest=longest,
        plateau=plateau,
        seeds=len(known),
        mean=np.mean(weights, axis=0),
        deviation=np.std(weights, axis=0),
        on=on,
        mean_on=float(np.mean(weights[:, on])),
        deviation_on=float(np.std(weights[:, on])),
        mean_off=float(np.mean(weights[:, ~on])) if not np.all(on) else 0.0,
        deviation_off=float(np.std(weights[:, ~on])) if not np.all(on) else 0.0,
    )
