"""Strings at the corners: exactly the law that is stated, always real strings, and drawn into batches as told."""

import itertools
import math
from collections import Counter
from fractions import Fraction

import jax
import jax.numpy as jnp
import msgspec
import numpy as np
import pytest

from lengthwise.config import Model, Run, Testing, Training, canonical, record
from lengthwise.study.plan import Study
from lengthwise.tasks.corners import digit_uniform, either_end, near_corner
from lengthwise.tasks.regression import ModPTask, SimpleTask, TailTask
from lengthwise.train.engine import squared_error
from lengthwise.train.plans import plan_of, shape_of
from lengthwise.train.statistics import drawing, initial_weights, outputs
from study_helpers import TEXT
from test_tasks import numpy_draw

TASKS = [SimpleTask(2.0), SimpleTask(3.0, symbols=5), ModPTask(1, 0), ModPTask(2, 0), ModPTask(3, 1), TailTask(3)]


def law_of(sampler):
    """The exact law of what a sampler returns for one column: every way its draws can fall, with its probability."""
    found, scripts = Counter(), [()]
    while scripts:
        script, bounds = scripts.pop(), []

        def draw(bound, script=script, bounds=bounds):
            bounds.append(int(np.ravel(bound)[0]))
            choice = script[len(bounds) - 1] if len(bounds) <= len(script) else 0
            return np.full(np.shape(bound), choice)

        result = tuple(np.ravel(sampler(draw)).tolist())
        found[result] += Fraction(1, math.prod(bounds))
        new = range(len(script), len(bounds))
        scripts += [(*script, *[0] * (i - len(script)), v) for i in new for v in range(1, bounds[i])]
    return found


def digit_law(total):
    """The definition: the number of digits is uniform, and so is the number given its digits."""
    alike = Counter(r.bit_length() for r in range(total + 1))
    return {r: Fraction(1, len(alike) * alike[r.bit_length()]) for r in range(total + 1)}


@pytest.mark.parametrize("total", [0, 1, 2, 3, 6, 8, 13, 64])
def test_digit_uniform_numbers(total):
    wanted = digit_law(total)
    found = law_of(lambda draw: digit_uniform(np.array([total]), draw))
    assert {r: p for (r,), p in found.items()} == wanted
    found = law_of(lambda draw: either_end(np.array([total]), draw))
    assert {r: p for (r,), p in found.items()} == {r: (wanted[r] + wanted[total - r]) / 2 for r in wanted}


@pytest.mark.parametrize(("total", "parts"), [(0, 3), (1, 3), (5, 3), (9, 3), (3, 4), (4, 1)])
def test_the_law_near_corners(total, parts):
    wanted = Counter()
    for rests in itertools.product(range(total + 1), repeat=parts - 1):
        ends = (total, *rests, 0)
        if any(a < b for a, b in itertools.pairwise(ends)):
            continue
        chance = math.prod((digit_law(a)[b] for a, b in itertools.pairwise(ends[:-1])), start=Fraction(1))
        for order in itertools.permutations(a - b for a, b in itertools.pairwise(ends)):
            wanted[order] += chance / math.factorial(parts)
    assert law_of(lambda draw: near_corner(np.array([total]), parts, draw)) == wanted
    assert len(wanted) == math.comb(total + parts - 1, parts - 1)


def string_of(statistics, column, task):
    """A string with the statistics of a column, its prefix tokens dealt out class by class."""
    period, length = task.period, int(statistics.length[column])
    suffix = [int(code) for code in statistics.suffix[:, column]]
    table = statistics.prefix[:, column].reshape(task.symbols, period)
    bags = {r: [s for s in range(task.symbols) for _ in range(table[s, r])] for r in range(period)}
    string = [bags[place % period].pop() for place in range(1, length - len(suffix) + 1)]
    assert not any(bags.values())
    for place, code in zip(range(length - len(suffix) + 1, length + 1), reversed(suffix), strict=True):
        assert code % period == place % period
        string.append(code // period)
    return string


@pytest.mark.parametrize("task", TASKS, ids=str)
def test_corners_are_strings_of_the_task(task):
    length = np.arange(task.shortest, task.shortest + 60).repeat(5)
    drawn = task.corners(length, numpy_draw(0))
    assert np.min(drawn.prefix) >= 0
    targets = task.target_of(drawn)
    for column in range(len(length)):
        string = string_of(drawn, column, task)
        assert len(string) == length[column]
        assert targets[column] == pytest.approx(task.target(string), abs=1e-14)


@pytest.mark.parametrize("task", TASKS, ids=str)
def test_corners_edges_and_rare_last_tokens_occur_at_every_length(task):
    """Far more often than the task's own law draws them: that of all but two tokens alike at length 10^6 is below 10^-4."""
    size = 4000
    drawn = task.corners(np.full(size, 10**6), numpy_draw(1))
    whole = drawn.prefix.reshape(task.symbols, task.period, size)
    rare = np.sum(np.sort(whole, axis=0)[:-1], axis=0)  # in each class, all but the commonest token
    assert np.mean(rare[0] == 0) > 0.03
    assert np.mean((rare[0] > 0) & (rare[0] < 10)) > 0.05
    assert np.mean(rare[0] > 1000) > 0.2
    last = drawn.suffix[0] // task.period
    own = np.argmax(whole[:, 10**6 % task.period], axis=0)
    assert np.mean(last != own) > 0.2
    usual = task.statistics(np.full(size, 10**6), numpy_draw(1)).prefix.reshape(task.symbols, task.period, size)
    assert np.mean(np.sum(np.sort(usual, axis=0)[:-1], axis=0)[0] < 10) < 1e-2


@pytest.mark.parametrize("task", [SimpleTask(2.0), ModPTask(3, 1), TailTask(3)], ids=str)
def test_the_engine_draws_the_same_corners_as_numpy_would(task):
    """Int32 on JAX: the counts add up there too, up to the longest length that is trained."""
    length = jnp.asarray([task.shortest, 7, 1000, 2**24], jnp.int32).repeat(50)
    drawn = task.corners(length, drawing(jax.random.key(0)))
    assert drawn.prefix.dtype == drawn.suffix.dtype == jnp.int32
    assert np.min(drawn.prefix) >= 0
    assert np.all(np.sum(drawn.prefix, axis=0) + len(drawn.suffix) == length)
    assert np.min(drawn.suffix) >= 0
    assert np.max(drawn.suffix) < task.symbols * task.period


def run(**training):
    return Run(
        task="simple:omega=4.0,symbols=3",
        longest=16,
        seed=3,
        model=Model(offsets=0),
        training=Training(steps=4000, **training),
        testing=Testing(lengths=(100, 10_000)),
        tile=8,
    )


def test_without_a_share_the_record_and_its_id_are_what_they_were():
    """The id is that of version 0.1.0 before there were shares; the field is not in the record."""
    assert run().id == run(adversarial=0).id == run(adversarial=0.0).id == "be5f9bcfb104e608"
    assert b"adversarial" not in canonical(msgspec.to_builtins(run(adversarial=0.0)))
    shared = run(adversarial=0.25)
    assert shared.id != run().id
    assert record(msgspec.to_builtins(shared), Run, "run") == shared
    assert "adversarial 0.25" in str(shared)
    assert "adversarial" not in str(run())


def test_twins_begin_alike_and_differ_in_their_corners_alone():
    usual, twin = run(), run(adversarial=0.25)
    assert np.array_equal(plan_of(usual).stream, plan_of(twin).stream)
    assert not np.array_equal(plan_of(usual).stream, plan_of(msgspec.structs.replace(usual, seed=4)).stream)
    assert (shape_of(usual).corners, shape_of(twin).corners) == (0, 256)
    assert shape_of(run(adversarial=1e-9)).corners == 1


@pytest.mark.parametrize(("path", "share"), [("statistics", 0.25), ("last-query", 1)])
def test_the_loss_of_a_batch_with_corners(path, share):
    """The mean over the strings of the task's law, and over those at the corners, each with its exact target."""
    shape = shape_of(run(adversarial=share, batch=64, path=path))
    weights, key = initial_weights(jax.random.key(1), shape.sizes), jax.random.key(2)
    task, length = SimpleTask(4.0), jax.random.randint(jax.random.key(3), (64,), 1, 17)
    corners = round(64 * share)

    @jax.jit
    def errors(weights, key, length):
        other = drawing(jax.random.fold_in(key, (1 << 16) + 1))
        drawn = task.statistics(length, drawing(key)), task.corners(length[:corners], other)
        return [(outputs(weights, shape.sizes, part) - task.target_of(part)) ** 2 for part in drawn]

    usual, rare = map(np.asarray, errors(weights, key, length))
    wanted = np.mean(np.concatenate([rare, usual[corners:]]))
    found = jax.jit(lambda *given: squared_error(given[0], shape, task, *given[1:]))(weights, key, length)
    assert float(found) == pytest.approx(wanted, rel=1e-4)
    assert wanted != pytest.approx(np.mean(usual), rel=1e-3)


def test_a_study_reads_shares_from_its_file():
    found = Study.parse(TEXT + "[[beside]]\nomega = [3]\n", "text", ["training.adversarial=0.5"])
    assert {one.training.corner_share for one in found.runs()} == {0.5}
    assert "adversarial = 0.5" in found.toml()
    assert Study.parse(found.toml(), "text") == found
    grid = Study.parse(TEXT, "text", ["grid.adversarial=[0, 0.25]"])
    assert sorted({one.training.corner_share for one in grid.runs()}) == [0, 0.25]
    assert len({one.id for one in grid.runs()}) == len(grid.runs()) == 16
