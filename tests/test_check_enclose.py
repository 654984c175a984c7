"""The checker's own functions against python-flint: they contain the true value, and tightly."""

from fractions import Fraction

import flint
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from helpers_certificates import CHECKER
from lengthwise.exact import power_reaches

enclose = CHECKER.enclose
Enclosure = enclose.Enclosure
SIZES = [120, pytest.param(5_000, marks=pytest.mark.slow)]


def fractions(largest=200):
    """Small and large, dyadic and not, and floats of every size."""
    whole = st.integers(-largest, largest)
    return st.one_of(
        st.fractions(-largest, largest, max_denominator=10**6),
        st.tuples(whole, st.integers(-30, 0)).map(lambda pair: pair[0] * Fraction(2) ** pair[1]),
        st.floats(-largest, largest, allow_subnormal=False).map(Fraction),
    )


def arb(value):
    return flint.arb(flint.fmpq(value.numerator, value.denominator))


def true(name, value, bits=3000):
    with flint.ctx.workprec(bits):
        return getattr(arb(value), name)()


def contains(found, ball):
    with flint.ctx.workprec(6000):
        return bool(arb(found.low) <= ball) and bool(ball <= arb(found.high))


def cases(count, *strategies):
    def decorate(test):
        run = given(*strategies)(test)
        return settings(max_examples=count, deadline=None, database=None, suppress_health_check=list(HealthCheck))(run)

    return decorate


@pytest.mark.parametrize("count", SIZES)
@pytest.mark.parametrize("name", ["exp", "sin", "tanh"])
def test_a_function_at_a_point(name, count):
    @cases(count, fractions(), st.sampled_from([256, 64, 1000]))
    def run(x, bits):
        found = getattr(enclose, name)(Enclosure.of(x), bits)
        value = true(name, x, 4 * bits + 3000)
        assert contains(found, value) or found.exact
        size = abs(float(value)) if name == "exp" else 1
        assert found.high - found.low <= max(Fraction(size), Fraction(2) ** -300) * Fraction(1, 1 << min(bits, 380)) * 8

    run()


@pytest.mark.parametrize("count", SIZES)
def test_the_logarithm(count):
    @cases(count, st.one_of(st.integers(2, 10**60), fractions()), st.sampled_from([64, 256, 1000]))
    def run(x, bits):
        q = abs(Fraction(x))
        if q:
            found = enclose.log(q, bits)
            assert contains(found, true("log", q, 4 * bits + 3000)) or q == 1
            assert found.high - found.low <= Fraction(1, 1 << bits)

    run()


@pytest.mark.parametrize("count", SIZES)
@pytest.mark.parametrize("name", ["exp", "sin", "tanh"])
def test_a_function_on_an_interval_contains_every_value(name, count):
    @cases(count, fractions(20), fractions(3).map(abs), st.fractions(0, 1, max_denominator=97))
    def run(low, width, share):
        found = getattr(enclose, name)(Enclosure(low, low + width))
        assert contains(found, true(name, low + share * width)) or found.exact

    run()


def test_exact_values_stay_exact():
    zero = Enclosure.of(0)
    assert (enclose.sin(zero), enclose.tanh(zero), enclose.exp(zero)) == (zero, zero, Enclosure.of(1))
    assert enclose.log(Fraction(1)) == zero


@pytest.mark.parametrize("x", [Fraction(10**6), Fraction(-(10**6)), Fraction(2) ** 4400, Fraction(7, 3) * 2**300])
def test_large_arguments(x):
    assert contains(enclose.sin(Enclosure.of(x)), true("sin", x, 12_000))
    tanh = enclose.tanh(Enclosure.of(x))
    assert tanh.low <= (1 if x > 0 else -1) <= tanh.high
    small = enclose.exp(Enclosure.of(-abs(x)))
    assert small.low == 0 < small.high == Fraction(1, 1 << (1 << 16))


@pytest.mark.parametrize("multiple", [1, -1, 2, 22, 355])
def test_the_sine_near_multiples_of_pi(multiple):
    with flint.ctx.workprec(400):
        near = flint.arb.pi() * multiple
    mantissa, exponent = near.mid().man_exp()
    x = int(mantissa) * Fraction(2) ** int(exponent)
    found = enclose.sin(Enclosure.of(x))
    assert contains(found, true("sin", x, 2000))
    assert found.size < Fraction(1, 1 << 200)


@pytest.mark.parametrize("count", SIZES)
def test_arithmetic_contains_every_value(count):
    part = st.tuples(fractions(9), fractions(2).map(abs), st.fractions(0, 1, max_denominator=13))

    @cases(count, part, part, fractions(5))
    def run(one, two, factor):
        (x, p), (y, q) = ((Enclosure(low, low + width), low + share * width) for low, width, share in (one, two))
        above = Enclosure(abs(y.low) + Fraction(1, 7), abs(y.low) + Fraction(1, 7) + y.high - y.low)
        r = above.low + two[2] * (above.high - above.low)
        for found, value in (
            (x + y, p + q),
            (x - y, p - q),
            (x * factor, p * factor),
            (x / above, p / r),
            (x.rounded(), p),
            (CHECKER.evaluate.product([[5, -3]], [x, y], 7)[0], (5 * p - 3 * q) / 7),
        ):
            assert found.low <= value <= found.high
        assert abs(p) <= x.size

    run()


# --- whether a weight is flushed ---


@pytest.mark.parametrize("count", SIZES)
def test_the_flush_is_decided_as_by_another_program(count):
    gaps = st.fractions(Fraction(1, 1000), 50, max_denominator=10**6)

    @cases(count, st.integers(1, 10**40), gaps, st.integers(1, 300))
    def run(n, gap, bits):
        assert enclose.reaches(n, gap, bits) == power_reaches(n, gap, bits)

    run()


@pytest.mark.parametrize("power", [1, 7, 64, 1000])
def test_the_flush_at_and_beside_the_threshold(power):
    """n^g = 2^p exactly where n = 2^power and g = p / power; one position less or more decides otherwise."""
    gap = Fraction(5 * power, power)
    n, bits = 2**power, 5 * power
    assert enclose.reaches(n, gap, bits)
    assert enclose.reaches(n + 1, gap, bits)
    assert not enclose.reaches(n, gap, bits + 1)
    if power > 1:
        assert not enclose.reaches(n - 1, gap, bits)
        third = Fraction(bits, power)
        assert enclose.reaches(n, third, bits)
        assert not enclose.reaches(n, third - Fraction(1, 10**30), bits)


def test_the_flush_at_the_best_approximations_of_a_logarithm():
    """Convergents u/v of 1 / log2(3): 3^u and 2^v are as close as they ever come."""
    with flint.ctx.workprec(3000):
        ratio = flint.arb(2).log() / flint.arb(3).log()
        mantissa, exponent = ratio.mid().man_exp()
    x = int(mantissa) * Fraction(2) ** int(exponent)
    before, now = (0, 1), (1, 0)
    for _ in range(200):
        whole = x.numerator // x.denominator
        before, now = now, (whole * now[0] + before[0], whole * now[1] + before[1])
        if x == whole or now[0] > 10**90:
            break
        x = 1 / (x - whole)
        if now[0] and now[1]:
            u, v = now
            assert enclose.reaches(3, Fraction(u, v), 1) == power_reaches(3, Fraction(u, v), 1)
            if u < 3000:
                assert enclose.reaches(3, Fraction(u, v), 1) == (3**u >= 2**v)
