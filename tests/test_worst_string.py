"""The worst long string: the note's numbers, and both ends of the bracket against brute force in rationals."""

import itertools
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from helpers_quantities import table_model
from lengthwise.errors import WrongInput
from lengthwise.limit.constructions import mod_p_task, simple_task
from lengthwise.theory.budgets import query_budgets
from lengthwise.theory.cells import HeadShare, simplest_between
from lengthwise.theory.count_cones import CountCone, compositions
from lengthwise.theory.worst_case import worst_case
from lengthwise.theory.worst_string import Bracket, worst_class_size

CHAIN = CountCone((3,), (False,), False)


def chained(eta):
    return [HeadShare((0, 1), 0, Fraction(eta)), HeadShare((1, 2), 0, Fraction(eta))]


def law(vector, head):
    mass = sum(vector[t] for t in head.places) + head.suffix * vector[-1]
    atoms = [vector[t] for t in head.places] + [head.suffix * vector[-1]]
    return [Fraction(value, mass) for value in atoms] if mass else None


def serves(m, x, heads):
    """Whether a short prefix (counts, 1) moves every attended law by at most its budget: the definition."""
    for head in heads:
        long, short = law(x, head), law(m, head)
        if long is None:
            continue
        if short is None or sum(abs(a - b) for a, b in zip(long, short, strict=True)) > 2 * head.budget:
            return False
    return True


def shortest(x, cone, heads, largest):
    """The least class size of a prefix that serves a string, by trying all."""
    for size in range(largest + 1):
        parts = (
            compositions(size + more, types).tolist() for types, more in zip(cone.classes, cone.larger, strict=True)
        )
        for ways in itertools.product(*parts):
            if serves((*itertools.chain(*ways), 1), x, heads):
                return size
    return largest + 1


@pytest.mark.parametrize(("eta", "size"), [("1/4", 2), ("1/10", 5), ("1/20", 10), ("1/50", 25)])
def test_two_points(eta, size):
    found = worst_class_size(CountCone((2,), (False,), False), [HeadShare((0, 1), 0, Fraction(eta))])
    assert (found.at_least, found.at_most) == (size, size)


@pytest.mark.parametrize(("eta", "size"), [("0.4", 4), ("0.3", 5), ("0.25", 5), ("0.2", 11), ("0.15", 21)])
def test_chain(eta, size):
    found = worst_class_size(CHAIN, chained(eta))
    assert (found.at_least, found.at_most) == (size, size)
    assert shortest(found.witness, CHAIN, chained(eta), size) == size  # the witness does need it


@pytest.mark.parametrize(
    ("cone", "heads"),
    [
        (CHAIN, chained("0.3")),
        (CountCone((2,), (False,), True), [HeadShare((0, 1), 1, Fraction(1, 6))]),
        (CountCone((2,), (True,), True), [HeadShare((0,), 1, Fraction(1, 4)), HeadShare((0, 1), 1, Fraction(1, 4))]),
        (
            CountCone((2, 2), (False, False), False),
            [HeadShare((0, 1), 0, Fraction(1, 4)), HeadShare((2, 3), 0, Fraction(1, 6))],
        ),
        (
            CountCone((2, 2), (True, False), True),
            [HeadShare((0, 2), 0, Fraction(1, 4)), HeadShare((1, 2, 3), 0, Fraction(1, 5))],
        ),
        (CountCone((2, 3), (True, False), True), [HeadShare((0, 2, 3), 1, Fraction(1, 4))]),
    ],
)
def test_no_string_is_worse_and_the_witness_is_as_bad(cone, heads):
    """Random strings of the support, up to ten thousand tokens, against the upper end; the witness, the lower end."""
    found = worst_class_size(cone, heads, cells=300)
    assert found.at_most is not None
    assert shortest(found.witness, cone, heads, found.at_least) == found.at_least
    rng = np.random.default_rng(0)
    for _ in range(20):
        size = int(np.exp(rng.uniform(np.log(max(cone.classes)), 9)))
        parts = []
        for types, more in zip(cone.classes, cone.larger, strict=True):
            share = rng.dirichlet([rng.choice([0.2, 1.0])] * types)
            parts.append(1 + rng.multinomial(size + more - types, share))
        string = (*(int(n) for n in np.concatenate(parts)), 1)
        assert shortest(string, cone, heads, found.at_most) <= found.at_most


def test_all_strings_lie_in_a_cell():
    """Every count vector of a support is a combination >= 0 of the generators of some cell."""
    rng = np.random.default_rng(1)
    for cone in (
        CHAIN,
        CountCone((2,), (False,), True),
        CountCone((2, 2), (False, False), False),
        CountCone((2, 3), (True, False), True),
        CountCone((1, 3, 2), (True, True, False), True),
    ):
        cells = [np.array(cell, float).T for cell in cone.cells()]
        for _ in range(40):
            size = int(rng.integers(max(cone.classes), 50))
            string = [
                n
                for types, more in zip(cone.classes, cone.larger, strict=True)
                for n in 1 + rng.multinomial(size + more - types, rng.dirichlet([1.0] * types))
            ]
            vector = np.array([*string, int(cone.mixed)], float)
            weights = [np.linalg.lstsq(cell, vector, rcond=None)[0] for cell in cells]
            assert any(
                (w > -1e-9).all() and np.allclose(cell @ w, vector) for w, cell in zip(weights, cells, strict=True)
            )


def test_a_bracket_says_what_is_undecided():
    found = worst_class_size(CHAIN, chained("0.2"), cells=4)
    assert "undecided" in str(found)
    assert not found.decided
    assert str(Bracket(3, 3, None, 1)) == "3"
    assert str(Bracket(3, 7, None, 1)) == "at least 3, at most 7, undecided between"


def test_the_simplest_fraction_between_two():
    for low, high in itertools.combinations(sorted({Fraction(p, q) for q in range(1, 13) for p in range(2 * q)}), 2):
        found = simplest_between(low, high)
        assert low <= found <= high
        assert found.denominator == min(q for q in range(1, 13) if -(-low * q // 1) <= high * q)


def test_models():
    """SimpleTask beside itself; a chain of two heads with its unattended query token; one residue of ModPTask."""
    model = simple_task(1, bits=4)
    found = worst_case(model, model, "1/2", cells=2000)
    cone, head = (
        CountCone((2,), (False,), True),
        HeadShare((0, 1), 1, Fraction(1, 8)),
    )  # a query that ties; there are no other groups
    pairs = [(64, 1), *np.random.default_rng(0).integers(1, 100, size=(60, 2)).tolist()]
    needed = max(shortest((*pair, 1), cone, [head], 12) for pair in pairs)
    assert found.at_least == found.at_most == 1 + needed == 8  # the N of Theorem 2 is 23
    logits = ([1, 1, 0, 0], [0, 1, 1, 0])
    first, second = (table_model(row, [0, 1, 0, 0], bits=1) for row in logits)
    size = query_budgets(first, second, "1/2").queries[3].acting[0].budget
    assert size == Fraction(1, 4)
    assert worst_case(first, second, "1/2", cells=40).at_least >= 1 + 4  # query token 3 ties with nothing: the chain
    modular = mod_p_task(2, 0, bits=4)
    found = worst_case(modular, modular, "1/2", cells=200)
    assert found.at_least <= found.at_most


def test_models_that_are_too_large():
    with pytest.raises(WrongInput, match="small models"):
        worst_case(simple_task(1, bits=4, symbols=12), simple_task(1, bits=4, symbols=12), "1/2")


def test_a_wrong_budget_is_noticed():
    """With budgets a fifth too large the claimed worst case is refuted by a string."""
    cone, head = CountCone((2,), (False,), False), HeadShare((0, 1), 0, Fraction(1, 20))
    claimed = worst_class_size(cone, [replace(head, budget=Fraction(6, 100))])
    witness = worst_class_size(cone, [head]).witness
    assert shortest(witness, cone, [head], claimed.at_most) > claimed.at_most
