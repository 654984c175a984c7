"""Where the formulas as printed are too short, on models small enough to check by the definition; and lower bounds."""

import itertools
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import lengthwise as lw
from helpers_quantities import table_model
from lengthwise.limit.constructions import mod_p_task, simple_task
from lengthwise.limit.model import MLP, Layer
from lengthwise.limit.quantities import naive_logit_margin
from lengthwise.theory.lower_bounds import any_argument, one_string_for_all_heads


def printed(bound):
    """The workshop form's number."""
    (one,) = (other for other in bound.others if other.name == "printed form, workshop")
    return one.length


def bump_model(width, centre, sign=1):
    """Uniform attention, value 1 of token 0; a triangle of three ReLUs of height 1 on centre -+ width/2 of its share."""
    flat = table_model([0, 0], [1, 0], bits=4)
    rows = np.zeros((3, flat.width))
    rows[:, -1] = 1
    outer = np.zeros((flat.width, 3))
    outer[-2] = sign * np.array([1, -2, 1]) * 2 / width
    mlp = MLP(rows, -np.array([centre - width / 2, centre, centre + width / 2]), outer, "relu")
    read = np.zeros((1, flat.width))
    read[0, -2] = 1  # the answer alone: residue 0 puts 1 there for every string
    return replace(
        flat, positions=np.zeros((1, flat.width)), layers=(Layer(flat.layers[0].heads, mlp),), unembedding=read
    )


def share(model, ones, length):
    """The output on a string of this length with so many tokens 0, the last token not one of them."""
    return lw.evaluate_counts(model, lw.Counts(suffix=[1], table=[[ones], [length - 1 - ones]]))[0]


def test_the_margin_as_printed():
    """Content 0, phi(0) = 1/100: the printed margin is infinite, attention is no hardmax below about 2^800."""
    model = table_model([0, 0], [1, 0], phi=[0.01], bits=8)
    assert naive_logit_margin(model) == math.inf
    found = lw.bound(model, model, error=0.1)
    assert 799.9 < found.log2_training_length < 800.1
    assert found.dominant.name == "hardmax threshold"
    output = lw.evaluate_counts(model, lw.Counts(suffix=[1], table=[[999], [0]]))[0]
    assert output == pytest.approx(0.99893, abs=1e-5)
    hardmax = lw.evaluate_counts(model, lw.Counts(suffix=[1], table=[[999], [0]]), hardmax=True)
    assert hardmax == [0]


def test_locality_zero():
    """A bump of width 1/1000 around 1/1000 is 0 on all strings up to length 666 and 1 at one in a thousand."""
    bump = bump_model(1 / 1000, 1 / 1000)
    for n in itertools.chain(range(2, 666, 13), (664, 665, 666)):
        assert all(abs(share(bump, ones, n)) < 1e-9 for ones in (0, 1, n // 2, n - 1))
    assert share(bump, 1, 1000) == pytest.approx(1)
    zero = replace(bump, unembedding=np.zeros((1, bump.width)))
    found = lw.bound(bump, zero, error=0.5)
    assert printed(found).value <= 16  # 2^(bits / infinity), and a product with locality 0
    assert found.training_length > 666
    assert float(lw.sensitivity(bump)[0]) == pytest.approx(4000)
    assert found.lower_bounds[0].length.value >= 2000  # L / (4 error); the bump itself shows up at 667


def test_sensitivity_needs_the_residual_stream():
    """Without any MLP output a product of norms through it is 0; the output still moves with attention."""
    model = mod_p_task(2, 0, bits=4)
    silent = replace(model, layers=(Layer(model.layers[0].heads, MLP(np.eye(1, 4), [0], np.zeros((4, 1)), "relu")),))
    assert lw.sensitivity(silent) == (1,)
    found = lw.bound(silent, silent, error=0.1)
    assert found.training_length == 166
    assert found.terms[-1].length.value > found.terms[0].length.value


@pytest.mark.parametrize("locality", [1, 10, 1000])
def test_the_period_costs_more_than_one_factor(locality):
    """Counting grows like period (period vocabulary + locality), printed forms like one factor period, or seven."""

    def log2(period):
        constants = lw.Constants(vocabulary=4, period=period, locality=locality, sensitivity=1, margin=1, bits=1)
        found = lw.bound(constants, error=Fraction(1, 1000))
        return found.terms[-1].length.log2, printed(found).log2

    for period in (2**6, 2**9):
        ours, theirs = np.subtract(log2(2 * period), log2(period))
        exact = math.log2(2 * (4 * 2 * period / 2 + 2 * period + locality) / (4 * period / 2 + period + locality))
        assert ours == pytest.approx(exact, abs=0.02)
        assert theirs == pytest.approx(1, abs=0.02)


def test_no_argument_can_do_with_less():
    """Bumps on (0, 1/N), up in one model and down in the other: agreement up to N says nothing about 2 N."""
    for n in (50, 200):
        up, down = (bump_model(1 / n, 1 / (2 * n), sign) for sign in (1, -1))
        for length in (2, 3, n // 2, n - 1, n):
            assert all(abs(share(up, ones, length) - share(down, ones, length)) < 1e-9 for ones in range(length))
        gap = share(up, 1, 2 * n) - share(down, 1, 2 * n)
        assert gap == pytest.approx(2)
        slopes = [Fraction(float(L)) for model in (up, down) for L in lw.sensitivity(model)]
        found = lw.bound(up, down, error=Fraction(gap * (1 - 1e-6)))
        assert found.lower_bounds[0].length.value == math.ceil(sum(slopes) / (4 * found.error))
        assert n <= found.lower_bounds[0].length.value <= n + 1
        assert found.training_length >= found.lower_bounds[0].length.value


def test_the_lower_bounds_stay_below_the_bounds():
    for omega, error in itertools.product((1, 2, 4), (Fraction(1, 2), Fraction(1, 10))):
        f = simple_task(omega, bits=4)
        for found in (lw.bound(f, f, error=error), lw.bound(f, error=error)):
            assert all(other.length.value <= found.training_length for other in found.lower_bounds)


def shortest_chain(etas, tops):
    """The least m_0 + ... + m_K > 0 with every fraction m_(a-1)/(m_(a-1)+m_a) in (0, top_a], by trying all m."""
    best = math.inf

    def extend(m, a, total):
        nonlocal best
        if total >= best:
            return
        if a == len(etas):
            best = total
            return
        for following in range(400):
            if 0 < Fraction(m, m + following) <= tops[a]:
                extend(following, a + 1, total + following)
                break  # the least that is allowed; more only costs

    for start in range(1, 40):
        extend(start, 0, start)
    return best


@pytest.mark.parametrize("etas", [("1/10",), ("1/10", "1/10"), ("1/5", "1/8"), ("3/20", "1/5", "1/4")])
def test_chained_heads_need_what_the_proposition_says(etas):
    """Brute force over all short counts: no table serves the chain with fewer tokens than the lower bound."""
    budgets = sorted(map(Fraction, etas))
    found = one_string_for_all_heads(budgets, symbols=9)
    tops = [2 * eta for eta in budgets]  # eta + eta', eta' just above eta
    assert found.length.value <= shortest_chain(budgets, tops)
    assert found.length.value >= 0.4 * shortest_chain(budgets, tops)


def test_equal_budgets_give_the_printed_form():
    for eta, heads in itertools.product((Fraction(1, 10), Fraction(1, 7)), (1, 2, 3, 4)):
        value = (1 - 2 * eta) ** (heads - 1) / (2 * eta) ** heads
        assert one_string_for_all_heads([eta] * heads, symbols=heads + 2).length.value == math.ceil(value)
    assert one_string_for_all_heads([Fraction(1, 2)], symbols=9) is None
    assert one_string_for_all_heads([Fraction(1, 10)], symbols=2) is None
    few = one_string_for_all_heads([Fraction(1, 10)] * 5, symbols=4)
    assert few.length == one_string_for_all_heads([Fraction(1, 10)] * 2, symbols=9).length


def test_the_lower_bound_of_any_argument():
    assert any_argument([Fraction(8), Fraction(8)], Fraction(1, 10)).length.value == 40
    assert any_argument([], Fraction(1, 10)).length.value == 0
