"""The prediction for a regular language: the decision procedure answers, yes with a program, no with two states."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from lengthwise.crasp.automata import Automaton, minimal
from lengthwise.crasp.fragment import fragment
from lengthwise.verdict.lengths import OutsideTheory, training_length
from lengthwise.verdict.prediction import (
    INCOMPLETE,
    KINDS,
    NO_MEMBER,
    OUTSIDE,
    THEOREMS,
    Prediction,
    Side,
    Step,
    not_known,
)

if TYPE_CHECKING:
    from lengthwise.crasp.regular import Decision

LARGER = ((1, 8), (64, 0), (24, 8))  # periods and windows up to these, where smaller ones leave it open
MOST_ASKED, FINITE = 300, 3_000  # states


NONE = Step("program", "none is given", "")


def of_language(language: Any, name: str, alphabet: Any = None, seconds: float = 10.0) -> Prediction:
    """A regular language: the decision procedure answers, yes with a program, no with two states; else see of_undecided."""
    from lengthwise.crasp.automata import automaton
    from lengthwise.crasp.regular import MOST_DECIDED, decide

    machine = minimal(language) if isinstance(language, Automaton) else automaton(language, alphabet)
    about = Prediction(
        name, not_known(""), plain_side(machine), None, training_length(machine), notes=trivial(machine), steps=(NONE,)
    )
    if machine.states > MOST_DECIDED:
        step = Step("regular", f"not decided: {machine.states} states, {MOST_DECIDED} are decided", "docs/decide.md")
        return of_undecided(machine, replace(about, steps=(NONE, step)), seconds)
    found = decide(machine)
    for period, window in LARGER:
        if found.member is None:
            found = decide(machine, max_period=period, max_window=window)
    pairs = f"{len(found.tried)} pair{'s' * (len(found.tried) > 1)} of period and window tried"
    said = {True: "in the class", False: "outside the class", None: "not decided"}[found.member]
    about = replace(about, steps=(NONE, Step("regular", f"{said}; {pairs}", found.source)))
    if found.member is None:
        return of_undecided(machine, about, seconds)
    return _inside(found, about) if found.member else _outside(found, machine, about)


def _inside(found: "Decision", about: Prediction) -> Prediction:
    """The decision procedure wrote a program."""
    assert found.program is not None
    assert found.period is not None
    kind = KINDS[fragment(found.program).kind]
    what = [f"period {found.period}"] * (found.period > 1) + [f"window {found.window}"] * bool(found.window)
    detail = f" ({', '.join(what)})" if what else ""
    reason = f"The language is regular and a program accepts it, in {kind}{detail}."
    return replace(
        about,
        positions=Side("generalizes", "decided", reason, f"{THEOREMS}; docs/decide.md, Theorem 1; the program"),
        kind=kind,
        period=found.period,
        window=found.window,
        checked_to=found.checked_to,
        program=found.program,
    )


def _outside(found: "Decision", machine: Automaton, about: Prediction) -> Prediction:
    """The decision procedure found two states that no program tells apart; a published theorem may say so too."""
    from lengthwise.verdict.obstacles import SOURCE, obstacle

    inside = obstacle(machine)
    step = Step("known theorems", "neither is inside" if inside is None else str(inside), SOURCE)
    because = "" if inside is None else f" {str(inside)[:1].upper()}{str(inside)[1:]}."
    reason = f"{found.reason[:1].upper()}{found.reason[1:]}{because} {INCOMPLETE}"
    source = "docs/decide.md, Theorem 3" + ("" if inside is None else f"; {SOURCE}")
    assert found.witness is not None
    return replace(
        about,
        positions=Side("fails", "decided", reason, source),
        kind=OUTSIDE,
        bound=OutsideTheory(NO_MEMBER),
        witness=dict(vars(found.witness)),
        steps=(*about.steps, step),
    )


def of_undecided(machine: Automaton, about: Prediction, seconds: float) -> Prediction:
    """A regular language that the decision procedure leaves open: Parity or a flip-flop inside, or a program by search.

    A program that is found is compared with the automaton state by state, so it is no guess.
    """
    from lengthwise.verdict.labelled import labelled_words
    from lengthwise.verdict.machine import AutomatonMachine, ProgramMachine
    from lengthwise.verdict.obstacles import SOURCE, obstacle
    from lengthwise.verdict.of_programs import finite, of_program
    from lengthwise.verdict.search import search

    constant = Step("communication", f"constant: at most {machine.states} different rows", "")
    inside = obstacle(machine)
    theorems = Step("known theorems", "neither was found inside" if inside is None else str(inside), SOURCE)
    about = replace(about, steps=(*about.steps, constant, theorems))
    if inside is not None:
        side = Side("fails", "decided", f"{str(inside)[:1].upper()}{str(inside)[1:]}. {INCOMPLETE}", SOURCE)
        return replace(about, positions=side, nope=side, kind=OUTSIDE, bound=OutsideTheory(NO_MEMBER))
    oracle = AutomatonMachine(machine)
    found = search(labelled_words(oracle), oracle, seconds)
    steps = (*about.steps, Step("search", str(found), "the search"))
    if found.program is None or finite(ProgramMachine(found.program), FINITE) != machine:
        why = "no short program was found" if found.program is None else "the program that was found is not equal to it"
        side = not_known(f"The decision procedure leaves it open, and {why}.")
        return replace(about, positions=side, steps=steps)
    given = of_program(found.program, about.target)
    reason = f"{given.reason} It was found by search and has the automaton of the language."
    return replace(given, positions=replace(given.positions, reason=reason), bound=about.bound, steps=steps)


def plain_side(machine: Automaton) -> Side:
    """Whether a plain program accepts a regular language; for one period and window the decision is exact."""
    from lengthwise.crasp.annotated import told_apart

    apart = told_apart(machine, 1, 0) if machine.states <= MOST_ASKED else None
    source = "docs/decide.md, Theorems 1 and 2"
    if apart is None:
        return not_known("The automaton is too large to ask for a plain program.")
    if apart:
        return Side("generalizes", "decided", "A plain program tells the states of its automaton apart.", source)
    return Side("fails", "decided", "No plain program tells the states of its automaton apart.", source)


def trivial(machine: Automaton | None) -> tuple[str, ...]:
    """A sentence for a language that is empty or holds every word."""
    if machine is None or machine.states > 1:
        return ()
    return ("The language holds every word." if machine.accepting else "The language is empty.",)
