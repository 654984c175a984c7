"""The prediction for a function of which only values are known: Python code, or labelled words."""

from dataclasses import replace

from lengthwise.verdict.evidence import asked, counted, is_linear, small_automaton, truths
from lengthwise.verdict.guess import Guess
from lengthwise.verdict.lengths import OutsideTheory
from lengthwise.verdict.machine import OracleMachine
from lengthwise.verdict.of_languages import of_language
from lengthwise.verdict.prediction import NO_MEMBER, OUTSIDE, Prediction, Side, Step, not_known

THEOREM_12 = "Huang et al. 2025, Theorem 12; the rows counted here"
VALUES = "of the target only values are known, on finitely many words; give a program or an automaton"
NONE = Step("program", "none is given", "")


def of_values(machine: OracleMachine, name: str, seconds: float) -> Prediction:
    """A function that answers words: everything is as far as it was asked."""
    kept, longest = asked(machine, seconds / 2)
    steps = [NONE]
    found = small_automaton(kept, longest)
    if found is not None:
        return of_guess(found, name, steps)
    if truths(kept.values) is None:
        steps.append(Step("regular", "not asked: the values are not True and False", ""))
    else:
        steps.append(Step("regular", f"no automaton with {(longest + 2) // 2} states or fewer agrees to {longest}", ""))
    table = counted(kept, longest)
    if table is None:
        steps.append(Step("communication", f"words up to length {longest} are too short to see growth", ""))
    else:
        rows = ", ".join(str(row.rows) for row in table.rows)
        steps.append(Step("communication", f"{table.growth.verdict}: {rows} different rows", THEOREM_12))
        if table.growth.verdict == "linear":
            reason = (
                f"The first half of a word must tell the second {table.rows[-1].bits} bits at length "
                f"{table.rows[-1].length}, and the bits grow linearly as far as counted. If they go on so, no periodic, "
                "local limit transformer computes it, with positions or without."
            )
            side = Side("fails", "checked" if is_linear(table) else "conjectured", reason, THEOREM_12)
            witness = {"rows": {row.length // 2: row.rows for row in table.rows}, "growth": "linear"}
            return Prediction(
                name,
                side,
                side,
                OUTSIDE,
                OutsideTheory(VALUES),
                checked_to=table.rows[-1].length,
                witness=witness,
                steps=steps,
            )
    open_ = not_known("Nothing that was tried settles it.")
    return Prediction(name, open_, open_, None, OutsideTheory(VALUES), steps=steps)


def of_guess(found: Guess, name: str, steps: list[Step]) -> Prediction:
    """What the decision procedure says of the one small automaton, as far as that agrees."""
    about = of_language(found.automaton, name)
    states = found.automaton.states
    agrees = f"The only automaton with {states} states or fewer that agrees on all words up to length {found.agrees_to}"
    decided = [replace(step, outcome=f"{step.outcome} ({states} states)") for step in about.steps[1:]]

    def weaker(side: Side) -> Side:
        certainty = {"generalizes": "checked", "fails": "conjectured"}.get(side.verdict)
        return replace(side, certainty=certainty, reason=f"{agrees}: {side.reason}")  # type: ignore[arg-type]

    bound = OutsideTheory(VALUES if about.verdict != "fails" else NO_MEMBER)
    return replace(
        about,
        positions=weaker(about.positions),
        nope=weaker(about.nope),
        bound=bound,
        checked_to=found.agrees_to,
        steps=[*steps, *decided],
    )
