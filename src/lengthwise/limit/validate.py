"""Checks of a model's parts, each with an error that names the array and the entry."""

import re
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from lengthwise.errors import WrongInput, shown

Attention = Literal["log-length", "log-suffix", "plain"]
ACTIVATIONS = ("relu", "heaviside", "sin", "tanh", "identity")

_WIDTH_LAST = {"embedding", "positions", "unembedding", "key", "query", "value", "inner"}
_WIDTH_FIRST = {"value", "outer"}


def as_array(value: Any, name: str, axes: int, minus_infinity: bool = False) -> Any:
    """The value as an array of floats with the wanted number of axes; a JAX array stays one, traced or not.

    float32 and float64 keep their bits; everything else becomes float64.
    """
    if hasattr(value, "__array_namespace__") and not isinstance(value, np.ndarray):
        array = value
    else:
        array = _numpy(value, name)
        if array.size == 0 and axes == 1:
            array = array.reshape(0)
        _check_finite(array, name, minus_infinity)
    if array.ndim != axes:
        raise WrongInput(f"an array with {axes} axes", f"shape {tuple(array.shape)}", "fix its shape", name)
    return array


def _numpy(value: Any, name: str) -> np.ndarray:
    try:
        array = np.asarray(value)
        if array.dtype not in (np.float32, np.float64):
            if array.dtype.kind not in "fiubO":
                raise TypeError
            array = array.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        raise WrongInput(
            "an array of real numbers", shown(value), "give nested lists of numbers of one shape", name
        ) from None
    array = np.array(array, order="C")  # our own copy, so that nobody changes a model from outside
    array.setflags(write=False)
    return array


def _check_finite(array: np.ndarray, name: str, minus_infinity: bool) -> None:
    allowed = np.isfinite(array) | (np.isneginf(array) if minus_infinity else False)
    if not allowed.all():
        entry = tuple(int(axis) for axis in np.argwhere(~allowed)[0])
        kind = "finite numbers, or -inf to mask an offset" if minus_infinity else "finite numbers"
        place = f"{name}[{', '.join(map(str, entry))}]"
        raise WrongInput(kind, str(array[entry]), "fix this entry", place)


def wanted_shape(name: str, shape: Sequence[int], width: int) -> None:
    """Every array that reads or writes the residual stream has the embedding's width on that axis."""
    last = name.rsplit(".", 1)[-1]
    if last in _WIDTH_LAST and shape[-1] != width:
        raise WrongInput(
            f"{width} columns, the width of the embedding", f"shape {tuple(shape)}", "match the width", name
        )
    if last in _WIDTH_FIRST and shape[0] != width:
        raise WrongInput(f"{width} rows, the width of the embedding", f"shape {tuple(shape)}", "match the width", name)


def check_names(names: Sequence[str] | None, count: int, where: str) -> tuple[str, ...] | None:
    """Optional names: as many as wanted, all different, none empty or with blanks inside."""
    if names is None:
        return None
    if isinstance(names, str):
        names = list(names)
    names = tuple(names)
    if len(names) != count:
        raise WrongInput(f"{count} names", f"{len(names)}", "give one name each, or none at all", where)
    seen: set[str] = set()
    for index, name in enumerate(names):
        if not isinstance(name, str) or not name or re.search(r"\s", name) or not name.isprintable():
            raise WrongInput("a name without blanks", shown(name), "rename it", f"{where}[{index}]")
        if name in seen:
            raise WrongInput("different names", f"{shown(name)} twice", "rename one of them", f"{where}[{index}]")
        seen.add(name)
    return names
