"""`lengthwise communication` on the command line: tables of programs, expressions and Python functions; wrong input."""

import pytest

SQUARE = """
def is_square(word):
    half = len(word) // 2
    return word[:half] == word[half:]

is_square.alphabet = "ab"

def shouts(word):
    raise RuntimeError("no")
"""


def test_a_library_program(command):
    ended = command("communication", "dyck1", "--max-length", "20", "--json")
    found = ended.json
    assert (ended.code, ended.err) == (0, "")
    assert [row["rows"] for row in found["rows"]] == [n // 2 + 2 for n in range(1, 11)]
    assert [row["bits"] for row in found["rows"]] == [(n // 2 + 1).bit_length() for n in range(1, 11)]
    assert found["rank"] == [n // 2 + 1 for n in range(1, 11)]
    assert found["growth"] in ("logarithmic", "undecided")
    assert found["target"] == "dyck1"
    said = command("communication", "crasp:dyck1", "--max-length", "20")
    assert said.out.splitlines()[0] == found["sentence"].replace("dyck1:", "crasp:dyck1:")
    assert said.out.splitlines()[-1].split("\t")[:5] == ["20", "10", "7", "3", "6"]


def test_an_expression(command):
    found = command("communication", "regex:b*(ab*ab*)*", "--json").json
    assert found["growth"] == "constant"
    assert {row["rows"] for row in found["rows"]} == {2}
    wider = command("communication", "regex:(ab)*", "--alphabet", "abc", "--max-length", "8", "--json").json
    assert wider["rows"][0]["rows"] == 2


def test_a_program_in_a_file_and_on_standard_input(command, tmp_path):
    text = "program p\nalphabet 'a' 'b'\naccept count('a') > count('b')\n"
    (tmp_path / "p.crasp").write_text(text)
    wanted = [n + 1 for n in range(1, 5)]
    for target, stdin in (("p.crasp", b""), ("-", text.encode())):
        found = command("communication", target, "--max-length", "8", "--json", stdin=stdin).json
        assert [row["rows"] for row in found["rows"]] == wanted


def test_a_python_function(command, tmp_path):
    (tmp_path / "mine.py").write_text(SQUARE)
    found = command("communication", "mine.py:is_square", "--max-length", "10", "--json").json
    assert [row["rows"] for row in found["rows"]] == [2**n for n in range(1, 6)]
    assert found["growth"] == "linear"
    assert "no periodic, local limit transformer" in found["sentence"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["dyk1"], "nearest: dyck1"),
        (["crasp:dyk1"], "dyck1"),
        (["none.crasp"], "no such file"),
        (["none.py:f"], "no such file"),
        (["mine.py:is_squar"], "is_square"),
        (["mine.py"], "it defines"),
        (["mine.py:shouts", "--alphabet", "ab"], "RuntimeError: no"),
        (["mine.py:shouts"], "--alphabet"),
        (["mine.py:is_square", "--alphabet", "aa"], "different symbols"),
        (["broken.py:f"], "SyntaxError"),
        (["dyck1", "--max-length", "1"], "at least 2"),
        (["regex:(ab"], "closing bracket"),
        ([], "TARGET"),
    ],
)
def test_wrong_input_is_one_line(command, tmp_path, arguments, said):
    (tmp_path / "mine.py").write_text(SQUARE)
    (tmp_path / "broken.py").write_text("def f(:\n")
    ended = command("communication", *arguments)
    assert (ended.code, ended.out, ended.err.count("\n")) == (2, "", 1), ended.err
    assert said in ended.err
