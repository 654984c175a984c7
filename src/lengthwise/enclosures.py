"""Moments of the Beta law, enclosed: the integrals of the average case. Beside exact.py the only file with python-flint."""

import math
from fractions import Fraction
from typing import Any

import flint

from lengthwise.exact import Ball

_BITS = 192
_NUDGE = Fraction(1, 1 << 100)  # see beta_tail: away from the pole of Gamma at 0


def beta_tail(first: Fraction, second: Fraction, power: Fraction, start: Fraction) -> Ball:
    """Encloses E[u^-s; u >= u0] for u ~ Beta(a, b), 0 <= s <= 1, 0 < u0 < 1.

        = G(a - s) G(a + b) / (G(a) G(a - s + b)) - B(u0; a - s, b) / B(a, b),
          B(u0; a', b) = integral of u^(a' - 1) (1 - u)^(b - 1) from 0 to u0, continued analytically to -1 < a' < 0

    In ball arithmetic with the digits that cancel added, so the result is proven however wide it is. At a = s both
    terms have a pole; there u^-s is enclosed between u^-s' and u0^-d u^-s' with s' = s - d, d = 2^-100. Where the digits
    do not suffice (u0 deep in the right tail of a narrow law) the ball is [0, u0^-s], which holds as well.
    """
    widest = Ball.of(start).power(-power) if power else Ball.of(1)
    if first == power:
        inner = beta_tail(first, second, power - _NUDGE, start)
        return Ball(inner.arb.union((inner * Ball.of(start).power(-_NUDGE)).arb))
    lost = 2 * (start.denominator.bit_length() - start.numerator.bit_length() + 1)
    nudged = 2 * max(0, (first - power).denominator.bit_length())
    with flint.ctx.workprec(_BITS + lost + nudged):
        a, b, u = _arb(first), _arb(second), _arb(start)
        lower = u.beta_lower(_arb(first - power), b) / _beta(a, b)
        found = _ratio(first, second, power) - lower
    return Ball(found) if _useful(found) else Ball(flint.arb(0).union(widest.arb))


def beta_moment(first: Fraction, second: Fraction, power: Fraction) -> Ball:
    """E u^-s = G(a - s) G(a + b) / (G(a) G(a - s + b)) for u ~ Beta(a, b), infinite where a <= s."""
    if first <= power:
        return Ball(flint.arb("inf"))
    with flint.ctx.workprec(_BITS):
        return Ball(_ratio(first, second, power))


def absence(first: Fraction, second: Fraction, count: int) -> Ball:
    """E (1 - u)^C = G(b + C) G(a + b) / (G(b) G(a + b + C)) for u ~ Beta(a, b): a type is missing from C draws.

    The logarithms of Gamma that cancel grow like C log C, so the working precision grows with them.
    """
    with flint.ctx.workprec(_BITS + 2 * count.bit_length()):
        a, b = _arb(first), _arb(second)
        return Ball(((b + count).lgamma() + (a + b).lgamma() - b.lgamma() - (a + b + count).lgamma()).exp())


def _ratio(first: Fraction, second: Fraction, power: Fraction) -> Any:
    """G(a - s) G(a + b) / (G(a) G(a - s + b)); 1 / Gamma has no poles, so only a - s = 0, -1, ... are excluded."""
    a, b, s = _arb(first), _arb(second), _arb(power)
    if first > power:
        return ((a - s).lgamma() + (a + b).lgamma() - a.lgamma() - (a - s + b).lgamma()).exp()
    return (a - s).gamma() * (a - s + b).rgamma() * ((a + b).lgamma() - a.lgamma()).exp()


def _beta(a: Any, b: Any) -> Any:
    return (a.lgamma() + b.lgamma() - (a + b).lgamma()).exp()


def _arb(value: Fraction) -> Any:
    return flint.arb(flint.fmpq(value.numerator, value.denominator))


def _useful(found: Any) -> bool:
    return bool(found.is_finite()) and math.isfinite(float(found.rad())) and bool(found.rad() < 1)


def middle(ball: Ball) -> Fraction:
    """A rational inside the ball, of at most some 200 binary digits, however small or large it is."""
    mantissa, exponent = ball.arb.mid().man_exp()
    return Fraction(int(mantissa)) * Fraction(2) ** int(exponent)


def lowered(ball: Ball, excess: Ball) -> Ball:
    """The ball with its lower end moved down by |excess|: what is known of x when x <= value <= x + |excess|."""
    with flint.ctx.workprec(_BITS):
        return Ball(ball.arb.union(ball.arb - abs(excess.arb)))


def clipped(ball: Ball) -> Ball:
    """min{1, max{0, x}} at every point of the ball."""
    with flint.ctx.workprec(_BITS):
        return Ball(ball.arb.max(flint.arb(0)).min(flint.arb(1)))
