"""How wrong a model is on a string, for every kind of target: a task, a program, a function."""

import contextlib
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from lengthwise.crasp.compiled import begin_symbol
from lengthwise.crasp.interpret import run
from lengthwise.crasp.operations import operations
from lengthwise.crasp.syntax import Program
from lengthwise.errors import WrongInput, shown
from lengthwise.limit.counts import evaluate_counts, evaluate_statistics, folded
from lengthwise.limit.evaluate import evaluate
from lengthwise.limit.model import LimitTransformer, map_arrays
from lengthwise.tasks.protocol import RegressionTask, Statistics, Task
from lengthwise.tasks.registry import describe
from lengthwise.theory.realise import spelled
from lengthwise.type_counts import Counts

String = Int[np.ndarray, " _"]
Values = Float[np.ndarray, " _"]
MARGIN = 0.5  # how far on its right side of 0 a compiled program's output is
LONGEST_SPELLED = 10**6  # the target of longer strings is computed from their counts


@dataclass(frozen=True, eq=False)
class Judged:
    """A model and what its outputs should be.

    target(string): the values wanted, None where the target is not defined. wanted_of(statistics): the same for many
    strings from their statistics, where that is possible. truth: the outputs are truth values, positive where true.
    begin: the model reads a begin token before the string.
    """

    model: LimitTransformer
    name: str
    symbols: int
    names: tuple[str, ...]
    period: int
    locality: int
    shortest: int
    target: Callable[[String], Values | None]
    wanted_of: Callable[[Statistics], Float[np.ndarray, " batch"]] | None = None
    draw: Callable[[np.random.Generator, int], String] | None = None
    truth: bool = False
    begin: bool = False

    def outputs(self, string: String) -> Values:
        """What the model says at the string's end, in float64."""
        read = np.concatenate([[0], string + 1]) if self.begin else string
        return np.asarray(evaluate(self.model, read), dtype=np.float64)

    def lacking(self, outputs: Values, wanted: Values) -> Values:
        """The |output - target| of each output; for truth values how much it lacks of a margin of 1/2.

        For truth values 0 is right with a margin, and 1/2 or more is wrong: (1/2 - output) where it should be true,
        (1/2 + output) where it should be false.
        """
        if outputs.shape != wanted.shape:
            got = f"{len(outputs)}"
            raise WrongInput(f"a model with {len(wanted)} outputs, as the target has", got, "name another", "model")
        return np.asarray(MARGIN - np.sign(wanted) * outputs if self.truth else np.abs(outputs - wanted))

    def error(self, outputs: Values, wanted: Values) -> float:
        """The error of the worst output."""
        return float(np.max(self.lacking(outputs, wanted)))

    def score(self, string: String) -> Values | None:
        """The errors on a string; None where there is no target."""
        wanted = self.target(string)
        return None if wanted is None else self.lacking(self.outputs(string), wanted)

    def errors(self, statistics: Statistics) -> Float[np.ndarray, " batch"]:
        """The errors on many strings of a one-layer model, from their statistics."""
        assert self.wanted_of is not None
        return np.asarray(np.abs(evaluate_statistics(self.model, statistics)[0] - self.wanted_of(statistics)))

    def on_counts(self, counts: Counts) -> tuple[Values, Values]:
        """The outputs and the target of the strings with these counts; the target from its definition, while it can."""
        outputs = np.asarray(evaluate_counts(self.model, counts), dtype=np.float64)
        if counts.length <= LONGEST_SPELLED:
            wanted = self.target(spelled(counts))
            assert wanted is not None
            return outputs, wanted
        assert self.wanted_of is not None
        return outputs, self.wanted_of(one_statistic(counts))


def judged(model: LimitTransformer, target: Any) -> Judged:
    """The model beside a task, a program, or a function of token indices that gives a number or several."""
    if not isinstance(model, LimitTransformer):
        raise WrongInput("a model", shown(model), "call attack(model, task)", "model")
    exact = map_arrays(model, lambda array: np.asarray(array, dtype=np.float64))
    if isinstance(target, Program):
        return _by_program(exact, target)
    if isinstance(target, Task):
        return _by_task(exact, target)
    if callable(target):
        return _by_function(exact, target)
    raise WrongInput("a task, a program or a function", shown(target), "name one, as simple:omega=4", "task")


def _by_task(model: LimitTransformer, task: Task) -> Judged:
    target: Any = task
    if model.symbols != task.symbols:
        remedy = f"name a model or a task with the same tokens ({describe(task)} has {task.symbols})"
        raise WrongInput(f"a model of {task.symbols} tokens, as the task has", f"{model.symbols}", remedy, "model")
    counted = isinstance(task, RegressionTask)
    period = math.lcm(model.period, task.period)
    found = Judged(
        model=model,
        name=describe(task),
        symbols=model.symbols,
        names=model.names,
        period=period,
        locality=max(model.locality, task.locality),
        shortest=task.shortest,
        target=lambda string: np.atleast_1d(np.asarray(target.target(string.tolist()), dtype=np.float64)),
        wanted_of=(lambda seen: np.asarray(target.target_of(as_seen(seen, task)))) if counted else None,
        draw=lambda generator, length: task.strings(generator, length, 1)[0],
    )
    string = np.zeros(max(task.shortest, 1), dtype=np.int64)
    found.error(found.outputs(string), found.target(string))  # type: ignore[arg-type]  # says now what does not fit
    return found


def _by_program(model: LimitTransformer, program: Program) -> Judged:
    form = operations(program)
    outputs = [*(["accept"] if form.accept is not None else []), *form.outputs]
    begin = model.symbols == len(program.alphabet) + 1
    if not begin and model.symbols != len(program.alphabet):
        wanted = f"a model of {len(program.alphabet)} tokens, or one more for the begin symbol"
        raise WrongInput(wanted, f"{model.symbols}", f"name a model that reads what {program.name} reads", "model")
    words = (begin_symbol(program.alphabet), *program.alphabet) if begin else program.alphabet
    if model.tokens is not None and model.tokens != tuple(words):
        got = " ".join(model.tokens)
        raise WrongInput(f"the tokens {' '.join(words)}, in this order", got, "name another model", "model")
    if len(outputs) != len(model.unembedding):
        wanted = f"a model with {len(outputs)} outputs, for {' '.join(outputs)}"
        raise WrongInput(wanted, f"{len(model.unembedding)}", "name another model", "model")

    def target(string: String) -> Values:
        answer = run(program, [string])
        said = {} if answer.accepts is None else {"accept": bool(answer.accepts[0])}
        said |= {name: bool(column[0]) for name, column in answer.values.items() if name in form.outputs}
        return np.asarray([MARGIN if said[name] else -MARGIN for name in outputs])

    return Judged(
        model, program.name, len(program.alphabet), tuple(program.alphabet), model.period, model.locality, 1, target,
        truth=True, begin=begin,
    )  # fmt: skip


def _by_function(model: LimitTransformer, function: Callable[[list[int]], Any]) -> Judged:
    name = getattr(function, "__name__", "a function")

    def target(string: String) -> Values | None:
        try:
            found = function(string.tolist())
        except Exception as error:
            got = f"{type(error).__name__}: {error}"
            raise WrongInput("a function of token indices that answers", got, "mend the function", name) from None
        if found is None:
            return None
        with contextlib.suppress(TypeError, ValueError):
            values = np.atleast_1d(np.asarray(found, dtype=np.float64))
            if values.ndim == 1 and np.isfinite(values).all():
                return values
        raise WrongInput("a finite number, a list of such, or None", shown(found), "mend the function", name)

    shortest = int(getattr(function, "shortest", 1))
    return Judged(model, name, model.symbols, model.names, model.period, model.locality, shortest, target)


def as_seen(statistics: Statistics, task: Task) -> Statistics:
    """Statistics of a multiple of a task's period and a longer suffix, as the task wants them."""
    own = folded(statistics, task.symbols, task.period)
    types = np.arange(len(own.prefix))[:, None]
    near = task.locality + 1
    prefix = own.prefix + sum((types == row for row in own.suffix[near:]), start=np.zeros_like(own.prefix))
    return replace(own, prefix=prefix, suffix=own.suffix[:near])


def one_statistic(counts: Counts) -> Statistics:
    """The statistics of one string."""
    n, period = counts.length, counts.period
    types = [token * period + (n - k) % period for k, token in enumerate(reversed(counts.suffix))]
    table = np.asarray([value for row in counts.table for value in row], dtype=np.int64)
    return Statistics(np.asarray([n]), table[:, None], np.asarray(types)[:, None])
