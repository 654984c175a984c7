"""One layer from sufficient statistics, as it is trained: the cost of a step does not depend on the length.

The same function as `limit.attention.attend_types` (a test holds them together), written for speed: look-ups are
products with one-hot columns, whose gradients are products again and the same bits every time; and a single output
lets unembedding @ outer be formed before it meets the hidden layer.
"""

from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from lengthwise.limit.model import MLP, Attention, Head, Layer, LimitTransformer
from lengthwise.tasks.protocol import Draw, Statistics

Weights = dict[str, Any]


@dataclass(frozen=True)
class Architecture:
    """Sizes of a trained one-layer model; everything that decides the shapes of its weights."""

    symbols: int
    period: int
    offsets: int  # entries of phi in each head; 0 for no positional logits
    width: int = 16
    units: int = 256
    heads: int = 1
    attention: Attention = "plain"


def initial_weights(key: Array, sizes: Architecture) -> Weights:
    """muP: embeddings of variance 1, hidden matrices of variance 1/fan-in, read-out of variance 1/fan-in^2.

    Logits carry a factor 1/width (in the key). Biases and phi start at 0; without a period there are no positions.
    """
    d, u, h = sizes.width, sizes.units, sizes.heads
    shapes = {
        "embedding": ((sizes.symbols, d), 1.0),
        "positions": ((sizes.period, d), 1.0 if sizes.period > 1 else 0.0),
        "key": ((h, d, d), d**-0.5),
        "query": ((h, d, d), d**-0.5),
        "value": ((h, d, d), d**-0.5),
        "phi": ((h, sizes.offsets), 0.0),
        "inner": ((u, d), d**-0.5),
        "bias": ((u,), 0.0),
        "outer": ((d, u), u**-0.5),
        "unembedding": ((1, d), 1.0 / d),
    }
    keys = jax.random.split(key, len(shapes))
    return {n: s * jax.random.normal(k, shape) for k, (n, (shape, s)) in zip(keys, shapes.items(), strict=True)}


def rate_factors(sizes: Architecture) -> dict[str, float]:
    """Adam's learning rate relative to the embeddings': 1/width for matrices, 1 for embeddings and vectors (muP).

    Positions of a model without a period are 0 and stay 0.
    """
    factors = dict.fromkeys(("key", "query", "value", "inner", "outer", "unembedding"), 1.0 / sizes.width)
    return factors | {"embedding": 1.0, "bias": 1.0, "phi": 1.0, "positions": 1.0 if sizes.period > 1 else 0.0}


def outputs(weights: Weights, sizes: Architecture, statistics: Statistics) -> Float[Array, " batch"]:
    """The model's output at the last position for each column of statistics."""
    codes = (weights["embedding"][:, None, :] + weights["positions"][None]).reshape(-1, sizes.width).T
    kinds = np.arange(codes.shape[1])[:, None]
    hot = [(row == kinds).astype(codes.dtype) for row in statistics.suffix]
    log_length = jnp.log(statistics.length.astype(codes.dtype))
    y = codes @ hot[0]
    after = y
    for head in range(sizes.heads):
        share = attended(weights, sizes, head, codes, statistics, hot, log_length)
        after = after + (weights["value"][head] @ codes) @ share
    hidden = jax.nn.relu(weights["inner"] @ after + weights["bias"][:, None])
    read = weights["unembedding"]
    return (read @ after + (read @ weights["outer"]) @ hidden)[0]


def attended(
    weights: Weights,
    sizes: Architecture,
    head: int,
    codes: Float[Array, "width types"],
    statistics: Statistics,
    hot: list[Float[Array, "types batch"]],
    log_length: Float[Array, " batch"],
) -> Float[Array, "types batch"]:
    """The attention that each type receives from each query, suffix positions included."""
    table = (weights["key"][head] @ codes).T @ (weights["query"][head] @ codes) / sizes.width
    content = table @ hot[0]
    stretch = log_length if sizes.attention == "log-length" else 1.0
    counts = statistics.prefix.astype(codes.dtype)
    near = []
    if sizes.offsets:
        phi_factor = log_length if sizes.attention == "log-suffix" else 1.0
        for offset, one in enumerate(hot):
            phi = weights["phi"][head, offset] * phi_factor if offset < sizes.offsets else 0.0
            logit = (jnp.sum(one * content, axis=0) + phi) * stretch
            near.append(jnp.where(statistics.suffix[offset] < 0, -jnp.inf, logit))
    else:
        counts = counts + sum(hot)
    logits = jnp.where(counts > 0, content * stretch, -jnp.inf)
    top = jnp.max(jnp.concatenate([logits, jnp.stack(near)]) if near else logits, axis=0)
    top = jax.lax.stop_gradient(top)
    mass = counts * jnp.exp(logits - top)
    for one, logit in zip(hot, near, strict=False):
        mass = mass + one * jnp.exp(logit - top)
    return mass / jnp.sum(mass, axis=0)


def as_model(weights: Weights, sizes: Architecture) -> LimitTransformer:
    """The trained weights as a limit transformer, float32, ready for every other tool."""
    w = {name: np.asarray(value, dtype=np.float32) for name, value in weights.items()}
    heads = tuple(
        Head(w["key"][h] / np.float32(sizes.width), w["query"][h], w["value"][h], w["phi"][h])
        for h in range(sizes.heads)
    )
    return LimitTransformer(
        embedding=w["embedding"],
        positions=w["positions"],
        layers=(Layer(heads, MLP(w["inner"], w["bias"], w["outer"], "relu")),),
        unembedding=w["unembedding"],
        attention=sizes.attention,
    )


def drawing(key: Array) -> Draw:
    """A source of uniform integers for a task's sampler: every call uses a stream of its own."""
    calls = iter(range(1 << 16))

    def draw(bounds: Int[Array, "..."]) -> Int[Array, "..."]:
        return jax.random.randint(jax.random.fold_in(key, next(calls)), jnp.shape(bounds), 0, bounds)

    return draw
