"""Models and brute-force definitions for the tests of what a model weighs; shares no code with what it tests."""

import itertools
import math
from fractions import Fraction

import numpy as np

from lengthwise.limit.model import MLP, Head, Layer, LimitTransformer

W2, V2 = np.array([[1, 0.5], [-0.5, 0.25]]), np.array([[0.5, 0.1], [-0.1, 0.5]])
CONTENT, V1 = np.array([[0.5, -0.25], [0.125, 0.75]]), np.array([[0.6, -0.2], [0.3, 0.4]])


def common_model(phi, second_phi=(), positions=None, scale=1.0):
    """The common model of the two-layer test vectors; scale 0.1 gives the mild pair, without its MLPs' outputs."""
    mild = scale != 1.0
    return LimitTransformer(
        embedding=np.eye(2),
        positions=positions,
        layers=(
            Layer(
                (Head(np.eye(2), CONTENT * scale, V1 * scale, phi),),
                MLP([[1, -1]], [0.1], np.array([[0.5], [-0.5]]) * (not mild)),
            ),
            Layer(
                (Head(np.eye(2), W2 * scale, V2 * scale, second_phi),),
                MLP([[0.5, 0.5]], [0.0 if mild else -0.2], np.array([[0.2], [0.1]]) * (not mild)),
            ),
        ),
        unembedding=np.array([[1, -2]]) * scale,
        attention="log-suffix",
    )


TOK = common_model([0.25, 0.5])
BAL = common_model([0.25, 1])
POS = common_model([0.25, 1.5])
TOK_L2BAL = common_model([0.25, 0.5], [0, 1])
TOK_PERIOD_2 = common_model([0.25, 0.5], positions=np.array([[0.1, -0.1], [-0.2, 0.3]]))
MILD_F = common_model([0.25, 0.5], scale=0.1)
MILD_H = common_model([0.25, 1.5], scale=0.1)
X1 = [0, 1, 1, 0, 1]
X3 = [int(i * i % 7 < 3) for i in range(1, 1001)]


def table_model(logits, values, phi=(), period=1, bits=None, attention="log-length"):
    """A one-layer model from a table logits[token][residue], the same for every query, and a value a token.

    Coordinates: one-hot token, one-hot residue, answer. The table is read through the query, so a (token, residue)
    pair needs additive logits; tests use tables that are.
    """
    logits = np.asarray(logits, float).reshape(len(values), period)
    symbols = len(values)
    width = symbols + period + 1
    base = logits[:, :1]
    shift = logits[0] - logits[0, 0]
    assert np.allclose(base + shift, logits)
    key = np.zeros((1, width))
    key[0, :symbols], key[0, symbols : symbols + period] = base[:, 0], shift
    query = np.zeros((1, width))
    query[0, :symbols] = 1
    value = np.zeros((width, width))
    value[-1, :symbols] = values
    unembedding = np.zeros((1, width))
    unembedding[0, -1] = 1
    return LimitTransformer(
        embedding=np.eye(symbols, width),
        positions=np.eye(period, width, k=symbols),
        layers=(Layer((Head(key, query, value, phi),)),),
        unembedding=unembedding,
        attention=attention,
        bits=bits,
    )


def random_one_layer(rng, symbols=2, period=None, locality=None, heads=None, masks=True, mlp=True, attention=None):
    """Small integer logits over 4 (many ties), weights with short binary expansions, any activation with slopes."""
    period = int(rng.integers(1, 3)) if period is None else period
    width = int(rng.integers(2, 4))

    def numbers(*shape, scale=4, largest=3):
        return rng.integers(-largest, largest + 1, size=shape) / scale

    def head():
        reach = int(rng.integers(0, 3)) if locality is None else locality
        phi = numbers(reach + 1, scale=2)
        if masks and rng.random() < 0.3:
            phi[rng.integers(0, reach + 1)] = -np.inf
        return Head(numbers(2, width, scale=1, largest=1), numbers(2, width, scale=2), numbers(width, width), phi)

    units = int(rng.integers(1, 4))
    kinds = tuple(str(kind) for kind in rng.choice(["relu", "sin", "tanh", "identity"], units))
    return LimitTransformer(
        embedding=numbers(symbols, width, scale=1, largest=1),
        positions=numbers(period, width, scale=2, largest=1),
        layers=(
            Layer(
                tuple(head() for _ in range(heads or int(rng.integers(1, 3)))),
                MLP(numbers(units, width), numbers(units), numbers(width, units), kinds) if mlp else None,
            ),
        ),
        unembedding=numbers(2, width),
        attention=attention or "log-length",
    )


def random_two_layer(rng, activations=("relu",), phi=None):
    """Two heads in layer 1 and one in layer 2, any regime, log-suffix attention."""
    symbols, period, width = int(rng.integers(2, 4)), int(rng.integers(1, 3)), int(rng.integers(2, 4))
    locality = int(rng.integers(0, 3))

    def head(term=True):
        if phi is not None:
            values = list(phi)
        else:
            values = rng.choice([-0.5, 0.0, 0.3, 0.5, 1.0, 1.0, 1.7, 2.5], size=locality + 1)
        parts = (rng.normal(size=(width, width)) * size for size in (0.6, 0.6, 0.5))
        return Head(*parts, values if term else ())

    def mlp():
        units = int(rng.integers(1, 4))
        sizes = ((units, width), (units,), (width, units))
        return MLP(*(rng.normal(size=size) * 0.5 for size in sizes), tuple(map(str, rng.choice(activations, units))))

    return LimitTransformer(
        embedding=rng.normal(size=(symbols, width)),
        positions=rng.normal(size=(period, width)) * 0.4,
        layers=(Layer((head(), head()), mlp()), Layer((head(bool(rng.random() < 0.5)),), mlp())),
        unembedding=rng.normal(size=(2, width)),
        attention="log-suffix",
    )


# --- the definitions, by hand ---


def fractions(array):
    return [[Fraction(float(value)) for value in row] for row in np.asarray(array)]


def apply(matrix, vector):
    return [sum((a * b for a, b in zip(row, vector, strict=True)), Fraction(0)) for row in matrix]


def exact_vector(model, token, position):
    embedding, positions = fractions(model.embedding), fractions(model.positions)
    return [a + b for a, b in zip(embedding[token], positions[position % len(positions)], strict=True)]


def exact_logit(model, head, key, query, offset):
    """Content + phi of one key (token, position) for one query, from the weights; None if masked."""
    k = apply(fractions(head.key), exact_vector(model, *key))
    q = apply(fractions(head.query), exact_vector(model, *query))
    content = sum((a * b for a, b in zip(k, q, strict=True)), Fraction(0))
    phi = float(head.phi[offset]) if offset < len(head.phi) else 0.0
    return None if math.isinf(phi) else content + Fraction(phi)


def enumerated_margin(model):
    """The smallest gap between largest logit and next value over all strings whose prefix classes have 2 or 3 keys."""
    reach = max(len(head.phi) for head in model.layers[0].heads)
    reach = max(reach - 1, 0)
    best = math.inf
    for head in model.layers[0].heads:
        cache = {}
        for n in range(reach + 1 + 2 * model.period, reach + 1 + 3 * model.period):
            for x in itertools.product(range(model.symbols), repeat=n):
                values = set()
                for j in range(1, n + 1):
                    what = (x[j - 1], j % model.period, x[-1], n % model.period, min(n - j, reach + 1))
                    if what not in cache:
                        cache[what] = exact_logit(model, head, (x[j - 1], j), (x[-1], n), n - j)
                    values.add(cache[what])
                ordered = sorted((v for v in values if v is not None), reverse=True)
                if len(ordered) > 1:
                    best = min(best, ordered[0] - ordered[1])
    return best


def activate(kind, value):
    return {"relu": lambda v: max(v, 0.0), "sin": math.sin, "tanh": math.tanh, "identity": lambda v: v}[kind](value)


def mlp_of(layer, y):
    if layer.mlp is None:
        return y
    before = layer.mlp.inner @ y + layer.mlp.bias
    return y + layer.mlp.outer @ np.array([activate(k, v) for k, v in zip(layer.mlp.activations, before, strict=True)])


def log_suffix_layer(layer, rows):
    """One layer of a log-suffix model at every position, by its definition."""
    out = []
    for i in range(1, len(rows) + 1):
        y = rows[i - 1].copy()
        for head in layer.heads:
            phi = np.array([head.phi[i - j] if i - j < len(head.phi) else 0.0 for j in range(1, i + 1)])
            terms = np.where(np.isinf(phi), -math.inf, math.log(i) * np.where(np.isinf(phi), 0.0, phi))
            logits = (rows[:i] @ head.key.T) @ (head.query @ rows[i - 1]) + terms
            if max(logits) > -math.inf:
                weights = np.exp(logits - max(logits))
                y = y + head.value @ (weights @ rows[:i]) / weights.sum()
        out.append(mlp_of(layer, y))
    return np.array(out)


def input_rows(model, string):
    return np.array([model.embedding[s] + model.positions[i % model.period] for i, s in enumerate(string, start=1)])


def one_layer_laws(model, string):
    """The attention weights of every head at the last position, by the definition (log-length or plain, no bits)."""
    rows, n, laws = input_rows(model, string), len(string), []
    stretch = math.log(n) if model.attention == "log-length" else 1.0
    for head in model.layers[0].heads:
        phi = [head.phi[n - j] if n - j < len(head.phi) else 0.0 for j in range(1, n + 1)]
        logits = np.array([(head.key @ row) @ (head.query @ rows[-1]) for row in rows]) + phi
        finite = logits[np.isfinite(logits)]
        weights = np.exp(stretch * (logits - finite.max())) if len(finite) and stretch else np.isfinite(logits) * 1.0
        laws.append(weights / max(weights.sum(), 1e-300))
    return laws


def one_layer_output(model, string, laws=None):
    """The output of a one-layer model at the last position, from given attention laws or its own."""
    rows = input_rows(model, string)
    y = rows[-1].copy()
    for head, law in zip(model.layers[0].heads, laws or one_layer_laws(model, string), strict=True):
        y = y + head.value @ (law @ rows)
    return model.unembedding @ mlp_of(model.layers[0], y)
