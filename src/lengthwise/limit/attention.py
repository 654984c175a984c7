"""The rules of attention: how logits become weights, and what a layer does with them.

Everything here is written against the array namespace of its arguments, NumPy or JAX, and is used by all three
evaluators. A weight is power(exponent - largest exponent); `exponent` states the three rules once.
"""

from typing import Any

import numpy as np
from jaxtyping import Float, Int, Shaped

from lengthwise.limit.model import MLP, Attention, Head, Layer


def namespace(*arrays: Any) -> Any:
    """NumPy, unless one of the arrays belongs to another namespace."""
    for array in arrays:
        if hasattr(array, "__array_namespace__") and not isinstance(array, np.ndarray | np.generic):
            return array.__array_namespace__()
    return np


def exponent(
    attention: Attention,
    content: Shaped[Any, "..."],
    phi: Shaped[Any, "..."] | None,
    log_position: Shaped[Any, "..."] | float,
    log2_length: Shaped[Any, "..."] | float,
) -> Shaped[Any, "..."]:
    """The exponent of a weight: base e for plain and log-suffix, base 2 for log-length.

        plain        content + phi
        log-suffix   content + log(i) phi
        log-length   log2(n) (content + phi)          so that n^gap = 2^p is met exactly where n is a power of two

    phi None stands for an offset beyond the locality (0). phi = -inf masks, also where log(i) or log(n) is 0.
    """
    if phi is None:
        return content * log2_length if attention == "log-length" else content
    if isinstance(phi, np.generic) and np.isfinite(phi):
        return _plus_phi(attention, content, phi, log_position, log2_length)
    xp = namespace(content, phi)
    finite = xp.where(phi == -np.inf, 0.0, phi)
    return xp.where(phi == -np.inf, -np.inf, _plus_phi(attention, content, finite, log_position, log2_length))


def _plus_phi(attention: Attention, content: Any, phi: Any, log_position: Any, log2_length: Any) -> Any:
    if attention == "log-length":
        return (content + phi) * log2_length
    return content + (phi * log_position if attention == "log-suffix" else phi)


def power(attention: Attention, exponents: Shaped[Any, "..."], bits: int | None) -> Shaped[Any, "..."]:
    """Weights from exponents whose largest is 0: raised, and set to 0 where <= 2^-bits when bits are given.

    Source: one-layer finite precision, steps (3) and (4). The comparison is made before raising, so no rounding of
    the exponential can decide it.
    """
    xp = namespace(exponents)
    weights = xp.exp2(exponents) if attention == "log-length" else xp.exp(exponents)
    return weights if bits is None else xp.where(exponents <= -bits, 0.0, weights)


def shift_of(largest: Shaped[Any, "..."]) -> Shaped[Any, "..."]:
    """What to subtract from exponents: their largest, or 0 where every key is masked."""
    xp = namespace(largest)
    return xp.where(largest == -np.inf, 0.0, largest)


def mean_of(numerator: Shaped[Any, "..."], mass: Shaped[Any, "..."]) -> Shaped[Any, "..."]:
    """The weighted mean, 0 where nothing has weight."""
    xp = namespace(numerator, mass)
    return numerator / xp.where(mass == 0, 1.0, mass)


def activate(mlp: MLP, before: Float[Any, "units columns"]) -> Float[Any, "units columns"]:
    """Applies each unit's activation; heaviside is 1 above 0 and 0 at and below it."""
    xp = namespace(before)
    functions = {
        "relu": lambda v: v * (v > 0),
        "heaviside": lambda v: xp.where(v > 0, 1.0, 0.0 * v),
        "sin": xp.sin,
        "tanh": xp.tanh,
        "identity": lambda v: v,
    }
    kinds = mlp.activations
    if len(set(kinds)) == 1:
        return functions[kinds[0]](before)
    after = before
    for kind in set(kinds):
        chosen = np.asarray([k == kind for k in kinds])[:, None]
        after = xp.where(chosen, functions[kind](before), after)
    return after


def add_mlp(layer: Layer, y: Float[Any, "width columns"]) -> Float[Any, "width columns"]:
    """The MLP added to the residual stream: y + outer activation(inner y + bias), column by column."""
    if layer.mlp is None:
        return y
    return y + layer.mlp.outer @ activate(layer.mlp, layer.mlp.inner @ y + layer.mlp.bias[:, None])


def type_codes(
    embedding: Float[Any, "symbols width"], positions: Float[Any, "period width"]
) -> Float[Any, "width types"]:
    """What enters layer 1 for each type: column token * period + residue is embedding[token] + positions[residue]."""
    codes = embedding[:, None, :] + positions[None, :, :]
    return codes.reshape(-1, embedding.shape[1]).T


def attend_types(
    head: Head,
    attention: Attention,
    bits: int | None,
    codes: Float[Any, "width types"],
    counts: Float[Any, "types columns"],
    suffix: Int[Any, "offsets columns"],
    log_position: Float[Any, " columns"],
    log2_length: Float[Any, " columns"] | float,
    suffix_unit: float = 1.0,
) -> Float[Any, "width columns"]:
    """A head of layer 1 for many queries at once, from what each of them sees: counts by type, and a suffix.

    Column i is one query: counts[:, i] are the numbers of keys of each type before its suffix, suffix[t, i] is the
    type t positions back (row 0 is the query itself, -1 where there is no such position). With c the content logits,

        o = [sum_e N_e w(c_e) V y_e + sum_t w(c_t, phi_t) V y_t] / [the same without V y]

    which is the definition with equal keys grouped. suffix_unit is what one position counts in the suffix: less than
    1 where counts too large for a float were scaled down. Nothing is subtracted and no power of the length is formed.
    Source: two-layer notes, section 3; one-layer notes, count form of section 2.
    """
    xp = namespace(counts, codes, head.key)
    types, query = codes.shape[1], suffix[0]
    table = (head.key @ codes).T @ (head.query @ codes)
    flat = table.reshape(-1)
    bulk = exponent(attention, xp.take(table, query, axis=1), None, log_position, log2_length)
    bulk = xp.where(counts > 0, bulk, -np.inf)
    largest, near = xp.max(bulk, axis=0), []
    for offset, key in enumerate(suffix):
        content = xp.take(flat, xp.maximum(key, 0) * types + query)
        phi = head.phi[offset] if offset < len(head.phi) else None
        logit = exponent(attention, content, phi, log_position, log2_length)
        near.append(xp.where(key < 0, -np.inf, logit) if offset else logit)
        largest = xp.maximum(largest, near[-1])
    shift = shift_of(largest)
    weights = power(attention, bulk - shift, bits) * counts
    for key, logit in zip(suffix, near, strict=True):
        weight = power(attention, logit - shift, bits) * suffix_unit
        weights = weights + (key == np.arange(types)[:, None]) * weight
    return mean_of((head.value @ codes) @ weights, xp.sum(weights, axis=0))
