"""Three evaluators that agree with each other, with a definition in plain Python, and with the printed vectors."""

import math

import numpy as np
import pytest

import lengthwise as lw
from lengthwise.limit import evaluate as evaluate_module
from lengthwise.limit.evaluate import evaluate, evaluate_stream
from lengthwise.limit.model import MLP, Head, Layer, LimitTransformer
from models import averaging, random_model, random_string

X1 = [0, 1, 1, 0, 1]
X2 = [0] * 50 + [1] * 50
X3 = [int(i * i % 7 < 3) for i in range(1, 1001)]


def common(phi_1, phi_2=(), positions=None, mild=False):
    """The common model of the two-layer notes, section 11; `mild` is its pair of meaningful size."""
    eye, scale = np.eye(2), 0.1 if mild else 1.0
    key_query = scale * np.array([[0.5, -0.25], [0.125, 0.75]])
    second = scale * np.array([[1, 0.5], [-0.5, 0.25]])
    outer = np.zeros((2, 1)) if mild else np.array([[0.5], [-0.5]])
    first_head = Head(eye, key_query, scale * np.array([[0.6, -0.2], [0.3, 0.4]]), phi_1)
    second_head = Head(eye, second, scale * np.array([[0.5, 0.1], [-0.1, 0.5]]), phi_2)
    return LimitTransformer(
        embedding=eye,
        positions=positions,
        attention="log-suffix",
        unembedding=scale * np.array([[1.0, -2.0]]),
        layers=[
            Layer([first_head], MLP([[1, -1]], [0.1], outer)),
            Layer([second_head], MLP([[0.5, 0.5]], [0 if mild else -0.2], [[0.2], [0.1]])),
        ],
    )


VECTORS = {
    "tok": (common((0.25, 0.5)), (-2.196892582806445, -1.727974038462712, -3.269617274715015)),
    "bal": (common((0.25, 1)), (-1.922867864057803, -2.036486588875909, -2.912036497485411)),
    "pos": (common((0.25, 1.5)), (-1.569545609711753, -2.297747670303098, -2.204337376168295)),
    "tok+l2bal": (common((0.25, 0.5), (0, 1)), (-1.795884357996686, -2.537072659265543, -2.415482627883744)),
    "tok,period 2": (
        common((0.25, 0.5), (), [(0.1, -0.1), (-0.2, 0.3)]),
        (-4.343439482234120, -1.799360266275718, -3.303418986895825),
    ),
    "mild f": (
        common((0.25, 0.5), mild=True),
        (-0.208080076105986, -0.206611513649331, -0.211808425458473),
    ),
    "mild h": (
        common((0.25, 1.5), mild=True),
        (-0.205021067466476, -0.210623258160051, -0.204875014386044),
    ),
}


@pytest.mark.parametrize("name", VECTORS)
@pytest.mark.parametrize("method", ["dense", "linear"])
def test_printed_outputs(name, method):
    model, printed = VECTORS[name]
    for string, value in zip((X1, X2, X3), printed, strict=True):
        assert evaluate(model, string, method)[0] == pytest.approx(value, rel=1e-14, abs=5e-15)


def test_printed_vectors_notice_a_wrong_offset():
    _, printed = VECTORS["tok"]
    shifted = common((0.5, 0.25))
    assert evaluate(shifted, X3)[0] != pytest.approx(printed[2], rel=1e-6)


def by_hand(model, string):
    """The definition in plain Python floats: one query, one key, one number at a time."""
    n = len(string)
    rows = [
        [float(e + p) for e, p in zip(model.embedding[s], model.positions[(i + 1) % model.period], strict=True)]
        for i, s in enumerate(string)
    ]
    dot = lambda a, b: sum(float(u) * float(v) for u, v in zip(a, b, strict=True))  # noqa: E731
    unit = {"relu": lambda v: max(v, 0.0), "sin": math.sin, "tanh": math.tanh, "identity": lambda v: v}
    for layer in model.layers:
        after = []
        for i in range(n):
            y = list(rows[i])
            for head in layer.heads:
                query = [dot(row, rows[i]) for row in head.query]
                logits = []
                for j in range(i + 1):
                    phi = float(head.phi[i - j]) if i - j < len(head.phi) else 0.0
                    content = dot([dot(row, rows[j]) for row in head.key], query)
                    if phi == -math.inf:
                        logits.append(-math.inf)
                    elif model.attention == "plain":
                        logits.append(content + phi)
                    elif model.attention == "log-suffix":
                        logits.append(content + math.log(i + 1) * phi)
                    else:
                        logits.append(math.log(n) * (content + phi))
                top = max(logits)
                weights = [0.0 if a == -math.inf else math.exp(a - top) for a in logits]
                if model.bits is not None:
                    weights = [0.0 if w <= 2.0**-model.bits else w for w in weights]
                if mass := sum(weights):
                    mean = [sum(w * rows[j][k] for j, w in enumerate(weights)) / mass for k in range(model.width)]
                    y = [a + dot(row, mean) for a, row in zip(y, head.value, strict=True)]
            if layer.mlp is not None:
                hidden = [
                    unit[kind](dot(row, y) + float(b))
                    for kind, row, b in zip(layer.mlp.activations, layer.mlp.inner, layer.mlp.bias, strict=True)
                ]
                y = [a + dot(row, hidden) for a, row in zip(y, layer.mlp.outer, strict=True)]
            after.append(y)
        rows = after
    return np.array([[dot(row, y) for row in model.unembedding] for y in rows])


def close(a, b, tolerance):
    return np.max(np.abs(np.asarray(a) - np.asarray(b))) <= tolerance * max(1e-3, float(np.max(np.abs(b))))


@pytest.mark.parametrize("seed", range(40))
def test_dense_is_the_definition(seed):
    rng = np.random.default_rng(seed)
    model = random_model(rng, linear=False)
    string = random_string(rng, model.symbols, 18)
    assert close(evaluate(model, string, "dense", "all"), by_hand(model, list(string)), 1e-11)
    assert close(evaluate(model, string, "dense"), by_hand(model, list(string))[-1], 1e-11)


@pytest.mark.parametrize("batch", range(12))
def test_linear_is_dense_on_random_models(batch, monkeypatch):
    """600 models: every rule, with and without bits and masks, period 1-3, locality 0-4, depth 1-3, block edges."""
    for seed in range(50 * batch, 50 * batch + 50):
        rng = np.random.default_rng(seed)
        monkeypatch.setattr(evaluate_module, "BLOCK", int(rng.choice([9, 33, 16_384])))
        monkeypatch.setattr(evaluate_module, "CACHE", int(rng.choice([300, 1 << 17])))
        model = random_model(rng)
        string = random_string(rng, model.symbols, 90)
        assert close(evaluate(model, string, "linear"), evaluate(model, string, "dense"), 1e-12), seed
        if model.depth == 1:
            everywhere = evaluate(model, string, "linear", "all")
            assert close(everywhere, evaluate(model, string, "dense", "all"), 1e-12), seed


def test_later_layers_with_few_keys_are_linear_everywhere():
    """Layer 2 looks for a marker (two distinct keys) and averages; layer 3 averages: all positions, linear."""
    rng = np.random.default_rng(5)
    first = Layer([Head(np.zeros((1, 4)), np.zeros((1, 4)), np.diag([0, 0, 1.0, 0]), [0.0, 2.0])])
    marker = Head([[1.0, 0, 0, 0]], [[0.7, 0.7, 0, 0]], rng.normal(size=(4, 4)) * np.array([[0], [0], [1], [1]]), [0.5])
    model = LimitTransformer(
        embedding=[[1, 0, 0.5, 0], [0, 1, -0.25, 0]],
        layers=[first, Layer([marker]), Layer([averaging(marker)])],
        unembedding=np.eye(4),
        attention="log-length",
    )
    string = rng.integers(0, 2, size=3_000)
    assert close(evaluate(model, string, "linear", "all"), evaluate(model, string, "dense", "all"), 1e-12)


def test_linear_refuses_many_keys_and_auto_takes_the_definition():
    rng = np.random.default_rng(1)
    model = random_model(rng, depth=3, attention="plain", masks=False, linear=False)
    string = rng.integers(0, model.symbols, size=300)
    with pytest.raises(lw.WrongInput, match="64 distinct keys"):
        evaluate(model, string, "linear")
    assert np.array_equal(evaluate(model, string, "auto"), evaluate(model, string, "dense"))


def test_a_stream_gives_the_same_output_and_is_reread():
    rng = np.random.default_rng(2)
    for seed in range(30):
        model = random_model(np.random.default_rng(seed))
        string = random_string(rng, model.symbols, 500)
        cuts = np.sort(rng.integers(0, len(string), size=5))
        blocks = [block for block in np.split(string, cuts) if len(block)]
        assert close(
            evaluate_stream(model, lambda blocks=blocks: iter(blocks)), evaluate(model, string, "dense"), 1e-12
        )
    with pytest.raises(lw.WrongInput, match="nonempty"):
        evaluate_stream(model, lambda: iter([]))


def test_masked_everywhere_receives_nothing():
    head = Head([[1.0]], [[1.0]], [[1.0]], phi=[-np.inf])
    model = LimitTransformer(embedding=[[2.0]], layers=[Layer([head])], unembedding=[[1.0]], attention="plain")
    for method in ("dense", "linear", "counts"):
        assert evaluate(model, [0], method)[0] == 2.0  # the only key is masked
        assert evaluate(model, [0, 0], method)[0] == 4.0  # the other one is not


def test_flush_at_exactly_the_threshold():
    """n^-gap = 2^-p is flushed: n = 16, gap 1, p = 4; one more bit keeps it."""
    head = Head([[1.0, 0.0]], [[1.0, 1.0]], [[0.0, 1.0], [0.0, 0.0]])
    for bits, expected in ((4, 0.0), (5, 15 / 16 / (1 + 15 / 16))):
        model = LimitTransformer(
            embedding=np.eye(2), layers=[Layer([head])], unembedding=[[1.0, 0.0]], attention="log-length", bits=bits
        )
        string = [0] + [1] * 15
        for method in ("dense", "linear", "counts"):
            assert evaluate(model, string, method)[0] == pytest.approx(expected, abs=1e-14)


def test_text_names_and_indices_are_the_same_string():
    model = VECTORS["tok"][0]
    assert (
        evaluate(model, "01101") == evaluate(model, X1) == evaluate(model, np.array(X1)) == evaluate(model, "0 1 1 0 1")
    )


@pytest.mark.parametrize(
    ("string", "options", "message"),
    [
        ([], {}, "nonempty"),
        ("012", {}, "'2'"),
        ([0, 2], {}, "token indices 0..1"),
        ([0], {"method": "fast"}, "auto, dense, linear, counts"),
        ([0], {"positions": "first"}, "last or all"),
        ([0], {"method": "counts"}, "one-layer"),
        (5, {}, "a string of tokens"),
    ],
)
def test_wrong_input_is_said(string, options, message):
    with pytest.raises(lw.WrongInput, match=message):
        evaluate(VECTORS["tok"][0], string, **options)
