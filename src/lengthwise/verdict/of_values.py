"""The prediction for a function of which only values are known: Python code, or labelled words."""

import time
from dataclasses import replace

from lengthwise.crasp.fragment import fragment
from lengthwise.crasp.syntax import Program
from lengthwise.verdict.evidence import (
    FIRST_WORDS,
    MOST_WORDS,
    Known,
    asked,
    by_chance,
    rows_of,
    small_automaton,
    wrong_far,
)
from lengthwise.verdict.far import reach_of
from lengthwise.verdict.growth import growth_of
from lengthwise.verdict.guess import Guess
from lengthwise.verdict.labelled import Labelled
from lengthwise.verdict.lengths import OutsideTheory
from lengthwise.verdict.machine import Machine
from lengthwise.verdict.of_languages import NONE, of_language
from lengthwise.verdict.of_programs import of_program
from lengthwise.verdict.prediction import OUTSIDE, Prediction, Side, Step, as_far_as_known, not_known

THEOREM_12 = "Huang et al. 2025, Theorem 12; the rows counted here"
VALUES = "of the target only values are known, on finitely many words; give a program or an automaton"


def of_function(machine: Machine, name: str, seconds: float) -> Prediction:
    """A function that answers words: asked for half of the time at most, then searched for the rest of it."""
    started = time.monotonic()
    half, end = started + seconds / 2, started + seconds
    known = asked(machine, half, end, FIRST_WORDS)
    found = small_automaton(known)
    if found is not None:
        return of_guess(found, name)
    return of_values(asked(machine, half, end, MOST_WORDS, known), name, end)


def of_words(words: Labelled, name: str, seconds: float) -> Prediction:
    """Labelled words: nothing else can be asked."""
    values = dict(zip(words.words, words.labels, strict=True))
    found = of_values(Known(words.alphabet, values, words.complete_to), name, time.monotonic() + seconds)
    notes = () if words.one_label is None else (f"{words.one_label[:1].upper()}{words.one_label[1:]}.",)
    return replace(found, notes=(*found.notes, *notes))


def of_values(known: Known, name: str, until: float) -> Prediction:
    """A small automaton, communication, and a search until some time: everything only as far as words are known."""
    steps = [NONE]
    found = small_automaton(known)
    if found is not None:
        return of_guess(found, name)
    if known.longest < 0:
        steps.append(Step("regular", "not asked: the empty word has no label", ""))
    elif known.truths:
        few = (known.longest + 2) // 2
        steps.append(
            Step(
                "regular",
                f"no automaton with {few} states or fewer agrees to {known.longest} and beyond, but by chance",
                "",
            )
        )
    else:
        steps.append(Step("regular", "not asked: the values are not true and false", ""))
    rows = rows_of(known)
    growth = growth_of(rows)
    said = (
        f"{growth.verdict}: {', '.join(map(str, rows))} different rows" if rows else "no two parts of a word are known"
    )
    steps.append(Step("communication", said, THEOREM_12))
    half = len(rows)
    if growth.verdict == "linear" and rows[-1] > (half + 1) ** 2:  # as many as two counts have values: no sign of more
        reason = (
            f"To what follows, {half} symbols at most, the first {half} symbols of a word must tell "
            f"{(rows[-1] - 1).bit_length()} bits, and the bits grow linearly as far as counted. If they go on so, no periodic, "
            "local limit transformer computes it, with positions or without."
        )
        side = Side("fails", "conjectured", reason, THEOREM_12)
        witness = {"rows": dict(enumerate(rows, start=1)), "growth": "linear"}
        bound = OutsideTheory(VALUES)
        return Prediction(name, side, side, OUTSIDE, bound, checked_to=2 * half, witness=witness, steps=steps)
    steps.append(Step("known theorems", "no automaton to look for Parity or the flip-flop in", ""))
    if not known.truths:
        steps.append(Step("search", "not tried: the values are not true and false", ""))
        return _unknown(name, steps, "Nothing that was tried settles it.")
    return _searched(known, name, until, steps)


def _searched(known: Known, name: str, until: float, steps: list[Step]) -> Prediction:
    """What a short program that agrees with the known words says, if one is found that does not agree by chance."""
    from lengthwise.verdict.search import search

    sample = known.labelled()
    oracle = None if known.function is None else known
    found = search(sample, oracle, max(0.1, until - time.monotonic()))
    steps.append(Step("search", str(found), "the search"))
    if found.program is None:
        return _unknown(name, steps, "Nothing that was tried settles it; no short program was found.")
    if by_chance(sample, found.candidates):
        reason = (
            f"A program agrees with the {len(sample.words)} words, but with so few of a label one may agree by chance."
        )
        return _unknown(name, steps, reason)
    if known.function is None and 2 * reach_of(found.program) > sample.longest:
        reason = (
            f"A program agrees with the words, but its constants reach {reach_of(found.program)} and the words only "
            f"{sample.longest} symbols, so they do not show that it means them."
        )
        return _unknown(name, steps, reason)
    if known.function is not None and (wrong := wrong_far(known, found.program)) is not None:
        steps.append(Step("search", f"the program is wrong on a word of {len(wrong)} symbols", "words x y^t z"))
        return _unknown(name, steps, f"The program that was found is wrong on a word of {len(wrong)} symbols.")
    return of_found(found.program, name, sample, found.retested_to, steps)


def of_found(program: Program, name: str, sample: Labelled, retested: int | None, steps: list[Step]) -> Prediction:
    """What a program that was found by search says: never more than checked."""
    about = of_program(program, name)
    every = f"all words up to length {sample.complete_to}"
    upto = every if sample.complete_to == sample.longest else f"{len(sample.words)} labelled words"
    more = "" if retested is None else f" and on random words up to length {retested}"
    reason = (
        f"A program found by search agrees on {upto}{more}, in {about.kind}; that is no proof that it is the target's."
    )
    positions = Side("generalizes", "checked", reason, "the program that was found")
    nope = positions if fragment(program).kind == "plain" else as_far_as_known(about.nope)
    return replace(
        about,
        positions=positions,
        nope=nope,
        bound=OutsideTheory(VALUES),
        checked_to=sample.complete_to if sample.complete_to > 0 else None,
        published=None,
        notes=(),  # those of the program, which need not be the target
        steps=steps,
    )


def _unknown(name: str, steps: list[Step], reason: str) -> Prediction:
    side = not_known(reason)
    return Prediction(name, side, side, None, OutsideTheory(VALUES), steps=steps)


def of_guess(found: Guess, name: str) -> Prediction:
    """What the decision procedure says of the one small automaton, as far as that agrees."""
    about = of_language(found.automaton, name)
    states = found.automaton.states
    decided = [replace(step, outcome=f"{step.outcome} ({states} states)") for step in about.steps[1:]]
    return replace(
        about,
        positions=as_far_as_known(about.positions, str(found)),
        nope=as_far_as_known(about.nope, str(found)),
        bound=OutsideTheory(VALUES),
        checked_to=found.agrees_to,
        notes=(),  # those of the automaton, which need not be the target's
        steps=[NONE, *decided],
    )
