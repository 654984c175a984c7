"""The independent checker of certificates: Python's standard library, and nothing of ours.

docs/certificate.md defines what a certificate is and what is verified here; `make checker` builds these files into one
that runs alone. Start with shortening.py: length.py is the second kind, strings.py the third and worst.py, with the files
that only it calls (claim, weights, network, corner, leaf, cells, roots, small, words), the fourth.
"""

import os
import sys
from dataclasses import asdict, dataclass
from types import ModuleType
from typing import Any

from . import length, shortening, strings, worst
from .model import read_model
from .reader import MOST_BYTES, Refused, Unreadable, fields, items, natural, number, one_of, parse, shown

__all__ = ["Unreadable", "Verdict", "check", "check_bytes", "main"]

FORMAT, VERSION = "lengthwise certificate", 1
COMMON = ("format", "version", "kind", "error", "period", "models")
KINDS = {
    "shortening": (shortening.FIELDS, shortening.check),
    "strings": (strings.FIELDS, strings.check),
    "worst": (worst.FIELDS, worst.check),
}


@dataclass(frozen=True)
class Verdict:
    """Whether a certificate is valid; what it states if it is, and why not if it is not."""

    valid: bool
    statement: str
    reason: str

    def __str__(self) -> str:
        """One line."""
        return f"valid: {self.statement}" if self.valid else f"refused: {self.reason}"

    def to_json(self) -> dict[str, Any]:
        """The fields that `lengthwise check --json` prints."""
        return asdict(self)


def check(path: str | os.PathLike[str]) -> Verdict:
    """The verdict on a certificate's file; Unreadable if it is none."""
    try:
        with open(path, "rb") as file:
            data = file.read(MOST_BYTES + 1)
    except (OSError, ValueError) as error:
        raise Unreadable("a file", getattr(error, "strerror", None) or str(error)) from None
    return check_bytes(data)


def check_bytes(data: bytes) -> Verdict:
    """The verdict on a certificate's text; Unreadable if it is none."""
    tree = parse(data)
    kind = one_of(tree.get("kind"), "kind", "shortening", "length", "strings", "worst")
    own, rule = KINDS.get(kind, KINDS["shortening"])
    if kind == "length":
        own, rule = length.FIELDS[one_of(tree.get("theorem"), "theorem", *length.FIELDS)], length.check
    known, version, _, claimed, every, listed, *claim = fields(tree, "", *COMMON, *own)
    if known != FORMAT or version != VERSION or version is True:
        raise Unreadable(f'the format "{FORMAT}" in version {VERSION}', f"{shown(known)} in version {shown(version)}")
    error, period = number(claimed, "error"), natural(every, "period", 1)
    said = strings.RULES if kind == "strings" else ()
    models = [read_model(model, f"models[{index}]", *said) for index, model in enumerate(items(listed, "models"))]
    sizes = {(model.symbols, len(model.unembedding)) for model in models}
    if not 1 <= len(models) <= 2 or len(sizes) > 1:
        got = f"{len(models)} models with tokens and outputs {sorted(sizes)}"
        raise Unreadable("one model, or two with equally many tokens and outputs", got, "models")
    if error < 0 or any(period % model.period for model in models):
        raise Unreadable("an error >= 0, and a multiple of every model's period", "others", "error, period")
    try:
        return Verdict(True, rule(claim, models, period, error), "")
    except Refused as refusal:
        return Verdict(False, "", str(refusal))


def main() -> None:
    """Checks the file that is named on the command line: one line, and exit code 0, 1 or 2."""
    try:
        if len(sys.argv) != 2:
            raise Unreadable("one argument, the path of a certificate", f"{len(sys.argv) - 1}")
        verdict = check(sys.argv[1])
    except Unreadable as error:
        print(f"unreadable: {error}")
        sys.exit(2)
    print(verdict)
    sys.exit(0 if verdict.valid else 1)


class _Callable(ModuleType):
    """Lets `lengthwise.check(path)` work where `lengthwise.check` is this package."""

    def __call__(self, path: str | os.PathLike[str]) -> Verdict:
        return check(path)


sys.modules[__name__].__class__ = _Callable
