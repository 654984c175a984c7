"""Predictions from values alone: functions, labelled words, undecided languages; what is found is checked, no more."""

import itertools
from types import SimpleNamespace

import pytest

import lengthwise as lw
from lengthwise.crasp.automata import automaton
from lengthwise.verdict import of_languages, of_values
from lengthwise.verdict.evidence import Known, by_chance, wrong_far
from lengthwise.verdict.labelled import Labelled, labelled_words, read_labelled
from lengthwise.verdict.machine import AutomatonMachine, ProgramMachine
from random_programs import random_program

YES, NO, OPEN = "generalizes", "fails", "unknown"


@pytest.fixture(autouse=True)
def fewer_words(monkeypatch):
    """Some thousand words are enough here: up to length 9 of two symbols, then up to length 11."""
    monkeypatch.setattr(of_values, "FIRST_WORDS", 2_000)
    monkeypatch.setattr(of_values, "MOST_WORDS", 5_000)


def labelled(member, alphabet, longest):
    """All words up to a length, as a file has them."""
    words = ("".join(word) for size in range(longest + 1) for word in itertools.product(alphabet, repeat=size))
    return "".join(f"{word}\t{int(member(word))}\n" for word in words)


def of(text):
    return lw.predict(read_labelled(text, "words.tsv"), seconds=60)


def more_ones(word):
    return word.count("1") > word.count("0")


def test_a_program_that_is_found_is_checked_and_no_more():
    for found in (lw.predict(more_ones, alphabet="01", seconds=60), of(labelled(more_ones, "01", 7))):
        assert (found.verdict, found.certainty) == (YES, "checked")
        assert (found.without_positions, found.nope.certainty) == (YES, "checked")
        assert found.bound.fields()["answer"] == "outside the theory"
        assert [step.step for step in found.steps] == [
            "program",
            "regular",
            "communication",
            "known theorems",
            "search",
        ]
        words = ["".join(word) for word in itertools.product("01", repeat=9)]
        assert lw.crasp.run(found.program, words).accepts.tolist() == list(map(more_ones, words))
        assert found.checked_to >= 7


def test_labelled_words_of_parity_and_the_flip_flop_never_generalize():
    parity = of(labelled(lambda word: word.count("a") % 2 == 0, "ab", 5))
    last = of(labelled(lambda word: word.rstrip("e").endswith("a"), "abe", 4))
    thirds = of(labelled(lambda word: word.count("a") % 3 == 0, "ab", 6))
    for found in (parity, last, thirds):
        assert (found.verdict, found.certainty, found.without_positions) == (NO, "conjectured", NO)


def test_counting_to_what_was_seen_is_no_generalization(monkeypatch):
    """A program may say count == 0 or count == 9 or ...: it is wrong far away, and short words do not show that it is right."""

    def divisible(word):
        return word.count("a") % 9 == 0

    program = lw.crasp.parse(
        "program p\nalphabet 'a' 'b'\naccept count('a') == 0 or count('a') == 9 or count('a') == 18\n"
    )
    found = SimpleNamespace(program=program, candidates=1, retested_to=27)
    monkeypatch.setattr("lengthwise.verdict.search.search", lambda *_: found)
    asked = lw.predict(divisible, alphabet="ab", seconds=60)
    assert (asked.verdict, asked.without_positions) == (OPEN, OPEN)
    assert "wrong on a word" in asked.reason
    read = of(labelled(divisible, "ab", 10))
    assert (read.verdict, read.without_positions) == (OPEN, OPEN)
    assert "constants reach 18" in read.reason


def test_far_words_find_what_constants_hide():
    known = Known(("a", "b"), {(): True, (0,): False, (1,): True}, 1, AutomatonMachine(automaton("b*((ab*){9})*")))
    text = "program p\nalphabet 'a' 'b'\naccept count('a') == 0 or count('a') == 9 or count('a') == 18\n"
    wrong = wrong_far(known, lw.crasp.parse(text))
    assert wrong is not None
    assert wrong.count(0) % 9 == 0
    assert len(wrong) > 3 * 18
    right = "program p\nalphabet 'a' 'b'\naccept count('a') == 0\n"
    assert (
        wrong_far(Known(("a", "b"), {(): True}, 0, AutomatonMachine(automaton("b*", "ab"))), lw.crasp.parse(right))
        is None
    )


def test_too_few_words_say_nothing():
    few = of("ab\t1\nba\t0\naab\t1\nbb\t0\n")
    assert few.verdict == OPEN
    assert "by chance" in few.reason
    same = of("ab\t1\nba\t1\n")
    assert same.verdict == OPEN
    assert same.notes == ("All 2 words are labelled True.",)


def test_the_chance_of_agreeing_by_chance():
    """16 words, 8 of them accepted: C(16, 8) = 12870 labellings, so 128 candidates are too few to be lucky, 129 not."""
    sample = Labelled(("a",), tuple((0,) * n for n in range(16)), tuple(n % 2 == 0 for n in range(16)), 15, "")
    assert not by_chance(sample, 128)
    assert by_chance(sample, 129)


def test_words_beyond_the_complete_length_count_too():
    """Up to length 11 all words with an even number of a, and a longer word that is against it."""
    text = labelled(lambda word: word.count("a") % 2 == 0, "a", 11)
    assert of(text).kind == "C-RASP[periodic]"
    assert of(text + f"{'a' * 14}\t1\n").kind == "C-RASP[periodic]"
    assert of(text + f"{'a' * 15}\t1\n").steps[1].outcome.startswith("no automaton")


def test_labels_by_a_coin_fit_no_small_automaton():
    """Of the 128 labellings of the words up to length 2 some automaton of two states fits every fifth; none is believed."""
    words = ["".join(word) for size in range(3) for word in itertools.product("ab", repeat=size)]
    for labels in itertools.islice(itertools.product("01", repeat=7), 1, 127, 9):
        found = of("".join(f"{word}\t{label}\n" for word, label in zip(words, labels, strict=True)))
        assert (found.verdict, found.without_positions) == (OPEN, OPEN)


def test_what_was_guessed_is_not_said_of_the_target():
    """No word up to length 100 is in it, so nothing that is asked shows that the language is not empty."""
    found = lw.predict(lambda word: len(word) > 1000, alphabet="ab", seconds=60)
    assert (found.verdict, found.certainty, found.notes) == (YES, "checked", ())
    odd = lw.predict(lambda word: word.count("a") % 2 == 1, alphabet="ab", seconds=60)
    assert (odd.verdict, odd.certainty) == (NO, "conjectured")
    assert "no member of the class equals" not in str(odd.bound)


def test_what_a_window_shows_is_no_proof(monkeypatch):
    """Each symbol is the one six places before: in the class, and while words are as short as 12 rows double."""

    def sixth(word):
        return all(one == other for one, other in zip(word, word[6:], strict=False))

    monkeypatch.setattr(of_values, "MOST_WORDS", 9_000)
    found = lw.predict(sixth, alphabet="ab", seconds=60)
    assert (found.verdict, found.certainty, found.without_positions) == (NO, "conjectured", NO)
    assert found.witness["rows"][6] == 64


def test_a_few_rows_more_are_no_linear_growth(monkeypatch):
    """A program of the class, asked as a function: its 5 numbers of rows lie on a line by accident."""
    monkeypatch.setattr(of_values, "MOST_WORDS", 90_000)
    monkeypatch.setattr("lengthwise.verdict.search.search", lambda *_: SimpleNamespace(program=None))
    program = ProgramMachine(random_program(8, symbols="abc"))
    asked = SimpleNamespace(alphabet=program.alphabet, start=program.start, step=program.step, output=program.output)
    found = lw.predict(asked, seconds=60)
    assert found.steps[2].outcome.startswith("linear")
    assert found.verdict == OPEN


def test_a_function_that_changes_its_kind_of_answer_is_named_with_the_word():
    def moody(word):
        return word.count("a") % 2 == 0 if len(word) <= 9 else "yes"

    with pytest.raises(lw.WrongInput, match="True or False, as for shorter words"):
        lw.predict(moody, alphabet="ab")


def test_a_value_is_asked_for_once():
    seen = []

    def member(word):
        seen.append(word)
        return "aa" in word

    lw.predict(member, alphabet="ab", seconds=60)
    assert len(seen) == len(set(seen))


def test_machines_of_any_kind():
    program = lw.crasp.library()["dyck1"]
    assert lw.predict(ProgramMachine(program)).certainty == "proved"
    assert lw.predict(AutomatonMachine(automaton("(aa)*"))).certainty == "decided"
    known = Known(("a",), {(0,) * n: n % 2 == 0 for n in range(9)}, 8)
    assert [known.output(known.step(known.start(), 0)), known.output(())] == [False, True]


def test_a_language_that_the_decision_leaves_open_goes_to_theorems_and_search(monkeypatch):
    monkeypatch.setattr(of_languages, "LARGER", ())
    monkeypatch.setattr("lengthwise.crasp.regular.MOST_DECIDED", 3)
    odd = lw.predict("regex:(b|c)*a((b|c)*a(b|c)*a)*(b|c)*", seconds=3)
    assert (odd.verdict, odd.certainty) == (NO, "decided")  # two states are decided
    parity = lw.predict("regex:((aa|bb)|(ab|ba)(aa|bb)*(ab|ba))*", seconds=3)  # four are not
    assert (parity.verdict, parity.certainty) == (NO, "decided")
    assert [step.step for step in parity.steps] == ["program", "regular", "communication", "known theorems"]
    second = lw.predict("regex:(a|b)*a(a|b)", seconds=60)
    assert (second.verdict, second.certainty) == (YES, "proved")
    assert second.steps[-1].step == "search"


def test_a_program_that_is_found_for_a_language_must_be_equal_to_it(monkeypatch):
    """A search that finds something that only looks right is not believed."""
    monkeypatch.setattr(of_languages, "LARGER", ())
    near = lw.crasp.parse("program near\nalphabet 'a'\naccept pos % 29 in {0} and count('a') <= 100\n")
    right = lw.crasp.parse("program right\nalphabet 'a'\naccept pos % 29 in {0}\n")
    for program, verdict, certainty in ((near, OPEN, None), (right, YES, "proved"), (None, OPEN, None)):
        found = SimpleNamespace(program=program)
        monkeypatch.setattr("lengthwise.verdict.search.search", lambda *_, found=found: found)
        answer = lw.predict("regex:(a{29})*")
        assert (answer.verdict, answer.certainty) == (verdict, certainty)


def test_a_sample_of_all_words_is_that_of_the_machine():
    machine = AutomatonMachine(automaton("(ab)*"))
    words = labelled_words(machine, 6)
    found = lw.predict(words, seconds=60)
    assert (found.verdict, found.certainty, found.without_positions) == (YES, "checked", YES)
