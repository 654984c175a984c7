"""One layer from counts: the same as the definition, for any order of the prefix and any length; hardmax is exact."""

import math
from fractions import Fraction

import numpy as np
import pytest

import lengthwise as lw
from lengthwise.limit.constructions import mod_p_task, simple_task
from lengthwise.limit.evaluate import evaluate
from lengthwise.limit.model import MLP, Head, Layer, LimitTransformer
from lengthwise.strings import Counts
from models import random_model, random_string
from test_evaluate import close


def one_head(tables, values, **rest):
    """A one-layer model whose logit for (key type, query token) is tables[type]; values is what each type is worth.

    Types are (token, residue); coordinates are the one-hot of the type, then the answer.
    """
    symbols, period = tables.shape[:2]
    codes = np.eye(symbols, symbols + period + 1), np.eye(period, symbols + period + 1, k=symbols)
    width = symbols + period + 1
    key = np.zeros((1, width))
    key[0, :symbols], key[0, symbols : symbols + period] = tables[:, 0], tables[0] - tables[0, 0]
    query = np.zeros((1, width))
    query[0, :symbols] = 1
    value = np.zeros((width, width))
    value[-1, :symbols] = values
    layer = Layer([Head(key, query, value, rest.pop("phi", ()))])
    unembedding = np.eye(1, width, k=width - 1)
    return LimitTransformer(embedding=codes[0], positions=codes[1], layers=[layer], unembedding=unembedding, **rest)


@pytest.mark.parametrize("seed", range(60))
def test_counts_are_the_definition_on_explicit_strings(seed):
    rng = np.random.default_rng(seed)
    model = random_model(rng, depth=1)
    string = random_string(rng, model.symbols)
    wanted = evaluate(model, string, "dense")
    for locality in (model.locality, model.locality + 1, 130):  # a longer suffix says more and changes nothing
        counts = Counts.of(string, model.symbols, model.period, locality)
        assert close(lw.evaluate_counts(model, counts), wanted, 1e-12)
    folded = Counts.of(string, model.symbols, 2 * model.period, model.locality)
    assert close(lw.evaluate_counts(model, folded), wanted, 1e-12)


@pytest.mark.parametrize("seed", range(30))
def test_the_order_of_the_prefix_within_residues_is_free(seed):
    rng = np.random.default_rng(seed)
    model = random_model(rng, depth=1)
    string = rng.integers(0, model.symbols, size=60)
    shuffled = string.copy()
    cut = len(string) - model.locality - 1
    for residue in range(model.period):
        places = np.array([i for i in range(cut) if (i + 1) % model.period == residue], dtype=int)
        shuffled[places] = rng.permutation(shuffled[places])
    assert close(evaluate(model, shuffled, "dense"), evaluate(model, string, "dense"), 1e-12)
    moved = np.roll(string, 1)  # an order that moves tokens between residues does change the output somewhere
    assert model.period == 1 or not np.array_equal(moved, string)


def test_lengths_beyond_every_float():
    model = simple_task(2.0, bits=4)
    for n in (30, 30 * 10**14, 3 * 10**18, 3 * 10**60, 3 * 10**400):
        part = n // 30
        counts = Counts(suffix=[2], table=[[14 * part], [6 * part], [10 * part - 1]])
        assert lw.evaluate_counts(model, counts)[0] == pytest.approx(math.sin(0.8), abs=1e-15)
    plain = simple_task(2.0, attention="plain")
    big, bigger = (
        lw.evaluate_counts(plain, Counts([2], [[7 * k], [3 * k], [5 * k - 1]]))[0] for k in (10**40, 10**500)
    )
    assert big == pytest.approx(bigger, abs=1e-15)


def test_hardmax_is_the_limit_and_exact():
    counts = Counts(suffix=[2], table=[[14], [6], [9]])
    [ball] = lw.evaluate_counts(simple_task(2.0), counts, hardmax=True)
    assert ball.lower() <= math.sin(0.8) <= ball.upper()
    assert ball.upper() - ball.lower() < 1e-15
    string = np.random.default_rng(0).integers(0, 2, size=301)
    exact = lw.evaluate_counts(mod_p_task(3, 1), Counts.of(string, 2, 3, 0), hardmax=True)
    chosen = [int(t) for i, t in enumerate(string, start=1) if i % 3 == 1]
    assert exact == [Fraction(sum(chosen), len(chosen))]


@pytest.mark.parametrize("seed", range(20))
def test_hardmax_is_what_long_strings_with_bits_compute(seed):
    """Beyond n = 2^(p/gap) the rounded softmax is the hardmax; weights on a coarse grid make ties common."""
    rng = np.random.default_rng(seed)
    symbols, period, width = 3, int(rng.integers(1, 3)), 3
    grid = lambda *shape: rng.integers(-2, 3, size=shape) / 2  # noqa: E731
    head = Head(grid(2, width), grid(2, width), grid(width, width), grid(int(rng.integers(0, 3))))
    model = LimitTransformer(
        embedding=grid(symbols, width), positions=grid(period, width),
        layers=[Layer([head], MLP(grid(2, width), grid(2), grid(width, 2)))],
        unembedding=grid(2, width), attention="log-length", bits=3,
    )  # fmt: skip
    string = rng.integers(0, symbols, size=24 + 5)  # a prefix of 24 positions: classes of equal size, which scale
    counts = Counts.of(string, symbols, period, 4)
    long = Counts(counts.suffix, [[v * 10**20 for v in row] for row in counts.table])  # gap >= 2^-4, p/gap <= 48 bits
    exact = [float(v) for v in lw.evaluate_counts(model, long, hardmax=True)]
    assert close(lw.evaluate_counts(model, long), exact, 1e-12)


def test_a_margin_read_off_the_printed_text_is_wrong():
    """Counterexample 1: logits 0, phi(0) = 1/100: at n = 1000 the output is 0.99893 and not the hardmax's 0."""
    model = one_head(np.zeros((2, 1)), [1, 0], phi=[0.01], attention="log-length", bits=8)
    output = lw.evaluate_counts(model, Counts([1], [[999], [0]]))
    assert output[0] == pytest.approx(0.99893, abs=5e-6)
    assert lw.evaluate_counts(model, Counts([1], [[999], [0]]), hardmax=True) == [0]


def test_too_short_a_string_does_not_round():
    """Counterexample 2: logits a:1, b:0, locality 1, p = 4."""
    model = one_head(np.array([[1.0], [0.0]]), [1, 0], phi=[0.0, 0.0], attention="log-length", bits=4)
    assert evaluate(model, [0] + [1] * 999)[0] == pytest.approx(1, abs=1e-15)
    assert evaluate(model, [0, 1, 1])[0] == pytest.approx(0.6, abs=1e-15)
    assert evaluate(model, [0] + [1] * 15)[0] == pytest.approx(1, abs=1e-15)


def test_types_are_not_tokens():
    """Counterexample 3: logits (1, 1, 0) on even and (1.5, 1.5, .5) on odd positions."""
    tables = np.array([[1.0, 1.5], [1.0, 1.5], [0.0, 0.5]])
    model = one_head(tables, [1, 0, 0], attention="log-length", bits=2)
    odd_c = lambda even: [2 if i % 2 else even[i // 2 % len(even)] for i in range(1, 4002)] + [1]  # noqa: E731
    assert evaluate(model, odd_c([0, 1, 1, 1]))[0] == pytest.approx(0.24988, abs=5e-6)
    assert evaluate(model, [0, 1, 1, 1] * 5 + [1])[0] == pytest.approx(0.4545, abs=5e-5)
    short = Counts([1], [[25, 0], [75, 0], [0, 101]])
    assert short.length == 202
    assert lw.evaluate_counts(model, short)[0] == pytest.approx(0.24752, abs=5e-6)
    filler = Counts([1], [[25, 101], [75, 0], [0, 0]])
    assert lw.evaluate_counts(model, filler)[0] == pytest.approx(1.0, abs=1e-12)


def test_residues_must_not_shift():
    """Counterexample 4: query residue r attends key residue r; even positions a, odd positions b."""
    width = 4
    head = Head(np.eye(2, width, k=2), np.eye(2, width, k=2), np.diag([1.0, 0, 0, 0]))
    model = LimitTransformer(
        embedding=np.eye(2, width), positions=np.eye(2, width, k=2), layers=[Layer([head])],
        unembedding=[[1.0, 0, 0, 0]], attention="log-length", bits=4,
    )  # fmt: skip
    answer = lambda string: evaluate(model, string)[0] - (string[-1] == 0)  # noqa: E731  (without the residual)
    pattern = lambda n: [i % 2 for i in range(1, n + 1)]  # noqa: E731
    assert answer(pattern(1000)) == pytest.approx(1, abs=1e-12)
    assert answer(pattern(100) + [0]) == pytest.approx(0.0196, abs=5e-5)
    assert answer(pattern(100)) == pytest.approx(1, abs=1e-12)


def test_a_short_string_with_another_gap():
    """Counterexample 8: z = bc has the hardmax of x but not its softmax."""
    model = one_head(np.array([[10.0], [0.0], [-0.1]]), [1, 1, -5], attention="log-length", bits=10)
    x = Counts([2], [[1000], [100_000], [1000]])
    z = Counts([2], [[0], [1], [0]])
    assert lw.evaluate_counts(model, x)[0] == pytest.approx(1, abs=1e-12)
    assert lw.evaluate_counts(model, z, hardmax=True) == [1]
    assert lw.evaluate_counts(model, z)[0] == pytest.approx(-1.896, abs=5e-4)


@pytest.mark.parametrize(
    ("model", "counts", "message"),
    [
        (simple_task(1.0), Counts([0], [[1], [1]]), "table of 3 tokens"),
        (mod_p_task(3, 0), Counts([0], [[1, 1], [0, 0]]), "3 residues"),
        (random_model(np.random.default_rng(0), depth=2), Counts([0], [[0]]), "one-layer"),
    ],
)
def test_counts_that_do_not_fit_the_model(model, counts, message):
    with pytest.raises(lw.WrongInput, match=message):
        lw.evaluate_counts(model, counts)


def test_a_suffix_too_short_for_the_locality():
    model = one_head(np.zeros((2, 1)), [1, 0], phi=[0.0, 0.0, 1.0], attention="plain")
    with pytest.raises(lw.WrongInput, match="at least 3 tokens"):
        lw.evaluate_counts(model, Counts([0], [[1], [1]]))
