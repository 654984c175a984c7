"""The training path: the same function as the evaluators, and members that do not depend on their neighbours."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import lengthwise as lw
from lengthwise.config import Model, Run, Testing, Training
from lengthwise.tasks.protocol import Statistics
from lengthwise.tasks.regression import ModPTask, SimpleTask, TailTask
from lengthwise.train import ensemble, fused
from lengthwise.train.engine import first_states, train_chunk
from lengthwise.train.ensemble import train
from lengthwise.train.plans import plan_of, shape_of
from lengthwise.train.sequences import everywhere, last_query, strings_of
from lengthwise.train.statistics import Architecture, as_model, drawing, initial_weights, outputs, relu_sum
from test_tasks import statistics_of

CASES = [
    (SimpleTask(2.0), 1, "plain", 0),
    (SimpleTask(2.0, symbols=16), 1, "log-length", 0),
    (ModPTask(3, 1), 1, "plain", 0),
    (ModPTask(8, 1), 2, "log-length", 0),
    (TailTask(4), 2, "log-length", 4),
    (TailTask(3), 2, "log-suffix", 3),
]


@pytest.mark.parametrize(("task", "heads", "attention", "offsets"), CASES, ids=str)
def test_the_count_pass_is_the_sequence_pass(task, heads, attention, offsets):
    sizes = Architecture(task.symbols, task.period, offsets, heads=heads, attention=attention)
    weights = initial_weights(jax.random.key(1), sizes)
    for number, name in enumerate(("phi", "bias")):
        weights[name] = 0.3 * jax.random.normal(jax.random.key(number), weights[name].shape)
    strings = task.strings(np.random.default_rng(0), 37, 12)
    model = as_model(weights, sizes)
    columns = [statistics_of(task, string) for string in strings]
    prefix, suffix = (jnp.concatenate([getattr(c, part) for c in columns], axis=1) for part in ("prefix", "suffix"))
    statistics = Statistics(jnp.full(12, 37), prefix, suffix)
    trained = outputs(weights, sizes, statistics)
    wanted = [lw.evaluate(model, string, "dense")[0] for string in strings]
    assert np.max(np.abs(np.asarray(trained) - wanted)) < 1e-6
    assert np.ptp(wanted) > 1e-2


def test_relu_sum_is_its_definition_with_its_gradient():
    shapes = [(64, 7), (64,), (7, 100)]
    with jax.enable_x64(True):
        inputs = [jax.random.normal(jax.random.key(i), shape, dtype=jnp.float64) for i, shape in enumerate(shapes)]
        ours = jax.value_and_grad(lambda *a: jnp.sum(jnp.sin(relu_sum(*a))), argnums=(0, 1, 2))(*inputs)
        plain = jax.value_and_grad(lambda m, c, s: jnp.sum(jnp.sin(c @ jax.nn.relu(m @ s))), argnums=(0, 1, 2))(*inputs)
    for a, b in zip(jax.tree.leaves(ours), jax.tree.leaves(plain), strict=True):
        assert np.max(np.abs(a - b)) < 1e-10


@pytest.mark.parametrize(("task", "heads", "attention", "offsets"), CASES, ids=str)
def test_strings_with_given_statistics_and_the_passes_over_them(task, heads, attention, offsets):
    """Strings made from statistics have them, in every order alike; both passes give the definition's outputs."""
    sizes = Architecture(task.symbols, task.period, offsets, heads=heads, attention=attention)
    weights = initial_weights(jax.random.key(1), sizes)
    for number, name in enumerate(("phi", "bias")):
        weights[name] = 0.3 * jax.random.normal(jax.random.key(number), weights[name].shape)
    length = jnp.asarray(np.random.default_rng(3).integers(task.shortest, 40, size=12))
    drawn = task.statistics(length, drawing(jax.random.key(2)))
    strings = strings_of(drawn, task.period, 48, jax.random.key(3))
    model = as_model(weights, sizes)
    wanted = []
    for row, n in enumerate(np.asarray(length)):
        string = np.asarray(strings[row, :n])
        assert np.all(strings[row, n:] == -1)
        mine = statistics_of(task, string)
        assert np.array_equal(mine.prefix[:, 0], drawn.prefix[:, row])
        assert np.array_equal(mine.suffix[:, 0], drawn.suffix[:, row])
        wanted.append(lw.evaluate(model, string, "dense")[0])
    for one_layer in (last_query, everywhere):
        assert np.max(np.abs(np.asarray(one_layer(weights, sizes, strings, length)) - wanted)) < 5e-6
    assert np.max(np.abs(np.asarray(outputs(weights, sizes, drawn)) - wanted)) < 5e-6


def test_orders_are_alike():
    """All 6 orders of 0 0 1 1 before a last 0 appear about equally often."""
    size = 6000
    drawn = Statistics(jnp.full(size, 5), jnp.full((2, size), 2), jnp.zeros((1, size), jnp.int32))
    found = np.unique(np.asarray(strings_of(drawn, 1, 8, jax.random.key(0))), axis=0, return_counts=True)
    assert len(found[1]) == 6
    assert np.all(np.abs(found[1] - size / 6) < 5 * np.sqrt(size / 6))


@pytest.mark.parametrize(("units", "inputs", "batch"), [(64, 6, 32), (32, 13, 64)])
def test_the_kernels_are_their_products(units, inputs, batch):
    """What a GPU runs, interpreted: slopes and felt against products with the 0/1 activity, several members at once."""
    keys = jax.random.split(jax.random.key(0), 4)
    shapes = [(3, units, inputs), (3, units), (3, inputs, batch), (3, batch)]
    inner, outer, columns, cotangent = (jax.random.normal(k, s) for k, s in zip(keys, shapes, strict=True))
    active = (np.einsum("wkj,wjb->wkb", inner, columns) > 0).astype(np.float32)
    slopes = jax.vmap(lambda *a: fused.slopes(*a, interpret=True))(inner, outer, columns)
    felt = jax.vmap(lambda *a: fused.felt(*a, interpret=True))(inner, cotangent, columns)
    assert np.allclose(slopes, np.einsum("wk,wkj,wkb->wjb", outer, inner, active), atol=1e-4)
    assert np.allclose(felt, np.einsum("wb,wjb,wkb->wkj", cotangent, columns, active), atol=1e-4)
    assert fused.fits(units, batch, inputs)
    lowered = jax.jit(jax.vmap(fused.slopes)).trace(inner, outer, columns).lower(lowering_platforms=("cuda",))
    assert "triton" in lowered.as_text()


def run(seed=0, longest=12, omega=1.0, rate=0.01, stop=2e-2, steps=300, path="statistics", chunk=50):
    return Run(
        task=f"simple:omega={omega},symbols=3",
        longest=longest,
        seed=seed,
        model=Model(width=8, units=32),
        training=Training(batch=64, steps=steps, rate=rate, stop=stop, chunk=chunk, path=path),
        testing=Testing(lengths=(10, 1000, 1_000_000), samples=512),
        tile=4,
    )


def trained(runs, **options):
    results = {}
    train(runs, finished=lambda run, result: results.__setitem__(run.id, result), **options)
    return results


def same(a, b):
    """Bit for bit: curve, history and weights."""
    arrays = zip(*(lw.limit.model.named_arrays(r.weights).values() for r in (a, b)), strict=True)
    return a.curve == b.curve and a.history == b.history and all(np.array_equal(x, y) for x, y in arrays)


RUNS = [run(seed, longest, omega) for seed in range(3) for longest, omega in ((6, 1.0), (12, 2.0))]


@pytest.fixture(scope="module")
def results():
    return trained(RUNS)


def test_members_learn_and_stop_by_the_rule(results):
    ended = {result.ended for result in results.values()}
    assert ended == {"loss", "steps"}
    for result in results.values():
        assert result.history[-1] < result.history[0] / 3
        assert (result.training_loss < 2e-2) == (result.ended == "loss")
        assert result.steps == 300 if result.ended == "steps" else result.steps < 300
        assert [length for length, _, _ in result.curve] == [10, 1000, 1_000_000]
        assert all(0 < mean <= worst for _, mean, worst in result.curve)


def test_the_curve_is_the_loss_of_the_weights_it_comes_with(results):
    """A second opinion: strings of length 10, the definition, the exact target."""
    for member in RUNS[:2]:
        result = results[member.id]
        task = lw.tasks.registry.task(member.task)
        strings = task.strings(np.random.default_rng(0), 10, 1500)
        errors = [(lw.evaluate(result.weights, s, "counts")[0] - task.target(s)) ** 2 for s in strings]
        assert result.curve[0][1] == pytest.approx(np.mean(errors), rel=0.5)


def test_all_paths_train_on_the_same_strings():
    """One seed on counts, on strings with one query, on strings with all queries: the losses agree to rounding."""
    histories = {}
    for path in ("statistics", "last-query", "sequences"):
        member = run(longest=9, omega=2.0, steps=100, path=path, chunk=40)
        shape = shape_of(member)
        one = plan_of(member)._replace(stream=np.array([0, 5], np.uint32))
        plan = jax.tree.map(lambda leaf: np.stack([leaf] * 4), one)
        state = first_states(shape.sizes)(plan.stream)
        losses = []
        for _ in range(2):
            state, loss = train_chunk(shape)(plan, state)
            losses.append(float(loss[0]))
        histories[path] = losses
    assert histories["last-query"] == pytest.approx(histories["statistics"], rel=1e-3)
    assert histories["sequences"] == pytest.approx(histories["statistics"], rel=1e-3)
    assert histories["statistics"][1] < 0.9 * histories["statistics"][0]


def test_order_packing_and_company_change_no_bit(results, monkeypatch):
    monkeypatch.setitem(ensemble.TILES_AT_ONCE, "cpu", 1)
    others = [run(seed, 9, 3.0) for seed in range(5, 8)]
    again = trained(list(reversed(RUNS)) + others)
    assert all(same(again[key], result) for key, result in results.items())
    assert same(trained([RUNS[3]])[RUNS[3].id], results[RUNS[3].id])
    assert not same(again[others[0].id], again[others[1].id])


def test_stopping_and_resuming_changes_no_bit(results, tmp_path):
    calls = iter(range(100))
    first = trained(RUNS, checkpoints=tmp_path, should_stop=lambda: next(calls) >= 3)
    assert len(first) < len(RUNS)
    assert {path.stem for path in tmp_path.iterdir()} <= {member.id for member in RUNS}
    rest = trained([member for member in RUNS if member.id not in first], checkpoints=tmp_path)
    assert all(same((first | rest)[key], result) for key, result in results.items())
    assert not list(tmp_path.iterdir())


def test_a_torn_checkpoint_is_named_and_its_run_starts_again(results, tmp_path):
    member = RUNS[0]
    trained([member], checkpoints=tmp_path, should_stop=iter([False, False, True]).__next__)
    path = tmp_path / f"{member.id}.safetensors"
    content = bytearray(path.read_bytes())
    content[-3] ^= 1
    path.write_bytes(content)
    said = []
    again = trained([member], checkpoints=tmp_path, say=said.append)
    assert same(again[member.id], results[member.id])
    assert path.name in said[0]


def test_a_diverged_member_is_reported_and_harms_nobody(results):
    wild = run(rate=1e30)
    again = trained([wild, *RUNS[:3]])
    assert again[wild.id].ended == "diverged"
    assert all(same(again[member.id], results[member.id]) for member in RUNS[:3])


def test_one_compilation_for_a_whole_grid(results):
    """Seeds, lengths, omegas, rates and stop rules are traced: the program of the shape was compiled once."""
    shapes = {shape_of(member) for member in [*RUNS, run(9, 40, 7.5, 0.003, 1e-4, 900)]}
    assert len(shapes) == 1
    assert train_chunk(shapes.pop())._cache_size() == 1


def of_period_5(longest, length):
    """A record of a task whose strings have at least 5 tokens."""
    return Run(
        task="modp:period=5,residue=1",
        longest=longest,
        seed=0,
        model=Model(),
        training=Training(),
        testing=Testing(lengths=(length,)),
        tile=4,
    )


@pytest.mark.parametrize(
    ("longest", "length", "message"), [(0, 10, "longest"), (4, 10, "at least 5"), (8, 1 << 25, "16777216")]
)
def test_lengths_that_cannot_be(longest, length, message):
    with pytest.raises(lw.WrongInput, match=message):
        shape_of(of_period_5(longest, length))
