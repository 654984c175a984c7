"""The exact logit margin against enumeration of all strings, and against the counterexamples to the printed one."""

import math
from fractions import Fraction

import numpy as np
import pytest

from helpers_quantities import TOK, enumerated_margin, random_one_layer, table_model
from lengthwise.errors import WrongInput
from lengthwise.limit.constructions import mod_p_task, simple_task
from lengthwise.limit.margins import naive_table_margin, slots_margin, table_margin, threshold
from lengthwise.limit.quantities import (
    HardmaxThreshold,
    LogitTable,
    hardmax_threshold,
    logit_margin,
    logit_margins,
    logit_tables,
    naive_logit_margin,
    slots,
)
from lengthwise.limit.tables import Slots

MODELS = [random_one_layer(np.random.default_rng(seed), mlp=False) for seed in range(80)]


@pytest.fixture(scope="module")
def enumerated():
    return [enumerated_margin(model) for model in MODELS]


def over_queries(model, change):
    """The margin computed from slots that were changed on purpose."""
    return min(
        slots_margin(change(table, token, residue))
        for table in logit_tables(model)
        for token in range(model.symbols)
        for residue in range(model.period)
    )


def free_own_token(table, token, residue):
    """Wrong on purpose: offset 0 may show any token."""
    good = slots(table, token, residue)
    if not good.suffix[0]:
        return good
    row = table.content[token * table.period + residue]
    first = tuple(row[s * table.period + residue] + table.phi[0] for s in range(table.symbols))
    return Slots(good.prefix, (first, *good.suffix[1:]), good.denominator, good.period)


def one_offset_less(table, token, residue):
    """Wrong on purpose: the last suffix offset is forgotten."""
    good = slots(table, token, residue)
    return Slots(good.prefix, good.suffix[:-1] or good.suffix, good.denominator, good.period)


def shifted_residues(table, token, residue):
    """Wrong on purpose: offset k looks at the residue of offset k + 1."""
    good = slots(table, token, residue)
    row, own = table.content[token * table.period + residue], table.period
    suffix = tuple(
        tuple(row[s * own + (residue - k - 1) % own] + table.phi[k] for s in ((token,) if k == 0 else range(2)))
        if options
        else ()
        for k, options in enumerate(good.suffix)
    )
    return Slots(good.prefix, suffix, good.denominator, own)


def test_the_margin_is_what_all_strings_show(enumerated):
    for model, seen in zip(MODELS, enumerated, strict=True):
        assert logit_margin(model) == seen
    assert sum(seen == math.inf for seen in enumerated) < 30
    assert {model.period for model in MODELS} == {1, 2}
    assert {model.locality for model in MODELS} == {0, 1, 2}


@pytest.mark.parametrize("wrong", [free_own_token, one_offset_less, shifted_residues])
def test_enumeration_notices_wrong_slots(wrong, enumerated):
    assert any(over_queries(model, wrong) != seen for model, seen in zip(MODELS, enumerated, strict=True))


def test_the_margin_of_several_models_is_the_least_and_heads_can_be_skipped():
    f, g = MODELS[3], MODELS[4]
    assert logit_margin(f, g) == min(logit_margin(f), logit_margin(g))
    heads = logit_margins(f)
    assert logit_margin(f, skip={(0, index) for index in range(1, len(heads))}) == heads[0]
    assert logit_margin(f, skip={(0, index) for index in range(len(heads))}) == math.inf


def test_a_larger_period_and_locality_change_no_margin():
    for model in MODELS[:40]:
        for table in logit_tables(model):
            lifted = min(
                slots_margin(slots(table, token, residue, 3 * model.period, table.locality + 2))
                for token in range(2)
                for residue in range(3 * model.period)
            )
            assert lifted == table_margin(table)


def rows(*logits, queries):
    return [list(logits)] * queries


# (content[query][key], phi, period, gamma#): section 12 of the one-layer note, items 1, 2, 3, 5 and 8
COUNTEREXAMPLES = {
    "margin as printed": (rows(0, 0, queries=2), (Fraction(1, 100),), 1, Fraction(1, 100)),
    "z too short": (rows(1, 0, queries=2), (0, 0), 1, 1),
    "types are not tokens": (
        rows(1, Fraction(3, 2), 1, Fraction(3, 2), 0, Fraction(1, 2), queries=6),
        (0,),
        2,
        Fraction(1, 2),
    ),
    "no suffix": (rows(0, 0, queries=2), (0,), 1, math.inf),
    "gap of z": (rows(10, 0, Fraction(-1, 10), queries=3), (0,), 1, Fraction(1, 10)),
}


@pytest.mark.parametrize("name", COUNTEREXAMPLES)
def test_counterexamples(name):
    content, phi, period, margin = COUNTEREXAMPLES[name]
    assert table_margin(LogitTable.of_fractions(content, phi, period)) == margin


def test_the_printed_margin_is_infinite_where_the_true_one_is_a_hundredth():
    table = LogitTable.of_fractions(rows(0, 0, queries=2), [Fraction(1, 100)])
    assert naive_table_margin(table) == math.inf
    assert threshold(8, table_margin(table)).length == 2**800
    model = table_model([0, 0], [1, 0], phi=[0.01], bits=8)
    assert naive_logit_margin(model) == math.inf
    assert logit_margin(model) == Fraction(0.01) != Fraction(1, 100)
    found = hardmax_threshold(model)
    assert found.log2_length == 8 / Fraction(0.01)
    assert found.length.bit_length() in (800, 801)


def test_the_printed_margin_can_also_be_too_small():
    table = LogitTable.of_fractions([[5, 5], [5, 5]], [0, Fraction(-3), Fraction(-4)])
    assert naive_table_margin(table) == 1  # between 2 and 1, which never compete with 5 for the maximum
    assert table_margin(table) == 3


def test_residue_shift_has_margin_one():
    assert logit_margin(mod_p_task(2, 0)) == 1


@pytest.mark.parametrize("omega", [1.0, 2.0, 4.0, 0.1])
def test_simple_task_has_margin_one_and_becomes_hardmax_at_16(omega):
    model = simple_task(omega, bits=4)
    assert logit_margin(model) == 1
    assert hardmax_threshold(model).length == 16


@pytest.mark.parametrize("period", [2, 3, 5])
def test_mod_p_task_has_margin_one(period):
    for residue in range(period):
        assert logit_margin(mod_p_task(period, residue)) == 1


def test_uniform_attention_has_no_margin_to_lose():
    model = table_model([1, 1, 1], [1, -1, 0], bits=4)
    assert logit_margin(model) == math.inf
    assert hardmax_threshold(model).length == 1
    assert hardmax_threshold(model).log2_length == 0


def test_a_masked_offset_is_never_attended_and_never_second():
    masked = LogitTable.of_fractions(rows(0, 0, queries=2), [0, None])
    assert table_margin(masked) == math.inf
    assert slots(masked, 0, 0).suffix == ((0,), ())


def test_thresholds_are_exact_where_they_fit_and_logarithms_always():
    assert threshold(3, Fraction(2)).length == 3  # 2^1.5 = 2.83
    assert threshold(8, Fraction(1, 1000)) == HardmaxThreshold(None, Fraction(8000))


def test_a_margin_of_thousands_of_float_logits_is_quick_and_right():
    rng = np.random.default_rng(5)
    model = random_one_layer(rng, period=50, locality=1, heads=1, mlp=False, masks=False)
    table = logit_tables(model)[0]
    direct = []
    for query in range(100):
        found = slots(table, *divmod(query, 50))
        pairs = [(value, -1) for value in found.prefix]
        pairs += [(value, offset) for offset, slot in enumerate(found.suffix) for value in slot]
        high = [pair for pair in pairs if pair[0] >= found.floor]
        gaps = [u - v for u, a in high for v, b in pairs if v < u and (a == -1 or a != b)]
        direct.append(min(gaps, default=math.inf))
    assert table_margin(table) == Fraction(min(direct), table.denominator)


def test_wrong_models_are_told():
    with pytest.raises(WrongInput, match="position margin"):
        logit_margin(TOK)
    with pytest.raises(WrongInput, match="without rounding"):
        hardmax_threshold(simple_task(1.0))
    with pytest.raises(WrongInput, match="multiple"):
        slots(logit_tables(mod_p_task(3, 0))[0], 0, 0, period=4)
