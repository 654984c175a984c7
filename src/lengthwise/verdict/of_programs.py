"""The prediction for a program: it is in the class by being written; without positions its automaton is asked."""

import math

from lengthwise.crasp.automata import Automaton, minimal
from lengthwise.crasp.fragment import fragment
from lengthwise.crasp.library import library
from lengthwise.crasp.syntax import Program
from lengthwise.errors import WrongInput
from lengthwise.verdict import algorithmic
from lengthwise.verdict.lengths import training_length
from lengthwise.verdict.machine import Machine, ProgramMachine
from lengthwise.verdict.of_languages import plain_side, trivial
from lengthwise.verdict.prediction import KINDS, THEOREMS, Prediction, Side, Step, as_far_as_known, not_known
from lengthwise.verdict.published import published_program

MOST_STATES = 400
MOST_WORDS, MOST_COMPARED = 4_000, 4_000


def of_program(program: Program, name: str, text: str | None = None) -> Prediction:
    """A program is in the class by being written; whether a plain one does the same may need its automaton."""
    if program.accept is None and not program.outputs:
        raise WrongInput("a program that accepts or shows something", "neither", "add `accept` or an `output`", name)
    needs = fragment(program)
    window = max(needs.offsets, default=0)
    kind = KINDS[needs.kind]
    what = [f"period {needs.period}"] * (needs.period > 1) + [f"window {window}"] * bool(needs.offsets)
    detail = f" ({', '.join(what)})" if what else ""
    step = Step("program", f"in {kind}{detail}", "the program's text")
    reason = f"A program computes it, in {kind}{detail}, so a periodic, local limit transformer does."
    side = Side("generalizes", "proved", reason, f"{THEOREMS}; the program")
    machine = None if program.accept is None else finite(ProgramMachine(program))
    nope = _plain_side(program, needs.kind, machine)
    return Prediction(
        name,
        side,
        nope,
        kind,
        training_length(program, text),
        period=needs.period,
        window=window,
        program=program,
        published=published_program(program),
        notes=trivial(machine),
        steps=(step,),
    )


def _plain_side(program: Program, kind: str, machine: Automaton | None) -> Side:
    """Whether some plain program does what a program does."""
    if kind == "plain":
        reason = "The program is plain: it reads no positions."
        return Side("generalizes", "proved", reason, f"{THEOREMS}, without positions; the program")
    if machine is not None:
        return plain_side(machine)
    task = next((one for one in algorithmic.TASKS if one.program == program.name), None)
    if task is not None and task.nope is not None and library()[program.name] == program:
        return task.nope
    return _plain_by_guess(program) or not_known(
        "The program reads positions; whether a plain one does the same is not known."
    )


def _plain_by_guess(program: Program) -> Side | None:
    """Of a program whose states are not finite: what its one small automaton says, if it has one.

    If the program that the decision procedure writes for the automaton is equal to the program, nothing was guessed.
    """
    from lengthwise.crasp.regular import decide
    from lengthwise.verdict.compare import compare
    from lengthwise.verdict.evidence import asked, small_automaton

    if program.accept is None:
        return None
    known = asked(ProgramMachine(program), math.inf, math.inf, MOST_WORDS)
    found = small_automaton(known)
    if found is None:
        return None
    side = plain_side(found.automaton)
    written = decide(found.automaton).program
    if written is not None and compare(program, written, most_states=MOST_COMPARED).equal:
        return side
    return as_far_as_known(side, str(found))


def finite(machine: Machine, most: int = MOST_STATES) -> Automaton | None:
    """The minimal automaton of a machine with few states; None where there are more."""
    numbers, table, accepting = {machine.start(): 0}, [], set()
    ahead = [machine.start()]
    for number, state in enumerate(ahead):
        if machine.output(state):
            accepting.add(number)
        row = []
        for symbol in range(len(machine.alphabet)):
            after = machine.step(state, symbol)
            if after not in numbers:
                if len(ahead) == most:
                    return None
                numbers[after] = len(ahead)
                ahead.append(after)
            row.append(numbers[after])
        table.append(tuple(row))
    return minimal(Automaton(machine.alphabet, tuple(table), 0, frozenset(accepting)))
