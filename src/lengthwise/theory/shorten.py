"""A short string that stands in for a long one: found by a theorem's construction where one applies, checked exactly.

What can be tried depends on the models' rules of attention; what comes out is the same: a string with the same ending,
on which the outputs of every model differ from those on the long one by errors that are known exactly and sum to at
most what was allowed.
"""

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from lengthwise.errors import WrongInput, shown
from lengthwise.exact import certainly_at_most
from lengthwise.limit.model import LimitTransformer
from lengthwise.limit.sensitivity import sensitivity
from lengthwise.theory.answer import Bound, NoBoundHolds
from lengthwise.theory.budgets import query_budget
from lengthwise.theory.errors import Exact, Reading, distance
from lengthwise.theory.from_constants import trivial_error
from lengthwise.theory.measured_shorten import Report, Sampled, measured_shortening
from lengthwise.theory.pair import allowed_error, check_pair
from lengthwise.theory.realise import as_counts, by_type, with_prefix
from lengthwise.theory.scaling import window_size
from lengthwise.theory.sharpen import shortest_construction
from lengthwise.theory.shortening import ITSELF, Asked, Shortening
from lengthwise.theory.stand_ins import (
    StandIn,
    hardmax_length,
    realised_groups,
    shortest_halving,
    shortest_scaling,
)
from lengthwise.type_counts import Counts


def shorten(
    f: LimitTransformer,
    g: LimitTransformer | None,
    string: Any,
    error: Fraction | float | str = 0.1,
    *,
    shortest: bool = False,
    draws: int = 16,
    seed: int = 0,
    report: Report | None = None,
) -> Shortening | Sampled:
    """A short string z for a long one x: the same last tokens, lengths congruent modulo the period, and

        max_c |f(x) - f(z)|_c + max_c |g(x) - g(z)|_c <= error,         checked exactly.

    So models that differ by at most delta on z differ by at most delta + error on x. With g None it is f alone that
    cannot tell z from x: max_c |f(x) - f(z)|_c <= error. string: text, token names or indices, or Counts.

    Source: one-layer note, sections 5 and 6b. Where Theorem 2 or P applies the length is at most the N of `bound`;
    nearly always it is far shorter, because what is checked is the error itself. Where neither does, the proportions of
    the long string are tried and checked. shortest: integer programs look for a shorter one still; see `lw.shortest`.

    Models of more than one layer, and log-suffix attention, see more of a string than its counts: for them short
    strings are sampled (draws of them, from the seed) and their errors measured, in Euclidean norm; see Sampled.
    """
    for model in (f, g):
        if not isinstance(model, LimitTransformer | None) or f is None:
            wanted = "a model, another model or None, and a string"
            raise WrongInput(
                wanted, shown(model), "call shorten(f, g, string, error) or shorten(f, None, string, error)"
            )
    if shortest:
        from lengthwise.theory.shortest import shortest as programs

        return programs(f, g, string, error)
    second = f if g is None else g
    check_pair(f, second)
    asked = Asked((f,) if g is None else (f, g), allowed_error(error))
    if any(model.depth != 1 or model.attention == "log-suffix" for model in asked.models):
        return measured_shortening(asked, string, draws, seed, report)
    period, locality = math.lcm(f.period, second.period), max(f.locality, second.locality)
    judge = Judge.of(asked, as_counts(string, f.tokens or second.names, period, locality))
    if judge.original.prefix_length < period:
        return judge.shortening(None)
    rounded = all(model.bits is not None for model in asked.models)
    built = _built(judge) if rounded else None
    return judge.shortening(_scaled(judge, built) or built)


@dataclass(frozen=True)
class Judge:
    """The long string as the models see it, and the one question about every short one: is its error small enough?"""

    asked: Asked
    readings: tuple[Reading, ...]
    original: Counts
    outputs: tuple[list[Exact], ...]

    @classmethod
    def of(cls, asked: Asked, original: Counts) -> "Judge":
        """The judge for one long string; it is evaluated once."""
        readings = tuple(Reading.of(model, original) for model in asked.models)
        table, length = by_type(original), original.length
        return cls(asked, readings, original, tuple(reading.outputs(table, length) for reading in readings))

    def errors(self, table: Sequence[int]) -> Iterator[Exact]:
        """Max_c |f(x) - f(z)|_c, model by model; z has the ending of x and these counts by type."""
        same, length = tuple(table) == by_type(self.original), sum(table) + len(self.original.suffix)
        for reading, long in zip(self.readings, self.outputs, strict=True):
            yield Fraction(0) if same else distance(long, reading.outputs(table, length))

    def fits(self, table: Sequence[int]) -> bool:
        """Whether the errors certainly sum to at most what is allowed."""
        sums = itertools.accumulate(self.errors(table), initial=Fraction(0))
        return all(certainly_at_most(total, self.asked.error) for total in sums)

    def shortening(self, found: StandIn | None) -> Shortening:
        """The answer; where nothing was found, the string itself."""
        reason = ""
        if found is None:
            found = StandIn(by_type(self.original), ITSELF)
            whole = self.original.prefix_length >= self.original.period
            reason = "none that was tried is within the error" if whole else "no shorter one has the same ending"
        short = with_prefix(self.original, found.table)
        return Shortening(self.asked, self.original, short, tuple(self.errors(found.table)), found.method, reason)


def _built(judge: Judge) -> StandIn | None:
    """The shortest fitting prefix of the construction; None where rounding leaves no hardmax at this length."""
    x, readings = judge.original, judge.readings
    first, second, error = judge.asked.pair
    try:
        budget = query_budget(first, second, error, x.suffix[-1], x.length)
    except NoBoundHolds:  # an infinite sensitivity has no budget: smaller and smaller ones are tried
        heads = [(model, head) for model, reading in enumerate(readings) for head in range(len(reading.views))]
        budgets, search = dict.fromkeys(heads, Fraction(1, 2)), shortest_halving
    else:
        if budget.free and not budget.acting:
            _refuse_trivial(judge.asked)
        heads = [head for group in budget.acting for head in group.heads]
        budgets, search = {group.heads[0]: group.budget for group in budget.acting}, shortest_construction
    least = hardmax_length(readings, x, heads)
    if least is None:
        return None
    found = search(x, realised_groups(readings, x, budgets), least, judge.fits)
    return None if found is None or found.table == by_type(x) else found


def _scaled(judge: Judge, built: StandIn | None) -> StandIn | None:
    """The shortest fitting prefix that keeps the proportions, if it is shorter than one that was built.

    Under plain attention the one at N is known to fit.
    """
    x, largest = judge.original, None
    if built is not None:
        largest = sum(built.table) // x.period - 1
    elif all(model.attention == "plain" for model in judge.asked.models):
        known = judge.asked.bound
        if isinstance(known, Bound) and known.training_length is not None:
            largest = window_size(x.prefix_length, len(x.suffix), x.period, known.training_length)
    else:
        _refuse_trivial(judge.asked)
    return shortest_scaling(x, judge.fits, largest)


def _refuse_trivial(asked: Asked) -> None:
    """An error that any two strings with one ending keep says nothing."""
    slopes = [slope for model in asked.models for slope in sensitivity(model)]
    if math.inf not in slopes and 0 < sum(slopes) <= asked.error:
        raise trivial_error(asked.error, Fraction(sum(slopes)))
