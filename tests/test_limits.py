"""The limit of layer 1, and Lemmas 1 and 4: how far a model is from its limit."""

import math
from dataclasses import replace

import numpy as np
import pytest

from helpers_quantities import (
    MILD_F,
    POS,
    TOK,
    X1,
    common_model,
    input_rows,
    log_suffix_layer,
    mlp_of,
    random_two_layer,
)
from lengthwise.errors import WrongInput
from lengthwise.limit.model import Head, Layer, LimitTransformer
from lengthwise.limit.quantities import complexity, layer_one_error, limit_error, limit_rows


def limit_layer(layer, rows, locality):
    """One layer in the limit, by the definition of F_h: unit bulk if phi* <= 1, atoms at the offsets of phi* >= 1."""
    out = []
    for i in range(1, len(rows) + 1):
        y = rows[i - 1].copy()
        for head in layer.heads:
            phi = (list(head.phi) + [0.0] * (locality + 1))[: locality + 1]
            top, nu = max(phi), []
            logit = [(head.key @ row) @ (head.query @ rows[i - 1]) for row in rows[:i]]
            if top <= 1:
                nu += [(math.exp(logit[j]) / i, rows[j]) for j in range(i)]
            if top >= 1:
                places = [max(i - 1 - t, 0) for t in range(locality + 1) if phi[t] == top]
                nu += [(math.exp(logit[j]), rows[j]) for j in places]
            y = y + head.value @ sum(w * row for w, row in nu) / sum(w for w, _ in nu)
        out.append(mlp_of(layer, y))
    return np.array(out)


def test_printed_rows():
    assert limit_rows(TOK, X1)[2] == pytest.approx([-0.075710077202, 1.384463759650], abs=5e-13)
    assert limit_rows(POS, X1)[2] == pytest.approx([-0.2, 1.4], abs=1e-12)
    exact = log_suffix_layer(TOK.layers[0], input_rows(TOK, X1))
    assert exact[2] == pytest.approx([-0.113845671612, 1.389230708951], abs=5e-13)
    exact = log_suffix_layer(POS.layers[0], input_rows(POS, X1))
    assert exact[2] == pytest.approx([-0.157223979077, 1.394652997385], abs=5e-13)
    for model in (TOK, POS):
        assert limit_rows(model, [0] * 50 + [1] * 50)[2] == pytest.approx([2.3, -0.4], abs=1e-12)


def test_rows_are_the_definition_also_across_chunks(monkeypatch):
    monkeypatch.setattr("lengthwise.limit.limits._CHUNK", 7)
    for seed in range(30):
        rng = np.random.default_rng(seed)
        model = random_two_layer(rng, ("relu", "sin", "tanh"))
        string = rng.integers(0, model.symbols, size=int(rng.integers(1, 40)))
        wanted = limit_layer(model.layers[0], input_rows(model, string), model.locality)
        assert limit_rows(model, string) == pytest.approx(wanted, rel=1e-10, abs=1e-10)


def test_huge_logits_do_not_overflow():
    model = common_model([0.25, 1.0], scale=1.0)
    head = model.layers[0].heads[0]
    loud = LimitTransformer(
        embedding=model.embedding,
        layers=(Layer((Head(head.key * 3e3, head.query, head.value, head.phi),)), model.layers[1]),
        unembedding=model.unembedding,
        attention="log-suffix",
    )
    assert np.isfinite(limit_rows(loud, X1)).all()


def masked(model, rng):
    """The model with one offset of its first head masked."""
    head = model.layers[0].heads[0]
    phi = head.phi.copy()
    phi[rng.integers(len(phi))] = -np.inf
    first = Layer((Head(head.key, head.query, head.value, phi), *model.layers[0].heads[1:]), model.layers[0].mlp)
    return LimitTransformer(
        embedding=model.embedding,
        positions=model.positions,
        layers=(first, model.layers[1]),
        unembedding=model.unembedding,
        attention="log-suffix",
    )


def test_lemma_1_holds_on_random_strings_of_every_regime_masked_or_not():
    closest = 0.0
    for seed in range(45):
        rng = np.random.default_rng(seed)
        model = random_two_layer(rng, ("relu", "sin", "tanh", "identity"))
        model = masked(model, rng) if seed % 3 == 0 else model
        constants = complexity(model)
        string = rng.integers(0, model.symbols, size=40)
        if seed % 2:
            string[:-1] = string[0]
        exact = log_suffix_layer(model.layers[0], input_rows(model, string))
        away = np.linalg.norm(exact - limit_rows(model, string), axis=1)
        bounds = np.array([layer_one_error(constants, i) for i in range(1, 41)])
        assert (away <= bounds + 1e-9).all()
        closest = max(closest, (away / bounds).max())
    assert closest > 0.3


@pytest.mark.parametrize(("phi", "spread"), [(0.5, 0.0), (0.4, 1.0), (1.5, 0.0), (1.6, 1.0)])
def test_lemma_1_is_nearly_attained(phi, spread):
    """a^(n-1) b: the last token's weight is n^phi, the limit gives it none (phi < 1) or all (phi > 1)."""
    key = [[spread, 0.0]] if phi > 1 else [[0.0, spread]]
    head = Head(key, [[1.0, 1.0]], np.diag([0.0, 1.0]), [phi])
    model = LimitTransformer(
        embedding=np.eye(2),
        layers=(Layer((head,)), Layer((Head(*np.zeros((3, 2, 2))),))),
        unembedding=np.eye(2),
        attention="log-suffix",
    )
    n = 10**6
    content = (head.key @ np.eye(2)).ravel()  # logits of a and of b, for any query
    a, b = (n - 1) * math.exp(content[0]), n**phi * math.exp(content[1])
    limit = limit_rows(model, [0] * (n - 1) + [1])[-1][1]
    away = abs(1 + b / (a + b) - limit)
    constants = complexity(model)
    bound = layer_one_error(constants, n)
    assert 0.97 * bound < away <= bound
    (found,) = constants.first
    for wrong in (replace(found, diameter=found.diameter * 0.9), replace(found, spread=spread - 0.1)):
        assert layer_one_error(replace(constants, first=(wrong,)), n) < away


def test_lemma_4_holds_for_the_whole_network():
    closest = 0.0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        model = random_two_layer(rng, ("relu", "tanh"))
        second = model.layers[1].heads[0]
        quiet = Layer((Head(second.key * 0.1, second.query, second.value, second.phi),), model.layers[1].mlp)
        model = LimitTransformer(
            embedding=model.embedding,
            positions=model.positions,
            layers=(Layer(model.layers[0].heads[:1], model.layers[0].mlp), quiet),
            unembedding=model.unembedding,
            attention="log-suffix",
        )
        constants = complexity(model)
        string = rng.integers(0, model.symbols, size=50)
        first = log_suffix_layer(model.layers[0], input_rows(model, string))
        exact = model.unembedding @ log_suffix_layer(model.layers[1], first)[-1]
        ideal = model.unembedding @ limit_layer(model.layers[1], limit_rows(model, string), model.locality)[-1]
        away, bound = np.linalg.norm(exact - ideal), limit_error(constants, 50)
        assert away <= bound + 1e-9
        closest = max(closest, away / bound)
    assert closest > 0.001


def by_hand(constants, n):
    """The formula of the limit error, term by term in floats."""

    def one(i):
        c = [(h.diameter, (constants.locality + 1) * math.exp(h.spread), float(h.regime.rate)) for h in constants.first]
        return constants.mlp_gain * sum(D * min(1, factor * i**-rate) for D, factor, rate in c)

    heads, mean = constants.second, math.fsum(one(i) for i in range(1, n + 1)) / n
    total = one(n) * (1 + sum(h.query_gain for h in heads))
    for h in heads:
        total += h.key_gain * (math.exp(h.spread) * mean + h.atoms * one(max(n - constants.locality, 1)))
        far = (constants.locality + 1) * math.exp(h.spread) * n ** -float(h.regime.rate)
        total += h.has_suffix * h.diameter * min(1, far)
    return constants.readout_gain * total


def test_printed_limit_errors():
    assert limit_error(complexity(TOK), 1000) == pytest.approx(123175.76, abs=0.005)
    assert limit_error(complexity(MILD_F), 1002) == pytest.approx(0.0014391500, abs=5e-11)


def test_the_limit_error_is_its_formula_rounded_up():
    for seed in range(12):
        constants = complexity(random_two_layer(np.random.default_rng(seed), ("relu", "tanh")))
        for n in (1, 2, 3, 10, 1234):
            direct = by_hand(constants, n)
            assert direct * (1 - 1e-12) <= limit_error(constants, n) <= direct * (1 + 1e-9)


def test_any_length_takes_no_longer_and_the_error_falls():
    for model in (TOK, POS, MILD_F):
        constants = complexity(model)
        errors = [limit_error(constants, 10**k) for k in (0, 1, 2, 3, 6, 9, 18, 60, 200)]
        assert errors == sorted(errors, reverse=True)
        assert errors[-1] < 1e-20
        first = [layer_one_error(constants, 10**k) for k in (0, 3, 18, 200)]
        assert first == sorted(first, reverse=True)


def test_wrong_lengths_are_told():
    constants = complexity(TOK)
    for wrong in (0, -3, True):
        with pytest.raises(WrongInput, match="start at 1"):
            limit_error(constants, wrong)
    with pytest.raises(WrongInput, match="log-suffix"):
        limit_rows(
            LimitTransformer(embedding=[[1.0]], layers=(Layer(),), unembedding=[[1.0]], attention="plain"), [0, 0]
        )
