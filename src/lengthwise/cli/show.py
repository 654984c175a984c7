"""`lengthwise show`: what a model file holds, and what the model weighs."""

import math
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import click

from lengthwise.cli.files import load_model
from lengthwise.cli.output import answer, json_option, plain, print_json
from lengthwise.cli.tables import shortened, table
from lengthwise.errors import WrongInput

if TYPE_CHECKING:
    from lengthwise.limit.model import LimitTransformer

NO_GAP = "infinite: no two logits that a query can meet differ"
NO_SHIFT = "infinite: no positional logit differs from 1"


@click.command("show")
@click.argument("file", metavar="FILE")
@click.option("--quick", is_flag=True, help="Only what the file says: no margins, sensitivities or complexity.")
@json_option
def command(file: str, quick: bool, as_json: bool) -> None:
    """Show what FILE is: its shapes, its attention rule, its margins, sensitivity and complexity.

    FILE is a .safetensors file of a limit transformer; a dash is standard input. Margins and sensitivities are exact
    values of the stored weights; other constants are rounded up. A quantity that is not defined for the model is shown
    with the reason.

    \b
    Examples:
      lengthwise show model.safetensors
      lengthwise show model.safetensors --json
      lengthwise show model.safetensors --quick --json | python -m json.tool

    \b
    JSON fields:
      kind, file, attention, bits, precision
      symbols, tokens, period, locality, width, outputs, coordinates
      layers               a list: heads, units, activation, locality
      heads, parameters    how many, over all layers
      shapes               the shape of every array under its name in the file
      logit_margin         one layer: the least gap below the largest logit
      naive_logit_margin   one layer: the margin as usually printed
      hardmax_length       one layer with bits: hardmax from this length on
      sensitivity          one layer: output against attention, head by head
      position_margin      log-suffix: the gap that decides how fast the limit
                           is reached
      complexity           two layers, log-suffix: all constants of the bound

    Margins and sensitivities are rationals "p/q". Where a quantity does not apply it is null, and NAME_reason says why.

    Exit codes: 0 done; 2 wrong input.
    """
    started = time.perf_counter()
    model = load_model(file)
    fields = {"kind": "limit transformer", "file": file} | description(model)
    if not quick:
        fields |= quantities(model)
    if as_json:
        print_json(answer("show", started, fields))
    else:
        _print(plain(fields))


def description(model: "LimitTransformer") -> dict[str, Any]:
    """What the file says: names, sizes, shapes."""
    from lengthwise.limit.model import named_arrays

    arrays = named_arrays(model)
    layers = [
        {
            "heads": len(layer.heads),
            "units": 0 if layer.mlp is None else len(layer.mlp.inner),
            "activation": None if layer.mlp is None else layer.mlp.activation,
            "locality": layer.locality,
        }
        for layer in model.layers
    ]
    return {
        "attention": model.attention,
        "bits": model.bits,
        "precision": sorted({str(array.dtype) for array in arrays.values()}),
        "symbols": model.symbols,
        "tokens": model.names,
        "period": model.period,
        "locality": model.locality,
        "width": model.width,
        "outputs": len(model.unembedding),
        "coordinates": model.coordinates,
        "layers": layers,
        "heads": sum(layer["heads"] for layer in layers),
        "parameters": sum(array.size for array in arrays.values()),
        "shapes": {name: list(array.shape) for name, array in arrays.items()},
    }


def quantities(model: "LimitTransformer") -> dict[str, Any]:
    """What the model weighs; a quantity that is not defined for it is None with the reason beside it."""
    from lengthwise.limit.quantities import complexity, logit_margin, naive_logit_margin, position_margin, sensitivity

    found: dict[str, Any] = {}
    found |= _defined("logit_margin", lambda: _margin("logit_margin", logit_margin(model), NO_GAP))
    found |= _defined("naive_logit_margin", lambda: _margin("naive_logit_margin", naive_logit_margin(model), NO_GAP))
    found |= _defined("hardmax_length", lambda: _hardmax_length(model))
    found |= _defined("sensitivity", lambda: {"sensitivity": sensitivity(model)})
    found |= _defined("position_margin", lambda: _margin("position_margin", position_margin(model), NO_SHIFT))
    return found | _defined("complexity", lambda: {"complexity": _with_reasons(asdict(complexity(model)))})


def _defined(name: str, compute: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """The fields, or the one field as None with our own error's words as the reason."""
    try:
        return compute()
    except WrongInput as error:
        return {name: None, f"{name}_reason": f"defined for {error.wanted}; this model has {error.got}"}


def _margin(name: str, margin: Fraction | float, infinite: str) -> dict[str, Any]:
    return {name: margin} if isinstance(margin, Fraction) else {name: None, f"{name}_reason": infinite}


def _with_reasons(constants: dict[str, Any]) -> dict[str, Any]:
    """Infinite constants with what that means."""
    reasons = {}
    for name, value in constants.items():
        if value == math.inf:
            see = f": see log2_{name}" if f"log2_{name}" in constants else ""
            reasons[f"{name}_reason"] = NO_SHIFT if name == "margin" else f"above the largest float{see}"
    return constants | reasons


def _hardmax_length(model: "LimitTransformer") -> dict[str, Any]:
    from lengthwise.limit.quantities import hardmax_threshold

    found = hardmax_threshold(model)
    fields: dict[str, Any] = {"hardmax_length": found.length, "log2_hardmax_length": float(found.log2_length)}
    if found.length is None:
        fields["hardmax_length_reason"] = "too large to write out: see log2_hardmax_length"
    return fields


def _print(fields: Mapping[str, Any]) -> None:
    """Two columns for people; a reason stands in the place of what it explains."""
    rows: list[tuple[str, str]] = []
    for name, value in fields.items():
        if name == "layers":
            rows += [(f"layer {index}", _pairs(layer)) for index, layer in enumerate(value, start=1)]
        elif name == "shapes":
            rows += [(key, " x ".join(map(str, shape))) for key, shape in value.items()]
        elif name == "complexity" and value is not None:
            rows += _rows({key: entry for key, entry in value.items() if not isinstance(entry, list)})
        else:
            rows += _rows({name: value, f"{name}_reason": fields.get(f"{name}_reason")})
    table(("quantity", "value"), rows)


def _rows(fields: Mapping[str, Any]) -> list[tuple[str, str]]:
    return [
        (name.replace("_", " "), str(fields.get(f"{name}_reason") or "none") if value is None else _text(value))
        for name, value in fields.items()
        if not name.endswith("_reason")
    ]


def _text(value: Any) -> str:
    if isinstance(value, list):
        return shortened(" ".join(map(_text, value)), 100)
    if isinstance(value, str) and re.fullmatch(r"-?\d+/\d+", value):
        rational = Fraction(value)
        return f"{rational}" if rational.denominator < 10_000 else f"{float(rational):.9g} (a rational: see --json)"
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _pairs(layer: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {_text(value)}" for name, value in layer.items() if value is not None)
