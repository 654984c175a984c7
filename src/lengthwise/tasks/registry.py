"""Tasks by name: `simple:omega=4` is SimpleTask with omega 4 and everything else as usual."""

import dataclasses
import math
import re
from collections.abc import Mapping
from typing import Any

from lengthwise.errors import WrongInput, nearest, shown
from lengthwise.tasks.kgram import KGramTask
from lengthwise.tasks.protocol import RegressionTask, Task
from lengthwise.tasks.regression import ModPTask, SimpleTask, TailTask

TASKS: dict[str, Any] = {kind.name: kind for kind in (SimpleTask, ModPTask, TailTask, KGramTask)}
MOST_CONTEXTS = 100_000
SEE = "see `lengthwise tasks`"


def task(target: str) -> Task:
    """The task that a target text names, `name:parameter=value,...`; parameters that are not named have their defaults.

    simple:omega=4,symbols=3   modp:period=3,residue=1   tail:tail=4
    """
    name, given = parsed(target)
    return made(name, given)


def trainable(task: Task) -> RegressionTask:
    """The task, if it is one that the engine trains: one real target, with statistics of its strings."""
    if not isinstance(task, RegressionTask):
        near = ", ".join(name for name, kind in TASKS.items() if hasattr(kind, "statistics"))
        raise WrongInput(f"a task that can be trained ({near})", task.name, f"name one of them; {SEE}", "task")
    return task


def describe(task: Task) -> str:
    """The target text of a task with all its parameters, sorted: the same text for the same task."""
    return target_text(task.name, {field: getattr(task, field) for field in parameters(task.name)})


def parameters(name: str) -> dict[str, Any]:
    """The parameters of a task with their defaults."""
    if name not in TASKS:
        raise WrongInput("a task", shown(name), f"nearest: {' or '.join(nearest(name, list(TASKS)))}; {SEE}", "task")
    return {field.name: field.default for field in dataclasses.fields(TASKS[name])}


def parsed(target: str) -> tuple[str, dict[str, int | float]]:
    """A target's name and the parameters it gives."""
    name, colon, rest = target.strip().partition(":")
    known = parameters(name)
    given: dict[str, int | float] = {}
    for part in rest.split(",") if colon else []:
        key, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals:
            raise WrongInput(f"{name}:parameter=value,...", shown(target), SEE, "task")
        if key in given:
            raise WrongInput("each parameter once", f"{key} twice", "drop one of them", f"task {target}")
        if key not in known:
            raise unknown(key, name, target)
        given[key] = value_of(name, key, _literal(value), f"task {target}")
    return name, given


def unknown(key: str, name: str, target: str) -> WrongInput:
    """What we say of a parameter that the task does not have."""
    near = " or ".join(nearest(key, list(parameters(name))))
    return WrongInput(f"a parameter of {name}", shown(key), f"nearest: {near}; {SEE}", f"task {target}")


def value_of(name: str, key: str, value: object, where: str) -> int | float:
    """A parameter's value in the parameter's own type."""
    if isinstance(parameters(name)[key], float):
        if isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value):
            return float(value)
        raise WrongInput(f"{key}, a finite number", shown(value), f"change {key}", where)
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    raise WrongInput(f"{key}, an integer", shown(value), f"change {key}", where)


def made(name: str, given: Mapping[str, int | float]) -> Task:
    """The task with these parameters, if they are ones it can have."""
    values = parameters(name) | dict(given)
    where = f"task {target_text(name, values)}"
    if name == "simple":
        _require(values["omega"] > 0, "omega above 0", values["omega"], where)
        _require(values["symbols"] >= 3, "at least 3 symbols", values["symbols"], where)
    elif name == "modp":
        period, residue = values["period"], values["residue"]
        _require(period >= 1, "a period of at least 1", period, where)
        _require(0 <= residue < period, f"a residue from 0 to {period - 1}, below the period", residue, where)
    elif name == "tail":
        _require(values["tail"] >= 1, "a tail of at least 1", values["tail"], where)
    elif name == "kgram":
        symbols, order = values["symbols"], values["order"]
        _require(symbols >= 1, "at least 1 symbol", symbols, where)
        _require(order >= 1, "an order of at least 1", order, where)
        few = order * math.log(max(symbols, 2)) <= math.log(MOST_CONTEXTS)
        _require(few, f"at most {MOST_CONTEXTS} contexts of {order} tokens", symbols, where)
        _require(values["backoff"] > 0, "a backoff above 0", values["backoff"], where)
        _require(values["concentration"] > 0, "a concentration above 0", values["concentration"], where)
    found: Task = TASKS[name](**values)
    return found


def target_text(name: str, values: Mapping[str, int | float]) -> str:
    """The text of a target with these parameters."""
    listed = ",".join(f"{key}={values[key]!r}" for key in sorted(values))
    return f"{name}:{listed}" if listed else name


def catalogue() -> list[dict[str, Any]]:
    """What there is: each task with its parameters' defaults and what is known of it there."""
    entries = []
    for name, kind in TASKS.items():
        example: Task = kind()
        known = example.known()
        entries.append(
            {
                "task": name,
                "target": " ".join(kind.__doc__.split("\n\n")[0].split()),
                "parameters": parameters(name),
                "example": describe(example),
                "symbols": example.symbols,
                "period": example.period,
                "locality": example.locality,
                "shortest": example.shortest,
                "sensitivity": known.sensitivity,
                "margin": known.margin,
                "source": known.source,
            }
        )
    return entries


def _literal(text: str) -> int | float | str:
    """A number as it is written; anything else stays a text, which no parameter takes."""
    if re.fullmatch(r"[+-]?\d{1,18}", text):
        return int(text)
    if re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", text):
        return float(text)
    return text


def _require(holds: bool, wanted: str, got: object, where: str) -> None:
    if not holds:
        raise WrongInput(wanted, shown(got), "change it", where)
