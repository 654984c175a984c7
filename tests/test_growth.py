"""How rows grow: the verdicts of the facts, functions with outputs, and the rule itself."""

import itertools
import math

import pytest

from lengthwise.crasp.library import library
from lengthwise.verdict.communication import communication, distinct_rows
from lengthwise.verdict.growth import growth_of, least_squares
from lengthwise.verdict.machine import ProgramMachine

PROGRAMS = library()


def test_verdicts_of_the_facts():
    verdicts = {"majority": "logarithmic", "D_2": "constant", "tomita4": "constant", "anbn": "constant"}
    for name, wanted in verdicts.items():
        assert communication(ProgramMachine(PROGRAMS[name]), 18).growth.verdict == wanted
    found = communication(ProgramMachine(PROGRAMS["majority"]), 18).growth
    assert found.logarithmic.slope == pytest.approx(0.84, abs=0.005)
    assert found.logarithmic.error == pytest.approx(0.011, abs=5e-4)
    assert (found.linear.slope, found.linear.error) == (pytest.approx(0.22, abs=0.005), pytest.approx(0.057, abs=5e-4))


def test_dyck1_is_decided_by_going_further():
    near = communication(ProgramMachine(PROGRAMS["dyck1"]), 18).growth
    assert near.verdict == "undecided"
    assert near.logarithmic.error == pytest.approx(0.074, abs=5e-4)
    far = communication(ProgramMachine(PROGRAMS["dyck1"]), 120)
    assert [row.rows for row in far.rows] == [n // 2 + 2 for n in range(1, 61)]
    assert far.growth.verdict == "logarithmic"
    assert (far.growth.logarithmic.error, far.growth.linear.error) == (
        pytest.approx(0.071, abs=5e-4),
        pytest.approx(0.244, abs=5e-4),
    )


class Follower:
    """The most frequent follower of a symbol: Alice holds a word over three letters, Bob one symbol; 0 for no winner."""

    alphabet = ("a", "b", "c")

    def start(self):
        return (None, (0,) * 9)

    def step(self, state, symbol):
        last, counts = state
        if last is None:
            return (symbol, counts)
        low = list(counts)
        low[3 * last + symbol] += 1
        rows = [low[3 * k : 3 * k + 3] for k in range(3)]
        return (symbol, tuple(itertools.chain(*rows)))

    def winners(self, state):
        rows = [state[1][3 * k : 3 * k + 3] for k in range(3)]
        return tuple(max(range(3), key=lambda s: (row[s], -s)) if any(row) else None for row in rows)


def test_most_frequent_follower_is_constant_in_the_end():
    machine = Follower()
    counts = []
    states = {machine.start()}
    for _ in range(14):
        states = {machine.step(state, symbol) for state in states for symbol in range(3)}
        counts.append(len({machine.winners(state) for state in states}))
    assert max(counts) <= 4**3
    assert growth_of(counts).verdict == "constant"
    assert growth_of(counts[:6]).verdict == "undecided"


OUTPUTS = {  # functions with longer outputs: distinct rows, and the verdict
    "copy": (lambda n: (words("ab", n), [""], lambda w, _: w), [2**n for n in range(1, 9)], "linear"),
    "sort over 2": (
        lambda n: (words("ab", n), words("ab", n), sorted_pair),
        [n + 1 for n in range(1, 7)],
        "logarithmic",
    ),
    "sort over 3": (
        lambda n: (words("abc", n), words("abc", n), sorted_pair),
        [math.comb(n + 2, 2) for n in range(1, 5)],
        None,
    ),
    "carry": (
        lambda n: (words("01", n), words("01", n), lambda u, v: int(u, 2) + int(v, 2) >= 2**n),
        [2**n for n in range(1, 7)],
        "linear",
    ),
    "last bit": (
        lambda n: (words("01", n), words("01", n), lambda u, v: (int(u, 2) + int(v, 2)) % 2),
        [2] * 6,
        "constant",
    ),
}


def words(letters, length):
    return ["".join(word) for word in itertools.product(letters, repeat=length)]


def sorted_pair(first, second):
    return "".join(sorted(first + second))


@pytest.mark.parametrize("name", OUTPUTS)
def test_functions_with_outputs(name):
    parts, wanted, verdict = OUTPUTS[name]
    counts = []
    for n in range(1, len(wanted) + 1):
        first, second, function = parts(n)
        counts.append(distinct_rows(function, first, second))
    assert counts == wanted
    if verdict is not None:
        assert growth_of(counts).verdict == verdict


def test_the_rule_notices_its_constants():
    """n^0.5 is neither; with too few points nothing is said."""
    assert growth_of([math.ceil(2 ** (n**0.5)) for n in range(1, 40)]).verdict == "undecided"
    assert growth_of([2, 4]).verdict == "undecided"
    assert growth_of([2**n for n in range(1, 8)]).verdict == "linear"
    assert growth_of([n**3 for n in range(1, 40)]).verdict == "logarithmic"
    fit = least_squares([(0, 1), (1, 3), (2, 5)])
    assert (fit.start, fit.slope, fit.error) == (pytest.approx(1), pytest.approx(2), pytest.approx(0, abs=1e-12))
