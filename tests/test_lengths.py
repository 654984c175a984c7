"""How long words must be to tell programs apart: test vectors, tight families, and what halved bounds would miss."""

import pytest

import lengthwise as lw
from crasp_definition import accepts
from helpers_lengths import DISAGREEMENTS, VECTORS, all_words, disagreements, program, vector
from lengthwise.crasp.automata import Automaton, automaton
from lengthwise.crasp.interpret import run
from lengthwise.crasp.library import library
from lengthwise.crasp.parse import parse
from lengthwise.verdict import bounds, families
from lengthwise.verdict.compare import compare
from lengthwise.verdict.equality import search, search_pair, shortest_between
from lengthwise.verdict.explored import explored
from lengthwise.verdict.flows import shortest_disagreement
from lengthwise.verdict.fragments import pair_fragment
from lengthwise.verdict.lengths import Bound, NoComputableBound, OutsideTheory, training_length
from lengthwise.verdict.machine import AutomatonMachine, ProgramMachine
from lengthwise.verdict.pair import constant, pair
from lengthwise.verdict.vectors import agree_up_to


@pytest.mark.parametrize("name", VECTORS)
def test_a_vector(name):
    *_, fragment, length, bound = VECTORS[name]
    first, second = vector(name)
    about = pair_fragment(pair(first, second))
    assert (about.fragment, about.bound) == (fragment, bound)
    found = compare(first, second)
    assert (found.equal, found.length, found.exactness) == (length is None, length, "proved")
    if length is not None:
        assert accepts(first, found.word) != accepts(second, found.word)


@pytest.mark.parametrize("name", [name for name, row in VECTORS.items() if row[3] == "linear-top"])
def test_integer_programs_give_the_length_of_a_vector(name):
    first, second = vector(name)
    both = pair(first, second)
    solved = shortest_disagreement(pair_fragment(both).guards)
    assert solved.length == VECTORS[name][4]
    if solved.word is not None:
        word = [both.alphabet[symbol] for symbol in solved.word]
        assert accepts(first, word) != accepts(second, word)


@pytest.mark.parametrize("name", VECTORS)
def test_brute_force_gives_the_length_of_a_vector(name):
    length = VECTORS[name][4]
    first, second = vector(name)
    for shorter in range(min(11 if len(first.alphabet) < 3 else 8, 11 if length is None else length)):
        assert disagreements(first, second, shorter) == 0
    if name in DISAGREEMENTS:
        assert disagreements(first, second, length) == DISAGREEMENTS[name]


def test_a_cut_off_loop_is_no_word():
    """V8: the flow that uses the loop of b beside a word of a alone needs the connectivity branch."""
    first, second = vector("V8")
    found = compare(first, second)
    assert found.word == "ba"


@pytest.mark.parametrize("markers", range(1, 9))
def test_the_doubling_family(markers):
    found, length = families.doubling(markers)
    assert length == 2**markers + markers - 1
    answer = compare(found, constant(found, False))
    assert (answer.length, answer.about.fragment, answer.about.bound) == (length, "rest", None)
    if markers == 4:
        assert answer.word == "axbbyaaaaxbbbbbbbby"  # V19
        assert accepts(found, answer.word)


@pytest.mark.parametrize(("factor", "lengths"), [(3, [2, 6, 16, 44, 126]), (4, [2, 7, 24, 89])])
def test_the_doubling_family_with_larger_factors(factor, lengths):
    for markers, length in enumerate(lengths, start=1):
        found, closed = families.doubling(markers, factor)
        assert compare(found, constant(found, False)).length == length == closed


@pytest.mark.slow
def test_a_constant_of_ten_needs_a_word_of_1033():
    found, length = families.doubling(10)
    assert compare(found, constant(found, False)).length == length == 1033


PELL = {3: (2, 1, 16), 8: (3, 1, 28), 2: (3, 2, 36), 6: (5, 2, 72), 7: (8, 3, 168), 5: (9, 4, 220)}


@pytest.mark.parametrize("factor", [3, 8, 2, 6, 7, 5])
def test_the_pell_family(factor):
    x, y, length = PELL[factor]
    found, closed = families.pell(factor)
    assert closed == length
    assert families.least_solution(factor) == (x, y)
    answer = compare(found, constant(found, False))
    assert (answer.length, answer.equal, answer.exactness) == (length, False, "proved")
    if factor == 3:
        assert answer.word == "ambnaaambbbncpeq"  # V20
        assert accepts(found, answer.word)


@pytest.mark.parametrize(
    ("factor", "x", "y"),
    [(13, 649, 180), (29, 9801, 1820), (46, 24335, 3588), (53, 66249, 9100), (61, 1766319049, 226153980)],
)
def test_pell_lengths_beyond_any_search(factor, x, y):
    assert families.least_solution(factor) == (x, y)
    assert x * x - factor * y * y == 1


def test_a_square_gives_no_word():
    found, length = families.pell(4)
    assert length is None
    answer = compare(found, constant(found, False), most_states=2_000)
    assert (answer.equal, answer.exactness, answer.word) == (None, "searched", None)
    assert answer.agrees_up_to >= 16


def test_a_pell_program_without_its_last_clause_fakes_the_square():
    whole, _ = families.pell(3)
    mutant = parse(
        str(whole).replace(" or not count('a') == count('b')", "").replace(" or count('a') != count('b')", "")
    )
    assert str(mutant) != str(whole)
    assert compare(mutant, constant(mutant, False)).length == 8


@pytest.mark.parametrize("coefficient", [2, 3, 5, 8])
def test_the_cone_family(coefficient):
    _check_cone(coefficient)


@pytest.mark.slow
@pytest.mark.parametrize("coefficient", [4, 6, 7, 9, 10])
def test_the_cone_family_further(coefficient):
    _check_cone(coefficient)


def _check_cone(coefficient):
    found, length = families.cone(coefficient)
    answer = compare(found, constant(found, False))
    assert (answer.length, answer.exactness, answer.about.fragment) == (length, "proved", "linear-top")
    assert answer.about.bound == 4 * coefficient**2 + 4 * coefficient


@pytest.mark.parametrize(("coefficient", "letters", "length"), [(2, 2, 6), (2, 3, 14), (3, 3, 39)])
def test_the_chain_family(coefficient, letters, length):
    found, closed = families.chain(coefficient, letters)
    answer = compare(found, constant(found, False))
    assert (answer.length, closed, answer.exactness) == (length, length, "proved")
    assert answer.length <= answer.about.bound


@pytest.mark.parametrize(
    ("coefficient", "letters", "length", "exactness"),
    [(5, 3, 155, "proved"), (2, 5, 62, "proved"), (3, 4, 120, "proved"), (10, 4, 11110, "solver")],
)
def test_long_chains_by_integer_programs(coefficient, letters, length, exactness):
    """That none is shorter is proved by all count vectors, as long as these are not too many."""
    found, closed = families.chain(coefficient, letters)
    answer = compare(found, constant(found, False), most_states=2_000)
    assert (answer.length, closed, answer.exactness) == (length, length, exactness)
    assert accepts_counts(found, answer.word)
    assert answer.length <= answer.about.bound


@pytest.mark.parametrize("name", ["V3", "V5", "V6", "V18"])
def test_count_vectors_agree_below_the_length_and_not_at_it(name):
    first, second = vector(name)
    guards = pair_fragment(pair(first, second)).guards
    length = VECTORS[name][4]
    assert agree_up_to(guards, length - 1)
    assert not agree_up_to(guards, length)


def test_count_vectors_know_the_last_symbol():
    first = program("ab", "count('a') >= 2 * count('b') + 3 and 'b'")
    second = program("ab", "count('a') > count('a') + count('b') or count('a') >= 2 * count('b') + 4 and 'b'", "q")
    guards = pair_fragment(pair(first, second)).guards
    assert guards.tests_last_letter
    assert agree_up_to(guards, 5)
    assert not agree_up_to(guards, 6)
    assert compare(first, second).length == 6 == shortest_disagreement(guards).length


def accepts_counts(found, word):
    """Whether the chain's inequalities hold, by counting letters."""
    counts = [word.count(letter) for letter in found.alphabet]
    return bool(run(found, [word]).accepts[0]) and sorted(counts) == counts


@pytest.mark.parametrize(("coefficient", "constant_"), [(2, 0), (3, 9), (5, 25), (4, 200)])
def test_the_constant_family(coefficient, constant_):
    low, high, length = families.constant_pair(coefficient, constant_)
    answer = compare(low, high)
    assert answer.length == length == constant_ + coefficient + 1


SIZES = [(2, 2), (3, 3), (4, 6), (5, 9), (7, 7), (10, 16)]


@pytest.mark.parametrize(("states", "period"), SIZES)
def test_the_one_letter_family_attains_the_bound_of_automata(states, period):
    first, second, length = families.one_letter(states, period)
    assert compare(first, second).length == length == bounds.automata(states, period)
    lines = automaton("a" * (states - 2), "a") if states > 2 else _only_the_empty_word()
    cycle = _residue(period, (states - 2) % period)
    assert (lines.states, cycle.states) == (states, period)
    word = shortest_between(lines, cycle)
    assert len(word) == length
    assert bounds.automata(states, period) // 2 < length


def _only_the_empty_word():
    return Automaton(("a",), ((1,), (1,)), 0, frozenset({0}))


def _residue(period, residue):
    return Automaton(("a",), tuple(((state + 1) % period,) for state in range(period)), 0, frozenset({residue}))


def test_automata_against_searches_of_pairs():
    expressions = ["(ab)*", "a*b*", "(a|b)*abb", "(aa|b)*", "a(a|b)*a", "(ab|ba)*", "(a|b)*", "b*(ab*ab*)*"]
    machines = [automaton(expression, "ab") for expression in expressions]
    for first in machines:
        for second in machines:
            word = shortest_between(first, second)
            found = search(AutomatonMachine(first), AutomatonMachine(second))
            assert found.decided
            assert (word is None) == found.equal == (first == second)
            if word is not None:
                assert len(word) == len(found.word) <= bounds.automata(first.states, second.states)
                text = first.text(word)
                assert first.accepts(text) != second.accepts(text)
                assert all(
                    first.accepts(first.text(row)) == second.accepts(first.text(row))
                    for length in range(len(word))
                    for row in all_words(2, length).tolist()
                )


def test_automata_over_symbols_in_another_order():
    first = automaton("ab", "ab")
    table = tuple((row[1], row[0]) for row in first.table)
    assert shortest_between(first, Automaton(("b", "a"), table, first.start, first.accepting)) is None
    with pytest.raises(lw.WrongInput, match="one alphabet"):
        shortest_between(first, automaton("abc", "abc"))


def test_a_program_is_proved_equal_to_its_automaton():
    tomita4 = library()["tomita4"]
    symbols = tomita4.alphabet
    assert symbols == ("0", "1")
    regular = automaton("(1|01|001)*(0?0?)", "01")
    found = search(ProgramMachine(tomita4), AutomatonMachine(regular))
    assert found.equal


MINIMAL = {"tomita1": 2, "tomita4": 4, "tomita7": 5, "aa_star": 3, "aaaa_star": 5, "abab_star": 5, "blocks5": 7}
MINIMAL |= {"ab_d_bc": 3, "contains_ab": 3, "subseq_abc": 4, "first_is_a": 3, "last_is_a": 2, "second_last_is_a": 4}
MINIMAL |= {
    "len_mod3_eq1": 3,
    "exactly3a": 5,
    "same_first_last": 5,
    "slt_mix": 5,
    "three_blocks": 5,
    "two_back_copy": 8,
}
MINIMAL |= {"a_star_b_star": 3}


@pytest.mark.parametrize("name", MINIMAL)
def test_the_minimal_automaton_of_a_positive_program(name):
    found = explored(ProgramMachine(library()[name]))
    assert found.states == MINIMAL[name]
    assert training_length(found).training_length == 2 * MINIMAL[name] - 2
    for length in range(6 if len(found.alphabet) > 3 else 8):
        words = all_words(len(found.alphabet), length).tolist()
        said = run(library()[name], [[found.alphabet[symbol] for symbol in word] for word in words]).accepts
        assert [found.accepts(found.text(word)) for word in words] == said.tolist()


def test_a_function_of_too_many_states_has_no_automaton():
    assert explored(ProgramMachine(library()["majority"]), most_states=100) is None


def test_a_budget_leaves_the_question_open():
    first, second = vector("V6")
    found = search(ProgramMachine(first), ProgramMachine(second), most_states=50)
    assert not found.decided
    assert found.agrees < 24
    found = search_pair(pair(first, second), most_states=50)
    assert not found.decided
    assert found.agrees < 24


def test_a_program_beside_itself_is_equal_at_once():
    for name in ["dyck1", "majority", "tomita4", "shuffle_dyck2", "pell_3"]:
        assert compare(library()[name], library()[name]).equal, name


# Tight families: a bound of half the size would be refuted by them.


@pytest.mark.parametrize("threshold", [3, 10, 40])
def test_the_positive_bound_is_attained(threshold):
    found = program("ab", f"'a' and count('b') >= {threshold}")
    answer = compare(found, constant(found, False))
    assert answer.length == answer.about.bound == threshold + 1 == bounds.positive(1, threshold)
    assert bounds.positive(1, threshold) // 2 < answer.length
    periodic = program("ab", f"count('a' and pos % 5 in {{0}}) >= {threshold}")
    answer = compare(periodic, constant(periodic, False))
    assert answer.about.bound // 2 < answer.length == 5 * threshold <= answer.about.bound == 5 * (threshold + 1)


@pytest.mark.parametrize("coefficient", [5, 8])
def test_half_the_plain_linear_bound_is_refuted_by_the_cone(coefficient):
    found, length = families.cone(coefficient)
    bound = pair_fragment(pair(found, constant(found, False))).bound
    assert bound // 2 < length <= bound


@pytest.mark.parametrize("period", [2, 3])
def test_half_the_general_linear_bound_is_refuted_by_a_cycle(period):
    """V C is met: one edge of a cycle of V states adds to the form."""
    guard = f"pos % {period} in {{0}}"
    found = program("ab", f"count('a' and {guard}) >= count('b' and {guard}) + 300")
    answer = compare(found, constant(found, False))
    assert answer.about.terms["states"] == period
    assert answer.about.bound // 2 < answer.length == 300 * period <= answer.about.bound


@pytest.mark.parametrize("height", [80, pytest.param(200, marks=pytest.mark.slow)])
def test_half_the_bound_of_one_difference_is_refuted_by_a_zigzag(height):
    """The difference must be high, then low, then high ...: Theta + 1 times nearly 2 K symbols."""
    lets = ["let h := count('a') - count('b')", f"let p1 := count(h >= {height}) >= 1"]
    for phase in range(2, 7):
        side = f">= {height}" if phase % 2 else f"<= -{height}"
        lets.append(f"let p{phase} := count(p{phase - 1} and h {side}) >= 1")
    found = program("ab", "\n".join([*lets, "accept p6"]))
    answer = compare(found, constant(found, False))
    assert answer.about.fragment == "one-difference"
    assert answer.about.bound // 2 < answer.length == 11 * height <= answer.about.bound


def test_a_ceiling_below_the_difference_would_miss_the_word():
    first, second = library()["D_3"], library()["D_4"]
    both = pair(first, second)
    about = pair_fragment(both)
    (form,) = about.highest
    assert len(search_pair(both, highest={form: 4}).word) == 8
    assert search_pair(both, highest={form: 3}).equal  # wrong: the two differ where the difference is 4


@pytest.mark.parametrize(("first", "second", "length", "bound"), [(2, 3, 6, 75), (3, 4, 8, 81), (4, 12, 10, 129)])
def test_nested_brackets_of_different_depth(first, second, length, bound):
    answer = compare(library()[f"D_{first}"], library()[f"D_{second}"])
    assert (answer.length, answer.about.bound, answer.exactness) == (length, bound, "proved")


def test_different_differences_are_open_as_a_pair():
    first = program("ab", "count(count('a') > count('b')) == 0")
    second = program("ab", "count(count('a') > 2 * count('b')) == 0", "q")
    assert pair_fragment(pair(first, first)).fragment == "one-difference"
    about = pair_fragment(pair(first, second))
    assert (about.fragment, about.bound) == ("rest", None)
    assert about.culprit.comparison in ("count('a') > count('b')", "count('a') > 2 * count('b')")


def test_terms_are_collected_before_the_fragment_is_read():
    found = program("ab", "count('a') + count('b') >= count('b') + 2")
    assert pair_fragment(pair(found, constant(found, True))).fragment == "positive"


# Training lengths, with the class they are about.


def test_a_regular_target():
    answer = training_length(automaton("(a|b)*abb", "ab"))
    assert isinstance(answer, Bound)
    assert (answer.training_length, answer.kind, answer.exactness) == (6, "regular", "attained")
    assert "at most 4 states" in answer.members
    assert "Theorem 2" in answer.source


def test_one_inequality():
    answer = training_length(program("ab", "count('a') > count('b')"))
    assert (answer.training_length, answer.kind, answer.source) == (12, "linear-top", "Theorem 3")
    assert "one linear inequality in the counts of 2 letters, coefficients up to 1, constants up to 1" in answer.members


def test_thresholds():
    answer = training_length(library()["tomita7"])
    assert (answer.training_length, answer.kind, answer.source) == (9, "positive", "Theorem 5")
    assert answer.lower <= answer.training_length


def test_one_difference():
    answer = training_length(library()["dyck1"])
    assert (answer.kind, answer.source) == ("one-difference", "Theorem 6")
    assert answer.training_length == bounds.one_difference(1, 2, 1, 1) == 57


def test_no_computable_bound_names_its_culprit_and_line():
    text = library().source("shuffle_dyck2")
    answer = training_length(library()["shuffle_dyck2"], text)
    assert isinstance(answer, NoComputableBound)
    assert (answer.culprit, answer.definition) == ("h1 < 0", "accept")
    assert text.splitlines()[answer.line - 1].startswith("accept")
    assert answer.culprit in str(answer)
    assert "Yang" in str(answer)
    doubling, _ = families.doubling(4)
    assert training_length(doubling).lower == 19


def test_what_is_outside():
    assert isinstance(training_length(lambda word: True), OutsideTheory)
    only_numbers = parse("program p\nalphabet 'a'\noutput n := count('a')\n")
    assert isinstance(training_length(only_numbers), OutsideTheory)


@pytest.mark.parametrize("name", sorted(set(library()) - {"majority26"}))
def test_a_bound_is_at_least_what_the_class_certainly_needs(name):
    answer = training_length(library()[name])
    if isinstance(answer, Bound) and answer.lower is not None:
        assert answer.lower <= answer.training_length
