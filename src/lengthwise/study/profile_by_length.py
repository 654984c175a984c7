"""Figure 3 at any length: attention on and off the residue from type counts, at a cost that does not grow with the length."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from lengthwise.errors import WrongInput
from lengthwise.limit.attention import exponent, power, type_codes
from lengthwise.limit.model import LimitTransformer
from lengthwise.study.hardmax_onset import common_draw
from lengthwise.tasks.protocol import Statistics
from lengthwise.tasks.regression import ModPTask


@dataclass(frozen=True)
class Focus:
    """Attention probabilities of positions, times the number of positions on the residue, so that 1 on it is perfect.

    Means and deviations over positions, strings and models together.
    """

    length: int
    mean_on: float
    deviation_on: float
    mean_off: float
    deviation_off: float


def focus(models: Sequence[LimitTransformer], task: ModPTask, length: int, samples: int = 2048, seed: int = 0) -> Focus:
    """The attention of the last position on strings of one length from the task's law."""
    drawn = task.statistics(np.full(samples, length), common_draw(seed))
    counts = drawn.prefix + (drawn.suffix[0] == np.arange(len(drawn.prefix))[:, None])
    each = np.stack([position_attention(model, drawn) for model in models], axis=1)
    on = np.arange(len(counts)) % task.period == task.residue
    ideal = np.sum(counts[on], axis=0)
    found = []
    for mine in (on, ~on):
        share = counts[mine] / np.sum(counts[mine], axis=0) / samples / len(models)
        scaled = each[mine] * ideal
        mean = float(np.sum(share[:, None] * scaled))
        found += [mean, float(np.sqrt(np.sum(share[:, None] * (scaled - mean) ** 2)))]
    return Focus(length, *found)


def position_attention(model: LimitTransformer, drawn: Statistics) -> Float[np.ndarray, "types columns"]:
    """The attention of one position of each type; heads are averaged. Models without positional logits only."""
    if model.locality or any(np.any(np.asarray(head.phi)) for head in model.layers[0].heads):
        raise WrongInput("a model without positional logits", "one with phi", "give one without", "model")
    codes = type_codes(np.asarray(model.embedding, np.float64), np.asarray(model.positions, np.float64))
    query, length = drawn.suffix[0], int(drawn.length[0])
    counts = drawn.prefix + (query == np.arange(len(drawn.prefix))[:, None])
    total = np.zeros(counts.shape)
    for head in model.layers[0].heads:
        table = (np.asarray(head.key, np.float64) @ codes).T @ (np.asarray(head.query, np.float64) @ codes)
        logits = exponent(model.attention, table[:, query], None, float(np.log(length)), float(np.log2(length)))
        there = np.where(counts > 0, logits, -np.inf)
        weights = power(model.attention, logits - np.max(there, axis=0), model.bits)
        total += weights / np.sum(weights * counts, axis=0)
    return total / len(model.layers[0].heads)
