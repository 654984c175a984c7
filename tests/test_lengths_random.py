"""Random pairs: search, integer programs and brute force give one answer; no disagreement is longer than its bound."""

import random
import re

import pytest

from helpers_lengths import brute_force, random_difference, random_linear, random_positive
from lengthwise.crasp.library import library
from lengthwise.verdict.compare import compare
from lengthwise.verdict.equality import search, search_pair
from lengthwise.verdict.flows import shortest_disagreement
from lengthwise.verdict.fragments import pair_fragment
from lengthwise.verdict.machine import ProgramMachine
from lengthwise.verdict.pair import constant, pair
from random_programs import random_program

BRUTE = 7
SEARCHED = 14


def _mutant(seed, found):
    """A program much like another, so that pairs are neither all equal nor all different at once."""
    from lengthwise.crasp.parse import parse

    rng = random.Random(f"mutant {seed}")
    head, _, body = str(found).rpartition("accept ")
    digits = [found.start() for found in re.finditer(r"(?<![{'])\d(?![},'])", body)]  # no residues, no symbols
    if not digits:
        return constant(found, True)
    place = rng.choice(digits)
    changed = body[:place] + str(int(body[place]) + 1) + body[place + 1 :]
    return parse(f"{head}accept {changed}")


def _pair(seed, draw):
    first = draw(seed)
    kind = seed % 3
    return first, (draw(seed + 10_000) if kind == 0 else _mutant(seed, first) if kind == 1 else constant(first, False))


def _three_ways(seed):
    first, second = _pair(seed, random_linear)
    both = pair(first, second)
    about = pair_fragment(both)
    found = search_pair(both, most_states=30_000, longest=SEARCHED)
    brute = brute_force(first, second, BRUTE)
    seen = None if found.word is None else len(found.word)
    assert brute == (seen if seen is not None and seen <= BRUTE else None)
    if about.fragment == "linear-top":
        solved = shortest_disagreement(about.guards)
        assert solved is not None
        if seen is not None:
            assert solved.length == seen
        elif found.equal:
            assert solved.length is None
        else:
            assert solved.length is None or solved.length > found.agrees
        if solved.length is not None:
            assert solved.length <= about.bound
            assert compare(first, second).length == solved.length
    return about.fragment


@pytest.mark.parametrize("seed", range(60))
def test_three_ways_give_one_answer(seed):
    _three_ways(seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(60, 300))
def test_three_ways_give_one_answer_further(seed):
    _three_ways(seed)


def test_most_random_pairs_need_integer_programs():
    found = [pair_fragment(pair(*_pair(seed, random_linear))).fragment for seed in range(60)]
    assert found.count("linear-top") >= 40


DRAWS = [random_linear, random_positive, random_difference]


def _within_the_bound(seed):
    first, second = _pair(seed, DRAWS[seed // 3 % 3])
    about = pair_fragment(pair(first, second))
    assert about.fragment != "rest" or seed // 3 % 3 == 2
    found = search_pair(pair(first, second), most_states=20_000, longest=60)
    brute = brute_force(first, second, BRUTE)
    if found.word is not None:
        assert about.bound is None or len(found.word) <= about.bound
        with_bound = search_pair(pair(first, second), 20_000, about.bound, about.highest)
        assert with_bound.word is not None
        assert len(with_bound.word) == len(found.word)
    assert brute == (None if found.word is None or len(found.word) > BRUTE else len(found.word))


@pytest.mark.parametrize("seed", range(100))
def test_no_disagreement_is_longer_than_its_bound(seed):
    _within_the_bound(seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 500))
def test_no_disagreement_is_longer_than_its_bound_further(seed):
    _within_the_bound(seed)


def test_random_pairs_cover_the_fragments():
    found = [pair_fragment(pair(*_pair(seed, DRAWS[seed // 3 % 3]))).fragment for seed in range(100)]
    assert {"positive", "linear-top", "one-difference"} <= set(found)


@pytest.mark.parametrize("seed", range(40))
def test_nested_programs_of_every_construct(seed):
    """The vectorised search, the search of machines and brute force agree, whatever the programs contain."""
    first, second = random_program(seed, shown=0), random_program(seed + 1000, shown=0)
    brute = brute_force(first, second, 6)
    found = search_pair(pair(first, second), most_states=20_000, longest=6)
    plain = search(ProgramMachine(first), ProgramMachine(second), most_states=20_000, longest=6)
    lengths = [None if one.word is None else len(one.word) for one in (found, plain)]
    assert lengths == [brute, brute]


@pytest.mark.parametrize("name", ["dyck1", "tomita7", "D_3", "majority", "no_repeat3"])
def test_names_that_both_programs_use_are_kept_apart(name):
    one = library()[name]
    both = pair(one, one)
    assert both.roots[0][0] == both.roots[0][1]
    assert len({definition.name for definition in both.joint.definitions}) == len(both.joint.definitions)
