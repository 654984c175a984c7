"""How long words must be to pin a target down: a bound with its class and source, or why there is none.

A learner that returns a least member of a class which agrees with the target on all words up to N has found the target,
if N is at least the longest shortest disagreement between the target and members that are no larger; below, every
learner fails on some target (programs note, Proposition 1). Three answers, each about a named class:

    Bound               the length, and the theorem
    NoComputableBound   no algorithm gives one for the class: the comparison to blame, and what is known instead
    OutsideTheory       the target is no program and no regular language

That no disagreement was found up to some length is never turned into a bound.

Source: programs note, sections 1 and 5.
"""

import re
from dataclasses import dataclass, field
from typing import Any

from lengthwise.crasp.automata import Automaton, minimal
from lengthwise.crasp.syntax import Program
from lengthwise.errors import shown
from lengthwise.verdict import bounds
from lengthwise.verdict.equality import search_pair
from lengthwise.verdict.fragments import PairFragment, pair_fragment
from lengthwise.verdict.guards import Guards
from lengthwise.verdict.pair import constant, pair

FEW_STATES = 500
UNDECIDABLE = (
    "from two levels of counts on no algorithm bounds the needed length (Yang et al. 2026; see the Pell family)"
)


@dataclass(frozen=True)
class Bound:
    """Agreement on all words up to training_length is equality, among the members of a class.

    kind       regular, positive, linear-top or one-difference
    members    the class the length is about, in words
    source     the theorem
    exactness  attained: some member of the class needs the whole length; bound: none needs more
    lower      a length that the class certainly needs: the target against always true and always false, as far as
               these were told apart; None where they were not
    terms      the quantities of the theorem
    """

    training_length: int
    kind: str
    members: str
    source: str
    exactness: str
    lower: int | None
    terms: dict[str, int] = field(default_factory=dict)

    def fields(self) -> dict[str, Any]:
        """The answer in words."""
        return {"answer": "bound", "sentence": str(self)} | vars(self)

    def __str__(self) -> str:
        """The answer as a sentence."""
        return f"All words up to {self.training_length} symbols pin the language down among {self.members} ({self.source})."


@dataclass(frozen=True)
class NoComputableBound:
    """No algorithm bounds the length for the class of the target.

    culprit, definition, line   the comparison of mixed sign inside a count, where it stands, and the line of the text
    lower      the class needs at least this: the target against always true or always false, as far as searched
    remedy     what would give a number
    """

    culprit: str
    definition: str
    line: int | None
    reason: str
    lower: int | None
    remedy: str

    def fields(self) -> dict[str, Any]:
        """The answer in words."""
        return {"answer": "no computable bound", "sentence": str(self), "training_length": None} | vars(self)

    def __str__(self) -> str:
        """The answer as a sentence."""
        line = "" if self.line is None else f", line {self.line}"
        least = "" if self.lower is None else f" It needs at least {self.lower}."
        return f"{self.culprit} (in {self.definition}{line}) {self.reason}.{least} Remedy: {self.remedy}."


@dataclass(frozen=True)
class OutsideTheory:
    """Nothing here is about the target."""

    reason: str

    def fields(self) -> dict[str, Any]:
        """The answer in words."""
        return {"answer": "outside the theory", "sentence": str(self), "training_length": None, "reason": self.reason}

    def __str__(self) -> str:
        """The answer as a sentence."""
        return f"No length follows from this theory: {self.reason}."


Answer = Bound | NoComputableBound | OutsideTheory


def training_length(target: Any, source: str | None = None) -> Answer:
    """The length that pins a target down in the class of its fragment, or why no length does.

    target: an automaton or a program; source: the text that the program was read from, for line numbers.
    """
    if isinstance(target, Automaton):
        return _regular(target)
    if not isinstance(target, Program):
        return OutsideTheory(f"{shown(target)} is no C-RASP program and no regular language")
    if target.accept is None and not any(one for one in target.outputs if one.name in _booleans(target)):
        return OutsideTheory(f"{target.name} has no Boolean that is shown")
    about = pair_fragment(pair(target, target))
    lower = _against_constants(target)
    if about.culprit is not None:
        return _no_bound(about, str(target) if source is None else source, lower)
    if about.fragment == "linear-top":
        return _linear_top(about.guards, lower)
    control, thresholds = about.terms["control"], 2 * about.terms["thresholds"]
    seen = "" if control == 1 else f", and {control} values of window and period"
    if about.fragment == "positive":
        length = bounds.positive(control, thresholds)
        members = f"threshold programs with thresholds adding up to {thresholds // 2}{seen}"
        return Bound(
            length, "positive", members, "Theorem 5", "bound", lower, {**about.terms, "thresholds": thresholds}
        )
    step, largest = about.terms["step"], about.terms["constant"]
    length = bounds.one_difference(control, thresholds, step, largest)
    members = (
        f"programs that test the same difference of counts with constants up to {largest}, "
        f"and thresholds adding up to {thresholds // 2}{seen}"
    )
    terms = {"control": control, "thresholds": thresholds, "step": step, "constant": largest}
    return Bound(length, "one-difference", members, "Theorem 6", "bound", lower, terms)


def _regular(target: Automaton) -> Bound:
    """2n - 2 for n states: attained by some pair of the class, n >= 2."""
    states = max(2, minimal(target).states)
    members = f"all automata with at most {states} states"
    source = "Theorem 2; Chen, Ma, Li 2025 for the class"
    return Bound(bounds.automata(states, states), "regular", members, source, "attained", None, {"states": states})


def _linear_top(guards: Guards | None, lower: int | None) -> Answer:
    """Theorem 3 for rivals with as many forms, over the same guard automaton."""
    if guards is None:
        return OutsideTheory("the states that the counted Booleans need are too many to list")
    literals = {one for edge in guards.edges for _, one in edge.setting.literals}
    largest = max((abs(c) if above else abs(c - 1) for _, c, above in literals), default=0)
    letters, forms = len(guards.pair.alphabet), max(1, len(guards.forms))
    step = max(1, guards.step)
    length = bounds.linear_top(guards.states, letters, 2 * forms, step, largest + 1, guards.tests_last_letter)
    count = "one linear inequality" if forms == 1 else f"{forms} linear forms"
    members = (
        f"programs of {count} in the counts of {letters} letters, coefficients up to {step}, constants up to {largest}"
    )
    if guards.states > 1:
        members += f", over the same {guards.states} states of window, period and thresholds"
    terms = {"states": guards.states, "letters": letters, "forms": 2 * forms, "step": step, "constant": largest + 1}
    return Bound(length, "linear-top", members, "Theorem 3", "bound", lower, terms)


def _no_bound(about: PairFragment, source: str, lower: int | None) -> NoComputableBound:
    assert about.culprit is not None
    reason = f"is a difference of counts that is tested inside a count, beside another difference; {UNDECIDABLE}"
    remedy = (
        "give an automaton if the language is regular, bound the difference by states, or name the rivals and compare "
        "each with `lengthwise crasp compare`"
    )
    definition = about.culprit.definition
    return NoComputableBound(about.culprit.comparison, definition, line_of(source, definition), reason, lower, remedy)


def line_of(source: str, definition: str) -> int | None:
    """The line on which a definition, or `accept`, begins in the text of a program."""
    begins = r"accept\b" if definition == "accept" else rf"(?:let|output)\s+{re.escape(definition)}\b"
    for number, line in enumerate(source.splitlines(), start=1):
        if re.match(rf"\s*{begins}", line):
            return number
    return None


def _against_constants(target: Program) -> int | None:
    """The longest shortest disagreement with always true and always false that a short search finds."""
    if target.accept is None:
        return None
    found = [search_pair(pair(target, constant(target, value)), FEW_STATES) for value in (False, True)]
    return max((len(one.word) for one in found if one.word is not None), default=None)


def _booleans(target: Program) -> set[str]:
    from lengthwise.crasp.operations import operations

    return set(operations(target).outputs)
