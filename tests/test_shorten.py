"""Stand-ins end to end: claimed errors against the definition on explicit strings, lengths against the theorems."""

import inspect
import json
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import lengthwise as lw
from helpers_quantities import random_one_layer, table_model
from lengthwise.check import check
from lengthwise.errors import WrongInput
from lengthwise.exact import Ball, certainly_at_most
from lengthwise.limit.constructions import mod_p_task, simple_task, tail_task
from lengthwise.limit.evaluate import evaluate
from lengthwise.limit.model import MLP
from lengthwise.theory.answer import Bound, NoBound
from lengthwise.theory.budgets import query_budget
from lengthwise.theory.build import Group, build_z, constant
from lengthwise.theory.errors import Reading, distance
from lengthwise.theory.realise import by_type
from lengthwise.theory.scaling import scale, window_size
from lengthwise.theory.shorten import shorten
from lengthwise.theory.shortening import LONGEST_SPELLED, Asked
from lengthwise.theory.stand_ins import hardmax_length, realised_groups
from lengthwise.type_counts import Counts

F = Fraction
RULES = [("log-length", 3), ("log-length", None), ("plain", None)]


def upper(error):
    return error.upper() if isinstance(error, Ball) else float(error)


def uniform(model):
    """The same read-out with attention to everything alike."""
    layer = model.layers[0]
    heads = tuple(replace(head, query=np.zeros_like(head.query), phi=np.zeros(0)) for head in layer.heads)
    return replace(model, layers=(replace(layer, heads=heads),))


def random_pair(rng, rule):
    """Two models of one vocabulary with periods and localities of their own; masks, ties, any smooth activation."""
    attention, bits = rule
    models = (random_one_layer(rng, symbols=3, attention=attention, period=int(rng.integers(1, 4))) for _ in range(2))
    return [replace(model, bits=bits) for model in models]


def random_counts(rng, period, locality, largest=60):
    """Counts of a string over three tokens of any length up to 10^largest: even, or with rare types."""
    size = 10 ** int(rng.integers(1, largest))
    rest = int(rng.integers(0, period))
    columns = []
    for residue in range(period):
        total = size + (1 <= residue <= rest)
        rare = [int(rng.integers(0, 4)), total // int(rng.integers(2, 10**6)), total // 3]
        first, second = (min(total // 2, rare[int(rng.integers(0, 3))]) for _ in range(2))
        shares = [first, second, total - first - second]
        columns.append([shares[place] for place in rng.permutation(3)])
    table = [[column[token] for column in columns] for token in range(3)]
    return Counts(rng.integers(0, 3, size=locality + 1).tolist(), table)


@pytest.mark.parametrize("rule", RULES, ids=str)
def test_claimed_errors_are_those_of_the_definition_on_explicit_strings(rule):
    rng = np.random.default_rng(1)
    shorter = 0
    for _ in range(24):
        f, g = random_pair(rng, rule)
        period, locality = math.lcm(f.period, g.period), max(f.locality, g.locality)
        string = rng.choice(3, p=rng.dirichlet([0.5] * 3), size=int(rng.integers(1, 1500)))
        slopes = [*lw.sensitivity(f), *lw.sensitivity(g)]
        if 0 < sum(slopes) <= F(1, 4):
            with pytest.raises(WrongInput, match="sum of all sensitivities"):
                shorten(f, g, string, 0.25)
            continue
        found = shorten(f, g, string, 0.25)
        short = lw.strings.encode(found.string, found.names)
        assert short.tolist() == found.tokens
        assert len(short) == found.length <= len(string)
        assert (len(string) - found.length) % period == 0
        assert short[-locality - 1 :].tolist() == string[-locality - 1 :].tolist()
        assert sum(map(upper, found.errors)) <= 0.25 + 1e-12
        for model, claimed in zip((f, g), found.errors, strict=True):
            measured = np.max(np.abs(evaluate(model, string, "dense") - evaluate(model, short, "dense")))
            assert float(claimed) == pytest.approx(measured, abs=1e-9)
        if isinstance(found.bound, Bound) and found.bound.training_length < len(string):
            assert found.length <= found.bound.training_length
        shorter += found.length < len(string)
    assert shorter > 12


def model_level_failures(rng, times):
    """How often the theorem's own construction, from the weights on, breaks the error or N; and how often it was tried."""
    failed = tried = 0
    for _ in range(times):
        f, g = random_pair(rng, RULES[0])
        period, locality = math.lcm(f.period, g.period), max(f.locality, g.locality)
        error = F(int(rng.integers(1, 8)), int(rng.integers(4, 40)))
        try:
            known = Asked((f, g), error).bound
        except WrongInput:
            continue
        x = random_counts(rng, period, locality)
        if not isinstance(known, Bound) or known.training_length is None or x.length <= known.training_length:
            continue
        tried += 1
        readings = [Reading.of(model, x) for model in (f, g)]
        budget = query_budget(f, g, error, x.suffix[-1], x.length)
        groups = realised_groups(readings, x, {group.heads[0]: group.budget for group in budget.acting})
        c = constant(groups, sum(n > 0 for n in by_type(x)), period)
        least = hardmax_length(readings, x, [head for group in budget.acting for head in group.heads])
        built = build_z(by_type(x), period, locality + 1, groups, least, c)
        z = sum(built.table) + locality + 1
        moved = [distance(r.outputs(by_type(x), x.length), r.outputs(built.table, z)) for r in readings]
        failed += z > known.training_length or not certainly_at_most(moved[0] + moved[1], error)
    return failed, tried


def test_theorem_2_from_the_weights_on():
    failed, tried = model_level_failures(np.random.default_rng(2), 50)
    assert not failed
    assert tried > 12


@pytest.mark.slow
def test_theorem_2_from_the_weights_on_in_thousands():
    failed, tried = model_level_failures(np.random.default_rng(3), 1500)
    assert not failed
    assert tried > 400


def test_theorem_p_from_the_weights_on():
    rng = np.random.default_rng(4)
    tried = 0
    for _ in range(40):
        f, g = random_pair(rng, RULES[2])
        period, locality = math.lcm(f.period, g.period), max(f.locality, g.locality)
        known = Asked((f, g), F(1, 4)).bound
        x = random_counts(rng, period, locality)
        if known.training_length is None or x.length <= known.training_length:
            continue
        tried += 1
        size = window_size(x.prefix_length, locality + 1, period, known.training_length)
        short = scale(by_type(x), period, size)
        z = sum(short) + locality + 1
        assert known.training_length - period < z <= known.training_length
        readings = [Reading.of(model, x) for model in (f, g)]
        moved = [distance(r.outputs(by_type(x), x.length), r.outputs(short, z)) for r in readings]
        assert certainly_at_most(moved[0] + moved[1], F(1, 4))
    assert tried > 12


def test_a_stand_in_is_never_longer_than_the_bound():
    """The note's rows: SimpleTask 2 against uniform attention, error 1/2, N = 747; the tuned strings are far shorter."""
    f = simple_task(2, bits=4)
    rows = [(2, (3, 5, 100000)), (2, (700, 300, 1000000)), (0, (600000, 300000, 100000)), (0, (1, 40, 9958))]
    for query, counts in rows:
        x = Counts([query], [[n] for n in counts])
        found = shorten(f, uniform(f), x, F(1, 2))
        assert found.bound.training_length == 747
        assert found.length < 40
        assert sum(map(upper, found.errors)) <= 0.5
        for model, claimed in zip(found.models, found.errors, strict=True):
            measured = evaluate(model, found.string, "dense") - lw.evaluate_counts(model, x)
            assert float(claimed) == pytest.approx(abs(measured[0]), abs=1e-9)


@pytest.mark.parametrize("rule", [RULES[0], RULES[2]], ids=str)
def test_no_long_string_has_a_stand_in_above_the_bound(rule):
    """Lengths to 10^60, errors that leave little room; what is claimed is again the exact error."""
    rng = np.random.default_rng(8)
    tried = 0
    for _ in range(25):
        f, g = random_pair(rng, rule)
        error = min(F(1, 3), sum([*lw.sensitivity(f), *lw.sensitivity(g)]) / 7)
        x = random_counts(rng, math.lcm(f.period, g.period), max(f.locality, g.locality))
        if not error:
            continue
        found = shorten(f, g, x, error)
        assert certainly_at_most(found.errors[0] + found.errors[1], error)
        known = found.bound.training_length
        if known is not None and x.length > known:
            tried += 1
            assert found.length <= known
    assert tried > 6


def test_one_model_alone():
    """Its own errors and its own N: that of the model against one with the same attention and no read-out."""
    f = simple_task(4, bits=4)
    x = Counts([2], [[10**30], [3 * 10**30], [10**31]])
    found = shorten(f, None, x, F(1, 10))
    (error,) = found.errors
    assert certainly_at_most(error, F(1, 10))
    silent = replace(f, unembedding=np.zeros_like(f.unembedding))
    assert found.bound.training_length == lw.bound(f, silent, error=F(1, 10)).training_length == 203
    assert "the output moves by" in str(found)


def test_periods_and_localities_are_lifted():
    """Period 2 and locality 0 beside period 3 and locality 2: six residues, three tokens of suffix, whatever was given."""
    f, g = mod_p_task(2, 1, bits=4), replace(mod_p_task(3, 0, bits=4))
    head = g.layers[0].heads[0]
    g = replace(g, layers=(replace(g.layers[0], heads=(replace(head, phi=np.array([0.0, 0.0, -1.0])),)),))
    string = np.random.default_rng(5).integers(0, 2, size=5000)
    found = shorten(f, g, string, 0.2)
    assert (found.counts.period, len(found.counts.suffix)) == (6, 3)
    assert found.length % 6 == 5000 % 6
    again = shorten(f, g, Counts.of(string, 2, 12, 7), 0.2)
    assert again.counts.table == found.counts.table


def test_long_strings_come_as_counts_short_ones_spelled():
    f = mod_p_task(2, 0, bits=4)
    x = Counts([0], [[10**12, 10**12], [10**9 + 1, 10**9 + 1]])
    found = shorten(f, None, x, F(1, 10**4))
    assert found.length <= LONGEST_SPELLED
    assert (
        lw.evaluate_counts(f, Counts.of(np.array(found.tokens), 2, 2, 0)).tolist()
        == lw.evaluate(f, found.string).tolist()
    )
    finer = shorten(f, None, x, F(1, 10**15))
    assert finer.length > LONGEST_SPELLED
    assert finer.tokens is finer.string is None
    fields = json.loads(finer.to_json())
    assert fields["string"] is None
    assert fields["string_reason"]
    assert sum(map(sum, fields["counts"]["table"])) + 1 == finer.length


def test_a_string_that_is_its_own_stand_in():
    f = mod_p_task(3, 1, bits=4)
    for string in ("1", "011"):
        found = shorten(f, None, string, 0.1)
        assert (found.string, found.errors, found.method) == (string, (0,), "the string itself")
        assert str(found).startswith("The string itself")
        assert found.reason == "no shorter one has the same ending"
    tight = shorten(simple_task(1, bits=4), None, "0010", F(1, 10**9))
    assert (tight.length, tight.reason) == (4, "none that was tried is within the error")


def test_what_no_theorem_covers_is_still_checked():
    """Without bits, with a step, with two rules: no bound, and a stand-in whose errors are those of the definition."""
    f = simple_task(1)
    mlp = f.layers[0].mlp
    steep = MLP(mlp.inner * 1.0, mlp.bias - 0.3, mlp.outer, "heaviside")
    step = replace(f, bits=4, layers=(replace(f.layers[0], mlp=steep),))
    string = np.random.default_rng(6).choice(3, p=[0.5, 0.2, 0.3], size=4000)
    for models in ((f, None), (step, None), (f, simple_task(1, bits=4)), (step, replace(f, attention="plain"))):
        found = shorten(*models, string, 0.1)
        assert isinstance(found.bound, NoBound)
        assert found.length < 4000
        for model, claimed in zip(found.models, found.errors, strict=True):
            measured = evaluate(model, string, "dense") - evaluate(model, found.string, "dense")
            assert float(claimed) == pytest.approx(abs(measured[0]), abs=1e-9)
        assert json.loads(found.to_json())["bound_reason"]


@pytest.mark.parametrize("rule", RULES, ids=str)
def test_the_independent_checker_accepts_every_certificate(rule, tmp_path):
    """Hardmax or below its threshold, plain, without bits; and refuses the same strings with half of their error."""
    rng = np.random.default_rng(11)
    for _ in range(6):
        f, g = random_pair(rng, rule)
        error = min(F(1, 4), sum([*lw.sensitivity(f), *lw.sensitivity(g)]) / 5)
        if not error:
            continue
        x = random_counts(rng, math.lcm(f.period, g.period), max(f.locality, g.locality))
        found = shorten(f, g, x, error)
        found.certificate(tmp_path / "c.json")
        verdict = check(tmp_path / "c.json")
        assert verdict.valid, verdict
        claimed = sum(map(upper, found.errors))
        if claimed > 1e-9:
            replace(found, asked=Asked((f, g), F(claimed) / 2)).certificate(tmp_path / "c.json")
            assert not check(tmp_path / "c.json").valid


# --- what goes wrong for the naive reading ---


def test_copies_of_the_attended_tokens_are_too_short():
    """One a among 999 b: at length 3 the softmax gives 0.6, at 16 the hardmax gives 1."""
    model = table_model([1, 0], [1, 0], [0, 0], bits=4)
    model = replace(
        model,
        tokens=("a", "b"),
        layers=(replace(model.layers[0], heads=(replace(model.layers[0].heads[0], phi=np.array([0.0, 0.0])),)),),
    )
    x = "a" + "b" * 999
    assert lw.evaluate(model, x, "dense").tolist() == [1]
    assert lw.evaluate(model, "abb", "dense").tolist() == pytest.approx([0.6])
    assert lw.evaluate(model, "a" + "b" * 15, "dense").tolist() == [1]
    found = shorten(model, None, x, F(1, 10))
    assert abs(1 - lw.evaluate(model, found.string, "dense")[0]) <= 0.1


def test_types_are_not_tokens():
    """Attention 1, 1, 0 at even positions and half more at odd ones: what stands where decides, not how often."""
    model = replace(table_model([[1, 1.5], [1, 1.5], [0, 0.5]], [1, 0, 0], period=2, bits=2), tokens=("a", "b", "c"))
    reversed_period = "ca" + "cb" * 3
    x = reversed_period * 500 + "cb"
    assert len(x) == 4002
    assert lw.evaluate(model, x, "dense")[0] == pytest.approx(0.24988, abs=1e-5)
    assert lw.evaluate(model, "abbb" * 5 + "b", "dense")[0] == pytest.approx(0.4545, abs=1e-4)
    counts = Counts.of(lw.strings.encode(x, model.names), 3, 2, 0)
    reading = Reading.of(model, counts)
    (attended,) = reading.attended(by_type(counts))
    group = Group(attended.types, len(attended.offsets), F(1, 20))
    built = build_z(by_type(counts), 2, 1, [group], 16, constant([group], 3, 2))
    z = sum(built.table) + 1
    assert z % 2 == 0
    (value,) = reading.outputs(built.table, z)
    assert abs(value - F(0.24988)) < F(1, 20)
    noted = build_z(by_type(counts), 2, 1, [group], 16, F(5))
    assert (noted.table, sum(noted.table) + 1) == ((25, 0, 75, 0, 0, 101), 202)
    assert reading.outputs(noted.table, 202) == [F(25, 101)]
    found = shorten(model, None, x, F(1, 50))
    assert lw.evaluate(model, found.string, "dense")[0] == pytest.approx(0.24988, abs=0.02 + 1e-5)


def test_residues_must_not_shift():
    """A query at an even position reads even positions: one token fewer and it reads the other half."""
    head = mod_p_task(2, 0, bits=8).layers[0].heads[0]
    width = head.value.shape[0]
    match = np.zeros((2, width))
    match[0, 1] = match[1, 2] = 8.0
    model = replace(mod_p_task(2, 0, bits=8), tokens=("b", "a"))
    model = replace(model, layers=(replace(model.layers[0], heads=(replace(head, key=match / 8, query=match),)),))
    even = "ba" * 500
    assert lw.evaluate(model, even, "dense")[0] == 1
    assert lw.evaluate(model, "ba" * 50 + "a", "dense")[0] == pytest.approx(0.0196, abs=1e-4)
    assert lw.evaluate(model, "ba" * 50, "dense")[0] == 1
    found = shorten(model, None, even, F(1, 10))
    assert found.length % 2 == 0
    assert lw.evaluate(model, found.string, "dense")[0] >= 0.9


def test_the_gap_of_the_short_string_is_the_one_that_counts():
    """With the constant too small the maximiser is lost; the next gap is 1/10, and rounding leaves no hardmax."""
    model = table_model([10, 0, -0.1], [1, 1, -5], bits=10)
    logits = [F(10), F(0), F(-0.1)]
    x = Counts([2], [[1000], [100000], [1000]])
    reading = Reading.of(model, x)
    (attended,) = reading.attended(by_type(x))
    assert (attended.types, attended.gap) == ({0}, logits[0] - logits[1])
    built = build_z(by_type(x), 1, 1, [Group(attended.types, 0, F(9, 10))], 2, F(3, 2) * F(7, 10) ** 4)
    assert built.table == (0, 1, 0)
    (value,) = reading.outputs(built.table, 2)
    assert float(value) == pytest.approx(-1.896, abs=1e-3)
    assert float(value) == pytest.approx(lw.evaluate(model, [1, 2], "dense")[0], abs=1e-9)
    found = shorten(model, None, x, F(1, 10))
    assert lw.evaluate(model, found.tokens, "dense")[0] == pytest.approx(1, abs=0.1)


def test_a_suffix_bonus_is_no_margin():
    """All content 0 and phi(0) = 1/100: at 8 bits the softmax is nearly uniform far below 2^800, so no hardmax is used."""
    model = table_model([0, 0], [1, 0], [0.01], bits=8)
    string = "0" * 999 + "1"
    assert lw.evaluate(model, string, "dense")[0] == pytest.approx(0.99893, abs=1e-5)
    found = shorten(model, None, string, F(1, 100))
    assert found.method == "proportional"
    assert lw.evaluate(model, found.string, "dense")[0] == pytest.approx(0.99893, abs=0.01 + 1e-5)
    assert found.length < 200


def test_a_bump_at_a_rare_fraction_is_kept():
    """Triangle of width 1/1000 at the fraction 1/1000 of ones: f = 0 on short strings, and the stand-in says 1."""
    model = table_model([0, 0], [0, 1], bits=4)
    layer = model.layers[0]
    width = model.width
    inner = np.zeros((3, width))
    inner[:, -1] = 2000
    outer = np.zeros((width, 3))
    outer[-1] = [1, -2, 1]
    tent = MLP(inner, [-1.0, -2.0, -3.0], outer)
    head = replace(layer.heads[0], value=layer.heads[0].value)
    bump = replace(model, layers=(replace(layer, heads=(head,), mlp=tent),))
    x = Counts([0], [[998_999], [1000]])
    share = F(1000, 10**6)
    assert lw.evaluate_counts(bump, x, hardmax=True)[0] == share + 1
    found = shorten(bump, None, x, F(1, 10))
    assert 667 < found.length <= 10_000
    assert abs(lw.evaluate(bump, found.tokens)[0] - 1.001) <= 0.1


# --- what cannot be shortened ---


@pytest.mark.parametrize("error", [0, -1, math.nan, math.inf, "x", True, 2, 100])
def test_errors_that_say_nothing_are_refused(error):
    f = mod_p_task(2, 0, bits=4)
    with pytest.raises(WrongInput):
        shorten(f, f, "0101" * 100, error)


def test_models_and_strings_that_do_not_fit_are_refused():
    f = mod_p_task(2, 0, bits=4)
    named = replace(f, tokens=("a", "b"))
    bad = [
        (f, simple_task(1, bits=4), "01"),
        (named, replace(f, tokens=("b", "a")), "ab"),
        (f, replace(f, unembedding=np.ones((2, f.width))), "01"),
        (f, mod_p_task(3, 0, bits=4), Counts([0], [[1, 1], [0, 0]])),
        (f, None, Counts([0], [[1, 1], [0, 0], [1, 1]])),
        (tail_task(3, bits=4), None, Counts([0], [[4], [4]])),
        (f, None, ""),
        (f, None, "012"),
    ]
    for first, second, string in bad:
        with pytest.raises(WrongInput):
            shorten(first, second, string, 0.1)


def test_integer_programs_are_asked_too():
    """The note's second row: 18 tokens by the construction, fewer by the program, and the program says how few."""
    f = simple_task(2, bits=4)
    x = Counts([2], [[700], [300], [1000000]])
    built, found = (shorten(f, uniform(f), x, F(1, 2), shortest=which) for which in (False, True))
    assert found.at_least <= found.length < built.length
    moved = [evaluate(model, found.string, "dense") - lw.evaluate_counts(model, x) for model in found.models]
    assert sum(abs(float(value[0])) for value in moved) <= 0.5


def test_a_forgotten_second_model_is_named():
    """lw.shorten(f, string) is a likely slip; the tests' type checker is stepped around."""
    f = mod_p_task(2, 0, bits=4)
    for first, second in ((f, "0101"), (None, f)):
        with pytest.raises(WrongInput, match="another model or None"):
            inspect.unwrap(shorten)(first, second, "0101", 0.1)
