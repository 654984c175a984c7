"""One layer on explicit strings: for tasks and models whose statistics do not suffice, and as the plain way to train.

Both passes compute the same function as `statistics.outputs`, on strings that have the drawn statistics:

    last-query   keys and values at every position, one query and one hidden layer at the last: cost grows with length
    sequences    a query and a hidden layer at every position, as ordinary transformers: cost grows with its square
"""

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from lengthwise.tasks.protocol import Statistics
from lengthwise.train.statistics import Architecture, Weights, dot


def strings_of(statistics: Statistics, period: int, longest: int, key: Array) -> Int[Array, "batch longest"]:
    """Random strings with the given statistics, each order of its tokens equally likely; -1 after the end.

    Tokens are dealt out within each residue class: a position whose random rank among the prefix's positions of the
    class is r gets the token whose cumulative count first exceeds r. The suffix keeps its place.
    """
    length, suffixes = statistics.length, statistics.suffix.shape[0]
    batch = length.shape[0]
    places = jnp.arange(longest)
    residues = (places + 1) % period
    inside = places[None] < length[:, None] - suffixes
    lots = jnp.where(inside, jax.random.uniform(key, (batch, longest)), 2.0)
    below = (lots[:, None, :] < lots[:, :, None]) & (residues[None, None, :] == residues[None, :, None])
    rank = jnp.sum(below, axis=2)
    counts = statistics.prefix.reshape(-1, period, batch)  # token, residue
    until = jnp.cumsum(counts, axis=0)[:, residues, :].transpose(2, 1, 0)  # batch, place, token
    tokens = jnp.sum(rank[:, :, None] >= until, axis=2)
    for offset in range(suffixes):
        code = statistics.suffix[offset]
        tokens = jnp.where(places[None] == length[:, None] - 1 - offset, (code // period)[:, None], tokens)
    return jnp.where(places[None] < length[:, None], tokens, -1)


def last_query(
    weights: Weights, sizes: Architecture, strings: Int[Array, "batch longest"], length: Int[Array, " batch"]
) -> Float[Array, " batch"]:
    """The output at the last position of each string, computing nothing that it does not need."""
    y = residual(weights, sizes, strings)
    last = jnp.take_along_axis(y, (length - 1)[:, None, None], axis=1)  # (batch, 1, width)
    places = jnp.arange(strings.shape[1])
    return _layer(weights, sizes, last, y, (length - 1)[:, None], places)[:, 0]


def everywhere(
    weights: Weights, sizes: Architecture, strings: Int[Array, "batch longest"], length: Int[Array, " batch"]
) -> Float[Array, " batch"]:
    """The output at every position of each string, of which the last is read."""
    y = residual(weights, sizes, strings)
    places = jnp.arange(strings.shape[1])
    outputs = _layer(weights, sizes, y, y, jnp.broadcast_to(places, strings.shape), places)
    return jnp.take_along_axis(outputs, (length - 1)[:, None], axis=1)[:, 0]


def residual(
    weights: Weights, sizes: Architecture, strings: Int[Array, "batch longest"]
) -> Float[Array, "batch longest width"]:
    """Embedding plus position; whatever after the end. Products with one-hot rows: their gradients are products too."""
    tokens = (strings[..., None] == np.arange(sizes.symbols)).astype(weights["embedding"].dtype)
    residues = jnp.arange(1, strings.shape[1] + 1) % sizes.period
    places = (residues[:, None] == jnp.arange(sizes.period)).astype(tokens.dtype)
    return dot(tokens, weights["embedding"]) + dot(places, weights["positions"])


def _layer(
    weights: Weights,
    sizes: Architecture,
    queries: Float[Array, "batch queries width"],
    y: Float[Array, "batch keys width"],
    at: Int[Array, "batch queries"],
    places: Int[Array, " keys"],
) -> Float[Array, "batch queries"]:
    """Attention, residual stream, MLP and read-out for some queries at places `at`."""
    offset = at[:, :, None] - places  # how far back a key lies
    position = (at + 1).astype(y.dtype)  # of the query, from 1: the length of the string so far
    stretch = jnp.log(position)[:, :, None] if sizes.attention == "log-length" else 1.0
    factor = jnp.log(position)[:, :, None] if sizes.attention == "log-suffix" else 1.0
    after = queries
    for head in range(sizes.heads):
        content = jnp.einsum(
            "bqd,bkd->bqk",
            dot(queries, weights["query"][head].T),
            dot(y, weights["key"][head].T),
            precision=jax.lax.Precision.HIGHEST,
        )
        logits = content / sizes.width
        for near in range(sizes.offsets):
            logits = logits + jnp.where(offset == near, weights["phi"][head, near], 0.0) * factor
        seen: Bool[Array, "batch queries keys"] = offset >= 0
        weight = jax.nn.softmax(jnp.where(seen, logits * stretch, -jnp.inf), axis=2)
        mean = jnp.einsum("bqk,bkd->bqd", weight, y, precision=jax.lax.Precision.HIGHEST)
        after = after + dot(mean, weights["value"][head].T)
    hidden = jax.nn.relu(dot(after, weights["inner"].T) + weights["bias"])
    return dot(after + dot(hidden, weights["outer"].T), weights["unembedding"].T)[..., 0]
