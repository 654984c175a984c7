"""The definition, as it is written: every query looks at every key before it. Quadratic in the length."""

import math
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from lengthwise.limit.attention import add_mlp, exponent, mean_of, namespace, power, shift_of
from lengthwise.limit.model import Head, Layer, LimitTransformer


def dense(model: LimitTransformer, string: Int[Any, " n"], positions: str, block: int = 1024) -> Float[Any, "..."]:
    """Outputs of the model at the last position, or at all, from the definition; any depth, queries in blocks."""
    rows = embed(model, string)
    n = rows.shape[0]
    for layer in model.layers[:-1]:
        rows = dense_layer(model, layer, rows, 0, block)
    rows = dense_layer(model, model.layers[-1], rows, 0 if positions == "all" else n - 1, block)
    outputs = rows @ model.unembedding.T
    return outputs if positions == "all" else outputs[-1]


def embed(model: LimitTransformer, string: Int[Any, " n"]) -> Float[Any, "n width"]:
    """y_i = embedding[x_i] + positions[i mod period], i = 1..n."""
    xp = namespace(model.embedding, string)
    residues = np.arange(1, string.shape[0] + 1) % model.period
    return xp.take(model.embedding, string, axis=0) + xp.take(model.positions, residues, axis=0)


def dense_layer(
    model: LimitTransformer, layer: Layer, rows: Any, first: int, block: int
) -> Float[Any, "queries width"]:
    """One layer at the positions from `first` (0-based) on, attending to all positions before them."""
    xp = namespace(rows)
    n = rows.shape[0]
    blocks = []
    for start in range(first, n, block):
        stop = min(start + block, n)
        after = rows[start:stop]
        for head in layer.heads:
            after = after + attend(model, head, rows[:stop], start, n)
        blocks.append(add_mlp(layer, after.T).T if layer.mlp is not None else after)
    return blocks[0] if len(blocks) == 1 else xp.concat(blocks, axis=0) if blocks else rows[:0]


def attend(
    model: LimitTransformer, head: Head, rows: Float[Any, "keys width"], start: int, length: int
) -> Float[Any, "queries width"]:
    """The head's weighted means for the queries start, start + 1, ... among the given rows (0-based) of a string.

    logits -> masked to j <= i -> shifted by their largest -> raised -> flushed if the model has bits -> normalised.
    """
    xp = namespace(rows)
    stop = rows.shape[0]
    content = (rows[start:] @ head.query.T) @ (rows @ head.key.T).T  # (queries, keys)
    offset = np.arange(start, stop)[:, None] - np.arange(stop)[None, :]
    padded = xp.concat([xp.asarray(head.phi, dtype=content.dtype), xp.zeros(1, dtype=content.dtype)])
    phi = xp.take(padded, np.clip(offset, 0, len(head.phi)))
    log_position = xp.log(xp.asarray(np.arange(start + 1, stop + 1), dtype=content.dtype))[:, None]
    logits = exponent(model.attention, content, phi, log_position, math.log2(length))
    logits = xp.where(offset < 0, -np.inf, logits)
    weights = power(model.attention, logits - shift_of(xp.max(logits, axis=1))[:, None], model.bits)
    return mean_of(weights @ (rows @ head.value.T), xp.sum(weights, axis=1)[:, None])
