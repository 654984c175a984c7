"""What a stranger gets wrong: one line that says what was wanted, what came, what to do. Never a traceback."""

import errno
import json
import struct

import click
import numpy as np
import pytest

from lengthwise.cli import endings, verbs
from lengthwise.errors import MachineStopped, WrongInput


def safetensors(header, data=b""):
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


BAD_MODELS = {
    "empty": b"",
    "text": b"hello, I am a model\n",
    "a header that claims 2 GB": struct.pack("<Q", 2 * 2**30) + b"{}",
    "foreign": safetensors({"x": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}}, b"\0" * 4),
    "no JSON inside": safetensors({"__metadata__": {"lengthwise": "{"}}),
    "a newer format": safetensors({"__metadata__": {"lengthwise": '{"format": 99}'}}),
    "an array that is not there": safetensors(
        {
            "__metadata__": {
                "lengthwise": json.dumps(
                    {"format": 1, "attention": "plain", "bits": None, "tokens": None, "coordinates": None, "layers": []}
                )
            }
        }
    ),
}
BAD_STRINGS = {
    "an unknown token": b"0010\n0019\n",
    "an empty line": b"0010\n\n21\n",
    "an empty file": b"",
    "bytes that are no UTF-8": b"00\xff\n",
    "a binary file": bytes(range(256)),
}
GOOD = {"suffix": [0], "table": [[2], [1], [0]]}
BAD_COUNTS = {
    "no JSON": b'{"suffix": [0], "table"',
    "no object": b"7",
    "an empty list": b"[]",
    "an unknown field": json.dumps(GOOD | {"n": 3}).encode(),
    "a missing field": b'{"suffix": [0]}',
    "a field twice": b'{"suffix": [0], "suffix": [0], "table": [[2], [1], [0]]}',
    "an unknown token": json.dumps(GOOD | {"suffix": [7]}).encode(),
    "an unknown name": json.dumps(GOOD | {"suffix": ["x"]}).encode(),
    "an empty suffix": json.dumps(GOOD | {"suffix": []}).encode(),
    "too few rows": json.dumps(GOOD | {"table": [[2], [1]]}).encode(),
    "a negative count": json.dumps(GOOD | {"table": [[2], [-1], [0]]}).encode(),
    "half a token": json.dumps(GOOD | {"table": [[2], [0.5], [0]]}).encode(),
    "a count that is no number": b'{"suffix": [0], "table": [[NaN], [1], [0]]}',
    "uneven rows": json.dumps(GOOD | {"table": [[2], [1, 1], [0]]}).encode(),
    "residues that no string has": json.dumps(GOOD | {"table": [[5, 0], [1, 0], [0, 0]]}).encode(),
    "an integer of 5000 digits": b'{"suffix": [0], "table": [[%s], [1], [0]]}' % (b"9" * 5000),
    "lists nested deep": b"[" * 100_000,
    "bytes that are no UTF-8": b'{"suffix": ["\xff"], "table": [[1]]}',
}


def is_one_line(ended, place):
    assert (ended.code, ended.out) == (2, ""), ended
    (line,) = ended.err.splitlines()
    assert "wanted " in line
    assert "; got " in line
    assert line.startswith(str(place))


@pytest.mark.parametrize("name", BAD_MODELS)
@pytest.mark.parametrize("verb", [("show",), ("run", "--strings", "w")])
def test_bad_models(command, tmp_path, name, verb):
    path = tmp_path / "bad.safetensors"
    path.write_bytes(BAD_MODELS[name])
    is_one_line(command(*verb, path), path)


def test_every_truncation_of_a_model(command, models, tmp_path):
    whole = (tmp_path / "named.safetensors").read_bytes()
    for length in range(0, len(whole), 40):
        (tmp_path / "cut.safetensors").write_bytes(whole[:length])
        is_one_line(command("show", "cut.safetensors"), "cut.safetensors")


def test_weights_that_are_not_numbers(command, models, tmp_path):
    content = bytearray((tmp_path / "simple.safetensors").read_bytes())
    content[-8:] = np.float64(np.nan).tobytes()
    (tmp_path / "nan.safetensors").write_bytes(content)
    ended = command("show", "nan.safetensors")
    is_one_line(ended, "nan.safetensors")
    assert "nan" in ended.err.split("; got ")[1]


@pytest.mark.parametrize("name", BAD_STRINGS)
def test_bad_strings(command, models, tmp_path, name):
    path = tmp_path / "words.txt"
    path.write_bytes(BAD_STRINGS[name])
    ended = command("run", "simple.safetensors", "--strings", path)
    is_one_line(ended._replace(out=""), path)  # the strings before the wrong one have their lines
    ended = command("run", "simple.safetensors", "--strings", "-", "--json", stdin=BAD_STRINGS[name])
    assert (ended.code, ended.out) == (2, "")
    assert ended.error["where"].startswith("standard input")


@pytest.mark.parametrize("name", BAD_COUNTS)
def test_bad_counts(command, models, tmp_path, name):
    path = tmp_path / "counts.json"
    path.write_bytes(BAD_COUNTS[name])
    is_one_line(command("run", "simple.safetensors", "--counts", path), path)


def test_good_counts_are_good(command, models):
    assert command("run", "simple.safetensors", "--counts", "-", stdin=json.dumps(GOOD).encode()).code == 0


@pytest.mark.parametrize("path", ["nowhere.txt", ".", "nowhere/w.txt", "nul\0byte"])
def test_paths_that_cannot_be_read(command, models, path):
    for ended in (
        command("show", path),
        command("run", "simple.safetensors", "--strings", path),
        command("run", "simple.safetensors", "--counts", path),
    ):
        is_one_line(ended, path.replace("\0", " "))


def test_a_bad_model_on_standard_input_is_called_so(command):
    is_one_line(command("show", "-", stdin=b"no model"), "standard input")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["rnu"], ["a verb", "'rnu'", "nearest: run"]),
        (["--frob"], ["an option", "'--frob'"]),
        (["run", "m", "--string", "w"], ["an option of lengthwise run", "--string", "--strings"]),
        (["run"], ["MODEL", "nothing", "lengthwise run --help"]),
        (["show"], ["FILE", "nothing"]),
        (["run", "m", "--strings"], ["--strings", "requires an argument"]),
        (
            ["run", "m", "--method", "fast", "--strings", "w"],
            ["wanted one of auto, dense, linear, counts for --method; got 'fast';"],
        ),
        (["show", "a", "b"], ["unexpected extra argument (b)"]),
        (["doctor", "--json=3"], ["--json", "does not take a value"]),
    ],
)
def test_usage(command, arguments, said):
    ended = command(*arguments)
    is_one_line(ended, "")
    for words in said:
        assert words in ended.err
    as_json = command(*arguments, "--json")
    assert (as_json.code, as_json.out) == (2, "")
    assert set(as_json.error) == {"wanted", "got", "remedy", "where"}
    assert all(as_json.error[part] for part in ("wanted", "got", "remedy"))


@pytest.mark.parametrize(
    ("thrown", "code", "word"),
    [
        (KeyboardInterrupt(), 130, ""),
        (click.Abort(), 130, ""),
        (BrokenPipeError(errno.EPIPE, "Broken pipe"), 0, ""),
        (MemoryError("Unable to allocate 4 TiB"), 3, "4 TiB"),
        (OSError(errno.ENOSPC, "No space left on device", "out.json"), 3, "out.json"),
        (PermissionError(errno.EACCES, "Permission denied", "w.txt"), 2, "w.txt"),
        (MachineStopped("a device", "none", "use another"), 3, "a device"),
        (WrongInput("a", "b", "c"), 2, "wanted a; got b; c"),
    ],
)
def test_endings(command, monkeypatch, thrown, code, word):
    def throw():
        raise thrown

    monkeypatch.setattr(verbs.Verbs, "get_command", lambda *_: click.Command("doctor", callback=throw))
    monkeypatch.setattr(endings, "_reader_left", lambda: 0)
    ended = command("doctor")
    assert (ended.code, ended.out) == (code, "")
    assert len(ended.err.splitlines()) == bool(word)
    assert word in ended.err


def test_a_defect_of_ours_is_no_answer(command, monkeypatch):
    def throw():
        raise ZeroDivisionError

    monkeypatch.setattr(verbs.Verbs, "get_command", lambda *_: click.Command("doctor", callback=throw))
    ended = command("doctor")
    assert ended.code not in (0, 1, 2, 3, 130)
    assert "ZeroDivisionError" in ended.err


def test_help_and_version(command):
    assert command("--version").out.startswith("lengthwise ")
    for verb in verbs.VERBS:
        assert verb in command().out
        assert "Examples:" in command(verb, "--help").out
