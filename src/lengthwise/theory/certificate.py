"""Certificates: what is claimed about one or two models, with everything that is needed to check it.

docs/certificate.md is the format's definition; the checker shares no code with this writer. Every weight is written as
the exact dyadic number it stores.
"""

import json
import math
import os
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from lengthwise.errors import WrongInput, shown
from lengthwise.limit.model import Layer, LimitTransformer
from lengthwise.limit.storage import write_aside
from lengthwise.type_counts import Counts

FORMAT, VERSION = "lengthwise certificate", 1
LARGEST_JSON = 2**53  # JSON readers that know only floats keep integers up to here
MOST_DIGITS = 2_000

Certificate = dict[str, Any]


def shortening_certificate(
    first: LimitTransformer,
    second: LimitTransformer | None,
    long_counts: Counts,
    short_counts: Counts,
    error: Fraction | int | float,
    window: tuple[int, int] | None = None,
) -> Certificate:
    """That on a long and a short string the outputs of each model differ, summed over the models, by at most `error`.

        sum_f max_c |f(x)_c - f(z)_c| <= eps        (kind "shortening" of docs/certificate.md)

    The counts are those of the two strings, taken with one suffix and at one common period. window: the lengths on
    which agreement is assumed, (least, most); the short string's own length where none is given. Nothing is evaluated
    here: whether the claim holds is for the checker to say. A float `error` is the dyadic number it stores.
    """
    models = [first] if second is None else [first, second]
    if long_counts.suffix != short_counts.suffix or long_counts.period != short_counts.period:
        raise WrongInput(
            "two tables of counts with the same suffix and the same period",
            f"suffixes of {len(long_counts.suffix)} and {len(short_counts.suffix)} tokens, "
            f"periods {long_counts.period} and {short_counts.period}",
            "count both strings alike",
            "counts",
        )
    for model in models:
        if long_counts.symbols != model.symbols or long_counts.period % model.period:
            raise WrongInput(
                f"counts of {model.symbols} tokens at a multiple of the period {model.period}",
                f"{long_counts.symbols} tokens at period {long_counts.period}",
                "count with Counts.of and the models' common period",
                "counts",
            )
    least, most = window or (short_counts.length, short_counts.length)
    return _head("shortening", models, long_counts.period, error) | {
        "suffix": list(long_counts.suffix),
        "long": _string(long_counts),
        "short": _string(short_counts),
        "window": [_number(least), _number(most)],
    }


def write_certificate(certificate: Certificate, path: str | os.PathLike[str]) -> None:
    """Writes a certificate to a file: aside first, then renamed, so that no half file is ever seen."""
    write_aside(Path(path), certificate_text(certificate).encode("ascii"))


def certificate_text(certificate: Certificate) -> str:
    """A certificate as JSON text: rows of numbers on one line each, everything else indented."""
    return _text(certificate, "") + "\n"


def _head(kind: str, models: list[LimitTransformer], period: int, error: Fraction | int | float) -> Certificate:
    if len({model.symbols for model in models}) != 1:
        raise WrongInput(
            "two models of one vocabulary", f"{[model.symbols for model in models]} tokens", "pass models that match"
        )
    exact = Fraction(error)
    if exact < 0:
        raise WrongInput("an error >= 0", shown(error), "errors are sizes", "error")
    written = [_model(model, f"model {number}") for number, model in enumerate(models, start=1)]
    begin = {"format": FORMAT, "version": VERSION, "kind": kind, "error": _number(exact), "period": period}
    return begin | {"models": written}


def _model(model: LimitTransformer, where: str) -> dict[str, Any]:
    if model.depth != 1 or model.attention == "log-suffix":
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
        "layers": [_layer(model.layers[0])],
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


def _string(counts: Counts) -> dict[str, Any]:
    return {"length": _number(counts.length), "table": [[_number(count) for count in row] for row in counts.table]}


def _matrix(array: Any) -> list[list[int | str]]:
    return [_vector(row) for row in np.asarray(array)]


def _vector(array: Any) -> list[int | str]:
    return ["masked" if math.isinf(value) else _number(Fraction(float(value))) for value in np.asarray(array)]


def _number(value: Fraction | int) -> int | str:
    """A number as docs/certificate.md writes it: a small integer, else digits, a dyadic "m*2^e", or "p/q"."""
    exact = Fraction(value)
    top, bottom = exact.numerator, exact.denominator
    if bottom == 1 and abs(top) <= LARGEST_JSON:
        return top
    if bottom & (bottom - 1) == 0:
        twos = (top & -top).bit_length() - bottom.bit_length()
        odd = top // (top & -top)
        if bottom == 1 and top.bit_length() <= 200:
            return str(top)
        return f"{_digits(odd)}*2^{twos}"
    return f"{_digits(top)}/{_digits(bottom)}"


def _digits(value: int) -> str:
    if abs(value) >= 10**MOST_DIGITS:
        raise WrongInput(
            f"numbers of at most {MOST_DIGITS} digits",
            f"one of {value.bit_length()} bits",
            "a certificate holds no others",
        )
    return str(value)


def _text(value: Any, indent: str) -> str:
    if isinstance(value, dict) and value:
        inner = indent + "  "
        fields = (f"{inner}{json.dumps(name)}: {_text(entry, inner)}" for name, entry in value.items())
        return "{\n" + ",\n".join(fields) + f"\n{indent}}}"
    if isinstance(value, list) and any(isinstance(entry, (dict, list)) for entry in value):
        inner = indent + "  "
        return "[\n" + ",\n".join(inner + _text(entry, inner) for entry in value) + f"\n{indent}]"
    return json.dumps(value)
