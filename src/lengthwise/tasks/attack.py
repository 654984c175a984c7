"""Worst-case strings of any model: a search, and its answer."""

from dataclasses import dataclass
from typing import Any

from lengthwise.crasp.compiled import Compiled
from lengthwise.errors import WrongInput, shown
from lengthwise.jsonform import to_json
from lengthwise.limit.model import LimitTransformer
from lengthwise.strings import decode
from lengthwise.tasks.judged import Judged, Values, judged
from lengthwise.tasks.registry import task as named_task
from lengthwise.theory.attack_counts import attack_counts
from lengthwise.theory.attack_strings import StringSpace, attack_strings
from lengthwise.theory.count_space import CountSpace
from lengthwise.theory.effort import Effort, Progress
from lengthwise.theory.realise import spelled
from lengthwise.theory.where import Condition, parse_where
from lengthwise.type_counts import Counts

METHODS = ("auto", "counts", "strings")
LONGEST = {"counts": 10**6, "strings": 64}  # lengths up to here, unless it is said
EVALUATIONS = {"counts": 200_000, "strings": 10_000}
LONGEST_WRITTEN = 1000  # tokens of a witness that is written out although its counts say all
TRACE_RATIO = 1.1  # of the evaluations between two improvements that are reported


@dataclass(frozen=True, eq=False)
class Attack:
    """The worst string that a search found.

    worst_error: of this string, so at least this is the worst error of all; with `complete` all strings of the lengths
    were tried. string: its tokens, None where it is long and counts say all that the model sees. trace: pairs
    (evaluations, largest error by then), at every tenth part more.
    """

    task: str
    worst_error: float
    counts: Counts
    string: tuple[int, ...] | None
    outputs: tuple[float, ...]
    target: tuple[float, ...]
    truth: bool
    names: tuple[str, ...]
    lengths: tuple[int, int]
    where: Condition | None
    method: str
    complete: bool
    every_to: int | None
    evaluations: int
    restarts: int
    trace: tuple[tuple[int, float], ...]
    seed: int

    @property
    def length(self) -> int:
        """The length of the string."""
        return self.counts.length

    @property
    def text(self) -> str | None:
        """The string as text, which `lw.evaluate` reads; None where it is not written out."""
        return None if self.string is None else decode(self.string, self.names)

    def fields(self) -> dict[str, Any]:
        """What the verb prints with --json."""
        suffix = [self.names[token] for token in self.counts.suffix]
        witness: dict[str, Any] = {"length": self.length, "string": self.text}
        if self.string is None:
            witness["string_reason"] = f"longer than {LONGEST_WRITTEN} tokens: see counts"
        witness |= {"counts": {"suffix": suffix, "table": self.counts.table}}
        witness |= {"outputs": self.outputs, "target": self.target}
        reason = {} if self.every_to is not None else {"every_to_reason": "strings were searched, not counts"}
        return {
            "sentence": str(self),
            "worst_error": self.worst_error,
            "witness": witness,
            "lengths": self.lengths,
            "where": None if self.where is None else str(self.where),
            "method": self.method,
            "complete": self.complete,
            "every_to": self.every_to,
            **reason,
            "evaluations": self.evaluations,
            "restarts": self.restarts,
            "trace": self.trace,
            "seed": self.seed,
        }

    def to_json(self) -> str:
        """The fields as a JSON object."""
        return to_json(self.fields())

    def __str__(self) -> str:
        """Its sentence."""
        least, most = self.lengths
        lengths = f"of length {least:,}" if least == most else f"of lengths {least:,} to {most:,}"
        where = "" if self.where is None else f" with {self.where}"
        what = "count tables" if self.method == "counts" else "strings"
        if self.complete:
            found = f"worst of all {self.evaluations:,} {what} {lengths}{where}"
        else:
            tried = f"{self.evaluations:,} evaluations of {what}"
            found = f"the worst that {tried} {lengths}{where} found; others may be worse"
        said, wanted = _numbers(self.outputs), _numbers(self.target)
        if self.truth:
            verdict = "wrong" if self.worst_error >= 0.5 else "right"
            return f"Error {self.worst_error:.6g}, {verdict}, at length {self.length:,}: output {said}, {wanted} wanted; {found}."
        return f"Error {self.worst_error:.6g} at length {self.length:,}: output {said}, {wanted} wanted; {found}."


def attack(
    model: LimitTransformer | Compiled,
    task: Any,
    *,
    length: int | tuple[int, int] | None = None,
    where: str | Condition | None = None,
    method: str = "auto",
    strategy: str = "evolution",
    evaluations: int | None = None,
    seconds: float | None = None,
    seed: int = 0,
    report: Any = None,
) -> Attack:
    """The string on which a model is furthest from its target, as far as a search finds it.

        sup over strings x of the lengths, where the condition holds, of  max_c |model(x) - target(x)|_c

    task: its name, a task, a C-RASP program, or a function of a list of token indices that gives a number, several, or
    None where nothing is wanted. One-layer models on tasks that their counts decide are searched over count tables, at
    any length; others over strings, by edits, with strategy "random" by drawing only. The answer is a lower bound on
    the supremum and no proof of anything, unless all strings were tried. Deterministic by seed, if `seconds` is None.
    """
    if isinstance(task, str):
        from lengthwise.crasp.library import library

        task = library()[task.removeprefix("crasp:")] if task.startswith("crasp:") else named_task(task)
    known = judged(model.model if isinstance(model, Compiled) else model, task)
    chosen = _method(known, method)
    lengths = _lengths(known, length, chosen)
    condition = parse_where(where, known.symbols, known.period) if isinstance(where, str) else where
    effort = Effort(_at_least_one(evaluations, EVALUATIONS[chosen]), seed, seconds, report)
    shared: dict[str, Any] = {
        "task": known.name,
        "lengths": lengths,
        "where": condition,
        "method": chosen,
        "seed": seed,
    }
    shared |= {"names": known.names, "truth": known.truth}
    if chosen == "counts":
        return _by_counts(known, condition, effort, shared)
    return _by_strings(known, condition, effort, strategy, shared)


def _by_counts(known: Judged, condition: Condition | None, effort: Effort, shared: dict[str, Any]) -> Attack:
    least, most = shared["lengths"]
    space = CountSpace(known.symbols, known.period, known.locality, least, most, condition)
    found = attack_counts(known.errors, space, effort)
    if found.counts is None:
        raise _nothing(condition, shared)
    outputs, wanted = known.on_counts(found.counts)
    return Attack(
        worst_error=known.error(outputs, wanted),
        counts=found.counts,
        string=tuple(spelled(found.counts).tolist()) if found.counts.length <= LONGEST_WRITTEN else None,
        **_values(outputs, wanted),
        complete=found.complete,
        every_to=found.every_to,
        evaluations=found.evaluations,
        restarts=found.restarts,
        trace=thinned(found.trace),
        **shared,
    )


def _by_strings(
    known: Judged, condition: Condition | None, effort: Effort, strategy: str, shared: dict[str, Any]
) -> Attack:
    least, most = shared["lengths"]
    space = StringSpace(known.symbols, least, most, known.period, condition)
    found = attack_strings(known.score, space, effort, strategy, known.draw)
    if found.string is None:
        raise _nothing(condition, shared)
    wanted = known.target(found.string)
    assert wanted is not None
    outputs = known.outputs(found.string)
    return Attack(
        worst_error=max(0.0, known.error(outputs, wanted)),
        counts=Counts.of(found.string, known.symbols, known.period, known.locality),
        string=tuple(found.string.tolist()),
        **_values(outputs, wanted),
        complete=found.complete,
        every_to=None,
        evaluations=found.evaluations,
        restarts=found.restarts,
        trace=thinned(found.trace),
        **shared,
    )


def thinned(trace: tuple[tuple[int, float], ...]) -> tuple[tuple[int, float], ...]:
    """The last of the improvements within each tenth part more of evaluations."""
    kept = [
        entry
        for entry, after in zip(trace, (*trace[1:], None), strict=True)
        if after is None or after[0] > TRACE_RATIO * entry[0]
    ]
    return tuple(kept)


def _method(known: Judged, method: str) -> str:
    """Counts where the model has one layer and the target is known from counts."""
    if method not in METHODS:
        raise WrongInput(f"one of {', '.join(METHODS)}", shown(method), "name a method", "method")
    possible = known.model.depth == 1 and known.wanted_of is not None
    if method == "counts" and not possible:
        got = f"{known.model.depth} layers" if known.model.depth > 1 else f"{known.name}, which counts do not decide"
        raise WrongInput("a one-layer model and a task that counts decide", got, "leave the method out", "method")
    return "counts" if possible and method != "strings" else "strings"


def _lengths(known: Judged, length: int | tuple[int, int] | None, method: str) -> tuple[int, int]:
    """The lengths to search, none below the task's shortest."""
    shortest = max(1, known.shortest)
    if length is None:
        return shortest, max(shortest, LONGEST[method])
    least, most = (length, length) if isinstance(length, int) else length
    if least > most:
        raise WrongInput("the shorter length first", f"{least}..{most}", "turn them around", "length")
    if least < shortest:
        wanted = f"lengths of at least {shortest}, the shortest string of {known.name}"
        raise WrongInput(wanted, f"{least}", "search longer strings", "length")
    if method == "strings" and most > 10**6:
        raise WrongInput("lengths up to 1000000 for a search over strings", f"{most}", "search shorter ones", "length")
    return least, most


def _at_least_one(evaluations: int | None, otherwise: int) -> int:
    if evaluations is None:
        return otherwise
    if isinstance(evaluations, bool) or not isinstance(evaluations, int) or evaluations < 1:
        raise WrongInput("a whole number of evaluations, at least 1", shown(evaluations), "allow some", "evaluations")
    return evaluations


def _nothing(condition: Condition | None, shared: dict[str, Any]) -> WrongInput:
    least, most = shared["lengths"]
    if condition is None:
        return WrongInput("strings with a target", f"none found of lengths {least} to {most}", "search others", "task")
    got = f"none found of lengths {least} to {most}"
    return WrongInput(f"strings with {condition}", got, "weaken the condition or change the lengths", "where")


def _values(outputs: Values, wanted: Values) -> dict[str, Any]:
    return {"outputs": tuple(outputs.tolist()), "target": tuple(wanted.tolist())}


def _numbers(values: tuple[float, ...], most: int = 4) -> str:
    """A few numbers as people read them."""
    text = " ".join(f"{value:.6g}" for value in values[:most])
    return text if len(values) == 1 else f"({text}{' …' if len(values) > most else ''})"


__all__ = ["Attack", "Progress", "attack"]
