"""Regular expressions against Python's own, and what is said about wrong ones."""

import random
import re

import pytest

from lengthwise.crasp.automata import MOST_STATES, automaton
from lengthwise.crasp.regex import MOST_OCCURRENCES, parse
from lengthwise.errors import WrongInput
from regular_oracles import all_words, random_tree, text

FORMS = [
    "a*b+c?",
    "(a|b)*c",
    "a{3}|b{2,4}|c{2,}",
    "[ab]*c",
    "[^ab]+",
    ".a.",
    "(a|())(b|)",
    "a|b|c|",
    "((a*)*)*b",
    "(a?){3}c",
    "((ab){2}|c){1,2}",
    "a{0,2}b{0,}",
]


@pytest.mark.parametrize("form", FORMS)
def test_forms_mean_what_they_mean_to_python(form):
    machine = automaton(form, "abc")
    for word in all_words("abc", 6):
        assert machine.accepts(word) == bool(re.fullmatch(form, "".join(word))), word


def test_random_expressions_mean_what_they_mean_to_python():
    rng = random.Random(0)
    for _ in range(150):
        form = text(random_tree(rng, "ab", rng.randint(1, 9)))
        machine = automaton(form, "ab")
        pattern = re.compile(form)
        for word in all_words("ab", 6):
            assert machine.accepts(word) == bool(pattern.fullmatch("".join(word))), (form, word)


def test_blanks_mean_nothing_and_quotes_make_symbols():
    machine = automaton("'left' ('left' | \"right\")* '('")
    assert machine.alphabet == ("(", "left", "right")
    assert machine.accepts("left right (")
    assert machine.accepts(["left", "("])
    assert not machine.accepts("right (")
    assert automaton("( a | b )\t*\n") == automaton("(a|b)*")
    assert automaton("'a''b'") == automaton("ab")
    assert automaton("['x' y]").accepts("y")


def test_the_alphabet_may_be_larger_than_the_expression():
    assert automaton("a", "abc").alphabet == ("a", "b", "c")
    assert not automaton("a*", "abc").accepts("ab")
    assert automaton("[^a]", ["a", "b", "long"]).accepts(["long"])
    assert automaton("()", "ab").accepts("")
    assert automaton("[^ab]", "ab").states == 1


WRONG = {
    "(a": ("closing bracket", "the end of the expression"),
    "a)": ("bracket that was opened", "column 2"),
    "*a": ("something to repeat", "column 1"),
    "a|*": ("something to repeat", "column 3"),
    "(+)": ("something to repeat", "column 2"),
    "a{": ("how often", "column 2"),
    "a{x}": ("how often", "column 2"),
    "a{2,1}": ("a larger most number", "column 2"),
    "a{0}": ("a larger most number", "column 2"),
    "{a,b}*": ("how often", "column 1"),
    "{2}": ("something to repeat", "column 1"),
    "[ab": ("closing bracket ]", "the end of the expression"),
    "[]a": ("at least one symbol", "column 2"),
    "a]": ("a symbol", "column 2"),
    "a}": ("a symbol", "column 2"),
    "[a*]": ("a symbol", "column 3"),
    "'a": ("closing quote", "column 1"),
    "''": ("a symbol", "column 1"),
    "'a b'": ("a symbol", "column 1"),
    "": ("at least one symbol", ""),
    ".": ("at least one symbol", ""),
}


@pytest.mark.parametrize("form", WRONG)
def test_wrong_expressions_name_the_column_and_what_was_expected(form):
    wanted, where = WRONG[form]
    with pytest.raises(WrongInput) as caught:
        parse(form)
    assert wanted in caught.value.wanted
    assert caught.value.where == where


def test_a_symbol_outside_the_alphabet_is_named():
    with pytest.raises(WrongInput, match=r"column 3.*'c'.*nearest"):
        parse("abc", "ab")
    with pytest.raises(WrongInput, match="every symbol once"):
        parse("a", "aa")
    with pytest.raises(WrongInput, match="as text"):
        parse(7)


def test_brackets_ten_thousand_deep_and_long_texts():
    assert automaton("(" * 10_000 + "a" + ")" * 10_000).states == 3
    assert automaton("a" * MOST_OCCURRENCES).states == MOST_OCCURRENCES + 2
    with pytest.raises(WrongInput, match=f"at most {MOST_OCCURRENCES} symbols"):
        parse("a" * (MOST_OCCURRENCES + 1))
    with pytest.raises(WrongInput, match="repetitions written out"):
        parse("((a{99}){99}){99}")
    with pytest.raises(WrongInput, match="how often"):
        parse("a{" + "9" * 10_000 + "}")


def test_an_automaton_that_explodes_is_refused():
    assert automaton("(a|b)*a(a|b){9}").states == 1024
    with pytest.raises(WrongInput, match=f"at most {MOST_STATES} states"):
        automaton("(a|b)*a(a|b){30}")


def fuzzed(rng):
    pieces = list("aab01()()||**+?{}[]^.'\" ,") + ["{2}", "{1,3}", "'xy'", "\x00", "é", "\n", "[^"]
    return "".join(rng.choice(pieces) for _ in range(rng.randint(0, 25)))


def read_or_refused(seed, count):
    rng, read = random.Random(seed), 0
    for _ in range(count):
        form = fuzzed(rng)
        try:
            machine = automaton(form)
        except WrongInput as error:
            said = str(error)
        else:
            said = ""
        if said:
            assert "; " in said, form
            assert "\n" not in said
            continue
        read += 1
        assert all(len(row) == len(machine.alphabet) for row in machine.table)
    return read


def test_two_thousand_fuzzed_expressions_are_read_or_refused():
    assert read_or_refused(0, 2_000) > 40


@pytest.mark.slow
def test_a_hundred_thousand_fuzzed_expressions_are_read_or_refused():
    assert read_or_refused(1, 100_000) > 2_000
