import math
from fractions import Fraction

import pytest


def test_a_one_layer_model(command, models):
    found = command("show", "simple.safetensors", "--json").json
    assert found["kind"] == "limit transformer"
    assert (found["attention"], found["bits"], found["symbols"], found["period"]) == ("log-length", 8, 3, 1)
    assert found["layers"] == [{"heads": 1, "units": 1, "activation": "sin", "locality": 0}]
    assert found["heads"] == 1
    assert Fraction(found["logit_margin"]) == 1  # logits 1, 1, 0
    assert found["hardmax_length"] == 2**8
    assert [Fraction(value) for value in found["sensitivity"]] == [8]  # 2 omega
    assert found["complexity"] is None
    assert "two layers" in found["complexity_reason"]
    assert "log-suffix" in found["position_margin_reason"]


def test_a_two_layer_model(command, models):
    found = command("show", "kgram.safetensors", "--json").json
    assert [layer["units"] for layer in found["layers"]] == [4, 0]
    assert found["layers"][1]["activation"] is None
    assert Fraction(found["position_margin"]) == 2  # phi = 3 against 1
    weighed = found["complexity"]
    spread, diameter = math.log(5), math.sqrt(2)  # declared: log(1 + 1/backoff), sqrt 2
    assert weighed["sampling_gain"] == pytest.approx(diameter * math.exp(spread), rel=1e-12)
    assert 2 ** weighed["log2_complexity"] == pytest.approx(weighed["complexity"])
    for name in ("logit_margin", "naive_logit_margin", "sensitivity", "hardmax_length"):
        assert found[name] is None
        assert found[f"{name}_reason"]


def test_shapes_and_parameters(command, models):
    found = command("show", "named.safetensors", "--json").json
    assert found["tokens"] == ["ab", "c"]
    assert found["shapes"]["layers.0.heads.0.phi"] == [2]
    assert found["parameters"] == 4 + 2 + 2 + 2 + 4 + 2 + 4
    assert found["locality"] == 1


def test_quick_computes_nothing(command, models):
    found = command("show", "simple.safetensors", "--quick", "--json").json
    assert found["width"] == 5
    assert "logit_margin" not in found


def test_no_gap_says_so(command, models, tmp_path):
    import lengthwise as lw

    head = lw.Head([[0.0]], [[0.0]], [[1.0]])
    model = lw.LimitTransformer(
        embedding=[[1.0], [2.0]], layers=[lw.Layer([head])], unembedding=[[1.0]], attention="log-length"
    )
    lw.save(model, tmp_path / "flat.safetensors")
    found = command("show", "flat.safetensors", "--json").json
    assert found["logit_margin"] is None
    assert "infinite" in found["logit_margin_reason"]
    assert "bits" in found["hardmax_length_reason"]


def test_lines_for_people(command, models):
    lines = dict(line.split("\t") for line in command("show", "simple.safetensors").out.splitlines())
    assert lines["logit margin"] == "1"
    assert lines["sensitivity"] == "8"
    assert lines["hardmax length"] == "256"
    assert lines["layer 1"] == "heads 1, units 1, activation sin, locality 0"
    assert "two layers" in lines["complexity"]


def test_standard_input(command, models, tmp_path):
    content = (tmp_path / "simple.safetensors").read_bytes()
    assert command("show", "-", "--quick", "--json", stdin=content).json["width"] == 5
