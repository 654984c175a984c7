"""Which theorem covers two programs together, and the length it gives.

The fragment is decided on the joint normal form (`crasp.fragment`): two programs with one difference each, but different
ones, are not covered as a pair. The quantities of the theorems are then measured on the pair.

Source: programs note, sections 4.2 to 4.4.
"""

import re
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from lengthwise.crasp.fragment import FragmentName, fragment
from lengthwise.crasp.operations import AllOf, AnyOf, AtLeastZero, Constant, InResidues, Opposite, RecentTally, SymbolIs
from lengthwise.verdict import bounds
from lengthwise.verdict.forms import Form, Test
from lengthwise.verdict.guards import Guards, guard_automaton
from lengthwise.verdict.pair import Pair
from lengthwise.verdict.steps import Steps, recent_range, unseen

MOST_CONTROL = 3_000


@dataclass(frozen=True)
class Culprit:
    """The comparison that no theorem covers, as it is written, and where: program and definition."""

    comparison: str
    program: str
    definition: str
    second: bool


@dataclass(frozen=True)
class PairFragment:
    """The fragment of a pair; the length within which it differs if it differs at all; how that length is made.

    bound     None for `rest`, and where the guard automaton of a linear-top pair has too many states
    terms     the quantities of the theorem
    highest   for one difference: the absolute value it need not exceed, by the form's terms
    guards    for linear-top: the guard automaton
    """

    fragment: FragmentName
    bound: int | None
    source: str | None
    terms: dict[str, int]
    culprit: Culprit | None = None
    highest: dict[tuple[tuple[int, int], ...], int] = field(default_factory=dict)
    guards: Guards | None = None

    def fields(self) -> dict[str, Any]:
        """What the verbs print."""
        culprit = None if self.culprit is None else self.culprit.comparison
        return {"fragment": self.fragment, "bound": self.bound, "source": self.source, "terms": self.terms} | {
            "culprit": culprit,
            "culprit_in": None if self.culprit is None else self.culprit.definition,
        }


def pair_fragment(pair: Pair) -> PairFragment:
    """The fragment of two programs and the bound of its theorem."""
    found = fragment(pair.joint)
    if found.fragment == "rest":
        assert found.culprit is not None
        return PairFragment("rest", None, None, {}, _culprit(pair, found.culprit, found.culprit_in or "accept"))
    if found.fragment == "linear-top":
        return _linear_top(pair)
    steps = Steps(pair.operations, [root for both in pair.roots for root in both])
    thresholds = sum(-(-form.cap // min(k for k, _ in form.terms)) for form in steps.forms if form.cap is not None)
    control = control_states(steps)
    terms = {"control": control, "thresholds": thresholds}
    if found.fragment == "positive":
        return PairFragment("positive", bounds.positive(control, thresholds), "Theorem 5", terms)
    number, form = next((number, form) for number, form in enumerate(steps.forms) if not form.monotone)
    step = largest_step(steps, form)
    tests = [test for test in steps.tests.values() if test.form == number]
    constant = max((one for test in tests for one in _constants(test, steps)), default=0)
    highest = bounds.highest_difference(control, thresholds, step, constant)
    length = bounds.one_difference(control, thresholds, step, constant)
    terms |= {"step": step, "constant": constant, "highest": highest}
    return PairFragment("one-difference", length, "Theorem 6", terms, highest={form.terms: highest})


def _linear_top(pair: Pair) -> PairFragment:
    guards = guard_automaton(pair)
    if guards is None:
        return PairFragment("linear-top", None, None, {})
    letters, forms = len(pair.alphabet), len(guards.forms)
    length = bounds.linear_top(guards.states, letters, forms, guards.step, guards.constant, guards.tests_last_letter)
    terms = {"states": guards.states, "letters": letters, "forms": forms}
    terms |= {"step": guards.step, "constant": guards.constant}
    return PairFragment("linear-top", length, "Theorem 3", terms, guards=guards)


def control_states(steps: Steps) -> int:
    """How many values residue and bits looked back at can take together.

    Counted where these bits do not rest on counts of the whole past; else all of them, M 2^beta.
    """
    most: int = steps.modulus * 2 ** sum(reach for _, reach in steps.lookback)
    listed = steps.operations
    own = Steps(listed, [i for i in steps.needed if isinstance(listed.list[i], (InResidues, RecentTally))])
    if own.forms:
        return most
    rows = own.start()
    seen = {rows.tobytes()}
    while len(rows):
        after, _ = own.step(rows)
        rows = after[unseen(after, np.arange(len(after)), seen)]
        if len(seen) > MOST_CONTROL:
            return most
    return len(seen)


def largest_step(steps: Steps, form: Form) -> int:
    """The most that one symbol adds to a form or takes from it: what symbols decide is known, all else unknown."""
    most = 0
    for symbol in range(steps.symbols):
        true: dict[int, bool] = {}
        false: dict[int, bool] = {}
        for index in steps.needed:
            match steps.operations.list[index]:
                case SymbolIs(wanted):
                    true[index], false[index] = symbol == wanted, symbol != wanted
                case Constant(value):
                    true[index], false[index] = value, not value
                case Opposite(one):
                    true[index], false[index] = false[one], true[one]
                case AllOf(several):
                    true[index], false[index] = all(true[i] for i in several), any(false[i] for i in several)
                case AnyOf(several):
                    true[index], false[index] = any(true[i] for i in several), all(false[i] for i in several)
                case InResidues() | AtLeastZero():
                    true[index] = false[index] = True
        up = sum(k if k > 0 and true[i] else k if k < 0 and not false[i] else 0 for k, i in form.terms)
        down = sum(k if k < 0 and true[i] else k if k > 0 and not false[i] else 0 for k, i in form.terms)
        most = max(most, abs(up), abs(down))
    return most


def _constants(test: Test, steps: Steps) -> list[int]:
    """The absolute thresholds of a test and of its negation, with its recent counts least and largest."""
    found = []
    for recent in recent_range(test, steps.operations):
        rest = test.constant + recent
        threshold = -(rest // test.factor) if test.factor > 0 else rest // -test.factor + 1
        found += [abs(threshold), abs(threshold - 1)]
    return found


def _culprit(pair: Pair, comparison: str, definition: str) -> Culprit:
    """The comparison as its own program writes it."""
    back = {new: old for old, new in pair.renamed}
    ends = {name: place for both in pair.compared for place, name in enumerate(both)}
    second = definition in back or ends.get(definition) == 1
    if second:
        comparison = re.sub(r"[^\W\d]\w*(?!')", lambda found: back.get(found[0], found[0]), comparison)
    where = "accept" if definition in ends else back.get(definition, definition)
    return Culprit(comparison, (pair.second if second else pair.first).name, where, second)
