"""Balanced windows (S2): of each super-block the window that keeps token counts and layer-2 means in balance."""

import itertools
from collections.abc import Iterator, Sequence

import numpy as np
from jaxtyping import Float, Int

from lengthwise.limit.limits import limit_rows
from lengthwise.limit.model import LimitTransformer
from lengthwise.limit.regimes import Regime, regimes
from lengthwise.theory.balancing import balanced_choices
from lengthwise.theory.samplers import boundaries, check_windows
from lengthwise.theory.sampling_rates import Shape

Rows = Float[np.ndarray, "n statistics"]


def balanced_offsets(
    models: Sequence[LimitTransformer], tokens: Int[np.ndarray, " n"], blocks: int, window: int, shape: Shape
) -> Int[np.ndarray, " K"]:
    """One offset a super-block, chosen by prefix vector balancing; deterministic.

    Statistics: the counts of (S - 1) Delta extended tokens and the layer-2 functionals of every model, D_tot in all.
    Source: two-layer note, sections 5 (S2) and 8.3.
    """
    check_windows(len(tokens), blocks, window, shape)
    ends = boundaries(len(tokens), blocks, shape)
    parts = [token_statistics(tokens, shape), *(functionals(model, tokens) for model in models)]
    rows = np.concatenate([part[: ends[-1]] for part in parts], axis=1)
    chosen = balanced_choices(_groups(rows, ends, window, shape), rows.shape[1])
    return shape.period * np.asarray(chosen)


def _groups(rows: Rows, ends: Int[np.ndarray, " ends"], window: int, shape: Shape) -> Iterator[Rows]:
    """For each super-block the mean statistics of its circular windows, one at every multiple of the period."""
    for start, end in itertools.pairwise(ends.tolist()):
        block = rows[start:end]
        circle = np.concatenate([np.zeros((1, rows.shape[1])), block, block[: window - 1]])
        sums = np.cumsum(circle, axis=0)
        starts = np.arange(0, end - start, shape.period)
        yield (sums[starts + window] - sums[starts]) / window


def token_statistics(tokens: Int[np.ndarray, " n"], shape: Shape) -> Rows:
    """For every position the one-hot of its extended token, without the last symbol, whose share is what is left."""
    types = tokens * shape.period + np.arange(1, len(tokens) + 1) % shape.period
    return np.asarray(types[:, None] == np.arange((shape.symbols - 1) * shape.period), np.float64)


def functionals(model: LimitTransformer, tokens: Int[np.ndarray, " n"]) -> Rows:
    """For every head of layer 2 with a bulk and every position i, the coordinates of g_i in the image of V_2.

        g_i = e^(b_i - max b) (V_2 y^_i - a),   b_i = <y^_i, W y^_T>,   a = output of the limit head on x;   |g_i| <= 1

    y^ are the rows of the limit model. Source: two-layer note, section 8.3, last lines.
    """
    rows = limit_rows(model, tokens)
    found = [np.zeros((len(tokens), 0))]
    for head, regime in zip(model.layers[1].heads, regimes(model)[1], strict=True):
        if regime.domination == "position":
            continue  # its limit reads single positions only
        logits = (rows @ np.asarray(head.key).T) @ (np.asarray(head.query) @ rows[-1])
        weights = np.exp(logits - logits.max())
        values = rows @ np.asarray(head.value).T
        away = weights[:, None] * (values - _limit_output(regime, weights, values))
        image = np.linalg.svd(np.asarray(head.value, np.float64))
        rank = int((image[1] > image[1].max(initial=0) * 1e-12).sum())
        seen = away @ image[0][:, :rank]
        found.append(seen / max(np.linalg.norm(seen, axis=1).max(), 1e-300))
    return np.concatenate(found, axis=1)


def _limit_output(regime: Regime, weights: np.ndarray, values: np.ndarray) -> Float[np.ndarray, " width"]:
    """The bulk average, with the atoms of a balanced head beside it (weights n for the bulk as a whole)."""
    n = len(weights)
    atoms = [n - 1 - offset for offset in regime.offsets if offset < n]
    mass, total = weights.sum() / n, weights @ values / n
    for place in atoms:
        mass, total = mass + weights[place], total + weights[place] * values[place]
    return np.asarray(total / mass)
