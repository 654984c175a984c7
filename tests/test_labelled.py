"""Labelled words: all words up to a length, and files of them."""

from itertools import product

import pytest

import lengthwise as lw
from lengthwise.crasp.automata import automaton
from lengthwise.errors import WrongInput
from lengthwise.verdict.labelled import labelled_words, length_within, read_labelled
from lengthwise.verdict.machine import AutomatonMachine, OracleMachine, machine_of


def test_all_words_up_to_a_length_carry_the_values_of_the_function():
    found = labelled_words(OracleMachine(("a", "b"), lambda word: word.count("a") == 2), 4)
    expected = [word for length in range(5) for word in product((0, 1), repeat=length)]
    assert list(found.words) == expected
    assert list(found.labels) == [word.count(0) == 2 for word in expected]
    assert (found.complete_to, found.longest) == (4, 4)


@pytest.mark.parametrize("what", [automaton("(ab)*"), lw.crasp.library()["dyck1"]])
def test_automata_and_programs_are_asked_like_oracles(what):
    machine = machine_of(what)
    found = labelled_words(machine, 5)
    for word, label in zip(found.words, found.labels, strict=True):
        spelt = [machine.alphabet[symbol] for symbol in word]
        says = what.accepts(spelt) if isinstance(machine, AutomatonMachine) else lw.crasp.run(what, [spelt]).accepts[0]
        assert label == says


@pytest.mark.parametrize(
    ("symbols", "most"), [(1, 10), (2, 6), (2, 7), (2, 8), (3, 1000), (5, 3906), (5, 3905), (9, 1)]
)
def test_the_length_is_the_largest_within_the_budget(symbols, most):
    length = length_within(symbols, most)
    assert sum(symbols**n for n in range(length + 1)) <= most
    assert sum(symbols**n for n in range(length + 2)) > most


def test_a_file_of_labelled_words():
    text = "\ufeff# a comment\n\n\t1\nab\tyes\r\nba\tNO\naab\t-\nabb\tfalse\nb\t0\nabab\t+\nbb\ttrue\nab\t1\n"
    found = read_labelled(text, "words.tsv")
    assert found.alphabet == ("a", "b")
    assert {found.text(word): label for word, label in zip(found.words, found.labels, strict=True)} == {
        "": True,
        "ab": True,
        "ba": False,
        "aab": False,
        "abb": False,
        "b": False,
        "abab": True,
        "bb": True,
    }
    assert found.complete_to == 0  # the word a is missing
    assert found.one_label is None


def test_words_with_blanks_are_lists_of_symbols():
    found = read_labelled("open close\t1\nopen\t0\n", "words.tsv")
    assert found.alphabet == ("close", "open")
    assert found.words == ((1,), (1, 0))
    assert found.text((1, 0)) == "open close"


def test_complete_words_are_noticed():
    text = "\t0\na\t1\nb\t0\naa\t1\nab\t0\nba\t1\nbb\t0\naaa\t1\n"
    assert read_labelled(text, "w").complete_to == 2
    assert read_labelled(text.removeprefix("\t0\n"), "w").complete_to == -1


def test_one_label_is_said():
    assert read_labelled("a\t1\nb\t1\n", "w").one_label == "all 2 words are labelled True"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "words.tsv: wanted a line word<TAB>label; got none"),
        ("# nothing\n\n", "words.tsv: wanted a line word<TAB>label; got none"),
        ("a\t1\n\nb\t0\na\t0\n", r"words.tsv: wanted one label a word; got 'a' labelled 1 on line 1 and 0 on line 4"),
        ("\t1\n\t0\n", "'' labelled 1 on line 1 and 0 on line 2"),
        ("a\t1\nb\tmaybe\n", r"words.tsv, line 2: wanted a label 1 or 0.*got 'maybe'"),
        ("a\t1\nb\t\n", r"words.tsv, line 2: wanted a label 1 or 0.*got ''"),
        ("a\t1\nb 0\n", r"words.tsv, line 2: wanted word<TAB>label; got 'b 0'"),
        ("a\tb\t1\n", "words.tsv, line 1: wanted one tab a line"),
        ("\t1\n", "words.tsv: wanted a word with a symbol"),
        ("a\x01\t1\n", "words.tsv: wanted symbols of printable characters"),
    ],
)
def test_what_cannot_be_read_is_said_with_its_line(text, message):
    with pytest.raises(WrongInput, match=message):
        read_labelled(text, "words.tsv")


def test_a_negative_length_is_refused():
    with pytest.raises(WrongInput, match="at least 0"):
        labelled_words(OracleMachine(("a",), bool), -1)
