"""The same evaluators under JAX: the same numbers, under jit and vmap, and with true gradients."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import lengthwise as lw
from lengthwise.limit.evaluate import evaluate
from lengthwise.limit.linear import first_layer_columns
from lengthwise.limit.model import Head, Layer, LimitTransformer, map_arrays
from models import random_model, random_string
from test_evaluate import VECTORS, X3, close


@pytest.mark.parametrize("name", ["tok", "pos", "tok+l2bal", "tok,period 2"])
@pytest.mark.parametrize("method", ["dense", "linear"])
def test_printed_outputs_in_both_precisions(name, method):
    model, printed = VECTORS[name]
    with jax.enable_x64(True):
        assert close(evaluate(map_arrays(model, jnp.asarray), X3, method), [printed[2]], 1e-13)
    single = evaluate(map_arrays(model, lambda a: jnp.asarray(a, dtype=jnp.float32)), X3, method)
    assert single.dtype == jnp.float32
    assert close(single, [printed[2]], 1e-5)


@pytest.mark.parametrize(("sizes", "method"), [(11, "linear"), (12, "dense"), (16, "linear")])
def test_numpy_and_jax_agree_on_random_models(sizes, method):
    """Many weights for a few shapes: a new shape costs a compilation and says little."""
    for seed in range(12):
        rng = np.random.default_rng(seed)
        model = random_model(rng, depth=1 + sizes % 2, shape=np.random.default_rng(sizes))
        string = rng.integers(0, model.symbols, size=40)
        wanted = evaluate(model, string, method)
        with jax.enable_x64(True):
            assert close(evaluate(map_arrays(model, jnp.asarray), string, method), wanted, 1e-12), seed
        single = map_arrays(model, lambda a: a.astype(np.float32))
        exact = evaluate(map_arrays(single, lambda a: a.astype(np.float64)), string, method)
        assert close(evaluate(single, string, method), exact, 2e-5), seed
        assert close(evaluate(map_arrays(single, jnp.asarray), string, method), exact, 2e-5), seed


def test_jit_and_vmap_over_strings_give_the_same_numbers():
    model = map_arrays(VECTORS["tok+l2bal"][0], jnp.asarray)
    strings = np.random.default_rng(0).integers(0, 2, size=(5, 40))
    batched = jax.jit(jax.vmap(lambda string: evaluate(model, string, "linear")))(jnp.asarray(strings))
    for string, output in zip(strings, batched, strict=True):
        assert close(output, evaluate(VECTORS["tok+l2bal"][0], string, "dense"), 1e-5)


def perturbed(model, path, direction, step):
    index, number, name = path
    layer = model.layers[index]
    old = layer.heads[number]
    weights = {n: getattr(old, n) for n in ("key", "query", "value", "phi")}
    weights[name] = weights[name] + step * direction
    heads = tuple(Head(**weights) if k == number else head for k, head in enumerate(layer.heads))
    layers = tuple(Layer(heads, layer.mlp) if k == index else other for k, other in enumerate(model.layers))
    return LimitTransformer(
        embedding=model.embedding, positions=model.positions, layers=layers, unembedding=model.unembedding,
        attention=model.attention,
    )  # fmt: skip


@pytest.mark.parametrize("name", ["key", "query", "value", "phi"])
@pytest.mark.parametrize("index", [0, 1])
def test_gradients_through_linear_match_finite_differences(name, index):
    model, _ = VECTORS["tok+l2bal"]
    string = X3[:80]
    rng = np.random.default_rng(index)
    direction = rng.normal(size=getattr(model.layers[index].heads[0], name).shape)
    with jax.enable_x64(True):
        traced = map_arrays(model, jnp.asarray)
        gradient = jax.grad(
            lambda step: evaluate(perturbed(traced, (index, 0, name), direction, step), string, "linear")[0]
        )
        slope = float(gradient(0.0))
    h = 1e-6
    ends = [evaluate(perturbed(model, (index, 0, name), direction, s), string, "linear")[0] for s in (h, -h)]
    assert slope == pytest.approx((ends[0] - ends[1]) / (2 * h), rel=1e-6, abs=1e-9)
    assert abs(slope) > 1e-6


def test_a_masked_offset_has_a_gradient_without_nan():
    def output(phi):
        head = Head(jnp.eye(2), jnp.eye(2), jnp.eye(2), phi=jnp.stack([phi, jnp.asarray(-jnp.inf)]))
        layers = [Layer([head])]
        model = LimitTransformer(
            embedding=jnp.eye(2), layers=layers, unembedding=jnp.ones((1, 2)) * jnp.asarray([1.0, 2.0]),
            attention="log-suffix",
        )  # fmt: skip
        return evaluate(model, np.array([0, 1, 1, 0, 1]), "linear")[0]

    assert np.isfinite(jax.grad(output)(0.5))
    assert jax.grad(output)(0.5) != 0


def test_count_columns_are_one_batch_under_jax():
    """The column form that training on statistics uses: many queries, each with its own counts and length."""
    rng = np.random.default_rng(3)
    model = random_model(rng, depth=1, attention="plain", masks=False)
    strings = [random_string(rng, model.symbols, 50) for _ in range(6)]
    counts = [lw.Counts.of(s, model.symbols, model.period, 5) for s in strings if len(s) > 6]
    table = np.array([np.ravel(c.table) for c in counts], dtype=float).T
    suffix = np.array(
        [[t * model.period + (c.length - k) % model.period for k, t in enumerate(reversed(c.suffix))] for c in counts]
    ).T
    columns = first_layer_columns(
        map_arrays(model, jnp.asarray), jnp.asarray(table), jnp.asarray(suffix), jnp.zeros(len(counts)), 1
    )
    outputs = (model.unembedding @ columns).T
    for one, output in zip(counts, outputs, strict=True):
        assert close(output, lw.evaluate_counts(model, one), 1e-5)
