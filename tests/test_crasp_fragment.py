"""What a program needs, by its syntax; and tables of one word."""

import pytest

import crasp_definition as definition
from lengthwise.crasp.explain import explain
from lengthwise.crasp.fragment import fragment
from lengthwise.crasp.library import library
from lengthwise.crasp.parse import parse
from lengthwise.crasp.syntax import Boolean, nodes
from random_programs import random_program

POSITIVE = (
    "tomita1 tomita4 tomita7 aa_star aaaa_star abab_star blocks5 ab_d_bc contains_ab subseq_abc first_is_a last_is_a"
)
POSITIVE += " second_last_is_a len_mod3_eq1 exactly3a same_first_last slt_mix three_blocks two_back_copy a_star_b_star"
LINEAR_TOP = "majority anbn anbncn anbncndn linear_ineq interleave3_all_ones cond_weight"
ONE_DIFFERENCE = "dyck1 D_2 D_3 D_4 D_12 tomita2 ab_or_ba_star prefix_bool3 even_a_blocks"
NOTED = {
    "positive": POSITIVE,
    "linear-top": LINEAR_TOP,
    "one-difference": ONE_DIFFERENCE,
    "rest": "shuffle_dyck2 dyck_2_2",
}


def of(accept, lets=""):
    return fragment(parse(f"program p\nalphabet 'a' 'b' 'c'\n{lets}accept {accept}\n"))


def test_the_library_falls_into_the_fragments_of_the_note():
    """20 positive, 7 linear-top, 9 one-difference, 2 beyond (length-complexity note, section 0)."""
    assert [len(names.split()) for names in NOTED.values()] == [20, 7, 9, 2]
    for name, programs in NOTED.items():
        assert {program: fragment(library()[program]).fragment for program in programs.split()} == dict.fromkeys(
            programs.split(), name
        )


@pytest.mark.parametrize(
    ("accept", "name"),
    [
        ("count('a') + count('b') >= count('b') + 2", "positive"),  # terms are collected first
        ("not count(count('a') <= 3) >= 2", "positive"),
        ("count('a' and count('b') >= 1) > count('a')", "linear-top"),
        ("(if count('a') > count('b') then 1 else 2) >= count('c')", "linear-top"),
        ("count(count('a') > count('b')) >= 1 and 2 * count('b') >= 2 * count('a') + 7", "one-difference"),
        ("count(count('a') > count('b')) >= 1 and count('b') >= 2 * count('a')", "rest"),
        ("count[back 0](count('a') > count('b')) == 1 and count('c') > count('a')", "rest"),
        ("count[back 1]('a') > count[back 2]('b')", "positive"),  # windows take few values
        ("count(count('a') - count('b') + count[back 1]('a') >= 0) >= 2", "one-difference"),
        ("'a'", "positive"),
    ],
)
def test_fragments(accept, name):
    found = of(accept)
    assert found.fragment == name
    assert (found.culprit is None) == (name != "rest")


def test_the_culprit_is_the_first_difference_inside_a_count():
    lets = "let g := count('a') > count('b')\nlet bad := 'c' and count('b') - count('c') == 2\n"
    found = of("g and count(bad) == 0", lets)
    assert (found.culprit, found.culprit_in) == ("count('b') - count('c') == 2", "bad")


@pytest.mark.parametrize(
    ("accept", "wanted"),
    [
        ("'a'", ("plain", 1, (), 0, True, 0)),
        ("count('a') >= 1", ("plain", 1, (), 1, True, 1)),
        ("count(pos % 4 in {1}) >= 1 and pos % 6 in {0}", ("periodic", 12, (), 1, True, 1)),
        ("count[back 0, 7]('a') >= 1", ("local", 1, (0, 7), 1, True, 2)),
        ("count(count[back 2](pos % 2 in {0}) == 1) >= 1", ("periodic, local", 2, (2,), 2, True, 2)),
        ("count[back 2](count('a') >= 3) == 1", ("local", 1, (2,), 2, False, 2)),
    ],
)
def test_needs(accept, wanted):
    found = of(accept)
    assert (found.kind, found.period, found.offsets, found.depth, found.one_layer, found.heads) == wanted


def test_constants_and_size():
    found = of("3 * count('a') >= 2 * count('b') + 7")
    assert (found.largest_coefficient, found.largest_constant, found.size) == (3, 7, 9)
    assert str(found) == "plain (counts nested 1 deep; linear-top)"


@pytest.mark.parametrize(
    ("lets", "accept", "warnings"),
    [
        ("let h := count('a')\n", "'a'", ["h is never used"]),
        ("let g := count('a') >= 0\n", "g or 'a'", ["g is always true", "accept is always true"]),
        ("", "'a' and 'b' and not 'a'", ["accept is always false"]),
        ("", "count('a') >= 2", []),
    ],
)
def test_warnings(lets, accept, warnings):
    assert list(of(accept, lets).warnings) == warnings


def test_a_program_that_answers_nothing():
    assert "nothing can be asked" in fragment(parse("program p\nalphabet 'a'\n")).warnings[0]


def test_rows_are_what_the_definition_says():
    """Random programs on a few words: every row at every position, and a reason exactly where the word is rejected."""
    for seed in range(10):
        program = random_program(seed, quantities=True)
        bodies = [one.body for one in program.definitions] + [program.accept]
        for word in ("", "a", "abbab"):
            found = explain(program, word)
            trees = {repr(tree): tree for body in bodies for tree in nodes(body)}
            for row in found.rows:
                tree = trees[row.expression]
                assert list(row.values) == [definition.value(program, tree, word, i) for i in found.positions]
                assert isinstance(row.values[0], bool) == isinstance(tree, Boolean)
            assert found.accepts == definition.accepts(program, word)
            assert bool(found.why) == (not found.accepts)
            assert found.rows[-1].failing == (not found.accepts)


def test_reasons_name_what_is_false_and_where_it_was_counted():
    program = library()["dyck1"]
    assert explain(program, "(()").why == ("h == 0 is false, as h is 1",)
    assert explain(program, ")(").why == ("count(h < 0) == 0 is false, as count(h < 0) is 1 (position 1)",)
    assert explain(program, ")))").why[1] == "count(h < 0) == 0 is false, as count(h < 0) is 3 (positions 1, 2, 3)"
    assert explain(program, "()").why == ()
    either = parse("program p\nalphabet 'a' 'b'\nlet q := not 'b'\naccept ('a' or q) and count('a') >= 0\n")
    assert explain(either, "ab").why == ("'a' is false", "'b' is true")
    many = explain(program, "()" * 3 + ")" * 12)
    assert many.why[1].endswith("(positions 7, 8, 9, 10, 11, 12, 13, 14, ...)")


def test_a_part_of_a_table_and_its_page(tmp_path):
    found = explain(library()["majority4"], "a b S")
    assert found.accepts is None
    part = found.cut(2, 3)
    assert (part.word, list(part.positions)) == (("b", "S"), [2, 3])
    assert part.rows[0].values == found.rows[0].values[1:]
    part.to_html(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert page.count("<tr") == 2 + len(found.rows)
    assert explain(library()["majority4"], ["a", "b", "S"]) == found
