"""`lengthwise crasp compile`: writes a model that `lengthwise run` runs, says what it is, and refuses what it cannot."""

import pytest

import lengthwise as lw
from lengthwise.crasp.library import library


def test_a_program_is_compiled_run_and_gives_the_same_answers(command, tmp_path):
    """The whole way of a user: write, run, compile, run the model."""
    text = library().source("dyck1")
    (tmp_path / "dyck1.crasp").write_text(text)
    words = ["(())()", "())(", "", "((", "()" * 500]
    (tmp_path / "words.txt").write_text("\n".join(words) + "\n")
    (tmp_path / "begun.txt").write_text("".join(f"${word}\n" for word in words))
    ended = command("crasp", "compile", "dyck1.crasp", "--out", "dyck1.safetensors")
    assert ended.code == 0
    assert "2 layers, 1 head" in ended.out
    assert "wrote dyck1.safetensors" in ended.err
    ran = command("run", "dyck1.safetensors", "--strings", "begun.txt", "--json").json
    interpreted = command("crasp", "run", "dyck1.crasp", "--strings", "words.txt", "--json").json
    assert [row[0] > 0 for row in ran["outputs"]] == interpreted["accepts"]


def test_json_says_what_was_made(command, tmp_path):
    ended = command("crasp", "compile", "crasp:aaaa_star", "--out", "m.safetensors", "--offset-invariant", "--json")
    record = ended.json
    assert record["file"] == "m.safetensors"
    assert record["kind"] == "periodic"
    assert record["offset_invariant"] is True
    assert record["outputs"] == ["accept"]
    model = lw.load(tmp_path / "m.safetensors")
    assert (record["layers"], record["width"], record["period"]) == (model.depth, model.width, model.period)
    assert model.tokens == ("$", "a", "b")
    assert set(record["ledger"]["lengths"]) == {"float64", "float32", "bfloat16"}
    assert record["ledger"]["lengths"]["float32"]["exact_sums"] > 10**6
    assert record["ledger"]["exact"] is None


def test_without_out_nothing_is_written(command, tmp_path):
    before = set(tmp_path.iterdir())
    assert command("crasp", "compile", "crasp:dyck1", "--json").json["file"] is None
    assert set(tmp_path.iterdir()) == before


def test_no_passes_is_larger(command):
    small = command("crasp", "compile", "crasp:D_2", "--json").json
    large = command("crasp", "compile", "crasp:D_2", "--no-passes", "--json").json
    assert small["layers"] < large["layers"]
    assert small["width"] < large["width"]
    assert large["passes"] == []


@pytest.mark.parametrize(("error", "length"), [("1e-6", 499_999), ("1/10", 4), ("0", None)])
def test_the_evaluators_error_is_an_input(command, error, length):
    stated = command("crasp", "compile", "crasp:majority", "--average-error", error, "--json").json["stated"]
    assert stated["length"] == length
    assert ("length_reason" in stated) == (length is None)


@pytest.mark.parametrize(
    ("arguments", "got"),
    [
        (["crasp:dyck"], "dyck"),
        (["crasp:majority", "--average-error", "much"], "much"),
        (["crasp:majority", "--average-error", "2"], "2"),
        (["nothing.crasp"], "no such file"),
    ],
)
def test_wrong_input(command, arguments, got):
    ended = command("crasp", "compile", *arguments, "--json")
    assert ended.code == 2
    assert ended.out == ""
    assert got in ended.error["got"]


def test_a_program_that_cannot_be_compiled(command, tmp_path):
    (tmp_path / "p.crasp").write_text("program p alphabet 'a' accept count('a') >= 9999999999999999\n")
    ended = command("crasp", "compile", "p.crasp")
    assert ended.code == 2
    assert "2^50" in ended.err


def test_a_path_that_cannot_be_written(command, tmp_path):
    (tmp_path / "file").write_text("")
    assert command("crasp", "compile", "crasp:dyck1", "--out", "file/m.safetensors").code == 2
