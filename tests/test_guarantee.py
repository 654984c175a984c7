"""What a theorem says of trained weights, in figures and forecasts: whose weights, which error, and why there is none."""

import math
from fractions import Fraction

import numpy as np
import pytest

import lengthwise as lw
from lengthwise.limit.constructions import mod_p_task
from lengthwise.study import guarantee as module
from lengthwise.study.curves import series
from lengthwise.study.guarantee import beside_the_measured, guarantee, theory_of, weighed, worst_panel
from lengthwise.study.store import Store
from lengthwise.theory.bound import bound
from study_helpers import NOTHING, member, study


def plain(content=0.0, value=1.0):
    """Two tokens, one plain head: token 1 has logit `content`, token 0 has 0; the output is the mean of `value`."""
    head = lw.Head([[0.0, content, 0.0]], [[1.0, 1.0, 0.0]], [[0, 0, 0], [0, 0, 0], [0, value, 0]], [])
    return lw.LimitTransformer(
        embedding=[[1, 0, 0], [0, 1, 0]], layers=[lw.Layer([head])], unembedding=[[0, 0, 1]], attention="plain"
    )


@pytest.mark.parametrize(("content", "value", "error"), [(0.0, 1.0, 0.07), (2.0, 1.0, 0.05), (-1.5, 3.0, 0.01)])
def test_theorem_p_by_hand(content, value, error):
    """Both models have L = value and spread |content|, two types, Phi = 1 for offset 0: N = 1 + ceil(2 L e^w 3/2 / E)."""
    found = guarantee([plain(content, value)], error)
    length = 1 + math.ceil(2 * value * math.exp(abs(content)) * (2 / 4 + 1) / error)
    assert found.theorem == "Theorem P"
    assert found.bounds[0].training_length == length
    assert found.log2_lengths[0] == pytest.approx(math.log2(length), abs=1e-9)


def test_one_length_a_model_and_the_first_reason_counts():
    assert len(guarantee([plain(), plain(1.0)], 0.1).bounds) == 2
    found = guarantee([plain(), mod_p_task(3, 1)], 0.1)
    assert found.bounds == ()
    assert "no theorem covers it" in found.reason
    assert "no weights" in guarantee([], 0.1).reason
    assert "wanted" in guarantee([plain()], 5.0).reason  # no two outputs differ by so much


def test_models_too_large_to_be_weighed_for_a_report(monkeypatch):
    monkeypatch.setattr(module, "MOST_TERMS", 3)
    assert "too large" in guarantee([plain()], 0.1).reason


def lines(plateau=lambda x, n: 0.5 * (n / (2 * x)) ** -2.0, **options):
    """Worst errors that cross 0.5 at 2x, for omega 2 and 4."""
    return series(
        [
            member(1.0, worst=(plateau(x, n) ** 2,) * 3, longest=n, seed=seed, omega=x, **options)
            for x in (2, 4) for n in (2, 4, 8, 16) for seed in range(3)
        ],
        "error",
    )  # fmt: skip


def test_the_panel_holds_measured_and_proved_lengths_of_one_error():
    models = {2: [plain(0.0), plain(1.0), plain(2.0)], 4: [plain(3.0)] * 3}
    found = [guarantee(models[x], module.ERROR) for x in (2, 4)]
    panel = worst_panel(lines(), "omega", found)
    measured, proved = panel.lines
    assert (measured.kind, proved.kind) == ("points", "proved")
    assert measured.y == pytest.approx([4, 8], rel=1e-6)
    wanted = [[bound(model, error=0.5).training_length for model in models[x]] for x in (2, 4)]
    assert proved.y == pytest.approx([np.median(group) for group in wanted], rel=1e-6)
    assert proved.lower[0] == pytest.approx(min(wanted[0]), rel=1e-6)
    assert proved.upper[0] == pytest.approx(max(wanted[0]), rel=1e-6)
    assert "0.5" in panel.title
    assert "worst absolute error" in panel.y_label


def test_lengths_beyond_every_float_stay_on_the_page():
    found = [guarantee([plain(900.0)], module.ERROR)] * 2
    assert found[0].log2_lengths[0] > 1023
    assert np.all(np.isfinite(worst_panel(lines(), "omega", found).lines[1].y))


def test_the_weights_are_those_of_the_longest_training_length_that_did_not_diverge():
    (line, _) = lines()
    assert [one.longest for one in weighed(line)] == [16] * 3


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    """A small study laid out without training, plain attention and log-length attention beside it."""
    path = tmp_path_factory.mktemp("there") / "study"
    settings = ["grid.attention=['plain']", "beside=[{omega=[1, 2], attention=['log-length']}]"]
    lw.sweep(study(*settings), path, trainer=NOTHING)
    return path


def test_a_row_without_a_theorem_says_why(directory, monkeypatch):
    reasons = []
    measured = lw.measure(directory)
    errors = lw.measure(directory, "error").series
    panel = beside_the_measured(errors, Store(directory), reasons)
    groups = {rule: [s for s in measured.series if s.setting["attention"] == rule] for rule in ("plain", "log-length")}
    assert panel(groups["plain"], "omega").lines[-1].kind == "proved"
    assert reasons == []
    monkeypatch.setattr(Store, "model", lambda store, run: mod_p_task(3, 1))
    assert panel(groups["log-length"], "omega") is None
    (said,) = reasons
    assert said.startswith("No bound beside log-length attention: ")


def test_missing_weights_are_said_to_be_missing(directory, tmp_path):
    reasons = []
    errors = lw.measure(directory, "error").series
    assert beside_the_measured(errors, Store(tmp_path), reasons)(errors[:2], "omega") is None
    assert "no weights" in reasons[0]


@pytest.mark.parametrize(("metric", "threshold", "error"), [("loss", 0.01, 0.1), ("error", 0.25, 0.25)])
def test_a_forecast_asks_for_the_root_of_a_loss_and_for_an_error_itself(metric, threshold, error):
    """If no error is above sqrt(L), the loss is not above L."""
    (line, _) = lines()
    one = line.members[16][1]
    said = theory_of(one, plain(1.0), metric, threshold)
    assert said.error == pytest.approx(error)
    assert said.proof.training_length == bound(plain(1.0), error=Fraction(said.error)).training_length
    told = said.fields()
    assert (told["trained_up_to"], told["seed"], told["theorem"]) == (16, 1, "Theorem P")
    assert f"{told['training_length']:,}" in said.sentence
    none = theory_of(one, mod_p_task(3, 1), metric, threshold)
    assert none.fields() is None
    assert none.sentence.startswith("theory: no bound; ")
