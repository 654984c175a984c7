"""What is predicted of a target, how surely, and the steps that led there."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from lengthwise.crasp.syntax import Program
from lengthwise.jsonform import to_json
from lengthwise.verdict.lengths import Answer

Verdict = Literal["generalizes", "fails", "unknown"]
Certainty = Literal["proved", "decided", "checked", "conjectured"]

CLASS = "C-RASP[periodic, local]"
OUTSIDE = f"outside {CLASS}"
KINDS = {
    "plain": "plain C-RASP",
    "periodic": "C-RASP[periodic]",
    "local": "C-RASP[local]",
    "periodic, local": CLASS,
}
THEOREMS = "Huang et al. 2025, Theorems 7 and 9"
NO_MEMBER = "no member of the class equals the target, so no training length helps"
INCOMPLETE = "That no limit transformer computes it either is open: the class is not known to be complete for them."


@dataclass(frozen=True)
class Side:
    """A verdict for one kind of positions. `certainty` is None where the verdict is unknown.

    proved       a theorem about limit transformers, no step is left open
    decided      settled for the class of programs, by the decision procedure or a proof in the docs
    checked      true of all words up to a length, and of nothing else for sure
    conjectured  what is known points this way
    """

    verdict: Verdict
    certainty: Certainty | None
    reason: str
    source: str

    def __str__(self) -> str:
        """The verdict with its certainty."""
        return self.verdict if self.certainty is None else f"{self.verdict} ({self.certainty})"


@dataclass(frozen=True)
class Step:
    """One thing that was tried, what came of it, and what it rests on."""

    step: str
    outcome: str
    source: str


def as_far_as_known(side: Side, known: str = "") -> Side:
    """The same verdict where the target is known on finitely many words only: checked for yes, conjectured for no."""
    weaker: dict[Verdict, Certainty | None] = {"generalizes": "checked", "fails": "conjectured", "unknown": None}
    return replace(side, certainty=weaker[side.verdict], reason=f"{known}{side.reason}")


def not_known(reason: str) -> Side:
    """The verdict that says nothing."""
    return Side("unknown", None, reason, "the steps that were tried")


@dataclass(frozen=True)
class Prediction:
    """Whether the idealised learner of Huang et al. 2025 learns a target from short words, and why.

    positions         with learned positions and random offsets: periodic, local limit transformers
    nope              without positions
    kind              the class of the target: plain C-RASP, C-RASP[periodic], ..., outside, limit transformers, or None
    period, window    that its program needs; the window is the largest offset
    checked_to        all words up to this length were compared; None where nothing was compared word by word
    bound             the words that pin the target down, as a typed answer
    program           a program for the target, where one is known
    witness           for `fails`: what shows it
    published         what trained transformers reached, for the tasks of the paper
    notes             what a reader must know besides
    """

    target: str
    positions: Side
    nope: Side
    kind: str | None
    bound: Answer
    period: int | None = None
    window: int | None = None
    checked_to: int | None = None
    program: Program | None = None
    witness: Mapping[str, Any] | None = None
    published: Mapping[str, Any] | None = None
    notes: Sequence[str] = ()
    steps: Sequence[Step] = field(default=())

    @property
    def verdict(self) -> Verdict:
        """With learned positions and random offsets."""
        return self.positions.verdict

    @property
    def without_positions(self) -> Verdict:
        """Without positions (NoPE)."""
        return self.nope.verdict

    @property
    def certainty(self) -> Certainty | None:
        """How surely the verdict is known."""
        return self.positions.certainty

    @property
    def reason(self) -> str:
        """Why."""
        return self.positions.reason

    @property
    def source(self) -> str:
        """What the reason rests on."""
        return self.positions.source

    def fields(self) -> dict[str, Any]:
        """What `lengthwise predict --json` prints."""
        return {
            "sentence": str(self),
            "target": self.target,
            "verdict": self.verdict,
            "certainty": self.certainty,
            "checked_to": self.checked_to,
            "without_positions": self.without_positions,
            "without_positions_certainty": self.nope.certainty,
            "without_positions_reason": self.nope.reason,
            "class": self.kind,
            "period": self.period,
            "window": self.window,
            "reason": self.reason,
            "source": self.source,
            "bound": self.bound.fields(),
            "program": None if self.program is None else str(self.program),
            "witness": None if self.witness is None else dict(self.witness),
            "published": None if self.published is None else dict(self.published),
            "notes": list(self.notes),
            "steps": [dict(vars(one)) for one in self.steps],
        }

    def to_json(self) -> str:
        """The fields as one JSON object."""
        return to_json(self.fields())

    def __str__(self) -> str:
        """The verdict as a sentence."""
        how: str = self.certainty or ""
        if how == "checked" and self.checked_to is not None:
            how = f"checked on all words up to length {self.checked_to}"
        surely = f" ({how})" if how else ""
        same = self.nope.verdict == self.verdict and self.nope.certainty == self.certainty
        without = "without positions too" if same else f"without positions: {self.nope}"
        return f"{self.target}: {self.verdict}{surely}; {without}. {self.reason}"
