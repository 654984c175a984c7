"""Lengths of exact vectors and matrices, as balls around proven upper bounds."""

from collections.abc import Iterable
from fractions import Fraction

import numpy as np

from lengthwise.exact import Ball, RationalMatrix, common_denominator, least, rational_matrix, scaled


def length(vector: Iterable[Fraction]) -> Ball:
    """The Euclidean norm of a vector of rationals."""
    return root(sum((value * value for value in vector), Fraction(0)))


def root(square: Fraction) -> Ball:
    """The square root of a rational."""
    return Ball.of(square).apply("sqrt")


def longest(rows: RationalMatrix) -> Ball:
    """The largest Euclidean norm of a row."""
    numerators, denominator = common_denominator(rows)
    return root(Fraction(max((sum(v * v for v in row) for row in numerators), default=0), denominator**2))


def diameter(rows: RationalMatrix, with_zero: bool = False) -> Ball:
    """The largest Euclidean distance between two rows, or between a row and 0 where 0 is among the points."""
    products, denominator = common_denominator(rows * rows.transpose())
    own = [row[index] for index, row in enumerate(products)]
    squares = [own[i] + own[j] - 2 * products[i][j] for i in range(len(own)) for j in range(i)]
    return root(Fraction(max(squares + (own if with_zero else []), default=0), denominator))


def frobenius(matrix: RationalMatrix) -> Ball:
    """The root of the sum of all squared entries: an upper bound of the operator norm, exact for rank one."""
    numerators, denominator = common_denominator(matrix)
    return root(Fraction(sum(value * value for row in numerators for value in row), denominator**2))


def operator_norm(matrix: RationalMatrix) -> Ball:
    """A proven upper bound of the largest singular value, about 1e-14 above it (relative).

    Let U, s, V be *any* matrices, for us a float singular value decomposition of matrix / size, and R = matrix / size
    - U diag(s) V. Then ||matrix|| <= size (||U|| max|s| ||V|| + ||R||), ||U||^2 = ||U^T U|| <= 1 + ||U^T U - 1||_F,
    the same for V, and ||R|| <= ||R||_F. All of these are computed in rationals, so a bad decomposition costs
    tightness, never truth. The Frobenius norm is taken where it is smaller.
    """
    numerators, denominator = common_denominator(matrix)
    size = max((abs(value) for row in numerators for value in row), default=0)
    if size == 0:
        return Ball.of(0)
    total = frobenius(matrix)
    floats = np.array([[value / size for value in row] for row in numerators])
    try:
        left, stretch, right = (_few_bits(factor) for factor in np.linalg.svd(floats, full_matrices=False))
    except np.linalg.LinAlgError:
        return total
    u, v = rational_matrix(left), rational_matrix(right)
    rest = scaled(matrix, Fraction(denominator, size)) - u * rational_matrix(np.diag(stretch)) * v
    one = rational_matrix(np.eye(len(stretch)))
    turned = (1 + frobenius(u.transpose() * u - one)) * (1 + frobenius(v * v.transpose() - one))
    bound = turned.apply("sqrt") * Fraction(float(np.abs(stretch).max())) + frobenius(rest)
    return least(bound * Fraction(size, denominator), total)


def _few_bits(factor: np.ndarray) -> np.ndarray:
    """Multiples of 2^-60, so that no tiny entry makes the exact products long."""
    return np.asarray(np.round(factor * 2.0**60) / 2.0**60)
