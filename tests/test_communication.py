"""Communication: the tables of the facts, cut by cut against matrices written out, and how fast rows grow."""

import itertools
import math
import sys
from fractions import Fraction

import pytest

from crasp_definition import value
from lengthwise.crasp.automata import automaton
from lengthwise.crasp.library import library
from lengthwise.crasp.parse import parse
from lengthwise.errors import WrongInput
from lengthwise.verdict.communication import (
    communication,
    fooling_set,
    in_basis,
    merge,
    oracle_communication,
    reachable,
)
from lengthwise.verdict.machine import AutomatonMachine, OracleMachine, ProgramMachine
from random_programs import random_program

PROGRAMS = library()


def program(name):
    return PROGRAMS[name]


# --- machines are the functions they stand for


@pytest.mark.parametrize("seed", range(60))
def test_the_machine_of_a_program_is_the_program(seed):
    made = random_program(seed, symbols="ab", depth=3)
    machine = ProgramMachine(made, everything=True)
    shown = [definition.body for definition in made.definitions if definition.kind == "output"]
    for length in range(6):
        for word in itertools.product(range(2), repeat=length):
            state = machine.start()
            for symbol in word:
                state = machine.step(state, symbol)
            spelt = ["ab"[symbol] for symbol in word]
            wanted = [value(made, body, spelt, length) for body in (made.accept, *shown)]
            assert list(machine.output(state)) == [bool(one) for one in wanted]


def test_states_are_merged():
    for name, most in (("dyck1", 900), ("tomita4", 30), ("D_12", 200), ("majority", 70)):
        layers = reachable(ProgramMachine(program(name)), 30)
        assert max(map(len, layers)) <= most, name


# --- the table of the facts: rows / rank / rank modulo 2 / fooling set, cut in the middle

TABLE = {
    "majority": [(n + 1, n, n, n) for n in range(1, 10)],
    "dyck1": [(n // 2 + 2, n // 2 + 1, n // 2 + 1, n // 2 + 1) for n in range(1, 10)],
    "D_2": [(2, 1, 1, 1) if n % 2 else (3, 2, 2, 2) for n in range(1, 10)],
    "tomita4": [(1, 1, 1, 1), (3, 3, 3, 3)] + [(4, 3, 3, 3)] * 7,
    "abab_star": [(1, 0, 0, 0) if n % 2 else (2, 1, 1, 1) for n in range(1, 10)],
    "anbn": [(2, 1, 1, 1)] * 9,
    "anbncn": [(1, 0, 0, 0), (1, 0, 0, 0), (2, 1, 1, 1), (1, 0, 0, 0), (1, 0, 0, 0), (2, 1, 1, 1)],
}
REGULAR = {
    "parity": ("b*(ab*ab*)*", "ab", [(2, 2, 2, 2)] * 9),
    "tomita5": ("((00|11)|(01|10)(00|11)*(01|10))*", "01", [(2, 2, 2, 2)] * 9),
    "flip-flop": ("(0|1|2)*02*", "012", [(2, 2, 2, 2)] * 6),
}


def quadruples(found):
    return [(row.rows, row.rank, row.rank_mod_2, row.fooling) for row in found.rows]


@pytest.mark.parametrize("name", TABLE)
def test_the_table_of_programs(name):
    wanted = TABLE[name]
    assert quadruples(communication(ProgramMachine(program(name)), 2 * len(wanted))) == wanted


@pytest.mark.parametrize("name", REGULAR)
def test_the_table_of_regular_languages(name):
    expression, alphabet, wanted = REGULAR[name]
    machine = AutomatonMachine(automaton(expression, tuple(alphabet)))
    assert quadruples(communication(machine, 2 * len(wanted))) == wanted


def test_equality_and_palindromes():
    for function in (lambda w: w[: len(w) // 2] == w[len(w) // 2 :], lambda w: w == w[::-1]):
        found = oracle_communication("ab", function, 12)
        assert quadruples(found) == [(2**n,) * 4 for n in range(1, 7)]
        assert found.growth.verdict == "linear"
        assert found.growth.linear.slope == pytest.approx(1)


# --- against the matrix written out


def plain_matrix(machine, length, cut):
    def run(word):
        state = machine.start()
        for symbol in word:
            state = machine.step(state, symbol)
        return machine.output(state)

    letters = range(len(machine.alphabet))
    return [
        [run(first + second) for second in itertools.product(letters, repeat=length - cut)]
        for first in itertools.product(letters, repeat=cut)
    ]


def rational_rank(rows):
    rows, found = [[Fraction(int(entry)) for entry in row] for row in rows], 0
    for column in range(len(rows[0])):
        pivot = next((r for r in range(found, len(rows)) if rows[r][column]), None)
        if pivot is None:
            continue
        rows[found], rows[pivot] = rows[pivot], rows[found]
        for r in range(found + 1, len(rows)):
            factor = rows[r][column] / rows[found][column]
            rows[r] = [a - factor * b for a, b in zip(rows[r], rows[found], strict=True)]
        found += 1
    return found


def rank_mod_2(rows):
    left, found = [int("".join(str(int(entry)) for entry in row), 2) for row in rows], 0
    while left:
        pivot = left.pop()
        if pivot:
            found += 1
            low = pivot & -pivot
            left = [row ^ pivot if row & low else row for row in left]
    return found


@pytest.mark.parametrize("seed", range(25))
def test_rows_and_ranks_at_every_cut_against_the_matrix(seed):
    machine = ProgramMachine(random_program(seed + 300, symbols="ab", depth=3))
    length = 6
    found = communication(machine, length)
    merged = merge(machine, reachable(machine, length))
    for cut in range(1, length):
        rows = plain_matrix(machine, length, cut)
        assert len(set(merged[cut].values())) == len(set(map(tuple, rows)))
    rows = plain_matrix(machine, length, length // 2)
    last = found.rows[-1]
    assert (last.rank, last.rank_mod_2) == (rational_rank(rows), rank_mod_2(rows))
    assert found.worst[-1].rows == max(len(set(map(tuple, plain_matrix(machine, length, c)))) for c in range(1, length))
    ones = sum(map(sum, rows))
    assert (last.fooling > 0) == (ones > 0)
    assert last.fooling <= last.rank**2 + 1


def test_a_fooling_set_fools():
    assert fooling_set([(1, 0, 0), (0, 1, 0), (0, 0, 1)]) == 3
    assert fooling_set([(1, 1), (1, 1)]) == 1
    assert fooling_set([(1, 0), (1, 1)]) == 2
    assert fooling_set([(0, 0)]) == 0


def test_coordinates_in_a_basis():
    vectors = {0: (1, 2, 3), 1: (2, 4, 6), 2: (0, 1, 1), 3: (1, 3, 4)}
    found, size = in_basis(vectors, 2**61 - 1)
    assert size == 2
    assert [a + b for a, b in zip(found[0], found[2], strict=True)] == list(found[3])


# --- wrong functions


def test_functions_that_fail_are_named_with_the_word():
    def broken(word):
        if word == "ab":
            raise ValueError("no")
        return True

    with pytest.raises(WrongInput, match=r"word 'ab'.*ValueError: no"):
        oracle_communication("ab", broken, 4)
    for nothing in (None, math.nan):
        with pytest.raises(WrongInput, match=str(nothing)):
            oracle_communication("ab", lambda word, nothing=nothing: nothing, 4)
    with pytest.raises(WrongInput, match="SystemExit"):
        oracle_communication("ab", lambda word: sys.exit(0), 4)
    with pytest.raises(WrongInput, match="TypeError"):
        oracle_communication("ab", lambda word: [], 4)
    with pytest.raises(WrongInput, match="at least 2"):
        oracle_communication("ab", bool, 1)


def test_a_table_that_grows_too_large_ends_where_it_is(monkeypatch):
    monkeypatch.setattr("lengthwise.verdict.communication.MOST_STATES", 100)
    found = oracle_communication("ab", lambda word: word == word[::-1], 12)
    assert found.rows[-1].length == 6
    assert "more than 100 states" in found.stopped
    monkeypatch.setattr("lengthwise.verdict.communication.MOST_STATES", 2)
    with pytest.raises(WrongInput, match="few states"):
        communication(OracleMachine(("a", "b"), bool), 4)


def test_a_program_of_a_long_window_is_not_said_to_be_outside():
    """Each symbol is the one six places before: in the class, and rows quadruple as long as halves fit into the window."""
    text = "accept count('a' and count[back 6]('b') == 1) + count('b' and count[back 6]('a') == 1) == 0"
    sixth = ProgramMachine(parse(f"program p\nalphabet 'a' 'b'\n{text}\n"))
    found = communication(sixth, 12)
    assert [row.rows for row in found.rows] == [1, 1, 1, 4, 16, 64]
    assert "growth linear as far as counted, and if it goes on so" in str(found)
    assert communication(sixth, 28).growth.verdict == "constant"


def test_the_sentence_and_the_fields():
    found = communication(ProgramMachine(program("majority")), 18, "majority")
    assert str(found) == (
        "majority: 10 different rows at length 18 cut in the middle, 4 bits; growth logarithmic as far as counted, which is "
        "no obstacle to a periodic, local limit transformer."
    )
    fields = found.fields()
    assert fields["growth"] == "logarithmic"
    assert fields["rank"][-1] == 9
    assert len(fields["rows"]) == len(fields["worst_cuts"]) == 9
    assert '"growth": "logarithmic"' in found.to_json()
