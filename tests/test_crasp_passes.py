"""Each optimisation keeps the function and makes models smaller; each part of the construction is needed."""

from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest

from cases import LIBRARY, all_words, interpreted, program, right, with_begin
from lengthwise.crasp import build, translate, units
from lengthwise.crasp.compiled import ALL, NONE, Passes, compile
from lengthwise.limit.model import LimitTransformer
from limit_executor import execute

NAMES = [one.name for one in fields(Passes)]
PUBLISHED = {  # layers, heads, width of the construction as the notes measured it, without optimisations
    "tomita1": (2, 1, 9), "tomita2": (4, 1, 16), "tomita4": (5, 4, 18), "tomita7": (8, 1, 18), "D_2": (4, 1, 16),
    "D_3": (4, 1, 16), "D_4": (4, 1, 16), "D_12": (4, 1, 16), "aa_star": (2, 1, 12), "aaaa_star": (2, 1, 14),
    "abab_star": (5, 1, 19), "blocks5": (6, 1, 36), "ab_d_bc": (4, 1, 21), "majority": (1, 1, 8), "dyck1": (3, 1, 14),
    "anbn": (4, 1, 15), "anbncn": (6, 1, 24), "anbncndn": (6, 1, 32), "shuffle_dyck2": (4, 1, 22),
    "prefix_bool3": (3, 1, 16), "linear_ineq": (1, 1, 8), "exactly3a": (2, 1, 9), "subseq_abc": (5, 1, 14),
    "first_is_a": (4, 1, 13), "last_is_a": (0, 0, 4), "second_last_is_a": (3, 1, 9), "contains_ab": (4, 2, 13),
    "slt_mix": (6, 4, 28), "two_back_copy": (6, 2, 20), "ab_or_ba_star": (4, 1, 16), "three_blocks": (8, 1, 25),
    "interleave3_all_ones": (4, 1, 27), "cond_weight": (5, 1, 16), "a_star_b_star": (4, 1, 12),
    "len_mod3_eq1": (1, 0, 8), "same_first_last": (5, 1, 19), "binary_majority": (2, 1, 16), "majority4": (2, 1, 32),
    "binary_majority_interleave3": (5, 1, 52), "sort5": (6, 1, 58), "copy_unique5": (6, 2, 162),
}  # fmt: skip
SMALL = [case for case in LIBRARY if len(program(case).alphabet) <= 3]


@pytest.mark.parametrize("name", [*NAMES, "none"])
def test_leaving_out_an_optimisation_keeps_the_function(name):
    passes = NONE if name == "none" else replace(ALL, **{name: False})
    for case in [*SMALL[::5], *range(100, 108)]:
        one = program(case)
        model = compile(one, passes=passes).model
        for words in all_words(len(one.alphabet), 4):
            assert right(model, words, interpreted(one, words)), case


@pytest.mark.parametrize("name", NAMES)
def test_one_optimisation_alone_keeps_the_function(name):
    passes = replace(NONE, **{name: True})
    for case in [*SMALL[1::8], *range(112, 118)]:
        one = program(case)
        model = compile(one, passes=passes).model
        for words in all_words(len(one.alphabet), 4):
            assert right(model, words, interpreted(one, words)), case


def size(case, passes):
    compiled = compile(program(case), passes=passes)
    return np.array([compiled.model.depth, compiled.heads, compiled.model.width, compiled.units])


@pytest.mark.parametrize("name", NAMES)
def test_every_optimisation_makes_some_model_smaller(name):
    assert any(
        (size(case, ALL) < size(case, replace(ALL, **{name: False}))).any()
        for case in ["D_2", "tomita7", "blocks5", "aa_star", "slt_mix", 103, 57]
    )


@pytest.mark.parametrize("case", PUBLISHED)
def test_at_most_as_large_as_the_construction_without_optimisations(case):
    layers, heads, width = PUBLISHED[case]
    depth, ours, wide, _ = size(case, ALL)
    assert depth <= max(layers, 1)  # a model has at least one layer
    assert ours <= heads
    assert wide <= width


@pytest.mark.parametrize("case", LIBRARY)
def test_the_table_of_the_page_is_up_to_date(case):
    page = (Path(__file__).parent.parent / "docs" / "compile.md").read_text(encoding="utf-8")
    (row,) = [line for line in page.splitlines() if line.startswith(f"| {case} |")]
    _, _, _, without, optimised, exact, _, _ = (cell.strip() for cell in row.split("|"))
    assert optimised == " · ".join(map(str, size(case, ALL)))
    if case in LIBRARY[::4]:
        assert without == ("too large" if case == "majority26" else " · ".join(map(str, size(case, NONE))))
    length = compile(program(case)).ledger.length(24)
    assert exact == ("every" if length is None else str(length))


# --- ablations: what the proofs use is used --------------------------------------------------------------------------------


def mistakes(cases, longest):
    """Wrong outputs over all words up to a length, of the models as they are compiled now."""
    found = 0
    for case in cases:
        one = program(case)
        model = compile(one).model
        for words in all_words(len(one.alphabet), longest):
            found += int(np.sum((execute(model, with_begin(words)) > 0) != interpreted(one, words)))
    return found


def test_without_the_margin_of_one_half_ties_are_lost(monkeypatch):
    assert mistakes(["majority", "D_2"], 7) == 0
    original = units.mean_row
    monkeypatch.setattr(units, "mean_row", lambda begin, subject, cut: original(begin, subject, cut, margin=0))
    monkeypatch.setattr(build, "mean_row", units.mean_row)
    assert mistakes(["majority", "D_2"], 7) > 100


def test_without_the_correction_at_the_begin_symbol_it_is_counted(monkeypatch):
    cases = ["first_is_a", "a_star_b_star", *range(12)]
    assert mistakes(cases, 4) == 0
    monkeypatch.setattr(units, "begin_correction", lambda terms: 0)
    assert mistakes(cases, 4) > 10


def sharpened(model, value):
    """The same model with another K in the heads that look back."""

    def head(old):
        factor = value / max(old.phi) if len(old.phi) else 1
        return replace(old, key=old.key * factor, phi=old.phi * factor)

    return replace(model, layers=tuple(replace(one, heads=tuple(map(head, one.heads))) for one in model.layers))


@pytest.mark.parametrize(("value", "wrong"), [(0.5, True), (1, True), (4, False), (12, False)])
def test_too_little_sharpness_blurs_what_is_looked_up(value, wrong):
    found = 0
    for case in ("contains_ab", "second_last_is_a", "third_last_is_a", "two_back_copy"):
        one = program(case)
        model = sharpened(compile(one).model, value)
        for words in all_words(len(one.alphabet), 6):
            found += int(np.sum((execute(model, with_begin(words)) > 0) != interpreted(one, words)))
    assert (found > 10) if wrong else (found == 0)


def without_sinks(model):
    """The same model with heads that look back but not at the begin symbol."""
    layers = tuple(
        replace(layer, heads=tuple(replace(head, key=np.zeros_like(head.key)) for head in layer.heads))
        for layer in model.layers
    )
    return replace(model, layers=layers)


def test_without_the_begin_symbol_as_a_sink_far_offsets_see_what_is_not_there():
    """At positions before the offset every key weighs the same, so the mean of what is there is taken for the truth."""
    for offset in (3, 4, 5):
        one = looking_back(offset)
        model = compile(one).model
        lost = 0
        for words in all_words(2, 8):
            wanted = interpreted(one, words)
            assert right(model, words, wanted)
            lost += int(np.sum((execute(without_sinks(model), with_begin(words)) > 0) != wanted))
        assert lost > 100


def looking_back(offset):
    from lengthwise.crasp.syntax import Count, Number, Program, Sym

    return Program("looking", ("a", "b"), (), Count(Sym("a"), (offset,)) >= Number(1))


def test_gates_must_be_zero_when_they_hold(monkeypatch):
    """A gate that is 1 where its condition holds shuts every comparison off."""
    original = build.fused_unit

    def shut(begin, positive, both, fused, gates, layer, name):
        cells = [gate for gate in gates if gate[1].kind in ("symbol", "residue")]
        turned = [
            ("not" if kind == "is" else "is", one, cut)
            for kind, one, cut in gates
            if one.kind not in ("symbol", "residue")
        ]
        return original(begin, positive, both, fused, [*cells, *turned], layer, name)

    assert mistakes([103, 57, 11, 12], 4) == 0
    monkeypatch.setattr(build, "fused_unit", shut)
    assert mistakes(range(12), 3) > 0


def test_a_residue_off_by_one_is_noticed():
    one = program("aaaa_star")
    model = compile(one).model
    shifted = replace(model, positions=np.roll(model.positions, 1, axis=0))
    assert isinstance(shifted, LimitTransformer)
    assert not all(right(shifted, words, interpreted(one, words)) for words in all_words(2, 4))


def test_splitting_needs_a_comparison_with_zero(monkeypatch):
    """count(P or Q) >= 2 is not count(P) + count(Q) >= 2: the pass must not be made for other bounds."""
    from lengthwise.crasp.parse import parse

    text = "program p alphabet 'a' 'b' accept count(('a' and count('b') >= 1) or ('a' and count('a') >= 2)) >= {}"
    for bound in (1, 2, 3):
        one = parse(text.format(bound))
        for words in all_words(2, 6):
            assert right(compile(one).model, words, interpreted(one, words))
    monkeypatch.setattr(
        translate, "int", lambda *_: 2, raising=False
    )  # the bound at which the pass believes itself safe
    one = parse(text.format(2))
    assert not all(right(compile(one).model, words, interpreted(one, words)) for words in all_words(2, 6))
