"""`lengthwise certify` as a person and a program meet it."""

import json
import shutil
from pathlib import Path

import pytest

HIDES = Path(__file__).parent.parent / "results" / "hides"


@pytest.fixture
def member(tmp_path):
    shutil.copy(HIDES / "simple-omega2.safetensors", tmp_path / "member.safetensors")
    return "member.safetensors"


ASKED = ("--task", "simple:omega=2", "--where", "c0 + c1 >= 0.05 n")


def test_a_trained_member(command, member):
    ended = command("certify", member, *ASKED)
    assert ended.code == 0
    sentence, counts = ended.out.splitlines()
    assert "with c0 + c1 >= 0.05 n the worst error against sin(2 (c0 - c1) / (c0 + c1)) is between 0.3" in sentence
    Path("worst.json").write_text(counts)
    ran = command("run", member, "--counts", "worst.json", "--json")
    assert ran.code == 0


def test_json(command, member):
    ended = command("certify", member, *ASKED, "--json")
    found = ended.json
    assert (ended.code, found["verb"], found["proved"], found["stop"]) == (
        0,
        "certify",
        True,
        "the ends are close enough",
    )
    assert found["lower"] <= found["worst_error"] == found["upper"] <= found["lower"] + 0.001
    assert set(found["witness"]) == {"length", "counts"}
    assert found["certificate"] is None


def test_a_claim_that_is_refuted_ends_with_one(command, member):
    ended = command("certify", member, *ASKED, "--within", "0.1")
    assert ended.code == 1
    assert ended.out.startswith("Refuted: not at most 0.1.")
    assert command("certify", member, *ASKED, "--within", "0.4").code == 0


def test_cells_run_out_and_the_certificate_goes_on(command, member):
    first = command("certify", member, *ASKED, "--most-cells", "20", "--certificate", "c.json", "--json")
    assert first.code == 1
    assert first.json["stop"] == "the largest number of cells was reached"
    again = command("certify", member, *ASKED, "--resume", "c.json", "--certificate", "d.json", "--json")
    assert again.code == 0
    assert again.json["cells"] > first.json["cells"]
    assert again.json["upper"] < first.json["upper"]
    whole = command("certify", member, *ASKED, "--json").json
    assert again.json["upper"] <= whole["lower"] + 0.001
    kept = json.loads(Path("c.json").read_text())
    assert kept["kind"] == "worst"


def test_a_task_stands_for_its_weights(command):
    ended = command("certify", "simple:omega=4", "--bits", "4", "--json")
    assert ended.code == 0
    assert ended.json["short_strings_below"] == 16


WRONG = [
    (("certify", "member.safetensors"), "--task TARGET"),
    (("certify", "member.safetensors", "--task", "kgram"), "lengthwise attack"),
    (("certify", "member.safetensors", "--task", "simpel"), "simple"),
    (("certify", "member.safetensors", "--task", "simple", "--where", "c0 > 1"), ">= or <="),
    (("certify", "member.safetensors", "--task", "simple", "--where", "c7 >= n"), "c0 to c2"),
    (("certify", "member.safetensors", "--task", "simple", "--resume", "member.safetensors"), "of kind worst"),
    (("certify", "member.safetensors", "--task", "simple", "--resume", "missing.json"), "no such file"),
    (("certify", "nothing.safetensors", "--task", "simple"), "no such file"),
    (("certify", "member.safetensors", "--task", "simple", "--tolerance", "0"), "--tolerance"),
    (("certify", "kgram:symbols=2,order=1", "--task", "simple"), "one layer"),
]


@pytest.mark.parametrize(("words", "said"), WRONG)
def test_wrong_input_is_one_line(command, member, words, said):
    ended = command(*words)
    assert (ended.code, ended.out) == (2, "")
    assert said in ended.err
    assert ended.err.count("\n") == 1
