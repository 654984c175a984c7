"""Conditions on counts: what they say of every small table, and what is no condition."""

import itertools
from fractions import Fraction

import pytest

from lengthwise.errors import WrongInput
from lengthwise.theory.where import parse_where

MEANT = {  # a text about tokens 0, 1, 2, and what it means
    "c0 + c1 >= 0.05 n": lambda c, n: 20 * (c[0] + c[1]) >= n,
    "c0<=c1": lambda c, n: c[0] <= c[1],
    "n >= 3": lambda c, n: n >= 3,
    "2 c0 - 3*c1 + 1 <= n - c2": lambda c, n: 2 * c[0] - 3 * c[1] + 1 <= n - c[2],
    "1/3 n <= c2 and c0 >= 1": lambda c, n: n <= 3 * c[2] and c[0] >= 1,
    "0.25 n <= c0 <= 1/2 n": lambda c, n: n <= 4 * c[0] <= 2 * n,
    "- c0 + 1.5 >= .5": lambda c, n: c[0] <= 1,
}


@pytest.mark.parametrize("text", MEANT)
def test_a_condition_means_what_it_says_on_every_small_table(text):
    found = parse_where(text, 3)
    told = set()
    for counts in itertools.product(range(6), repeat=3):
        holds = found.holds([[count] for count in counts], sum(counts))
        assert holds == MEANT[text](counts, sum(counts)), counts
        told.add(holds)
    assert told == {True, False}
    assert str(found) == text


def test_residues_are_told_apart():
    one, all_of_them = parse_where("c1@2 >= 2", 2, 3), parse_where("c1 >= 2", 2, 3)
    assert one.holds([[0, 0, 0], [0, 0, 2]], 2)
    assert not one.holds([[0, 0, 2], [2, 2, 1]], 7)
    assert all_of_them.holds([[0, 0, 2], [0, 1, 1]], 4)


def test_numbers_are_exact():
    found = parse_where("c0 >= 0.1 n", 1)
    assert found.rows[0].length == Fraction(-1, 10)
    n = 10**40
    assert found.holds([[n // 10]], n)
    assert not found.holds([[n // 10 - 1]], n)  # a float would not see the difference


def test_frequencies_alone():
    assert parse_where("c0 >= 0.1 n", 1).homogeneous
    assert not parse_where("c0 >= 1", 1).homogeneous


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("c0", "two sides"),
        ("c0 > 1", "two sides"),
        ("c0 == 1", "two sides"),
        ("", "two sides"),
        ("c0 >= 1 and", "two sides"),
        ("c0 >= ", "nothing on one side"),
        ("c0 + >= 1", "a term"),
        ("c0 c1 >= 1", "a term"),
        ("2 ** c0 >= 1", "a term"),
        ("x >= 1", "a term"),
        ("1e3 >= c0", "a term"),
        ("9" * 50 + " >= c0", "a term"),
        ("1/0 n >= c0", "divide"),
        ("c3 >= 1", "c0 to c2"),
        ("c0@1 >= 1", "residues 0 to 0"),
        ("c0 or c1 >= 1", "a term"),
        ("c0 or c1", "two sides"),
    ],
)
def test_what_is_no_condition_is_named(text, told):
    with pytest.raises(WrongInput, match=told) as caught:
        parse_where(text, 3)
    assert caught.value.where == "where"
