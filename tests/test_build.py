"""The construction against the definition: total variation and largest logits by brute force, on nasty instances."""

import itertools
import math
import random
from fractions import Fraction

import pytest

from helpers_stand_ins import Instance as Seen
from helpers_stand_ins import bound, chain_instance, random_instance, total_variation, violations
from lengthwise.theory.build import Group, apportion, build_z, constant
from lengthwise.type_counts import class_size

F = Fraction
EIGHTH = F(1, 8)


def groups_of(instance):
    """Heads that attend alike on the instance share a group, with the smallest of their budgets."""
    found = {}
    for head, eta in enumerate(instance.budgets):
        _, types, offsets = instance.attended(head)
        key = frozenset(types), frozenset(offsets)
        found[key] = min(eta, found.get(key, eta))
    return [Group(types, len(offsets), eta) for (types, offsets), eta in found.items()]


def broken(instance, rng, shrink=1):
    """The promises of Theorem 1 that the construction breaks on an instance, with the constant shrunk by a factor."""
    groups = groups_of(instance)
    present = sum(count > 0 for count in instance.table)
    c = constant(groups, present, instance.period)
    wanted, largest = bound(instance, present, max((g.suffix for g in groups if g.types), default=0))
    assert c == wanted
    arguments = (instance.table, instance.period, instance.offsets, groups, instance.least_length, c * shrink)
    built = build_z(*arguments)
    if built is None:
        assert sum(instance.table) < instance.period
        return []
    if rng.random() < 0.3:
        built = build_z(*arguments, size=rng.randint(built.size, sum(instance.table) // instance.period))
    return violations(instance, built.table, built.smallest, built.size, largest)


def simple(omega_query, counts):
    """SimpleTask against uniform attention: the instance that one query sees."""
    return Seen(1, 3, list(counts), [[1, 1, 0], [1, 1, 1]], [[[1, 1, 0][omega_query]], [1]], [EIGHTH, EIGHTH], 16)


@pytest.mark.parametrize(
    ("query", "counts", "scales", "short", "variations"),
    [
        (2, (3, 5, 100000), (1, F(12, 14287)), (3, 5, 76), (0, F(899316, 8500765))),
        (2, (700, 300, 1000000), (F(1, 50), F(60, 333667)), (14, 6, 160), (0, F(20839840, 181181181))),
        (0, (600000, 300000, 100000), (F(20, 900001),) * 2, (14, 7, 2), (F(899979, 19800022), F(999977, 24000024))),
        (0, (1, 40, 9958), (F(10, 21), F(43, 2500)), (0, 19, 153), (F(11, 420), F(192907, 1730000))),
    ],
)
def test_simple_task_against_uniform_attention(query, counts, scales, short, variations):
    """Source: one-layer note, section 11, with every number as a fraction; n0 = 16, c = 5/2, N = 215."""
    instance = simple(query, counts)
    groups = [Group(frozenset({0, 1}), int(query != 2), EIGHTH), Group(frozenset({0, 1, 2}), 1, EIGHTH)]
    built = build_z(counts, 1, 1, groups, 16, F(5, 2))
    assert (built.scales, built.table, built.size, built.smallest) == (scales, short, sum(short), sum(short))
    assert tuple(total_variation(instance, head, short) for head in (0, 1)) == variations
    assert bound(instance, 3, 1) == (F(5, 2), 214)  # N = tau + Delta + ceil(427/2)


def test_mod_p_task():
    """Residues 0 and 1 of period 3; the same section: Z = 60, lengths 30002 and 182, N = 2262."""
    table = (9993, 4000, 0, 7, 6001, 10000)
    assert [class_size(30001, r, 3) for r in range(3)] == [10000, 10001, 10000]
    groups = [Group(frozenset({0, 3}), 0, F(1, 10)), Group(frozenset({1, 4}), 0, F(1, 10))]
    built = build_z(table, 3, 1, groups, 16, F(6))
    assert built.scales == (F(3, 500), F(3, 500))
    assert (built.size, built.table) == (60, (60, 24, 0, 0, 37, 60))
    instance = Seen(3, 2, list(table), [[1, 0, 0] * 2, [0, 1, 0] * 2], [[0], [0]], [F(1, 10)] * 2, 16)
    assert [total_variation(instance, a, built.table) for a in (0, 1)] == [F(7, 10000), F(3976, 610061)]
    assert sum(built.table) + 1 == 182


def test_a_chain_of_two_heads():
    """Four tokens, {0, 1} and {1, 2}, query 3: 3, 27, 214 and length 245, where the theorem allows 383."""
    groups = [Group(frozenset({0, 1}), 0, F(1, 10)), Group(frozenset({1, 2}), 0, F(1, 10))]
    built = build_z((1000, 8000, 64000, 0), 1, 1, groups, 2, F(3))
    assert (built.table, built.size) == ((3, 27, 214, 0), 244)
    instance = Seen(1, 4, [1000, 8000, 64000, 0], [[1, 1, 0, 0], [0, 1, 1, 0]], [[0], [0]], [F(1, 10)] * 2, 2)
    assert 1 + bound(instance, 4, 1)[1] == 383


@pytest.mark.parametrize("kind", [random_instance, chain_instance])
def test_no_promise_is_broken(kind):
    rng = random.Random(4)
    for number in range(1500):
        instance = kind(rng)
        assert not broken(instance, rng), (number, instance)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10))
def test_no_promise_is_broken_in_a_hundred_thousand(seed):
    rng = random.Random(100 + seed)
    for number in range(10_000):
        instance = (random_instance if number % 5 < 2 else chain_instance)(rng)
        assert not broken(instance, rng), (number, instance)


@pytest.mark.parametrize("kind", [random_instance, chain_instance])
@pytest.mark.parametrize(("shrink", "least"), [(F(2, 5), 5), (F(1, 8), 100)])
def test_a_smaller_constant_is_caught(kind, shrink, least):
    """The harness sees errors: with the constant too small heads move too far, and nothing else goes wrong."""
    rng = random.Random(5)
    found = [broken(kind(rng), rng, shrink) for _ in range(1500)]
    assert sum(map(bool, found)) >= least
    assert all("moves too far" in words for words in itertools.chain(*found))


def test_every_harness_instance_is_a_string():
    """What the instances are made of: class sizes that a string has, and at least one key for every head."""
    rng = random.Random(6)
    lengths = []
    for _ in range(300):
        for kind in (random_instance, chain_instance):
            instance = kind(rng)
            sums = [sum(instance.table[r :: instance.period]) for r in range(instance.period)]
            assert sums == [class_size(sum(instance.table), r, instance.period) for r in range(instance.period)]
            lengths.append(instance.length)
    assert max(lengths) > 10**50
    assert sum(length < 10**4 for length in lengths) > 50


def test_the_smallest_size_is_the_smallest_that_works():
    """By trying every Z: the first where each class has a type that left its scale, and room for those that did not."""
    rng = random.Random(7)
    tried = 0
    for _ in range(2000):
        instance = random_instance(rng) if rng.random() < 0.5 else chain_instance(rng)
        size = sum(instance.table) // instance.period
        if not 1 <= size <= 60:
            continue
        tried += 1
        groups = groups_of(instance)
        c = constant(groups, sum(n > 0 for n in instance.table), instance.period)
        built = build_z(instance.table, instance.period, instance.offsets, groups, instance.least_length, c)
        assert built.smallest == smallest_by_trying(instance, groups, c)
    assert tried > 100


def smallest_by_trying(instance, groups, c):
    """Section 5's ok(Z), Z = 0, 1, 2, ..., from scales computed again in the order of the sentence."""
    table, period = instance.table, instance.period
    size, rest = divmod(sum(table), period)
    scale, added, owned = F(1), c, {}
    for group in sorted((g for g in groups if g.types), key=lambda g: g.budget * g.mass(table)):
        scale = min(scale, added / (group.budget * group.mass(table)))
        for t in group.types:
            if t not in owned:
                v = scale * table[t]
                low, high = math.floor(v), math.ceil(v)
                owned[t] = scale, (low if v - low <= high - v else high)
                added += owned[t][1]
    z = -1
    while True:
        z += 1
        low = {t for t, (lam, _) in owned.items() if lam * size > z}
        fine = instance.offsets + rest + period * z >= instance.least_length
        for r in range(period):
            column = [t for t in range(r, len(table), period) if table[t]]
            if column:
                fine = fine and any(t not in low for t in column)
                fine = fine and sum(owned[t][1] for t in column if t in low) <= z + (1 <= r <= rest)
        if fine:
            return z


def test_shares_are_fair():
    """Whole, in proportion up to less than 1, and the errors of each sign sum to at most a quarter of their number."""
    rng = random.Random(8)
    for _ in range(500):
        weights = [rng.randint(0, 10 ** rng.randint(0, 12)) for _ in range(rng.randint(1, 7))]
        if not sum(weights):
            continue
        total = rng.randint(0, 10 ** rng.randint(0, 12))
        shares = apportion(total, weights)
        errors = [share - F(total * weight, sum(weights)) for share, weight in zip(shares, weights, strict=True)]
        assert sum(shares) == total
        assert all(abs(error) < 1 for error in errors)
        assert sum(max(error, 0) for error in errors) <= F(len(weights), 4)
        assert sum(max(-error, 0) for error in errors) <= F(len(weights), 4)


def test_a_string_without_a_whole_period_or_below_its_threshold_is_left_alone():
    group = Group(frozenset({0}), 0, F(1, 2))
    assert build_z((1, 0), 2, 1, [group], 1, F(3)) is None
    assert build_z((10,), 1, 1, [group], 12, F(3)) is None
    assert build_z((10,), 1, 1, [group], 11, F(3)).size == 10


def test_a_size_outside_its_range_is_refused():
    group = Group(frozenset({0}), 0, F(1, 2))
    with pytest.raises(ValueError, match="sizes run from"):
        build_z((10, 90), 1, 1, [group], 20, F(3), size=18)


def test_groups_that_attend_to_the_suffix_alone_need_nothing():
    built = build_z((10**9, 1), 1, 1, [Group(frozenset(), 1, F(1, 10**6))], 1, F(3))
    assert (built.size, built.scales) == (0, ())
