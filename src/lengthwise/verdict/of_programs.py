"""The prediction for a program: it is in the class by being written; without positions its automaton is asked."""

from lengthwise.crasp.automata import Automaton, minimal
from lengthwise.crasp.fragment import fragment
from lengthwise.crasp.library import library
from lengthwise.crasp.syntax import Program
from lengthwise.verdict import algorithmic
from lengthwise.verdict.lengths import training_length
from lengthwise.verdict.machine import Machine, ProgramMachine
from lengthwise.verdict.of_languages import plain_side, trivial
from lengthwise.verdict.prediction import KINDS, THEOREMS, Prediction, Side, Step, not_known
from lengthwise.verdict.published import published_program

MOST_STATES = 400


def of_program(program: Program, name: str, text: str | None = None) -> Prediction:
    """A program is in the class by being written; whether a plain one does the same may need its automaton."""
    needs = fragment(program)
    window = max(needs.offsets, default=0)
    kind = KINDS[needs.kind]
    what = [f"period {needs.period}"] * (needs.period > 1) + [f"window {window}"] * bool(needs.offsets)
    detail = f" ({', '.join(what)})" if what else ""
    step = Step("program", f"in {kind}{detail}", "the program's text")
    reason = f"A program computes it, in {kind}{detail}, so a periodic, local limit transformer does."
    side = Side("generalizes", "proved", reason, f"{THEOREMS}; the program")
    machine = None if program.accept is None else finite(ProgramMachine(program))
    nope = _plain_side(program, needs.kind, machine, name)
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


def _plain_side(program: Program, kind: str, machine: Automaton | None, name: str) -> Side:
    """Whether some plain program does what a program does."""
    if kind == "plain":
        reason = "The program is plain: it reads no positions."
        return Side("generalizes", "proved", reason, f"{THEOREMS}, without positions; the program")
    if machine is not None:
        return plain_side(machine)
    task = next((one for one in algorithmic.TASKS if one.program == program.name), None)
    if task is not None and task.nope is not None and library()[program.name] == program:
        return task.nope
    return not_known("The program reads positions; whether a plain one does the same is not known.")


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
