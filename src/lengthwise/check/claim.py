"""What a certificate of kind `worst` speaks of: target, conditions, lengths and suffix. Section 8 of the format."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from .model import Model, Type, common
from .reader import Refused, Unreadable, about, fields, items, matrix, natural, number, one_of
from .weigh import Logits, check_work, sensitivities

MOST_TYPES = 10_000  # in a certificate, so that tables are short; the limit of work speaks of the rest


@dataclass(frozen=True)
class Target:
    """T = psi(scale over.c / under.c) + tail; over and under by type as integers, over one denominator."""

    activation: str
    scale: Fraction
    over: list[int]
    under: list[int]
    tail: list[list[Fraction]]

    def ending(self, suffix: list[int]) -> Fraction:
        """What the tail adds for these last tokens, in reading order."""
        return sum((row[token] for row, token in zip(self.tail, reversed(suffix), strict=False)), Fraction(0))


@dataclass(frozen=True)
class Case:
    """The certificate as read. A type (token, residue) has the index residue * symbols + token in every table here."""

    model: Model
    period: int
    error: Fraction
    target: Target
    conditions: list[list[int]]
    shortest: int
    small: int

    @property
    def reach(self) -> int:
        """Tau: the largest offset at which the model or the target looks."""
        return max(self.model.locality, len(self.target.tail) - 1)

    @property
    def apart(self) -> int:
        """h: how many of the last tokens are set apart from the counts."""
        local = any(phi != 0 for head in self.model.heads for phi in head.phi)
        return self.reach + 1 if local or self.target.tail else 0

    @cached_property
    def types(self) -> list[Type]:
        """Every (token, residue), by index."""
        return [(token, residue) for residue in range(self.period) for token in range(self.model.symbols)]

    @cached_property
    def logits(self) -> list[Logits]:
        """Content logits and phi of every head."""
        return [Logits.of(self.model, head, self.reach) for head in self.model.heads]

    @cached_property
    def sensitivities(self) -> list[Fraction]:
        """L_a: how far the output can move when the weights of a head move by a total variation of 1."""
        return sensitivities(self.model)


def read_case(
    target: Any, shortest: Any, where: Any, small: Any, models: list[Model], period: int, error: Fraction
) -> Case:
    """All but roots and witness; what no rule can hold for is refused."""
    model = models[0]
    if len(models) != 1 or len(model.unembedding) != 1 or not model.heads:
        raise Refused("a worst error is one of one model with one output and at least one head")
    if model.attention == "log-length" and model.bits is None:
        raise Refused("log-length attention without bits is never hard: every string would be one of its own")
    if model.mlp is not None and "heaviside" in model.mlp.activation:
        raise Refused("a heaviside unit has no slope, and no enclosure on a cell")
    if period * model.symbols > MOST_TYPES:
        raise Unreadable(f"at most {MOST_TYPES} types", about(period * model.symbols), "period")
    least, most = natural(shortest, "shortest", 1), natural(small, "small", 1)
    if most < least:
        raise Refused(f"small is {about(most)}, less than shortest")
    conditions = []
    for index, entry in enumerate(items(where, "where")):
        counts, length = fields(entry, f"where[{index}]", "counts", "length")
        every = number(length, f"where[{index}], length")
        row = _by_type(counts, f"where[{index}], counts", model, period)
        conditions.append(_whole([v + every for v in row], f"where[{index}]"))
    case = Case(model, period, error, _target(target, model, period), conditions, least, most)
    check_work(models, period, case.reach)
    return case


def _target(value: Any, model: Model, period: int) -> Target:
    names = ("activation", "scale", "over", "under", "tail")
    activation, scale, over, under, tail = fields(value, "target", *names)
    above, below = (
        _by_type(table, f"target, {name}", model, period) for table, name in ((over, "over"), (under, "under"))
    )
    if min(below) < 0:
        raise Refused("the target divides by counts of which one has a negative factor")
    both = _whole(above + below, "target")
    factor, last = number(scale, "target, scale"), matrix(tail, "target, tail", model.symbols)
    common([factor, *(v for row in last for v in row)], "target")
    kind = one_of(activation, "target, activation", "identity", "sin")
    return Target(kind, factor, both[: len(above)], both[len(above) :], last)


def _by_type(value: Any, where: str, model: Model, period: int) -> list[Fraction]:
    """A table with one row a token and one number a residue, by the index of the type."""
    table = matrix(value, where, period, model.symbols)
    return [table[token][residue] for residue in range(period) for token in range(model.symbols)]


def _whole(values: list[Fraction], where: str) -> list[int]:
    """The same over their common denominator: a sign or a ratio is all that they are used for."""
    under = common(values, where)
    return [value.numerator * (under // value.denominator) for value in values]
