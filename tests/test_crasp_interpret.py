"""The interpreter against the definition, whatever the batch looks like and wherever it is cut."""

import itertools
import random

import numpy as np
import pytest

import crasp_definition as definition
import lengthwise as lw
from lengthwise.crasp import blocks as cutting
from lengthwise.crasp import interpret
from lengthwise.crasp.interpret import run
from lengthwise.crasp.library import library
from lengthwise.crasp.syntax import Count, CountName, Definition, If, Number, Phi, Program, Sym, Truth
from lengthwise.crasp.words import Words
from lengthwise.errors import WrongInput
from random_programs import random_program

A, B = Sym("a"), Sym("b")


def accepting(accept, *definitions):
    return Program("p", ("a", "b"), definitions, accept)


def agrees(program, words, positions):
    """Whether accept and every name are what the definition says, at the last position or everywhere."""
    answer = run(program, words, positions, every=True)
    assert set(answer.values) == {one.name for one in program.definitions}
    for number, word in enumerate(words):
        places = [len(word)] if positions == "last" else range(1, len(word) + 1)
        found = answer.of(number)
        assert found.accepts.tolist() == [definition.value(program, program.accept, word, i) for i in places], word
        for one in program.definitions:
            wanted = [definition.value(program, one.body, word, i) for i in places]
            assert found.values[one.name].tolist() == wanted, (word, one)
    return True


SHORT = ["".join(w) for n in range(5) for w in itertools.product("ab", repeat=n)]


@pytest.fixture
def tiny_blocks(monkeypatch):
    """Blocks of few symbols, so that short words are cut into pieces; nothing else changes."""

    def cut(size):
        monkeypatch.setattr(interpret, "blocks", lambda words: cutting.blocks(words, size))

    return cut


@pytest.mark.parametrize("part", range(6))
@pytest.mark.parametrize("positions", ["last", "all"])
def test_random_programs_on_short_words_of_many_lengths(part, positions):
    for seed in range(25 * part, 25 * part + 25):
        words = random.Random(seed).sample(SHORT, 12)
        assert agrees(random_program(seed, quantities=True, depth=4), words, positions)


@pytest.mark.parametrize("size", [1, 2, 3, 5, 16])
@pytest.mark.parametrize("positions", ["last", "all"])
def test_words_cut_into_pieces_give_the_same(tiny_blocks, size, positions):
    tiny_blocks(size)
    for seed in range(25):
        rng = random.Random(seed)
        words = ["".join(rng.choices("ab", k=rng.choice([0, 1, 4, 4, 4, 9]))) for _ in range(5)]
        assert agrees(random_program(1000 + seed, quantities=True), words, positions)


@pytest.mark.parametrize("positions", ["last", "all"])
def test_words_of_one_length(positions):
    rng = random.Random(0)
    words = ["".join(rng.choices("abc", k=6)) for _ in range(7)]
    for seed in range(25):
        assert agrees(random_program(2000 + seed, "abc", quantities=True), words, positions)


@pytest.mark.parametrize("seed", range(3))
def test_threads_and_blocks_do_not_change_the_answer(monkeypatch, seed):
    """A batch of mixed lengths and one long word: on threads, in pieces of every size, the same as in one block."""
    rng = np.random.default_rng(seed)
    lengths = np.concatenate([rng.integers(0, 40, 200), [3000]])
    words = Words(rng.integers(0, 2, lengths.sum()), lengths)
    program = random_program(seed, quantities=True, depth=4)
    whole = run(program, words, "all", every=True)
    monkeypatch.setattr(interpret, "THREADED", 0)
    monkeypatch.setattr(interpret, "blocks", lambda words: cutting.blocks(words, 257))
    cut = run(program, words, "all", every=True)
    assert (cut.accepts == whole.accepts).all()
    for name, column in whole.values.items():
        assert (cut.values[name] == column).all()
    last = run(program, words, "last").accepts
    ends = np.cumsum(lengths)[lengths > 0] - 1
    assert (last[lengths > 0] == whole.accepts[ends]).all()


@pytest.mark.parametrize("size", [3, 1 << 16])
@pytest.mark.parametrize("factor", [1, 200, 2**20, 2**40, 2**62, 2**63, 10**30])
def test_large_numbers_do_not_overflow(tiny_blocks, factor, size):
    """Factor (#a - #b) against a constant just below and above what the word reaches, and as a value."""
    tiny_blocks(size)
    h = CountName("h")
    value = Definition("output", "h", factor * (Count(A) - Count(B)) + Number(-factor))
    word = "aabaabaa"
    for constant, wanted in [(3 * factor, True), (3 * factor + 1, False), (-(10**40), True), (10**40, False)]:
        answer = run(accepting(h >= constant, value), [word])
        assert answer.accepts.tolist() == [wanted]
        assert answer.values["h"].tolist() == [3 * factor]
    mixed = accepting(factor * Count(A, (0, 1)) + factor * Count(A) >= 8 * factor, value)
    assert run(mixed, [word, word[:-1]]).accepts.tolist() == [True, False]
    assert run(mixed, [word], "all").accepts.tolist() == [False] * 7 + [True]


def test_offsets_and_periods_beyond_the_word():
    far = accepting(Count(Truth(True), (0, 5, 10**12)).eq(2) & Phi(10**30, (7,)))
    assert run(far, ["a" * n for n in range(9)]).accepts.tolist() == [False] * 7 + [True, False]
    assert run(far, ["a" * 8], "all").accepts.tolist() == [False] * 6 + [True, False]
    many = accepting(Count(A, tuple(range(300))) >= 200)
    assert run(many, ["a" * 199, "a" * 200, "a" * 200 + "b" * 101]).accepts.tolist() == [False, True, False]
    assert run(many, ["a" * 200], "all").accepts.sum() == 1


def test_the_empty_word_is_read_at_position_0():
    program = accepting(~A & Phi(3, (0,)) & Count(Truth(True)).eq(0), Definition("output", "n", If(A, 1, 2)))
    answer = run(program, ["", "b", ""])
    assert answer.accepts.tolist() == [True, False, True]
    assert answer.values["n"].tolist() == [2, 2, 2]
    assert run(program, []).accepts.tolist() == []
    assert run(program, [""], "all").of(0).accepts.tolist() == []


def test_words_in_every_form():
    program = library()["dyck1"]
    wanted = [True, False, True]
    assert run(program, ["()", ")(", "(())"]).accepts.tolist() == wanted
    assert run(program, ["( )", ") (", "( ( ) )"]).accepts.tolist() == wanted
    assert run(program, [["(", ")"], [1, 0], (0, 0, 1, 1)]).accepts.tolist() == wanted
    assert run(program, np.array([[0, 1], [1, 0]])).accepts.tolist() == [True, False]
    assert run(program, Words(np.array([0, 1, 1, 0]), np.array([2, 2]))).accepts.tolist() == [True, False]
    long_names = Program("p", ("ab", "c", "ä"), (), Sym("ab"))
    assert run(long_names, ["c ab", "ab", "ä", ""]).accepts.tolist() == [True, True, False, False]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["()", "(x)"], "word 2, position 2: wanted one of the 2 symbols of the alphabet; got 'x'"),
        ("()", "wanted a list of words"),
        ([["(", "x"]], "word 1, position 2"),
        ([[0, 2]], "word 1, position 2: wanted token indices 0..1; got 2"),
        (np.array([[0, 5]]), "position 2"),
        (np.array([[0.5]]), "one row of token indices"),
        ([3], "word 1: wanted a word as text"),
        (7, "wanted a list of words"),
    ],
)
def test_words_that_are_none(words, message):
    with pytest.raises(WrongInput) as error:
        run(library()["dyck1"], words)
    assert str(error.value).startswith(message) or message in str(error.value)


def test_lengths_must_fit():
    with pytest.raises(WrongInput, match="lengths that add up to 3"):
        Words(np.zeros(3, int), np.array([1, 1]))


def test_answers_as_sentences_and_json():
    answer = run(library()["dyck1"], ["()", "((", ""], "all")
    assert answer.to_json() == {
        "accepts": [[False, True], [False, False], []],
        "outputs": {"next_close": [[True, False], [True, True], []]},
    }
    last = run(library()["dyck1"], ["()", "((", ""])
    assert str(last) == "accepts 2 of 3 words"
    assert last.to_json() == {"accepts": [True, False, True], "outputs": {"next_close": [False, True, False]}}
    assert run(library()["majority4"], ["aabS"]).to_json()["accepts"] is None


def test_what_cannot_be_run():
    with pytest.raises(WrongInput, match="last or all"):
        run(library()["dyck1"], ["()"], "first")
    with pytest.raises(WrongInput, match="a program"):
        run("dyck1", ["()"])
    assert lw.crasp.run(library()["dyck1"], ["()"]).accepts.all()
