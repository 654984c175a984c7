"""Two strings written out: the checker's evaluation of two layers against the definition, and what it refuses."""

import json
import math

import numpy as np
import pytest

import lengthwise as lw
from helpers_certificates import CHECKER, accepted, altered, at, neighbours, places, second_opinion
from helpers_quantities import (
    BAL,
    MILD_F,
    MILD_H,
    POS,
    TOK,
    TOK_L2BAL,
    TOK_PERIOD_2,
    X1,
    random_two_layer,
)
from lengthwise.errors import WrongInput
from lengthwise.limit.constructions import kgram_and, simple_task
from lengthwise.limit.model import Head, Layer, LimitTransformer
from lengthwise.theory.certificate import operations_needed, strings_certificate
from lengthwise.theory.certificate_form import model_form

PRINTED = {  # the note's f(x1)
    "tok": (TOK, -2.196892582806445),
    "bal": (BAL, -1.922867864057803),
    "pos": (POS, -1.569545609711753),
    "tok+l2bal": (TOK_L2BAL, -1.795884357996686),
    "tok, period 2": (TOK_PERIOD_2, -4.343439482234120),
}


def read(model):
    return CHECKER.model.read_model(json.loads(json.dumps(model_form(model, "", deep=True))), "m", ("log-suffix",), 2)


def enclosed(model, string):
    return CHECKER.strings.outputs(read(model), [int(token) for token in string])


@pytest.mark.parametrize("name", PRINTED)
def test_printed_outputs(name):
    model, printed = PRINTED[name]
    (found,) = enclosed(model, X1)
    assert float(found.low) == pytest.approx(printed, abs=2e-15)
    assert 0 < found.high - found.low < 1e-50


@pytest.mark.parametrize("seed", range(12))
def test_random_models_against_the_definition(seed):
    rng = np.random.default_rng(seed)
    model = random_two_layer(rng, ("relu", "tanh", "sin", "identity"))
    if seed % 3 == 0:
        head = model.layers[0].heads[0]
        phi = head.phi.copy()
        phi[rng.integers(0, len(phi))] = -np.inf
        heads = (Head(head.key, head.query, head.value, phi), *model.layers[0].heads[1:])
        model = LimitTransformer(
            embedding=model.embedding,
            positions=model.positions,
            layers=(Layer(heads, model.layers[0].mlp), model.layers[1]),
            unembedding=model.unembedding,
            attention="log-suffix",
        )
    for length in (1, 2, 17):
        string = rng.integers(0, model.symbols, length)
        wanted = lw.evaluate(model, string, "dense")
        for value, box in zip(wanted, enclosed(model, string), strict=True):
            assert float(box.low) == pytest.approx(value, rel=1e-12, abs=1e-12)
            assert box.high - box.low < 1e-40


def test_one_layer_and_the_kgram():
    one = LimitTransformer(
        embedding=TOK.embedding, layers=TOK.layers[:1], unembedding=TOK.unembedding, attention="log-suffix"
    )
    assert float(enclosed(one, X1)[0].low) == pytest.approx(lw.evaluate(one, X1)[0], abs=1e-14)
    string = [0, 1, 1, 0, 1, 0, 0, 1]
    assert [float(box.low) for box in enclosed(kgram_and(2, 1, 0.1), string)] == pytest.approx(
        [0.62906519, 0.37093481], abs=5e-9
    )


def certificate(error="1/500"):
    string = [int(i * i % 7 < 3) for i in range(1, 19)]
    return strings_certificate((MILD_F, MILD_H), string, string[-8:], error)


def test_a_shortening_is_certified_and_its_error_is_tight(tmp_path):
    string = np.array([int(i * i % 7 < 3) for i in range(1, 301)])
    found = lw.shorten(MILD_F, MILD_H, string, error=0.001)
    found.certificate(tmp_path / "c.json")
    said = lw.check(tmp_path / "c.json")
    assert said.valid
    assert "in Euclidean norm" in said.statement
    total = sum(found.errors)
    for error, holds in ((total * (1 + 1e-9), True), (total * (1 - 1e-9), False)):
        claim = strings_certificate(found.models, string.tolist(), found.tokens, error)
        assert accepted(json.loads(json.dumps(claim))) is holds


def test_an_altered_number_is_refused_or_the_statement_still_follows():
    good, refused = json.loads(json.dumps(certificate("1/40"))), 0
    assert accepted(good)
    assert second_opinion(good)
    for index, path in enumerate(places(good)):
        near = neighbours(at(good, path))
        changed = altered(good, path, near[index % len(near)])
        if accepted(changed):
            assert second_opinion(changed), path
        else:
            refused += 1
    assert refused >= 5
    assert not accepted(certificate("1/1000"))


def test_weights_that_cannot_be_told_from_0_are_refused():
    far = Head([[0.0, 1e6]], [[1.0, 1.0]], np.eye(2), [-np.inf])
    model = LimitTransformer(
        embedding=np.eye(2), layers=(Layer((far,)),), unembedding=np.eye(2), attention="log-suffix"
    )
    with pytest.raises(CHECKER.reader.Refused, match="far apart"):
        enclosed(model, [0, 0, 0, 1])
    masked = Head(np.eye(2), np.eye(2), np.eye(2), [-np.inf])
    model = LimitTransformer(
        embedding=np.eye(2), layers=(Layer((masked,)),), unembedding=np.eye(2), attention="log-suffix"
    )
    assert [box.low for box in enclosed(model, [1])] == [0, 1]


def test_both_programs_count_the_same_work():
    for model in (TOK, TOK_PERIOD_2, kgram_and(2, 2, 0.1)):
        assert operations_needed(model, 77) == CHECKER.strings._work(read(model), 77)
    with pytest.raises(WrongInput, match="500,000 operations"):
        strings_certificate((TOK,), [0] * 40_000, [0], 0.1)
    with pytest.raises(WrongInput, match="log-suffix"):
        strings_certificate((simple_task(1),), [0], [0], 0.1)


def test_the_euclidean_distance_is_rounded_up():
    one = [CHECKER.enclose.Enclosure.of(v) for v in (0, 3)]
    two = [CHECKER.enclose.Enclosure.of(v) for v in (4, 0)]
    assert 0 <= CHECKER.strings.distance(one, two) - 5 < 1e-50
    assert CHECKER.strings.distance(one, one) == 0
    two = [CHECKER.enclose.Enclosure.of(v) for v in (1, 4)]
    assert CHECKER.strings.distance(one, two) ** 2 >= 2
    assert float(CHECKER.strings.distance(one, two)) == pytest.approx(math.sqrt(2))
