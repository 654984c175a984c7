"""Checks of a model's parts, each with an error that names the array and the entry."""

import unicodedata
from collections.abc import Sequence
from decimal import Decimal
from numbers import Real
from typing import Any, Literal

import numpy as np

from lengthwise.errors import WrongInput, shown

Attention = Literal["log-length", "log-suffix", "plain"]
ACTIVATIONS = ("relu", "heaviside", "sin", "tanh", "identity")

_WIDTH_LAST = {"embedding", "positions", "unembedding", "key", "inner"}  # the rest of a head or MLP matches these
_JOINER = "\u200d"  # inside many emoji


def as_array(value: Any, name: str, axes: int, minus_infinity: bool = False) -> Any:
    """The value as an array of floats with the wanted number of axes; a JAX array stays one, traced or not.

    float32 and float64 keep their bits; everything else becomes float64, or JAX's default float. Traced entries are
    unknown, so only their shape and type are checked.
    """
    if hasattr(value, "__array_namespace__") and not isinstance(value, (np.ndarray, np.generic)):
        array = _device_array(value, name)
    else:
        array = _numpy(value, name)
    if array.shape == (0,):
        array = array.reshape((0,) * axes)  # the empty list, whatever was wanted
    if array.ndim != axes:
        wanted = f"an array with {axes} {'axis' if axes == 1 else 'axes'}"
        raise WrongInput(wanted, f"shape {tuple(array.shape)}", "fix its shape", name)
    try:
        entries = np.asarray(array)
    except TypeError:  # JAX's word for a traced array
        return array
    _check_finite(entries, name, minus_infinity)
    return array


def _device_array(value: Any, name: str) -> Any:
    xp = value.__array_namespace__()
    if value.dtype in (np.float32, np.float64):
        return value
    if not xp.isdtype(value.dtype, ("bool", "integral", "real floating")):
        raise WrongInput("an array of real numbers", f"one of {value.dtype}", "convert it", name)
    return xp.astype(value, xp.asarray(0.0).dtype)


def _numpy(value: Any, name: str) -> np.ndarray:
    """Our own copy, on memory that nobody can write to, so that nobody changes a model from outside."""
    try:
        array = np.asarray(value)
        if array.dtype.kind not in "fiubO":
            raise TypeError
        if array.dtype.kind == "O":
            _check_numbers(array, name)
        if array.dtype not in (np.float32, np.float64):
            with np.errstate(over="ignore"):  # what overflows becomes infinite and is refused as such
                array = array.astype(np.float64)
    except WrongInput:
        raise
    except (TypeError, ValueError, OverflowError, RuntimeError):
        raise WrongInput(
            "an array of real numbers", shown(value), "give nested lists of numbers of one shape", name
        ) from None
    return np.ndarray(array.shape, array.dtype, buffer=array.tobytes())


def _check_numbers(array: np.ndarray, name: str) -> None:
    """NumPy would turn None into nan and the text "1" into 1.0."""
    for entry, value in np.ndenumerate(array):
        if not isinstance(value, (Real, Decimal)):
            raise WrongInput("a real number", shown(value), "fix this entry", _place(name, entry))


def _check_finite(array: np.ndarray, name: str, minus_infinity: bool) -> None:
    allowed = np.isfinite(array) | (np.isneginf(array) if minus_infinity else False)
    if not allowed.all():
        entry = tuple(int(axis) for axis in np.argwhere(~allowed)[0])
        kind = "finite numbers, or -inf to mask an offset" if minus_infinity else "finite numbers"
        raise WrongInput(kind, str(array[entry]), "fix this entry", _place(name, entry))


def _place(name: str, entry: tuple[int, ...]) -> str:
    return f"{name}[{', '.join(map(str, entry))}]" if entry else name


def as_tuple(value: Any, kind: str, where: str) -> tuple[Any, ...]:
    """Any sequence as a tuple."""
    try:
        return tuple(value)
    except TypeError:
        raise WrongInput(f"a sequence of {kind}", shown(value), "give a list", where) from None


def proven(value: Any, name: str) -> float | None:
    """An optional stated number as a float >= 0."""
    if value is None:
        return None
    if isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool) and 0 <= value < np.inf:
        try:
            return float(value)
        except OverflowError:
            pass
    raise WrongInput("a finite number >= 0", shown(value), "state a proven value or leave it out", name)


def wanted_shape(name: str, shape: Sequence[int], width: int) -> None:
    """Every array that reads the residual stream, or makes it, has the embedding's width on its last axis."""
    if name.rsplit(".", 1)[-1] in _WIDTH_LAST and shape[-1] != width:
        raise WrongInput(
            f"{width} columns, the width of the embedding", f"shape {tuple(shape)}", "match the width", name
        )


def check_names(names: Any, count: int, where: str) -> tuple[str, ...] | None:
    """Optional names: as many as wanted, all different, none empty or with blanks inside."""
    if names is None:
        return None
    names = as_tuple(names, "names", where)
    if len(names) != count:
        raise WrongInput(f"{count} names", f"{len(names)}", "give one name each, or none at all", where)
    seen: set[str] = set()
    for index, name in enumerate(names):
        if not isinstance(name, str) or not name or not (_plain(name) or all(map(_visible, name))):
            raise WrongInput(
                "a name without blanks or control characters", shown(name), "rename it", f"{where}[{index}]"
            )
        if name in seen:
            raise WrongInput("different names", f"{shown(name)} twice", "rename one of them", f"{where}[{index}]")
        seen.add(name)
    return tuple(map(str, names))


def _plain(name: str) -> bool:
    """Visible ASCII throughout, as nearly all names are: told at once."""
    return name.isascii() and name.isprintable() and " " not in name


def _visible(character: str) -> bool:
    """No blank, control or lone surrogate. Not `isprintable`: an emoji younger than this Python is unassigned to it."""
    category = unicodedata.category(character)
    return category not in ("Cc", "Cs", "Zs", "Zl", "Zp") and (category != "Cf" or character == _JOINER)
