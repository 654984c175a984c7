"""The four constructions against five-line oracles, and against the printed k-gram values."""

import numpy as np
import pytest

import lengthwise as lw
import oracles
from lengthwise.limit.constructions import kgram_add, kgram_and, mod_p_task, simple_task
from lengthwise.limit.evaluate import evaluate
from test_evaluate import X3

X8 = [0, 1, 1, 0, 1, 0, 0, 1]


@pytest.mark.parametrize("omega", [0.5, 1, 2, 4, 12])
def test_simple_task_under_hardmax_and_on_long_strings(omega):
    rng = np.random.default_rng(0)
    for length in (1, 2, 5, 40, 300):
        string = rng.integers(0, 3, size=length)
        [exact] = lw.evaluate_counts(simple_task(omega), lw.Counts.of(string, 3, 1, 0), hardmax=True)
        assert float(exact) == pytest.approx(oracles.simple_task(omega, string), abs=1e-13)
        if length >= 16:  # 2^(p/margin) with p = 4 bits and margin 1
            assert evaluate(simple_task(omega, bits=4), string, "dense")[0] == pytest.approx(float(exact), abs=1e-12)


def test_simple_task_without_zeros_and_ones_is_zero():
    assert evaluate(simple_task(3.0), [2, 2, 2])[0] == 0 == oracles.simple_task(3.0, [2, 2, 2])


@pytest.mark.parametrize(("period", "residue"), [(1, 0), (2, 1), (3, 0), (5, 4)])
def test_mod_p_task_under_hardmax_and_on_long_strings(period, residue):
    rng = np.random.default_rng(1)
    for length in (period, 17, 60, 301):
        string = rng.integers(0, 2, size=length)
        wanted = oracles.mod_p_task(period, residue, string) if length >= period else None
        [exact] = lw.evaluate_counts(mod_p_task(period, residue), lw.Counts.of(string, 2, period, 0), hardmax=True)
        assert float(exact) == pytest.approx(wanted, abs=1e-14)
        if length >= 16:
            model = mod_p_task(period, residue, bits=4)
            assert evaluate(model, string, "dense")[0] == pytest.approx(wanted, abs=1e-12)


PRINTED = {  # (order, string): (AND with backoff .1, ADD with sharpness 3), dominance 3
    (1, "x"): ((0.62906519, 0.37093481), (0.64746161, 0.35253839)),
    (2, "x"): ((0.53441934, 0.46558066), (0.56085215, 0.43914785)),
    (1, "x3"): ((0.38626936, 0.61373064), (0.39247136, 0.60752864)),
    (2, "x3"): ((0.0747104, 0.9252896), (0.04676079, 0.95323921)),
}


@pytest.mark.parametrize("method", ["dense", "linear"])
@pytest.mark.parametrize(("order", "name"), PRINTED)
def test_printed_kgram_values(order, name, method):
    string = X8 if name == "x" else X3
    conjunction, added = PRINTED[order, name]
    assert evaluate(kgram_and(2, order, 0.1), string, method) == pytest.approx(conjunction, abs=5.1e-9)
    assert evaluate(kgram_add(2, order, 3.0), string, method) == pytest.approx(added, abs=5.1e-9)


@pytest.mark.parametrize(("symbols", "order"), [(2, 1), (3, 2), (2, 3)])
def test_kgram_and_converges_to_its_target_like_one_over_the_length(symbols, order):
    """Proposition F': the distance is at most 2 k b (1 + 1/backoff) / T, so T times it stays bounded."""
    backoff = 0.2
    bound = 2 * order * np.log1p(1 / backoff) * (1 + 1 / backoff)
    for length in (50, 500, 5_000):
        string = np.random.default_rng(length).integers(0, symbols, size=length)
        output = evaluate(kgram_and(symbols, order, backoff), string)
        distance = 0.5 * np.abs(output - oracles.kgram(symbols, order, list(string), backoff)).sum()
        assert distance <= bound / length
        assert output.sum() == pytest.approx(1, abs=1e-12)


def test_kgram_add_is_near_the_law_after_matches():
    """9.3: TV <= e^-b (1-pi)/pi + e^{kb} b k (H + eta + k/T); at b = 3, k = 1 and 3000 tokens that is 0.26 at most."""
    string = list(np.random.default_rng(4).integers(0, 2, size=3_000))
    order, sharpness, n = 1, 3.0, len(string)
    share = sum(string[j - 1] == string[-1] for j in range(1, n)) / n
    eta = [(j - 1) / (j**3 + j - 1) for j in range(1, n + 1)]
    bound = np.exp(-sharpness) * (1 - share) / share + np.exp(order * sharpness) * sharpness * order * (
        np.mean(eta) + eta[-1] + order / n
    )
    distance = 0.5 * np.abs(evaluate(kgram_add(2, 1, 3.0), string) - oracles.kgram(2, 1, string, 0)).sum()
    assert distance <= bound < 0.3
    assert distance > 1e-4  # the floor of the construction is real


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: mod_p_task(3, 3), "residue"),
        (lambda: mod_p_task(0, 0), "residue"),
        (lambda: kgram_add(2, 0, 1.0), "order 1"),
        (lambda: kgram_add(2, 1, 0.0), "sharpness"),
        (lambda: kgram_and(2, 1, 0.0), "backoff"),
        (lambda: kgram_and(2, 1, 0.1, dominance=1.0), "dominance"),
        (lambda: kgram_and(100, 4, 0.1), "contexts"),
        (lambda: simple_task(float("nan")), "finite"),
    ],
)
def test_wrong_parameters(build, message):
    with pytest.raises(lw.WrongInput, match=message):
        build()
