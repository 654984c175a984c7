"""A model whose first layer reads its logits from a table of rounded rationals; everything else stays as it is."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
from jaxtyping import Float

from lengthwise.errors import WrongInput
from lengthwise.exact import entries
from lengthwise.limit.model import MLP, Head, Layer, LimitTransformer
from lengthwise.limit.tables import content_logits, exact


def table_form(model: LimitTransformer, bits: int) -> LimitTransformer:
    """The model with symbols + period fresh coordinates, one-hot codes of token and residue, before its old ones.

    First-layer logits are read from the codes through tables of multiples of 2^-bits: key = the codes, query = the
    table K^T Q between all embeddings and positions. All other weights are padded with zeros and act on the old
    coordinates, which hold what they held.
    """
    fresh = model.symbols + model.period
    codes = exact(np.concatenate([np.asarray(model.embedding, float), np.asarray(model.positions, float)]))

    def behind(array: Any, rows: bool = False, columns: bool = True) -> Float[np.ndarray, "..."]:
        """The array acting on the old coordinates, which now stand behind the fresh ones."""
        return np.pad(np.asarray(array, float), ((fresh if rows else 0, 0), (fresh if columns else 0, 0)))

    def first(head: Head) -> Head:
        between = entries(content_logits(head, codes).transpose())
        table = np.array([[_nearest(value, bits) for value in row] for row in between])
        phi = [value if math.isinf(value) else _nearest(Fraction(value), bits) for value in map(float, head.phi)]
        key = np.eye(fresh, fresh + model.width)
        query = np.pad(table, ((0, 0), (0, model.width)))
        return Head(key, query, behind(head.value, rows=True), np.array(phi, dtype=float))

    def later(head: Head) -> Head:
        value = behind(head.value, rows=True)
        return Head(behind(head.key), behind(head.query), value, np.asarray(head.phi, float))

    def layer(depth: int, old: Layer) -> Layer:
        heads = tuple((later if depth else first)(head) for head in old.heads)
        mlp = old.mlp and MLP(
            behind(old.mlp.inner),
            np.asarray(old.mlp.bias, float),
            behind(old.mlp.outer, rows=True, columns=False),
            old.mlp.activation,
        )
        return Layer(heads, mlp)

    return LimitTransformer(
        embedding=np.concatenate([np.eye(model.symbols, fresh), np.asarray(model.embedding, float)], axis=1),
        positions=np.concatenate(
            [np.eye(model.period, fresh, k=model.symbols), np.asarray(model.positions, float)], axis=1
        ),
        layers=tuple(layer(depth, old) for depth, old in enumerate(model.layers)),
        unembedding=behind(model.unembedding),
        attention=model.attention,
        bits=model.bits,
        tokens=model.tokens,
        coordinates=_coordinates(model),
    )


def _nearest(value: Fraction, bits: int) -> float:
    """The nearest multiple of 2^-bits; where a float has no room for its digits, the nearest float, a multiple too."""
    try:
        return float(Fraction(round(value * 2**bits), 2**bits))
    except OverflowError:
        raise WrongInput("logits that fit a float", "a larger one", "scale key or query down", "layers.0") from None


def _coordinates(model: LimitTransformer) -> tuple[str, ...]:
    """token=a, ..., residue=0, ..., then the old names, marked as old where they would collide."""
    fresh = [f"token={name}" for name in model.names] + [f"residue={index}" for index in range(model.period)]
    old = model.coordinates or tuple(f"old={index}" for index in range(model.width))
    taken = {*fresh}
    for name in old:
        while name in taken:
            name = f"old:{name}"
        taken.add(name)
        fresh.append(name)
    return tuple(fresh)
