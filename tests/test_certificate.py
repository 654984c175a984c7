"""What the writer writes, and that the mutation run would notice a checker that forgets a rule."""

import json
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import lengthwise as lw
from helpers_certificates import (
    CHECKER,
    accepted,
    alone,
    altered,
    at,
    error_of,
    lengths,
    model_of,
    neighbours,
    number,
    places,
    random_counts,
    second_opinion,
    shortening,
    shortenings,
    trained,
    uniform_task,
    verdict,
)
from helpers_quantities import random_one_layer
from lengthwise.limit.constructions import mod_p_task, simple_task
from lengthwise.limit.model import named_arrays
from lengthwise.theory.answer import NoBoundHolds
from lengthwise.theory.certificate import (
    certificate_text,
    length_certificate,
    shortening_certificate,
    write_certificate,
)
from models import random_model

LONG, SHORT = lw.Counts((2,), [[700], [300], [1000000]]), lw.Counts((2,), [[14], [6], [160]])


@pytest.mark.parametrize("seed", range(20))
def test_weights_are_written_exactly(seed):
    rng = np.random.default_rng(seed)
    model = random_model(rng, depth=1, attention="plain", masks=True)
    size = float(2.0 ** rng.integers(-60, 60))
    model = lw.map_arrays(model, lambda a: (np.where(np.isinf(a), 1, a) * size).astype(rng.choice(["f4", "f8"])))
    counts = lw.Counts((0,) * 9, [[0] * model.period] * model.symbols)
    text = certificate_text(shortening_certificate(model, None, counts, counts, 1))
    again = model_of(json.loads(text)["models"][0])
    for (name, ours), theirs in zip(named_arrays(model).items(), named_arrays(again).values(), strict=True):
        assert np.array_equal(ours.astype("f8"), theirs.reshape(ours.shape)), name
    assert CHECKER.check_bytes(text.encode()).valid


@pytest.mark.parametrize(
    "value", [0, 1, -7, 2**53, 2**53 + 1, 10**60, 2**3000, Fraction(3, 40), Fraction(-5, 2**1074), Fraction(10**60, 7)]
)
def test_numbers_come_back(value):
    from lengthwise.theory.certificate_form import number_form

    form = number_form(value)
    assert number(form) == CHECKER.reader.number(form, "") == value
    assert isinstance(form, str) or abs(form) <= 2**53


def test_the_claims_of_section_11_of_the_note():
    """Theorem 2's lengths for SimpleTask and ModPTask, as the certificates state them."""
    simple = {(1, "1/2"): (23, 215), (1, "1/10"): (103, 4263), (2, "1/2"): (43, 747), (4, "1/10"): (403, 65043)}
    for (omega, error), wanted in simple.items():
        f = simple_task(omega, bits=4)
        found = [length_certificate(f, g, error) for g in (f, uniform_task(omega, 4))]
        assert tuple(c["length"] for c in found) == wanted
        assert [verdict(c) for c in found] == [True, True]
    for (period, error), wanted in {
        (2, "1/10"): (166, 3606),
        (3, "1/20"): (732, 30612),
        (5, "1/10"): (1030, 22530),
    }.items():
        found = [
            length_certificate(mod_p_task(period, 0, bits=4), mod_p_task(period, k, bits=4), error) for k in (0, 1)
        ]
        assert tuple(c["length"] for c in found) == wanted
        assert [verdict(c) for c in found] == [True, True]


@pytest.mark.parametrize("name", lengths())
def test_the_length_is_that_of_the_bound(name):
    certificate = lengths()[name]
    models = [model_of(value) for value in certificate["models"]]
    bound = lw.bound(*models, error=number(certificate["error"]))
    assert bound.training_length == number(certificate["length"])
    assert certificate["theorem"] in bound.theorem
    least, most = bound.fields()["window"]
    assert (least, most) == (most - certificate["period"] + 1, certificate["length"])


def test_a_trained_model_has_certificates_of_both_kinds():
    models = [trained(0), trained(3)]
    assert verdict(length_certificate(*models, "1/10")) is True
    counts = random_counts(np.random.default_rng(1), 3, 1, 1, 10**9, 0)
    assert verdict(shortening(*models, counts, 300)) is True


@pytest.mark.parametrize("seed", range(40))
def test_random_certificates_agree_with_the_second_opinion(seed):
    """Any attention rule, masks, activations and periods: valid just above the error, refused just below."""
    rng = np.random.default_rng([9, seed])
    attention = ["plain", "log-length", "log-length"][seed % 3]
    period, locality = int(rng.integers(1, 3)), int(rng.integers(0, 3))
    models = [random_one_layer(rng, 3, period=p, locality=locality, attention=attention) for p in (period, 2 * period)]
    if seed % 3 == 1:
        models = [replace(model, bits=int(rng.integers(1, 12))) for model in models]
    long = random_counts(
        rng, 3, 2 * period, locality + 1, int(10 ** rng.uniform(1, 5)), int(rng.integers(0, 2 * period))
    )
    certificate = shortening(*models, long, 10)
    assert verdict(certificate) is True
    short = lw.Counts(long.suffix, [[int(v) for v in row] for row in certificate["short"]["table"]])
    error = error_of(models, long, short)
    low = error if isinstance(error, Fraction) else Fraction(error.lower())
    if low > 0:
        assert "is claimed" in verdict(certificate | {"error": str(low * Fraction(999999, 1000000))})


# --- a checker that forgets a rule ---

NOTHING = {
    "class sizes and lengths": ("shortening", "_strings_exist", lambda *_: None),
    "errors": ("shortening", "difference", lambda *_: Fraction(0)),
    "the flush": ("evaluate", "reaches", lambda *_: True),
    "sensitivities": ("length", "sensitivities", lambda model: [Fraction(0)] * len(model.heads)),
    "budgets": ("length", "_check_budgets", lambda *_: None),
    "groups": ("length", "_check_group", lambda *_: None),
    "margins": ("length", "margin", lambda *_: None),
    "ties": ("length", "ties", lambda *_: 0),
    "counts": ("length", "counting_bound", lambda *_: Fraction(0)),
    "the threshold": ("length", "reaches", lambda *_: True),
}


@pytest.mark.parametrize("rule", NOTHING)
def test_a_checker_without_a_rule_is_noticed(rule):
    """With the rule taken out some altered certificate passes that the second opinion rejects."""
    module, name, replacement = NOTHING[rule]
    weak = alone(f"checker_without_{module}_{name}")  # a module of its own: nobody else meets it
    setattr(getattr(weak, module), name, replacement)
    some = ["count form"] if rule == "the flush" else ["modp", "locality 2"]
    chosen = (
        [shortenings()[n] for n in some] if module != "length" else [lengths()[n] for n in ("residues", "two heads")]
    )
    for certificate in chosen:
        for path in places(certificate):
            for value in neighbours(at(certificate, path)):
                changed = altered(certificate, path, value)
                if passes(weak, changed) and not accepted(changed) and not second_opinion(changed):
                    return
    pytest.fail(f"nothing noticed that {rule} are not checked")


def passes(checker, certificate):
    try:
        return checker.check_bytes(certificate_text(certificate).encode()).valid
    except (checker.Unreadable, IndexError):
        return False


# --- what cannot be written ---


def test_counts_that_do_not_belong_together():
    f = simple_task(2, bits=4)
    other = lw.Counts((1,), [[14], [6], [160]])
    with pytest.raises(lw.WrongInput, match="same suffix"):
        shortening_certificate(f, None, LONG, other, 1)
    with pytest.raises(lw.WrongInput, match="counts of 2 tokens"):
        shortening_certificate(mod_p_task(2, 0, bits=4), None, LONG, SHORT, 1)
    with pytest.raises(lw.WrongInput, match="two models over one vocabulary"):
        shortening_certificate(f, mod_p_task(1, 0, bits=4), LONG, SHORT, 1)
    for error in (0, -1, float("nan"), "x"):
        with pytest.raises(lw.WrongInput, match="error"):
            shortening_certificate(f, None, LONG, SHORT, error)


def test_models_without_a_theorem():
    f = simple_task(2, bits=4)
    with pytest.raises(lw.WrongInput, match="bits"):
        length_certificate(f, simple_task(2), "1/10")
    with pytest.raises(lw.WrongInput, match="log-length or plain"):
        length_certificate(simple_task(2, attention="log-suffix"), f, "1/10")
    with pytest.raises(lw.WrongInput, match="can be written out"):
        length_certificate(replace(f, bits=1_000_000), f, "1/10")
    step = replace(f.layers[0].mlp, activation="heaviside")
    with pytest.raises(NoBoundHolds, match="Heaviside"):
        length_certificate(replace(f, layers=(replace(f.layers[0], mlp=step),)), f, "1/10")
    with pytest.raises(lw.WrongInput, match="one-layer"):
        shortening_certificate(simple_task(2, attention="log-suffix"), None, LONG, SHORT, 1)


def test_a_file_is_whole_or_not_there(tmp_path):
    certificate = shortening_certificate(simple_task(2, bits=4), None, LONG, SHORT, "1/10", window=(100, 200))
    write_certificate(certificate, tmp_path / "c.json")
    assert [path.name for path in tmp_path.iterdir()] == ["c.json"]
    assert json.loads((tmp_path / "c.json").read_text()) == certificate
    assert lw.check(tmp_path / "c.json").valid
    with pytest.raises(lw.WrongInput):
        write_certificate(certificate, tmp_path)


def test_the_window_is_what_was_asked():
    f = simple_task(2, bits=4)
    for window, wanted in (((181, 181), True), ((170, 181), True), ((170, 180), "outside"), ((182, 190), "outside")):
        found = verdict(shortening_certificate(f, None, LONG, SHORT, "1/10", window))
        assert found is True if wanted is True else wanted in found
