"""Random limit transformers of every kind, for all tests that compare evaluators."""

import numpy as np

from lengthwise.limit.model import MLP, Head, Layer, LimitTransformer

ACTIVATIONS = ("relu", "sin", "tanh", "identity")


def random_head(rng, width, offsets, scale=1.0, masks=False):
    inside = int(rng.integers(1, width + 2))
    phi = rng.normal(size=offsets) * 1.2
    if masks and offsets > 1:
        phi[rng.integers(0, offsets)] = -np.inf
    return Head(
        key=rng.normal(size=(inside, width)) * scale,
        query=rng.normal(size=(inside, width)),
        value=rng.normal(size=(width, width)) * 0.7,
        phi=phi,
    )


def random_mlp(rng, width):
    units = int(rng.integers(1, 5))
    activation = str(rng.choice(ACTIVATIONS)) if rng.random() < 0.7 else tuple(map(str, rng.choice(ACTIVATIONS, units)))
    return MLP(
        rng.normal(size=(units, width)) * 0.5, rng.normal(size=units), rng.normal(size=(width, units)) * 0.5, activation
    )


def averaging(head):
    """The same head with content logits 0: its later-layer keys are all equal."""
    return Head(np.zeros_like(head.key), head.query, head.value, head.phi)


def random_model(rng, depth=None, attention=None, masks=None, linear=True, shape=None):
    """Depth 1-3, period 1-3, locality 0-4, 1-2 heads a layer, any attention rule; middle layers average if linear.

    shape: the stream that sizes are drawn from, where several models are to have the same ones.
    """
    shape = rng if shape is None else shape
    depth = int(shape.integers(1, 4)) if depth is None else depth
    attention = str(shape.choice(["plain", "log-suffix", "log-length"])) if attention is None else attention
    bits = int(shape.integers(2, 12)) if attention == "log-length" and shape.random() < 0.5 else None
    masks = bool(shape.random() < 0.2) if masks is None else masks
    width, symbols, period = int(shape.integers(2, 6)), int(shape.integers(2, 5)), int(shape.integers(1, 4))
    layers = []
    for index in range(depth):
        offsets = [int(shape.integers(0, 6)) for _ in range(int(shape.integers(1, 3)))]
        heads = [random_head(rng, width, number, masks=masks) for number in offsets]
        if linear and 0 < index < depth - 1:
            heads = [averaging(head) for head in heads]
        layers.append(Layer(heads, random_mlp(rng, width) if shape.random() < 0.7 else None))
    return LimitTransformer(
        embedding=rng.normal(size=(symbols, width)),
        positions=rng.normal(size=(period, width)) * 0.5,
        layers=layers,
        unembedding=rng.normal(size=(int(shape.integers(1, 4)), width)),
        attention=attention,
        bits=bits,
    )


def random_string(rng, symbols, longest=120):
    return rng.integers(0, symbols, size=int(rng.integers(1, longest + 1)))
