"""From Booleans to programs: comparisons and their opposites mean what they say, covers cover, sizes add up."""

import operator
import random
from itertools import product

import pytest

import lengthwise as lw
from lengthwise.crasp.syntax import Definition, Program
from lengthwise.verdict.candidates import Bank, enumerate_size
from lengthwise.verdict.closing import Closing, turned
from lengthwise.verdict.labelled import Labelled
from lengthwise.verdict.recipes import expression, size
from lengthwise.verdict.retest import random_words
from lengthwise.verdict.sample import Sample

RELATIONS = {"==": operator.eq, ">=": operator.ge, "<=": operator.le, "!=": operator.ne}
WORDS = [word for length in range(5) for word in product((0, 1), repeat=length)]
RECIPES = [("is", 0), ("is", 1)]


@pytest.mark.parametrize("factors", [(1,), (1, -1), (-1, 1), (2, -3), (-2, -1), (3, 1)])
def test_comparisons_and_their_opposites_as_expressions(factors):
    terms = tuple((factor, place) for place, factor in enumerate(factors))
    recipes = [("sum", terms, relation, c) for relation in RELATIONS for c in range(-4, 5)]
    pairs = [(recipe, turned(recipe)) for recipe in recipes]
    bodies = [expression(RECIPES, one, ("a", "b")) for pair in pairs for one in pair]
    definitions = tuple(Definition("output", f"x{place}", body) for place, body in enumerate(bodies))
    values = lw.crasp.run(Program("all_", ("a", "b"), definitions), [list(word) for word in WORDS]).values
    for place, (_, _, relation, constant) in enumerate(recipes):
        expected = [
            RELATIONS[relation](sum(f * word.count(s) for s, f in enumerate(factors)), constant) for word in WORDS
        ]
        assert values[f"x{2 * place}"].tolist() == expected
        assert values[f"x{2 * place + 1}"].tolist() == [not one for one in expected]


@pytest.mark.parametrize("seed", range(6))
def test_covers_are_the_target_and_as_large_as_they_say(seed):
    rng = random.Random(seed)
    labels = [rng.random() < (0.2, 0.5, 0.8)[seed % 3] for _ in WORDS]
    given = Labelled(("a", "b"), tuple(WORDS), tuple(labels), 4, "test")
    bank = Bank(Sample.of(given))
    closing = Closing(bank)
    for now in range(1, 7):
        for _ in enumerate_size(bank, now):
            closing.offer_new(now)
        closing.offer_new(now)
        if now == 3:
            assert list(closing.offer_differences(3))
    best = closing.best()
    both = {part for part in (closing.target.best, closing.opposite.best) if part is not None}
    assert size(best) == min(total for total, _ in both)
    accepts = lw.crasp.run(Program("best", ("a", "b"), (), best), [list(word) for word in WORDS]).accepts
    assert accepts.tolist() == labels


def test_random_words_are_long_different_and_the_same_for_a_seed():
    known = [(), (0, 1), (0, 0, 1, 1)]
    words = random_words(2, 5, 15, known, 3)
    assert len(words) == len(set(words)) > 1000
    assert {len(word) for word in words} == set(range(5, 16))
    assert words == random_words(2, 5, 15, known, 3) != random_words(2, 5, 15, known, 4)
    balanced = [(0,) * n + (1,) * n for n in (3, 4, 5, 6, 7)]
    assert set(balanced) <= set(words)
