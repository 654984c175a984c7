"""What one half of a string must say for the other half to compute every activation of its own: Theorem 12, run.

Whoever holds the first half sends, layer by layer, what heads of later positions still see of it: the last positions one
by one, as far as phi reaches, and of all positions before, for each key that heads can tell apart, how many positions
carry it and the sum of their values. A weighted mean needs no more. Where keys and values take finitely many values, as
in compiled programs, these are integers of log2 N bits each, and how many there are does not depend on N.

Source: Huang et al. 2025, Theorem 12. Ours: the message; `message_bits.py` says how many bits it takes.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from lengthwise.errors import WrongInput
from lengthwise.limit.attention import add_mlp, exponent, mean_of, power, shift_of
from lengthwise.limit.dense import attend
from lengthwise.limit.model import Head, LimitTransformer
from lengthwise.strings import encode

Rows = Float[np.ndarray, "_ width"]
Tokens = str | Sequence[int] | Sequence[str] | Int[np.ndarray, " _"]


@dataclass(frozen=True, eq=False)
class Keys:
    """The distinct keys of a head at some positions: how many positions carry each, and the sum of their values."""

    keys: Float[np.ndarray, "distinct inside"]
    counts: Float[np.ndarray, " distinct"]
    sums: Float[np.ndarray, "distinct width"]

    @classmethod
    def of(cls, head: Head, rows: Rows) -> "Keys":
        """The keys that some query can tell apart; there is one where all logits are 0."""
        keys = rows @ head.key.T if np.any(head.query) else np.zeros((len(rows), len(head.key)))
        distinct, place = np.unique(keys + 0.0, axis=0, return_inverse=True)
        member = (place.reshape(-1) == np.arange(len(distinct))[:, None]).astype(np.float64)
        return cls(distinct, member.sum(axis=1), member @ (rows @ head.value.T))


@dataclass(frozen=True, eq=False)
class Sent:
    """What is sent of one layer: the rows of the last positions that enter it, and for each head the keys before."""

    window: Rows
    heads: tuple[Keys, ...]


def message(model: LimitTransformer, first: Tokens, length: int, window: int | None = None) -> tuple[Sent, ...]:
    """What the holder of the first tokens of a string of `length` tokens sends, layer by layer.

    window: of how many last positions the rows are sent, locality + 1 unless said otherwise. The locality is enough,
    since the first query of the other half sees the last position of this one at offset 1.
    """
    near = model.locality + 1 if window is None else window
    rows, sent = entering(model, encode(first, model.names), 1), []
    if len(rows) >= length:
        raise WrongInput(
            "a first half that is shorter than the string", f"{len(rows)} of {length}", "leave a second half"
        )
    for layer in model.layers:
        far = max(0, len(rows) - near)
        sent.append(Sent(rows[far:], tuple(Keys.of(head, rows[:far]) for head in layer.heads)))
        means = [attend(model, head, rows, 0, length) for head in layer.heads]
        rows = add_mlp(layer, (rows + sum(means)).T).T
    return tuple(sent)


def continued(model: LimitTransformer, sent: Sequence[Sent], second: Tokens, length: int) -> tuple[Rows, ...]:
    """The rows of the second half before layer 1, and after every layer, from the message and the second half alone."""
    tokens = encode(second, model.names)
    rows = entering(model, tokens, length - len(tokens) + 1)
    found = [rows]
    for layer, known in zip(model.layers, sent, strict=True):
        means = [
            _answered(model, head, known.window, far, rows, length)
            for head, far in zip(layer.heads, known.heads, strict=True)
        ]
        rows = add_mlp(layer, (rows + sum(means)).T).T
        found.append(rows)
    return tuple(found)


def entering(model: LimitTransformer, tokens: Int[np.ndarray, " n"], start: int) -> Rows:
    """y_i = embedding[x_i] + positions[i mod period] for the positions i = start, start + 1, ..."""
    places = np.arange(start, start + len(tokens)) % model.period
    return np.asarray(model.embedding[tokens] + model.positions[places], dtype=np.float64)


def _answered(model: LimitTransformer, head: Head, window: Rows, far: Keys, rows: Rows, length: int) -> Rows:
    """A head's weighted means at the positions of `rows`, the last of the string, behind a window and far keys.

    sum over far keys of  w(key) * sum  +  over window and rows of  w(y_j, phi) V y_j,   by the same with counts
    """
    near = np.concatenate([window, rows])
    keys = np.concatenate([far.keys, near @ head.key.T])
    counts = np.concatenate([far.counts, np.ones(len(near))])
    sums = np.concatenate([far.sums, near @ head.value.T])
    content = (rows @ head.query.T) @ keys.T
    offset = len(window) + np.arange(len(rows))[:, None] - np.arange(len(near))
    offset = np.concatenate([np.full((len(rows), len(far.keys)), len(head.phi)), offset], axis=1)
    phi = np.append(head.phi, 0.0)[np.clip(offset, 0, len(head.phi))]
    log_position = np.log(np.arange(length - len(rows) + 1, length + 1))[:, None]
    logits = exponent(model.attention, content, phi, log_position, math.log2(length))
    logits = np.where(offset < 0, -np.inf, logits)
    weights = power(model.attention, logits - shift_of(logits.max(axis=1))[:, None], model.bits)
    return np.asarray(mean_of(weights @ sums, (weights @ counts)[:, None]))
