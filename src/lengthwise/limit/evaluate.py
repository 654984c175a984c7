"""Running a limit transformer: one function, three methods that agree.

    dense    the definition; any depth; quadratic in the length
    linear   running counts; layer 1 and the last layer always, layers between where their keys are few
    counts   one layer, from type counts alone; constant in the length (counts.py)

The methods are written once for NumPy and JAX: pass a model whose weights are JAX arrays (lw.map_arrays(model,
jnp.asarray)) and the same code runs under jit, grad and vmap. NumPy works in the precision of the weights.
"""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from lengthwise.errors import WrongInput, shown
from lengthwise.limit.counts import evaluate_counts
from lengthwise.limit.dense import dense
from lengthwise.limit.grouped import TooManyKeys
from lengthwise.limit.linear import linear
from lengthwise.limit.model import LimitTransformer
from lengthwise.strings import Counts, encode

METHODS = ("auto", "dense", "linear", "counts")
BLOCK = 16_384  # columns of a block at most: enough to amortise a call
CACHE = 1 << 17  # numbers in one array of a block at most, so that it stays in the processor's cache
LONGEST_DENSE = 20_000  # above this `auto` does not fall back to quadratic work


def evaluate(
    model: LimitTransformer,
    string: Any,
    method: str = "auto",
    positions: str = "last",
) -> Float[Any, "..."]:
    """The outputs of a model on one string: (outputs,) at the last position, (n, outputs) with positions="all".

    The string is text, token names or token indices. With log-length attention every position of a string uses the
    length of the whole string, so an inner output is not the output of the prefix that ends there.
    """
    if method not in METHODS:
        raise WrongInput(f"one of {', '.join(METHODS)}", shown(method), "name a method", "method")
    if positions not in ("last", "all"):
        raise WrongInput("last or all", shown(positions), "say which outputs you want", "positions")
    tokens = _tokens(string, model)
    if method == "counts":
        if positions == "all":
            raise WrongInput("positions='last' with counts", "'all'", "counts know one query; use linear", "positions")
        return evaluate_counts(model, Counts.of(tokens, model.symbols, model.period, model.locality))
    if method == "dense":
        return dense(model, tokens, positions)
    try:
        return linear(model, lambda: _blocks(tokens, model), positions)
    except TooManyKeys:
        if method == "linear" or len(tokens) > LONGEST_DENSE:
            raise
        return dense(model, tokens, positions)


def evaluate_stream(
    model: LimitTransformer, blocks: Callable[[], Iterable[Int[np.ndarray, " block"]]]
) -> Float[Any, " outputs"]:
    """The outputs at the last position of a string that need not fit into memory.

    `blocks` opens a fresh pass over the string's token indices, in blocks of any sizes: it is called once for one
    layer, twice for two, and a few times more for deeper models and for models with bits. Memory is that of a block.
    """

    def checked() -> Iterable[Int[np.ndarray, " block"]]:
        for block in blocks():
            yield from _blocks(encode(block, model.names), model)

    if next(iter(checked()), None) is None:
        raise WrongInput("a nonempty string", "no tokens", "a transformer needs at least one token")
    return linear(model, checked, "last")


def _tokens(string: Any, model: LimitTransformer) -> Int[Any, " n"]:
    if hasattr(string, "__array_namespace__") and not isinstance(string, np.ndarray):
        if string.ndim != 1 or not string.shape[0]:
            raise WrongInput("one nonempty row of token indices", f"shape {string.shape}", "pass one string")
        return string  # a traced or device array: its values are the caller's word
    return encode(string, model.names)


def _blocks(tokens: Int[Any, " n"], model: LimitTransformer) -> Iterable[Int[Any, " block"]]:
    if not isinstance(tokens, np.ndarray):
        return [tokens]
    size = max(1, min(BLOCK, CACHE // _tallest(model)))
    return (tokens[start : start + size] for start in range(0, len(tokens), size))


def _tallest(model: LimitTransformer) -> int:
    """Rows of the tallest array that one column of a block needs."""
    units = [len(layer.mlp.bias) for layer in model.layers if layer.mlp is not None]
    return max(model.types, model.width, *units, 1)
