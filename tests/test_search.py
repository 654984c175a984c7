"""The search for a program: nothing small is missed, and what is found agrees with every word."""

import random
from itertools import product

import pytest

import lengthwise as lw
from crasp_definition import accepts
from lengthwise.crasp.syntax import And, Compare, Count, Definition, Minus, Not, Number, Or, Phi, Program, Sym, Truth
from lengthwise.errors import WrongInput
from lengthwise.verdict.candidates import Bank, enumerate_size
from lengthwise.verdict.compare import compare
from lengthwise.verdict.labelled import Labelled, labelled_words, read_labelled
from lengthwise.verdict.machine import OracleMachine, ProgramMachine
from lengthwise.verdict.recipes import size
from lengthwise.verdict.sample import Sample
from lengthwise.verdict.search import search

RELATIONS = ("==", ">=", "<=", "!=")
PATIENCE = 60.0  # more than any search here takes


def all_programs(largest):
    """Every Boolean up to a size over a, b, written down without pruning: lists by size."""
    found = {1: [Sym("a"), Sym("b"), Truth(True)]}
    for now in range(2, largest + 1):
        made = [Not(one) for one in found[now - 1]]
        made += [Phi(m, (r,)) for m, worth in ((2, 2), (3, 2), (4, 3)) if worth == now for r in range(m)]
        for left in range(1, now - 1):
            made += [join(p, q) for p in found[left] for q in found[now - 1 - left] for join in (And, Or)]
        numbers = {0: [0, 1], 1: [2, 3], 2: [4, 5, 6, 7]}
        for inside in range(1, now - 1):
            for constant in numbers.get(now - 2 - inside, []):
                made += [Compare(Count(p), r, Number(constant)) for p in found[inside] for r in RELATIONS]
            for back, worth in (((1,), 0), ((0, 1), 0), ((2,), 1), ((1, 2), 1), ((0, 1, 2), 1)):
                for constant in numbers.get(now - 2 - inside - worth, []):
                    made += [Compare(Count(p, back), r, Number(constant)) for p in found[inside] for r in RELATIONS]
        for left, right in product(range(1, now), repeat=2):
            for constant in numbers.get(now - 3 - left - right, []):
                for p, q in product(found[left], found[right]):
                    made += [Compare(Minus(Count(p), Count(q)), r, Number(constant)) for r in RELATIONS]
        found[now] = made
    return found


@pytest.fixture(scope="module")
def behaviours():
    """For every size up to 5, which label vectors on all words up to length 3 its programs have."""
    words = ["".join(word) for length in range(4) for word in product("ab", repeat=length)]
    found = {}
    for now, programs in all_programs(5).items():
        definitions = tuple(Definition("output", f"x{place}", one) for place, one in enumerate(programs))
        values = lw.crasp.run(Program("all_", ("a", "b"), definitions), words).values
        found[now] = {tuple(values[f"x{place}"].tolist()) for place in range(len(programs))}
    return words, found


def labelled(words, labels, complete_to):
    return Labelled(
        ("a", "b"), tuple(tuple("ab".index(s) for s in w) for w in words), tuple(labels), complete_to, "test"
    )


def test_sizes_are_as_written():
    for now, programs in all_programs(4).items():
        assert {size(one) for one in programs} == {now}


def test_the_enumeration_has_all_behaviours_of_each_size_and_each_once(behaviours):
    words, found = behaviours
    bank = Bank(Sample.of(labelled(words, [True] * len(words), 3)))
    smaller = set()
    for now in range(1, 6):
        for _ in enumerate_size(bank, now):
            pass
        rows = [tuple(row) for row in bank.sample.unpack(bank.rows).tolist()]
        assert len(rows) == len(set(rows))
        assert {rows[place] for place in bank.of_size(now)} == found[now] - smaller
        smaller |= found[now]


def test_the_smallest_program_is_found_when_it_is_tiny_and_only_then(behaviours):
    words, found = behaviours
    rng = random.Random(6)
    smaller = set()
    for now in range(1, 6):
        new = sorted(found[now] - smaller)
        smaller |= found[now]
        for labels in rng.sample(new, min(3, len(new))):
            if len(set(labels)) == 2:
                result = search(labelled(words, labels, 3), seconds=PATIENCE)
                assert result.size == now, (labels, str(result.program))
    for _ in range(2):
        labels = tuple(rng.random() < 0.5 for _ in words)
        result = search(labelled(words, labels, 3), seconds=PATIENCE)
        assert (result.size <= 5) == (labels in smaller)


@pytest.mark.parametrize("name", ["dyck1", "tomita4", "aa_star", "linear_ineq"])
def test_a_program_from_words_alone_is_the_language(name):
    known = lw.crasp.library()[name]
    machine = ProgramMachine(known)
    result = search(labelled_words(machine, most_words=600), machine, seconds=PATIENCE)
    assert result.finished
    assert lw.crasp.parse(result.text) == result.program
    assert str(lw.crasp.parse(result.text)) == result.text
    assert compare(known, result.program).equal
    assert result.retested_to == 3 * result.checked_to
    assert result.size == size(result.program.accept)


SLOW = [
    *("D_4", "anbn", "anbncn", "cond_weight", "interleave3_all_ones"),
    *("prefix_bool3", "same_first_last", "slt_mix", "three_blocks", "two_back_copy"),
]


@pytest.mark.slow
@pytest.mark.parametrize("name", SLOW)
def test_more_programs_from_words_alone(name):
    known = lw.crasp.library()[name]
    machine = ProgramMachine(known)
    result = search(labelled_words(machine), machine, seconds=10 * PATIENCE)
    assert result.finished
    assert compare(known, result.program, most_states=50_000).equal is not False


@pytest.mark.parametrize("longest", [60, 70, 130, 200])
def test_counts_of_long_words_do_not_overflow(longest):
    words = ["a" * n for n in range(0, longest + 1, 5)]
    labels = [len(word) >= longest - 10 for word in words]
    result = search(labelled(words, labels, -1), seconds=PATIENCE)
    assert lw.crasp.run(result.program, words).accepts.tolist() == labels
    assert result.size <= size(Compare(Count(Sym("a")), ">=", Number(longest - 10)))


def test_what_is_found_agrees_with_every_word_by_the_definition():
    rng = random.Random(2)
    words = ["".join(word) for length in range(5) for word in product("ab", repeat=length)]
    kept = rng.sample(words, 20)
    labels = [rng.random() < 0.3 for _ in kept]
    result = search(labelled(kept, labels, -1), seconds=PATIENCE)
    assert [accepts(result.program, word) for word in kept] == labels
    assert (result.retested_to, result.retested) == (None, 0)


@pytest.fixture(scope="module")
def threes():
    """A function that short words do not show whole, the words, and what one long call finds."""
    machine = OracleMachine(("a", "b"), lambda word: word.count("a") >= 2 or len(word) > 6)
    given = labelled_words(machine, 4)
    return machine, given, search(given, machine, seconds=PATIENCE)


def test_stopping_and_going_on_gives_what_one_long_call_gives(threes):
    machine, given, whole = threes
    part = search(given, machine, seconds=0)
    calls = 1
    while not part.finished:
        part = search(given, machine, seconds=0.02, state=part.state)
        calls += 1
    assert calls > 5
    assert whole.rejected
    assert whole.fields() == part.fields()


def test_a_word_on_which_a_candidate_fails_joins_the_sample(threes):
    machine, _, result = threes
    assert result.finished
    for accept, word in result.rejected:
        rejected = lw.crasp.parse(f"program rejected alphabet 'a' 'b' accept {accept}")
        assert lw.crasp.run(rejected, [word]).accepts[0] != machine.function(word)
        assert len(word) > 4
        assert lw.crasp.run(result.program, [word]).accepts[0] == machine.function(word)
    true = lw.crasp.parse("program p alphabet 'a' 'b' accept count('a') >= 2 or count(true) >= 7")
    assert compare(result.program, true).equal


def test_one_label_turned_over_gives_another_program():
    machine = ProgramMachine(lw.crasp.library()["anbn"])
    given = labelled_words(machine, 4)
    before = search(given, seconds=PATIENCE)
    for place in (0, 4):
        labels = tuple(label != (at == place) for at, label in enumerate(given.labels))
        turned = Labelled(given.alphabet, given.words, labels, given.complete_to, "one label wrong")
        after = search(turned, seconds=PATIENCE)
        assert after.program != before.program
        word = given.text(given.words[place])
        assert accepts(after.program, word) == labels[place] != accepts(before.program, word)


def test_words_of_a_file_and_of_one_label():
    result = search(read_labelled("\t1\nab\t1\naabb\t1\naab\t0\nba\t0\nb\t0\nabab\t0\n", "words.tsv"), seconds=PATIENCE)
    assert [accepts(result.program, word) for word in ("", "ab", "aabb", "aab", "ba", "b", "abab")] == [True] * 3 + [
        False
    ] * 4
    assert "no oracle" in str(result)
    assert result.fields()["checked_to"] == 0
    assert search(read_labelled("a\t0\n", "words.tsv")).program.accept == Truth(False)


def test_wrong_input_is_said():
    three = labelled_words(OracleMachine(("a", "b"), lambda word: word.count("a") % 3), 3)
    with pytest.raises(WrongInput, match="labels true and false"):
        search(three)
    with pytest.raises(WrongInput, match="alphabet"):
        search(labelled(["a"], [True], -1), OracleMachine(("b", "a"), lambda word: True))
    with pytest.raises(WrongInput, match="at least 0 seconds"):
        search(labelled(["a"], [True], -1), seconds=-1)
