"""Star-free, dot-depth one and the stable part, against the definitions and known languages."""

import itertools

import pytest

from lengthwise.crasp.automata import automaton, minimal
from lengthwise.crasp.semigroup import dot_depth_one, letters, power, product, semigroup, stable_part, star_free
from regular_oracles import SUITE, all_words, bounded_depth, random_automaton, suite_automaton


def action(machine, word):
    return tuple(walked(machine, state, word) for state in range(machine.states))


def walked(machine, state, word):
    for symbol in word:
        state = machine.table[state][symbol]
    return state


@pytest.mark.parametrize("seed", range(30))
def test_the_semigroup_is_what_words_do(seed):
    machine = minimal(random_automaton(seed, (2, 3)))
    found = semigroup(machine)
    assert set(found.elements) == {action(machine, w) for w in all_words(range(2), 9) if w}
    for element, word in found.words.items():
        assert action(machine, word) == element
        assert all(action(machine, shorter) != element for shorter in all_words(range(2), len(word) - 1) if shorter)


@pytest.mark.parametrize("seed", range(40))
def test_star_free_means_that_no_word_turns_states_around(seed):
    """Against the definition on states: no word w and state q with q w^n = q for some n > 1 but q w != q."""
    machine = minimal(random_automaton(seed, (2, 4)))
    found = semigroup(machine)
    turning = any(
        element[q] != q and q in orbit(element, element[q]) for element in found.elements for q in range(machine.states)
    )
    assert star_free(machine) == (not turning)


def orbit(element, state):
    seen = []
    while state not in seen:
        seen.append(state)
        state = element[state]
    return seen


def knast(machine):
    """The identity as it is printed, over all six elements."""
    elements, ids = semigroup(machine).elements, semigroup(machine).idempotents

    def times(*several):
        result = several[0]
        for one in several[1:]:
            result = product(result, one)
        return result

    for e, f in itertools.product(ids, repeat=2):
        for x, y, z, t in itertools.product(elements, repeat=4):
            left, right = power(times(e, x, f, y)), power(times(z, f, t, e))
            if times(left, e, x, f, t, e, right) != times(left, e, right):
                return False
    return True


@pytest.mark.parametrize("seed", range(40))
def test_dot_depth_one_is_the_identity_as_printed(seed):
    machine = minimal(random_automaton(seed, (2, 3)))
    if len(semigroup(machine).elements) <= 9:
        assert dot_depth_one(machine) == knast(machine)


KNOWN = {  # published: D_n has dot-depth n, the last symbol that is not neutral has 2, these others have 1
    "1*": True,
    "(10)*": True,
    "(1|01|001)*(0|00)?": True,
    "0*1*0*1*": True,
    "aa*bb*cc*dd*ee*": True,
    "[ab]*d[bc]*": True,
    "(a|b)*ab(a|b)*": True,
    "[012]*02*": False,
    bounded_depth(2): False,
    bounded_depth(3): False,
    "(aa)*": False,
}


@pytest.mark.parametrize("language", KNOWN)
def test_known_dot_depths(language):
    assert dot_depth_one(automaton(language)) is KNOWN[language]


@pytest.mark.parametrize("name", SUITE)
def test_the_suite_without_lengths_and_counts_is_star_free(name):
    counting = {"tomita3", "tomita5", "tomita6", "(aa)*", "(aaaa)*", "(abab)*", "parity"}
    assert star_free(suite_automaton(name)) is (name not in counting)


def test_beyond_the_limit_nothing_is_guessed():
    machine = automaton("(a|b)*a(a|b){4}")
    assert semigroup(machine, most=10) is None
    assert star_free(machine, most=10) is None
    assert dot_depth_one(machine, most=10) is None
    assert dot_depth_one(machine, products=10) is None
    assert stable_part(machine, most=2) is None


@pytest.mark.parametrize("seed", range(60))
def test_the_stable_part_by_lists_of_actions(seed):
    machine = minimal(random_automaton(seed, (2, 4)))
    length, part = stable_part(machine)
    layer, layers = set(letters(machine)), []
    for _ in range(2 * length):
        layers.append(layer)
        layer = {product(x, a) for x in layer for a in letters(machine)}
    stable = [s for s in range(1, length + 1) if layers[s - 1] == layers[2 * s - 1]]
    assert stable[0] == length
    assert set(part.elements) == layers[length - 1]
    assert all(len(word) % length == 0 and action(machine, word) == x for x, word in part.words.items())
    assert {product(x, y) for x in part.elements for y in part.elements} == set(part.elements)
