"""The search over count tables: against brute force over all strings, within conditions, and at large lengths."""

import itertools

import numpy as np
import pytest

import lengthwise as lw
from lengthwise.limit.constructions import mod_p_task, simple_task
from lengthwise.limit.counts import evaluate_statistics
from lengthwise.tasks.registry import task
from lengthwise.theory.ascent import climbed
from lengthwise.theory.attack_counts import attack_counts
from lengthwise.theory.count_moves import neighbours
from lengthwise.theory.count_space import CountSpace, rounded, select
from lengthwise.theory.effort import Effort, Tally
from lengthwise.theory.feasible import Inside
from lengthwise.theory.where import parse_where
from models import random_model


def first_output(model):
    """The error of the target 0: the size of the first output."""
    return lambda tables: np.abs(evaluate_statistics(model, tables)[0])


def on(model, target):
    """The error of a task's target."""
    return lambda tables: np.abs(evaluate_statistics(model, tables)[0] - target.target_of(tables))


def space_of(model, shortest, longest, where=None):
    condition = where and parse_where(where, model.symbols, model.period)
    return CountSpace(model.symbols, model.period, model.locality, shortest, longest, condition)


def brute_force(model, lengths, condition=None):
    """The largest first output over all strings, one by one, by the definition."""
    best = -np.inf
    for n in lengths:
        for string in itertools.product(range(model.symbols), repeat=n):
            counts = np.zeros((model.symbols, model.period), int)
            np.add.at(counts, (np.asarray(string), np.arange(1, n + 1) % model.period), 1)
            if condition is None or condition.holds(counts.tolist(), n):
                best = max(best, abs(float(lw.evaluate(model, np.asarray(string), "dense")[0])))
    return best


def small_models(seeds):
    for seed in seeds:
        rng = np.random.default_rng(seed)
        model = random_model(rng, depth=1)
        if model.symbols <= 3 and model.locality <= 2:
            yield seed, model


@pytest.mark.parametrize(("seed", "model"), list(small_models(range(40)))[:8])
def test_all_tables_are_all_strings(seed, model):
    longest = 6 if model.symbols == 3 else 8
    found = attack_counts(first_output(model), space_of(model, 1, longest), Effort(100_000))
    assert found.complete
    assert found.every_to == longest
    assert found.error == pytest.approx(brute_force(model, range(1, longest + 1)), rel=1e-9)
    assert abs(lw.evaluate_counts(model, found.counts)[0]) == pytest.approx(found.error, rel=1e-9)


@pytest.mark.parametrize(("seed", "model"), list(small_models(range(40)))[:8])
def test_the_search_finds_what_all_tables_have_with_a_third_of_the_work(seed, model):
    length = next(n for n in itertools.count(5) if space_of(model, n, n).tables_at(n) > 12_000)
    space = space_of(model, length, length)
    whole = attack_counts(first_output(model), space, Effort(10**6))
    found = attack_counts(first_output(model), space, Effort(4_000, seed))
    assert whole.complete
    assert not found.complete
    assert found.error == pytest.approx(whole.error, rel=1e-3)


def test_conditions_are_met_exactly_and_by_the_worst_that_meets_them():
    _, model = next(small_models([8, 9, 10, 11, 12]))
    where = "c0 <= 0.4 n and c1 >= 2"
    condition = parse_where(where, model.symbols, model.period)
    found = attack_counts(first_output(model), space_of(model, 1, 7, where), Effort(100_000))
    assert found.error == pytest.approx(brute_force(model, range(1, 8), condition), rel=1e-9)
    assert found.error < brute_force(model, range(1, 8))


def test_a_condition_at_large_lengths():
    """sin(4 u) against the construction with half of its value: largest on the edge of the condition, at u = pi / 8."""
    model, target = simple_task(4.0, bits=8), task("simple:omega=4")
    where = "c0 >= 0.05 n and c0 <= 0.07 n and c1 <= c0"
    errors = lambda tables: np.abs(2 * evaluate_statistics(model, tables)[0] - target.target_of(tables))  # noqa: E731
    found = attack_counts(errors, space_of(model, 10**5, 10**6, where), Effort(20_000))
    (zeros,), (ones,), (twos,) = found.counts.table
    last = found.counts.suffix[0]
    zeros, ones, n = zeros + (last == 0), ones + (last == 1), zeros + ones + twos + 1
    assert 100 * zeros >= 5 * n
    assert 100 * zeros <= 7 * n
    assert ones <= zeros
    assert found.error == pytest.approx(1.0, abs=1e-6)


def test_constructions_where_the_worst_is_known():
    """Once rounding has made the attention hard both constructions are exact; below, the worst is at the threshold's foot."""
    simple, modp = task("simple:omega=4"), task("modp:period=3")
    exact = attack_counts(
        on(simple_task(4.0, bits=8), simple),
        space_of(simple.construction(), 256, 10**6, "c0 + c1 >= 1"),
        Effort(20_000),
    )
    assert exact.error < 1e-12
    assert (
        attack_counts(on(mod_p_task(3, 1, bits=4), modp), CountSpace(2, 3, 0, 16, 10**6), Effort(20_000)).error < 1e-12
    )
    no_bits = attack_counts(on(mod_p_task(3, 1), modp), CountSpace(2, 3, 0, 3, 10**6), Effort(20_000))
    assert no_bits.error == pytest.approx(0.4)  # 3 positions of weights 1, 1/3, 1/3: 2/5 of the attention elsewhere
    assert no_bits.counts.length == 3


def test_one_rare_token_among_a_million():
    """The target jumps where one token appears: the search goes to the corner, whatever the length."""
    target = task("simple:omega=1.5")
    errors = lambda tables: np.abs(target.target_of(tables)) * (tables.prefix[2] >= 999_990)  # noqa: E731
    found = attack_counts(errors, CountSpace(3, 1, 0, 10**6, 10**6), Effort(5_000))
    assert found.error == pytest.approx(np.sin(1.5))


def climb(space):
    """Up 1 - (c0/n - 0.123)^2 - (c1/n - 0.4)^2 from random tables: the values at the start and the end, and the end."""

    def errors(tables):
        zeros, ones, _ = tables.prefix / tables.length
        return 1 - (zeros - 0.123) ** 2 - (ones - 0.4) ** 2

    rng = np.random.default_rng(0)
    inside, tally = Inside(space), Tally(Effort(10**6))
    starts, centres = inside.centred(space.draw(rng, np.full(20, 10**6)))
    ends = climbed(errors, space, inside, starts, centres, tally, 10**6)
    return errors(inside.within(starts, centres)), errors(ends), ends


def test_the_climb_reaches_the_top_of_a_smooth_hill_and_the_edge_of_a_condition():
    before, after, ends = climb(CountSpace(3, 1, 0, 10**6, 10**6))
    assert (after >= before - 1e-12).all()
    assert np.median(1 - after) < 1e-4
    assert np.median(1 - before) > 1e-2
    assert ends.prefix.sum(axis=0) == pytest.approx(10**6 - 1)
    edge = CountSpace(3, 1, 0, 10**6, 10**6, parse_where("c0 >= 0.2 n", 3))
    _, after, ends = climb(edge)
    assert (ends.prefix[0] >= 0.2 * 10**6 - 2).all()
    assert after.max() == pytest.approx(1 - 0.077**2, abs=1e-4)


@pytest.mark.parametrize("seed", [2, 8])
def test_periods_and_localities_of_model_and_task_may_differ(seed):
    """The model has period 2 and locality 1, the task period 3 and locality 0: both are told from one table."""
    rng = np.random.default_rng(seed)
    head = lw.Head(rng.normal(size=(2, 2)), rng.normal(size=(2, 2)), rng.normal(size=(2, 2)), rng.normal(size=2))
    model = lw.LimitTransformer(
        embedding=rng.normal(size=(2, 2)), positions=rng.normal(size=(2, 2)), layers=[lw.Layer([head])],
        unembedding=rng.normal(size=(1, 2)), attention="plain",
    )  # fmt: skip
    target = task("modp:period=3,residue=2")
    found = lw.attack(model, target, length=(3, 7))
    wanted = max(
        abs(float(lw.evaluate(model, np.asarray(string), "dense")[0]) - target.target(string))
        for n in range(3, 8)
        for string in itertools.product(range(2), repeat=n)
    )
    assert found.method == "counts"
    assert found.complete
    assert found.worst_error == pytest.approx(wanted, rel=1e-9)
    tail = lw.attack(model, "tail:tail=1", length=(1, 6))
    strings = lw.attack(model, "tail:tail=1", length=(1, 6), method="strings")
    assert tail.worst_error == pytest.approx(strings.worst_error, rel=1e-9)


def test_a_larger_unembedding_is_noticed():
    model = simple_task(4.0, bits=8)
    larger = lw.LimitTransformer(
        embedding=model.embedding, positions=model.positions, layers=model.layers, attention=model.attention,
        unembedding=1.1 * model.unembedding, bits=8,
    )  # fmt: skip
    space = space_of(model, 1000, 10**6, "c0 + c1 >= 0.05 n")
    found = attack_counts(on(larger, task("simple:omega=4")), space, Effort(20_000))
    assert found.error == pytest.approx(0.1, abs=1e-5)


def test_the_same_seed_finds_the_same():
    model, target = simple_task(4.0), task("simple:omega=4")
    runs = [attack_counts(on(model, target), space_of(model, 100, 10**6), Effort(5_000, seed)) for seed in (3, 3, 4)]
    assert runs[0].trace == runs[1].trace
    assert runs[0].counts.table == runs[1].counts.table
    assert runs[0].trace != runs[2].trace
    assert list(runs[0].trace) == sorted(runs[0].trace)
    assert runs[0].evaluations <= 5_000 + 1_000


def test_nothing_meets_an_impossible_condition():
    space = CountSpace(2, 1, 0, 1, 1000, parse_where("c0 >= 0.6 n and c1 >= 0.6 n", 2))
    found = attack_counts(lambda tables: np.ones(len(tables.length)), space, Effort(1_000))
    assert found.counts is None


def test_neighbours_are_tables():
    space = CountSpace(3, 2, 1, 4, 60)
    rng = np.random.default_rng(0)
    tables = space.draw(rng, rng.integers(4, 61, 50))
    for place in range(50):
        around = neighbours(space, select(tables, np.asarray([place])), rng, 10**6)
        assert (around.prefix >= 0).all()
        assert around.length.min() >= 4
        assert around.length.max() <= 60
        for column in range(0, len(around.length), 7):
            assert space.counts(around, column).length == around.length[column]  # Counts checks the classes


def test_rounding_keeps_sums_and_moves_less_than_one():
    rng = np.random.default_rng(1)
    sizes = rng.integers(0, 50, (3, 200))
    shares = rng.dirichlet(np.ones(4), (3, 200)).transpose(2, 0, 1) * sizes
    whole = rounded(shares, sizes)
    assert (whole.sum(axis=0) == sizes).all()
    assert (np.abs(whole - shares) < 1).all()
