"""The decision: the published table, public examples, random automata; every yes is run, every no is looked at twice."""

import dataclasses
import json
import random

import numpy as np
import pytest

import crasp_definition as definition
import lengthwise as lw
from lengthwise.crasp.agreement import affordable_length, disagreement, disagreement_on_long
from lengthwise.crasp.annotated import annotated, part_of, parts_by
from lengthwise.crasp.automata import Automaton, automaton, minimal
from lengthwise.crasp.languages import combined
from lengthwise.crasp.obstruction import obstruction
from lengthwise.crasp.regular import annotations, decide, marked
from lengthwise.crasp.syntax import Number, nodes
from lengthwise.errors import WrongInput
from random_programs import random_program
from regular_oracles import SUITE, all_words, bounded_depth, random_automaton, suite_automaton

D22 = "('('('('')'|'['']')*')'|'['('('')'|'['']')*']')*"


def told_apart(machine, period, window):
    product = annotated(machine, period, window)
    return all(part_of(product, part).confused is None for part in parts_by(product, "places"))


def agrees(decision, machine, longest=8):
    """The program against the automaton: all short words as texts through `run`, some also by the definition."""
    glue = "" if all(len(symbol) == 1 for symbol in machine.alphabet) else " "
    words = list(all_words(machine.alphabet, min(longest, affordable_length(len(machine.alphabet), 5_000))))
    accepted = lw.crasp.run(decision.program, [glue.join(word) for word in words]).accepts
    assert accepted.tolist() == [machine.accepts(word) for word in words]
    rng = random.Random(0)
    for word in rng.sample(words, min(6, len(words))):
        assert definition.accepts(decision.program, word) == machine.accepts(word)
    long = [[rng.choice(machine.alphabet) for _ in range(rng.randint(20, 60))] for _ in range(20)]
    accepted = lw.crasp.run(decision.program, long).accepts
    assert accepted.tolist() == [machine.accepts(word) for word in long]


@pytest.mark.parametrize("name", SUITE)
def test_the_suite_is_decided_as_published(name):
    _, _, plain, periodic_local = SUITE[name]
    machine = suite_automaton(name)
    decision = decide(machine)
    assert (decision.plain, decision.member, decision.certainty) == (plain, periodic_local, "decided")
    assert decide(machine, max_period=1, max_window=0).member is (plain or (None if periodic_local else False))
    if periodic_local:
        agrees(decision, machine)


SMALLEST = {  # the facts file, section 5.5
    "(1|01|001)*(0|00)?": (1, 2),
    "(aa)*": (2, 0),
    "(aaaa)*": (4, 0),
    "(abab)*": (4, 0),
    "(a|b)*aba(a|b)*": (1, 2),
    "(ab|b)*": (1, 1),
    "(a|b)*a(a|b)(a|b)": (1, 2),
    "((aa)|b)*": (2, 0),
    "(a|bb)*": (2, 0),
    "(aa)*b*": (2, 0),
    D22: (1, 0),
    bounded_depth(6): (1, 0),
    "[ab]*a[ab]*b[ab]*a[ab]*": (1, 0),
    "a[ab]*a|b[ab]*b|a|b": (1, 0),
    "a+b+a+b+a+b+a+": (1, 0),
    "(a|b)*b": (1, 0),
    "(ab)*c|((ab)*c|(ab)*ac)[ab]*b": (1, 0),  # one letter enters two states that differ in acceptance only
    "(a{7}b)*": (1, 0),
    "(a|b){0,3}": (1, 0),
    "()": (1, 0),
    "a*": (1, 0),
}


@pytest.mark.parametrize("language", SMALLEST)
def test_the_smallest_period_and_window(language):
    machine = automaton(language, None if language != "()" else "a")
    decision = decide(machine)
    assert (decision.period, decision.window) == SMALLEST[language]
    agrees(decision, machine)


S3 = Automaton(("a", "b"), ((1, 2), (0, 3), (4, 0), (5, 1), (2, 5), (3, 4)), 0, frozenset([0]))


def test_none_at_all():
    for language in ["[012]*02*", "(b*ab*a)*b*", "[abe]*be*", S3]:
        decision = decide(language)
        assert decision.member is False
        assert decision.program is None
        for period, window in [(1, 0), (2, 0), (1, 2), (6, 1), (3, 2), (4, 2)]:
            machine = automaton(language) if isinstance(language, str) else language
            assert not told_apart(machine, period, window)


# The examples of the public decider (pentagonalize/crasp_reg) with the answers its test list expects; + is union there.
# Its acceptance is read at an end marker.
PUBLIC = {
    "(aa(ba)*abb(ab)*b)*": True,
    "(a+b)*bb(a+b)*": False,
    "(a+b)*b": False,
    "(aa*bb*)(aa*bb*)*": False,
    "(aa*bb*)(aa*bb*)(aa*bb*)": True,
    "(aa*bb*)(aa*bb*)(aa*bb*)(aa*bb*)": True,
    "(ab)(ab)*aa*": True,
    "(ab)(ab)*aa*bb*": True,
    "(ab)(ab)*b(ab)(ab)*": True,
    "(ab)(ab)*bb*(ab)(ab)*": True,
    "((ab)(ab)*bb*)*": False,
    "((ab)(ab)*bb*)((ab)(ab)*bb*)((ab)(ab)*bb*)": True,
    "(ab+ba)*": True,
    "(ab+bba)*": False,
    "(ab+aabb)*": False,
}
AT_THE_LAST_SYMBOL = {"(a+b)*b", "(aa*bb*)(aa*bb*)*"}  # both are words that start so and end in b


@pytest.mark.parametrize("example", PUBLIC)
def test_public_examples(example):
    machine = automaton(example.replace("+", "|"))
    assert told_apart(marked(machine), 1, 0) is PUBLIC[example]
    assert told_apart(machine, 1, 0) is (PUBLIC[example] or example in AT_THE_LAST_SYMBOL)


def test_the_end_marker_and_the_last_symbol():
    last, ended = decide("(a|b)*b"), decide("(a|b)*b", end_marker=True)
    assert (last.period, last.window, str(last.program).splitlines()[-1]) == (1, 0, "accept 'b'")
    assert (ended.plain, ended.period, ended.window) == (False, 1, 1)
    assert ended.alphabet == ("a", "b", "$")
    for word in all_words("ab", 7):
        assert definition.accepts(ended.program, (*word, "$")) == (word[-1:] == ("b",))
        assert not definition.accepts(ended.program, word)
    with pytest.raises(WrongInput, match="end marker"):
        decide("a'$'", end_marker=True)


@pytest.mark.parametrize("seed", range(300))
def test_random_automata(seed):
    machine = minimal(random_automaton(seed))
    decision = decide(machine)
    tried = {(one.period, one.window): one.outcome for one in decision.tried}
    assert decision.certainty == "decided"
    if decision.member:
        agrees(decision, machine)
        assert list(tried.values()) == ["not told apart"] * (len(tried) - 1) + ["told apart"]
    else:
        assert_witness(decision, machine)
        assert not any(told_apart(machine, *pair) for pair in [(2, 1), (4, 0), (1, 3), (6, 0), (3, 2)])


def assert_witness(decision, machine):
    """The two words lead to two states, the loop leads these back, and one of them accepts what follows."""
    found = decision.witness
    first, second = machine.after(found.first), machine.after(found.second)
    assert first != second
    assert (machine.after(found.loop, first), machine.after(found.loop, second)) == (first, second)
    ends = [machine.after(found.then, state) in machine.accepting for state in (first, second)]
    assert sorted(ends) == [False, True]
    assert found.then
    back, forth = (
        any(machine.after(w, a) == b for w in all_words("ab", 6)) for a, b in ((first, second), (second, first))
    )
    assert back
    assert forth


@pytest.mark.parametrize("seed", range(60))
def test_more_annotation_never_tells_less_apart(seed):
    machine = minimal(random_automaton(seed))
    found = {pair: told_apart(machine, *pair) for pair in [(1, 0), (1, 1), (1, 2), (2, 0), (2, 1), (4, 0), (4, 1)]}
    for less, more in [
        ((1, 0), (1, 1)),
        ((1, 1), (1, 2)),
        ((1, 0), (2, 0)),
        ((2, 0), (4, 0)),
        ((2, 0), (2, 1)),
        ((4, 0), (4, 1)),
    ]:
        assert found[less] <= found[more]
    for pair in [(1, 0), (2, 0), (1, 1)]:
        assert told_apart(marked(machine), *pair) <= found[pair]


@pytest.mark.parametrize("seed", range(80))
def test_an_obstruction_excludes_every_program(seed):
    """Also one that is found on some words only, as for automata whose semigroup is too large."""
    machine = minimal(random_automaton(seed, (2, 6), "ab" if seed % 3 else "abc"))
    for search in (obstruction(machine), obstruction(machine, most=0)):
        if search.found is not None:
            assert not any(told_apart(machine, *pair) for pair in [(1, 0), (2, 0), (1, 1), (3, 0), (2, 1), (4, 1)])
    full = obstruction(machine)
    if full.complete and full.found is None:
        assert decide(machine, max_period=12, max_window=3).member is not False


# Words between which a language tells and no program can, built as in the proof (docs/decide.md). An arrow is a letter
# in a long run of the neutral one, which hides the last letters; its length is divisible by 12, so that periods up to 4
# see nothing. Rounds of arrows in odd proportions lead far away from every threshold that is not balanced, and then one
# arrow leads to either state.
BUILT = {"(b*ab*a)*b*": "b", "[abe]*be*": "e"}


@pytest.mark.parametrize("language", BUILT)
def test_random_programs_do_not_tell_the_built_words_apart(language):
    neutral, machine = BUILT[language], automaton(language)
    turn = [neutral * 36 + letter + neutral * 35 for letter in "ab"]
    idle = neutral * 12
    times = [(28, turn[0]), (11, turn[1]), (5, idle)]
    evenly = sorted(((i + 0.3 * n) / count, arrow) for n, (count, arrow) in enumerate(times) for i in range(count))
    around = "".join(arrow for _, arrow in evenly) * 12
    first, second = (around + arrow + neutral for arrow in turn)
    assert machine.accepts(first) != machine.accepts(second)
    assert len(first) == len(second)
    telling, short = 0, ["".join(word) for word in all_words(machine.alphabet, 4)]
    for seed in range(100):
        program = random_program(seed, "".join(machine.alphabet), depth=3)
        answers = lw.crasp.run(program, [first, second]).accepts
        assert answers[0] == answers[1], seed
        telling += len(set(lw.crasp.run(program, short).accepts.tolist())) == 2
    assert telling > 20, "the programs must not be constant"


LIBRARY = {  # regular languages of the library, and what its programs use
    "a_star_b_star": ("a*b*", (1, 0)),
    "aa_star": ("(aa)*", (2, 0)),
    "ab_or_ba_star": ("(ab|ba)*", (1, 0)),
    "contains_ab": ("[abc]*ab[abc]*", (1, 1)),
    "dyck_2_2": (D22, (1, 0)),
    "even_a_blocks": ("((aa)*|b)*", (2, 0)),
    "exactly3a": ("b*(ab*){3}", (1, 0)),
    "first_is_a": ("a[ab]*", (1, 0)),
    "last_is_a": ("[ab]*a", (1, 0)),
    "len_mod3_eq1": (".(...)*", (3, 0)),
    "same_first_last": ("a([ab]*a)?|b([ab]*b)?", (1, 0)),
    "second_last_is_a": ("[ab]*a.", (1, 1)),
    "slt_mix": ("(ab|aab)+", (1, 2)),
    "subseq_abc": ("[abc]*a[abc]*b[abc]*c[abc]*", (1, 0)),
    "three_blocks": ("a+b+a+", (1, 0)),
    "tomita4": ("(1|01|001)*(0|00)?", (1, 2)),
    "tomita7": ("0*1*0*1*", (1, 0)),
}


@pytest.mark.parametrize("name", LIBRARY)
def test_no_library_program_contradicts(name):
    language, (period, window) = LIBRARY[name]
    written = lw.crasp.library()[name]
    machine = automaton(language, written.alphabet)
    assert disagreement(written, machine, affordable_length(len(machine.alphabet), 5_000)) is None
    decision = decide(machine)
    assert decision.member
    assert decision.period * 9**decision.window <= period * 9**window


def test_the_check_notices_a_wrong_constant():
    for language in ["(aa|b)*", "(a(ab)*b)*", "(ab|b)*", "[ab]*d[bc]*"]:
        machine = automaton(language)
        decision = decide(machine)
        text = str(decision.program)
        changed = 0
        for number in {
            node.value for one in decision.program.definitions for node in nodes(one.body) if isinstance(node, Number)
        }:
            mutant = lw.crasp.parse(text.replace(f" {number}\n", f" {number + 1}\n", 1))
            if str(mutant) != text:
                assert disagreement(mutant, machine, affordable_length(len(machine.alphabet), 30_000)) is not None
                changed += 1
        assert changed, text


def test_disagreements_are_shortest_and_real():
    program = lw.crasp.parse("program p\nalphabet 'a' 'b'\naccept count('a') <= 6\n")
    machine = automaton("b*(ab*){0,5}", "ab")
    found = disagreement(program, machine, 8)
    assert found == ("a",) * 6
    assert disagreement(program, machine, 5) is None
    found = disagreement_on_long(program, machine, 40, 30, seed=1)
    assert definition.accepts(program, found) != machine.accepts(found)
    never = lw.crasp.parse("program p\nalphabet 'a' 'b'\naccept false\n")
    assert disagreement(never, automaton("a*", "ab"), 3) == ()


def test_long_words_reach_states_that_random_letters_do_not():
    """(ab)^n with a wrong answer at length 60 only: uniform letters would never be there."""
    program = lw.crasp.parse(
        "program p\nalphabet 'a' 'b'\nlet h := count('a') - count('b')\n"
        "accept h == 0 and count(h < 0 or h > 1) == 0 and count(true) != 60\n"
    )
    assert disagreement_on_long(program, automaton("(ab)*"), 80, 10, seed=0) == ("a", "b") * 30


def test_twelve_states_with_period_four_and_window_two():
    machine = combined(automaton("(1|01|001)*(0|00)?"), automaton("(....)*", "01"), lambda a, b: a and b)
    assert machine.states == 13  # twelve, and the one without a way out
    decision = decide(machine)
    assert (decision.member, decision.period, decision.window) == (True, 4, 2)
    assert "\nlet bad := count[back 0, 1, 2]('0') == 3\naccept pos % 4 in {0} and count(bad) == 0\n" in str(
        decision.program
    )


def test_what_is_not_known_says_so():
    decision = decide("(a{8})*")
    assert (decision.member, decision.certainty, decision.program, decision.witness) == (None, "unknown", None, None)
    assert "worth trying: periods that divide 8" in decision.reason
    assert str(decision).startswith("(a{8})*: not known. No program with a period up to 6")
    assert decide("(a{8})*", max_period=8).period == 8
    assert [(one.period, one.window) for one in decision.tried] == list(annotations(6, 3, 1))


def test_the_order_of_periods_and_windows():
    assert list(annotations(3, 1, 2)) == [(1, 0), (1, 1), (2, 0), (3, 0), (2, 1), (3, 1)]


def test_decisions_print_as_sentences_and_as_json():
    yes, no = decide("(aa|b)*"), decide("[012]*02*")
    assert str(yes) == "(aa|b)* is in C-RASP: a program with period 2; checked on all words up to length 13."
    assert str(no).startswith("[012]*02* is not in C-RASP[periodic, local]: no program of any period and window tells")
    for decision in (yes, no):
        fields = json.loads(decision.to_json())
        assert set(fields) == {field.name for field in dataclasses.fields(decision)}
        assert fields["member"] is decision.member
    assert lw.crasp.parse(json.loads(yes.to_json())["program"]) == yes.program
    assert json.loads(no.to_json())["witness"] == {"first": "", "second": "0", "loop": "2", "then": "2"}


def test_programs_read_as_one_would_write_them():
    def body(language):
        return str(decide(language).program).split("\n", 2)[2]

    assert body("(a(ab)*b)*") == (
        "let height := count('a') - count('b')\n"
        "let bad := height < 0 or height > 2\n"
        "accept height == 0 and count(bad) == 0\n"
    )
    assert body("(a|b)*a(a|b)(a|b)") == "accept count[back 2]('a') == 1\n"
    assert body("(abab)*") == (
        "let bad := ('a' and pos % 2 in {0}) or ('b' and pos % 2 in {1})\naccept pos % 4 in {0} and count(bad) == 0\n"
    )


def test_wrong_limits_and_automata_that_are_too_large():
    for limits in (
        {"max_period": 0},
        {"max_window": -1},
        {"max_period": 2.0},
        {"max_window": True},
        {"max_period": 65},
    ):
        with pytest.raises(WrongInput, match="whole number"):
            decide("a*", **limits)
    with pytest.raises(WrongInput, match="at most 300 states"):
        decide("a{400}")
    with pytest.raises(WrongInput, match="as text"):
        decide(7)


@pytest.mark.slow
def test_two_thousand_more_automata():
    unknown = 0
    for seed in range(1_000, 3_000):
        rng = np.random.default_rng(seed)
        machine = minimal(random_automaton(seed, (2, 7), "abc"[: int(rng.integers(1, 4))]))
        decision = decide(machine)
        unknown += decision.member is None
        if decision.member:
            agrees(decision, machine)
    assert unknown < 60
