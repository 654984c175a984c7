"""Kind `shortening`: a short string stands in for a long one. Section 5 of the format, rule by rule."""

from fractions import Fraction
from typing import Any

from .evaluate import View, outputs
from .model import Model
from .reader import MOST_WORK, Refused, Unreadable, about, fields, items, natural, upward

FIELDS: tuple[str, ...] = ("suffix", "long", "short", "window")


def check(claim: list[Any], models: list[Model], period: int, error: Fraction) -> str:
    """What the certificate says, in words, once every rule holds; Refused or Unreadable otherwise."""
    last, long, short, window = claim
    tokens = models[0].symbols
    suffix = [natural(token, "suffix") for token in items(last, "suffix")]
    x, z = (read_view(value, name, suffix, tokens, period) for value, name in ((long, "long"), (short, "short")))
    least, most = (natural(value, "window") for value in items(window, "window", 2))
    _strings_exist(x, z, tokens, period)
    _seen_alike(x, z, models, period)
    if not least <= z.length <= most:
        raise Refused(
            f"the short string has {about(z.length)} tokens, outside the window {about(least)} to {about(most)}"
        )
    check_views(x, z, models)
    errors = [difference(model, x, z) for model in models]
    if sum(errors) > error:
        raise Refused(f"the errors are only known to be at most {_sum(errors)}, and {upward(error)} is claimed")
    strings = f"A string of {about(x.length)} tokens and one of {about(z.length)} with these counts and this suffix"
    total, eps = _sum(errors), upward(error)
    if len(models) == 1:
        return f"{strings}: the output of the model differs by at most {total} <= {eps}."
    lengths = about(least) if least == most else f"{about(least)} to {about(most)}"
    return (
        f"{strings}: the outputs of the two models differ by at most {total} <= {eps}. If the two models differ by at most "
        f"d on all strings of {lengths} tokens, they differ by at most d + {eps} on the long one."
    )


def difference(model: Model, x: View, z: View) -> Fraction:
    """The upper end of max_c |f(x)_c - f(z)_c|; 0 where the two strings bring exactly the same to the MLP."""
    (before, f_x), (same, f_z) = outputs(model, x), outputs(model, z)
    if before == same and all(y.exact for y in before):
        return Fraction(0)
    return max((a - b).size for a, b in zip(f_x, f_z, strict=True))


def read_view(value: Any, name: str, suffix: list[int], tokens: int, period: int) -> View:
    length, table = fields(value, name, "length", "table")
    rows = [items(row, f"{name}, table", period) for row in items(table, f"{name}, table", tokens)]
    return View(
        suffix, [[natural(v, f"{name}, table") for v in row] for row in rows], natural(length, f"{name}, length")
    )


def check_views(x: View, z: View, models: list[Model]) -> None:
    """Bounds the time before any is spent."""
    seen = 2 * len(x.suffix) + sum(map(len, x.table + z.table))
    wide = sum((len(model.positions[0]) + 10) * (1 + model.below.bit_length() // 100) for model in models)
    if seen * wide * max(len(model.heads) for model in models) > MOST_WORK:
        raise Unreadable(f"models and tables for which {MOST_WORK} steps suffice", "larger ones")


def _strings_exist(x: View, z: View, tokens: int, period: int) -> None:
    for view, name in ((x, "long string"), (z, "short string")):
        check_string(view, name, tokens, period)


def check_string(view: View, name: str, tokens: int, period: int) -> None:
    """Rule 1: lengths from the tables, and sum_s n_(s,r) = floor(M / Delta) + [1 <= r <= M mod Delta]."""
    if not view.suffix or max(view.suffix) >= tokens:
        raise Refused(f"the suffix is no nonempty list of tokens 0 to {tokens - 1}")
    prefix = sum(map(sum, view.table))
    if view.length != prefix + len(view.suffix):
        raise Refused(f"the {name}'s length is {about(prefix + len(view.suffix))}, not {about(view.length)}")
    for residue in range(period):
        size = prefix // period + (1 <= residue <= prefix % period)
        if sum(row[residue] for row in view.table) != size:
            raise Refused(
                f"no string has the {name.removesuffix(' string')} table: {about(size)} of {about(prefix)} positions have "
                f"residue {residue} modulo {period}, the table has {about(sum(row[residue] for row in view.table))}"
            )


def _seen_alike(x: View, z: View, models: list[Model], period: int) -> None:
    """Rule 2: the same residues at the end, and a suffix that holds every position with its own logit."""
    if (x.length - z.length) % period:
        raise Refused(f"the lengths {about(x.length)} and {about(z.length)} differ modulo the period {period}")
    reach = max(model.locality for model in models)
    if len(x.suffix) <= reach and any(map(any, x.table + z.table)):
        raise Refused(f"the suffix has {len(x.suffix)} tokens, and a locality of {reach} needs {reach + 1}")


def _sum(errors: list[Fraction]) -> str:
    return (
        upward(errors[0])
        if len(errors) == 1
        else f"{' + '.join(map(upward, errors))} = {upward(sum(errors, Fraction(0)))}"
    )
