"""What a certified worst error says: a bracket, a witness, and how it was found."""

import os
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from lengthwise.jsonform import to_json
from lengthwise.theory.admitted import Problem
from lengthwise.theory.cell_tree import Root
from lengthwise.theory.witness import Witness
from lengthwise.type_counts import Counts

STOPS = {
    "done": "the ends are close enough",
    "refuted": "a string refutes the claim",
    "undecided": "a short string is too close to the claim to tell",
    "cells": "the largest number of cells was reached",
    "seconds": "the time was used up",
    "stopped": "it was interrupted",
}


@dataclass(frozen=True, eq=False)
class Certified:
    """sup |f - T| over all strings lies in [lower, upper]; lower is attained by the witness."""

    problem: Problem
    small: int
    roots: tuple[Root, ...]
    witness: Witness | None
    upper: float
    within: float | None
    stop: str

    @property
    def lower(self) -> float:
        """The error that the witness certainly has; 0 if no string meets the conditions."""
        return 0.0 if self.witness is None else self.witness.least

    @property
    def cells(self) -> int:
        """How many cells the proof has."""
        return sum(root.leaves for root in self.roots)

    @property
    def proved(self) -> bool | None:
        """Whether the claim `within` holds: True, False, or None if it is open; without a claim whether the ends are close."""
        if self.within is None:
            return self.stop == "done" or None
        return True if self.upper <= self.within else False if self.lower > self.within else None

    def __str__(self) -> str:
        """The answer as a sentence."""
        about = f"all strings of at least {self.problem.shortest} token{'s' * (self.problem.shortest > 1)}"
        if self.problem.where is not None:
            about += f" with {self.problem.where}"
        said = f"On {about} the worst error against {self.problem.target.words} is between {self.lower:.6g} and {self.upper:.6g}"
        if self.witness is None:
            return f"{said}; no string was found that meets the conditions."
        length = f"attained on a string of {self.witness.counts.length:,} tokens; {self.cells:,} cells"
        claim = ""
        if self.within is not None:
            claim = {True: "proved: at most", False: "refuted: not at most", None: "open: at most"}[self.proved]
            claim = f"{claim} {self.within:g}. "
        stop = "" if self.stop in ("done", "refuted") else f" ({STOPS[self.stop]})"
        return f"{claim[:1].upper()}{claim[1:]}{said}, {length}{stop}."

    def fields(self) -> dict[str, Any]:
        """The answer in words."""
        return {
            "sentence": str(self),
            "worst_error": self.upper,
            "lower": self.lower,
            "upper": self.upper,
            "within": self.within,
            "proved": self.proved,
            "stop": STOPS[self.stop],
            "cells": self.cells,
            "short_strings_below": self.small,
            "shortest": self.problem.shortest,
            "where": None if self.problem.where is None else str(self.problem.where),
            "witness": None if self.witness is None else self._witness(self.witness.counts),
        }

    def _witness(self, counts: Counts) -> dict[str, Any]:
        """The string by its counts, as `run --counts` takes them."""
        names = self.problem.model.names
        table = [list(row) for row in counts.table]
        return {
            "length": counts.length,
            "counts": {"suffix": [names[token] for token in counts.suffix], "table": table},
        }

    def to_json(self) -> str:
        """The fields as one JSON object."""
        return to_json(self.fields())

    def certificate(self, path: str | os.PathLike[str]) -> Path:
        """Writes the proof to a file that `lengthwise check` verifies."""
        from lengthwise.theory.certificate import write_certificate
        from lengthwise.theory.worst_certificate import worst_certificate

        write_certificate(worst_certificate(self), path)
        return Path(path)

    @property
    def claimed(self) -> Fraction:
        """What the certificate claims: `within` where it is proved, else the upper end."""
        return Fraction(str(self.within)) if self.within is not None and self.proved else Fraction(self.upper)
