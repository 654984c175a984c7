"""One layer from type counts: the cost does not depend on the length, which may be any Python integer."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from lengthwise.errors import WrongInput
from lengthwise.exact import Ball
from lengthwise.limit.linear import first_layer_columns
from lengthwise.limit.model import LimitTransformer
from lengthwise.strings import Counts
from lengthwise.type_counts import Statistics

Exact = Fraction | Ball
SMALL_PRODUCT = 1 << 18  # multiplications of one product: it stays in the cache, and BLAS starts no threads for it


def evaluate_counts(
    model: LimitTransformer, counts: Counts, hardmax: bool = False
) -> Float[Any, " outputs"] | list[Exact]:
    """The outputs at the last position of any string with these counts; only the order of the prefix is free.

    With hardmax, attention is uniform over the exact maximisers of the logits and everything stays exact: rationals,
    or balls where an activation is sin or tanh. Source: one-layer notes, sections 1 and 2.
    """
    table = _fitting_table(model, counts)
    if hardmax:
        from lengthwise.limit.hardmax import hardmax_outputs

        return hardmax_outputs(model, table, suffix_types(model, counts), counts.length)
    suffix = np.asarray(suffix_types(model, counts))[:, None]
    return model.unembedding @ _after_layer(model, table, suffix, counts.length)[:, 0]


def evaluate_statistics(model: LimitTransformer, statistics: Statistics) -> Float[np.ndarray, "outputs batch"]:
    """The outputs of a one-layer model at the last positions of many strings, in float64; one column a string.

    The statistics may be kept at a multiple of the model's period and with a longer suffix. Counts need not be whole:
    then it is the relaxation, in which a prefix may hold any fraction of a token.
    """
    if model.depth != 1:
        raise WrongInput("a one-layer model", f"{model.depth} layers", "evaluate strings one by one", "counts")
    seen = folded(statistics, model.symbols, model.period)
    units = max([model.width, *(len(layer.mlp.bias) for layer in model.layers if layer.mlp is not None)])
    block = max(32, SMALL_PRODUCT // (units * model.width))
    parts = [_outputs(model, seen, slice(k, k + block)) for k in range(0, len(seen.length), block)]
    return np.concatenate(parts, axis=1) if parts else np.zeros((len(model.unembedding), 0))


def _outputs(model: LimitTransformer, seen: Statistics, part: slice) -> Float[np.ndarray, "outputs _"]:
    counts, length = np.asarray(seen.prefix[:, part], dtype=np.float64), np.asarray(seen.length[part])
    after = first_layer_columns(model, counts, seen.suffix[:, part], np.log(length), length)
    return np.asarray(model.unembedding @ after, dtype=np.float64)


def folded(statistics: Statistics, symbols: int, period: int) -> Statistics:
    """The statistics at a divisor of their period."""
    whole = statistics.prefix.shape[0] // symbols
    if whole == period:
        return statistics
    if whole % period:
        raise WrongInput(
            f"one row for each of {period} residues or a multiple", f"{whole}", "count by residue", "prefix"
        )
    prefix = statistics.prefix.reshape(symbols, whole // period, period, -1).sum(axis=1).reshape(symbols * period, -1)
    token, residue = statistics.suffix // whole, statistics.suffix % whole
    suffix = np.where(statistics.suffix < 0, -1, token * period + residue % period)
    return Statistics(statistics.length, prefix, suffix)


def _after_layer(model: LimitTransformer, table: list[int], suffix: Int[Any, "offsets 1"], length: int) -> Any:
    """Layer 1 at the last position.

    Counts too large for a float are scaled down together with the weight 1 of each suffix position: attention is a
    ratio, so a copy of the head's sums divided by 2^k is the same.
    """
    scale = max(0, length.bit_length() - 900)
    bulk = np.asarray([count / (1 << scale) for count in table], dtype=model.embedding.dtype)[:, None]
    log_position = np.asarray([math.log(length)])
    return first_layer_columns(model, bulk, suffix, log_position, length, 2.0**-scale)


def suffix_types(model: LimitTransformer, counts: Counts) -> list[int]:
    """The type at each offset 0, 1, ... of the suffix (offset 0 is the last token)."""
    n = counts.length
    return [token * model.period + (n - k) % model.period for k, token in enumerate(reversed(counts.suffix))]


def _fitting_table(model: LimitTransformer, counts: Counts) -> list[int]:
    """The counts by type of the model, folded if they were taken at a multiple of its period."""
    if model.depth != 1:
        raise WrongInput("a one-layer model", f"{model.depth} layers", "use method='linear' on strings", "counts")
    if counts.symbols != model.symbols:
        raise WrongInput(f"a table of {model.symbols} tokens", f"{counts.symbols}", "give one row a token", "table")
    if counts.period % model.period:
        raise WrongInput(
            f"one column for each of {model.period} residues", f"{counts.period}", "count by residue", "table"
        )
    if counts.prefix_length and len(counts.suffix) <= model.locality:
        raise WrongInput(
            f"a suffix of at least {model.locality + 1} tokens (locality {model.locality})",
            f"{len(counts.suffix)}",
            "move the last tokens from the table to the suffix",
            "suffix",
        )
    return [sum(row[residue :: model.period]) for row in counts.table for residue in range(model.period)]
