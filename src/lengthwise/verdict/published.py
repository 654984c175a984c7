"""What trained transformers reached on the tasks and languages of the paper; it stands beside a verdict, outside it."""

from collections.abc import Mapping
from typing import Any

from lengthwise.crasp.library import library
from lengthwise.crasp.syntax import Program
from lengthwise.verdict import suite
from lengthwise.verdict.algorithmic import Task
from lengthwise.verdict.suite import Language


def shares(what: Language | Task, source: str) -> Mapping[str, Any]:
    """The published accuracies, in per cent."""
    if isinstance(what, Language):
        return {"with_positions": list(what.positions), "without_positions": list(what.without), "source": source}
    shares = {"with_positions": what.published_positions, "without_positions": what.published_without}
    return {name: list(three) for name, three in shares.items()} | {"source": source}


def published_program(program: Program) -> Mapping[str, Any] | None:
    """The same for a program of the library that stands for a language of the suite."""
    language = next((one for one in suite.LANGUAGES if one.program == program.name), None)
    if language is None or library()[program.name] != program:
        return None
    return shares(language, suite.SOURCE)
