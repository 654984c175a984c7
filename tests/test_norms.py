"""Proven upper bounds of norms: never below the truth, and within 1e-13 of it."""

from fractions import Fraction

import numpy as np
import pytest

from lengthwise.exact import matrix_of, rational_matrix
from lengthwise.limit.norms import diameter, frobenius, longest, operator_norm

BOUND_SLACK = 1e-13


def exact_square_of_a_2_by_2(a, b, c, d):
    """The square of the norm of [[a, b], [c, d]] is (s + sqrt(s^2 - 4 det^2)) / 2, s the sum of squares."""
    s, det = a * a + b * b + c * c + d * d, a * d - b * c
    return s, s * s - 4 * det * det


def test_two_by_two_matrices_against_the_closed_form():
    rng = np.random.default_rng(0)
    for _ in range(200):
        entries = [Fraction(float(v)) for v in rng.normal(size=4) * 10.0 ** rng.integers(-200, 150)]
        s, under = exact_square_of_a_2_by_2(*entries)
        found = Fraction(operator_norm(matrix_of([entries[:2], entries[2:]])).upper())
        twice = 2 * found**2 - s  # found >= norm iff 2 found^2 - s >= sqrt(under)
        assert twice > 0
        assert twice**2 >= under
        below = 2 * (found * (1 - Fraction(BOUND_SLACK))) ** 2 - s
        assert below < 0 or below**2 < under


@pytest.mark.parametrize("shape", [(1, 1), (16, 16), (256, 16), (5, 40)])
def test_rank_one_orthogonal_and_diagonal(shape):
    rng = np.random.default_rng(1)
    u, v = rng.integers(-9, 10, size=shape[0]), rng.integers(-9, 10, size=shape[1])
    exact = Fraction(int(u @ u) * int(v @ v))
    found = Fraction(operator_norm(rational_matrix(np.outer(u, v) * 1.0)).upper())
    assert exact <= found**2 <= exact * (1 + Fraction(BOUND_SLACK))
    size = min(shape)
    diagonal = np.zeros(shape)
    diagonal[np.arange(size), np.arange(size)] = rng.permutation(np.arange(1.0, size + 1)) * (-1) ** np.arange(size)
    found = operator_norm(rational_matrix(diagonal)).upper()
    assert size <= found <= size * (1 + BOUND_SLACK)
    turn = np.array([[3, -4], [4, 3]]) / 8
    blocks = np.kron(np.eye(size), turn)
    assert 0.625 <= operator_norm(rational_matrix(blocks)).upper() <= 0.625 * (1 + BOUND_SLACK)


def test_a_bad_decomposition_costs_tightness_never_truth(monkeypatch):
    matrix = rational_matrix(np.diag([3.0, 1.0, 1.0]))
    svd = np.linalg.svd

    def wrong(array, full_matrices):
        u, s, v = svd(array, full_matrices=full_matrices)
        return u, s * 0.5, v * 1.1

    monkeypatch.setattr(np.linalg, "svd", wrong)
    assert 3 <= operator_norm(matrix).upper() <= frobenius(matrix).upper()

    def fails(array, full_matrices):
        raise np.linalg.LinAlgError

    monkeypatch.setattr(np.linalg, "svd", fails)
    assert operator_norm(matrix).upper() == frobenius(matrix).upper()


def test_zero_and_empty_matrices():
    assert operator_norm(rational_matrix(np.zeros((3, 2)))).upper() == 0
    assert operator_norm(rational_matrix(np.zeros((0, 2)))).upper() == 0


def test_longest_row_and_diameter():
    points = rational_matrix(np.array([[3.0, 4.0], [0.0, 1.0], [6.0, 8.0]]))
    assert longest(points).upper() == 10
    assert diameter(points).upper() ** 2 == pytest.approx(85)
    assert diameter(points, with_zero=True).upper() == 10
    assert diameter(rational_matrix(np.array([[5.0, 12.0]]))).upper() == 0
    assert diameter(rational_matrix(np.array([[5.0, 12.0]])), with_zero=True).upper() == 13
