"""What values alone tell: the one small automaton, Parity and flip-flops inside automata, rows of the tasks' machines."""

import itertools

import pytest

import lengthwise as lw
from lengthwise.crasp.automata import Automaton, automaton, minimal
from lengthwise.crasp.fragment import fragment
from lengthwise.crasp.generators import copy_task, majority_task, sort_task
from lengthwise.crasp.regular import decide
from lengthwise.verdict.communication import communication
from lengthwise.verdict.evidence import Known, rows_of
from lengthwise.verdict.growth import growth_of
from lengthwise.verdict.guess import Guess, fits_by_chance, guess
from lengthwise.verdict.obstacles import obstacle
from lengthwise.verdict.task_machines import Addition, CopyRepeat
from random_programs import random_program
from regular_oracles import SUITE, random_automaton, suite_automaton


def values_of(machine, longest):
    symbols = range(len(machine.alphabet))
    words = (word for size in range(longest + 1) for word in itertools.product(symbols, repeat=size))
    return {word: machine.accepts([machine.alphabet[s] for s in word]) for word in words}


@pytest.mark.parametrize("seed", range(40))
def test_an_automaton_is_found_from_words_up_to_twice_its_states(seed):
    machine = minimal(random_automaton(seed, (2, 5)))
    enough = max(0, 2 * machine.states - 2)
    for longest in range(enough, min(enough + 3, 11)):
        found = guess(machine.alphabet, values_of(machine, longest), longest)
        assert found is None or found.automaton == machine
    if enough:
        found = guess(machine.alphabet, values_of(machine, enough - 1), enough - 1)
        assert found is None or found.automaton.states < machine.states  # as many states are not singled out yet
    found = guess(machine.alphabet, values_of(machine, 10), 10)
    assert found is not None
    assert found.automaton == machine


def test_fewer_words_do_not_single_out_an_automaton():
    """The words of length 3 need 5 states; up to length 7 six states may still differ, so nothing is said."""
    machine = automaton("aaa")
    assert machine.states == 5
    assert guess(("a",), values_of(machine, 7), 7) is None
    assert guess(("a",), values_of(machine, 8), 8).automaton == machine


def test_the_chance_that_a_coin_agrees_with_a_small_automaton():
    """All automata of at most two states written down: 26 languages over ab, 10 over a (at most 66 and 18 are allowed for)."""
    for symbols, allowed in (("ab", 66), ("a", 18)):
        rows = list(itertools.product(range(2), repeat=len(symbols)))
        machines = (
            minimal(Automaton(tuple(symbols), table, 0, frozenset(ends)))
            for table in itertools.product(rows, repeat=2)
            for ends in ((), (0,), (1,), (0, 1))
        )
        languages = set(machines)
        assert len(languages) <= allowed
        two = next(one for one in languages if one.states == 2)
        few = next(words for words in itertools.count() if not fits_by_chance(Guess(two, 0), words))
        assert 2 ** (few - 1) < 100 * allowed <= 2**few


def test_majority_has_no_small_automaton():
    words = [word for size in range(13) for word in itertools.product(range(2), repeat=size)]
    assert guess(("0", "1"), {word: sum(word) * 2 > len(word) for word in words}, 12) is None


def leads(machine, word, state):
    return machine.after(machine.indices(word) and [machine.alphabet[i] for i in machine.indices(word)], state)


@pytest.mark.parametrize("seed", range(60))
def test_an_obstacle_is_what_it_says_and_puts_the_language_outside(seed):
    machine = minimal(random_automaton(seed))
    found = obstacle(machine)
    if found is None:
        return
    states = range(machine.states)
    assert len({len(machine.indices(word)) for word in found.words}) == 1
    still = {p for p in states if leads(machine, found.words[0], p) == p}
    if found.kind == "counting":
        turn = {p: leads(machine, found.words[1], p) for p in still}
        starts = [p for p in still if circle(turn, p) == found.modulus]
        assert starts
    else:
        first, second = ({p: leads(machine, word, p) for p in still} for word in found.words[1:])
        assert any(first[p] == first[q] == p and second[p] == second[q] == q for p in still for q in still if p != q)
    assert decide(machine).member is False


def circle(turn, start):
    here, length = turn[start], 1
    while here != start and here in turn and length < 10:
        here, length = turn[here], length + 1
    return length if here == start else 0


def test_the_suite_has_obstacles_exactly_where_it_is_outside():
    for name, (_, _, _, inside) in SUITE.items():
        assert (obstacle(suite_automaton(name)) is None) is inside


def test_obstacles_by_name():
    assert str(obstacle(automaton("b*(ab*ab*)*"))) == "it contains Parity: a counts, b does not"
    assert "modulo 3" in str(obstacle(automaton("(b*ab*ab*a)*b*")))
    assert "which came last" in str(obstacle(automaton("[012]*02*")))
    assert obstacle(automaton("(aa)*")) is None  # counting, but nothing of the same length stays


def spelt(machine, text):
    state = machine.start()
    for token in text:
        state = machine.step(state, machine.alphabet.index(token))
    return machine.output(state)


def test_the_machines_say_what_comes_next():
    for word in ("", "a", "ab", "abb", "babba"):
        whole = f"{word}S{word}E"
        for cut in range(len(word) + 1, len(whole)):
            assert spelt(CopyRepeat(), whole[:cut]) == whole[cut]
    assert spelt(CopyRepeat(), "abSb") == spelt(CopyRepeat(), "aSS") == "?"
    for one, two in ((0, 0), (5, 3), (6, 10), (1, 7)):
        whole = f"{one:b}+{two:b}={one + two:b}E"
        for cut in range(whole.index("=") + 1, len(whole)):
            assert spelt(Addition(), whole[:cut]) == whole[cut]
    assert spelt(Addition(), "1+1=0") == spelt(Addition(), "+1") == spelt(Addition(), "1=") == "?"


@pytest.mark.parametrize(
    ("machine", "firsts", "rows"), [(CopyRepeat(), "ab", lambda n: 2**n), (Addition(), "01", None)]
)
def test_rows_by_writing_the_matrix(machine, firsts, rows):
    """First parts of n symbols that ask for different tokens after some second part: as many as the verdict says."""
    for n in (2, 3, 4, 5):
        words = ["".join(word) for word in itertools.product(firsts, repeat=n)]
        if rows is None:
            words = [f"{word}+" for word in words if word[0] == "1"]
            ends = [
                f"1={'' if size == 0 else int(word[:-1], 2) + 1:b}"[: 2 + size] if size else "1="
                for word in words
                for size in range(n + 1)
            ]
            wanted = 2 ** (n - 1)
        else:
            ends = [f"S{word[:size]}" for word in words for size in range(n)]
            wanted = rows(n)
        matrix = {tuple(spelt(machine, word + end) for end in sorted(set(ends))) for word in words}
        assert len(matrix) == wanted


def test_rows_of_values():
    """Counted once more as a set of rows; and words of odd length alone, which halves of equal length never see."""
    marked = {
        word: len(word) % 2 == 1 and word[len(word) // 2] == 2 and word[: len(word) // 2] == word[len(word) // 2 + 1 :]
        for size in range(9)
        for word in itertools.product(range(3), repeat=size)
    }
    known = Known(("a", "b", "#"), marked, 8)
    assert rows_of(known) == [
        len(
            {
                tuple(marked[x + y] for size in range(n + 1) for y in itertools.product(range(3), repeat=size))
                for x in xs
            }
        )
        for n in range(1, 5)
        for xs in [list(itertools.product(range(3), repeat=n))]
    ]
    assert growth_of(rows_of(known)).verdict != "constant"
    parity = {word: sum(word) % 2 == 0 for size in range(11) for word in itertools.product(range(2), repeat=size)}
    assert rows_of(Known(("0", "1"), parity, 10)) == [2] * 5
    assert rows_of(Known(("0", "1"), {(): True}, 0)) == []


def test_communication_of_the_tasks_is_linear():
    assert communication(CopyRepeat(), 10).growth.verdict == "linear"
    assert communication(Addition(), 10).growth.verdict == "linear"


def test_schemes_of_the_tasks_are_in_the_class_for_larger_alphabets():
    letters = [f"n{number}" for number in range(14)]
    for scheme, kind in ((majority_task, "plain"), (sort_task, "plain"), (copy_task, "local")):
        assert fragment(scheme(letters)).kind == kind


def test_plain_programs_do_not_tell_residues():
    """docs/predict.md: after w 011 and w 101 they say the same, and interleaved majority does not."""
    third = "1101011101" * 7
    block = "".join(first + second + last for first, second, last in zip("01" * 35, "10" * 35, third, strict=True))
    words = [block * 12 + end for end in ("011", "101")]
    for seed in range(60):
        program = random_program(seed, symbols="01", periodic=False, local=False)
        one, two = lw.crasp.run(program, words).accepts.tolist()
        assert one == two
    task = lw.crasp.library()["binary_majority_interleave3"]
    outputs = lw.crasp.run(task, [word + "S" for word in words]).values["out_0"]
    assert [bool(value) for value in outputs] == [True, False]
