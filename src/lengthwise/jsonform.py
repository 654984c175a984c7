"""Values in JSON's own types, so that any JSON reader takes them without loss.

    a float that is not finite    null, and beside it `<name>_reason`
    an integer above 2^53         a string of digits, and beside it `log2_<name>`
    a rational                    "p/q", also when q is 1
    a number known to a ball      {"lower": ..., "upper": ...}
    a NumPy array                 nested lists

The sibling of a field that holds a list says the same of its entries.
"""

import json
import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

LARGEST_EXACT = 2**53


def to_json(fields: Mapping[str, Any]) -> str:
    """The fields as one JSON object."""
    return json.dumps(plain(fields), allow_nan=False)


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
