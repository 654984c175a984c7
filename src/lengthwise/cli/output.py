"""What a verb prints with --json: one object, in words, that any JSON reader takes without loss.

    a float that is not finite    null, and beside it `<name>_reason`
    an integer above 2^53         a string of digits, and beside it `log2_<name>`
    a rational                    "p/q", also when q is 1
    a number known to a ball      {"lower": ..., "upper": ...}
    a NumPy array                 nested lists

The sibling of a field that holds a list says the same of its entries.
"""

import json
import math
import time
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

import click

import lengthwise

LARGEST_EXACT = 2**53

Decorated = Callable[..., Any]


def json_option(command: Decorated) -> Decorated:
    """The option --json, the same for every verb."""
    return click.option("--json", "as_json", is_flag=True, help="Print one JSON object on standard output.")(command)


def answer(verb: str, started: float, fields: Mapping[str, Any]) -> dict[str, Any]:
    """The object that a verb prints; `started` is what time.perf_counter said when the verb began."""
    seconds = round(time.perf_counter() - started, 6)
    return {"lengthwise": lengthwise.__version__, "verb": verb, "seconds": seconds} | plain(fields)


def print_json(fields: Mapping[str, Any], one_line: bool = False) -> None:
    """Prints an object that `answer` or `plain` made: one field a line, or all on one line."""
    if one_line:
        click.echo(json.dumps(fields, allow_nan=False))
        return
    lines = [f"  {json.dumps(name)}: {json.dumps(value, allow_nan=False)}" for name, value in fields.items()]
    click.echo("{\n" + ",\n".join(lines) + "\n}")


def plain(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The fields in JSON's own types, with the siblings that the top of this file names."""
    result: dict[str, Any] = {}
    for name, value in fields.items():
        result[name] = _value(value)
        reason = _not_finite(value)
        if reason and f"{name}_reason" not in fields:
            result[f"{name}_reason"] = reason
        if _has_large(value) and f"log2_{name}" not in fields:
            result[f"log2_{name}"] = _log2(value)
    return result


def _value(value: Any) -> Any:
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, int):
        return _digits(value) if abs(value) > LARGEST_EXACT else value
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, Fraction):
        return f"{_digits(value.numerator)}/{_digits(value.denominator)}"
    if isinstance(value, Mapping):
        return plain({str(name): entry for name, entry in value.items()})
    if isinstance(value, (list, tuple)):
        return [_value(entry) for entry in value]
    if hasattr(value, "tolist"):
        return _value(value.tolist())
    if hasattr(value, "certainly_less"):
        return plain({"lower": value.lower(), "upper": value.upper()})
    raise TypeError(f"no JSON form for {type(value).__name__}")


def _digits(value: int) -> str:
    """All digits; str() refuses integers of more than 4300."""
    if value.bit_length() < 10_000:
        return str(value)
    high, low = divmod(abs(value), 10**2_000)
    return ("-" if value < 0 else "") + _digits(high) + f"{low:02000d}"


def _entries(value: Any) -> list[Any] | None:
    """The entries of a list, tuple or array; None for anything else."""
    listed = value.tolist() if hasattr(value, "tolist") else value
    return list(listed) if isinstance(listed, (list, tuple)) else None


def _not_finite(value: Any) -> str:
    entries = _entries(value)
    if entries is not None:
        reasons = {reason for reason in map(_not_finite, entries) if reason}
        return f"null stands for: {', '.join(sorted(reasons))}" if reasons else ""
    if not isinstance(value, float) or math.isfinite(value):
        return ""
    return "not a number" if math.isnan(value) else "infinite" if value > 0 else "minus infinity"


def _has_large(value: Any) -> bool:
    entries = _entries(value)
    if entries is not None:
        return any(map(_has_large, entries))
    return isinstance(value, int) and abs(value) > LARGEST_EXACT


def _log2(value: Any) -> Any:
    """log2 of the size of an integer; of a list, entry by entry, null where the entry is an ordinary number."""
    entries = _entries(value)
    if entries is not None:
        return [_log2(entry) if _has_large(entry) else None for entry in entries]
    return math.log2(abs(value))
