"""Attention by position against the definition, written out in loops, and on a model whose attention is known."""

import math

import numpy as np
import pytest

import lengthwise as lw
from lengthwise.limit.constructions import mod_p_task
from lengthwise.study.attention_profile import attention_weights, profile
from models import random_model


def by_definition(model, string):
    """w_j = 2^(log2(n) x), e^x, or e^(content + log(n) phi); x = content + phi; rounded off below 2^-bits."""
    n = len(string)
    y = [model.embedding[t] + model.positions[(i + 1) % model.period] for i, t in enumerate(string)]
    mean = np.zeros(n)
    for head in model.layers[0].heads:
        exponents = []
        for j in range(n):
            content = float((head.key @ y[j]) @ (head.query @ y[-1]))
            phi = head.phi[n - 1 - j] if n - 1 - j < len(head.phi) else 0.0
            x = {
                "plain": content + phi,
                "log-suffix": content + math.log(n) * phi,
                "log-length": math.log(n) * (content + phi),
            }
            exponents.append(x[model.attention])
        top = max(exponents)
        weights = [math.exp(x - top) for x in exponents]
        if model.bits is not None:
            weights = [w if w > 2.0**-model.bits else 0.0 for w in weights]
        mean += np.asarray(weights) / sum(weights)
    return mean / len(model.layers[0].heads)


@pytest.mark.parametrize("attention", ["plain", "log-length", "log-suffix"])
@pytest.mark.parametrize("seed", range(8))
def test_weights_are_their_definition(attention, seed):
    generator = np.random.default_rng(seed)
    model = random_model(generator, depth=1, attention=attention, masks=False)
    for length in (1, 2, 3, 17):
        strings = generator.integers(0, len(model.embedding), size=(5, length))
        found = attention_weights(model, strings)
        assert found.shape == (5, length)
        assert np.allclose(found, [by_definition(model, string) for string in strings], rtol=1e-12, atol=1e-15)
        assert np.allclose(found.sum(axis=1), 1)


def test_the_weights_are_those_the_evaluators_use():
    """With the value matrix and unembedding as identities, the output is y_n + the attention's mean of y."""
    generator = np.random.default_rng(5)
    head = lw.Head(generator.normal(size=(4, 4)), generator.normal(size=(4, 4)), np.eye(4), [0.5, -1.0])
    embedding, positions = generator.normal(size=(3, 4)), generator.normal(size=(3, 4))
    model = lw.LimitTransformer(
        embedding=embedding, positions=positions, layers=[lw.Layer([head])], unembedding=np.eye(4), attention="plain"
    )
    string = generator.integers(0, 3, size=23)
    y = embedding[string] + positions[np.arange(1, 24) % 3]
    assert np.allclose(lw.evaluate(model, string, "dense"), y[-1] + attention_weights(model, string[None])[0] @ y)


def test_the_construction_looks_at_its_residue_only():
    """Rounded to 8 bits at a length where the margin outweighs them: 1/16 on the residue, 0 elsewhere."""
    model = mod_p_task(5, 2, bits=4)
    strings = np.random.default_rng(0).integers(0, 2, size=(20, 80))
    found = profile([model, model], strings, 2, 5, longest=24, plateau=0.0)
    assert (found.count, found.seeds, found.attention) == (16, 2, model.attention)
    assert found.mean_on == pytest.approx(1 / 16)
    assert found.mean_off == found.largest_off == found.deviation_off == 0
    assert found.farthest_on < 1e-12
    assert list(np.flatnonzero(found.on)[:3] + 1) == [2, 7, 12]
    wrong = profile([model], strings, 1, 5, longest=24, plateau=0.0)
    assert wrong.mean_on == 0
    assert wrong.largest_off == pytest.approx(1.0)


def test_mean_and_deviation_are_over_strings_and_seeds():
    generator = np.random.default_rng(1)
    models = [random_model(generator, depth=1, attention="plain", masks=False) for _ in range(3)]
    strings = generator.integers(0, 2, size=(7, 20))
    found = profile(models, strings, 0, 5, longest=8, plateau=0.1)
    weights = np.array([by_definition(model, string) for model in models for string in strings])
    on = np.arange(1, 21) % 5 == 0
    assert np.allclose(found.mean, weights.mean(axis=0))
    assert np.allclose(found.deviation, weights.std(axis=0))
    assert found.mean_on == pytest.approx(weights[:, on].mean())
    assert found.deviation_on == pytest.approx(weights[:, on].std())
    assert found.deviation_off == pytest.approx(weights[:, ~on].std())
    assert found.farthest_on == pytest.approx(max(abs(weights.mean(axis=0)[on] * 4 - 1)))
    row = found.row()
    assert row["training_length"] == 8
    assert row["largest_off"] == found.largest_off


def test_a_period_of_one_has_no_elsewhere():
    model = mod_p_task(1, 0)
    found = profile([model], np.zeros((2, 8), int), 0, 1, longest=4, plateau=0.0)
    assert (found.count, found.mean_off, found.largest_off) == (8, 0.0, 0.0)
