"""The length from which no string's attention is further from its hardmax than a distance, between two proven ends."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from lengthwise.errors import WrongInput, shown
from lengthwise.exact import Ball, certainly_at_most
from lengthwise.limit.hardmax_distance import weight
from lengthwise.limit.margins import threshold
from lengthwise.limit.model import LimitTransformer
from lengthwise.limit.tables import logit_tables, slots
from lengthwise.limit.worst_distance import worst_distance

_FAR = 1 << 200  # where no bound is proven, lengths up to here are tried


@dataclass(frozen=True)
class WorstOnset:
    """Between which lengths the onset over all strings lies: from at_most on no string is further away; one of length
    at_least - 1 is. at_most None: no such length is proven, and there are strings up to at_least - 1 that are further.
    """

    at_least: int
    at_most: int | None


def worst_onset(model: LimitTransformer, distance: Fraction | float) -> WorstOnset:
    """The length from which no string's attention is further from its hardmax than a distance, between two proven ends.

    The upper end. By `worst_distance` the distance is met where S / B <= R = distance / (1 - distance) for every head,
    query and possible largest logit mu. With g the gap of a slot's best option below mu, from locality + 1 + period on:

        S <= sum over classes of (n + a) / Delta w(g)  +  sum over offsets of w(g),    a = max(0, Delta - tau - 2)
        B >= (n - tau - Delta) / Delta for each class without an option below mu; else the offsets without one; else 1
        w(g) = n^-g, or 0 from 2^(bits / g) on;   e^-g for plain attention

    Every term falls with n, but for a class with g < 1 beside no class that must attend: (n + a) n^-g rises until it is
    flushed. Then only rounding helps, and the onset is the threshold for all distances alike: one maximiser among n - 1
    others has S / B = (n - 1) n^-g. With plain attention such a class has no end at all. Ours.
    """
    limit = Fraction(distance)
    if not 0 < limit < 1:
        raise WrongInput("a distance between 0 and 1", shown(distance), "0.01 is usual", "distance")
    at_most: int | None = model.locality + 1 + model.period
    for level in levels(model):
        end = level.end(limit / (1 - limit))
        at_most = None if at_most is None or end is None else max(at_most, end)
    return WorstOnset(_last_further(model, float(limit), _FAR if at_most is None else at_most) + 1, at_most)


@dataclass(frozen=True, eq=False)
class Level:
    """One possible largest logit at one query: the gaps of the slots that can avoid it, and how many cannot."""

    model: LimitTransformer
    classes: tuple[Fraction, ...]
    offsets: tuple[Fraction, ...]
    forced_classes: int
    forced_offsets: int

    def end(self, ratio: Fraction) -> int | None:
        """A length from which S / B is at most the ratio; None where none is known."""
        model, start = self.model, self.model.locality + 1 + self.model.period
        if not self.forced_classes:
            slow = [gap for gap in self.classes if gap < 1 or model.attention == "plain"]
            if slow and model.bits is None:
                return None
            flushed = [threshold(model.bits, gap).length for gap in slow if model.bits is not None]
            known = [length for length in flushed if length is not None]
            if len(known) < len(flushed):
                return None
            start = max([start, *known])
        return _falls_below(self.share, ratio, start) if self.in_the_limit().certainly_less(ratio) else None

    def share(self, length: int) -> Ball:
        """An upper bound of S / B, which falls with the length."""
        model = self.model
        tau, delta = model.locality, model.period
        size = Fraction(length + max(0, delta - tau - 2), delta)
        total = sum((weight(model, gap, length) * size for gap in self.classes), Ball.of(0))
        total = sum((weight(model, gap, length) for gap in self.offsets), total)
        forced = Fraction(self.forced_classes * (length - tau - delta), delta)
        return total / (forced or max(1, self.forced_offsets))

    def in_the_limit(self) -> Ball:
        """Where that goes as the length grows."""
        if self.model.attention == "plain":
            gaps = self.classes if self.forced_classes else self.offsets
            total = sum((Ball.of(-gap).apply("exp") for gap in gaps), Ball.of(0))
            return total / (self.forced_classes or max(1, self.forced_offsets))
        if self.forced_classes or self.model.bits is not None:
            return Ball.of(0)
        return Ball.of(Fraction(self.classes.count(Fraction(1)), self.model.period * max(1, self.forced_offsets)))


def levels(model: LimitTransformer) -> Iterator[Level]:
    """Every possible largest logit of long strings, at every head and query."""
    for table in logit_tables(model):
        for query in range(model.types):
            options = slots(table, *divmod(query, model.period))
            classes = [options.prefix[residue :: model.period] for residue in range(model.period)]
            near = [values for values in options.suffix if values]
            for top in {value for slot in [*classes, *near] for value in slot if value >= options.floor}:
                runners = [tuple(_runner_up(slot, top) for slot in some) for some in (classes, near)]
                gaps = [tuple(options.exact(top - one) for one in some if one is not None) for some in runners]
                yield Level(model, gaps[0], gaps[1], runners[0].count(None), runners[1].count(None))


def _runner_up(values: Sequence[int], top: int) -> int | None:
    return max((value for value in values if value < top), default=None)


def _falls_below(value: Callable[[int], Ball], ratio: Fraction, start: int) -> int:
    """The least n from `start` on at which a falling function is certainly at most a ratio, by doubling and halving."""
    if certainly_at_most(value(start), ratio):
        return start
    low, high = start, 2 * start
    while not certainly_at_most(value(high), ratio):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if certainly_at_most(value(middle), ratio) else (middle, high)
    return high


def _last_further(model: LimitTransformer, limit: float, high: int) -> int:
    """A length below `high`, as long as doubling and halving find, with a string further from its hardmax than the limit.

    All residues of the length modulo the period are tried, the longest first. 0 if none is found. Distances are rounded
    up, so one must be above the limit by more than that.
    """
    certain = limit * (1 + 1e-12)

    def further(n: int) -> int:
        lengths = range(n, max(n - model.period, model.locality), -1)
        return next((m for m in lengths if worst_distance(model, m).distance > certain), 0)

    found = further(high - 1)
    if found:
        return found
    low, top = 0, high - 1
    reach = model.locality + 1
    while reach < top:
        low = further(reach) or low
        reach *= 2
    if not low:
        return 0
    top = min(top, 2 * low + model.period)
    while top - low > 1:
        middle = (low + top) // 2
        seen = further(middle)
        low, top = (max(low, seen), top) if seen > low else (low, middle)
    return low
