"""One formula, two arithmetics: floats to search with, balls to prove with."""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from lengthwise.exact import Ball, least, power_sum

Number = Any  # a float, or a Ball
_DIRECT = 24  # terms summed one by one before the Euler-Maclaurin formula takes over


@dataclass(frozen=True)
class Numbers:
    """What a formula needs of its numbers; `upto` takes an upper bound that may be infinite."""

    upto: Callable[[float | Fraction], Number]
    exp: Callable[[Number], Number]
    log: Callable[[Number], Number]
    root: Callable[[Number], Number]
    power: Callable[[int, Fraction], Number]
    power_sum: Callable[[int, int, Fraction], Number]
    least: Callable[[Number, Number], Number]

    def total(self, values: Iterable[Number]) -> Number:
        """The sum, 0 of none."""
        return sum(values, self.upto(0.0))


def balls() -> Numbers:
    """Enclosures: what they say holds."""
    return Numbers(
        upto=lambda value: value if isinstance(value, Ball) else _ball(value),
        exp=lambda value: value.apply("exp"),
        log=lambda value: Ball.of(value).apply("log"),
        root=lambda value: Ball.of(value).apply("sqrt"),
        power=lambda base, exponent: Ball.of(base).power(exponent),
        power_sum=power_sum,
        least=least,
    )


def floats() -> Numbers:
    """Floats: a hundred times as fast, and what they find is only where to look."""
    return Numbers(
        upto=float,
        exp=_exp,
        log=math.log,
        root=math.sqrt,
        power=lambda base, exponent: math.exp(float(exponent) * math.log(base)),
        power_sum=float_power_sum,
        least=min,
    )


def float_power_sum(first: int, last: int, exponent: Fraction | float) -> float:
    """The sum of i^-s for i = first..last: some terms one by one, then Euler-Maclaurin.

    sum_{a < i <= b} f(i) = int_a^b f + [f]/2 + [Df]/12 - [DDDf]/720 + ...,   f(i) = i^-s,  [g] = g(b) - g(a)
    """
    if last < first:
        return 0.0
    s, direct = float(exponent), min(last, first + _DIRECT)
    near = math.fsum(i**-s for i in range(first, direct + 1))
    if direct == last:
        return near
    a, b = math.log(direct), math.log(last)
    area = (b - a) * math.exp((1 - s) * a) if abs((1 - s) * b) < 1e-9 else _exp((1 - s) * a) * _growth((1 - s), b - a)
    ends = (math.exp(-s * b) - math.exp(-s * a)) / 2
    slopes = -s * (math.exp(-(s + 1) * b) - math.exp(-(s + 1) * a)) / 12
    bends = s * (s + 1) * (s + 2) * (math.exp(-(s + 3) * b) - math.exp(-(s + 3) * a)) / 720
    return near + area + ends + slopes + bends


def _growth(rate: float, span: float) -> float:
    """(e^(rate span) - 1) / rate."""
    try:
        return math.expm1(rate * span) / rate
    except OverflowError:
        return math.inf


def _ball(value: float | Fraction) -> Ball:
    return Ball.upto(value) if isinstance(value, float) else Ball.of(value)


def _exp(value: float) -> float:
    try:
        return math.exp(value)
    except OverflowError:
        return math.inf
