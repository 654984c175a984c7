"""The limit of the first layer of a log-suffix model."""

import numpy as np
from jaxtyping import Float

from lengthwise.limit.attention import add_mlp
from lengthwise.limit.model import Head, LimitTransformer
from lengthwise.limit.regimes import Regime, regimes
from lengthwise.strings import encode

_CHUNK = 65_536


def limit_rows(model: LimitTransformer, string: object) -> Float[np.ndarray, "n width"]:
    """The rows y_i after the first layer with every head replaced by its limit, in float64 and linear time.

        F_h(i) = mean of V_h e under the weights  [phi* <= 1] mu_i(e) e^{c_h(e, e_i)}  and, for t in T*,
                 e^{c_h(e_{i-t}, e_i)} at e_{i-t};     mu_i = law of e_1..e_i, indices below 1 are read as 1

    Source: two-layer note, section 4. A position that has only masked keys is not treated apart.
    """
    tokens = encode(string, model.names)
    found = regimes(model)[0]
    positions = np.arange(1, len(tokens) + 1)
    types = tokens * model.period + positions % model.period
    vectors = np.repeat(np.asarray(model.embedding, np.float64), model.period, axis=0)
    vectors = vectors + np.tile(np.asarray(model.positions, np.float64), (model.symbols, 1))
    seen = np.zeros(model.types)
    blocks = []
    for start in range(0, len(types), _CHUNK):
        chunk = types[start : start + _CHUNK]
        counts = seen + np.cumsum(chunk[:, None] == np.arange(model.types), axis=0)
        seen = counts[-1]
        rows = vectors[chunk]
        for head, regime in zip(model.layers[0].heads, found, strict=True):
            rows = rows + _limit_head(head, regime, vectors, types, counts, start)
        blocks.append(np.asarray(add_mlp(model.layers[0], rows.T).T))
    return np.concatenate(blocks)


def _limit_head(
    head: Head, regime: Regime, vectors: np.ndarray, types: np.ndarray, counts: np.ndarray, start: int
) -> Float[np.ndarray, "chunk width"]:
    """F_h for the positions start + 1, ... of the chunk whose counts are given; logits are shifted, none is raised."""
    content = (vectors @ np.asarray(head.query).T) @ (vectors @ np.asarray(head.key).T).T  # (query, key)
    values = vectors @ np.asarray(head.value).T
    here = np.arange(start, start + len(counts))
    queries = types[here]
    atoms = [types[np.maximum(here - offset, 0)] for offset in regime.offsets]
    columns = [content[queries, atom][:, None] for atom in atoms]
    if regime.domination != "position":
        with np.errstate(divide="ignore"):
            columns.append(content[queries] + np.log(counts / (here + 1)[:, None]))
    logits = np.concatenate(columns, axis=1)
    weights = np.exp(logits - logits.max(axis=1, keepdims=True))
    weights = weights / weights.sum(axis=1, keepdims=True)
    mean = (
        weights[:, len(atoms) :] @ values if regime.domination != "position" else np.zeros((len(here), len(values[0])))
    )
    for index, atom in enumerate(atoms):
        mean = mean + weights[:, index : index + 1] * values[atom]
    return np.asarray(mean)
