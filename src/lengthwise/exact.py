"""Numbers that stay exact: rationals, exact matrices of floats, balls, and floats rounded in a stated direction.

With enclosures.py the only file that imports python-flint. A float64 is a dyadic rational, so every weight has an exact
value; what is computed from weights by +, -, *, / and comparisons stays a rational, and only the last line becomes a
float, rounded up or down as the claim needs.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import flint
import numpy as np

from lengthwise.shapes import Float

type_alias = Any  # python-flint ships no stubs that mypy --strict accepts; its values are opaque here
RationalMatrix = type_alias
_BITS = 128
_LARGEST_BITS = 4096  # of an integer that is written out


def rational(value: float | int | Fraction | str) -> Fraction:
    """The exact value of a number: a float is the dyadic rational it stores; strings may be "p/q"."""
    return Fraction(value)


def rational_matrix(array: Float[np.ndarray, "rows columns"]) -> RationalMatrix:
    """A float matrix as the exact rationals it stores; its entries must be finite."""
    if not np.isfinite(array).all():
        raise OverflowError("an infinite or undefined entry has no exact value")
    rows, columns = array.shape
    mantissa, exponent = np.frexp(array.astype(np.float64))
    digits = (mantissa * 2.0**53).astype(np.int64).ravel()  # exact: 53 binary digits, or 0
    shifts = exponent.ravel() - 53
    low = int(shifts[digits != 0].min(initial=0))
    shifts = np.maximum(shifts - low, 0)
    whole = [digit << shift for digit, shift in zip(digits.tolist(), shifts.tolist(), strict=True)]
    return scaled(flint.fmpq_mat(flint.fmpz_mat(rows, columns, whole)), Fraction(2) ** low)


def matrix_of(rows: Sequence[Sequence[Fraction | int]]) -> RationalMatrix:
    """An exact matrix from its rows of rationals; at least one row."""
    values = [flint.fmpq(value.numerator, value.denominator) for row in rows for value in row]
    return flint.fmpq_mat(len(rows), len(rows[0]), values)


def scaled(matrix: RationalMatrix, factor: Fraction) -> RationalMatrix:
    """The matrix times a rational."""
    return matrix * flint.fmpq(factor.numerator, factor.denominator)


def entries(matrix: RationalMatrix) -> list[list[Fraction]]:
    """The entries of an exact matrix as Python fractions, row by row."""
    return [[to_fraction(matrix[i, j]) for j in range(matrix.ncols())] for i in range(matrix.nrows())]


def common_denominator(matrix: RationalMatrix) -> tuple[list[list[int]], int]:
    """Integers over one denominator: matrix = numerators / denominator. Integers compare fast, fractions do not."""
    numerators, denominator = matrix.numer_denom()
    rows, columns = numerators.nrows(), numerators.ncols()
    flat = [int(value) for value in numerators.entries()]
    return [flat[i * columns : (i + 1) * columns] for i in range(rows)], int(denominator)


def null_space(rows: Sequence[Mapping[int, int]], unknowns: int) -> list[list[int]]:
    """A basis of the rational solutions x of some equations, in coprime integers; one vector a free unknown.

    A row has the coefficients that are not 0, by unknown. A free unknown is one without a pivot in the reduced row
    echelon form; its vector is positive there and 0 at the other free ones.
    """
    matrix = flint.fmpz_mat(len(rows), unknowns)
    for i, row in enumerate(rows):
        for j, value in row.items():
            matrix[i, j] = value
    reduced, denominator, rank = matrix.rref()
    pivots: list[int] = []
    for i in range(rank):
        column = pivots[-1] + 1 if pivots else 0
        while not reduced[i, column]:
            column += 1
        pivots.append(column)
    sign = 1 if denominator > 0 else -1
    basis = []
    for free in sorted(set(range(unknowns)) - set(pivots)):
        vector = [0] * unknowns
        vector[free] = abs(int(denominator))
        for i, pivot in enumerate(pivots):
            vector[pivot] = -sign * int(reduced[i, free])
        common = math.gcd(*vector)
        basis.append([value // common for value in vector])
    return basis


def to_fraction(value: Any) -> Fraction:
    """A python-flint rational as a Python fraction."""
    return Fraction(int(value.p), int(value.q))


def ceil_float(value: Fraction | int) -> float:
    """The least float that is at least the rational; infinity when none is."""
    try:
        nearest = float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.nextafter(math.inf, 0)
    return nearest if math.isinf(nearest) or Fraction(nearest) >= value else math.nextafter(nearest, math.inf)


def floor_float(value: Fraction | int) -> float:
    """The largest float that is at most the rational."""
    return -ceil_float(-value)


@dataclass(frozen=True, eq=False)
class Ball:
    """A real number known to lie in a small interval. No ==: ask `certainly_less` or `overlaps`."""

    arb: Any

    @classmethod
    def of(cls, value: "Fraction | int | float | Ball") -> "Ball":
        """The ball around an exact value (a float counts as the rational it stores)."""
        if isinstance(value, Ball):
            return value
        fraction = Fraction(value)
        with flint.ctx.workprec(_BITS):
            return cls(flint.arb(flint.fmpq(fraction.numerator, fraction.denominator)))

    @classmethod
    def upto(cls, value: float) -> "Ball":
        """The ball of an upper bound that may be infinite."""
        return cls(flint.arb("inf")) if math.isinf(value) else cls.of(value)

    @classmethod
    def between(cls, low: Fraction | int, high: Fraction | int) -> "Ball":
        """The ball of a number known to lie between two."""
        with flint.ctx.workprec(_BITS):
            return cls(cls.of(low).arb.union(cls.of(high).arb))

    def _with(self, other: "Fraction | int | float | Ball", operation: str) -> "Ball":
        with flint.ctx.workprec(_BITS):
            return Ball(getattr(self.arb, operation)(Ball.of(other).arb))

    def __add__(self, other: "Fraction | int | float | Ball") -> "Ball":
        """Sum."""
        return self._with(other, "__add__")

    def __sub__(self, other: "Fraction | int | float | Ball") -> "Ball":
        """Difference."""
        return self._with(other, "__sub__")

    def __mul__(self, other: "Fraction | int | float | Ball") -> "Ball":
        """Product; an exact 0 times an infinite bound is 0, because what the bound stands for is finite."""
        factor = Ball.of(other)
        if self.arb.is_zero() or factor.arb.is_zero():
            return Ball.of(0)
        return self._with(factor, "__mul__")

    def __truediv__(self, other: "Fraction | int | float | Ball") -> "Ball":
        """Quotient."""
        return self._with(other, "__truediv__")

    __radd__ = __add__
    __rmul__ = __mul__

    def __rsub__(self, other: "Fraction | int | float") -> "Ball":
        """Difference with a plain number on the left."""
        return Ball.of(other) - self

    def __rtruediv__(self, other: "Fraction | int | float") -> "Ball":
        """Quotient with a plain number on the left."""
        return Ball.of(other) / self

    def __abs__(self) -> "Ball":
        """Absolute value."""
        return Ball(self.arb.__abs__())

    def apply(self, function: str) -> "Ball":
        """One of exp, log, sqrt, sin, tanh of the ball."""
        with flint.ctx.workprec(_BITS):
            return Ball(getattr(self.arb, function)())

    def power(self, exponent: "Fraction | int | float | Ball") -> "Ball":
        """Base ** exponent for a positive base, as exp(exponent log base): ball powers are nan across zero."""
        return (Ball.of(exponent) * self.apply("log")).apply("exp")

    def upper(self) -> float:
        """A float that is certainly not below the number; infinity when it does not fit a float."""
        if not self.arb.is_finite():
            return math.inf
        return ceil_float(_endpoint(self.arb.upper()))

    def lower(self) -> float:
        """A float that is certainly not above the number."""
        if not self.arb.is_finite():
            return -math.inf
        return floor_float(_endpoint(self.arb.lower()))

    def floor(self) -> int:
        """An integer that is certainly not above the number, and the largest such one up to rounding."""
        return math.floor(_endpoint(self.arb.lower())) if self.arb.is_finite() else 0

    def ceil(self) -> int | None:
        """An integer that is certainly not below the number, and the least such one up to rounding; None if it is huge."""
        if not self.arb.is_finite() or self.arb.abs_upper() > flint.arb(2) ** _LARGEST_BITS:
            return None
        return math.ceil(_endpoint(self.arb.upper()))

    def log2_upper(self) -> float:
        """log2 of the upper end, rounded up: what is left of a number too large for a float."""
        if self.arb.is_zero():
            return -math.inf
        with flint.ctx.workprec(_BITS):
            two = flint.arb(2).log()
            return Ball(self.arb.upper().log() / two).upper()

    def certainly_less(self, other: "Fraction | int | float | Ball") -> bool:
        """True only if every point of this ball is below every point of the other."""
        return bool(self.arb < Ball.of(other).arb)

    def overlaps(self, other: "Fraction | int | float | Ball") -> bool:
        """True unless the two are certainly different."""
        return bool(self.arb.overlaps(Ball.of(other).arb))

    def __float__(self) -> float:
        """The midpoint, for display."""
        return float(self.arb.mid())

    def __repr__(self) -> str:
        """Midpoint and radius, as Arb prints them."""
        return f"Ball({self.arb})"


def least(first: Ball, second: Ball) -> Ball:
    """The better of two upper bounds of one number."""
    return first if bool(first.arb.upper() <= second.arb.upper()) else second


def greatest(values: Sequence["Fraction | Ball"]) -> "Fraction | Ball":
    """The largest of some numbers: exact where all are, else a ball around it."""
    if not any(isinstance(value, Ball) for value in values):
        return max(Fraction(value) for value in values if not isinstance(value, Ball))
    largest = Ball.of(values[0])
    for value in values[1:]:
        with flint.ctx.workprec(_BITS):
            largest = Ball(largest.arb.max(Ball.of(value).arb))
    return largest


def certainly_at_most(value: "Fraction | Ball", limit: Fraction) -> bool:
    """Whether a number is certainly <= a rational: exactly for rationals, at every point for balls."""
    return value <= limit if isinstance(value, Fraction) else bool(value.arb <= Ball.of(limit).arb)


def ball_product(row: Sequence["Fraction | int | Ball"], matrix: RationalMatrix) -> list["Ball"]:
    """A row of numbers times an exact matrix, enclosed."""
    with flint.ctx.workprec(_BITS):
        product = flint.arb_mat([[Ball.of(value).arb for value in row]]) * flint.arb_mat(matrix)
    return [Ball(value) for value in product.entries()]


def power_reaches(base: int, exponent: Fraction, bits: int) -> bool:
    """Whether base ** exponent >= 2 ** bits, for a base and an exponent that are positive; decided, never estimated.

    With exponent = u / v equality means base ** u = 2 ** (bits v), so base is a power of two and integers decide. For
    any other base the two sides differ, so balls of growing precision tell them apart.
    """
    if base & (base - 1) == 0:
        return (base.bit_length() - 1) * exponent >= bits
    if (base.bit_length() - 1) * exponent >= bits:
        return True
    if base.bit_length() * exponent <= bits:
        return False
    precision = _BITS
    while True:
        with flint.ctx.workprec(precision):
            power = flint.arb(flint.fmpq(exponent.numerator, exponent.denominator)) * flint.arb(base).log()
            wanted = bits * flint.arb.const_log2()
            if power > wanted or power < wanted:
                return bool(power > wanted)
        precision *= 2


def ceil_power_of_two(exponent: Fraction) -> int:
    """The least integer >= 2^q. For a rational q that is no integer 2^q is irrational, so enough digits decide."""
    if exponent.denominator == 1:
        return 1 << max(exponent.numerator, 0)
    precision = _BITS + max(int(exponent), 0)
    while True:
        with flint.ctx.workprec(precision):
            value = (flint.arb(flint.fmpq(exponent.numerator, exponent.denominator)) * flint.arb.const_log2()).exp()
            low, high = value.lower().floor().unique_fmpz(), value.upper().floor().unique_fmpz()
        if low is not None and low == high:
            return int(low) + 1
        precision *= 2


def power_sum(first: int, last: int, exponent: Fraction | float) -> Ball:
    """Encloses the sum of i^-s for i = first..last, in constant time whatever the length.

        sum_{i=a}^{b} i^-s = zeta(s, a) - zeta(s, b+1)   (Hurwitz),   and digamma(b+1) - digamma(a) when s = 1.

    The digits that cancel grow with log2(last), so the working precision does too.
    """
    if last < first:
        return Ball.of(0)
    s = Fraction(exponent)
    with flint.ctx.workprec(_BITS + 4 * last.bit_length()):
        a, b = flint.arb(first), flint.arb(last + 1)
        if s == 1:
            return Ball(b.digamma() - a.digamma())
        order = flint.arb(flint.fmpq(s.numerator, s.denominator))
        return Ball(order.zeta(a) - order.zeta(b))


def _endpoint(point: Any) -> Fraction:
    mantissa, exponent = point.man_exp()
    m, e = int(mantissa), int(exponent)
    if e > 4096:  # far beyond any float: keep the sign and the size class, not the digits
        return Fraction(1 << 4096) * (1 if m > 0 else -1 if m < 0 else 0)
    if e < -(1 << 16):
        return Fraction(0) if m == 0 else Fraction(m.bit_length() and (1 if m > 0 else -1), 1 << 4096)
    return Fraction(m << e) if e >= 0 else Fraction(m, 1 << -e)
