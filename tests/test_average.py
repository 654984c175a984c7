"""Theorem 3: the drift of expected errors, against the note's numbers, against integrals, against simulation."""

import itertools
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import brentq

from helpers_quantities import random_one_layer, table_model
from lengthwise.enclosures import absence, beta_moment, beta_tail
from lengthwise.errors import WrongInput
from lengthwise.exact import Ball
from lengthwise.limit.constructions import mod_p_task, simple_task
from lengthwise.limit.model import Layer
from lengthwise.limit.patterns import Comparison
from lengthwise.theory import beta_integrals
from lengthwise.theory.average import drift, least_size, plain_straying, straying
from lengthwise.theory.beta_integrals import Straying, expected_minimum
from lengthwise.theory.law import DirichletLaw
from lengthwise.theory.monte_carlo import draw_counts, sample_errors
from lengthwise.theory.plain_straying import PlainStraying


def uniform(model):
    """The same values and read-out under uniform attention."""
    layer = model.layers[0]
    return replace(model, layers=(Layer(tuple(replace(h, key=h.key * 0) for h in layer.heads), layer.mlp),))


F4 = simple_task(4, bits=4)
G4 = uniform(F4)


def integral(function, a, b, kinks):
    """E function(u), u ~ Beta(a, b), by quadrature in t = log(u / (1 - u)), where the density has exponential tails."""
    log_beta = math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)

    def integrand(t):
        log_u, log_rest = -np.logaddexp(0, -t), -np.logaddexp(0, t)
        return function(math.exp(log_u)) * math.exp(a * log_u + b * log_rest - log_beta)

    cuts = sorted({-80 / a, *(math.log(k / (1 - k)) for k in kinks), 80 / b})
    cuts = sorted({*cuts, *(x for x in range(-30, 31, 3) if cuts[0] < x < cuts[-1])})
    return sum(quad(integrand, low, high, limit=200, epsabs=1e-14)[0] for low, high in itertools.pairwise(cuts))


def close(ball, value, tolerance=1e-7):
    return ball.lower() <= value + tolerance * (1 + abs(value)) and value - tolerance * (1 + abs(value)) <= ball.upper()


CASES = [(1, 2), ("1/2", 3), ("3/10", "8/5"), (1, 1), (2, "1/3"), (7, 40)]


@pytest.mark.parametrize(("a", "b"), CASES)
@pytest.mark.parametrize("power", ["0", "1/2", "1"])
@pytest.mark.parametrize("start", ["1/1000000", "1/50", "2/3"])
def test_tails_of_beta_moments_are_the_integrals(a, b, power, start):
    a, b, power, start = map(Fraction, (a, b, power, start))
    wanted = integral(lambda u: u ** -float(power) * (u >= start), float(a), float(b), [float(start)])
    found = beta_tail(a, b, power, start)
    assert close(found, wanted)
    assert found.upper() - found.lower() < 1e-15 * max(1, wanted)


def test_a_tail_that_no_digits_decide_is_still_enclosed():
    found = beta_tail(Fraction(1, 10**6), Fraction(10**6), Fraction(0), Fraction(1, 3))
    assert found.lower() <= 1e-30
    assert found.upper() >= 0


def test_whole_moments():
    assert close(beta_moment(Fraction(3), Fraction(2), Fraction(1)), 2.0)  # (a + b - 1)/(a - 1)
    assert close(beta_moment(Fraction(3), Fraction(2), Fraction(1, 2)), integral(lambda u: u**-0.5, 3, 2, []))
    assert math.isinf(beta_moment(Fraction(1, 2), Fraction(2), Fraction(1, 2)).upper())


@pytest.mark.parametrize(("a", "b", "count"), [("3/10", "8/5", 1), (2, 3, 17), (1, 1, 1000)])
def test_the_chance_that_a_type_is_missing_is_a_product(a, b, count):
    a, b = Fraction(a), Fraction(b)
    product = Fraction(1)
    for j in range(count):  # E (1-u)^C = prod (b + j)/(a + b + j)
        product *= (b + j) / (a + b + j)
    found = absence(a, b, count)
    assert found.overlaps(product)
    assert found.upper() - found.lower() < 1e-15


def test_the_chance_that_a_type_is_missing_at_astronomical_lengths():
    found = absence(Fraction(1), Fraction(2), 10**60)  # = 2 / (C + 2)
    assert found.overlaps(Fraction(2, 10**60 + 2))
    assert found.upper() / found.lower() - 1 < 1e-15


@pytest.mark.parametrize(("a", "b"), CASES)
@pytest.mark.parametrize(
    "parts", [(0.3, 0.0, 0.0), (0.05, 0.01, 0.02), (1.2, 0.5, 0.0), (0.001, 0.4, 0.0), (9.0, 1.0, 0.3)]
)
def test_the_expected_minimum_is_the_integral(a, b, parts):
    a, b = Fraction(a), Fraction(b)
    root, inverse, constant = parts
    v = lambda u: min(1.0, root * u**-0.5 + inverse / u + constant)  # noqa: E731
    found = expected_minimum(*map(Ball.of, parts), a, b)
    over = lambda u: root * u**-0.5 + inverse / u + constant - 1  # noqa: E731
    kinks = [brentq(over, 1e-12, 1 - 1e-12)] if over(1 - 1e-12) < 0 else []
    assert close(found, integral(v, float(a), float(b), kinks))
    assert found.upper() - found.lower() < 1e-15


def test_the_numbers_of_the_note():
    even = drift(F4, G4, 1)
    for size, value in ((100, 2.53979), (10**4, 0.23964), (10**6, 0.02382)):
        (found,) = even.at(size)
        assert found.upper() == pytest.approx(value, abs=5e-6)
    (found,) = drift(F4, G4, 0.3).at(10**4)
    assert found.upper() == pytest.approx(0.32829, abs=5e-6)
    assert even.class_size(Fraction(1, 2)) == pytest.approx(9200, rel=1e-3)  # the note bisects to 0.1 %


def test_the_class_size_is_the_least_integer():
    for pair, alpha, error in (((F4, G4), 1, "1/2"), ((F4, F4), "1/10", "1/3"), ((F4, G4), "3/10", "1/100")):
        even, error = drift(*pair, alpha), Fraction(error)
        size = even.class_size(error)
        assert all((2 * rate).certainly_less(error) for rate in even.at(size))
        assert any(Ball.of(error).certainly_less(2 * rate) for rate in even.at(size - 1))


def test_larger_class_sizes_are_found_to_64_digits():
    even = drift(F4, F4, "1/100")  # alpha(T) = 1/50 where the query is no evidence: C about eps^-50
    error = Fraction(1, 10)
    size = even.class_size(error)
    assert size > 2**128
    assert all((2 * rate).certainly_less(error) for rate in even.at(size))
    assert not all((2 * rate).certainly_less(error) for rate in even.at(size - (size >> 60)))


def test_the_least_size_by_bisection():
    for answer in [1, 2, 3, 4, 5, 63, 64, 65, 1000, 2**70 + 3, 2**127 + 12345]:
        assert least_size(lambda size, answer=answer: size >= answer) == answer
    assert least_size(lambda size: False) is None
    far = 3 * 2**400 + 1
    found = least_size(lambda size: size >= far)
    assert far <= found <= far + (far >> 62)


def slope(function, low, high):
    """Log-log slope between two sizes."""
    return math.log(function(high) / function(low)) / math.log(high / low)


@pytest.mark.parametrize(
    ("strays", "rate"),
    [
        (Straying(2, 1, 0, Fraction(2), Fraction(1), False), 0.5),
        (Straying(2, 1, 1, Fraction(3, 4), Fraction(3), False), 0.5),
        (Straying(2, 1, 1, Fraction(1, 5), Fraction(3), False), 0.2),
        (Straying(2, 1, 1, Fraction(1, 5), Fraction(3), True), 0.2),
        (Straying(6, 2, 1, Fraction(3), Fraction(0), True), 0.5),
        (Straying(1, 1, 0, Fraction(1, 4), Fraction(2), False), 0.25),
        (Straying(1, 1, 0, Fraction(3), Fraction(2), False), 3.0),
    ],
)
def test_it_falls_at_the_stated_rate(strays, rate):
    assert float(strays.exponent) == rate
    assert slope(lambda size: strays.expected(size).upper(), 10**18, 10**20) == pytest.approx(-rate, abs=0.01)
    closed = slope(lambda size: strays.closed_form(size).upper(), 10**18, 10**20)
    assert -rate - 0.01 <= closed <= -0.8 * rate


def test_the_closed_form_is_an_upper_bound_and_falls():
    for alpha in (1, "1/5", "1/20"):
        pair = drift(F4, G4, alpha)
        before = math.inf
        for size in (1, 10, 1000, 10**6, 10**12):
            (sharp,), (closed,) = pair.at(size), pair.closed_form(size)
            assert sharp.lower() <= closed.upper() <= before + 1e-12
            before = closed.upper()
        assert pair.class_size(Fraction(1, 2)) <= pair.class_size(Fraction(1, 2), closed=True)


def test_what_a_head_attends_to():
    pair = Comparison(F4, G4)
    even = DirichletLaw.of(1, 3)
    assert straying(pair.slots((0, 0), 2, 0), even.after(2)) == Straying(2, 1, 0, Fraction(2), Fraction(2), False)
    assert straying(pair.slots((0, 0), 0, 0), even.after(0)) == Straying(2, 1, 1, Fraction(3), Fraction(1), False)
    assert straying(pair.slots((1, 0), 0, 0), even.after(0)) == Straying(3, 1, 1, Fraction(4), Fraction(0), False)
    modular = Comparison(mod_p_task(3, 1, bits=4))
    assert straying(modular.slots((0, 0), 0, 1), DirichletLaw.of(1, 2)) == Straying(
        2, 1, 1, Fraction(2), Fraction(0), True
    )


def far_apart(first, second, alpha, lengths, samples, seed):
    """How many standard errors a head's mean total variation lies above its bound Psi(C_n) + Psi(C_N)."""
    pair = Comparison(first, second)
    law = DirichletLaw.of(alpha, first.symbols)
    found = sample_errors(first, second, alpha, lengths, samples, seed)
    sizes = [(n - pair.locality - 1) // pair.period for n in lengths]
    worst = -math.inf
    for head, mean in found.variation.items():
        bound = sum(
            float(law.alpha[y] / law.total)
            * straying(pair.slots(head, y, lengths[0]), law.after(y)).expected(C).upper()
            for y in range(pair.symbols)
            for C in sizes
        )
        worst = max(worst, (mean.mean - bound) / max(mean.interval / 1.96, 1e-12))
    return worst


def simulated(models, samples, seed):
    """Random heads with ties and suffix logits, random laws, random lengths: the worst excess in standard errors."""
    rng = np.random.default_rng(seed)
    worst = -math.inf
    for _ in range(models):
        model = random_one_layer(rng, symbols=int(rng.integers(2, 5)), period=int(rng.integers(1, 4)), masks=False)
        alpha = [float(a) for a in rng.choice([0.05, 0.2, 0.6, 1.0, 3.0], size=model.symbols)]
        short = model.locality + 1 + model.period * int(rng.integers(1, 40)) + int(rng.integers(0, model.period))
        long = short + model.period * int(rng.integers(0, 4000))
        worst = max(worst, far_apart(model, model, alpha, [short, long], samples, int(rng.integers(2**31))))
    return worst


def test_no_simulated_variation_is_above_the_bound():
    assert simulated(40, 800, 1) < 3


@pytest.mark.slow
def test_no_simulated_variation_is_above_the_bound_in_many():
    assert simulated(600, 1200, 2) < 3


def plain_excess(model, alpha, size, samples, seed):
    """Standard errors by which the mean TV between a plain head's law on drawn counts and its limit exceeds Psi(C)."""
    rng = np.random.default_rng(seed)
    pair, symbols = Comparison(model), model.symbols
    period, token, residue = pair.period, int(rng.integers(symbols)), int(rng.integers(pair.period))
    options, shifts = pair.slots((0, 0), token, residue), pair.shifts((0, 0))
    suffix = rng.integers(0, symbols, len(shifts))
    suffix[0] = token
    near = [
        math.exp(options.exact(logits[s if k else 0]))
        for k, (s, logits) in enumerate(zip(suffix, options.suffix, strict=True))
        if logits
    ]
    weights = np.exp([float(options.exact(logit)) for logit in options.prefix])
    shares = rng.dirichlet([alpha] * symbols, size=samples)
    more = int(rng.integers(0, period))
    counts = draw_counts(rng, shares, size * period + more, period)
    law = np.concatenate([counts * weights[:, None], np.tile(np.array(near)[:, None], (1, samples))])
    limit = np.repeat(shares.T, period, axis=0) * weights[:, None]
    limit = np.concatenate([limit, np.zeros((len(near), samples))])
    moved = np.abs(law / law.sum(axis=0) - limit / limit.sum(axis=0)).sum(axis=0) / 2
    bound = plain_straying(options, shifts).expected(size).upper()
    return (moved.mean() - bound) / max(moved.std() / math.sqrt(samples), 1e-12)


def plain_simulated(models, seed):
    rng = np.random.default_rng(seed)
    return max(
        plain_excess(
            random_one_layer(rng, int(rng.integers(2, 5)), int(rng.integers(1, 4)), masks=False, attention="plain"),
            float(rng.choice([0.05, 0.5, 3.0, 100.0])),
            int(np.exp(rng.uniform(0, 6))),
            1000,
            int(rng.integers(2**31)),
        )
        for _ in range(models)
    )


def test_plain_attention_strays_no_further_than_stated():
    assert plain_simulated(60, 3) < 3


@pytest.mark.slow
def test_plain_attention_strays_no_further_than_stated_in_many():
    assert plain_simulated(1500, 4) < 3


def test_a_smaller_constant_for_plain_attention_is_noticed(monkeypatch):
    model = replace(EVEN, attention="plain", bits=None)
    assert plain_excess(model, 10, 300, 2000, 1) < 3
    honest = PlainStraying.expected
    monkeypatch.setattr(PlainStraying, "expected", lambda self, size: honest(self, size) * Fraction(6, 10))
    assert plain_excess(model, 10, 300, 2000, 1) > 3


EVEN = table_model([0] * 30, list(range(30)), bits=4)  # uniform attention over 30 tokens: there the bound is sharpest


def shrunk(monkeypatch, factor, ties=True):
    """Multiplies kap, and drops the suffix positions that tie."""
    honest = Straying._parts

    def parts(self, size):
        root, inverse, constant = honest(self, size)
        return root * factor, inverse if ties else Ball.of(0), constant

    monkeypatch.setattr(beta_integrals.Straying, "_parts", parts)


def test_a_smaller_constant_is_noticed(monkeypatch):
    assert far_apart(EVEN, EVEN, 10, [301, 2**40], 2000, 1) < 3
    shrunk(monkeypatch, Fraction(6, 10))
    assert far_apart(EVEN, EVEN, 10, [301, 2**40], 2000, 1) > 3


def test_forgotten_suffix_positions_are_noticed(monkeypatch):
    """Uniform attention, and a suffix of 20 that takes part: without b/(k C u) the bound is below what happens."""
    model = table_model([0, 0], [1, 0], phi=[0.0] * 20 + [-1.0], bits=4)
    assert far_apart(model, model, 10, [121, 2**40], 2000, 1) < 3
    shrunk(monkeypatch, 1, ties=False)
    assert far_apart(model, model, 10, [121, 2**40], 2000, 1) > 3


def test_counts_are_multinomial():
    rng = np.random.default_rng(0)
    shares = np.tile([0.2, 0.3, 0.5], (4000, 1))
    drawn = draw_counts(rng, shares, 11, 2)  # residue 0: 5 places, residue 1: 6
    assert drawn.shape == (6, 4000)
    assert (drawn.reshape(3, 2, -1).sum(axis=0) == [[5], [6]]).all()
    assert drawn.mean(axis=1) == pytest.approx([1.0, 1.2, 1.5, 1.8, 2.5, 3.0], abs=0.1)


def test_estimates_of_the_note():
    found = sample_errors(F4, G4, 1, [65, 10**6 + 1], samples=20_000, seed=5)
    assert found.errors[65].mean == pytest.approx(0.380, abs=0.015)
    assert found.errors[10**6 + 1].mean == pytest.approx(0.360, abs=0.014)
    (short,), (long,) = drift(F4, G4, 1).at(64), drift(F4, G4, 1).at(10**6)
    assert abs(found.drift.mean) < found.bound(Comparison(F4, G4)) < short.upper() + long.upper()
    for mean in found.errors.values():
        assert 0 < mean.interval < 0.01 < mean.radius
        assert mean.radius == pytest.approx(16 * math.sqrt(math.log(40) / 40_000))


def test_estimates_are_those_of_explicit_strings():
    """Counts against strings: the same expectation, by the definition on drawn strings."""
    from helpers_quantities import one_layer_output

    model = random_one_layer(np.random.default_rng(3), symbols=3, period=2, locality=1, masks=False)
    other = random_one_layer(np.random.default_rng(4), symbols=3, period=2, locality=1, masks=False)
    while len(other.embedding[0]) != len(model.embedding[0]):
        other = random_one_layer(np.random.default_rng(9), symbols=3, period=2, locality=1, masks=False)
    rng, values = np.random.default_rng(7), []
    for _ in range(3000):
        string = rng.choice(3, size=12, p=rng.dirichlet([0.5, 1.0, 2.0]))
        values.append(np.abs(one_layer_output(model, string) - one_layer_output(other, string)).max())
    mean, error = np.mean(values), np.std(values) / math.sqrt(len(values))
    found = sample_errors(model, other, [0.5, 1.0, 2.0], [12], samples=20_000, seed=1).errors[12]
    assert abs(found.mean - mean) < 4 * math.hypot(error, found.interval / 1.96)


def test_the_same_seed_gives_the_same_numbers_at_any_length():
    lengths = [65, 2**62]
    assert sample_errors(F4, G4, 1, lengths, 500, 3) == sample_errors(F4, G4, 1, lengths, 500, 3)
    assert sample_errors(F4, G4, 1, lengths, 500, 3) != sample_errors(F4, G4, 1, lengths, 500, 4)


@pytest.mark.parametrize(
    ("alpha", "word"),
    [
        ([1, 2], "3 weights"),
        ([1, -1, 1], "weight >= 0"),
        (["x", 1, 1], "weight >= 0"),
        (0, "more than 0"),
        (math.nan, "weight"),
    ],
)
def test_laws_that_are_none(alpha, word):
    with pytest.raises(WrongInput, match=word):
        DirichletLaw.of(alpha, 3)


@pytest.mark.parametrize(
    ("lengths", "samples", "word"),
    [([], 10, "none"), ([0], 10, "lengths from 1"), ([2**63], 10, "2\\^62"), ([5], 1, "2 samples")],
)
def test_simulations_that_cannot_be(lengths, samples, word):
    with pytest.raises(WrongInput, match=word):
        sample_errors(F4, G4, 1, lengths, samples)


def test_lengths_of_one_coupling_are_congruent():
    with pytest.raises(WrongInput, match="congruent"):
        sample_errors(mod_p_task(3, 0, bits=4), mod_p_task(3, 1, bits=4), 1, [10, 12])
