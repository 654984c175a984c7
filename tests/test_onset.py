"""The distance of attention from its hardmax: against the definition on all strings, and the lengths it stays within."""

import itertools
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import lengthwise as lw
from helpers_quantities import fractions, random_one_layer, table_model
from lengthwise.limit import worst_distance as module
from lengthwise.limit.constructions import mod_p_task, simple_task, tail_task
from lengthwise.limit.hardmax_distance import distances
from lengthwise.limit.margins import threshold
from lengthwise.limit.onset import worst_onset
from lengthwise.limit.quantities import logit_margin, round_to_grid
from lengthwise.limit.worst_distance import worst_distance
from lengthwise.study.hardmax_onset import common_draw, law_distances, law_onset
from lengthwise.tasks.compositions import composition
from lengthwise.tasks.regression import ModPTask, SimpleTask

MODELS = [
    random_one_layer(
        np.random.default_rng(seed), symbols=2 + seed % 2, attention=("log-length", "plain")[seed % 3 == 0]
    )
    for seed in range(24)
]
MODELS = [replace(m, bits=2) if seed % 4 == 1 and m.attention == "log-length" else m for seed, m in enumerate(MODELS)]
MODELS += [simple_task(2.0, bits=3), mod_p_task(3, 1, bits=3), tail_task(3, bits=2), tail_task(2)]


def by_definition(model, string):
    """Each head: total variation between attention and the uniform law on the maximisers, position by position."""
    embedding, positions = fractions(model.embedding), fractions(model.positions)
    n = len(string)
    y = [
        [a + b for a, b in zip(embedding[s], positions[i % model.period], strict=True)] for i, s in enumerate(string, 1)
    ]
    apply = lambda matrix, vector: [sum(a * b for a, b in zip(row, vector, strict=True)) for row in matrix]  # noqa: E731
    found = []
    for head in model.layers[0].heads:
        key, query = fractions(head.key), apply(fractions(head.query), y[-1])
        logits = [sum(a * b for a, b in zip(apply(key, one), query, strict=True)) for one in y]
        for offset, phi in enumerate(np.asarray(head.phi, float)[:n]):
            logits[n - 1 - offset] = None if phi == -math.inf else logits[n - 1 - offset] + Fraction(float(phi))
        known = [logit for logit in logits if logit is not None]
        if not known:
            found.append(0.0)
            continue
        gaps = [None if logit is None else float(max(known) - logit) for logit in logits]
        rate = 1.0 if model.attention == "plain" else math.log(n)
        weights = [0.0 if gap is None else math.exp(-gap * rate) for gap in gaps]
        if model.bits is not None:
            weights = [w if w * 2**model.bits > 1 + 1e-12 else 0.0 for w in weights]
        attention = np.array(weights) / sum(weights)
        uniform = np.array([gap == 0 for gap in gaps]) / gaps.count(0)
        found.append(np.abs(attention - uniform).sum() / 2)
    return found


def all_strings(model, length):
    return itertools.product(range(model.symbols), repeat=length)


def from_counts(model, counts):
    prefix = np.ravel(counts.table)[:, None]
    suffix = [s * model.period + (counts.length - k) % model.period for k, s in enumerate(reversed(counts.suffix))]
    return distances(model, prefix, np.array(suffix)[:, None], counts.length)[:, 0]


@pytest.mark.parametrize("model", MODELS, ids=range(len(MODELS)))
def test_distances_and_the_worst_of_all_strings(model):
    """On every string of a few lengths; the worst is one of them, and the one that is named."""
    for length in range(model.locality + 1, 6 if model.symbols == 2 else 5):
        worst = 0.0
        for string in all_strings(model, length):
            wanted = by_definition(model, string)
            counts = lw.Counts.of(np.array(string), model.symbols, model.period, model.locality)
            assert from_counts(model, counts) == pytest.approx(wanted, abs=1e-12)
            worst = max(worst, *wanted)
        found = worst_distance(model, length)
        assert found.distance == pytest.approx(worst, abs=1e-12)
        assert from_counts(model, found.counts)[found.head] == pytest.approx(worst, abs=1e-12)


@pytest.mark.parametrize("model", MODELS[::3] + MODELS[-4:], ids=str)
def test_no_random_string_of_a_long_length_is_worse(model):
    """Rare types at every scale, in all classes; and the named string has the distance at lengths like 10^15 too."""
    length, size = 10**6 + 1, 400
    generator = np.random.default_rng(0)
    draw = lambda bounds: generator.integers(0, np.asarray(bounds))  # noqa: E731
    before = length - model.locality - 1
    sizes = [len(range(r or model.period, before + 1, model.period)) for r in range(model.period)]
    rare = [np.minimum(size_, 2 ** generator.integers(0, 21, size)) for size_ in sizes]
    parts = [composition(few, model.symbols, draw) for few in rare]
    for part, few, whole in zip(parts, rare, sizes, strict=True):
        part[generator.integers(0, model.symbols, size), np.arange(size)] += whole - few
    prefix = np.stack([part[s] for s in range(model.symbols) for part in parts])
    residues = [(length - k) % model.period for k in range(model.locality + 1)]
    tokens = generator.integers(0, model.symbols, (model.locality + 1, size))
    suffix = tokens * model.period + np.array(residues)[:, None]
    worst = worst_distance(model, length).distance
    assert np.max(distances(model, prefix, suffix, length)) <= worst * (1 + 1e-12)
    far = worst_distance(model, 10**15)
    assert from_counts(model, far.counts)[far.head] == pytest.approx(far.distance, rel=1e-9, abs=1e-300)


MUTATIONS = {
    "one maximiser more": ("max(forced, 1)", "max(forced, 1) + 1"),
    "forced positions forgotten": ("max(forced, 1)", "1"),
    "the runner-up replaced by the least": ("max(known)[1]", "min(known)[1]"),
    "the exception counted elsewhere too": ("slot.size - (exception is not None)", "slot.size"),
    "levels below the floor": ("value >= floor", "value >= floor - 10**6"),
}


@pytest.mark.parametrize("name", MUTATIONS)
def test_a_wrong_formula_is_noticed(name):
    old, new = MUTATIONS[name]
    with open(module.__file__) as file:
        text = file.read()
    assert old in text
    space = {"__name__": "lengthwise.limit.wrong"}
    exec(compile(text.replace(old, new), "wrong", "exec"), space)
    different = 0
    for model in MODELS:
        try:
            different += space["worst_distance"](model, 5).distance != worst_distance(model, 5).distance
        except (TypeError, ValueError, AssertionError, IndexError):
            different += 1
    assert different


def closed(length, gamma):
    """One maximiser, n - 1 others a gap below it."""
    return (length - 1) * length**-gamma / (1 + (length - 1) * length**-gamma)


@pytest.mark.parametrize("gamma", [0.5, 1.0, 2.0])
def test_one_class_has_the_closed_form_up_to_the_threshold_and_nothing_beyond(gamma):
    """With gamma <= 1 it rises to the very threshold, so the threshold is the onset for all distances below its end."""
    bits = 6
    model = table_model([gamma, gamma, 0], [1, -1, 0], bits=bits)
    exact = threshold(bits, Fraction(gamma)).length
    assert logit_margin(model) == gamma
    for n in [2, 3, 10, 60, 1000]:
        wanted = closed(n, gamma) if n < exact else 0
        assert worst_distance(model, n).distance == pytest.approx(wanted, rel=1e-12)
    for distance in (0.01, 0.3):
        found = worst_onset(model, distance)
        if gamma <= 1:
            assert (found.at_least, found.at_most) == (exact, exact)
        else:
            assert found.at_least <= found.at_most <= exact


@pytest.mark.parametrize("distance", [0.4, 0.05, 0.01])
@pytest.mark.parametrize("model", [m for m in MODELS if m.attention == "log-length"], ids=range(20))
def test_the_worst_onset_is_between_its_ends(model, distance):
    """By trying lengths: none from at_most on is further; the one before at_least is."""
    found = worst_onset(model, distance)
    start = max(model.locality + 1, found.at_least - 1)
    if found.at_least - 1 > model.locality:
        assert worst_distance(model, found.at_least - 1).distance > distance
    if found.at_most is None:
        assert logit_margin(model) <= 1
        assert max(worst_distance(model, (1 << 60) + i).distance for i in range(model.period)) > distance
        return
    beyond = [found.at_most + i for i in range(12)] + [found.at_most * 2**i + 1 for i in range(12)]
    assert all(worst_distance(model, n).distance <= distance for n in beyond)
    assert start <= found.at_most


def test_positions_that_are_attended_for_where_they_stand_need_no_rounding():
    """ModPTask: a third of the string is attended, so 2 / n is the distance; with 24 bits the threshold is 2^24."""
    found = worst_onset(mod_p_task(3, 1, bits=24), 0.01)
    assert found == worst_onset(mod_p_task(3, 1), 0.01)
    assert 190 < found.at_least <= found.at_most < 210
    assert worst_onset(simple_task(2.0), 0.01).at_most is None
    assert worst_onset(simple_task(2.0, bits=24), 0.01).at_most == 2**24


def test_plain_attention_never_becomes_hard():
    """Rare maximisers lose against any number of others: the worst distance goes to 1; bits are not allowed there."""
    plain = simple_task(2.0, attention="plain")
    far = [worst_distance(plain, 10**k).distance for k in (1, 3, 6, 12)]
    assert far == sorted(far)
    assert far[-1] > 1 - 1e-11
    assert worst_onset(plain, 0.5).at_most is None
    means = [law_distances(plain, SimpleTask(2.0), 10**k, samples=2000).mean for k in (3, 5, 8)]
    assert means == pytest.approx([means[0]] * 3, rel=1e-2)


def test_logits_that_cannot_differ_are_a_hardmax_at_once():
    uniform = table_model([1, 1, 1], [1, -1, 0])
    assert logit_margin(uniform) == math.inf
    assert worst_onset(uniform, 0.01).at_most == 2
    assert worst_distance(uniform, 10).distance == 0


@pytest.mark.parametrize("wrong", [0, 1, -0.5, 2])
def test_distances_that_cannot_be(wrong):
    with pytest.raises(lw.WrongInput, match="between 0 and 1"):
        worst_onset(simple_task(2.0, bits=4), wrong)


def test_lengths_that_cannot_be():
    with pytest.raises(lw.WrongInput, match="at least 3"):
        worst_distance(tail_task(3), 2)
    with pytest.raises(lw.WrongInput, match="from 3 to"):
        law_distances(mod_p_task(3, 1), ModPTask(3, 1), 2)
    with pytest.raises(lw.WrongInput, match="a suffix of 3"):
        distances(tail_task(3), np.ones((2, 1), int), np.zeros((1, 1), int), 3)


def mean_by_enumeration(model, length):
    """SimpleTask's law exactly: all compositions alike, the last token drawn from the counts."""
    tables = np.array([(a, b, length - a - b) for a in range(length + 1) for b in range(length + 1 - a)]).T
    total = 0.0
    for last in range(3):
        there = tables[:, tables[last] > 0]
        prefix = there - (np.arange(3) == last)[:, None]
        found = distances(model, prefix, np.full((1, prefix.shape[1]), last), length)[0]
        total += np.sum(found * there[last] / length)
    return total / tables.shape[1]


@pytest.mark.parametrize("model", [simple_task(2.0), simple_task(2.0, attention="plain")], ids=["log", "plain"])
def test_the_mean_over_a_law_against_all_count_tables(model):
    found = law_distances(model, SimpleTask(2.0), 30, samples=20_000)
    exact = mean_by_enumeration(model, 30)
    assert found.mean == pytest.approx(exact, abs=4 * found.standard_error)
    assert found.mean != pytest.approx(mean_by_enumeration(model, 25), abs=4 * found.standard_error) or (
        model.attention == "plain"
    )
    assert found.quantile(0.5) <= found.quantile(0.99) <= worst_distance(model, 30).distance


def limit_mean(r):
    """2 r (1/a^2 - 1/(2a) + r ln r / a^3) with a = 1 - r: the mean of s r / (1 - s + s r), s the share of 2s, of law 2 (1 - s)."""
    a = 1 - r
    return 2 * r * (1 / a**2 - 1 / (2 * a) + r * math.log(r) / a**3)


@pytest.mark.parametrize("length", [10**4, 10**6, 10**9])
def test_the_closed_form_of_the_mean_on_long_strings(length):
    for attention, r in (("log-length", 1 / length), ("plain", math.exp(-1))):
        found = law_distances(simple_task(2.0, attention=attention), SimpleTask(2.0), length, samples=40_000)
        assert found.mean == pytest.approx(limit_mean(r), abs=4 * found.standard_error)


def test_the_measured_onset_is_far_below_the_threshold_and_about_one_over_the_distance():
    model, task = simple_task(2.0, bits=24), SimpleTask(2.0)
    for distance in (0.1, 0.01, 0.001):
        found = law_onset(model, task, distance)
        wanted = next(n for n in itertools.count(2) if limit_mean(1 / n) <= distance)
        assert found == pytest.approx(wanted, rel=0.06)
    assert worst_onset(model, 0.01).at_most == 2**24
    assert law_onset(simple_task(2.0, attention="plain"), task, 0.01) is None
    fine = round_to_grid(model, 4).model
    assert law_onset(fine, task, 0.01, samples=512) == law_onset(model, task, 0.01, samples=512)


def test_common_numbers_are_uniform_and_scale():
    draws = [common_draw(3)(np.full(5000, bound)) for bound in (7, 7 * 10**9)]
    assert np.array_equal(draws[0], draws[1] // 10**9)
    assert np.all(np.abs(np.bincount(draws[0], minlength=7) - 5000 / 7) < 5 * math.sqrt(5000 / 7))
