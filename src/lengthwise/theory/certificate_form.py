"""Models, strings and numbers as docs/certificate.md writes them: every weight is the exact dyadic number it stores."""

import json
import math
from fractions import Fraction
from typing import Any

import numpy as np

from lengthwise.errors import WrongInput
from lengthwise.limit.model import Layer, LimitTransformer
from lengthwise.type_counts import Counts

LARGEST_JSON = 2**53  # JSON readers that know only floats keep integers up to here
MOST_DIGITS = 2_000

Certificate = dict[str, Any]


def model_form(model: LimitTransformer, where: str, deep: bool = False) -> dict[str, Any]:
    """A one-layer model, or with `deep` one of one or two log-suffix layers; `where` is how an error calls it."""
    if deep and (model.depth > 2 or model.attention != "log-suffix"):
        got = f"{model.depth} layers, {model.attention}"
        raise WrongInput("one or two layers of log-suffix attention", got, "no certificate speaks of others", where)
    if not deep and (model.depth != 1 or model.attention == "log-suffix"):
        raise WrongInput(
            "a one-layer model with log-length or plain attention",
            f"{model.depth} layers, {model.attention}",
            "certificates of this kind speak of no other",
            where,
        )
    return {
        "attention": model.attention,
        "bits": model.bits,
        "embedding": _matrix(model.embedding),
        "positions": _matrix(model.positions),
        "layers": [_layer(layer) for layer in model.layers],
        "unembedding": _matrix(model.unembedding),
    }


def _layer(layer: Layer) -> dict[str, Any]:
    heads = [
        {name: _matrix(getattr(head, name)) for name in ("key", "query", "value")} | {"phi": _vector(head.phi)}
        for head in layer.heads
    ]
    if layer.mlp is None:
        return {"heads": heads, "mlp": None}
    mlp = {"inner": _matrix(layer.mlp.inner), "bias": _vector(layer.mlp.bias), "outer": _matrix(layer.mlp.outer)}
    return {"heads": heads, "mlp": mlp | {"activation": list(layer.mlp.activations)}}


def string_form(counts: Counts) -> dict[str, Any]:
    """A string by its length and the table of its prefix."""
    return {
        "length": number_form(counts.length),
        "table": [[number_form(count) for count in row] for row in counts.table],
    }


def _matrix(array: Any) -> list[list[int | str]]:
    return [_vector(row) for row in np.asarray(array)]


def _vector(array: Any) -> list[int | str]:
    return ["masked" if math.isinf(value) else number_form(Fraction(float(value))) for value in np.asarray(array)]


def number_form(value: Fraction | int) -> int | str:
    """A number: a small integer as itself, a large one in digits, a dyadic as "m*2^-e", another rational as "p/q"."""
    exact = Fraction(value)
    top, bottom = exact.numerator, exact.denominator
    if bottom == 1:
        return top if abs(top) <= LARGEST_JSON else _digits(top)
    if bottom & (bottom - 1) == 0:
        return f"{_digits(top)}*2^-{bottom.bit_length() - 1}"
    return f"{_digits(top)}/{_digits(bottom)}"


def _digits(value: int) -> str:
    if abs(value) >= 10**MOST_DIGITS:
        raise WrongInput(
            f"numbers of at most {MOST_DIGITS} digits",
            f"one of {value.bit_length()} bits",
            "a certificate holds no others",
        )
    return str(value)


def as_text(value: Any, indent: str = "") -> str:
    """JSON with rows of numbers on one line each and everything else indented."""
    if isinstance(value, dict) and value:
        inner = indent + "  "
        fields = (f"{inner}{json.dumps(name)}: {as_text(entry, inner)}" for name, entry in value.items())
        return "{\n" + ",\n".join(fields) + f"\n{indent}}}"
    if isinstance(value, list) and any(isinstance(entry, (dict, list)) for entry in value):
        inner = indent + "  "
        return "[\n" + ",\n".join(inner + as_text(entry, inner) for entry in value) + f"\n{indent}]"
    return json.dumps(value)
