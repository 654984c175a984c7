"""Files in the syntax of the public interpreter c-rasp: what they mean, and what is refused."""

import itertools

import pytest

from lengthwise.crasp.interpret import run
from lengthwise.crasp.library import library
from lengthwise.crasp.older import parse_older
from lengthwise.crasp.syntax import BoolName, Count, Sym
from lengthwise.errors import WrongInput

# The programs of the papers, in the older syntax. Positions are counted from 0 there.
DYCK = """\
// one type of brackets
opened = # "("
closed = #")"
low = opened < closed
fine = (# low == 0) && (opened == closed)
"""
EVEN = """
#import pos_even

others = # !"a"
D = !pos_even && (others == 0)
"""
CONTAINS = '#import pred\n\nends = "b" && ((#[pred] "a") >= 1)\r\nL = #ends >= 1\n'
COPY = """\
#import pred4
again = ("a" && ((#[pred4] "a") == 1)) || ("b" && ((#[pred4] "b") == 1))
whole = 2 * #again == #true
"""


def accepts(content, alphabet, length, symbols=()):
    words = ["".join(w) for n in range(1, length + 1) for w in itertools.product(alphabet, repeat=n)]
    return words, run(parse_older(content, "f.cr", symbols), words).accepts.tolist()


def test_the_brackets_are_those_of_the_library():
    words, found = accepts(DYCK, "()", 8)
    assert found == run(library()["dyck1"], words).accepts.tolist()


def test_positions_are_counted_from_0_there():
    words, found = accepts(EVEN, "ab", 6, ("b",))
    assert found == [word == "a" * len(word) and len(word) % 2 == 0 for word in words]


def test_the_position_before():
    words, found = accepts(CONTAINS, "ab", 7)
    assert found == ["ab" in word for word in words]


def test_the_position_four_before():
    words, found = accepts(COPY, "ab", 9)
    assert found == [len(word) == 8 and word[:4] == word[4:] for word in words]


def test_choices_least_and_most():
    words, found = accepts('x = (1 if "a" else 2) + min(#"a", #"b") - max(#"a", 3)\ny = x + 0 == 0 - 1\n', "ab", 6)

    def value(word):
        a, b = word.count("a"), word.count("b")
        return (1 if word[-1] == "a" else 2) + min(a, b) - max(a, 3)

    assert found == [value(word) == -1 for word in words]


def test_signs_bind_as_in_c():
    program = parse_older('x = !"a" && "b" || "a"\ny = #"a" + 2 * #"b" >= 1\nz = x || y', "f.cr")
    bodies = {one.name: one.body for one in program.definitions}
    assert bodies["x"] == (~Sym("a") & Sym("b")) | Sym("a")
    assert bodies["y"] == (Count(Sym("a")) + 2 * Count(Sym("b")) >= 1)
    assert (program.name, program.alphabet, program.accept) == ("f", ("a", "b"), BoolName("z"))


def test_names_that_are_words_of_ours_are_changed_and_a_last_quantity_is_an_output():
    program = parse_older('count = #"a"\nlet = count + 1', "words/some program.cr")
    assert [(one.kind, one.name) for one in program.definitions] == [("let", "count_"), ("output", "let_")]
    assert (program.name, program.accept) == ("older", None)
    assert run(program, ["aa"]).values["let_"].tolist() == [3]


@pytest.mark.parametrize(
    ("content", "place", "said"),
    [
        ("#import pred7\nx = true", "line 1, column 9", "its code is not in this file"),
        ('x = #[pred] "a" >= 1', "line 1, column 7", "write #import pred above"),
        ('x = pos_even && "a"', "line 1, column 5", "write #import pos_even above"),
        ('#import pos_even\nx = #[pos_even] "a" >= 1', "line 2, column 7", "wanted a predicate of two positions"),
        ('#import pred\nx = pred && "a"', "line 2, column 5", "write #[pred] before a Boolean"),
        ('x = #[far] "a" >= 1', "line 1, column 7", "got far"),
        ('x = #"a"\nx = 3', "line 2, column 1", "wanted every name once"),
        ('x = y && "a"', "line 1, column 5", "wanted a name defined earlier"),
        ('x = #"a" && "b"', "line 1, column 5", "wanted a Boolean on the left of and"),
        ("x = 'a'", "line 1, column 5", 'write symbols in double quotes: "a"'),
        ('x = "a" & "b"', "line 1, column 9", "write &&"),
        ('x = "a" y = "b"', "line 1, column 9", "got y"),
        ("#import pred", "line 1, column 1", "at least one statement"),
        ("import os", "line 1, column 8", "got os"),
    ],
)
def test_what_is_refused(content, place, said):
    with pytest.raises(WrongInput) as error:
        parse_older(content, "f.cr", ("a", "b"))
    assert error.value.where == f"f.cr, {place}"
    assert said in str(error.value)


def test_a_program_without_symbols_needs_an_alphabet():
    with pytest.raises(WrongInput, match="--alphabet"):
        parse_older("x = #true == 2", "f.cr")
    assert run(parse_older("x = #true == 2", "f.cr", ("a",)), ["aa"]).accepts.all()
