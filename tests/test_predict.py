"""The prediction: the suite, the algorithmic tasks, the library, regular languages with known answers, what is never said."""

import re

import pytest

import lengthwise as lw
from crasp_oracles import LANGUAGES
from lengthwise.crasp.automata import Automaton, automaton
from lengthwise.errors import WrongInput
from regular_oracles import SUITE, all_words, suite_automaton

YES, NO, OPEN = "generalizes", "fails", "unknown"

# The 17 formal languages: whether a program exists with positions, and a plain one without (the published flags).
FORMAL = {
    **dict.fromkeys(("tomita1", "tomita2", "tomita7", "D_2", "D_3", "D_4", "D_12"), (YES, YES)),
    **dict.fromkeys(("aa*bb*cc*dd*ee*", "{a,b}*d{b,c}*"), (YES, YES)),
    **dict.fromkeys(("tomita4", "(aa)*", "(aaaa)*", "(abab)*"), (YES, NO)),
    **dict.fromkeys(("tomita3", "tomita5", "tomita6", "{0,1,2}*02*"), (NO, NO)),
}
ALGORITHMIC = {
    "binary-majority": (YES, YES, "proved"),
    "majority": (YES, YES, "proved"),
    "binary-majority-interleave": (YES, NO, "proved"),
    "copy-unique": (YES, NO, "proved"),
    "copy-repeat": (NO, NO, "proved"),
    "sort": (YES, YES, "proved"),
    "parity": (NO, NO, "decided"),
    "addition": (NO, NO, "proved"),
}


@pytest.mark.parametrize("name", FORMAL)
def test_the_formal_languages_are_as_published(name):
    found = lw.predict(name)
    assert (found.verdict, found.without_positions) == FORMAL[name]
    assert found.certainty in ("proved", "decided")
    in_class = found.verdict == YES
    assert (found.program is not None) is in_class
    assert (found.kind == "outside C-RASP[periodic, local]") is not in_class
    assert found.bound.fields()["answer"] == ("bound" if in_class else "outside the theory")
    assert len(found.published["with_positions"]) == 3
    last = found.published["with_positions"][2]  # what trained models reached in the last bin
    assert last > 80 if in_class else last < 2


@pytest.mark.parametrize("name", ["dyck1", "shuffle_dyck2", "anbn", "anbncn", "anbncndn", "prefix_bool3"])
def test_other_languages_of_the_paper_are_plain(name):
    found = lw.predict(name)
    assert (found.verdict, found.without_positions, found.kind) == (YES, YES, "plain C-RASP")


def test_there_are_seventeen_and_the_flags_are_those_of_the_automata():
    assert len(FORMAL) == 17
    flags = {True: YES, False: NO}
    for name, (_, _, plain, periodic_local) in SUITE.items():
        if name != "parity":
            assert FORMAL[name] == (flags[periodic_local], flags[plain])


@pytest.mark.parametrize("name", FORMAL)
def test_a_program_of_the_suite_accepts_its_language(name):
    program = lw.predict(name).program
    if program is not None:
        machine = suite_automaton(name)
        words = list(all_words(machine.alphabet, 6))
        said = lw.crasp.run(program, ["".join(word) for word in words]).accepts
        assert said.tolist() == [machine.accepts(word) for word in words]


@pytest.mark.parametrize("name", ALGORITHMIC)
def test_the_algorithmic_tasks(name):
    found = lw.predict(name)
    assert (found.verdict, found.without_positions, found.certainty) == ALGORITHMIC[name]
    assert found.source
    assert found.published
    assert ("alphabet that grows with the length" in found.reason) is (name in ("sort", "copy-unique"))


@pytest.mark.parametrize("name", sorted(lw.crasp.library()))
def test_every_program_of_the_library_is_in_the_class(name):
    found = lw.predict(f"crasp:{name}")
    assert (found.verdict, found.certainty) == (YES, "proved")
    assert found.program == lw.crasp.library()[name]
    kind = lw.crasp.fragment(found.program)
    assert (found.period, found.window) == (kind.period, max(kind.offsets, default=0))
    assert (found.without_positions == YES) or kind.kind != "plain"
    assert found.bound.fields()["answer"] in ("bound", "no computable bound")


REGULAR = {  # expression: with positions, without, why
    "[ab]*a[ab]*b[ab]*a[ab]*": (YES, YES, "piecewise testable: a subsequence is counts inside counts"),
    "b*ab*ab*ab*": (YES, YES, "count('a') == 3"),
    "(a|b)*b": (YES, YES, "the last symbol is read"),
    "a(a|b)*": (YES, YES, "count('a' and count(true) == 1) == 1"),
    "(ab)*": (YES, YES, "count('a') - count('b') stays in 0, 1"),
    "a+b+a+b+a+b+a+": (YES, YES, "blocks in a fixed order: partially ordered automaton"),
    "(a|b){0,3}": (YES, YES, "finite: count(true) <= 3"),
    "a[ab]*a|b[ab]*b|a|b": (YES, YES, "first symbol by a count, last symbol by reading"),
    "[ab]*": (YES, YES, "true"),
    "a*b*": (YES, YES, "no a after a b"),
    "(a|b)*aba(a|b)*": (YES, NO, "locally testable; plain counts do not see neighbours (published list)"),
    "(b|ab)*a?": (YES, NO, "no factor aa; b loops, so b weighs 0, and ab is a circle: a is not seen"),
    "(ab|b)*": (YES, NO, "strictly local (published list)"),
    "(a|b)*a(a|b)(a|b)": (YES, NO, "definite (published list)"),
    "((aa)|b)*": (YES, NO, "period 2 (published list)"),
    "(a|bb)*": (YES, NO, "period 2 (published list)"),
    "(aa)*b*": (YES, NO, "period 2 (published list)"),
    "[ab]([ab]{3})*": (YES, NO, "pos % 3 in {1}; without positions one letter counts to a threshold only"),
    "([ab]a)*[ab]?": (YES, NO, "a at even positions; a weighs 0 on aa and b on ba, so parity is not seen"),
    "(b*ab*ab*a)*b*": (NO, NO, "counting a modulo 3"),
    "[bc]*a([bc]*a[bc]*a)*[bc]*": (NO, NO, "Parity with more neutral letters"),
    "[abe]*ae*": (NO, NO, "the flip-flop (stated theorem)"),
    "(b*a*(ab)?)*": (YES, YES, "every word"),
    "b*(ab*ab*)*": (NO, NO, "Parity (stated theorem)"),
    "b*(a+b+a+b+)*(a+|a+b+a+)?": (NO, NO, "an even number of factors ab: Parity of ab among bb"),
}


@pytest.mark.parametrize("expression", REGULAR)
def test_regular_languages_with_known_answers(expression):
    with_positions, without, _ = REGULAR[expression]
    found = lw.predict(f"regex:{expression}")
    assert (found.verdict, found.without_positions, found.certainty) == (with_positions, without, "decided")
    if found.program is not None:
        language = re.compile(expression)
        words = ["".join(word) for word in all_words(sorted(set(expression) & set("abce")), 7)]
        assert lw.crasp.run(found.program, words).accepts.tolist() == [bool(language.fullmatch(w)) for w in words]
        assert found.checked_to >= 7


def test_the_word_problem_of_three_things_in_order():
    """S3: a exchanges the first two, b turns all three round. It is a group, so it counts."""
    orders = ["abc", "bac", "cab", "acb", "bca", "cba"]
    move = {"a": lambda w: w[1] + w[0] + w[2], "b": lambda w: w[2] + w[0] + w[1]}
    table = tuple(tuple(orders.index(move[letter](order)) for letter in "ab") for order in orders)
    found = lw.predict(Automaton(("a", "b"), table, 0, frozenset([0])))
    assert (found.verdict, found.without_positions, found.certainty) == (NO, NO, "decided")


def odd_ones(word):
    return word.count("1") % 2 == 1


def last_bit(word):
    return "1" in word and word.rstrip("2").endswith("1")


def square(word):
    half = len(word) // 2
    return word[:half] == word[half:]


def sums(word):
    one, _, rest = word.partition("+")
    two, _, total = rest.partition("=")
    numbers = (one, two, total)
    return all(number and set(number) <= {"0", "1"} for number in numbers) and int(one, 2) + int(two, 2) == int(
        total, 2
    )


NEVER = [
    "parity", "copy-repeat", "addition", "{0,1,2}*02*", "regex:(0*10*1)*0*", "regex:[abe]*ae*",
    (odd_ones, "01"), (last_bit, "012"), (square, "ab"), (sums, "01+="),
]  # fmt: skip


@pytest.mark.parametrize("target", NEVER, ids=lambda one: one if isinstance(one, str) else one[0].__name__)
def test_what_is_never_said_to_generalize(target):
    found = lw.predict(target) if isinstance(target, str) else lw.predict(target[0], alphabet=target[1], seconds=2)
    assert YES not in (found.verdict, found.without_positions)


def test_a_function_is_known_as_far_as_it_was_asked():
    parity = lw.predict(odd_ones, alphabet="01", seconds=60)
    assert (parity.verdict, parity.certainty) == (NO, "conjectured")
    factor = lw.predict(lambda word: "000" not in word, alphabet="01", seconds=60)
    assert (factor.verdict, factor.certainty, factor.without_positions) == (YES, "checked", NO)
    assert factor.bound.fields()["answer"] == "outside the theory"
    copies = lw.predict(square, alphabet="ab", seconds=60)
    assert (copies.verdict, copies.certainty) == (NO, "conjectured")
    assert [copies.witness["rows"][n] for n in range(1, 6)] == [2, 4, 8, 16, 32]


def test_languages_that_hold_nothing_or_everything():
    nothing = lw.predict(Automaton(("a",), ((0,),), 0, frozenset()))
    everything = lw.predict("regex:[ab]*")
    assert (nothing.verdict, everything.verdict) == (YES, YES)
    assert nothing.notes == ("The language is empty.",)
    assert everything.notes == ("The language holds every word.",)
    assert lw.predict(LANGUAGE_OF_ALL).notes == everything.notes


LANGUAGE_OF_ALL = lw.crasp.parse("program all\nalphabet 'a' 'b'\naccept count('a') >= 0\n")


def test_tasks_with_real_outputs_are_limit_transformers():
    for name, without in (("simple:omega=4", YES), ("modp:period=5", OPEN), ("tail", OPEN), ("kgram", OPEN)):
        found = lw.predict(lw.task(name))
        assert (found.verdict, found.without_positions, found.kind) == (YES, without, "limit transformers")
        assert "--error" in found.bound.reason


def test_a_large_period_or_window_is_found_too():
    assert lw.predict("regex:(a{11})*").period == 11
    fifth = lw.predict(automaton("(a|b)*a(a|b){4}"))
    assert (fifth.verdict, fifth.window) == (YES, 4)


def test_programs_without_finitely_many_states_and_with_positions():
    """Regular ones are asked through an automaton that is proved equal, or as far as words were read; others are open."""
    blocks = lw.predict("crasp:even_a_blocks")
    assert (blocks.without_positions, blocks.nope.certainty) == (NO, "decided")  # ((aa)|b)*, the published list
    ends = lw.predict("crasp:ab_equals_ba")
    assert ends.without_positions == YES  # as many ab as ba: the first symbol is the last
    assert ends.nope.certainty in ("decided", "checked")
    assert lw.predict("crasp:mod2_balance").without_positions == OPEN
    interleaved = lw.predict(lw.crasp.library()["binary_majority_interleave3"])
    assert (interleaved.without_positions, interleaved.nope.certainty) == (NO, "decided")


def test_brackets_of_any_depth():
    found = lw.predict("D_7")
    assert (found.verdict, found.without_positions) == (YES, YES)
    deep = "a" * 7 + "b" * 7
    assert lw.crasp.run(found.program, [deep, f"a{deep}b"]).accepts.tolist() == [True, False]
    with pytest.raises(WrongInput):
        lw.predict("D_0")


@pytest.mark.parametrize(
    ("target", "said"),
    [("tomita8", "nearest: tomita"), ("regex:(ab", "closing"), (3, "a program"), ("copy-unik", "copy-unique")],
)
def test_wrong_input(target, said):
    with pytest.raises(WrongInput, match=re.escape(said)):
        lw.predict(target)


def test_a_program_that_says_nothing_and_one_that_shows_a_quantity():
    with pytest.raises(WrongInput, match="accepts or shows"):
        lw.predict(lw.crasp.parse("program p\nalphabet 'a'\nlet n := count('a')\n"))
    shown = lw.predict(lw.crasp.parse("program p\nalphabet 'a'\noutput n := count[back 1]('a')\n"))
    assert (shown.verdict, shown.without_positions) == (YES, OPEN)
    assert shown.bound.fields()["answer"] == "outside the theory"


def test_a_function_that_fails_is_named_with_the_word():
    def bad(word):
        if word == "aba":
            raise KeyError("aba")
        return True

    with pytest.raises(WrongInput, match="word 'aba'"):
        lw.predict(bad, alphabet="ab")
    with pytest.raises(WrongInput, match="None"):
        lw.predict(lambda word: None, alphabet="ab")
    with pytest.raises(WrongInput, match="alphabet"):
        lw.predict(lambda word: True)


def test_the_oracles_of_the_library_agree_with_the_functions_given():
    """The library's own definitions, asked as functions: what is regular and small is found again."""
    for name in ("tomita1", "aa_star", "second_last_is_a"):
        member = LANGUAGES[name][0]
        program = lw.crasp.library()[name]
        found = lw.predict(member, alphabet=program.alphabet, seconds=60)
        assert (found.verdict, found.certainty) == (YES, "checked")
        assert found.without_positions == lw.predict(program).without_positions
