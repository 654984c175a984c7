"""A limit transformer on a batch of strings of one length, from its definition, in any arithmetic.

`rounded` is applied to the result of every single operation, and sums are formed one term after the other, so that
formats NumPy does not have (bfloat16) are run as a machine with these numbers would run them.
"""

import numpy as np

ACTIVATIONS = {"heaviside": lambda v: (v > 0).astype(v.dtype), "relu": lambda v: np.maximum(v, 0)}


def bfloat16(values):
    """float64 numbers to the nearest with 8 significant binary digits, ties to even; no overflow is met here."""
    mantissa, power = np.frexp(np.asarray(values, dtype=np.float64))
    return np.ldexp(np.round(mantissa * 256), power - 8)


def float32(values):
    return np.asarray(values, dtype=np.float32).astype(np.float64)


def exact(values):
    return values


def total(terms, axis, rounded):
    """The sum along an axis, one term after the other."""
    if rounded is exact:
        return np.sum(terms, axis=axis)
    result = np.zeros(np.delete(terms.shape, axis))
    for index in range(terms.shape[axis]):
        result = rounded(result + np.take(terms, index, axis=axis))
    return result


def product(matrix, rows, rounded):
    """The rows (batch, n, width) times the matrix transposed."""
    if rounded is exact:
        return rows @ matrix.T
    return total(rounded(rows[:, :, None, :] * matrix[None, None]), 3, rounded)


def execute(model, strings, rounded=exact, weights_first=False):
    """Outputs (batch, n, outputs) on token indices (batch, n); log-length attention.

    weights_first: weights are divided by their sum before they meet the values, as softmax followed by a product does;
    otherwise the sum of weighted values is divided last.
    """
    strings = np.asarray(strings)
    n = strings.shape[1]
    residues = np.arange(1, n + 1) % model.period
    y = rounded(np.asarray(model.embedding)[strings] + np.asarray(model.positions)[residues])
    offsets = np.arange(n)[:, None] - np.arange(n)[None, :]
    for layer in model.layers:
        after = y
        for head in layer.heads:
            content = product(head.key, y, rounded) @ np.swapaxes(product(head.query, y, rounded), 1, 2)  # (b, key, q)
            phi = np.concatenate([head.phi, [0.0]])[np.clip(offsets, 0, len(head.phi))]
            logits = rounded(rounded(np.swapaxes(content, 1, 2) + phi) * rounded(np.log2(n)))
            logits = np.where(offsets < 0, -np.inf, logits)
            weights = rounded(np.exp2(rounded(logits - logits.max(axis=2, keepdims=True))))
            if model.bits is not None:
                weights = np.where(logits - logits.max(axis=2, keepdims=True) <= -model.bits, 0.0, weights)
            mass = total(weights, 2, rounded)[:, :, None]
            values = product(head.value, y, rounded)
            if weights_first:
                means = weighted(rounded(weights / mass), values, rounded)
            else:
                means = rounded(weighted(weights, values, rounded) / mass)
            after = rounded(after + means)
        y = after
        if layer.mlp is not None:
            before = rounded(product(layer.mlp.inner, y, rounded) + layer.mlp.bias)
            hidden = np.empty_like(before)
            for unit, kind in enumerate(layer.mlp.activations):
                hidden[..., unit] = ACTIVATIONS[kind](before[..., unit])
            y = rounded(y + product(layer.mlp.outer, hidden, rounded))
    return product(model.unembedding, y, rounded)


def weighted(weights, values, rounded):
    """Sums over keys of weights (b, q, k) times values (b, k, width)."""
    if rounded is exact:
        return weights @ values
    return total(rounded(weights[:, :, :, None] * values[:, None, :, :]), 2, rounded)
