"""The shortest stand-in for a long string: integer programs, checked exactly, beside what the construction finds."""

from collections.abc import Callable
from dataclasses import dataclass, fields
from fractions import Fraction
from math import inf, lcm
from typing import Any, cast, get_args

from lengthwise.errors import WrongInput, shown
from lengthwise.limit.model import LimitTransformer
from lengthwise.limit.sensitivity import sensitivity
from lengthwise.theory.answer import NoBoundHolds
from lengthwise.theory.budgets import HeadOf, query_budget
from lengthwise.theory.realise import as_counts, by_type, with_prefix
from lengthwise.theory.shorten import Judge, shorten
from lengthwise.theory.shortening import Shortening
from lengthwise.theory.shortest_prefix import Allowance, Mode, Support, Wanted, shortest_prefix
from lengthwise.theory.stand_ins import hardmax_length

NAMES = {"variation": "total variation", "slopes": "slopes", "box": "box"}


@dataclass(frozen=True)
class ShortestFound(Shortening):
    """The shortest stand-in that was found.

    at_least: the solver says that no stand-in which keeps what its integer program asks for is shorter. That is
    numerical: it rests on floating point, and on one split of the error among the heads. None where no program was
    solved, and then `unsolved` says why. What is exact is that the string given does fit.
    """

    at_least: int | None = None
    unsolved: str = ""

    def fields(self) -> dict[str, Any]:
        """What the verb prints with --json."""
        reason = {} if self.at_least is not None else {"at_least_reason": self.unsolved}
        certainty = None if self.at_least is None else "numerical"
        return super().fields() | {"at_least": self.at_least, "at_least_certainty": certainty} | reason


def shortest(
    f: LimitTransformer,
    g: LimitTransformer | None,
    string: Any,
    error: Fraction | float | str = 0.1,
    *,
    mode: str = "box",
    support: str = "same",
) -> ShortestFound:
    """The shortest string z with the ending of x and |z| = |x| modulo the period that integer programs find, where

        max_c |f(x) - f(z)|_c + max_c |g(x) - g(z)|_c <= error,         checked exactly.

    mode: what the program asks of z: total variations within the budgets of the theorem ("variation"), output moves
    bounded by slopes ("slopes"), or outputs in a box ("box"; for heads that read out one number, slopes elsewhere).
    support: "same", z has no token that x has not at that residue; "any", also others that no head prefers. Never
    longer than what `shorten` finds, since that is tried too. Source: one-layer note, section 9.
    """
    for value, known, name in ((mode, get_args(Mode), "mode"), (support, get_args(Support), "support")):
        if value not in known:
            raise WrongInput(f"one of {', '.join(known)}", shown(value), "choose one", name)
    second = f if g is None else g
    if any(model.depth != 1 or model.attention == "log-suffix" for model in (f, second)):
        wanted = "models of one layer with log-length or plain attention"
        raise WrongInput(wanted, "others", "for them sampled strings are all there is: leave --shortest out", "layers")
    built = shorten(f, g, string, error)
    assert isinstance(built, Shortening)
    period, locality = lcm(f.period, second.period), max(f.locality, second.locality)
    judge = Judge.of(built.asked, as_counts(string, f.tokens or second.names, period, locality))
    wanted_prefix = wanted_of(judge)
    if isinstance(wanted_prefix, str):
        return _answer(built, None, wanted_prefix)
    largest = built.counts.prefix_length // period
    found = shortest_prefix(wanted_prefix, cast(Mode, mode), cast(Support, support), largest)
    if found is None:
        return _answer(built, None, "none that the programs propose is as short as the construction's")
    rest = judge.original.prefix_length % period + len(judge.original.suffix)
    at_least = rest + period * found.bound if found.finished else None
    unsolved = "" if found.finished else "the solver stopped at its limit of nodes"
    if sum(found.table) >= built.counts.prefix_length:
        return _answer(built, at_least, unsolved)
    short = with_prefix(judge.original, found.table)
    errors, method = tuple(judge.errors(found.table)), f"integer program ({NAMES[mode]})"
    return ShortestFound(built.asked, judge.original, short, errors, method, "", at_least, unsolved)


def wanted_of(judge: Judge) -> Wanted | str:
    """What the programs must keep, or why there is nothing for them to say."""
    x, readings = judge.original, judge.readings
    if x.prefix_length < x.period:
        return "no shorter string has the same ending"
    slopes = {
        (model, head): slope
        for model, reading in enumerate(readings)
        for head, slope in enumerate(sensitivity(reading.model))
        if slope
    }
    if inf in slopes.values():
        return "a head feeds a Heaviside step, so its sensitivity is infinite"
    sure = {head: Fraction(slope) for head, slope in slopes.items()}
    fits: Callable[[tuple[int, ...]], bool] = judge.fits
    if all(reading.model.attention == "plain" for reading in readings):
        if not sure:
            return "no head can move an output"
        heads = {head: Allowance(slope, judge.asked.error / len(sure) / slope) for head, slope in sure.items()}
        return Wanted(readings, x, heads, 1, fits)
    if any(reading.model.bits is None for reading in readings):
        return "without bits, weights change with the length and no mean is linear in counts"
    return _hardmax(judge, sure, fits)


def _hardmax(judge: Judge, slopes: dict[HeadOf, Fraction], fits: Callable[[tuple[int, ...]], bool]) -> Wanted | str:
    """The heads that act, with the budgets of Theorem 1, at lengths where all of them are hardmaxes."""
    x, readings = judge.original, judge.readings
    first, second, error = judge.asked.pair
    try:
        budget = query_budget(first, second, error, x.suffix[-1], x.length)
    except NoBoundHolds as reason:
        return str(reason)
    heads = {
        head: Allowance(slopes[head], group.budget)
        for group in budget.acting
        for head in group.heads
        if head[0] < len(readings)  # one model stands for both of its copies
    }
    if not heads:
        return "no head needs to be kept"
    least = hardmax_length(readings, x, list(heads))
    if least is None:
        return "the string is too short for rounding to leave its heads a hardmax"
    if all(not readings[model].views[head].attended(by_type(x)).types for model, head in heads):
        return "no head attends to the prefix"
    return Wanted(readings, x, heads, least, fits)


def _answer(built: Shortening, at_least: int | None, unsolved: str) -> ShortestFound:
    given = {one.name: getattr(built, one.name) for one in fields(Shortening)}
    return ShortestFound(**given, at_least=at_least, unsolved=unsolved)
