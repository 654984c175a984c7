"""Every task obeys the protocol, and its sampler of statistics has the law of its sampler of strings."""

import dataclasses
from collections import Counter

import numpy as np
import pytest
from scipy.stats import chi2

import lengthwise as lw
import oracles
from lengthwise.tasks.compositions import composition
from lengthwise.tasks.protocol import Statistics
from lengthwise.tasks.regression import ModPTask, SimpleTask, TailTask

TASKS = [
    SimpleTask(2.0),
    SimpleTask(3.0, symbols=5),
    ModPTask(1, 0),
    ModPTask(3, 1),
    ModPTask(2, 0),
    TailTask(1),
    TailTask(3),
]


def numpy_draw(seed):
    generator = np.random.default_rng(seed)
    return lambda bounds: generator.integers(0, np.asarray(bounds))


def statistics_of(task, string):
    """The statistics of one explicit string, from the type counts that the evaluators use."""
    counts = lw.Counts.of(np.asarray(string), task.symbols, task.period, task.locality)
    n = counts.length
    suffix = [token * task.period + (n - k) % task.period for k, token in enumerate(reversed(counts.suffix))]
    return Statistics(np.array([n]), np.ravel(counts.table)[:, None], np.array(suffix)[:, None])


def tables(statistics):
    return Counter(map(tuple, np.concatenate([statistics.prefix, statistics.suffix]).T.tolist()))


def too_far(first, second):
    """Whether two samples of equal size differ by a two-sample chi-square at level 1e-4, rare tables pooled."""
    keys = set(first) | set(second)
    cells = [(first[k], second[k]) for k in keys if first[k] + second[k] >= 20]
    rest = [(first[k], second[k]) for k in keys if first[k] + second[k] < 20]
    if rest:
        cells.append(tuple(np.sum(rest, axis=0)))
    statistic = sum((a - b) ** 2 / (a + b) for a, b in cells)
    return statistic > chi2.ppf(1 - 1e-4, len(cells) - 1)


@pytest.mark.parametrize("task", TASKS, ids=str)
@pytest.mark.parametrize("extra", [0, 1, 4])
def test_statistics_have_the_law_of_strings(task, extra):
    length, size = task.shortest + extra, 20_000
    drawn = task.statistics(np.full(size, length), numpy_draw(1))
    strings = task.strings(np.random.default_rng(2), length, size)
    assert strings.shape == (size, length)
    counted = Counter()
    for string, times in Counter(map(tuple, strings.tolist())).items():
        counted[next(iter(tables(statistics_of(task, list(string)))))] += times
    assert not too_far(tables(drawn), counted)


def test_the_comparison_notices_a_wrong_law():
    """Bars drawn with replacement, and a last token drawn without regard to the counts."""
    size = 20_000
    right = composition(np.full(size, 5), 3, numpy_draw(0))
    draw = numpy_draw(3)
    bars = np.sort(np.stack([draw(np.full(size, 6)), draw(np.full(size, 6))]), axis=0)
    wrong = np.stack([bars[0], bars[1] - bars[0], 5 - bars[1]])
    as_table = lambda counts: Counter(map(tuple, counts.T.tolist()))  # noqa: E731
    assert too_far(as_table(right), as_table(wrong))
    assert len(as_table(right)) == 21  # all compositions of 5 into 3 parts
    task = SimpleTask(2.0)
    good = task.statistics(np.full(size, 3), numpy_draw(4))
    assert too_far(tables(good), tables(dataclasses.replace(good, suffix=draw(np.full((1, size), 3)))))


@pytest.mark.parametrize("task", TASKS, ids=str)
def test_moments_at_length_1000(task):
    size, length = 4_000, 1_000
    drawn = task.statistics(np.full(size, length), numpy_draw(5))
    strings = task.strings(np.random.default_rng(6), length, size)
    shares = np.stack([(strings == token).mean(axis=1) for token in range(task.symbols)])
    whole = drawn.prefix.reshape(task.symbols, task.period, size).sum(axis=1)
    for token in range(task.symbols):
        inside = (drawn.suffix // task.period == token).sum(axis=0)
        mine = (whole[token] + inside) / length
        assert mine.mean() == pytest.approx(shares[token].mean(), abs=0.03)
        assert mine.std() == pytest.approx(shares[token].std(), abs=0.02)
    targets = task.target_of(drawn), [task.target(string) for string in strings[:1500]]
    assert targets[0].mean() == pytest.approx(np.mean(targets[1]), abs=0.08)
    assert targets[0].std() == pytest.approx(np.std(targets[1]), rel=0.08)


@pytest.mark.parametrize("omega", [0.5, 2.0, 4.0, 12.0])
def test_the_mean_square_of_long_targets(omega):
    """It says why a smaller omega can have the larger loss where nothing was learned: 2 against 4."""
    task = SimpleTask(omega)
    targets = task.target_of(task.statistics(np.full(200_000, 10**9), numpy_draw(8)))
    assert task.mean_square() == pytest.approx(np.mean(targets**2), abs=4 * np.std(targets**2) / 200_000**0.5)
    assert SimpleTask(2.0).mean_square() > 1.3 * SimpleTask(4.0).mean_square()


@pytest.mark.parametrize("task", TASKS, ids=str)
def test_targets_of_strings_and_of_statistics_are_equal(task):
    for length in (task.shortest, task.shortest + 1, 17, 60):
        for string in task.strings(np.random.default_rng(length), length, 20):
            [from_counts] = task.target_of(statistics_of(task, string))
            assert from_counts == pytest.approx(task.target(string), abs=1e-14)


def test_targets_against_oracles_and_the_examples_of_the_docstrings():
    string = [0, 1, 2, 0, 0, 2]
    assert SimpleTask(1.0).target(string) == pytest.approx(np.sin(1 / 2)) == oracles.simple_task(1.0, string)
    string = [1, 0, 1, 0, 1, 1, 1]
    assert ModPTask(3, 1).target(string) == pytest.approx(2 / 3) == oracles.mod_p_task(3, 1, string)
    assert TailTask(2).target([1, 1, 0, 1, 0]) == pytest.approx(3 / 5 + 1 / 2 - 1)


@pytest.mark.parametrize("task", TASKS, ids=str)
def test_the_construction_solves_the_task_and_weighs_what_is_stated(task):
    model = task.construction()
    for length in (task.shortest, 40, 333):
        string = task.strings(np.random.default_rng(length), length, 1)[0]
        counts = lw.Counts.of(string, task.symbols, task.period, max(task.locality, model.locality))
        [exact] = lw.evaluate_counts(model, counts, hardmax=True)
        assert float(exact) == pytest.approx(task.target(string), abs=1e-12)
    known = task.known()
    assert float(sum(lw.sensitivity(model))) == known.sensitivity
    margin = lw.logit_margin(model)
    assert margin == known.margin or (task.period == 1 and task.name == "modp")  # one residue: nothing to tell apart
    assert model.period == known.period


@pytest.mark.parametrize("task", TASKS, ids=str)
def test_lengths_of_a_million_million(task):
    drawn = task.statistics(np.full(50, 10**12), numpy_draw(7))
    assert np.all(drawn.prefix.sum(axis=0) + len(drawn.suffix) == 10**12)
    assert np.all(np.isfinite(task.target_of(drawn)))
