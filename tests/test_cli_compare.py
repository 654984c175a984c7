"""`lengthwise crasp compare`: answers, exit codes and errors."""

import pytest

from lengthwise.crasp.library import library
from lengthwise.verdict import families


def test_two_that_differ(command):
    ended = command("crasp", "compare", "crasp:D_3", "crasp:D_4", "--json")
    assert (ended.code, ended.err) == (1, "")
    answer = ended.json
    assert (answer["equal"], answer["word"], answer["length"]) == (False, "aaaabbbb", 8)
    assert (answer["exactness"], answer["fragment"], answer["bound"]) == ("proved", "one-difference", 81)
    assert answer["verb"] == "crasp compare"


def test_two_that_are_equal(command, tmp_path):
    (tmp_path / "same.crasp").write_text(str(library()["majority"]).replace("program majority", "program same"))
    ended = command("crasp", "compare", "crasp:majority", "same.crasp", "--json")
    assert (ended.code, ended.json["equal"], ended.json["word"]) == (0, True, None)
    ended = command("crasp", "compare", "crasp:majority", "-", stdin=str(library()["majority"]).encode())
    assert ended.code == 0
    assert "are equal (proved" in ended.out


def test_an_open_pair_says_up_to_where_and_what_is_to_blame(command, tmp_path):
    program, _ = families.pell(4)
    (tmp_path / "pell.crasp").write_text(str(program))
    alphabet = " ".join(map(repr, program.alphabet))
    (tmp_path / "none.crasp").write_text(f"program none_\nalphabet {alphabet}\naccept false\n")
    ended = command("crasp", "compare", "pell.crasp", "none.crasp", "--states", "2000", "--json")
    answer = ended.json
    assert (ended.code, answer["equal"], answer["word"], answer["exactness"]) == (1, None, None, "searched")
    assert answer["agrees_up_to"] > 10
    assert (answer["fragment"], answer["bound"], answer["culprit_in"]) == ("rest", None, "s1")
    assert answer["culprit"] == "count('m') == count('n')"
    assert answer["culprit"] in answer["sentence"]


def test_the_empty_word_is_a_word(command, tmp_path):
    (tmp_path / "p.crasp").write_text("program p\nalphabet 'a'\naccept true\n")
    (tmp_path / "q.crasp").write_text("program q\nalphabet 'a'\naccept count('a') >= 1\n")
    ended = command("crasp", "compare", "p.crasp", "q.crasp", "--json")
    assert (ended.code, ended.json["word"], ended.json["length"]) == (1, "", 0)
    assert "the empty word" in ended.json["sentence"]


def test_symbols_of_several_characters_are_spelt_with_blanks(command, tmp_path):
    for name, least in (("p", 1), ("q", 2)):
        text = f"program {name}\nalphabet 'aa' 'b'\naccept count('aa') >= {least} and 'b'\n"
        (tmp_path / f"{name}.crasp").write_text(text)
    ended = command("crasp", "compare", "p.crasp", "q.crasp", "--json")
    assert ended.json["word"] == "aa b"


def test_symbols_in_another_order(command, tmp_path):
    (tmp_path / "p.crasp").write_text("program p\nalphabet 'a' 'b'\naccept 'a'\n")
    (tmp_path / "q.crasp").write_text("program q\nalphabet 'b' 'a'\naccept 'a'\n")
    assert command("crasp", "compare", "p.crasp", "q.crasp", "--json").json["equal"] is True


def test_outputs(command, tmp_path):
    for name, test in (("p", "h > 0"), ("q", "h > 1")):
        text = (
            f"program {name}\nalphabet 'a' 'b'\nlet h := count('a') - count('b')\noutput next := {test}\naccept 'a'\n"
        )
        (tmp_path / f"{name}.crasp").write_text(text)
    assert command("crasp", "compare", "p.crasp", "q.crasp", "--json").json["equal"] is True
    ended = command("crasp", "compare", "p.crasp", "q.crasp", "--outputs", "--json")
    assert (ended.json["equal"], ended.json["word"]) == (False, "a")


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        (["crasp:dyck1", "crasp:majority"], "two programs over one alphabet"),
        (["-", "-"], "two programs"),
        (["crasp:dyck", "crasp:dyck1"], "a program of the library"),
        (["crasp:D_2", "accepting.crasp", "--outputs"], "Boolean outputs of the same names"),
        (["crasp:D_2", "shown.crasp"], "accept in both programs or in none"),
        (["numbers.crasp", "numbers.crasp"], "programs with a Boolean that is shown"),
        (["crasp:D_2", "absent.crasp"], "a file"),
    ],
)
def test_wrong_input(command, tmp_path, arguments, wanted):
    (tmp_path / "accepting.crasp").write_text("program p\nalphabet 'a' 'b'\naccept 'a'\n")
    (tmp_path / "shown.crasp").write_text("program p\nalphabet 'a' 'b'\noutput x := 'a'\n")
    (tmp_path / "numbers.crasp").write_text("program p\nalphabet 'a' 'b'\noutput x := count('a')\n")
    ended = command("crasp", "compare", *arguments, "--json")
    assert (ended.code, ended.out) == (2, "")
    assert ended.error["wanted"] == wanted


def test_numbers_beyond_the_machine(command, tmp_path):
    """Constants that no integer of the processor holds: no traceback, no wrong answer."""
    big = 10**30
    for name, least in (("p", big), ("q", big + 1)):
        text = f"program {name}\nalphabet 'a' 'b'\naccept count('a') >= count('b') + {least}\n"
        (tmp_path / f"{name}.crasp").write_text(text)
    ended = command("crasp", "compare", "p.crasp", "q.crasp", "--json")
    assert (ended.code, ended.json["equal"], ended.json["exactness"]) == (1, None, "searched")
    for name, least in (("p", big), ("q", big + 1)):
        text = f"program {name}\nalphabet 'a' 'b'\naccept count('a') >= {least}\n"
        (tmp_path / f"{name}.crasp").write_text(text)
    ended = command("crasp", "compare", "p.crasp", "q.crasp", "--json")
    assert (ended.code, ended.json["equal"], ended.json["exactness"]) == (1, None, "searched")
