"""One layer from sufficient statistics, as it is trained: the cost of a step does not depend on the length.

The same function as `limit.attention.attend_types` (a test holds them together), written for speed: look-ups are
products with one-hot columns, whose gradients are products again and the same bits every time; and with one output
the hidden layer is a sum of ReLUs of few inputs, with a gradient of its own (`relu_sum`).
"""

from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from lengthwise.limit.model import MLP, Attention, Head, Layer, LimitTransformer
from lengthwise.tasks.protocol import Draw, Statistics
from lengthwise.train import fused

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
    shares = [attended(weights, sizes, head, codes, statistics, hot, log_length) for head in range(sizes.heads)]
    columns = jnp.concatenate([codes, *(dot(value, codes) for value in weights["value"])], axis=1)
    mixture = jnp.concatenate([hot[0], *shares])  # the residual stream before the MLP is columns @ mixture
    read = weights["unembedding"]
    if mixture.shape[0] <= sizes.width + 1:
        inner = dot(weights["inner"], columns)
        inner = inner.at[:, : codes.shape[1]].add(weights["bias"][:, None])  # hot[0] sums to 1: the bias rides on it
        return dot(dot(read, columns), mixture)[0] + relu_sum(inner, dot(read, weights["outer"])[0], mixture)
    after = dot(columns, mixture)
    inner = jnp.concatenate([weights["inner"], weights["bias"][:, None]], axis=1)
    inputs = jnp.concatenate([after, jnp.ones_like(after[:1])])
    return dot(read, after)[0] + relu_sum(inner, dot(read, weights["outer"])[0], inputs)


def dot(a: Float[Array, "*m k"], b: Float[Array, "k n"]) -> Float[Array, "*m n"]:
    """A product in full float32, on devices too whose default is coarser: losses of 1e-5 need it."""
    return jnp.matmul(a, b, precision=jax.lax.Precision.HIGHEST)


@jax.custom_vjp
def relu_sum(
    inner: Float[Array, "units inputs"], outer: Float[Array, " units"], inputs: Float[Array, "inputs batch"]
) -> Float[Array, " batch"]:
    """sum_k outer_k relu((inner @ inputs)_k), column by column.

    With a_kb = 1 where unit k is active in column b, E = (outer * inner)^T a and D = a (g * inputs)^T for a cotangent g:

        value_b = sum_j inputs_jb E_jb        d inputs = g E        d inner = outer D        d outer_k = sum_j inner_kj D_kj

    so three products with the 0/1 matrix a do what value and gradient need, and nothing of size units x batch is
    kept between them; on a GPU nothing of that size is written at all (`fused`). Checked against automatic
    differentiation.
    """
    return _relu_sum_forward(inner, outer, inputs)[0]


def _relu_sum_forward(inner: Array, outer: Array, inputs: Array) -> tuple[Array, tuple[Array, ...]]:
    slope = _by_device(fused.slopes, _slopes, inner, outer, inputs)
    return jnp.sum(inputs * slope, axis=0), (inner, outer, inputs, slope)


def _relu_sum_backward(kept: tuple[Array, ...], cotangent: Array) -> tuple[Array, Array, Array]:
    inner, outer, inputs, slope = kept
    felt = _by_device(fused.felt, _felt, inner, cotangent, inputs)
    return outer[:, None] * felt, jnp.sum(inner * felt, axis=1), cotangent * slope


def _by_device(kernel: Any, products: Any, inner: Array, middle: Array, inputs: Array) -> Array:
    if not fused.fits(inner.shape[0], inputs.shape[1], inputs.shape[0]):
        return products(inner, middle, inputs)  # type: ignore[no-any-return]
    return jax.lax.platform_dependent(inner, middle, inputs, cuda=kernel, default=products)  # type: ignore[no-any-return]


def _slopes(inner: Array, outer: Array, inputs: Array) -> Array:
    return dot((outer[:, None] * inner).T, _active(inner, inputs))


def _felt(inner: Array, cotangent: Array, inputs: Array) -> Array:
    return dot(_active(inner, inputs), (cotangent * inputs).T)


def _active(inner: Array, inputs: Array) -> Array:
    return (dot(inner, inputs) > 0).astype(inputs.dtype)


relu_sum.defvjp(_relu_sum_forward, _relu_sum_backward)


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
    table = dot(dot(weights["key"][head], codes).T, dot(weights["query"][head], codes)) / sizes.width
    content = dot(table, hot[0])
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
    share: Array = mass / jnp.sum(mass, axis=0)
    return share


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
