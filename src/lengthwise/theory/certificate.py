"""Certificates: what is claimed about one or two models, with everything that is needed to check it.

docs/certificate.md is the format's definition; the checker shares no code with this writer.
"""

import json
import math
import os
from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from lengthwise.errors import WrongInput
from lengthwise.limit.margins import Margin, slots_margin
from lengthwise.limit.model import LimitTransformer, named_arrays
from lengthwise.limit.patterns import Comparison
from lengthwise.limit.storage import write_aside
from lengthwise.theory.answer import NoBoundHolds
from lengthwise.theory.budgets import query_budgets
from lengthwise.theory.certificate_form import Certificate, as_text, model_form, number_form, string_form
from lengthwise.theory.pair import allowed_error, check_pair
from lengthwise.theory.plain_bound import demand, shares
from lengthwise.type_counts import Counts

FORMAT, VERSION = "lengthwise certificate", 1
MOST_OPERATIONS = 500_000  # on enclosures: what a checker accepts for two strings written out

Pair = tuple[LimitTransformer, LimitTransformer]


def shortening_certificate(
    first: LimitTransformer,
    second: LimitTransformer | None,
    long_counts: Counts,
    short_counts: Counts,
    error: Fraction | float | str,
    window: tuple[int, int] | None = None,
) -> Certificate:
    """That on a long and a short string the outputs of each model differ, summed over the models, by at most `error`.

        sum_f max_c |f(x)_c - f(z)_c| <= eps        (kind "shortening" of docs/certificate.md)

    The counts are those of the two strings, taken with one suffix and at one common period. window: the lengths on
    which agreement is assumed, (least, most); the short string's own length where none is given. Nothing is evaluated
    here: whether the claim holds is for the checker to say. A float `error` is the decimal number it prints as.
    """
    models = [first] if second is None else [first, second]
    check_pair(models[0], models[-1])
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
    return _head("shortening", models, long_counts.period, allowed_error(error)) | {
        "suffix": list(long_counts.suffix),
        "long": string_form(long_counts),
        "short": string_form(short_counts),
        "window": [number_form(least), number_form(most)],
    }


def strings_certificate(
    models: Sequence[LimitTransformer], long: Sequence[int], short: Sequence[int], error: Fraction | float | str
) -> Certificate:
    """That on two strings the outputs of each log-suffix model differ, summed over the models, by at most `error`.

        sum_f || f(x) - f(z) || <= eps, Euclidean norm        (kind "strings" of docs/certificate.md)

    Both strings are written out, as token indices. Strings longer than a checker accepts are refused here.
    """
    check_pair(models[0], models[-1])
    needed = sum(operations_needed(model, len(long) + len(short)) for model in models)
    if needed > MOST_OPERATIONS:
        raise WrongInput(
            f"strings and models for which {MOST_OPERATIONS:,} operations suffice",
            f"{len(long):,} tokens that would need {needed:,}",
            "what was measured stays numerical; certify a shorter string",
            "certificate",
        )
    period = math.lcm(*(model.period for model in models))
    return _head("strings", [*models], period, allowed_error(error), deep=True) | {
        "long": [int(token) for token in long],
        "short": [int(token) for token in short],
    }


def operations_needed(model: LimitTransformer, length: int) -> int:
    """The operations of section 7 of the format for strings of so many tokens together."""
    kinds, width = model.symbols * model.period, model.width
    each = width
    for layer in model.layers:
        each += 0 if layer.mlp is None else 2 * width * len(layer.mlp.bias)
        each += sum((kinds + len(head.phi) + width) * (width + 1) for head in layer.heads)
    arrays = [array for array in named_arrays(model).values() if array.size]
    numbers = (Fraction(float(value)) for array in arrays for value in np.ravel(array) if np.isfinite(value))
    below = math.lcm(1, *(number.denominator for number in numbers))
    return (length + kinds**2) * each * (1 + below.bit_length() // 200)


def length_certificate(first: LimitTransformer, second: LimitTransformer, error: Fraction | float | str) -> Certificate:
    """That agreement on the window of Theorem 2 (log-length attention) or Theorem P (plain) carries over to all strings.

    Kind "length" of docs/certificate.md: sensitivities, and for every query type who is free, what the others get and
    how many positions a class needs. A float `error` is the decimal number it prints as.
    """
    allowed, models = allowed_error(error), (first, second)
    check_pair(*models)
    head = _head("length", [*models], math.lcm(first.period, second.period), allowed)
    comparison = Comparison(*models)
    if math.inf in comparison.sensitivities.values():
        raise NoBoundHolds("a head feeds a Heaviside step, so its sensitivity is infinite and no error can be shared")
    slopes: list[list[int | str]] = [[], []]
    for (number, _), L in comparison.sensitivities.items():
        slopes[number].append(number_form(Fraction(L)))
    own = _theorem_p if first.attention == second.attention == "plain" else _theorem_2
    shared = {"locality": comparison.locality, "sensitivities": slopes}
    return head | shared | own(comparison, models, allowed)


def _theorem_2(comparison: Comparison, models: Pair, error: Fraction) -> dict[str, Any]:
    budgets = query_budgets(*models, error)
    if budgets.least_length is None:
        raise _too_large(float(budgets.threshold.log2_length))
    margins: list[Margin] = [math.inf, math.inf]
    said, largest = [], 0
    for query in budgets.queries:
        for m, h in (head for group in query.acting for head in group.heads):
            margins[m] = min(margins[m], slots_margin(comparison.slots((m, h), query.token, query.residue)))
        groups = [{"heads": [list(a) for a in g.heads], "budget": number_form(g.budget)} for g in query.acting]
        what = {"groups": groups, "free": [list(a) for a in (*query.free, *query.ignored)]}
        count = query.class_size if query.class_size.denominator < 2**64 else Fraction(math.ceil(query.class_size))
        said.append(((query.token, query.residue), what | {"ties": query.suffix_ties, "count": number_form(count)}))
        largest = max(largest, math.ceil(count))
    least, period = budgets.least_length, budgets.period
    return {
        "theorem": "2",
        "margins": [None if margin == math.inf else number_form(Fraction(margin)) for margin in margins],
        "threshold": number_form(least),
        "queries": _merged(said),
        "length": number_form(max(least + period - 1, budgets.locality + period + period * largest)),
    }


def _theorem_p(comparison: Comparison, models: Pair, error: Fraction) -> dict[str, Any]:
    said, largest = [], 0
    for query in product(range(comparison.symbols), range(comparison.period)):
        found = demand(shares(comparison, *query), error)
        acting = [{"head": list(share.head), "spread": number_form(share.spread)} for share in found.acting]
        free = sorted(set(comparison.sensitivities) - {share.head for share in found.acting})
        count = (found.positions / comparison.period).ceil()
        if count is None:
            raise _too_large(found.positions.log2_upper())
        said.append((query, {"acting": acting, "free": [list(a) for a in free], "count": number_form(count)}))
        largest = max(largest, count)
    length = comparison.locality + comparison.period + comparison.period * largest
    return {"theorem": "P", "queries": _merged(said), "length": number_form(length)}


def _too_large(log2: float) -> WrongInput:
    return WrongInput(
        "a training length that can be written out",
        f"one of about 2^{log2:.6g}",
        "allow a larger error, or ask for the bound without a certificate",
        "error",
    )


def _merged(said: list[tuple[tuple[int, int], dict[str, Any]]]) -> list[dict[str, Any]]:
    """Query types of which the same is said share an entry."""
    entries: dict[str, dict[str, Any]] = {}
    for query, what in said:
        entries.setdefault(json.dumps(what), {"types": []} | what)["types"].append(list(query))
    return list(entries.values())


def write_certificate(certificate: Certificate, path: str | os.PathLike[str]) -> None:
    """Writes a certificate to a file: aside first, then renamed, so that no half file is ever seen."""
    write_aside(Path(path), certificate_text(certificate).encode("ascii"))


def certificate_text(certificate: Certificate) -> str:
    """A certificate as JSON text: rows of numbers on one line each, everything else indented."""
    return as_text(certificate) + "\n"


def _head(kind: str, models: list[LimitTransformer], period: int, error: Fraction, deep: bool = False) -> Certificate:
    written = [model_form(model, f"model {number}", deep) for number, model in enumerate(models, start=1)]
    begin = {"format": FORMAT, "version": VERSION, "kind": kind, "error": number_form(error), "period": period}
    return begin | {"models": written}
