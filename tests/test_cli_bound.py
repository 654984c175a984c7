"""`lengthwise bound` on the command line: what it prints and how it ends."""

import json
import shutil
from pathlib import Path

import pytest

import lengthwise as lw
from helpers_quantities import MILD_F, MILD_H
from lengthwise.limit.constructions import simple_task

STUDY = Path(__file__).parent.parent / "docs" / "golden" / "study"
CONSTANTS = ["--vocabulary", "3", "--sensitivity", "8", "--margin", "1", "--bits", "4", "--error", "0.1"]
FIELDS = {
    "kind",
    "training_length",
    "log2_training_length",
    "terms",
    "dominant_term",
    "window",
    "lower_bound",
    "theorem",
}
FIELDS |= {"hypotheses", "attention", "reason"}


def test_two_tasks(command):
    ended = command(
        "bound", "modp:period=3,residue=0", "modp:period=3,residue=1", "--bits", "4", "--error", "0.1", "--json"
    )
    assert ended.code == 0
    assert set(ended.json) >= FIELDS
    assert (ended.json["training_length"], ended.json["window"]) == (8112, [8110, 8112])
    assert (ended.json["attention"], ended.json["theorem"], ended.json["reason"]) == ("log-length", "Theorem 2", None)


@pytest.mark.parametrize(("options", "length"), [([], 65043), (["--same-attention"], 403), (["--heads", "2"], None)])
def test_constants(command, options, length):
    ended = command("bound", *CONSTANTS, *options, "--json")
    assert (ended.code, ended.json["kind"]) == (0, "bound")
    assert ended.json["training_length"] == length or length is None
    assert ended.json["lower_bound"] == 40 * (2 if "--heads" in options else 1)


def test_period_and_locality_have_their_defaults(command):
    plain = command("bound", *CONSTANTS, "--json").json
    given = command("bound", *CONSTANTS, "--period", "1", "--locality", "0", "--heads", "1", "--json").json
    assert plain["training_length"] == given["training_length"]
    assert command("bound", *CONSTANTS, "--period", "2", "--json").json["window_lengths"] == 2


def test_lines_for_people(command):
    ended = command("bound", "simple:omega=4", "--bits", "4", "--error", "1/10")
    first, *rows = ended.out.splitlines()
    assert first.startswith("Training length 65,043: models that agree on all strings of that length differ by at most")
    kinds = [row.split("\t")[0] for row in rows]
    assert kinds[:3] == ["term", "term", "term*"]  # the star marks the largest
    assert set(kinds) == {"term", "term*", "lower bound", "compare", "supposes"}
    assert any("not proved for this model" in row for row in rows)


def test_a_trained_model_alone_and_from_standard_input(command, tmp_path):
    for name, path in zip("fg", sorted((STUDY / "weights").glob("*.safetensors")), strict=False):
        shutil.copy(path, tmp_path / f"{name}.safetensors")
    alone = command("bound", "f.safetensors", "--error", "0.1", "--json")
    assert (alone.code, alone.json["theorem"], alone.json["attention"]) == (0, "Theorem P", "plain")
    content = (tmp_path / "g.safetensors").read_bytes()
    pair = command("bound", "f.safetensors", "-", "--error", "0.1", "--json", stdin=content)
    assert (
        pair.json["training_length"]
        == command("bound", "f.safetensors", "g.safetensors", "--error", "0.1", "--json").json["training_length"]
    )


def test_no_bound_ends_with_1(command):
    ended = command("bound", "simple", "--error", "0.1", "--json")
    assert (ended.code, ended.json["kind"], ended.json["training_length"]) == (1, "no bound", None)
    assert "bits" in ended.json["reason"]
    assert set(ended.json) >= FIELDS
    said = command("bound", "simple", "--error", "0.1")
    assert (said.code, said.out.startswith("No bound: "), said.err) == (1, True, "")


def test_a_length_that_no_number_holds(command):
    long = CONSTANTS[:5] + ["1e-9", *CONSTANTS[6:]]
    found = command("bound", *long, "--json").json
    assert found["training_length"] is None
    assert found["window"] is None
    assert found["log2_training_length"] == pytest.approx(4e9)
    assert found["training_length_reason"]
    (text,) = [term["length"] for term in found["terms"] if term["name"] == "counting"]
    assert text == 65043
    medium = CONSTANTS[:5] + ["0.05", *CONSTANTS[6:]]
    found = command("bound", *medium, "--json").json
    assert found["training_length"] == str(2**80)
    assert found["window"] == [str(2**80)] * 2


BAD = {
    "no error": ["simple", "--bits", "4"],
    "an error of zero": ["simple", "--bits", "4", "--error", "0"],
    "a negative error": ["simple", "--bits", "4", "--error", "-0.1"],
    "an error that is no number": ["simple", "--bits", "4", "--error", "nan"],
    "an error without end": ["simple", "--bits", "4", "--error", "inf"],
    "an error with a million digits": ["simple", "--bits", "4", "--error", "1e-1000000"],
    "a trivial error": ["simple:omega=4", "--bits", "4", "--error", "16"],
    "no bits at all": ["simple", "--bits", "0", "--error", "0.1"],
    "different vocabularies": ["simple", "modp", "--bits", "4", "--error", "0.1"],
    "periods with a huge multiple": ["modp:period=97", "modp:period=101", "--bits", "4", "--error", "0.1"],
    "an unknown task": ["smple", "--bits", "4", "--error", "0.1"],
    "no such file": ["f.safetensors", "--error", "0.1"],
    "a program": ["crasp:dyck1", "--error", "0.1"],
    "three models": ["simple", "simple", "simple", "--bits", "4", "--error", "0.1"],
    "standard input twice": ["-", "-", "--error", "0.1"],
    "nothing": ["--error", "0.1"],
    "half of the constants": ["--vocabulary", "3", "--bits", "4", "--error", "0.1"],
    "models and constants": ["simple", "--vocabulary", "3", "--error", "0.1"],
    "two models of known attention": ["simple", "simple", "--same-attention", "--bits", "4", "--error", "0.1"],
    "no tokens": [*CONSTANTS, "--vocabulary", "0"],
    "a margin of zero": [*CONSTANTS, "--margin", "0"],
    "a sensitivity that is no number": [*CONSTANTS, "--sensitivity", "much"],
    "half a head": [*CONSTANTS, "--heads", "0.5"],
    "a negative locality": [*CONSTANTS, "--locality", "-1"],
    "an unknown option": ["simple", "--eror", "0.1"],
}


@pytest.mark.parametrize("case", BAD)
def test_wrong_input_is_one_line(command, case):
    ended = command("bound", *BAD[case])
    assert (ended.code, ended.out, len(ended.err.splitlines())) == (2, "", 1), ended
    assert "wanted " in ended.err
    assert "; got " in ended.err
    as_json = command("bound", *BAD[case], "--json")
    assert (as_json.code, as_json.out) == (2, "")
    assert set(json.loads(as_json.err)["error"]) == {"wanted", "got", "remedy", "where"}


def test_bits_of_a_file_stay(command, tmp_path):
    lw.save(simple_task(4, bits=4), tmp_path / "f.safetensors")
    found = command("bound", "f.safetensors", "--bits", "30", "--error", "0.1", "--json").json
    assert found["terms"][0]["length"] == 16


def test_two_layers_through_the_same_door(command, tmp_path):
    lw.save(MILD_F, tmp_path / "f.safetensors")
    lw.save(MILD_H, tmp_path / "h.safetensors")
    found = command("bound", "f.safetensors", "h.safetensors", "--error", "0.1", "--json").json
    assert (found["training_length"], found["window"], found["attention"]) == (29, [1, 29], "log-suffix")
    assert "B.1" in found["theorem"]
    assert {"margin", "histogram"} == {other["name"] for other in found["lower_bounds"]}
    kgram = command("bound", "kgram:symbols=2,order=1,backoff=0.1", "--error", "0.1")
    assert kgram.code == 0
    assert "Theorem B" in kgram.out


def test_two_layers_from_constants(command):
    given = ("--layers", "2", "--error", "0.1", "--locality", "1", "--margin", "0.5")
    found = command("bound", "--complexity", "1", *given, "--json").json
    assert found["training_length"] == 9 * 8000 // 4 + 3  # C(f) = C(g) = 1: n = (2 / 0.1)^3
    steep = command("bound", "--complexity", "1", *given[:-1], "0.25", "--json").json
    assert steep["training_length"] == 9 * 160000 // 4 + 3
    assert (
        command("bound", "--complexity", "1", *given[:-1], "inf", "--json").json["training_length"] == 9 * 8000 // 4 + 3
    )


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--layers", "2"], "--complexity and --margin"),
        (["--layers", "2", "--complexity", "3"], "give --margin"),
        (["--layers", "2", "--complexity", "x", "--margin", "1"], "finite complexity"),
        (["--layers", "2", "--complexity", "3", "--margin", "-1"], "margin above 0"),
        (["--layers", "2", "--complexity", "3", "--margin", "1", "--bits", "4"], "--bits"),
        (["--layers", "2", "--complexity", "3", "--margin", "1", "--same-attention"], "--same-attention"),
        (["--layers", "2", "--complexity", "3", "--margin", "1", "--period", "0"], "period >= 1"),
        (["--complexity", "3"], "--layers 2"),
        (["--layers", "3"], "--layers"),
    ],
)
def test_wrong_constants_of_two_layers(command, arguments, said):
    ended = command("bound", *arguments, "--error", "0.1")
    assert (ended.code, ended.out, ended.err.count("\n")) == (2, "", 1)
    assert said in ended.err
