"""The prediction for a regular language: the decision procedure answers, yes with a program, no with two states."""

from typing import Any

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

LARGER_PERIOD, LARGER_WINDOW = 24, 8


def of_language(language: Any, name: str, alphabet: Any = None) -> Prediction:
    """A regular language: the decision procedure answers, yes with a program, no with two states."""
    from lengthwise.crasp.automata import automaton
    from lengthwise.crasp.regular import decide
    from lengthwise.verdict.obstacles import SOURCE, obstacle

    machine = minimal(language) if isinstance(language, Automaton) else automaton(language, alphabet)
    found = decide(machine)
    if found.member is None:
        found = decide(machine, max_period=LARGER_PERIOD, max_window=LARGER_WINDOW)
    steps = [Step("program", "none is given", "")]
    tried = f"{len(found.tried)} pairs of period and window tried"
    words = {True: "in the class", False: "outside the class", None: "not decided"}
    steps.append(Step("regular", f"{words[found.member]}; {tried}", found.source))
    nope = plain_side(machine)
    notes = trivial(machine)
    if found.member:
        assert found.program is not None
        assert found.period is not None
        needs = fragment(found.program)
        what = [f"period {found.period}"] * (found.period > 1) + [f"window {found.window}"] * bool(found.window)
        reason = f"The language is regular and a program accepts it, in {KINDS[needs.kind]}"
        reason += f" ({', '.join(what)})." if what else "."
        side = Side("generalizes", "decided", reason, f"{THEOREMS}; docs/decide.md, Theorem 1; the program")
        return Prediction(
            name,
            side,
            nope,
            KINDS[needs.kind],
            training_length(machine),
            period=found.period,
            window=found.window,
            checked_to=found.checked_to,
            program=found.program,
            notes=notes,
            steps=steps,
        )
    if found.member is None:
        return Prediction(name, not_known(found.reason), nope, None, training_length(machine), notes=notes, steps=steps)
    inside = obstacle(machine)
    steps.append(Step("known theorems", "neither" if inside is None else str(inside), SOURCE))
    because = "" if inside is None else f" {str(inside)[:1].upper()}{str(inside)[1:]}."
    reason = f"{found.reason[:1].upper()}{found.reason[1:]}{because} {INCOMPLETE}"
    source = "docs/decide.md, Theorem 3" + ("" if inside is None else f"; {SOURCE}")
    assert found.witness is not None
    return Prediction(
        name,
        Side("fails", "decided", reason, source),
        nope,
        OUTSIDE,
        OutsideTheory(NO_MEMBER),
        witness=dict(vars(found.witness)),
        notes=notes,
        steps=steps,
    )


def plain_side(machine: Automaton) -> Side:
    """Whether a plain program accepts a regular language; for one period and window the decision is exact."""
    from lengthwise.crasp.annotated import told_apart

    apart = told_apart(machine, 1, 0)
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
