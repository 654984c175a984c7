"""The checker from outside: broken certificates and hostile files, the single file it ships as, the command, the API."""

import importlib.util
import json
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

import lengthwise as lw
from helpers_certificates import CHECKER, ROOT, lengths, shortenings
from lengthwise.check import Unreadable
from lengthwise.limit.constructions import simple_task

BROKEN = Path(__file__).parent / "broken"
EXAMPLES = [*sorted((ROOT / "docs" / "certificates").iterdir()), *sorted((BROKEN / "good").iterdir())]
REASONS = json.loads((BROKEN / "reasons.txt").read_text())


@pytest.mark.parametrize("name", REASONS)
def test_a_broken_certificate_is_rejected_for_its_reason(name):
    ends, said = verdict_of((BROKEN / f"{name}.json").read_bytes())
    assert (ends, REASONS[name]["reason"]) == (REASONS[name]["ends"], REASONS[name]["reason"])
    assert REASONS[name]["reason"] in said
    assert "\n" not in said
    assert len(said) < 400


def verdict_of(data):
    try:
        verdict = CHECKER.check_bytes(data)
    except CHECKER.Unreadable as error:
        return "unreadable", str(error)
    return ("valid", verdict.statement) if verdict.valid else ("refused", verdict.reason)


def test_there_are_many_broken_certificates_and_they_are_what_the_script_writes():
    spec = importlib.util.spec_from_file_location("make_broken", BROKEN / "make.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.files() == {
        path.name: path.read_bytes() for path in BROKEN.iterdir() if path.suffix in (".json", ".txt")
    }
    assert len(REASONS) >= 25
    assert len({entry["reason"] for entry in REASONS.values()}) >= 25


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_the_examples_are_valid(path):
    assert lw.check(path).valid


# --- hostile files ---

MANY = 50 << 20
HOSTILE = {
    "100 MB of nesting": b"[" * (2 * MANY),
    "nesting up to the size limit": b"[" * CHECKER.reader.MOST_BYTES,
    "objects in objects": b'{"a":' * (MANY // 10),
    "flat brackets": b"[" + b"[]," * (2 << 20) + b"[]]",
    "an open string": b'{"format": "' + b"x" * (20 << 20),
    "many quotes": b'"' * (20 << 20),
    "quotes and backslashes": b'"\\"' * (10 << 20),
    "one huge integer": b'{"period": ' + b"9" * (20 << 20) + b"}",
    "one huge string of digits": b'{"format": "lengthwise certificate", "kind": "' + b"9" * (20 << 20) + b'"}',
    "zeros": bytes(20 << 20),
    "a huge key": b'{"' + b"k" * (20 << 20) + b'": 1}',
    "not UTF-8": b"\xff\xfe{}",
    "a byte order mark": b"\xef\xbb\xbf{}",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_is_unreadable_in_one_line(name):
    ends, said = verdict_of(HOSTILE[name])
    assert ends == "unreadable"
    assert len(said) < 400
    assert said.isprintable()


def test_work_is_bounded_before_it_is_done():
    """Small files that ask for much: many query types, a large locality, weights whose sums would never end."""
    length = json.loads((BROKEN / "good" / "length.json").read_text())
    for name, value in (("period", 10**9), ("locality", 10**9), ("period", "1*2^2200"), ("locality", "1*2^2200")):
        assert verdict_of(json.dumps(length | {name: value}).encode())[0] in ("unreadable", "refused")
    string = json.loads((BROKEN / "good" / "string.json").read_text())
    primes = [f"1/{p}" for p in range(10**6, 10**6 + 10**4)]
    string["models"][0]["embedding"] = [primes, primes]
    assert verdict_of(json.dumps(string).encode())[0] == "unreadable"


# --- the single file ---


@pytest.fixture(scope="module")
def single(tmp_path_factory):
    """The checker as `make checker` builds it."""
    if shutil.which("make") is None:
        pytest.skip("no make here")
    folder = tmp_path_factory.mktemp("dist")
    subprocess.run(
        ["make", "-s", "-C", str(ROOT), "checker", f"DIST={folder}", f"PYTHON={sys.executable}"],
        check=True,
        capture_output=True,
    )
    return folder / "lengthwise-check.pyz"


def run_single(single, *arguments):
    """In an isolated Python without site-packages: nothing but the standard library can be imported."""
    done = subprocess.run(
        [sys.executable, "-I", "-S", str(single), *map(str, arguments)],
        capture_output=True,
        text=True,
        cwd=single.parent,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


def test_the_single_file_gives_the_verdicts_and_exit_codes(single, tmp_path):
    assert {path.name for path in single.parent.iterdir()} == {"lengthwise-check.pyz"}
    code, out, err = run_single(single, ROOT / "docs" / "certificates" / "shortening.json")
    assert (code, err) == (0, "")
    assert out.startswith("valid: A string of 1001 tokens and one of 19")
    code, out, err = run_single(single, BROKEN / "error-too-small.json")
    assert (code, out.startswith("refused: "), err) == (1, True, "")
    code, out, err = run_single(single, BROKEN / "nan.json")
    assert (code, out.startswith("unreadable: "), err) == (2, True, "")
    assert run_single(single, tmp_path / "none.json")[0] == 2
    assert run_single(single, tmp_path)[0] == 2
    assert run_single(single)[0] == 2


def test_the_checker_imports_the_standard_library_only():
    files = sorted((ROOT / "src" / "lengthwise" / "check").glob("*.py"))
    imported = set()
    for path in files:
        for line in path.read_text().splitlines():
            words = line.split()
            if words[:1] in (["import"], ["from"]) and line == line.lstrip():
                imported.add(words[1])
        assert len(path.read_text().splitlines()) <= 200, path.name
    ours = {name for name in imported if name.startswith(".")}
    assert {name.split(".")[0] for name in imported - ours} <= sys.stdlib_module_names
    assert {name.lstrip(".") for name in ours} <= {path.stem for path in files} | {""}
    assert not {"decimal", "random"} & imported


# --- the command and the Python face ---


def test_the_command_ends_with_0_1_or_2(command):
    ended = command("check", EXAMPLES[0])
    assert (ended.code, ended.err) == (0, "")
    ended = command("check", BROKEN / "error-too-small.json", "--json")
    assert (ended.code, ended.json["valid"], ended.json["statement"]) == (1, False, "")
    assert "is claimed" in ended.json["reason"]
    ended = command("check", BROKEN / "nan.json", "--json")
    assert (ended.code, ended.out) == (2, "")
    assert ended.error["wanted"].startswith("numbers without a point")
    assert ended.error["where"].endswith("nan.json")
    assert command("check", "nowhere.json").code == 2
    assert command("check", ".").code == 2


@pytest.mark.parametrize("attention", ["log-length", "plain"])
def test_a_bound_writes_what_the_checker_accepts(command, tmp_path, attention):
    bits = 4 if attention == "log-length" else None
    for omega in (1, 2):
        lw.save(simple_task(omega, bits=bits, attention=attention), tmp_path / f"{omega}.safetensors")
    ask = ["bound", "1.safetensors", "2.safetensors", "--error", "0.1", "--json", "--certificate"]
    ended = command(*ask, "c.json")
    assert (ended.code, ended.err, ended.json["certificate"]) == (0, "", "c.json")
    checked = command("check", "c.json", "--json").json
    assert checked["valid"]
    assert f"every string of more than {ended.json['training_length']} tokens" in checked["statement"]
    assert command("bound", "1.safetensors", "--error", "0.1", "--certificate", "d.json").code == 2
    assert command("bound", "-", "2.safetensors", "--error", "0.1", "--certificate", "d.json", stdin=b"x").code == 2
    assert not (tmp_path / "d.json").exists()


def test_a_certificate_that_cannot_be_written_says_so(command, tmp_path):
    models = simple_task(1), replace(simple_task(2), bits=4), simple_task(1, bits=1_000_000)
    for name, model in zip("abc", models, strict=True):
        lw.save(model, tmp_path / f"{name}.safetensors")
    ended = command("bound", "a.safetensors", "b.safetensors", "--error", "0.1", "--json", "--certificate", "d.json")
    assert (ended.code, ended.json["certificate"], ended.json["certificate_reason"]) == (
        1,
        None,
        "there is no bound to certify",
    )
    ended = command("bound", "b.safetensors", "c.safetensors", "--error", "0.1", "--certificate", "d.json")
    assert ended.code == 2
    assert "a training length that can be written out" in ended.err
    assert not (tmp_path / "d.json").exists()


def test_standard_input(command):
    ended = command("check", "-", "--json", stdin=EXAMPLES[1].read_bytes())
    assert (ended.code, ended.json["valid"], ended.json["reason"]) == (0, True, "")
    assert command("check", "-", stdin=b"").err.startswith("standard input: wanted JSON")


def test_the_python_face(tmp_path):
    verdict = lw.check(EXAMPLES[0])
    assert verdict.valid
    assert str(verdict) == f"valid: {verdict.statement}"
    assert verdict.to_json() == {"valid": True, "statement": verdict.statement, "reason": ""}
    with pytest.raises(Unreadable, match="No such file"):
        lw.check(tmp_path / "none.json")


def test_statements_say_what_was_checked():
    said = {name: CHECKER.check_bytes(json.dumps(c).encode()).statement for name, c in shortenings().items()}
    assert "the outputs of the two models differ by at most" in said["simple"]
    assert "the output of the model differs by at most" in said["one model"]
    assert "d +" not in said["one model"], "one model's own error says nothing of two that agree"
    assert "of 1000001 tokens" not in said["length 10^60"]
    length = CHECKER.check_bytes(json.dumps(lengths()["residues"]).encode()).statement
    assert length == (
        "If the two models differ by at most d on all strings of 3605 to 3606 tokens, they differ by at most d + 1/10 on "
        "every string of more than 3606 tokens (Theorem 2)."
    )
