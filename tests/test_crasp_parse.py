"""Text and tree are one: what is printed is read back, what is wrong is said in one line with its place."""

import random
import re
from collections import Counter

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lengthwise.crasp.library import library
from lengthwise.crasp.operations import operations
from lengthwise.crasp.parse import parse
from lengthwise.crasp.printer import expression, text
from lengthwise.crasp.syntax import (
    And,
    BoolName,
    Compare,
    Count,
    CountName,
    Definition,
    If,
    Negative,
    Not,
    Number,
    Or,
    Phi,
    Plus,
    Program,
    Sym,
    Times,
    Truth,
)
from lengthwise.errors import WrongInput
from random_programs import random_program

HEAD = "program p\nalphabet 'a' 'b'\n"
A, B = Sym("a"), Sym("b")
C, D = Count(A), Count(B)


def accepted(line, lets=""):
    """The tree of what accepts."""
    return parse(f"{HEAD}{lets}accept {line}\n").accept


def complaint(content, head=HEAD):
    with pytest.raises(WrongInput) as error:
        parse(head + content, "f.crasp")
    assert str(error.value).isprintable()
    return error.value


@pytest.mark.parametrize(
    ("line", "tree"),
    [
        ("'a' or 'b' and 'a'", Or(A, And(B, A))),
        ("not 'a' and 'b'", And(Not(A), B)),
        ("not count('a') == 1", Not(Compare(C, "==", Number(1)))),
        ("not not 'a'", Not(Not(A))),
        ("'a' or 'b' or 'a'", Or(Or(A, B), A)),
        ("count('a') - count('b') - 1 >= 0", Compare((C - D) - 1, ">=", Number(0))),
        ("2 * count('a') + 1 > -3", Compare(Plus(Times(2, C), Number(1)), ">", Number(-3))),
        ("count('a') * -2 != 0", Compare(Times(-2, C), "!=", Number(0))),
        ("-count('a') < -(2 * count('b'))", Compare(Negative(C), "<", Negative(Times(2, D)))),
        ("2 * 3 * count('a') <= 1", Compare(Times(2, Times(3, C)), "<=", Number(1))),
        ("(if 'a' then 1 else if 'b' then 2 else 3 + count('a')) == 1", If(A, 1, If(B, 2, 3 + C)).eq(1)),
        ("count[back 3, 0, 3]('a' or 'b') >= 1", Count(Or(A, B), (0, 3)) >= 1),
        ("pos % 4 in {3, 1}", Phi(4, (1, 3))),
        ("not pos % 4 in {}", Not(Phi(4, ()))),
        ("true and not false", And(Truth(True), Not(Truth(False)))),
        ("((('a')))", A),
        ("count(('a'))>=1//no blanks, and a comment", C >= 1),
        ("count\n(\n'a'\n)\n>=\r\n1", C >= 1),
    ],
)
def test_what_binds_tighter(line, tree):
    assert accepted(line) == tree
    assert parse(text(Program("p", ("a", "b"), (), tree))).accept == tree


def test_names_are_what_they_were_defined_as():
    program = parse(HEAD + "let h := count('a')\nlet p := h >= 1\noutput q := p and h < 3\naccept q or p\n")
    h, p, q = CountName("h"), BoolName("p"), BoolName("q")
    definitions = (Definition("let", "h", C), Definition("let", "p", h >= 1), Definition("output", "q", p & (h < 3)))
    assert program == Program("p", ("a", "b"), definitions, q | p)
    assert program.outputs == definitions[2:]


def test_accept_may_stand_before_outputs_and_words_may_look_like_names():
    program = parse("program letter\nalphabet 'let' '\\'' '\\\\' 'é'\naccept 'let' or '\\''\noutput out_1 := '\\\\'\n")
    assert program.alphabet == ("let", "'", "\\", "é")
    assert parse(text(program)) == program


@pytest.mark.parametrize("part", range(4))
def test_random_programs_are_read_back(part):
    for seed in range(25 * part, 25 * part + 25):
        program = random_program(seed, quantities=True, depth=4)
        assert parse(text(program)) == program
        assert parse(str(program)) == program


def test_every_program_of_the_library_is_read_back():
    for name, program in library().items():
        assert parse(text(program)) == program, name


def test_python_and_text_meet_in_one_tree():
    h = CountName("h")
    python = Program("p", "ab", [Definition("let", "h", C - D)], (h >= -1) & ~(h > 3) | h.eq(2 * C + 1) | (1 - h).ne(0))
    assert text(python) == (
        "program p\nalphabet 'a' 'b'\nlet h := count('a') - count('b')\n"
        "accept (h >= -1 and not h > 3) or h == 2 * count('a') + 1 or 1 - h != 0\n"
    )
    assert parse(text(python)) == python
    assert hash(parse(text(python))) == hash(python)
    assert repr(h + 1) == expression(h + 1) == "h + 1"


WRONG = [  # what follows the head, then line and column, then parts of the message
    (
        "let h := count('a')\naccept hh == 0",
        4,
        8,
        "wanted a name defined earlier; got hh in: accept ^hh == 0; nearest: h",
    ),
    ("accept h == 0\nlet h := count('a')", 3, 8, "it is defined below, in line 4: move it up"),
    ("let h := h + 1", 3, 10, "a definition cannot use itself"),
    ("accept cuont('a') == 0", 3, 8, "did you mean count?"),
    ("acept 'a'", 3, 1, "did you mean accept?"),
    ("accept 'c'", 3, 8, "wanted a symbol of the alphabet 'a' 'b'; got 'c'"),
    ("accept count('a')", 3, 8, "wanted a Boolean after accept; got a quantity"),
    ("accept 0 <= count('a') <= 3", 3, 24, "write 0 <= c and c <= 3"),
    ("let x = 3", 3, 7, "write == to compare and := to define"),
    ("accept 'a", 3, 8, "close the quote"),
    ('accept "a"', 3, 8, "write symbols in single quotes"),
    ("let count := 3", 3, 5, "wanted a name; got count"),
    ("let a := 'a'\nlet a := 'b'", 4, 5, "wanted every name once; got a again"),
    ("accept", 3, 7, "wanted an expression; got the end of the text"),
    ("accept 'a'\naccept 'b'", 4, 1, "wanted one accept"),
    ("accept pos % 3 in {1, 3}", 3, 23, "wanted a remainder below 3; got 3"),
    ("accept pos % 0 in {}", 3, 14, "wanted a period of at least 1"),
    ("accept pos >= 3", 3, 12, "count(true) is the position"),
    ("accept count[back](true) >= 1", 3, 18, "wanted an integer; got ]"),
    ("accept count[back -1](true) >= 1", 3, 19, "wanted an integer; got -"),
    ("accept 'a' and count('b')", 3, 16, "wanted a Boolean on the right of and; got a quantity"),
    ("accept if 'a' then 'b' else 'a'", 3, 20, "wanted a quantity after then; got a Boolean"),
    ("accept 1 + if 'a' then 1 else 2 >= 3", 3, 12, "in parentheses"),
    ("let x := count(count('a'))", 3, 16, "wanted a Boolean inside count"),
    ("let x := not 3", 3, 14, "wanted a Boolean after not"),
    ("let x := 'a' * 2", 3, 10, "wanted a quantity beside *"),
    ("let x := 'a' + 2", 3, 10, "wanted a quantity on the left of +; got a Boolean"),
    ("accept 'a' == 'b'", 3, 8, "wanted a quantity on the left of =="),
    ("accept count('a') >= 1 or\n   (count('b') >= 2", 4, 20, "got the end of the text"),
    ("accept 'a' & 'b'", 3, 12, "write and"),
    ("accept \x00", 3, 8, "wanted a word or sign of the language"),
]


@pytest.mark.parametrize(("content", "line", "column", "said"), WRONG)
def test_what_is_wrong_is_said_with_its_place(content, line, column, said):
    error = complaint(content)
    assert error.where == f"f.crasp, line {line}, column {column}"
    assert said in str(error)
    assert "^" in error.got


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "wanted program; got the end of the text"),
        ("program", "wanted a name"),
        ("program p", "wanted alphabet"),
        ("program p alphabet", "wanted a symbol in quotes"),
        ("program p alphabet 'a' 'a'", "wanted every symbol once"),
        ("program if alphabet 'a'", "words of the language are no names"),
        ("program p alphabet 'a b'", "symbols of printable characters without blanks"),
        ("program p alphabet ''", "symbols of printable characters"),
        ("program p alphabet a", "wanted a symbol in quotes; got a"),
    ],
)
def test_the_head_of_a_program(content, said):
    assert said in str(complaint(content, head=""))


def test_a_long_line_is_cut_around_the_caret():
    error = complaint("accept " + "'a' or " * 400 + "hh")
    assert error.where == "f.crasp, line 3, column 2808"
    assert len(str(error)) < 300
    assert "…" in error.got
    assert "^hh" in error.got


def test_huge_integers_are_refused_and_large_ones_are_not():
    assert "at most 1000 digits; got one of 10000" in str(complaint(f"accept count('a') >= {'9' * 10_000}"))
    assert "at most 1000 digits" in str(complaint(f"accept pos % {'9' * 10_000} in {{1}}"))
    large = int("9" * 1000)
    assert accepted(f"count('a') >= {large}") == (large <= C)


def test_ten_thousand_parentheses_are_no_trouble():
    deep = 10_000
    assert accepted("(" * deep + "'a'" + ")" * deep) == A
    assert "wanted an expression" in str(complaint("accept " + "(" * deep))
    nested = parse(f"{HEAD}accept {'not ' * 3000}'a'\n")
    assert parse(text(nested)) == nested
    assert operations(nested).accept == 0  # an even number of nots
    chain = parse(f"{HEAD}accept {' or '.join(['count(' + repr(A) + ') >= 1'] * 1000)}")
    assert len(operations(chain).list) == 3


def test_what_is_no_text():
    with pytest.raises(WrongInput, match="the text of a program"):
        parse(b"program p")


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: A & C, "wanted a Boolean on the right of and"),
        (lambda: C + A, "wanted a quantity; got 'a'"),
        (lambda: Count(C), "wanted a Boolean inside count"),
        (lambda: Phi(3, (3,)), "remainders below 3"),
        (lambda: Phi(0, ()), "a whole number as a period, at least 1"),
        (lambda: Count(A, ()), "at least one offset"),
        (lambda: Count(A, (-1,)), "a whole number as an offset, at least 0"),
        (lambda: Compare(C, "=", D), "a relation; got '='"),
        (lambda: 0 <= C <= 3, "& for and"),
        (lambda: A and B, "& for and"),
        (lambda: If(C, 1, 2), "a Boolean after if"),
        (lambda: Times(0.5, C), "a whole number as a factor"),
        (lambda: Number(True), "a whole number as a constant"),
        (lambda: Sym(3), "a symbol as text"),
        (lambda: Program("p", "ab", (), Sym("c")), "a symbol of the alphabet 'a' 'b'; got 'c'"),
        (lambda: Program("p", "ab", (), BoolName("q")), "nothing is defined before"),
        (lambda: Program("p", "ab", (Definition("let", "h", C),), BoolName("h")), "h, which is a quantity"),
        (lambda: Program("p", "ab", (), C), "a Boolean to accept"),
        (lambda: Program("p", "ab", (Definition("let", "h", C),) * 2), "every name once"),
        (lambda: Program("p", "", ()), "an alphabet of at least one symbol"),
        (lambda: Program("1p", "a", ()), "a name of letters, digits and underscores"),
        (lambda: Definition("var", "h", C), "let or output"),
        (lambda: Definition("let", "and", C), "no word of the language"),
        (lambda: Definition("let", "h", 3), "an expression; got 3"),
    ],
)
def test_python_is_checked_like_text(make, said):
    with pytest.raises(WrongInput) as error:
        make()
    assert said in str(error.value)


PIECES = [
    "let",
    "output",
    "accept",
    "program",
    "alphabet",
    "count",
    "back",
    "pos",
    "if",
    "then",
    "else",
    "true",
    "false",
    "not",
    "and",
    "or",
    "in",
    "h",
    "g",
    "'a'",
    "'b'",
    "'c'",
    "0",
    "1",
    "2",
    "3",
]
PIECES += [
    "count(",
    "count[back 1](",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ",",
    ":=",
    "==",
    ">=",
    "<",
    "+",
    "-",
    "*",
    "%",
    "\n",
    "//",
    "'",
]
PIECES += [
    "pos % 2 in {0}",
    "count('a')",
    "h >= 1",
    "accept h == 0",
    "let h := count('a')\n",
    "\\",
    "é",
    "\x00",
    "99999999999999999999",
]


WHOLE = [text(library()[name]) for name in ("dyck1", "tomita4", "cond_weight", "even_a_blocks", "histogram3")]
WHOLE += [text(random_program(seed, quantities=True)) for seed in range(20)]


@st.composite
def edited(draw):
    """A program of the library or a random one, cut up and put together wrongly in a few places."""
    content = draw(st.sampled_from(WHOLE))
    tokens = re.findall(r"'[^']*'|\w+|\s+|:=|[<>=!]=|.", content)
    for _ in range(draw(st.integers(0, 3))):
        place = draw(st.integers(0, len(tokens) - 1))
        kind = draw(st.sampled_from(["replace", "drop", "insert", "swap", "double"]))
        other = draw(st.sampled_from(PIECES))
        if kind == "replace":
            tokens[place] = other
        elif kind == "drop" and len(tokens) > 1:
            del tokens[place]
        elif kind == "insert":
            tokens.insert(place, f" {other} ")
        elif kind == "double":
            tokens.insert(place, tokens[place])
        else:
            further = draw(st.integers(0, len(tokens) - 1))
            tokens[place], tokens[further] = tokens[further], tokens[place]
    return "".join(tokens)


def attempt(content):
    """The program, or the error."""
    try:
        return parse(content, "f")
    except WrongInput as error:
        return error


SOUP = st.lists(st.sampled_from(PIECES), max_size=25).map(lambda pieces: HEAD + " ".join(pieces))


@pytest.mark.parametrize("cases", [2_000, pytest.param(100_000, marks=pytest.mark.slow)])
def test_a_place_or_a_program_and_nothing_else(cases):
    endings = Counter()

    @settings(max_examples=cases, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(
        edited() | edited() | edited() | SOUP | st.text(max_size=40) | st.text(max_size=30).map(lambda end: HEAD + end)
    )
    def fuzz(content):
        found = attempt(content)
        if isinstance(found, WrongInput):
            assert re.match(r"f, line \d+, column \d+$", found.where), str(found)
            assert str(found).isprintable()
            assert len(str(found)) < 500
            endings[found.wanted.split(" ")[0]] += 1
        else:
            assert parse(text(found)) == found
            assert operations(found).list is not None
            endings["program"] += 1

    fuzz()
    assert endings["program"] > cases // 50
    assert len(endings) > 3


def test_places_point_at_the_wrong_token():
    """A wrong symbol put anywhere into programs is what the caret stands before."""
    rng = random.Random(0)
    for name in ["dyck1", "tomita7", "even_a_blocks", "slt_mix", "cond_weight"]:
        content = text(library()[name])
        start = content.index("\n", content.index("alphabet"))
        places = [found.start() for found in re.finditer(r"'[^']*'", content) if found.start() > start]
        for place in rng.sample(places, min(4, len(places))):
            wrong = content[:place] + "'@'" + content[content.index("'", place + 1) + 1 :]
            line, column = wrong.count("\n", 0, place) + 1, place - wrong.rindex("\n", 0, place)
            assert complaint(wrong, head="").where == f"f.crasp, line {line}, column {column}"
