"""The normal form means what the tree means, and is as small as it says."""

import itertools
import operator

import pytest

import crasp_definition as definition
from lengthwise.crasp.operations import (
    AllOf,
    AnyOf,
    AtLeastZero,
    Constant,
    InResidues,
    Opposite,
    RecentTally,
    SymbolIs,
    Tally,
    inputs,
    operations,
)
from lengthwise.crasp.syntax import Count, CountName, Definition, If, Number, Phi, Program, Sym, Truth
from lengthwise.errors import WrongInput
from random_programs import random_program

A, B = Sym("a"), Sym("b")


def accepting(accept, *definitions):
    return Program("p", ("a", "b"), definitions, accept)


def evaluated(form, word):
    """Every operation at every position 0..n, in the order of the list: column by column, from the definition."""
    rows = []
    for operation in form.list:
        row = []
        for i in range(len(word) + 1):
            match operation:
                case SymbolIs(symbol):
                    row.append(i >= 1 and word[i - 1] == form.alphabet[symbol])
                case InResidues(period, residues):
                    row.append(i % period in residues)
                case Constant(value):
                    row.append(value)
                case Opposite(one):
                    row.append(not rows[one][i])
                case AllOf(several):
                    row.append(all(rows[one][i] for one in several))
                case AnyOf(several):
                    row.append(any(rows[one][i] for one in several))
                case Tally(one):
                    row.append(sum(rows[one][1 : i + 1]))
                case RecentTally(one, offsets):
                    row.append(sum(rows[one][i - s] for s in offsets if i - s >= 1))
                case AtLeastZero(terms, constant):
                    row.append(sum(k * rows[one][i] for k, one in terms) + constant >= 0)
        rows.append(row)
    return rows


def amount(form, cases, rows, i):
    (case,) = [case for case in cases if case.guard is None or rows[case.guard][i]]
    return sum(k * rows[one][i] for k, one in case.terms) + case.constant


@pytest.mark.parametrize("part", range(10))
def test_random_programs_mean_the_same_in_normal_form(part):
    """250 programs of all constructs: accept, every name, at every position of words up to length 4 and one of 12."""
    words = [w for n in range(4) for w in itertools.product("ab", repeat=n)] + [tuple("abbabaaabbba")]
    for seed in range(25 * part, 25 * part + 25):
        program = random_program(seed, quantities=True)
        form = operations(program)
        for word in words:
            rows = evaluated(form, word)
            for i in range(len(word) + 1):
                assert rows[form.accept][i] == definition.value(program, program.accept, word, i), (seed, word, i)
            for one in program.definitions:
                wanted = definition.value(program, one.body, word, len(word))
                if one.name in form.names:
                    assert rows[form.names[one.name]][-1] == wanted, (seed, word, one)
                else:
                    assert amount(form, form.quantities[one.name], rows, len(word)) == wanted, (seed, word, one)


def test_operations_are_in_order_each_once_and_in_their_simplest_form():
    for seed in range(120):
        form = operations(random_program(seed))
        assert len(set(form.list)) == len(form.list)
        for index, operation in enumerate(form.list):
            assert all(one < index for one in inputs(operation))
            match operation:
                case AllOf(several):
                    assert len(several) >= 2
                    assert list(several) == sorted(set(several))
                    assert not any(isinstance(form.list[one], (AllOf, Constant)) for one in several)
                case Opposite(one):
                    assert not isinstance(form.list[one], (Opposite, Constant, AtLeastZero))
                case AtLeastZero(terms, _):
                    assert terms
                    assert all(isinstance(form.list[one], (Tally, RecentTally)) for _, one in terms)
                case InResidues(period, residues):
                    assert 0 < len(residues) < period
                case Tally(one) | RecentTally(one, _):
                    assert form.list[one] != Constant(False)


@pytest.mark.parametrize(
    ("relation", "wanted"),
    [
        (operator.ge, [AtLeastZero(((1, 1), (-1, 3)), 0)]),
        (operator.gt, [AtLeastZero(((1, 1), (-1, 3)), -1)]),
        (operator.le, [AtLeastZero(((-1, 1), (1, 3)), 0)]),
        (operator.lt, [AtLeastZero(((-1, 1), (1, 3)), -1)]),
    ],
)
def test_comparisons_become_sums_at_least_zero(relation, wanted):
    form = operations(accepting(relation(Count(A), Count(B))))
    assert form.list == (SymbolIs(0), Tally(0), SymbolIs(1), Tally(2), *wanted)


def test_equal_expressions_are_one_operation():
    form = operations(
        accepting((Count(A) - Count(B) >= 2) & ~(Count(B) - Count(A) >= -1) & (2 * Count(A) > 2 * Count(B) + 3))
    )
    assert form.list[form.accept] == AtLeastZero(((1, 1), (-1, 3)), -2)


@pytest.mark.parametrize(
    ("accept", "wanted"),
    [
        (Count(A) >= 0, True),
        (Count(A) < 0, False),
        (Count(A, (0, 1)) <= 2, True),
        (Count(A, (0, 1)) >= 3, False),
        (Count(A) - Count(A) >= 0, True),
        (A & ~A, False),
        ((Count(A) >= Count(B)) | (Count(A) < Count(B)), True),
        (Phi(6, (0, 1, 2, 3, 4, 5)), True),
        (Phi(3, ()), False),
        (Count(Truth(False)).eq(0), True),
        (~~Truth(True), True),
    ],
)
def test_what_never_changes_is_a_constant(accept, wanted):
    form = operations(accepting(accept))
    assert form.list[form.accept] == Constant(wanted)


def test_a_count_of_what_always_holds_is_the_position():
    form = operations(accepting(Count(Truth(True)) >= 1))
    assert form.list == (Constant(True), Tally(0), AtLeastZero(((1, 1),), -1))


@pytest.mark.parametrize(
    ("period", "residues", "least"),
    [(4, (0, 2), (2, (0,))), (12, (1, 5, 9), (4, (1,))), (6, (0, 3), (3, (0,))), (6, (0, 1), (6, (0, 1)))]
    + [(10**40, (0, 10**40 // 2), (10**40 // 2, (0,)))],
)
def test_periods_are_least(period, residues, least):
    form = operations(accepting(Phi(period, residues)))
    assert form.list == (InResidues(*least),)


def test_a_chain_of_tests_costs_as_many_cases_as_it_has_ends():
    ladder = Number(0)
    for bound in range(60):
        ladder = If(Count(A) >= bound + 1, bound + 1, ladder)
    program = accepting(CountName("level") >= 3, Definition("let", "level", ladder))
    assert len(operations(program).quantities["level"]) == 61


def test_too_many_independent_cases_are_refused_politely():
    total = sum((If(Count(A, (k,)) >= 1, Count(B), Count(A)) for k in range(13)), Number(0))
    with pytest.raises(WrongInput, match="at most 4096 cases"):
        operations(accepting(total >= 2))
    assert operations(accepting(sum((If(A, Count(B), Count(A)) for _ in range(40)), Number(0)) >= 2)).accept is not None


def test_long_and_deep_expressions_are_walked_without_recursion():
    chain, deep = A, A
    for _ in range(5000):
        chain, deep = chain | B, ~(deep & B)
    assert operations(accepting(chain)).list == (SymbolIs(0), SymbolIs(1), AnyOf((0, 1)))
    assert len(operations(accepting(deep)).list) > 5000
    again = ~(deep.body.left & B)
    assert again == deep
    assert hash(again) == hash(deep)
