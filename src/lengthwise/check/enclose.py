"""Real numbers between two rationals: exp, log, sin and tanh with directed rounding, and n^g >= 2^p decided.

Fixed point: an integer v with w binary places stands for v / 2^w, one unit of it is an *ulp*. Every function computes a
few ulps beside the true value; how many is proved where it is computed.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from math import ceil, floor

from .reader import Refused

BITS = 256  # binary digits of every function's result that are certain, unless more are asked for
PLACES = 384  # what is no longer exact is rounded outward to this many binary places


@dataclass(frozen=True)
class Enclosure:
    """A real number between `low` and `high`; where these are equal it is known exactly."""

    low: Fraction
    high: Fraction

    @classmethod
    def of(cls, value: Fraction | int) -> "Enclosure":
        """A rational, exactly."""
        return cls(Fraction(value), Fraction(value))

    @property
    def exact(self) -> bool:
        """Whether the number is known exactly."""
        return self.low == self.high

    def __add__(self, other: "Enclosure") -> "Enclosure":
        """Sum."""
        return Enclosure(self.low + other.low, self.high + other.high)

    def __sub__(self, other: "Enclosure") -> "Enclosure":
        """Difference."""
        return Enclosure(self.low - other.high, self.high - other.low)

    def __mul__(self, factor: Fraction | int) -> "Enclosure":
        """Product with a rational."""
        one, two = self.low * factor, self.high * factor
        return Enclosure(min(one, two), max(one, two))

    def __truediv__(self, other: "Enclosure") -> "Enclosure":
        """Quotient by a positive number."""
        low, high = (other.high if self.low > 0 else other.low), (other.low if self.high > 0 else other.high)
        return Enclosure(self.low / low, self.high / high).rounded()

    def rounded(self) -> "Enclosure":
        """The same, outward to multiples of 2^-PLACES where not exact, so that endpoints stay short."""
        if self.exact:
            return self
        one = 1 << PLACES
        return Enclosure(Fraction(floor(self.low * one), one), Fraction(ceil(self.high * one), one))

    @property
    def size(self) -> Fraction:
        """The upper end of its absolute value."""
        return max(abs(self.low), abs(self.high))


def exp(x: Enclosure, bits: int = BITS, least: int = 1 << 16) -> Enclosure:
    """e^x, relative width about 2^-bits; below e^-least only that it is between 0 and 2^-least. Increasing in x."""
    low = _exp(x.low, bits, least)
    return low if x.exact else Enclosure(low.low, _exp(x.high, bits, least).high)


def _exp(x: Fraction, bits: int, least: int) -> Enclosure:
    if x == 0:
        return Enclosure.of(1)
    if x < -least:
        return Enclosure(Fraction(0), Fraction(1, 1 << least))  # e^x < e^-least < 2^-least
    if x > 1 << 16:
        raise Refused("a number larger than e^65536 would be needed")
    w = bits + 48 + (int(abs(x)) + 1).bit_length()
    scaled = (x.numerator << w) // x.denominator  # at most 1 ulp below x
    two, off = _log2(w)  # ln 2 lies in [two, two + off]
    k = (2 * scaled + two) // (2 * two)
    r = scaled - k * two  # |r| <= two / 2; x - k ln 2 lies within slack ulps of r
    slack = abs(k) * off + 1
    # Terms T_i = r^i / i! with |r| < 0.36: t_i = floor(t_(i-1) r / i) is off by e_i <= 0.36 e_(i-1) + 1 < 1.6 ulps. At the
    # first t_n in {0, -1}, |T_n| < 2.6 ulps and the rest of the series is below 2.6 / (1 - 0.36) < 5 ulps.
    total, term, n = 0, 1 << w, 0
    while term not in (0, -1):
        total, n = total + term, n + 1
        term = (term * r) // (n << w)
    error = 2 * n + 5 + 2 * slack  # e^r has slope below e^0.4 < 2 there
    scale = Fraction(2) ** (k - w)
    return Enclosure((total - error) * scale, (total + error) * scale)


def log(q: Fraction, bits: int = BITS) -> Enclosure:
    """Log to base e of a rational q > 0, width below 2^-bits:  q = m 2^k with 2/3 <= m <= 4/3,  ln m = 2 atanh((m-1)/(m+1))."""
    if q == 1:
        return Enclosure.of(0)
    k = q.numerator.bit_length() - q.denominator.bit_length()  # q / 2^k lies in (1/2, 2)
    m = q / Fraction(2) ** k
    k, m = (k + 1, m / 2) if m > Fraction(4, 3) else (k - 1, m * 2) if m < Fraction(2, 3) else (k, m)
    w = bits + 32 + abs(k).bit_length()
    y = (m - 1) / (m + 1)  # between -1/5 and 1/7
    part, more = _atanh((abs(y.numerator) << w) // y.denominator, w)
    more += 2  # y was cut by at most 1 ulp, and atanh has slope below 2 there
    sign = 1 if y >= 0 else -1
    two, off = _log2(w)
    middle, error = k * two + 2 * sign * part, abs(k) * off + 2 * more
    return Enclosure(Fraction(middle - error, 1 << w), Fraction(middle + error, 1 << w))


@cache
def _log2(w: int) -> tuple[int, int]:
    """v, d with v <= ln 2 <= v + d:  ln 2 = 2 atanh(1/3)."""
    part, more = _atanh((1 << w) // 3, w)
    return 2 * part, 2 * (more + 2)


def _atanh(y: int, w: int) -> tuple[int, int]:
    """v, d with v <= atanh(y) <= v + d for 0 <= y <= 1/3:  the sum of y^(2i+1) / (2i+1).

    Everything is positive and rounded down, so v is below. A power is off by e_(i+1) <= e_i / 9 + 1/3 + 1 < 1.6 ulps
    (1/3: y^2 was rounded), a summand by less than 2.6, and behind the first power that is 0 the rest is below 2.
    """
    square, power, total, n = (y * y) >> w, y, 0, 0
    while power:
        total, n = total + power // (2 * n + 1), n + 1
        power = (power * square) >> w
    return total, 3 * n + 2


@cache
def _pi(w: int) -> tuple[int, int]:
    """v, d with |v - pi| <= d:  pi = 16 atan(1/5) - 4 atan(1/239), alternating sums of 1 / ((2i+1) m^(2i+1))."""
    value, error = 0, 0
    for factor, m in ((16, 5), (-4, 239)):
        power, n = (1 << w) // m, 0
        while (
            power
        ):  # powers are below the true ones by less than 2 ulps, quotients by less than 3; the rest is below 2
            value += factor * (power // (2 * n + 1)) * (-1) ** n
            power, n = power // (m * m), n + 1
        error += abs(factor) * (3 * n + 2)
    return value, error


def sin(x: Enclosure, bits: int = BITS) -> Enclosure:
    """The sine of x, width about 2^-bits plus that of x (its slope is at most 1):  x = k pi + r, (-1)^k sin r."""
    if x.low == 0 == x.high:
        return x
    w = bits + 48 + (int(abs(x.low)) + 1).bit_length()
    scaled = (x.low.numerator << w) // x.low.denominator
    pi, off = _pi(w)
    k = (2 * scaled + pi) // (2 * pi)
    r = scaled - k * pi  # |r| < 1.58; x.low - k pi lies within |k| off + 1 ulps of it
    square = (r * r) >> w
    # Terms T_i = T_(i-1) r^2 / (2i (2i+1)), ratio below 0.42: off by e_i <= 0.42 e_(i-1) + 0.27 + 1 < 2.2 ulps. At the
    # first t_n in {0, -1}, |T_n| < 3.2 ulps and the rest is below 3.2 / (1 - 0.42) < 6.
    total, term, n = 0, r, 0
    while term not in (0, -1):
        total, n = total + term, n + 1
        term = (-term * square) // ((2 * n * (2 * n + 1)) << w)
    middle = Fraction(-total if k % 2 else total, 1 << w)
    error = Fraction(3 * n + 7 + abs(k) * off, 1 << w) + x.high - x.low
    return Enclosure(max(middle - error, Fraction(-1)), min(middle + error, Fraction(1))).rounded()


def tanh(x: Enclosure, bits: int = BITS) -> Enclosure:
    """(1 - u) / (1 + u) with u = e^(-2 x) for x >= 0; odd and increasing."""
    return Enclosure(_tanh(x.low, bits).low, _tanh(x.high, bits).high).rounded()


def _tanh(x: Fraction, bits: int) -> Enclosure:
    u = exp(Enclosure.of(-2 * abs(x)), bits, least=2 * bits)
    low, high = (1 - u.high) / (1 + u.high), (1 - u.low) / (1 + u.low)
    return Enclosure(low, high) if x >= 0 else Enclosure(-high, -low)


def reaches(n: int, gap: Fraction, bits: int) -> bool:
    """Whether n^g >= 2^p, g = u/v > 0: section 4 of the format.

    Two sides that differ are hardly ever closer than 1 / u, relative to 2^p, and for n just beside a power of two 1 / n;
    digits for the square of that are tried. Refused if even they do not decide.
    """
    u, target = gap.numerator, bits * gap.denominator
    if n & (n - 1) == 0:
        return (n.bit_length() - 1) * u >= target
    sizes = u.bit_length() + target.bit_length()
    for precision in (64 + sizes, 128 + 2 * (sizes + n.bit_length())):
        left, right = log(Fraction(n), precision) * u, log(Fraction(2), precision) * target
        if left.high < right.low or right.high < left.low:
            return left.low > right.high
    raise Refused("it could not be decided whether a weight is flushed to 0")
