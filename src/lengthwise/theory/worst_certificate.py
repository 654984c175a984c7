"""The certificate of a worst error over all strings, written and read back."""

import json
from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import floor
from typing import TYPE_CHECKING, Any

from lengthwise.errors import WrongInput
from lengthwise.theory.certificate_form import Certificate, model_form, number_form

if TYPE_CHECKING:
    from lengthwise.theory.certified import Certified

FORMAT, VERSION, KIND = "lengthwise certificate", 1, "worst"
DIGITS = 10**9  # the lower end is rounded down to so many parts


def worst_certificate(found: "Certified") -> Certificate:
    """That |f - T| is at most the claim on all strings, and on the witness at least the lower end.

    Kind "worst" of docs/certificate.md. Nothing is evaluated here: whether the claim holds is for the checker to say.
    """
    if found.witness is None:
        raise WrongInput("a string that meets the conditions", "none was found", "change --where", "certificate")
    problem, target, counts = found.problem, found.problem.target, found.witness.counts
    where = () if problem.where is None else problem.where.rows
    return {
        "format": FORMAT,
        "version": VERSION,
        "kind": KIND,
        "error": number_form(found.claimed),
        "period": target.period,
        "models": [model_form(problem.model, "model")],
        "target": {
            "activation": target.activation,
            "scale": number_form(target.scale),
            "over": _table(target.over),
            "under": _table(target.under),
            "tail": _table(target.tail),
        },
        "shortest": problem.shortest,
        "where": [{"counts": _table(row.counts), "length": number_form(row.length)} for row in where],
        "small": number_form(found.small),
        "roots": [
            {
                "suffix": list(root.forms.suffix),
                "residue": root.forms.residue,
                "levels": list(root.forms.levels),
                "tree": [node.written() for node in root.nodes()],
            }
            for root in found.roots
        ],
        "witness": {
            "suffix": list(counts.suffix),
            "length": number_form(counts.length),
            "table": [[number_form(count) for count in row] for row in counts.table],
        },
        "lower": number_form(Fraction(floor(Fraction(found.lower) * DIGITS), DIGITS)),
    }


def trees_of(text: str, where: str) -> Mapping[Any, list[Any]]:
    """The trees of an earlier certificate by root, to go on from; its numbers are not believed."""
    try:
        tree = json.loads(text)
        if tree["kind"] != KIND:
            raise KeyError("kind")
        return {(tuple(r["suffix"]), r["residue"], tuple(r["levels"])): list(r["tree"]) for r in tree["roots"]}
    except (ValueError, KeyError, TypeError, RecursionError):
        raise WrongInput("a certificate of kind worst", "another file", "name one that certify wrote", where) from None


def _table(rows: Sequence[Sequence[Fraction]]) -> list[list[int | str]]:
    return [[number_form(value) for value in row] for row in rows]
