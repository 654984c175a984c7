"""Will a task length-generalize? The steps, in their order, and the first that answers.

    program          a program is given: it is in the class, with its kind, period and window
    regular          the language is regular: the decision procedure, with a program or with what none tells apart
    communication    the first part of a word must tell the second linearly many bits: outside
    known theorems   Parity or the flip-flop, in the one small automaton that agrees with what is known
    search           a short program that agrees with all words that are known
    unknown          else

What a yes means: the idealised learner of Huang et al. 2025 learns the target from words up to some length iff a periodic,
local limit transformer computes it (Theorem 7), and programs of the class are such transformers (Theorem 9). What a no
means: no program computes the target; that no limit transformer does is a theorem where communication grows linearly
(Theorem 12), and otherwise open, because the class is not known to be complete. Trained transformers are neither.

Source: Huang et al. 2025; docs/decide.md for regular languages; programs note, section 5, for the lengths.
"""

from typing import Any

from lengthwise.crasp.automata import Automaton
from lengthwise.crasp.generators import bounded_brackets
from lengthwise.crasp.library import library
from lengthwise.crasp.syntax import Program, check_alphabet
from lengthwise.errors import WrongInput, nearest, shown
from lengthwise.verdict import algorithmic, suite
from lengthwise.verdict.algorithmic import algorithmic_task
from lengthwise.verdict.labelled import Labelled
from lengthwise.verdict.machine import AutomatonMachine, Machine, OracleMachine, ProgramMachine
from lengthwise.verdict.of_languages import of_language
from lengthwise.verdict.of_programs import of_program
from lengthwise.verdict.of_tasks import of_construction, of_suite, of_task
from lengthwise.verdict.prediction import Prediction
from lengthwise.verdict.suite import depth_of, suite_language

REGEX, LIBRARY = "regex:", "crasp:"


def predict(target: Any, seconds: float = 10.0, alphabet: Any = None, name: str | None = None) -> Prediction:
    """Will the target length-generalize, why, how surely, and from words of which length?

    target: a name (a task, a language of the suite, a program of the library), `regex:EXPRESSION`, a program, an
    automaton, a function on words (with its symbols as attribute or in `alphabet`), labelled words, or a task with a
    construction. seconds: how long to search for a program where that is the last resort.
    """
    if isinstance(target, str):
        return named(target, alphabet, seconds)
    if isinstance(target, Program):
        return of_program(target, name or target.name)
    if isinstance(target, ProgramMachine):
        return of_program(target.program, name or target.program.name)
    if isinstance(target, AutomatonMachine):
        target = target.automaton
    if isinstance(target, Automaton):
        return of_language(target, name or f"the language of an automaton with {target.states} states", None, seconds)
    if isinstance(target, Labelled):
        from lengthwise.verdict.of_values import of_words

        return of_words(target, name or target.source, seconds)
    if hasattr(target, "construction"):
        return of_construction(target, name or str(target.name))
    if not isinstance(target, Machine):
        if not callable(target):
            raise WrongInput(
                "a program, an automaton or a function on words", shown(target), "see lengthwise predict --help"
            )
        name = name or getattr(target, "__name__", None)
        target = OracleMachine(check_alphabet(alphabet or getattr(target, "alphabet", None)), target)
    from lengthwise.verdict.of_values import of_function

    return of_function(target, name or "the function", seconds)


def named(target: str, alphabet: Any = None, seconds: float = 10.0) -> Prediction:
    """The prediction for a name, or for regex:EXPRESSION."""
    task = algorithmic_task(target)
    if task is not None:
        return of_task(task)
    language = suite_language(target)
    if language is not None and (language.program is None or target not in library()):
        return of_suite(language, target)
    if target.startswith(REGEX):
        return of_language(target.removeprefix(REGEX), target, alphabet, seconds)
    inside = target.removeprefix(LIBRARY)
    if target.startswith(LIBRARY) or inside in library():
        program = library()[inside]
        return of_program(program, target, library().source(inside))
    depth = depth_of(target)
    if depth is not None:
        return of_program(bounded_brackets(depth), target)
    known = [*library(), *suite.names(), *(one.name for one in algorithmic.TASKS)]
    near = " or ".join(nearest(target, sorted(set(known))))
    raise WrongInput("a task, a language or a program", shown(target), f"nearest: {near}; or regex:EXPRESSION")
