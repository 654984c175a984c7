"""The same outputs in linear time and, where asked, in memory that does not grow with the string.

Layer 1 sees equal tokens at equal residues as equal keys, so running counts replace the keys (attention.attend_types).
Later layers group equal keys too, where there are finitely many (grouped.py). The last layer, read at the last
position only, is one softmax whose largest exponent, mass and sum are kept up to date block by block.

The string comes as a function that opens a fresh pass over its blocks, so it may live on disk or be generated.
"""

import math
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from lengthwise.limit.attention import (
    add_mlp,
    attend_types,
    exponent,
    mean_of,
    namespace,
    power,
    shift_of,
    type_codes,
)
from lengthwise.limit.grouped import grouped_layer
from lengthwise.limit.model import Head, Layer, LimitTransformer

Blocks = Callable[[], Iterable[Int[Any, " block"]]]
Columns = Iterator[Float[Any, "width block"]]


def linear(model: LimitTransformer, blocks: Blocks, positions: str) -> Float[Any, "..."]:
    """Outputs of the model at the last position, or at all, in linear time."""
    seen = Seen.through(model, blocks)
    if positions == "all":
        columns = list(residual(model, model.depth, blocks, seen.length))
        joined = columns[0] if len(columns) == 1 else namespace(columns[0]).concat(columns, axis=1)
        return (model.unembedding @ joined).T
    if model.depth == 1:
        return model.unembedding @ seen.last_column(model)[:, 0]
    return model.unembedding @ last_layer(model, blocks, seen)


class Seen:
    """What one pass over a string leaves: its length, the counts of its types, and its last few types."""

    def __init__(self, length: int, counts: Float[Any, " types"], tail: Int[Any, " kept"]) -> None:
        self.length, self.counts, self.tail = length, counts, tail

    @classmethod
    def through(cls, model: LimitTransformer, blocks: Blocks) -> "Seen":
        """Reads the string once."""
        length, counts, tail = 0, 0.0, np.full(model.layers[0].locality + 1, -1)
        for types in typed(model, blocks):
            xp = namespace(types, model.embedding)
            length += types.shape[0]
            counts = counts + count_types(types, model.types, model.embedding)
            tail = xp.concat([xp.asarray(tail), types])[-tail.shape[0] :]
        return cls(length, counts, tail)

    def last_column(self, model: LimitTransformer) -> Float[Any, "width 1"]:
        """The residual stream after layer 1 at the last position, from the counts alone."""
        inside = count_types(self.tail, model.types, model.embedding)
        bulk = (self.counts - inside)[:, None]
        log_position = np.log(np.asarray([self.length], dtype=np.float64))
        return first_layer_columns(model, bulk, self.tail[::-1][:, None], log_position, self.length)


def typed(model: LimitTransformer, blocks: Blocks) -> Iterator[Int[Any, " block"]]:
    """The types token * period + residue, block by block; positions count from 1."""
    start = 1
    for tokens in blocks():
        stop = start + tokens.shape[0]
        yield tokens * model.period + np.arange(start, stop) % model.period
        start = stop


def count_types(types: Int[Any, " n"], number: int, like: Any) -> Float[Any, " types"]:
    """How often each type occurs; the type -1 (no such position) does not count."""
    xp = namespace(types, like)
    if xp is np:
        return np.bincount(np.asarray(types)[types >= 0], minlength=number).astype(like.dtype)
    return xp.sum(xp.asarray(types)[None, :] == np.arange(number)[:, None], axis=1, dtype=like.dtype)


def residual(model: LimitTransformer, depth: int, blocks: Blocks, length: int) -> Columns:
    """The residual stream after the first `depth` layers, one column a position, block by block."""
    columns = first_layer(model, blocks, length)
    for layer in model.layers[1:depth]:
        columns = grouped_layer(model, layer, columns, length)
    return columns


def first_layer(model: LimitTransformer, blocks: Blocks, length: int) -> Columns:
    """The residual stream after layer 1 at every position, from running counts.

    At position i the counts run over j <= i - locality - 1 and the suffix over the offsets 0..locality.
    """
    near = model.layers[0].locality + 1
    context: Any = np.full(near, -1)
    before: Any = np.zeros((model.types, 1), dtype=model.embedding.dtype)
    start = 1
    for types in typed(model, blocks):
        xp = namespace(types, model.embedding)
        size = types.shape[0]
        seen = xp.concat([xp.asarray(context), types])
        arrived = xp.asarray(seen[:size][None, :] == np.arange(model.types)[:, None], dtype=before.dtype)
        counts = before + xp.cumulative_sum(arrived, axis=1)
        suffix = xp.stack([seen[near - offset : near - offset + size] for offset in range(near)])
        log_position = xp.log(xp.asarray(np.arange(start, start + size), dtype=before.dtype))
        yield first_layer_columns(model, counts, suffix, log_position, length)
        context, before, start = seen[size:], counts[:, -1:], start + size


def first_layer_columns(
    model: LimitTransformer,
    counts: Float[Any, "types columns"],
    suffix: Int[Any, "offsets columns"],
    log_position: Float[Any, " columns"],
    length: int | Int[Any, " columns"],
    suffix_unit: float = 1.0,
) -> Float[Any, "width columns"]:
    """Layer 1, heads and MLP, for queries given by counts and suffixes, of one string or each of its own length."""
    log2_length = math.log2(length) if isinstance(length, int) else np.log2(length)
    codes = type_codes(model.embedding, model.positions)
    y = namespace(codes, suffix).take(codes, suffix[0], axis=1)
    after = y
    for head in model.layers[0].heads:
        after = after + attend_types(
            head, model.attention, model.bits, codes, counts, suffix, log_position, log2_length, suffix_unit
        )
    return add_mlp(model.layers[0], after)


def last_layer(model: LimitTransformer, blocks: Blocks, seen: Seen) -> Float[Any, " width"]:
    """The last layer at the last position: one softmax over all columns, kept up to date block by block.

    Needs the last column first, which layer 1 gives from counts alone and deeper models by one more pass. With bits,
    weights are flushed relative to the overall largest exponent, so that takes one more pass as well.
    """
    layer, before = model.layers[-1], model.depth - 1
    query = seen.last_column(model)
    if before > 1:
        for columns in residual(model, before, blocks, seen.length):
            query = columns[:, -1:]
    largest = [-np.inf] * len(layer.heads)
    if model.bits is not None:
        for _, index, logits in _logits(model, layer, query, residual(model, before, blocks, seen.length), seen.length):
            largest[index] = max(largest[index], float(np.max(logits)))
    mass: list[Any] = [0.0] * len(layer.heads)
    total: list[Any] = [0.0] * len(layer.heads)
    for columns, index, logits in _logits(
        model, layer, query, residual(model, before, blocks, seen.length), seen.length
    ):
        xp = namespace(logits)
        top = xp.maximum(largest[index], xp.max(logits))
        shift = shift_of(top)
        shrink = power(model.attention, xp.asarray(largest[index] - shift), None)
        weights = power(model.attention, logits - shift, model.bits)
        mass[index] = mass[index] * shrink + xp.sum(weights)
        total[index] = total[index] * shrink + columns @ weights
        largest[index] = top
    after = query
    for head, one_mass, one_total in zip(layer.heads, mass, total, strict=True):
        after = after + mean_of(head.value @ one_total, one_mass)[:, None]  # divided last: exact sums keep their signs
    return add_mlp(layer, after)[:, 0]


def _logits(
    model: LimitTransformer, layer: Layer, query: Any, columns: Columns, length: int
) -> Iterator[tuple[Any, int, Any]]:
    """(columns, number of the head, exponents of its keys for the last query), block by block."""
    stop = 0
    for block in columns:
        start, stop = stop, stop + block.shape[1]
        for index, head in enumerate(layer.heads):
            yield block, index, _last_query_logits(model, head, query, block, length - start, length)


def _last_query_logits(model: LimitTransformer, head: Head, query: Any, block: Any, ahead: int, length: int) -> Any:
    """Exponents for one block of keys whose first key lies `ahead` - 1 positions before the query."""
    xp = namespace(block)
    content = (head.key.T @ (head.query @ query))[:, 0] @ block
    reach = head.locality + 1 if head.has_suffix_term else 0
    if ahead - block.shape[1] >= reach:
        return exponent(model.attention, content, None, 0.0, math.log2(length))
    offset = np.arange(ahead - 1, ahead - 1 - block.shape[1], -1)
    padded = xp.concat([xp.asarray(head.phi, dtype=content.dtype), xp.zeros(1, dtype=content.dtype)])
    phi = xp.take(padded, np.minimum(offset, len(head.phi)))
    return exponent(model.attention, content, phi, math.log(length), math.log2(length))
