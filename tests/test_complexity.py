"""The constants of the two-layer note: a second implementation, the box, overflow, masks, what is refused."""

import math
from dataclasses import replace

import numpy as np
import pytest

from helpers_quantities import (
    POS,
    TOK,
    TOK_PERIOD_2,
    common_model,
    input_rows,
    log_suffix_layer,
    random_two_layer,
)
from lengthwise.errors import WrongInput
from lengthwise.limit.constructions import kgram_add, kgram_and
from lengthwise.limit.model import MLP, Head, Layer, LimitTransformer
from lengthwise.limit.quantities import complexity
from lengthwise.limit.reach import first_layer_box


def second_implementation(model, box):
    """Section 2 of the note in floats, written again."""
    S, period, tau = model.symbols, model.period, model.locality
    norm = lambda a: np.linalg.norm(a, 2)  # noqa: E731
    Y = np.array([model.embedding[s] + model.positions[r] for s in range(S) for r in range(period)])
    one, two = model.layers
    far = lambda Z: max(np.linalg.norm(a - b) for a in Z for b in Z)  # noqa: E731
    A, b, B = (one.mlp.inner, one.mlp.bias, one.mlp.outer)
    act = {"relu": lambda v: max(v, 0), "tanh": math.tanh, "sin": math.sin, "identity": lambda v: v}
    start = np.linalg.norm([act[k](v) for k, v in zip(one.mlp.activations, b, strict=True)])
    lam = 1 + norm(B) * norm(A)
    terms, rho_y, diam = [], max(np.linalg.norm(Y, axis=1)), far(Y)
    for head in one.heads:
        C = (Y @ head.key.T) @ (Y @ head.query.T).T
        phi = list(head.phi[: tau + 1]) + [0.0] * (tau + 1 - len(head.phi))
        top = max(phi)
        atoms = [t for t in phi if t == top] if top >= 1 else []
        share = 1 if top < 1 else 1 / (1 + len(atoms)) if top == 1 else 0
        VY = Y @ head.value.T
        terms.append((far(VY), (C.max(0) - C.min(0)).max(), share))
        rho_y += np.linalg.norm(VY, axis=1).max()
        diam += terms[-1][0]
    L1 = lam * sum(D * math.exp(w) * x for D, w, x in terms)
    M1 = lam * (tau + 1) * sum(D * math.exp(w) for D, w, _ in terms)
    rho, diam = rho_y + norm(B) * (start + norm(A) * rho_y), lam * diam
    if box:
        sup = lambda a: (Y @ a).max() + sum((Y @ h.value.T @ a).max() for h in one.heads)  # noqa: E731
        I = np.eye(model.width)  # noqa: E741
        hiY, loY = np.array([sup(a) for a in I]), np.array([-sup(-a) for a in I])
        hi_pre, lo_pre = np.array([sup(a) for a in A]) + b, np.array([-sup(-a) for a in A]) + b
        hh = np.array([act[k](v) for k, v in zip(one.mlp.activations, hi_pre, strict=True)])
        lh = np.array([act[k](v) for k, v in zip(one.mlp.activations, lo_pre, strict=True)])
        up, down = np.maximum(B, 0), np.minimum(B, 0)
        hi, lo = hiY + up @ hh + down @ lh, loY + up @ lh + down @ hh
        wd, ctr = hi - lo, (hi + lo) / 2
        rho, diam = min(rho, np.linalg.norm(np.maximum(abs(hi), abs(lo)))), min(diam, np.linalg.norm(wd))
    Lam = norm(model.unembedding) * (1 + norm(two.mlp.outer) * norm(two.mlp.inner))
    G, Theta, tail = 0.0, 1.0, 0.0
    for head in two.heads:
        W, V = head.key.T @ head.query, head.value
        w2, D2 = norm(W) * rho * diam, norm(V) * diam
        if box:
            w2 = min(w2, wd @ (abs(W @ ctr) + abs(W) @ wd / 2))
            D2 = min(D2, np.linalg.norm(abs(V) @ wd))
        beta, kappa = norm(V) + D2 * norm(W) * rho, norm(W) * diam * D2 / 4
        G += Lam * D2 * math.exp(w2)
        Theta += kappa + 3 * beta * math.exp(w2)
        tail += D2 * math.exp(w2) * bool(np.any(head.phi))
    L, J = Lam * L1 * Theta, 2 * Lam * (M1 * Theta + (tau + 1) * tail)
    return {
        "histogram_gain": L1,
        "offset_gain": M1,
        "radius": rho,
        "diameter": diam,
        "readout_gain": Lam,
        "sampling_gain": G,
        "amplification": Theta,
        "histogram_sensitivity": L,
        "limit_gain": J,
        "complexity": 6 * (tau + period + math.sqrt(S)) * (G + L) + J,
    }


@pytest.mark.parametrize("box", [True, False])
def test_a_second_implementation_agrees_on_random_models(box):
    for seed in range(30):
        model = random_two_layer(np.random.default_rng(seed), activations=("relu", "tanh", "identity"))
        model = LimitTransformer(
            embedding=model.embedding * 0.5,
            positions=model.positions * 0.5,
            layers=model.layers,
            unembedding=model.unembedding,
            attention="log-suffix",
        )
        constants = complexity(model, box=box)
        for name, value in second_implementation(model, box).items():
            found = getattr(constants, name)
            if value < 1e300:
                assert found == pytest.approx(value, rel=1e-9), name


def test_the_box_never_makes_a_constant_larger():
    for seed in range(15):
        model = random_two_layer(np.random.default_rng(seed))
        assert complexity(model).complexity <= complexity(model, box=False).complexity


@pytest.mark.parametrize("activations", [("relu",), ("sin",), ("tanh",), ("identity",), ("relu", "sin", "tanh")])
def test_all_outputs_of_layer_1_lie_in_the_box(activations):
    rng = np.random.default_rng(0)
    closest = 0.0
    for _ in range(25):
        model = random_two_layer(rng, activations)
        box = first_layer_box(model)
        low, high = np.array([float(v) for v in box.low]), np.array([float(v) for v in box.high])
        for draw in range(3):
            string = rng.integers(0, model.symbols, size=int(rng.integers(1, 12)))
            string[: draw * 4] = string[0]
            rows = log_suffix_layer(model.layers[0], input_rows(model, string))
            assert (rows <= high + 1e-9).all()
            assert (rows >= low - 1e-9).all()
            closest = max(closest, ((rows - low) / np.maximum(high - low, 1e-9)).max())
    assert closest > 0.8


def masked_at_zero():
    """One token, one head that sees nothing at position 1: its output there is 0, elsewhere V e."""
    return LimitTransformer(
        embedding=[[1.0]],
        layers=(
            Layer((Head([[0.0]], [[0.0]], [[1.0]], [-math.inf]),)),
            Layer((Head([[0.0]], [[0.0]], [[1.0]], [-math.inf]),)),
        ),
        unembedding=[[1.0]],
        attention="log-suffix",
    )


def test_a_head_that_masks_offset_0_has_0_among_its_values():
    model = masked_at_zero()
    constants = complexity(model)
    assert constants.first[0].diameter == 1  # without the 0 it would be 0, and the step from 1 to 2 would be denied
    assert constants.second[0].diameter >= 1
    box = first_layer_box(model)
    rows = log_suffix_layer(model.layers[0], input_rows(model, [0, 0]))
    assert rows.ravel().tolist() == [1.0, 2.0]
    assert (float(box.low[0]), float(box.high[0])) == (1.0, 2.0)


def test_declared_spread_and_diameter_are_taken_where_smaller():
    def declared(spread, across):
        second = replace(TOK.layers[1].heads[0], known_spread=spread, known_diameter=across)
        return complexity(replace(TOK, layers=(TOK.layers[0], replace(TOK.layers[1], heads=(second,)))))

    found, free = declared(1.0, 0.5), complexity(TOK)
    assert (found.second[0].spread, found.second[0].diameter) == (1.0, 0.5)
    assert found.complexity < free.complexity
    assert declared(50.0, 50.0) == declared(None, None) == free


def test_k_gram_models_weigh_what_their_structure_says():
    """AND: spread log(1 + 1/backoff), G = sqrt 2 (1 + 1/backoff). ADD: spread k b, G = sqrt 2 e^(k b). No L_1."""
    for model, ratio in ((kgram_and(2, 2, 0.1), 11.0), (kgram_add(2, 2, 3.0), math.exp(6))):
        constants = complexity(model)
        assert constants.second[0].spread == pytest.approx(math.log(ratio), rel=1e-14)
        assert constants.sampling_gain == pytest.approx(math.sqrt(2) * ratio, rel=1e-13)
        assert constants.histogram_gain == constants.histogram_sensitivity == 0
        assert constants.margin == 2


def test_what_does_not_fit_a_float_is_infinite_with_its_logarithm_and_never_nan():
    def louder(model, factor, silent=False):
        head = model.layers[1].heads[0]
        head = replace(head, key=head.key * factor, value=head.value * (not silent))
        return replace(model, layers=(model.layers[0], replace(model.layers[1], heads=(head,))))

    huge = complexity(louder(TOK, 1e4))
    assert huge.complexity == huge.sampling_gain == huge.amplification == math.inf
    assert huge.log2_complexity == pytest.approx(9.7495438452e4 / math.log(2), rel=1e-3)
    position = complexity(louder(POS, 1e4))
    assert position.histogram_gain == position.histogram_sensitivity == 0
    silent = complexity(louder(TOK, 1e4, silent=True))
    assert silent.sampling_gain == 0
    assert silent.amplification == 1
    assert math.isfinite(silent.complexity)
    for constants in (huge, position, silent, complexity(louder(TOK, 1e305))):
        numbers = [value for value in vars(constants).values() if isinstance(value, float)]
        assert not any(math.isnan(number) for number in numbers)


def test_a_common_period_and_locality_can_be_asked_for():
    plain, lifted = complexity(TOK), complexity(TOK, period=4, locality=3)
    assert (lifted.period, lifted.locality) == (4, 3)
    assert lifted.offset_gain == pytest.approx(2 * plain.offset_gain)
    spelled = replace(TOK, positions=np.zeros((4, 2)))
    assert complexity(spelled, locality=3).complexity == pytest.approx(lifted.complexity, rel=1e-14)


def test_models_the_theory_does_not_cover_are_told_why():
    step = replace(TOK.layers[0], mlp=MLP([[1.0, -1.0]], [0.1], [[0.5], [-0.5]], "heaviside"))
    with pytest.raises(WrongInput, match="step"):
        complexity(replace(TOK, layers=(step, TOK.layers[1])))
    with pytest.raises(WrongInput, match="two layers"):
        complexity(replace(TOK, layers=TOK.layers[:1]))
    with pytest.raises(WrongInput, match="log-suffix"):
        complexity(replace(TOK, attention="plain"))
    with pytest.raises(WrongInput, match="multiple"):
        complexity(TOK_PERIOD_2, period=3)
    with pytest.raises(WrongInput):
        complexity(common_model([math.nan]))
