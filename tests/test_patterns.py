"""Equivalent heads attend to the same positions on every string; heads that differ somewhere are kept apart."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest

from helpers_quantities import exact_logit, random_one_layer, table_model
from lengthwise.limit.constructions import mod_p_task, simple_task
from lengthwise.limit.quantities import Comparison, equivalent, logit_tables, patterns, slots


def louder(model, rng):
    """The first head doubled, which changes no comparison; the second with its phi moved, which may change some."""
    first, second = model.layers[0].heads
    first = replace(first, query=2 * first.query, phi=2 * first.phi)
    second = replace(second, phi=second.phi + rng.integers(-1, 2, size=len(second.phi)) / 2)
    return replace(model, layers=(replace(model.layers[0], heads=(first, second)),))


def attended_everywhere(models, token, residue, head, lengths):
    """The attended positions on every string of some lengths that ends in this query type."""
    model, number = head
    chosen, cache, seen = models[model].layers[0].heads[number], {}, []
    for n in lengths:
        for x in itertools.product(range(2), repeat=n - 1):
            x = (*x, token)
            logits = []
            for j in range(1, n + 1):
                what = (x[j - 1], j % 2, n - j)
                if what not in cache:
                    cache[what] = exact_logit(models[model], chosen, (x[j - 1], j), (token, residue), n - j)
                logits.append(-math.inf if cache[what] is None else cache[what])
            seen.append(tuple(j for j in range(n) if logits[j] == max(logits)))
    return seen


def test_heads_of_one_pattern_attend_alike_on_every_string():
    merged = apart = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        models = [random_one_layer(rng, period=2, locality=1, heads=2, mlp=False)]
        models.append(louder(models[0], rng))
        compare = Comparison(*models)
        lengths = (6, 8)  # residue 0
        groups = compare.patterns(1, 0)
        assert sorted(itertools.chain(*(group.heads for group in groups))) == [(0, 0), (0, 1), (1, 0), (1, 1)]
        sets = {
            head: attended_everywhere(models, 1, 0, head, lengths)
            for group in groups
            for head in group.heads
            if len(group.heads) > 1
        }
        for group in groups:
            for first, second in itertools.combinations(group.heads, 2):
                assert sets[first] == sets[second]
                merged += 1
        apart += len(groups) > 2
        assert any({(0, 0), (1, 0)} <= set(group.heads) for group in groups)
    assert merged > 60
    assert apart > 10


def test_tasks_with_the_same_attention_are_one_pattern_and_constants_add():
    (only,) = patterns(simple_task(1.0), simple_task(4.0), token=2, residue=0)
    assert only.heads == ((0, 0), (1, 0))
    assert only.sensitivity == 2 + 8
    uniform = table_model([1, 1, 1], [1, -1, 0])
    assert len(patterns(simple_task(1.0), uniform, token=2, residue=0)) == 2


@pytest.mark.parametrize("period", [2, 3, 5])
def test_different_residues_are_different_patterns(period):
    for token, residue in itertools.product(range(2), range(period)):
        assert len(patterns(mod_p_task(period, 0), mod_p_task(period, 1), token=token, residue=residue)) == 2
        assert len(patterns(mod_p_task(period, 1), mod_p_task(period, 1), token=token, residue=residue)) == 1


def test_models_with_different_periods_are_lifted():
    compare = Comparison(mod_p_task(2, 1), mod_p_task(4, 1), mod_p_task(4, 3))
    assert compare.period == 4
    assert len(compare.patterns(0, 1)) == 3
    wide = Comparison(mod_p_task(2, 1), table_model([[0, 1], [0, 1]], [0, 1], period=2))
    assert len(wide.patterns(0, 1)) == 1


def test_one_changed_comparison_separates_two_heads():
    base = slots(logit_tables(table_model([1, 1, 0], [0, 0, 0]))[0], 2, 0)
    stretched = slots(logit_tables(table_model([7, 7, -3], [0, 0, 0]))[0], 2, 0)
    split = slots(logit_tables(table_model([1, 1.5, 0], [0, 0, 0]))[0], 2, 0)
    masked = slots(logit_tables(table_model([1, 1, 0], [0, 0, 0], phi=[-math.inf]))[0], 2, 0)
    assert equivalent(base, stretched)
    assert not equivalent(base, split)
    assert not equivalent(base, masked)
