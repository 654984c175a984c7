import json
import math
from fractions import Fraction

import pytest

import lengthwise as lw
import oracles


def words(path, *lines):
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def test_outputs_come_in_the_order_of_the_strings(command, models, tmp_path):
    lines = ["0010210201", "2", "111110", "0 1 2 2"]
    ended = command("run", "simple.safetensors", "--strings", words(tmp_path / "w", *lines), "--json")
    assert (ended.code, ended.err) == (0, "")
    assert ended.json["verb"] == "run"
    assert ended.json["lengths"] == [10, 1, 6, 4]
    expected = [lw.evaluate(models["simple"], line, "dense").tolist() for line in lines]
    assert ended.json["outputs"] == [pytest.approx(row, abs=1e-12) for row in expected]


@pytest.mark.parametrize("method", ["auto", "dense", "linear", "counts"])
def test_every_method_gives_the_mean_at_the_residue(command, models, tmp_path, method):
    string = "0111010010110101" * 20  # long enough for the hardmax: 2^8
    ended = command("run", "modp.safetensors", "--strings", words(tmp_path / "w", string), "--method", method, "--json")
    wanted = oracles.mod_p_task(3, 1, [int(c) for c in string])
    assert ended.json["outputs"][0][0] == pytest.approx(wanted, abs=1e-12)
    assert ended.json["method"] == method


def test_every_position_has_its_outputs(command, models, tmp_path):
    path = words(tmp_path / "w", "0010", "21")
    ended = command("run", "simple.safetensors", "--strings", path, "--positions", "all", "--json")
    outputs = ended.json["outputs"]
    assert [len(rows) for rows in outputs] == [4, 2]
    assert outputs[0][3] == pytest.approx(lw.evaluate(models["simple"], "0010", "dense").tolist(), abs=1e-12)


def test_counts_of_any_length(command, models, tmp_path):
    """The hardmax of 3 zeros to 1 one is sin(4 * 1/2); length 4 * 10^20 + 1 is past every float that holds integers."""
    table = [[3 * 10**20], [10**20], [0]]
    (tmp_path / "c.json").write_text(json.dumps({"suffix": "2", "table": table}))
    ended = command("run", "simple.safetensors", "--counts", "c.json", "--json")
    assert ended.json["outputs"][0][0] == pytest.approx(math.sin(2), abs=1e-12)
    assert ended.json["lengths"] == [str(4 * 10**20 + 1)]
    assert ended.json["log2_lengths"][0] == pytest.approx(math.log2(4 * 10**20 + 1))


def test_hardmax_is_exact(command, models, tmp_path):
    """Positions 1 and 4 of six hold the tokens 1 and 0; then six times that."""
    ended = command("run", "modp.safetensors", "--strings", words(tmp_path / "w", "100011", "1"), "--hardmax", "--json")
    assert [Fraction(row[0]) for row in ended.json["outputs"]] == [Fraction(1, 2), 1]
    table = [[10**18, 0, 0], [0, 10**18, 2 * 10**18]]  # not the sizes of residue classes yet
    table = [[10**18, 10**18 // 4, 0], [0, 3 * 10**18 // 4, 10**18]]
    (tmp_path / "c.json").write_text(json.dumps([{"suffix": [0], "table": table}]))
    ended = command("run", "modp.safetensors", "--counts", "c.json", "--hardmax", "--json")
    ones, suffix_positions = 3 * 10**18 // 4, 1  # the suffix stands at residue 1 and holds a 0
    assert Fraction(ended.json["outputs"][0][0]) == Fraction(ones, 10**18 + suffix_positions)


def test_a_ball_encloses_the_sine(command, models, tmp_path):
    ended = command("run", "simple.safetensors", "--strings", words(tmp_path / "w", "0001"), "--hardmax", "--json")
    (ball,) = ended.json["outputs"][0]
    assert ball["lower"] <= math.sin(2) <= ball["upper"]
    assert ball["upper"] - ball["lower"] < 1e-12


def test_one_object_a_line(command, models, tmp_path):
    ended = command("run", "simple.safetensors", "--strings", words(tmp_path / "w", "0010", "21"), "--nl")
    lines = [json.loads(line) for line in ended.out.splitlines()]
    assert [(line["index"], line["length"]) for line in lines] == [(0, 4), (1, 2)]
    assert [len(line["outputs"]) for line in lines] == [1, 1]


def test_lines_before_a_wrong_one_are_printed(command, models, tmp_path):
    ended = command("run", "simple.safetensors", "--strings", words(tmp_path / "w", "0010", "2x"), "--nl")
    assert ended.code == 2
    assert len(ended.out.splitlines()) == 1
    assert ended.error["where"] == f"{tmp_path / 'w'}, line 2, position 2"


def test_dashes_are_standard_input(command, models, tmp_path):
    by_strings = command("run", "simple.safetensors", "--strings", "-", "--json", stdin=b"0010\n21\n")
    assert by_strings.json["lengths"] == [4, 2]
    content = (tmp_path / "simple.safetensors").read_bytes()
    by_model = command("run", "-", "--strings", words(tmp_path / "w", "0010", "21"), "--json", stdin=content)
    assert by_model.json["outputs"] == by_strings.json["outputs"]
    counts = b'{"suffix": [1], "table": [[3], [2], [4]]}'
    assert command("run", "simple.safetensors", "--counts", "-", "--json", stdin=counts).json["lengths"] == [10]


def test_token_names(command, models, tmp_path):
    ended = command("run", "named.safetensors", "--strings", words(tmp_path / "w", "ab c c", "c"), "--json")
    assert ended.json["lengths"] == [3, 1]
    counts = json.dumps({"suffix": ["c", "ab"], "table": [[2], [1]]}).encode()
    by_name = command("run", "named.safetensors", "--counts", "-", "--json", stdin=counts)
    by_string = command("run", "named.safetensors", "--strings", words(tmp_path / "w", "ab c ab c ab"), "--json")
    assert by_name.json["outputs"][0] == pytest.approx(by_string.json["outputs"][0], abs=1e-12)


def test_plain_lines_for_people(command, models, tmp_path):
    ended = command("run", "simple.safetensors", "--strings", words(tmp_path / "w", "0010", "2" * 500))
    first, second = (line.split("\t") for line in ended.out.splitlines())
    assert first[:2] == ["0010", "4"]
    assert float(first[2]) == pytest.approx(lw.evaluate(models["simple"], "0010")[0], abs=1e-11)
    assert len(second[0]) < 60
    assert second[1] == "500"


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["--strings", "w", "--counts", "c"], "both"),
        ([], "neither"),
        (["--strings", "w", "--hardmax", "--method", "dense"], "--method dense"),
        (["--counts", "w", "--method", "linear"], "--method linear"),
        (["--counts", "w", "--positions", "all"], "--positions all"),
        (["--strings", "w", "--hardmax", "--positions", "all"], "--positions all"),
        (["--strings", "w", "--method", "counts", "--positions", "all"], "--positions all"),
    ],
)
def test_options_that_do_not_go_together(command, models, arguments, word):
    ended = command("run", "simple.safetensors", *arguments)
    assert (ended.code, ended.out) == (2, "")
    assert word in ended.err
    assert len(ended.err.splitlines()) == 1


def test_one_dash_only(command):
    assert "dash twice" in command("run", "-", "--strings", "-").err


def test_counts_need_one_layer(command, models, tmp_path):
    path = words(tmp_path / "w", "0010")
    ended = command("run", "kgram.safetensors", "--strings", path, "--method", "counts", "--json")
    assert ended.code == 2
    assert ended.error["got"] == "2 layers"
    assert str(path) in ended.error["where"]
