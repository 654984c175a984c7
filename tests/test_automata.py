"""Automata against Brzozowski's derivatives, naive refinement and brute force over short words."""

import itertools
import json
import random

import pytest

from lengthwise.crasp.automata import Automaton, automaton, minimal
from lengthwise.crasp.automaton_file import read_automaton
from lengthwise.crasp.languages import (
    combined,
    complement,
    components,
    difference,
    equivalent,
    live_states,
    next_symbols,
    over,
    shortest_words,
    words,
)
from lengthwise.errors import WrongInput
from regular_oracles import (
    SUITE,
    TOMITA3,
    all_words,
    bounded_depth,
    classes,
    derivative_automaton,
    random_automaton,
    random_tree,
    suite_automaton,
    text,
    tomita3,
)


def test_expressions_give_the_automaton_of_their_derivatives():
    rng = random.Random(1)
    compared = 0
    for _ in range(300):
        tree = random_tree(rng, "ab", rng.randint(1, 12))
        second = derivative_automaton(tree, "ab")
        if second is None:
            continue
        first = automaton(text(tree), "ab")
        assert first == minimal(second), text(tree)
        assert first.states == classes(second), text(tree)
        compared += 1
    assert compared > 250


@pytest.mark.parametrize("seed", range(60))
def test_minimal_automata_have_the_fewest_states_and_one_numbering(seed):
    machine = random_automaton(seed, states=(1, 12), symbols="abc"[: 1 + seed % 3])
    small = minimal(machine)
    assert small.states == classes(machine)
    assert all(small.accepts(word) == machine.accepts(word) for word in all_words(machine.alphabet, 6))
    order = list(range(machine.states))
    random.Random(seed).shuffle(order)
    renamed = [()] * machine.states
    for state, row in enumerate(machine.table):
        renamed[order[state]] = tuple(order[target] for target in row)
    other = Automaton(
        machine.alphabet, tuple(renamed), order[machine.start], frozenset(map(order.__getitem__, machine.accepting))
    )
    assert minimal(other) == small
    assert minimal(small) == small


def test_the_definition_of_tomita_3():
    assert all(TOMITA3.accepts(word) == tomita3(word) for word in all_words("01", 10))


@pytest.mark.parametrize("seed", range(40))
def test_products_and_complements_on_all_short_words(seed):
    first, second = random_automaton(seed), random_automaton(seed + 1000)
    both = combined(first, second, lambda a, b: a and b)
    either = combined(first, second, lambda a, b: a or b)
    other = complement(first)
    for word in all_words("ab", 7):
        a, b = first.accepts(word), second.accepts(word)
        assert (both.accepts(word), either.accepts(word), other.accepts(word)) == (a and b, a or b, not a)


@pytest.mark.parametrize("seed", range(60))
def test_the_first_difference_is_a_shortest_one(seed):
    first, second = random_automaton(seed, (2, 6)), random_automaton(seed + 500, (2, 6))
    found = difference(first, second)
    brute = next((w for w in all_words("ab", 10) if first.accepts(w) != second.accepts(w)), None)
    assert (found is None) == (brute is None) == equivalent(first, second)
    if found is not None:
        assert len(found) == len(brute)
        assert first.accepts(found) != second.accepts(found)
        assert len(found) <= first.states + second.states - 2


@pytest.mark.parametrize(("small", "large"), [(2, 2), (3, 3), (4, 6), (5, 9), (7, 7), (10, 16)])
def test_the_longest_first_difference_there_is(small, large):
    """The tight family of one letter: {a^(n-2)} with n states, against a^i with i = n-2 modulo m."""
    lone = Automaton(("a",), tuple((min(i + 1, small - 1),) for i in range(small)), 0, frozenset([small - 2]))
    wheel = Automaton(("a",), tuple(((i + 1) % large,) for i in range(large)), 0, frozenset([(small - 2) % large]))
    assert minimal(lone).states == small
    assert minimal(wheel).states == large
    assert len(difference(lone, wheel)) == small + large - 2


@pytest.mark.parametrize("name", SUITE)
def test_what_may_come_next_by_brute_force(name):
    machine = suite_automaton(name)
    if machine.states > 7:
        return  # D_12 needs words too long for this
    known = next_symbols(machine)
    for state, row in enumerate(machine.table):
        completions = [w for w in all_words(range(len(row)), 5) if walked(machine, state, w) in machine.accepting]
        assert known[state][0] == {machine.alphabet[w[0]] for w in completions if w}
        assert known[state][1] == (state in machine.accepting)
        assert (state in live_states(machine)) == bool(completions)


def walked(machine, state, word):
    for symbol in word:
        state = machine.table[state][symbol]
    return state


@pytest.mark.parametrize(
    ("language", "alphabet", "count"),
    [
        ("1*", "01", 8),
        ("(10)*", "01", 8),
        ("(1|01|001)*(0|00)?", "01", 176),
        ("0*1*0*1*", "01", 162),
        (bounded_depth(2), "ab", 30),
        (bounded_depth(3), "ab", 54),
        (bounded_depth(4), "ab", 67),
    ],
)
def test_live_prefixes_up_to_length_7(language, alphabet, count):
    """The numbers of the facts file, counted there with programs."""
    machine = automaton(language, alphabet)
    live = live_states(machine)
    assert sum(machine.after(word) in live for word in all_words(alphabet, 7)) == count


@pytest.mark.parametrize("seed", range(20))
def test_words_in_order(seed):
    machine = random_automaton(seed)
    assert list(words(machine, 6)) == [word for word in all_words("ab", 6) if machine.accepts(word)]
    for state, word in enumerate(shortest_words(minimal(machine))):
        small = minimal(machine)
        assert small.after([small.alphabet[symbol] for symbol in word]) == state
        assert all(small.after(shorter) != state for shorter in all_words("ab", len(word) - 1))


def test_components_are_the_classes_of_mutual_reachability_in_order():
    rng = random.Random(3)
    for _ in range(200):
        count = rng.randint(1, 9)
        graph = [sorted(rng.sample(range(count), rng.randint(0, min(2, count)))) for _ in range(count)]
        reach = [[i == j or j in graph[i] for j in range(count)] for i in range(count)]
        for k, i, j in itertools.product(range(count), repeat=3):
            reach[i][j] = reach[i][j] or (reach[i][k] and reach[k][j])
        found = components(graph)
        expected = {frozenset(j for j in range(count) if reach[i][j] and reach[j][i]) for i in range(count)}
        assert {frozenset(part) for part in found} == expected
        place = {state: index for index, part in enumerate(found) for state in part}
        assert all(place[i] <= place[j] for i in range(count) for j in graph[i])
    deep = [[i + 1] for i in range(50_000)] + [[0]]
    assert len(components(deep)) == 1


def test_words_that_are_none_and_alphabets_that_differ():
    machine = automaton("(ab)*")
    with pytest.raises(WrongInput, match=r"position 2.*nearest"):
        machine.accepts("ax")
    with pytest.raises(WrongInput, match="position 1"):
        machine.accepts([3])
    assert over(machine, ("b", "a")).accepts("ab")
    with pytest.raises(WrongInput, match="over one alphabet"):
        difference(machine, automaton("(ac)*"))


GOOD = {"alphabet": ["a", "b"], "start": 0, "accepting": [0], "table": [[1, 0], [0, 2], [2, 2]]}


def test_an_automaton_from_a_file():
    assert minimal(read_automaton(json.dumps(GOOD).encode(), "f")) == automaton("(aa|b)*")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"table": []}, "at least one state"),
        ({"table": [[1, 0], [0]]}, "row 1"),
        ({"table": [[1, 0], [0, 2], [2, 3]]}, "from 0 to 2"),
        ({"table": [[1, 0], [0, 2], [2, True]]}, "from 0 to 2"),
        ({"table": [[1, 0], [0, 2], 7]}, "a list"),
        ({"start": 3}, "start"),
        ({"start": "a"}, "start"),
        ({"accepting": [9]}, "accepting"),
        ({"accepting": [[]]}, "accepting"),
        ({"alphabet": ["a", "a"]}, "every symbol once"),
        ({"more": 1}, "four"),
    ],
)
def test_wrong_automaton_files(change, said):
    with pytest.raises(WrongInput, match=said) as caught:
        read_automaton(json.dumps(GOOD | change).encode(), "machine.json")
    assert caught.value.where.startswith("machine.json")


def test_a_file_that_is_no_json():
    for text_ in (b"{", b"\xff\xfe", b"[" * 100_000, b"[]", b"null"):
        with pytest.raises(WrongInput, match=r"machine\.json"):
            read_automaton(text_, "machine.json")
