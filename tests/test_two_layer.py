"""Theorems A and B for two layers: the note's test vectors, slopes, lower bounds, and what a wrong constant would do."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import lengthwise as lw
from helpers_quantities import BAL, MILD_F, MILD_H, POS, TOK, TOK_L2BAL, TOK_PERIOD_2, common_model
from lengthwise.errors import WrongInput
from lengthwise.limit.arithmetic import balls, floats
from lengthwise.limit.constructions import kgram_add, kgram_and, simple_task
from lengthwise.limit.evaluate import evaluate
from lengthwise.limit.model import MLP, Head, Layer, LimitTransformer
from lengthwise.limit.quantities import snap_positions
from lengthwise.theory.answer import Bound, NoBound
from lengthwise.theory.sampling_rates import Shape, chain_rates, window_rates
from lengthwise.theory.simulation import simulated_pair
from lengthwise.theory.two_layer import two_layer_bound
from lengthwise.theory.two_layer_forms import cubic_form, lower_bounds, published_forms, quadratic_form
from lengthwise.theory.window_solver import least_windows

PAIR = simulated_pair(MILD_F, MILD_H, smoothed=False)
SMOOTH = simulated_pair(MILD_F, MILD_H, smoothed=True)


@pytest.mark.parametrize("numbers", [floats(), balls()], ids=["floats", "balls"])
def test_printed_rates(numbers):
    shape = Shape(symbols=2, locality=1, period=1, statistics=3)
    windows, balanced = (window_rates(shape, 100, 10, numbers, kind) for kind in (False, True))
    chain = chain_rates(shape, 1000, 10, numbers)

    def read(rates):
        return [float(rates.bulk), float(rates.histogram), float(rates.end)]

    assert read(windows) == pytest.approx([0.564, 0.24570857390574996, 0.081], rel=1e-14)
    assert read(balanced) == pytest.approx([0.524, 0.31386367948539273, 0.061], rel=1e-14)
    assert read(chain) == pytest.approx([0.7770029483, 1.2416415339, 0.2293913043], abs=5e-11)


@pytest.mark.parametrize(
    ("model", "printed", "digits"),
    [
        (TOK, 547470.12, 2),
        (BAL, 243338.09, 2),
        (POS, 285355.51, 2),
        (TOK_L2BAL, 547491.16, 2),
        (TOK_PERIOD_2, 3.868592e8, -2),
    ],
)
def test_printed_simulation_errors(model, printed, digits):
    for numbers in (floats(), balls()):
        found = numbers.total(simulated_pair(model, smoothed=False).terms("windows", 100, 10, numbers))
        assert abs(float(found) - printed) <= 0.51 * 10.0**-digits


def test_printed_simulation_errors_of_the_mild_pair():
    def error(model, sampler, *size):
        return float(balls().total(simulated_pair(model, smoothed=False).terms(sampler, *size, balls())))

    assert error(MILD_F, "windows", 100, 10) == pytest.approx(0.0162986411, abs=5e-11)
    assert error(MILD_F, "windows", 9, 17) == pytest.approx(0.0272381634, abs=5e-11)
    assert error(MILD_H, "windows", 100, 10) == pytest.approx(0.0143233163, abs=5e-11)
    assert error(MILD_H, "windows", 9, 17) == pytest.approx(0.0212354986, abs=5e-11)
    assert error(MILD_F, "chain", 1000, 10) == pytest.approx(0.0262211684, abs=5e-11)
    assert error(MILD_H, "chain", 1000, 10) == pytest.approx(0.0198358010, abs=5e-11)
    assert PAIR.shape.statistics == 5
    five = replace(simulated_pair(MILD_F, smoothed=False), shape=PAIR.shape)
    assert float(balls().total(five.terms("balanced", 100, 10, balls()))) == pytest.approx(0.0165599693, abs=5e-11)


@pytest.mark.parametrize(
    ("error", "windows", "balanced"), [("1/5", 13, 27), ("1/10", 39, 87), ("1/20", 147, 303), ("3/100", 471, 819)]
)
def test_printed_lengths(error, windows, balanced):
    assert least_windows(PAIR, Fraction(error), "windows").length == windows
    assert least_windows(PAIR, Fraction(error), "balanced").length == balanced


def test_printed_windows_and_the_closed_form():
    found = least_windows(PAIR, Fraction(3, 100), "windows")
    assert (found.blocks, found.window, found.searched) == (18, 26, "every window")
    assert cubic_form(PAIR, Fraction(1, 10)).value == 7981


@pytest.mark.parametrize("sampler", ["windows", "balanced", "chain"])
def test_the_solver_finds_the_least_length(sampler):
    """By trying every number of blocks and every window."""
    error, tail = Fraction(3, 20), PAIR.shape.tail
    best = math.inf
    for window in range(2 if sampler == "chain" else 1, 60):
        for blocks in range(8 * window + 1 if sampler == "chain" else 1, 400):
            size = 2 * blocks if sampler == "chain" else blocks * window
            if size >= best:
                break
            if floats().total(SMOOTH.terms(sampler, blocks, window, floats())) <= error:
                best = size
    found = least_windows(SMOOTH, error, sampler)
    assert found.length == best + tail
    assert found.error <= error


def test_periods_are_kept_whole():
    pair = simulated_pair(TOK_PERIOD_2, common_model([0.25, 1.5], scale=0.1), smoothed=True)
    found = least_windows(pair, Fraction(10**9), "windows")
    assert found.window % 2 == 0


def test_the_smoothed_margin_never_needs_more():
    for pair in ((MILD_F, MILD_H), (BAL, POS), (kgram_add(2, 1, 3.0), kgram_and(2, 1, 0.1))):
        for sampler in ("windows", "balanced"):
            smooth, printed = (
                least_windows(simulated_pair(*pair, smoothed=kind), Fraction(1, 10), sampler).length
                for kind in (True, False)
            )
            assert smooth <= printed * (1 if printed < 10**6 else 1.01)


def slope(lengths, errors):
    return np.polyfit([-math.log(error) for error in errors], [math.log(length) for length in lengths], 1)[0]


def test_the_exponents_of_the_theorem():
    """Cubic for stratified windows, quadratic up to a logarithm for balanced ones, 1/gamma where that is more."""
    errors = [Fraction(1, 10**k) for k in (9, 11)]
    pair = simulated_pair(common_model([1.5], scale=0.1), smoothed=False)
    assert slope([least_windows(pair, e, "windows").length for e in errors], errors) == pytest.approx(3, abs=0.1)
    assert slope([least_windows(pair, e, "balanced").length for e in errors], errors) == pytest.approx(2.1, abs=0.12)
    narrow = simulated_pair(common_model([0.75], scale=0.1), smoothed=False)
    assert slope([least_windows(narrow, e, "balanced").length for e in errors], errors) == pytest.approx(4, abs=0.15)


def test_closed_forms_are_above_the_exact_ones():
    for models in ((MILD_F, MILD_H), (kgram_and(2, 1, 0.1),)):
        pair = simulated_pair(*models, smoothed=False)
        for error in (Fraction(1, 2), Fraction(1, 100)):
            assert cubic_form(pair, error).log2 >= math.log2(least_windows(pair, error, "windows").length)
            assert quadratic_form(pair, error).log2 >= math.log2(least_windows(pair, error, "balanced").length)


def test_lengths_too_large_to_write():
    steep = common_model([1 - 1e-5, 0.0])
    pair = simulated_pair(steep, smoothed=False)
    assert cubic_form(pair, Fraction(1, 10)).value is None
    assert cubic_form(pair, Fraction(1, 10)).log2 > 10**5
    assert quadratic_form(pair, Fraction(1, 10)).log2 > 10**5
    loud = common_model([0.25, 0.5], scale=300.0)
    assert simulated_pair(loud, smoothed=True).overflows
    assert isinstance(two_layer_bound(loud, None, error=Fraction(1, 10)), (Bound, NoBound))


def test_a_bound_says_what_it_is_made_of():
    bound = two_layer_bound(MILD_F, MILD_H, error=Fraction(1, 10))
    assert bound.training_length == 29
    assert "B.1" in bound.theorem
    assert {term.name for term in bound.terms} == {"sampling", "histogram", "limit"}
    assert all(term.length.value <= 29 for term in bound.terms)
    names = {other.name for other in bound.others}
    assert {"published form A", "published form B", "published form C"} <= names
    assert all(other.length.value >= 29 for other in bound.others if "Theorem" in other.name)


def test_published_forms_by_hand():
    c, error = 1.0116799832, Fraction(1, 10)
    forms = {other.name[-1]: other.length.value for other in published_forms(PAIR, error)}
    assert forms == {"A": math.ceil(c * 10**3), "B": math.ceil((10 * c) ** 3), "C": math.ceil(math.log(10) / 0.5 * 100)}


# --- what no method can beat: the families themselves ---


def readout(inner, bias, outer):
    """Layer 2 without heads, whose MLP reads coordinate 2 (the head's mean) and 0 (the last token is a)."""
    return Layer((), MLP(inner, bias, [[0.0] * len(bias)] * 3 + [list(outer)]))


def family(phi, value, inner, bias, outer, key=((0.0, 0.0, 0.0, 0.0),)):
    """Tokens a, b; coordinates: is a, is b, mean of the head, answer."""
    head = Head(key, [[1.0, 1.0, 0.0, 0.0]], np.outer([0, 0, 1, 0], [*value, 0, 0]), phi)
    return LimitTransformer(
        embedding=[[1, 0, 0, 0], [0, 1, 0, 0]],
        layers=(Layer((head,)), readout(inner, bias, outer)),
        unembedding=[[0, 0, 0, 1]],
        attention="log-suffix",
    )


@pytest.mark.parametrize(("gamma", "start"), [(0.5, 0.05), (0.8, 0.01), (0.9, 0.1)])
def test_proposition_c_is_attained_by_its_family(gamma, start):
    model = family([1 - gamma], [0, 1], [[-1, 0, -1, 0]], [start], [1])
    limit = int((2 * start) ** (-1 / gamma))
    rng = np.random.default_rng(0)
    for n in {1, 2, 3, limit // 2 + 1, limit}:
        for string in ([0] * (n - 1) + [1], [1] * n, [0] * n, list(rng.integers(0, 2, n))):
            assert abs(evaluate(model, string)[0]) < 1e-12
    far = evaluate(model, [0] * (10**6 - 1) + [1])[0]
    assert far > start / 2 + 1e-3 * start or (gamma < 0.6 and far > 0.9 * start)
    (found,) = [
        o for o in lower_bounds(simulated_pair(model, smoothed=False), Fraction(start) / 2) if o.name == "margin"
    ]
    assert found.length.value == pytest.approx((2 * start) ** (-1 / gamma), abs=1.01)


@pytest.mark.parametrize("beta", [4.0, 7.0])
def test_proposition_d_is_attained_by_its_family(beta):
    tent = ([[0, 0, 1, 0]] * 3, [-0.25, -0.5, -0.75], [1, -2, 1])
    model = family([], [1, 0], *tent, key=((beta, 0.0, 0.0, 0.0),))
    limit = int(math.exp(beta) / 3)
    for n in {1, 2, limit // 2 + 1, limit}:
        for ones in {0, 1, 2, n - 1, n} & set(range(n + 1)):
            assert abs(evaluate(model, [0] * ones + [1] * (n - ones))[0]) < 1e-12
    assert evaluate(model, [0] + [1] * round(math.exp(beta)))[0] == pytest.approx(0.25, abs=0.01)
    found = {o.name: o.length.value for o in lower_bounds(simulated_pair(model, smoothed=False), Fraction(1, 10))}
    assert found["logit spread"] == limit


@pytest.mark.parametrize("start", [0.01, 0.0004])
def test_proposition_e_is_attained_by_its_family(start):
    alpha = (math.sqrt(5) - 1) / 2
    model = family([], [1, 0], [[0, 0, 1, 0]] * 3, [start - alpha, -alpha, -alpha - start], [1, -2, 1])
    limit = int((3 * start) ** -0.5)
    for n in range(1, limit + 1):
        for ones in {int(alpha * n), int(alpha * n) + 1} & set(range(n + 1)):
            assert abs(evaluate(model, [0] * ones + [1] * (n - ones))[0]) < 1e-12
    n = 46368  # a Fibonacci number, and so is the next lower one
    assert evaluate(model, [0] * 28657 + [1] * (n - 28657))[0] == pytest.approx(start, rel=1e-3)


def test_one_door_for_one_and_two_layers():
    found = lw.bound(MILD_F, MILD_H, error="1/10")
    assert found.training_length == 29
    assert found.fields()["window"] == [1, 29]
    assert "all strings up to that length" in str(found)
    alone = lw.bound(MILD_F, error=0.1)
    assert alone.training_length == lw.bound(MILD_F, MILD_F, error=0.1).training_length
    assert alone.training_length >= lw.bound(MILD_F, MILD_H, error=0.1).training_length
    assert any("no worse" in one for one in alone.hypotheses)
    assert lw.bound(simple_task(2, bits=4), simple_task(2, bits=4), error=0.1).theorem.startswith("Theorem 2")


def test_one_log_suffix_layer_is_two_with_an_idle_one():
    one = replace(MILD_F, layers=MILD_F.layers[:1])
    idle = replace(MILD_F, layers=(*MILD_F.layers[:1], Layer()))
    assert lw.bound(one, error=0.01).training_length == lw.bound(idle, error=0.01).training_length
    string = [0, 1, 1, 0, 1]
    assert evaluate(one, string) == pytest.approx(evaluate(idle, string))


def test_where_there_is_no_bound_the_reason_is_told():
    three = replace(MILD_F, layers=(*MILD_F.layers, Layer()))
    found = lw.bound(three, error=0.1)
    assert isinstance(found, NoBound)
    assert "there are 3" in found.reason
    step = replace(MILD_F.layers[0], mlp=replace(MILD_F.layers[0].mlp, activation="heaviside"))
    assert "Heaviside" in lw.bound(replace(MILD_F, layers=(step, MILD_F.layers[1])), error=0.1).reason
    assert "2 layers of plain" in lw.bound(replace(MILD_F, attention="plain"), error=0.1).reason
    assert "compares" in lw.bound(MILD_F, replace(MILD_F, attention="plain"), error=0.1).reason


def test_a_head_that_is_nearly_balanced_is_told_and_snapping_it_helps():
    near = common_model([0.25, 1 + 1e-10], scale=0.1)
    found = lw.bound(near, error=0.01)
    told = [one for one in found.hypotheses if "snap_positions" in one]
    assert len(told) == 1
    assert "1e-10" in told[0]
    snapped, equal = lw.bound(snap_positions(near), error=0.01), common_model([0.25, 1.0], scale=0.1)
    assert snapped.training_length == lw.bound(equal, error=0.01).training_length
    assert found.log2_training_length > 1000 + snapped.log2_training_length
    assert not any("snap_positions" in one for one in snapped.hypotheses)


def test_unequal_depths_and_a_locality_beyond_the_string():
    one = replace(MILD_F, layers=MILD_F.layers[:1])
    assert lw.bound(one, MILD_H, error=0.1).training_length >= 1
    far = common_model([0.0] * 40 + [1.5], scale=0.1)
    assert lw.bound(far, MILD_H, error=0.1).training_length > 82
    short = lw.shorten(far, MILD_H, [0, 1, 1, 0, 1], error=0.1)
    assert (short.length, short.reason) == (5, "no shorter one has the same ending")


def test_wrong_pairs_are_told():
    three = LimitTransformer(
        embedding=np.eye(3), layers=(Layer(), Layer()), unembedding=[[1.0, 0, 0]], attention="log-suffix"
    )
    with pytest.raises(WrongInput, match="one vocabulary"):
        lw.bound(MILD_F, three, error=0.1)
    with pytest.raises(WrongInput, match="as many outputs"):
        lw.bound(kgram_add(2, 1, 3.0), MILD_F, error=0.1)
    with pytest.raises(WrongInput, match="leave it out"):
        lw.bound(MILD_F, error=0.1, same_attention=True)
