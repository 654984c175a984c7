import json
import math

import numpy as np
import pytest

import lengthwise as lw


def counts(path, *tables):
    path.write_text(json.dumps(tables[0] if len(tables) == 1 else list(tables)))
    return path


@pytest.fixture
def long_counts(tmp_path):
    """10^18 tokens for the SimpleTask model of `models`."""
    table = [[499999999999999999], [300000000000000000], [200000000000000000]]
    return counts(tmp_path / "table.json", {"suffix": "0", "table": table})


def test_a_string_of_ten_to_the_eighteen(command, models, long_counts):
    """What is printed is a string whose output is within the error of the hardmax sin(4 (5 - 3) / 8) = sin 1."""
    ended = command("shorten", "simple.safetensors", "--counts", long_counts, "--error", "0.1", "--json")
    assert (ended.code, ended.err) == (0, "")
    found = ended.json
    assert (found["verb"], found["original_length"], found["error"]) == ("shorten", str(10**18), "1/10")
    assert found["length"] == len(found["string"]) <= found["bound"]
    (error,) = found["errors"]
    ours, long = (lw.evaluate(models["simple"], found["string"], "dense")[0], 0.8414709848078965)
    assert error["lower"] - 1e-9 <= abs(ours - long) <= error["upper"] + 1e-9 <= 0.1
    assert found["counts"]["suffix"] == ["0"]
    assert sum(sum(row) for row in found["counts"]["table"]) + 1 == found["length"]
    assert (found["certificate"], found["method"]) == (None, "sharpened construction")


def test_two_models_by_name(command, long_counts):
    two = ("simple:omega=1", "simple:omega=4", "--bits", "8", "--counts", long_counts, "--error", "0.2")
    found = command("shorten", *two, "--json").json
    assert len(found["errors"]) == 2
    assert sum(error["upper"] for error in found["errors"]) <= 0.2
    assert found["models"] == ["simple:omega=1", "simple:omega=4"]


def test_counts_that_are_printed_can_be_read_again(command, models, tmp_path):
    table = [[10**12, 10**12], [10**9 + 1, 10**9 + 1]]
    path = counts(tmp_path / "c.json", {"suffix": "0", "table": table})
    ended = command("shorten", "modp:period=2", "--bits", "8", "--counts", path, "--error", "1e-5")
    sentence, again = ended.out.splitlines()
    assert "stand in for" in sentence
    (tmp_path / "short.json").write_text(again)
    ran = command("run", "--json", "--counts", "short.json", "modp.safetensors")
    assert ran.code == 2  # the model of that file has period 3
    lw.save(lw.map_arrays(models["modp"], lambda array: array), tmp_path / "m.safetensors")
    lw.save(lw.task("modp:period=2").construction(), tmp_path / "two.safetensors")
    assert command("run", "two.safetensors", "--counts", "short.json", "--hardmax", "--json").code == 0


def test_many_strings_are_answered_line_by_line(command, models, tmp_path):
    (tmp_path / "w").write_text("\n".join(["0010210201" * 50, "2", "01" * 300]) + "\n")
    ended = command("shorten", "simple.safetensors", "--strings", "w", "--error", "0.2", "--nl")
    lines = [json.loads(line) for line in ended.out.splitlines()]
    assert [line["index"] for line in lines] == [0, 1, 2]
    assert [line["original_length"] for line in lines] == [500, 1, 600]
    assert lines[1]["method"] == "the string itself"
    assert lines[1]["reason"]
    plain = command("shorten", "simple.safetensors", "--strings", "w", "--error", "0.2").out.splitlines()
    assert len(plain) == 6
    assert plain[0] == lines[0]["sentence"]
    assert plain[1] == lines[0]["string"]


def test_a_certificate_states_the_two_strings(command, long_counts, models, tmp_path):
    arguments = ("simple.safetensors", "--counts", long_counts, "--error", "0.1", "--certificate", "c.json")
    found = command("shorten", *arguments, "--json").json
    written = json.loads((tmp_path / "c.json").read_text())
    assert found["certificate"] == "c.json"
    assert (written["kind"], written["long"]["length"]) == ("shortening", str(10**18))
    assert written["short"]["table"] == found["counts"]["table"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["simple.safetensors", "--counts", "t.json"], "--error E"),
        (["simple.safetensors", "--error", "0.1"], "--strings FILE or --counts FILE"),
        (["simple.safetensors", "--counts", "t.json", "--strings", "w", "--error", "0.1"], "both"),
        (["--counts", "t.json", "--error", "0.1"], "one or two models"),
        (["a", "b", "c", "--counts", "t.json", "--error", "0.1"], "one or two models"),
        (["-", "--counts", "-", "--error", "0.1"], "one file on standard input"),
        (["simple.safetensors", "--counts", "t.json", "--error", "0"], "error above 0"),
        (["simple.safetensors", "--counts", "t.json", "--error", "-1"], "error above 0"),
        (["simple.safetensors", "--counts", "t.json", "--error", "nan"], "error above 0"),
        (["simple.safetensors", "--counts", "t.json", "--error", "8"], "sum of all sensitivities"),
        (["simple.safetensors", "--counts", "w", "--error", "0.1"], "keys"),
        (["modp.safetensors", "--counts", "t.json", "--error", "0.1"], "rows"),
        (["simple.safetensors", "modp.safetensors", "--counts", "t.json", "--error", "0.1"], "one vocabulary"),
        (["simple.safetensors", "--counts", "bad.json", "--error", "0.1"], "prefix positions of residue"),
        (["kgram.safetensors", "--counts", "two.json", "--error", "0.1"], "order of tokens"),
        (["kgram.safetensors", "--strings", "w", "--error", "0.1", "--draws", "0"], "--draws"),
        (["simple.safetensors", "--strings", "w", "--error", "0.1", "--nl", "--json"], "--json or --nl"),
        (["simple.safetensors", "--strings", "w", "--error", "0.1", "--nl", "--certificate", "c"], "one certificate"),
        (["simple.safetensors", "--strings", "two", "--error", "0.1", "--json"], "one string with --json"),
        (["simple.safetensors", "--strings", "two", "--error", "0.1", "--certificate", "c"], "one string"),
        (["simple.safetensors", "--strings", "nowhere", "--error", "0.1"], "a file"),
        (["simpel:omega=4", "--strings", "w", "--error", "0.1"], "nearest"),
    ],
)
def test_what_cannot_be_used_is_said_in_one_line(command, models, tmp_path, arguments, said):
    counts(tmp_path / "t.json", {"suffix": "0", "table": [[5], [3], [2]]})
    (tmp_path / "bad.json").write_text(json.dumps({"suffix": "0", "table": [[5, 9], [3, 3], [2, 2]]}))
    counts(tmp_path / "two.json", {"suffix": "0 1", "table": [[5], [3]]})
    (tmp_path / "w").write_text("1\n")
    (tmp_path / "two").write_text("1\n0\n")
    ended = command("shorten", *arguments)
    assert ended.code == 2
    assert said in ended.err
    assert len(ended.err.strip().splitlines()) == 1


def test_two_layers_are_measured(command, models, tmp_path):
    rng = np.random.default_rng(0)
    (tmp_path / "long").write_text("".join(map(str, rng.integers(0, 2, 3000))) + "\n")
    ended = command("shorten", "kgram.safetensors", "--strings", "long", "--error", "0.02", "--json")
    found = ended.json
    assert (ended.code, found["counts"], found["certificate"]) == (0, None, None)
    assert "no a-priori guarantee" in found["exactness"]
    assert found["length"] == len(found["string"]) < 1500
    outputs = [
        command("run", "kgram.safetensors", "--strings", path, "--json").json["outputs"][0]
        for path in ("long", "short")
        if path == "long" or (tmp_path / "short").write_text(found["string"] + "\n")
    ]
    assert math.dist(*outputs) == pytest.approx(found["errors"][0], abs=1e-12)
    assert found["errors"][0] <= 0.02
    again = command("shorten", "kgram.safetensors", "--strings", "long", "--error", "0.02", "--json").json
    assert again["string"] == found["string"]
    said = command("shorten", "kgram.safetensors", "--strings", "long", "--error", "0.02")
    assert said.out.splitlines()[1] == found["string"]
