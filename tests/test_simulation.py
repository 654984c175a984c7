"""Theorem A as a theorem: sampled strings move outputs by no more than the bound; the lemmas' constants are attained."""

import numpy as np
import pytest

from helpers_quantities import MILD_F, MILD_H, POS, TOK, random_two_layer
from lengthwise.errors import WrongInput
from lengthwise.limit.arithmetic import balls, floats
from lengthwise.limit.constructions import kgram_and
from lengthwise.limit.evaluate import evaluate
from lengthwise.limit.model import MLP, Head, Layer, LimitTransformer
from lengthwise.limit.quantities import complexity, limit_rows
from lengthwise.theory.balanced_windows import balanced_offsets
from lengthwise.theory.measured_search import measured_error, measured_search, window_grid
from lengthwise.theory.samplers import chain_positions, drawn_offsets, kept_windows
from lengthwise.theory.sampling_rates import Shape
from lengthwise.theory.simulation import simulated_pair


def families(rng, symbols, length):
    """Strings that are hard to sample: late changes, rare tokens, periods, blocks that double, a burst at the end."""
    places = np.arange(length)
    rare = (rng.random(length) < 3 / length).astype(np.int64)
    return {
        "half": (places >= length // 2).astype(np.int64),
        "rare": rare,
        "periodic": places % symbols,
        "blocks": np.log2(places + 1).astype(np.int64) % symbols,
        "sorted": places * symbols // length,
        "iid": rng.integers(0, symbols, length),
        "rare at the end": np.where(places >= length - 5, symbols - 1, 0),
        "burst": np.where((places > length * 0.9) & (places < length * 0.95), 1, 0),
    }


def random_pair(rng):
    f = random_two_layer(rng, ("relu", "tanh"))
    g = random_two_layer(rng, ("relu", "tanh"))
    while g.symbols != f.symbols:
        g = random_two_layer(rng, ("relu", "tanh"))
    return f, g


def check_pair(seed, length, blocks, cells):
    """The largest error over bound of the three samplers, means over draws for the random ones."""
    rng = np.random.default_rng(seed)
    pair = random_pair(rng)
    seen = simulated_pair(*pair, smoothed=True)
    shape, window = seen.shape, cells * seen.shape.period
    name = list(families(rng, 2, 8))[seed % 8]
    string = families(rng, pair[0].symbols, length)[name]
    wanted = [evaluate(model, string) for model in pair]

    def error(positions):
        return sum(measured_error(w, evaluate(m, string[positions])) for w, m in zip(wanted, pair, strict=True))

    def bound(sampler, *size):
        return balls().total(seen.terms(sampler, *size, balls())).upper()

    drawn = [kept_windows(length, window, drawn_offsets(rng, length, blocks, window, shape), shape) for _ in range(6)]
    balanced = kept_windows(length, window, balanced_offsets(pair, string, blocks, window, shape), shape)
    kept, run = length // 8, max(2 * shape.period, round((length // 8) ** (1 / 3)))
    chained = [chain_positions(rng, length, kept, run, shape) for _ in range(6)]
    return {
        "windows": np.mean([error(p) for p in drawn]) / bound("windows", blocks, window),
        "balanced": error(balanced) / bound("balanced", blocks, window),
        "chain": np.mean([error(p) for p in chained]) / bound("chain", kept, run),
    }


def test_no_pair_of_a_hundred_exceeds_theorem_a():
    found = [check_pair(seed, 2000, 20, 8) for seed in range(100)]
    for sampler in ("windows", "balanced", "chain"):
        assert max(ratios[sampler] for ratios in found) <= 1


@pytest.mark.slow
def test_no_pair_of_four_thousand_exceeds_theorem_a():
    sizes = [(1200, 7, 3), (4000, 20, 16), (9000, 60, 9), (2000, 120, 2)]
    for seed in range(100, 4100):
        assert max(check_pair(seed, *sizes[seed % 4]).values()) <= 1, seed


@pytest.mark.slow
def test_nasty_strings_of_a_million_tokens():
    rng = np.random.default_rng(5)
    for pair in ((MILD_F, MILD_H), (TOK, POS), (kgram_and(2, 1, 0.1),)):
        seen = simulated_pair(*pair, smoothed=True)
        for name, string in families(rng, 2, 10**6).items():
            wanted = [evaluate(model, string) for model in pair]
            for blocks, window in ((100, 10), (464, 22), (2154, 46)):
                offsets = [drawn_offsets(rng, 10**6, blocks, window, seen.shape) for _ in range(4)]
                balanced = balanced_offsets(pair, string, blocks, window, seen.shape)
                errors = [
                    sum(
                        measured_error(w, evaluate(m, string[kept_windows(10**6, window, o, seen.shape)]))
                        for w, m in zip(wanted, pair, strict=True)
                    )
                    for o in (*offsets, balanced)
                ]
                for sampler, error in (("windows", np.mean(errors[:4])), ("balanced", errors[4])):
                    bound = floats().total(seen.terms(sampler, blocks, window, floats()))
                    assert error <= bound, (name, sampler)


def test_the_bound_is_meaningful_where_constants_are_mild():
    """One head of weight 1/10 on an adversarial string: a bound shrunk to a twentieth would be exceeded."""
    length, blocks, window = 3000, 4, 1
    head = Head(np.zeros((2, 2)), np.zeros((2, 2)), np.zeros((2, 2)), [0.0])
    second = Head(np.zeros((2, 2)), np.zeros((2, 2)), np.diag([1.0, 0.0]))
    model = LimitTransformer(
        embedding=np.eye(2), layers=(Layer((head,)), Layer((second,))), unembedding=[[1.0, 0.0]], attention="log-suffix"
    )
    string = np.arange(length) % 2
    rng = np.random.default_rng(0)
    seen = simulated_pair(model, smoothed=True)
    errors = [
        measured_error(
            evaluate(model, string),
            evaluate(
                model,
                string[
                    kept_windows(length, window, drawn_offsets(rng, length, blocks, window, seen.shape), seen.shape)
                ],
            ),
        )
        for _ in range(400)
    ]
    bound = floats().total(seen.terms("windows", blocks, window, floats()))
    assert bound / 20 < np.mean(errors) <= bound


# --- the lemmas behind it are attained ---


def test_lemma_2_is_attained():
    """Moving little mass from the low to the high logit changes the limit by L_1 times the mass."""
    for spread in (0.5, 2.0):
        head = Head([[0.0, spread]], [[1.0, 1.0]], np.diag([0.0, 1.0]), [0.0])
        model = LimitTransformer(
            embedding=np.eye(2),
            layers=(Layer((head,)), Layer((Head(*np.zeros((3, 2, 2))),))),
            unembedding=np.eye(2),
            attention="log-suffix",
        )
        n, moved = 100_000, 20
        before = limit_rows(model, [0] * n)[-1]
        after = limit_rows(model, [1] * moved + [0] * (n - moved))[-1]
        gain = complexity(model).histogram_gain
        assert 0.97 * gain < np.linalg.norm(after - before) / (moved / n) <= gain


def line_model(key, value):
    """Rows on the line [-1, 1], so that all constants of layer 2 are attained there."""
    return LimitTransformer(
        embedding=[[1.0], [-1.0]],
        layers=(Layer((Head([[0.0]], [[0.0]], [[0.0]]),)), Layer((Head([[key]], [[1.0]], [[value]]),))),
        unembedding=[[1.0]],
        attention="log-suffix",
    )


def mean(rows, query, key, value):
    weights = np.exp(key * rows * query - (key * rows * query).max())
    return value * (weights @ rows) / weights.sum(), weights / weights.sum()


def test_lemma_3_is_attained_in_both_of_its_terms():
    key, value = 0.7, 1.3
    (head,) = complexity(line_model(key, value), box=False).second
    rows, step = -np.ones(200_000), 1e-3
    rows[0] = 1 - step
    before, _ = mean(rows, 1.0, key, value)
    rows[0] = 1
    after, weights = mean(rows, 1.0, key, value)
    assert 0.99 * head.key_gain < (after - before) / (weights[0] * step) <= head.key_gain
    rows = np.array([1.0, -1.0])
    turned = mean(rows, 1e-4, key, value)[0] - mean(rows, 0.0, key, value)[0]
    assert 0.99 * head.query_gain < turned / 1e-4 <= head.query_gain


# --- the search by measuring ---


def test_the_search_finds_better_strings_than_its_first_draw_and_says_what_it_measured():
    string = np.arange(5000) ** 2 % 7 < 3
    string = string.astype(np.int64)
    found = measured_search((MILD_F, MILD_H), string, 300, draws=30)
    short = string[found.positions]
    assert len(short) <= 300
    again = [measured_error(evaluate(m, string), evaluate(m, short)) for m in (MILD_F, MILD_H)]
    assert found.errors == pytest.approx(again)
    one = measured_search((MILD_F, MILD_H), string, 300, draws=1, balanced=False)
    assert found.error <= one.error
    same = measured_search((MILD_F, MILD_H), string, 300, draws=30)
    assert same.errors == found.errors
    assert (same.positions == found.positions).all()
    other = measured_search((MILD_F, MILD_H), string, 300, draws=30, seed=1)
    assert other.errors != found.errors


def test_the_search_takes_any_model_that_runs():
    rng = np.random.default_rng(0)
    layers = tuple(
        Layer((Head(*rng.normal(size=(3, 2, 2)) * 0.3, [0.5]),), MLP([[1, 1]], [0.0], [[0.1], [0.1]])) for _ in range(3)
    )
    deep = LimitTransformer(embedding=np.eye(2), layers=layers, unembedding=[[1.0, 0]], attention="log-suffix")
    plain = LimitTransformer(embedding=np.eye(2), layers=layers[:2], unembedding=[[1.0, 0]], attention="plain")
    string = rng.integers(0, 2, 600)
    for model in (deep, plain):
        found = measured_search((model,), string, 100, draws=9)
        assert found.sampler == "stratified windows"
        assert found.error < 0.2


def test_short_strings_stand_for_themselves_and_impossible_lengths_are_told():
    found = measured_search((MILD_F,), np.zeros(50, np.int64), 50)
    assert found.errors == (0.0,)
    assert len(found.positions) == 50
    with pytest.raises(WrongInput, match="at least 4"):
        measured_search((MILD_F,), np.zeros(50, np.int64), 3)


def test_the_grid_fits():
    for kept, prefix, period in ((10, 12, 1), (997, 10**6, 1), (999, 1000, 3), (7, 8, 4)):
        grid = window_grid(kept, prefix, Shape(2, 0, period, 0))
        assert grid
        assert all(blocks * window <= min(kept, prefix) and window % period == 0 for blocks, window in grid)
