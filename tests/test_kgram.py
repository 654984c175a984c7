"""The in-context k-gram: targets, data, and how far the two constructions are from it."""

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

import lengthwise as lw
import oracles
from lengthwise.errors import WrongInput
from lengthwise.limit.constructions import kgram_add, kgram_and
from lengthwise.limit.evaluate import evaluate
from lengthwise.limit.quantities import complexity
from lengthwise.tasks.kgram import KGramTask, addition_error, conjunction_error, constructions_for, dilution

SHORT = [0, 1, 1, 0, 1, 0, 0, 1]
X3 = [int(i * i % 7 < 3) for i in range(1, 1001)]


def test_printed_targets():
    bigram, trigram = KGramTask(2, 1, 0.1), KGramTask(2, 2, 0.1)
    assert bigram.hard_target(SHORT) == (Fraction(2, 3), Fraction(1, 3))
    assert bigram.match_rate(SHORT) == Fraction(3, 8)
    assert [float(p) for p in bigram.target(SHORT)] == pytest.approx([0.63157895, 0.36842105], abs=5e-9)
    assert trigram.hard_target(SHORT) == (Fraction(1, 2), Fraction(1, 2))
    assert trigram.match_rate(SHORT) == Fraction(1, 4)
    assert [float(p) for p in bigram.target(X3)] == pytest.approx([0.38696187, 0.61303813], abs=5e-9)
    assert [float(p) for p in bigram.hard_target(X3)] == pytest.approx([0.40112202, 0.59887798], abs=5e-9)
    assert bigram.match_rate(X3) == Fraction(713, 1000)
    assert [float(p) for p in trigram.target(X3)] == pytest.approx([0.07428571, 0.92571429], abs=5e-9)
    assert trigram.hard_target(X3) == (0, 1)
    assert trigram.match_rate(X3) == Fraction(285, 1000)
    assert bigram.hard_target([1]) is None


def test_the_target_is_the_oracle_on_all_short_strings():
    for symbols, order in ((2, 1), (2, 2), (3, 1), (2, 3)):
        task = KGramTask(symbols, order, 0.25)
        for length in range(order, 7 if symbols == 2 else 6):
            for string in product(range(symbols), repeat=length):
                assert [float(p) for p in task.target(string)] == pytest.approx(
                    list(oracles.kgram(symbols, order, string, 0.25))
                )


def test_the_construction_is_the_target_on_long_strings():
    task = KGramTask(3, 2, 0.05)
    string = task.strings(np.random.default_rng(0), 20_000, 1)[0]
    assert evaluate(task.construction(), string) == pytest.approx([float(p) for p in task.target(string)], abs=2e-3)


def test_strings_have_a_kernel_each():
    task = KGramTask(2, 1, concentration=0.2)
    drawn = task.strings(np.random.default_rng(1), 400, 300)
    assert drawn.shape == (300, 400)
    assert set(np.unique(drawn)) == {0, 1}
    after_zero = [row[1:][row[:-1] == 0].mean() for row in drawn if (row[:-1] == 0).sum() > 20]
    assert np.var(after_zero) > 0.1  # of Dirichlet(0.2): 0.25 / 1.4 = 0.18; of one kernel for all: 0.002
    uniform = KGramTask(2, 1, concentration=1e6).strings(np.random.default_rng(1), 400, 50)
    assert uniform.mean() == pytest.approx(0.5, abs=0.02)
    ordered = KGramTask(3, 2).strings(np.random.default_rng(2), 2, 3000)
    assert np.bincount(ordered.ravel(), minlength=3) == pytest.approx(np.full(3, 2000), abs=150)


def test_the_kernel_is_of_the_stated_order():
    """Given the last two tokens of an order-2 string, the third one back says nothing: rates agree within one string."""
    task = KGramTask(2, 2, concentration=1.0)
    row = task.strings(np.random.default_rng(5), 60_000, 1)[0]
    for a, b in product(range(2), repeat=2):
        rates = [
            row[3:][(row[:-3] == first) & (row[1:-2] == a) & (row[2:-1] == b)].mean()
            for first in range(2)
            if ((row[:-3] == first) & (row[1:-2] == a) & (row[2:-1] == b)).sum() > 2000
        ]
        assert np.ptp(rates) < 0.05 if len(rates) == 2 else True


def test_dilution_is_its_definition():
    for dominance in (1.3, 2.0, 3.0):
        for length in (1, 2, 10, 1500):
            etas = [(j - 1) / (j**dominance + j - 1) for j in range(1, length + 1)]
            mean, last = dilution(dominance, length)
            assert sum(etas) / length <= mean <= sum(etas) / length * 1.3 + 1e-12
            assert etas[-1] <= last <= etas[-1] * (1 + 1e-9) + 1e-300
    mean, _ = dilution(3.0, 10**15)
    assert 0 < mean * 10**15 < 0.43


def total_variation(first, second):
    return sum(abs(float(a) - float(b)) for a, b in zip(first, second, strict=True)) / 2


def test_both_constructions_are_within_their_error_of_their_target():
    closest = {"and": 0.0, "add": 0.0}
    for seed in range(60):
        rng = np.random.default_rng(seed)
        symbols, order = int(rng.integers(2, 4)), int(rng.integers(1, 4))
        dominance, length = float(rng.choice([1.5, 2.0, 3.0])), int(rng.integers(order + 1, 1000))
        task = KGramTask(symbols, order, float(rng.choice([0.3, 0.1, 0.03])))
        string = task.strings(rng, length, 1)[0]
        bound = conjunction_error(task, length, dominance)
        away = total_variation(
            evaluate(kgram_and(symbols, order, task.backoff, dominance), string), task.target(string)
        )
        assert away <= bound + 1e-9
        closest["and"] = max(closest["and"], away / bound)
        hard = task.hard_target(string)
        if hard is not None:
            sharpness = float(rng.choice([1.0, 3.0]))
            bound = addition_error(task, sharpness, task.match_rate(string), length, dominance)
            away = total_variation(evaluate(kgram_add(symbols, order, sharpness, dominance), string), hard)
            assert away <= bound + 1e-9
            closest["add"] = max(closest["add"], away / bound)
    assert closest["and"] > 0.03
    assert closest["add"] > 0.2


def test_the_error_falls_with_the_length_as_stated():
    task = KGramTask(2, 2, 0.05)
    values = [conjunction_error(task, 10**k) for k in (6, 9)]
    assert math.log10(values[0] / values[1]) == pytest.approx(3, abs=0.01)
    steps = addition_error(task, 12.0, Fraction(1, 4), 10**24)
    assert steps == pytest.approx(3 * math.exp(-12), rel=0.01)


@pytest.mark.parametrize("order", [1, 2, 3])
def test_the_two_accountings(order):
    """C grows as eps^-(k (k+1)) for the sum of lags, and as eps^-(k+1) for the conjunction."""
    logs = [
        [complexity(model).log2_sampling_gain for model in constructions_for(KGramTask(2, order), error)]
        for error in (1e-2, 1e-3)
    ]
    slopes = [(fine - coarse) / math.log2(10) for coarse, fine in zip(*logs, strict=True)]
    assert slopes == pytest.approx([order * (order + 1), order + 1], rel=0.01)


def test_the_task_by_name():
    task = lw.task("kgram:symbols=3,order=2")
    assert (task.symbols, task.locality, task.shortest) == (3, 2, 2)
    for wrong, wanted in (("order=0", "order"), ("backoff=0", "backoff"), ("symbols=50,order=9", "contexts")):
        with pytest.raises(WrongInput, match=wanted):
            lw.task(f"kgram:{wrong}")
    with pytest.raises(WrongInput, match="can be trained"):
        lw.forecast("kgram", loss=0.01)
    with pytest.raises(WrongInput, match="at least 2 tokens"):
        task.target([1])
    with pytest.raises(WrongInput, match="needs a match"):
        addition_error(task, 1.0, Fraction(0), 10)
