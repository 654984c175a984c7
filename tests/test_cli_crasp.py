import json

import pytest

import crasp_definition as definition
from lengthwise.crasp.library import library

DYCK = "program dyck1\nalphabet '(' ')'\nlet h := count('(') - count(')')\naccept h == 0 and count(h < 0) == 0\n"


@pytest.fixture
def dyck(tmp_path):
    """A program in the folder of `command`."""
    (tmp_path / "dyck1.crasp").write_text(DYCK, encoding="utf-8")
    return "dyck1.crasp"


def test_words_and_their_answers(command, dyck):
    ended = command("crasp", "run", dyck, "(())", "())(", "", "--json")
    assert (ended.code, ended.err) == (0, "")
    assert ended.json["accepts"] == [True, False, True]
    assert ended.json["lengths"] == [4, 4, 0]
    assert ended.json["verb"] == "crasp run"


def test_words_from_a_file_are_what_the_definition_says(command, tmp_path):
    program = library()["D_2"]
    words = ["aabb", "", "a b a b", "abba", "aaabbb"]
    (tmp_path / "w").write_text("".join(f"{word}\n" for word in words))
    ended = command("crasp", "run", "crasp:D_2", "--strings", "w", "--json")
    plain = [word.replace(" ", "") for word in words]
    assert ended.json["accepts"] == [definition.accepts(program, word) for word in plain]
    outputs = [definition.outputs(program, word, len(word)) for word in plain]
    assert ended.json["outputs"] == {name: [one[name] for one in outputs] for name in ("next_a", "next_b")}


def test_every_position_and_every_name(command):
    ended = command("crasp", "run", "crasp:dyck1", "(()", "--positions", "all", "--every", "--json")
    assert ended.json["accepts"] == [[False, False, False]]
    assert ended.json["outputs"] == {"h": [[1, 2, 1]], "next_close": [[True, True, True]]}
    without = command("crasp", "run", "crasp:majority4", "aabS", "--json")
    assert without.json["accepts"] is None
    assert without.json["outputs"]["out_a"] == [True]


def test_standard_input(command, dyck):
    assert command("crasp", "run", dyck, "--strings", "-", "--json", stdin=b"()\n\n").json["accepts"] == [True, True]
    assert command("crasp", "run", "-", "()", "--json", stdin=DYCK.encode()).json["accepts"] == [True]


def test_lines_for_people_and_for_programs(command, dyck):
    assert command("crasp", "run", dyck, "()", ")").out == "()\t2\tyes\n)\t1\tno\n"
    assert command("crasp", "run", dyck, "()(", "--positions", "all").out == "()(\t3\t010\n"
    assert command("crasp", "run", "crasp:histogram3", "aab").out == "aab\t3\tno\t1\n"
    lines = command("crasp", "run", "crasp:dyck1", "()", ")", "--nl").out.splitlines()
    assert json.loads(lines[1]) == {"index": 1, "length": 1, "accepts": False, "outputs": {"next_close": False}}


def test_lines_before_a_wrong_one_are_printed(command, dyck, tmp_path):
    (tmp_path / "w").write_bytes(b"()\n" * 5 + b"(x\n" + b"()\n" * 5)
    ended = command("crasp", "run", dyck, "--strings", "w", "--nl")
    assert ended.code == 2
    assert len(ended.out.splitlines()) == 5
    assert ended.error["where"] == "w, line 6, position 2"


def test_many_lines_are_read_in_batches(command, dyck, tmp_path):
    words = ["()" * (index % 50) + ")" * (index % 7 == 0) for index in range(40_000)]
    (tmp_path / "w").write_text("\n".join(words))
    lines = command("crasp", "run", dyck, "--strings", "w").out.splitlines()
    assert [line.split("\t")[2] for line in lines] == [
        "no" if word.count(")") > word.count("(") else "yes" for word in words
    ]


def test_lint_says_what_a_program_needs(command, dyck):
    found = command("crasp", "lint", dyck, "--json").json
    assert (found["program"], found["kind"], found["period"], found["offsets"]) == ("dyck1", "plain", 1, [])
    assert (found["depth"], found["fragment"], found["culprit"]) == (2, "one-difference", None)
    said = command("crasp", "lint", "crasp:shuffle_dyck2").out
    assert "rest" in said
    assert "no theorem covers h1 < 0 (in accept)" in said


def test_lint_warns(command, tmp_path):
    (tmp_path / "p.crasp").write_text("program p\nalphabet 'a'\nlet h := count('a')\naccept count('a') >= 0\n")
    found = command("crasp", "lint", "p.crasp", "--json").json
    assert found["warnings"] == ["h is never used", "accept is always true"]


def test_explain_marks_what_rejects(command, dyck):
    ended = command("crasp", "explain", dyck, "())(")
    assert ended.code == 1
    rows = [line.split("\t") for line in ended.out.splitlines()]
    assert rows[:2] == [["", "position", "1", "2", "3", "4"], ["", "symbol", "(", ")", ")", "("]]
    table = {label: (mark, values) for mark, label, *values in rows}
    assert table["h := count('(') - count(')')"] == ("", ["1", "0", "-1", "0"])
    assert table["h < 0"] == ("", ["0", "0", "1", "0"])
    assert table["count(h < 0) == 0"] == ("x", ["1", "1", "0", "0"])
    assert table["h == 0"][0] == ""
    assert table["accept h == 0 and count(h < 0) == 0"][0] == "x"
    assert "count(h < 0) is 1 (position 3)" in ended.err
    assert command("crasp", "explain", dyck, "()").code == 0


def test_explain_shows_a_part_of_a_long_word(command, dyck):
    ended = command("crasp", "explain", dyck, "()" * 5000, "--from", "9999", "--to", "10000", "--json")
    assert ended.json["first"] == 9999
    assert ended.json["rows"][0]["values"] == [5000, 5000]
    assert command("crasp", "explain", dyck, "()" * 5000).code == 2
    assert command("crasp", "explain", dyck, "()", "--from", "3").code == 2
    assert command("crasp", "explain", dyck, "", "--json").json["first"] == 0


def test_explain_writes_one_page(command, dyck, tmp_path):
    ended = command("crasp", "explain", dyck, "())(", "--html", "e.html", "--json")
    assert ended.json["html"] == "e.html"
    page = (tmp_path / "e.html").read_text(encoding="utf-8")
    assert "h := count(&#39;(&#39;)" in page.replace('<span class="name">h</span>', "h")
    assert page.count('class="failing"') == 2
    assert "http" not in page.replace("http-equiv", "")


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        (["run", "dyck1.crasp"], "words, or --strings FILE"),
        (["run", "dyck1.crasp", "()", "--strings", "w"], "words, or --strings FILE"),
        (["run", "-", "--strings", "-"], "one file on standard input"),
        (["run", "dyck1.crasp", "(x"], "one of the 2 symbols of the alphabet"),
        (["run", "nothing.crasp", "()"], "a file"),
        (["lint", "crasp:dyk1"], "a program of the library"),
        (["lint", "bytes.crasp"], "UTF-8 text"),
        (["lint", "wrong.crasp"], "a name defined earlier"),
        (["lint", "pred7.cr"], "one of the predicates that come with c-rasp: pred, pred4, pos_even"),
        (["explain", "dyck1.crasp", "()", "--from", "2", "--to", "1"], "positions from 1 to 2, in order"),
        (["rum"], "a verb after lengthwise crasp"),
    ],
)
def test_wrong_input_is_one_line(command, dyck, tmp_path, arguments, wanted):
    (tmp_path / "bytes.crasp").write_bytes(b"program \xff")
    (tmp_path / "wrong.crasp").write_text("program p\nalphabet 'a'\naccept hh >= 1\n")
    (tmp_path / "pred7.cr").write_text('#import pred7\n\nA = #[pred7] "a" >= 1\n')
    ended = command("crasp", *arguments, "--json" if arguments != ["rum"] else "--nl")
    assert (ended.code, ended.out) == (2, "")
    assert ended.error["wanted"] == wanted


def test_a_place_in_a_program_is_line_and_column_with_a_caret(command, tmp_path):
    (tmp_path / "wrong.crasp").write_text("program p\nalphabet 'a'\nlet h := count('a')\naccept 2 * hh >= 1\n")
    ended = command("crasp", "lint", "wrong.crasp", "--json")
    assert ended.error["where"] == "wrong.crasp, line 4, column 12"
    assert ended.error["got"] == "hh in: accept 2 * ^hh >= 1"
    assert ended.error["remedy"] == "nearest: h"


def test_an_empty_file_of_words(command, dyck, tmp_path):
    (tmp_path / "w").write_text("")
    assert command("crasp", "run", dyck, "--strings", "w", "--json").error["wanted"] == "at least one word"


def test_older_files_are_read(command, tmp_path):
    (tmp_path / "ab.cr").write_text('#import pred\nP = "b" && (#[pred] "a" >= 1)\nL = #P >= 1\n')
    ended = command("crasp", "run", "ab.cr", "b a c a b", "b a", "--alphabet", "c", "--json")
    assert ended.json["accepts"] == [True, False]
