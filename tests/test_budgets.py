"""The budgets of the heads: the published tables, and the inequalities that the theorems rest on, on random models."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from helpers_quantities import random_one_layer, table_model
from lengthwise.errors import WrongInput
from lengthwise.limit.constructions import mod_p_task, simple_task
from lengthwise.limit.quantities import logit_tables, patterns, sensitivity, slots, slots_margin
from lengthwise.theory.answer import NoBoundHolds
from lengthwise.theory.budgets import class_size, query_budget, query_budgets, shared


def uniform(omega):
    """SimpleTask with all logits equal."""
    model = simple_task(omega, bits=4)
    (head,) = model.layers[0].heads
    return replace(model, layers=(replace(model.layers[0], heads=(replace(head, key=0 * head.key),)),))


SIMPLE = [  # omega, error, B with the same attention, B with uniform attention, eta
    (1, "1/2", "43/2", "427/2", "1/8"),
    (1, "1/10", "203/2", "8523/2", "1/40"),
    (2, "1/2", "83/2", "1491/2", "1/16"),
    (2, "1/10", "403/2", "33043/2", "1/80"),
    (4, "1/2", "163/2", "5539/2", "1/32"),
    (4, "1/10", "803/2", "130083/2", "1/160"),
]
MOD_P = [(2, "1/10", 82, 1802), (2, "1/20", 162, 6802), (3, "1/10", 123, 2703), (3, "1/20", 243, 10203)]
MOD_P += [(5, "1/10", 205, 4505), (5, "1/20", 405, 17005)]


@pytest.mark.parametrize(("omega", "error", "same", "different", "eta"), SIMPLE)
def test_simple_task(omega, error, same, different, eta):
    model = simple_task(omega, bits=4)
    for other, size, groups in ((model, same, 1), (uniform(omega), different, 2)):
        found = query_budgets(model, other, Fraction(error))
        assert found.largest.class_size == Fraction(size)
        assert found.largest.offset == Fraction(5, 2)
        assert [group.budget for group in found.largest.acting] == [Fraction(eta)] * groups
        assert found.least_length == 16


@pytest.mark.parametrize(("period", "error", "same", "different"), MOD_P)
def test_mod_p_task(period, error, same, different):
    model = mod_p_task(period, 0, bits=4)
    for other, size in ((model, same), (mod_p_task(period, 1, bits=4), different)):
        found = query_budgets(model, other, Fraction(error))
        assert found.largest.class_size == size
        assert found.largest.offset == 2 * period
        assert found.least_length == 16


def test_the_worked_instance():
    found = query_budget(simple_task(2, bits=4), uniform(2), 0.5, token=2, residue=0)
    assert (found.raised_offset, found.offset, found.suffix_ties) == (Fraction(44, 17), Fraction(5, 2), 1)
    assert found.class_size == Fraction(44, 17) * 289 - Fraction(5, 2)


def one_layer_pairs(count, **shape):
    for seed in range(count):
        rng = np.random.default_rng(seed)
        models = [replace(random_one_layer(rng, **shape), bits=int(rng.integers(1, 9))) for _ in range(2)]
        yield rng, models[0], models[1]


def test_what_is_shared_is_the_error_and_all_heads_are_accounted_for():
    free = ignored = merged = 0
    for rng, f, g in one_layer_pairs(150):
        slopes = {(m, h): L for m, model in enumerate((f, g)) for h, L in enumerate(sensitivity(model))}
        error = Fraction(int(rng.integers(1, 100)), 40)
        budgets = query_budgets(f, g, error)
        for query in budgets.queries:
            acting = [head for group in query.acting for head in group.heads]
            assert sorted([*acting, *query.free, *query.ignored]) == sorted(slopes)
            assert all(slopes[head] == 0 for head in query.ignored)
            assert all(0 < group.budget < 1 for group in query.acting)
            assert all(group.sensitivity == sum(slopes[head] for head in group.heads) for group in query.acting)
            charged = sum(slopes[head] for head in query.free)
            spent = charged + sum(group.sensitivity * group.budget for group in query.acting)
            assert spent == error if query.acting else charged <= error
            free, ignored = free + len(query.free), ignored + len(query.ignored)
            merged += len(acting) - len(query.acting)
            tables = [logit_tables(model) for model in (f, g)]
            exponents = [0] + [
                (f, g)[m].bits / Fraction(margin)
                for m, h in acting
                if (margin := slots_margin(slots(tables[m][h], query.token, query.residue))) != math.inf
            ]
            assert (0 if query.gap is None else query.gap.log2_length) == max(exponents)
        assert budgets.least_length is None or budgets.least_length >= budgets.locality + 1 + budgets.period
    assert min(free, ignored, merged) > 10


def test_groups_are_those_of_the_comparison_pattern():
    for _, f, g in one_layer_pairs(40, symbols=3):
        for query in query_budgets(f, g, Fraction(1, 10**6)).queries:
            expected = {
                tuple(h for h in pattern.heads if h not in query.ignored)
                for pattern in patterns(f, g, token=query.token, residue=query.residue)
            } - {()}
            assert {group.heads for group in query.acting} == expected


def test_free_groups_are_the_smallest_and_freeing_one_more_or_less_is_no_better():
    for seed in range(300):
        rng = np.random.default_rng(seed)
        slopes = sorted(Fraction(int(value), 10) for value in rng.integers(1, 60, size=rng.integers(1, 6)))
        error = Fraction(int(rng.integers(1, 60)), 10)
        share, free = shared(error, slopes)
        best = math.prod((slope / share for slope in slopes[free:]), start=Fraction(1)) if share else 0
        for number in range(len(slopes)):
            rest = error - sum(slopes[:number])
            if rest > 0:
                etas = [rest / (len(slopes) - number) / slope for slope in slopes[number:]]
                if all(eta < 1 for eta in etas):
                    assert best <= math.prod(1 / eta for eta in etas)
        assert share * (len(slopes) - free) + sum(slopes[:free]) == error or free == len(slopes)


def test_the_class_size_grows_when_a_budget_shrinks_or_is_added():
    for seed in range(200):
        rng = np.random.default_rng(seed)
        types, offset = int(rng.integers(1, 9)), Fraction(int(rng.integers(1, 40)), 2)
        etas = [Fraction(int(value), 100) for value in rng.integers(1, 100, size=rng.integers(1, 7))]
        before = class_size(offset, types, etas)
        place = int(rng.integers(len(etas)))
        smaller = [*etas[:place], etas[place] * Fraction(9, 10), *etas[place + 1 :]]
        assert class_size(offset, types, smaller) >= before or len(etas) > types
        assert class_size(offset, types, [*etas, Fraction(int(rng.integers(1, 100)), 100)]) >= before
    assert class_size(Fraction(3), 4, []) == 0


def test_the_recursion_of_the_construction_is_below_the_closed_form():
    """X_a <= X_(a-1) (1 + 1/eta_a) + s_a/2 from X = c, with any owners and shares of the types, sums to at most B."""
    for seed in range(300):
        rng = np.random.default_rng(seed)
        types, offset = int(rng.integers(1, 9)), Fraction(int(rng.integers(1, 40)), 2)
        etas = [Fraction(int(value), 100) for value in rng.integers(1, 100, size=rng.integers(1, 6))]
        owners = etas[: min(len(etas), types)]
        cuts = sorted(int(cut) for cut in rng.integers(0, types + 1, size=len(owners) - 1))
        shares = np.diff([0, *cuts, types])
        size, total = offset, Fraction(0)
        for eta, share in zip(owners, shares, strict=True):
            total += size / eta + Fraction(int(share), 2)
            size += size / eta + Fraction(int(share), 2)
        assert total <= class_size(offset, types, etas)


def test_models_of_different_period_and_locality_are_lifted():
    budgets = query_budgets(mod_p_task(2, 1, bits=4), mod_p_task(3, 1, bits=5), 0.1)
    assert (budgets.period, budgets.locality, len(budgets.queries)) == (6, 0, 12)
    assert budgets.at(1, 7) is budgets.queries[7]
    assert budgets.threshold.length == 32  # each model with its own precision


def test_only_acting_heads_at_their_own_query_types_need_the_hardmax():
    narrow = table_model([1, 1 - 2**-20, 0], [1e-3, 0, 0], bits=4)
    wide = table_model([1, 0, 0], [1, 0, 0], bits=4)
    freed = query_budgets(narrow, wide, 0.1)
    assert freed.at(0, 0).free == ((0, 0),)
    assert freed.threshold.length == 16
    assert query_budgets(narrow, wide, 1e-4).threshold.length is None


def test_what_cannot_be_compared():
    with pytest.raises(WrongInput, match="one vocabulary"):
        query_budgets(simple_task(1, bits=4), mod_p_task(2, 1, bits=4), 0.1)
    with pytest.raises(WrongInput, match="at most 4096 types"):
        query_budgets(mod_p_task(97, 0, bits=4), mod_p_task(101, 0, bits=4), 0.1)
    with pytest.raises(WrongInput, match="models with bits"):
        query_budgets(simple_task(1), simple_task(2), 0.1)
    for error in (0, -1, math.nan, math.inf, "x", "1/0", True):
        with pytest.raises(WrongInput, match="error above 0"):
            query_budgets(simple_task(1, bits=4), simple_task(2, bits=4), error)
    model = simple_task(1, bits=4)
    step = replace(model, layers=(replace(model.layers[0], mlp=replace(model.layers[0].mlp, activation="heaviside")),))
    with pytest.raises(NoBoundHolds, match="Heaviside"):
        query_budgets(step, model, 0.1)


def test_the_published_class_sizes_for_given_budgets():
    tenth = [Fraction(1, 10)] * 2
    assert 0 + 1 + math.ceil(class_size(Fraction(3), 4, tenth)) == 383  # the chain {0,1}, {1,2} of four tokens
    assert 0 + 3 + 3 * math.ceil(class_size(Fraction(6), 6, tenth)) == 2262  # two residues of period 3
    worst = {"0.4": 22.1, "0.3": 33.2, "0.25": 43.5, "0.2": 61.5, "0.15": 98.2}
    for eta, size in worst.items():
        assert float(class_size(Fraction(3, 2), 3, [Fraction(eta)] * 2)) == pytest.approx(size, abs=0.05)
