"""Certified worst errors: no string is worse than the upper end, and the witness is as bad as the lower one says."""

import math
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import lengthwise as lw
from helpers_certify import case, error_of, fractions, random_model, random_target, short_strings
from lengthwise.errors import WrongInput
from lengthwise.theory.certify import Limits
from lengthwise.theory.frequency_target import FrequencyTarget, whole_counts
from lengthwise.theory.where import parse_where
from lengthwise.theory.witness import rounded
from lengthwise.type_counts import class_size

HIDES = Path(__file__).parent.parent / "results" / "hides"
QUICK = Limits(tolerance=0.02, most_cells=200)
SEEDS = 14


@pytest.mark.parametrize("seed", [*range(SEEDS), *(pytest.param(s, marks=pytest.mark.slow) for s in range(SEEDS, 160))])
def test_no_short_string_is_worse_and_the_witness_is_as_bad(seed):
    model, target, where = case(seed)
    found = lw.certify(model, target, where=where, limits=QUICK, small=1)
    condition = None if where is None else parse_where(where, target.symbols, target.period)
    worst = 0.0
    for string in short_strings(target.symbols, 6 if target.symbols == 2 else 4):
        counts = lw.Counts.of(np.asarray(string), target.symbols, target.period, 0)
        if condition is None or condition.holds(whole_counts(counts), len(string)):
            worst = max(worst, error_of(model, target, string))
    assert worst <= found.upper + 1e-12
    assert found.lower <= found.upper + 1e-12
    assert found.witness is not None
    counts = found.witness.counts
    output = float(lw.evaluate_counts(model, counts)[0])
    assert abs(output - float(target.value(counts))) >= found.lower - 1e-7
    assert condition is None or condition.holds(whole_counts(counts), counts.length)


@pytest.mark.parametrize("seed", range(8))
def test_no_long_string_is_worse(seed):
    """Random tables at lengths to 10^6, with rare tokens."""
    model, target, where = case(1000 + seed)
    found = lw.certify(model, target, where=where, limits=QUICK, small=1)
    condition = None if where is None else parse_where(where, target.symbols, target.period)
    rng = np.random.default_rng(seed)
    for _ in range(60):
        ending = max(model.locality, len(target.tail) - 1, 0) + 1
        prefix = int(10 ** rng.uniform(0, 6))
        shares = rng.dirichlet(np.full(target.symbols, 0.3), size=target.period)
        columns = [rounded(shares[r], class_size(prefix, r, target.period)) for r in range(target.period)]
        suffix = tuple(rng.integers(0, target.symbols, ending).tolist())
        counts = lw.Counts(suffix, tuple(zip(*columns, strict=True)))
        if condition is None or condition.holds(whole_counts(counts), counts.length):
            apart = float(lw.evaluate_counts(model, counts)[0]) - float(target.value(counts))
            assert abs(apart) <= found.upper + 1e-9


@pytest.mark.parametrize("where", [None, "c0 + c1 >= 0.05 n"])
def test_simple_task_by_hand(where):
    """Hard from 2^4 tokens on, and then exact; before, every 2 has the weight 1/n.

    f = sin(omega (c0 - c1) / (c0 + c1 + c2 / n)) for n < 16, all counts tried.
    """
    task = lw.task("simple:omega=4")
    found = lw.certify(replace(task.construction(), bits=4), task, where=where)
    worst = 0.0
    for n in range(1, 16):
        for zeros in range(n + 1):
            for ones in range(n + 1 - zeros):
                balance, both, rest = zeros - ones, zeros + ones, n - zeros - ones
                soft = math.sin(4 * balance / (both + rest / n))
                hard = math.sin(4 * balance / both) if both else 0.0
                if where is None or both >= 0.05 * n:
                    worst = max(worst, abs(soft - hard))
    assert found.lower - 1e-9 <= worst <= found.upper <= worst + 1e-3


@pytest.mark.parametrize(("period", "residue"), [(2, 0), (2, 1), (3, 1)])
def test_mod_p_task_by_hand(period, residue):
    """Hard from 2^2 tokens on; before, positions off the residue have the weight 1/n."""
    task = lw.task(f"modp:period={period},residue={residue}")
    found = lw.certify(replace(task.construction(), bits=2), task)
    worst = 0.0
    for string in short_strings(2, 4):
        if len(string) >= period:
            on = [token for place, token in enumerate(string, start=1) if place % period == residue]
            weight = 0.0 if len(string) >= 4 else 1 / len(string)
            mass = len(on) + weight * (len(string) - len(on))
            soft = (sum(on) + weight * (sum(string) - sum(on))) / mass
            worst = max(worst, abs(soft - sum(on) / len(on)))
    assert found.lower - 1e-9 <= worst <= found.upper <= worst + 1e-3


def test_two_heads_with_a_suffix_by_hand():
    """tail: one head averages, one is hard on the last token from 2^2 tokens on; before, others have the weight 1/n."""
    task = lw.task("tail:tail=1")
    found = lw.certify(replace(task.construction(), bits=2), task)
    worst = 0.0
    for string in short_strings(2, 4):
        n, last = len(string), string[-1]
        weight = 1 / n if n < 4 else 0.0
        soft = (last + weight * sum(string[:-1])) / (1 + weight * (n - 1))
        worst = max(worst, abs(soft - last))
    assert found.lower - 1e-9 <= worst <= found.upper <= worst + 1e-3


@pytest.mark.parametrize("name", ["simple-omega4", "simple-omega2", "modp-period2-residue1"])
def test_trained_models_against_all_tables_up_to_forty_tokens(name):
    """Every table of counts up to length 8, at 23 and at 40, every last token."""
    model = lw.load(HIDES / f"{name}.safetensors")
    task = lw.task("modp:period=2,residue=1" if name.startswith("modp") else f"simple:omega={name[-1]}")
    found, target = lw.certify(model, task), task.frequency_target()
    assert found.upper - found.lower < 0.005
    for n in (*range(task.shortest, 9), 23, 40):
        for last in range(task.symbols):
            tables = _tables(task.symbols, task.period, n - 1)
            for table in tables:
                counts = lw.Counts((last,), table)
                apart = float(lw.evaluate_counts(model, counts)[0]) - float(target.value(counts))
                assert abs(apart) <= found.upper


def _tables(symbols, period, prefix):
    sizes = [class_size(prefix, r, period) for r in range(period)]
    if symbols == 2:
        listed = [[(size - ones, ones) for ones in range(size + 1)] for size in sizes]
    else:
        (size,) = sizes
        listed = [[(a, b, size - a - b) for a in range(size + 1) for b in range(size + 1 - a)]]
    if period == 1:
        return [tuple((count,) for count in row) for row in listed[0]]
    return [tuple(zip(first, second, strict=True)) for first in listed[0] for second in listed[1]]


def test_without_a_cut_the_worst_strings_are_where_the_target_jumps():
    """A member with a loss of 1e-5 is off by more than 1 where nearly all tokens are 2; a cut leaves that out."""
    model, task = lw.load(HIDES / "simple-omega4.safetensors"), lw.task("simple:omega=4")
    everywhere = lw.certify(model, task)
    cut = lw.certify(model, task, where="c0 + c1 >= 0.05 n")
    assert everywhere.lower > 1
    assert cut.upper < 0.3
    counts = whole_counts(everywhere.witness.counts)
    assert counts[2][0] > 100 * (counts[0][0] + counts[1][0])
    counts = whole_counts(cut.witness.counts)
    assert counts[0][0] + counts[1][0] >= Fraction(1, 20) * cut.witness.counts.length


def test_a_claim_is_proved_refuted_or_left_open():
    model, task = lw.load(HIDES / "modp-period2-residue1.safetensors"), lw.task("modp:period=2,residue=1")
    assert lw.certify(model, task, within=0.03).proved is True
    refuted = lw.certify(model, task, within=0.02)
    assert refuted.proved is False
    assert refuted.lower > 0.02
    assert lw.certify(model, task, within=0.0255, limits=Limits(most_cells=2)).proved is None
    assert "Proved: at most 0.03" in str(lw.certify(model, task, within=0.03))


def test_longer_strings_only():
    """The construction is exact from 16 tokens on."""
    task = lw.task("simple:omega=2")
    found = lw.certify(replace(task.construction(), bits=4), task, shortest=16)
    assert found.upper < 1e-3
    assert found.small == 16


def test_the_same_answer_twice():
    model, target, _ = case(3)
    first, second = (lw.certify(model, target, limits=QUICK).fields() for _ in range(2))
    assert first == second


def test_a_larger_output_weight_is_a_larger_worst_error():
    """Mutation: the output of a model with target 0 doubled doubles both ends."""
    rng = np.random.default_rng(0)
    model = random_model(rng, 3, 1, -1, 1, 3, "relu", "plain")
    target = replace(random_target(rng, 3, 1), over=fractions(np.zeros((3, 1), int)), tail=())
    once = lw.certify(model, target)
    twice = lw.certify(replace(model, unembedding=2 * model.unembedding), target)
    assert twice.upper == pytest.approx(2 * once.upper, abs=0.004)
    assert twice.lower == pytest.approx(2 * once.lower, abs=0.004)


BAD = {
    "layers": ("kgram:symbols=2,order=1", "simple", {}, "one layer"),
    "task": ("simple", "kgram:symbols=3,order=1", {}, "lengthwise attack"),
    "vocabulary": ("simple", "modp", {}, "3 tokens"),
    "bits": ("simple", "simple", {"bits": None}, "--bits"),
    "constant": ("simple", "simple", {"where": "c0 >= 3"}, "without constants"),
    "tolerance": ("simple", "simple", {"limits": Limits(tolerance=math.nan)}, "above 0"),
    "seconds": ("simple", "simple", {"limits": Limits(seconds=math.nan)}, "number of seconds"),
    "within": ("simple", "simple", {"within": -1.0}, "0 or more"),
    "types": ("simple:symbols=9", "simple:symbols=9", {}, "6 free frequencies"),
    "period": ("modp:period=9", "modp:period=9", {}, "some 10^18 cells"),
    "threshold": ("simple", "simple", {"bits": 50}, "2^40"),
    "long lists": ("simple", "simple", {"bits": 40}, "--from-length 1099511627776"),
    "tables": ("simple", "simple", {"bits": 12}, "--from-length 4096"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input(name):
    model, task, options, said = BAD[name]
    bits = options.pop("bits", 4) if "bits" in options else 4
    built = lw.task(model).construction()
    if built.attention == "log-length":
        built = replace(built, bits=bits)
    with pytest.raises(WrongInput) as error:
        lw.certify(built, lw.task(task), **options)
    assert said in str(error.value)


def test_a_target_without_bounds_is_refused():
    with pytest.raises(WrongInput, match="not bounded"):
        FrequencyTarget("identity", Fraction(1), fractions([[1], [0]]), fractions([[0], [1]]))
