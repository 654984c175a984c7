"""What TARGET stands for where a function on words is wanted: a program, a regular expression, or a Python function."""

import runpy
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lengthwise.errors import WrongInput, nearest, shown

if TYPE_CHECKING:
    from lengthwise.verdict.machine import Machine
    from lengthwise.verdict.prediction import Prediction

REGEX, LIBRARY, PYTHON = "regex:", "crasp:", ".py"
REGRESSION = frozenset(["simple", "modp", "tail", "kgram"])  # the registry's, without loading it; a test compares


def machine_at(target: str, alphabet: str | None = None) -> "Machine":
    """The function on words that a target names.

    A program (a library name, crasp:NAME, a file), a regular expression (regex:...), or file.py:NAME, a Python function of
    a word; its symbols are those of its attribute `alphabet`, or of the option.
    """
    from lengthwise.crasp.automata import automaton
    from lengthwise.verdict.machine import AutomatonMachine, ProgramMachine

    if target.startswith(REGEX):
        return AutomatonMachine(automaton(target.removeprefix(REGEX), _symbols(alphabet)))
    if target.partition(":")[0].endswith(PYTHON):
        return _python(target, alphabet)
    from lengthwise.cli.files import load_program
    from lengthwise.crasp.library import library

    known = list(library())
    if target in known:
        return ProgramMachine(library()[target])
    if target.startswith(LIBRARY) or "/" in target or "." in target or target == "-":
        return ProgramMachine(load_program(target))
    near = " or ".join(nearest(target, known))
    remedy = f"nearest: {near}; or regex:EXPRESSION, file.crasp, file.py:FUNCTION"
    raise WrongInput("a function on words", shown(target), remedy)


def predicted_at(target: str, alphabet: str | None, seconds: float) -> "Prediction":
    """The prediction for what a target names: all of the above, tasks, automata in .json files, labelled words in .tsv."""
    from lengthwise.verdict.of_programs import of_program
    from lengthwise.verdict.predict import named, predict

    path = target.partition(":")[0]
    if path.endswith(PYTHON):
        return predict(_python(target, alphabet), seconds, name=target)
    if alphabet is not None and not target.startswith(REGEX) and not target.endswith(".cr"):
        wanted = "--alphabet with an expression or a function"
        raise WrongInput(
            wanted, f"--alphabet {alphabet} with {shown(target)}", "leave it out: the target has its symbols"
        )
    if target == "-" or target.endswith((".crasp", ".cr")):
        from lengthwise.cli.files import load_program, program_and_text

        if target.endswith(".cr"):
            return of_program(load_program(target, alphabet), target)
        return of_program(*program_and_text(target))
    if target.endswith(".json"):
        from lengthwise.cli.files import opened
        from lengthwise.crasp.automaton_file import read_automaton

        with opened(target) as (file, source):
            return predict(read_automaton(file.read(), source), seconds, name=target)
    if target.endswith(".tsv"):
        from lengthwise.cli.files import opened, program_text
        from lengthwise.verdict.labelled import read_labelled

        with opened(target) as (file, source):
            return predict(read_labelled(program_text(file.read(), source), source), seconds, name=target)
    if path in REGRESSION:
        from lengthwise.tasks.registry import task

        return predict(task(target), name=target)
    if ("/" in target or "." in target) and not target.startswith(REGEX):
        wanted = "a .crasp, .json, .py or .tsv file, or a name"
        raise WrongInput(wanted, shown(target), "see lengthwise predict --help")
    return named(target, _symbols(alphabet), seconds)


def _symbols(alphabet: str | None) -> tuple[str, ...] | None:
    if alphabet is None:
        return None
    found = tuple(alphabet.split()) if " " in alphabet.strip() else tuple(alphabet)
    if not found or len(set(found)) < len(found):
        raise WrongInput("different symbols", shown(alphabet), "write each symbol once", "--alphabet")
    return found


def _python(target: str, alphabet: str | None) -> "Machine":
    """A Python function with its symbols."""
    from lengthwise.crasp.syntax import check_alphabet
    from lengthwise.verdict.machine import OracleMachine

    path, name, function = function_of_file(target)
    symbols = _symbols(alphabet)
    if symbols is None:
        if not hasattr(function, "alphabet"):
            raise WrongInput("the function's symbols", "none", f"give --alphabet, or set {name}.alphabet", path)
        try:
            symbols = check_alphabet(function.alphabet)
        except WrongInput as error:
            raise error.at(f"{path}, {name}.alphabet") from None
    return OracleMachine(symbols, function)


def function_of_file(target: str) -> tuple[str, str, Callable[..., Any]]:
    """The path, name and function of file.py:NAME; the file is run to get it: it is the user's own."""
    path, _, name = target.partition(":")
    if not Path(path).is_file():
        raise WrongInput("a Python file", "no such file", "check the path", path)
    try:
        defined: dict[str, Any] = runpy.run_path(path)
    except (Exception, SystemExit) as error:
        got = f"{type(error).__name__}: {error}"
        raise WrongInput("a Python file that runs", got, "mend the file", path) from None
    callables = [key for key, value in defined.items() if callable(value) and not key.startswith("_")]
    name = name or (callables[0] if len(callables) == 1 else "")
    if name not in defined or not callable(defined[name]):
        near = " or ".join(nearest(name, callables)) if callables else "none"
        raise WrongInput(f"a function of the file, {path}:NAME", shown(name), f"it defines {near}", path)
    return path, name, defined[name]
