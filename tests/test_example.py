"""The example that imports nothing of ours computes the engine's numbers, step by step."""

import ast
import importlib.util
from pathlib import Path

import jax
import numpy as np
import pytest

from lengthwise.config import Model, Run, Testing, Training
from lengthwise.train.engine import root_key
from lengthwise.train.ensemble import train
from lengthwise.train.plans import plan_of

FILE = Path(__file__).parent.parent / "examples" / "one_layer_from_scratch.py"
RUN = Run(
    task="simple:omega=4.0,symbols=3",
    longest=16,
    seed=0,
    model=Model(offsets=0),
    training=Training(batch=128, steps=400, stop=0.12, chunk=1),
    testing=Testing(lengths=(1000,), samples=512),
    tile=4,
)


@pytest.fixture(scope="module")
def example():
    spec = importlib.util.spec_from_file_location("one_layer_from_scratch", FILE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def engine():
    results = []
    train([RUN], finished=lambda _, result: results.append(result))
    return results[0]


def by_example(example, **changes):
    options = {"omega": 4.0, "rate": 0.01, "steps": 400, "batch": 128, "stop": 0.12} | changes
    return example.train(root_key(plan_of(RUN).stream), RUN.longest, **options)


def test_it_is_short_and_needs_jax_alone():
    text = FILE.read_text()
    assert len(text.splitlines()) <= 120
    nodes = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Import | ast.ImportFrom)]
    names = {alias.name for node in nodes for alias in node.names}
    assert names <= {"jax", "jax.numpy", "numpy"}


def test_the_same_losses_step_by_step_and_the_same_stop(example, engine):
    weights, losses = by_example(example)
    assert engine.ended == "loss"
    assert 50 < engine.steps == len(losses) < 400
    assert np.max(np.abs(np.asarray(engine.history) / losses - 1)) < 1e-5
    layer = engine.weights.layers[0]
    for name, theirs in (("inner", layer.mlp.inner), ("value", layer.heads[0].value)):
        assert np.max(np.abs(np.asarray(weights[name]) - theirs)) < 1e-4, name


@pytest.mark.parametrize("change", [{"omega": 4.001}, {"rate": 0.01001}, {"steps": 401}])
def test_a_small_change_is_noticed(example, engine, change):
    _, losses = by_example(example, **change)
    count = min(len(losses), engine.steps)
    assert np.max(np.abs(np.asarray(engine.history[:count]) / losses[:count] - 1)) > 1e-4


def test_its_strings_have_the_law_of_strings(example):
    """Counts and last token of 20,000 samples against all strings of length 3, drawn token by token."""
    counts, last = example.sample(jax.random.key(0), np.full(20_000, 3))
    drawn = np.random.default_rng(0).dirichlet(np.ones(3), size=20_000)
    tokens = (np.random.default_rng(1).random((20_000, 3, 1)) > np.cumsum(drawn, axis=1)[:, None, :-1]).sum(axis=2)
    theirs = np.stack([(tokens == s).sum(axis=1) for s in range(3)])
    ours, wanted = (
        np.bincount((a[0] * 4 + a[1]) * 3 + b, minlength=48) / 20_000
        for a, b in ((np.asarray(counts), np.asarray(last)), (theirs, tokens[:, -1]))
    )
    assert np.max(np.abs(ours - wanted)) < 0.01
    assert np.count_nonzero(wanted) == 18
