"""The prediction for what has a name: a language of the suite, an algorithmic task, a task with real outputs."""

from dataclasses import replace
from typing import Any

from lengthwise.crasp.library import library
from lengthwise.verdict import algorithmic, suite
from lengthwise.verdict.algorithmic import Task
from lengthwise.verdict.lengths import Answer, OutsideTheory
from lengthwise.verdict.of_languages import of_language
from lengthwise.verdict.of_programs import of_program
from lengthwise.verdict.prediction import NO_MEMBER, OUTSIDE, Prediction, Side, Step, not_known
from lengthwise.verdict.published import shares
from lengthwise.verdict.suite import Language


def of_suite(language: Language, name: str) -> Prediction:
    """A language of the suite, by its program or its automaton."""
    title = name if name == language.says else f"{name}, {language.says}"
    if language.program is not None:
        return replace(of_program(library()[language.program], title), published=shares(language, suite.SOURCE))
    return replace(of_language(language.automaton, title), published=shares(language, suite.SOURCE))


def of_task(task: Task) -> Prediction:
    """An algorithmic task, by its program, by the rows of its communication, or as a language."""
    title = f"{task.name}, {task.says}"
    published = shares(task, algorithmic.SOURCE)
    if task.regular is not None:
        return replace(of_language(task.regular, title), published=published)
    assert task.positions is not None
    assert task.nope is not None
    if task.program is not None:
        found = of_program(library()[task.program], title)
        bound: Answer = found.bound
        if task.notes:
            bound = OutsideTheory(
                "the program here is for 5 symbols; inputs of different symbols from a fixed alphabet end at its size, "
                "and agreement on all of them is agreement everywhere"
            )
        return replace(
            found, positions=task.positions, nope=task.nope, published=published, notes=task.notes, bound=bound
        )
    assert task.machine is not None
    from lengthwise.verdict.communication import communication

    counted = communication(task.machine(), 10, task.name)
    rows = {row.length // 2: row.rows for row in counted.rows}
    said = ", ".join(map(str, rows.values()))
    steps = [
        Step("program", "none is given", ""),
        Step("regular", "not a regular language", ""),
        Step("communication", f"{counted.growth.verdict}: {said} different rows", task.positions.source),
    ]
    return Prediction(
        title,
        task.positions,
        task.nope,
        OUTSIDE,
        OutsideTheory(NO_MEMBER),
        witness={"rows": rows, "growth": counted.growth.verdict},
        published=published,
        steps=steps,
    )


def of_construction(task: Any, name: str) -> Prediction:
    """A task with real outputs that comes with a limit transformer: it is one by construction."""
    model = task.construction()
    layers = len(model.layers)
    reason = (
        f"The task comes with a limit transformer of {layers} layer{'s' * (layers > 1)}, period {task.period} and locality "
        f"{task.locality} that computes it in the limit; limit transformers of no worse constants that agree with it on "
        "words of the training length stay within the error at every length."
    )
    theorem = "docs/one-layer.md, Theorem 2" if layers == 1 else "docs/two-layer.md, Theorem B"
    source = f"the construction; {theorem}"
    side = Side("generalizes", "proved", reason, source)
    reads = task.period > 1 or task.locality > 0
    nope = not_known("The construction reads positions; without them nothing is known.") if reads else side
    step = Step("program", "none; a limit transformer is given", "the construction")
    remedy = f"the outputs are real numbers, so a length needs an error: `lengthwise bound {name} --error E --bits B`"
    return Prediction(
        name,
        side,
        nope,
        "limit transformers",
        OutsideTheory(remedy),
        period=task.period,
        window=task.locality,
        steps=(step,),
    )
