"""The exact length complexity of small classes against the tables, and against pairwise comparison."""

from itertools import combinations

import pytest

import lengthwise as lw
from helpers_lengths import program
from lengthwise.verdict import bounds
from lengthwise.verdict.classes import conjunction_class, inequalities, inequality_class
from lengthwise.verdict.compare import compare

ONE = {1: (3, 12, 17), 2: (5, 32, 53), 3: (7, 60, 137), 4: (11, 96, 257), 5: (15, 140, 503), 6: (19, 192, 715)}
LARGER = {7: (23, 252, 1203), 8: (27, 320, 1655)}
CONJUNCTION = {1: 3, 2: 10, 3: 24, 4: 48, 5: 80, 6: 120, 7: 168, 8: 224}
NO_CONSTANT = {1: 2, 2: 3, 3: 5, 4: 7, 5: 9, 6: 11, 7: 13, 8: 15}
SQUARE_CONSTANT = {1: 3, 2: 7, 3: 13, 4: 21, 5: 31, 6: 43}


def ordered(table, normal):
    """Small entries in the ordinary run, the others in the long one."""
    return [pytest.param(key, marks=() if key <= normal else pytest.mark.slow) for key in table]


@pytest.mark.parametrize("coefficient", ordered(ONE | LARGER, 4))
def test_one_inequality(coefficient):
    found = inequality_class(2, coefficient, coefficient)
    assert (found.length, found.bound, found.functions) == (ONE | LARGER)[coefficient]
    assert found.bound == 4 * coefficient * (coefficient + 1) + 4 * coefficient
    first, second = (_program(member) for member in found.pair)
    assert compare(first, second).length == found.length


def _program(member):
    a, b, c = member
    return program("ab", f"{a} * count('a') + {b} * count('b') + {c} >= 0")


@pytest.mark.parametrize("coefficient", ordered(NO_CONSTANT, 4))
def test_one_inequality_without_constant(coefficient):
    assert inequality_class(2, coefficient, 0).length == NO_CONSTANT[coefficient]


@pytest.mark.parametrize("coefficient", ordered(SQUARE_CONSTANT, 3))
def test_one_inequality_with_large_constants(coefficient):
    assert inequality_class(2, coefficient, coefficient**2).length == SQUARE_CONSTANT[coefficient]


@pytest.mark.parametrize("coefficient", ordered(CONJUNCTION, 4))
def test_two_inequalities_against_false(coefficient):
    longest, bound = conjunction_class(coefficient, coefficient)
    assert longest == CONJUNCTION[coefficient] <= bound


@pytest.mark.parametrize(("coefficient", "row"), [(1, (3, 26, 59)), (2, (5, 96, 373))])
def test_three_letters(coefficient, row):
    found = inequality_class(3, coefficient, coefficient)
    assert (found.length, found.bound, found.functions) == row


@pytest.mark.parametrize("coefficient", [1, 2, 3, 4])
def test_majority_needs_twice_the_coefficient(coefficient):
    """Against T ones >= (T-1) zeros + T majority is first wrong at T ones and T zeros."""
    assert inequality_class(2, coefficient, coefficient, target=(1, -1, -1)).target == 2 * coefficient


def test_the_class_is_as_long_as_its_longest_pair():
    members = {tuple(row) for row in inequalities(2, 1, 0).tolist()}
    found = [compare(_program(first), _program(second)) for first, second in combinations(sorted(members), 2)]
    assert max(one.length or 0 for one in found) == inequality_class(2, 1, 0).length


def test_half_the_bound_is_too_little():
    """Two inequalities against false need 4 T^2 - 4 T of 4 T^2 + 8 T."""
    longest, bound = conjunction_class(4, 4)
    assert bound // 2 <= longest <= bound == bounds.linear_class(2, 1, 4, 4)


def test_wrong_classes():
    with pytest.raises(lw.WrongInput):
        inequality_class(0, 1, 1)
    with pytest.raises(lw.WrongInput, match="at most"):
        inequality_class(6, 5, 5)
    with pytest.raises(lw.WrongInput, match="member of the class"):
        inequality_class(2, 1, 1, target=(3, -1, 0))
