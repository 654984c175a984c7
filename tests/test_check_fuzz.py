"""Whatever the checker reads, it ends with a verdict or with Unreadable: 2,000 cases here, 100,000 in `make test-all`."""

import json
from collections import Counter

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from helpers_certificates import CHECKER, altered, at, lengths, places, second_opinion, shortenings

SIZES = [1, pytest.param(50, marks=pytest.mark.slow)]
GOOD = [shortenings()["modp"], shortenings()["locality 2"], shortenings()["plain"], lengths()["residues"]]
BYTES = [json.dumps(certificate).encode() for certificate in GOOD]
NUMBERS = st.one_of(
    st.integers(),
    st.integers(-3, 3),
    st.sampled_from(
        ["", "1/0", "0/1", "-0", "+1", "1.0", "1e5", "NaN", "inf", "1/-2", "2*2^3*2^1", "1*2^2201", " 1", "１"]
    ),
    st.fractions().map(str),
    st.tuples(st.integers(), st.integers(-3_000, 3_000)).map(lambda pair: f"{pair[0]}*2^{pair[1]}"),
)
ANYTHING = st.one_of(
    NUMBERS,
    st.none(),
    st.booleans(),
    st.floats(),
    st.text(max_size=5),
    st.lists(NUMBERS, max_size=4),
    st.dictionaries(st.text(max_size=3), NUMBERS, max_size=2),
)


def fuzz(cases, attempt, *strategies):
    """Runs an attempt on that many cases and counts how they end."""
    endings = Counter()

    @settings(max_examples=cases, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(st.tuples(*strategies))
    def run(drawn):
        endings[attempt(*drawn)] += 1

    run()
    return endings


def ending(data):
    try:
        verdict = CHECKER.check_bytes(data)
    except CHECKER.Unreadable as error:
        said, kind = str(error), "unreadable"
    else:
        said, kind = verdict.statement or verdict.reason, "valid" if verdict.valid else "refused"
        assert bool(verdict.statement) != bool(verdict.reason)
    assert said.isprintable()
    assert 0 < len(said) < 1000
    return kind


@pytest.mark.parametrize("size", SIZES)
def test_bytes_of_a_certificate_changed(size):
    change = st.tuples(st.integers(0, 10**4), st.integers(0, 60), st.binary(max_size=8))

    def attempt(data, changes):
        for start, length, new in changes:
            data = data[: start % len(data)] + new + data[start % len(data) + length :] or b"0"
        return ending(data)

    found = fuzz(600 * size, attempt, st.sampled_from(BYTES), st.lists(change, min_size=1, max_size=3))
    assert found["unreadable"] > 100 * size


@pytest.mark.parametrize("size", SIZES)
def test_any_bytes(size):
    alphabet = st.sampled_from(
        [b"[", b"]", b"{", b"}", b'"', b",", b":", b"\\", b"1", b"e", b"-", b" ", b"null", b"\xff"]
    )
    assert fuzz(400 * size, ending, st.lists(alphabet, max_size=60).map(b"".join)).keys() == {"unreadable"}
    assert fuzz(200 * size, ending, st.binary(max_size=200)).keys() == {"unreadable"}


@pytest.mark.parametrize("size", SIZES)
def test_any_value_anywhere(size):
    """Whatever stands in place of a number; what is still valid must be true."""

    def attempt(certificate, place, value):
        every = list(places(certificate))
        path = every[place % len(every)][: 1 + place % 9]
        changed = altered(certificate, path, value)
        kind = ending(json.dumps(changed).encode())
        if kind == "valid" and changed["models"] == certificate["models"]:
            assert second_opinion(changed)
        return kind

    found = fuzz(600 * size, attempt, st.sampled_from(GOOD), st.integers(0, 10**6), ANYTHING)
    assert found["unreadable"]
    assert found["refused"] + found["valid"]


@pytest.mark.parametrize("size", SIZES)
def test_a_field_taken_away_or_put_anywhere(size):
    def attempt(certificate, place, name):
        every = [path[:cut] for path in places(certificate) for cut in range(len(path))]
        path = every[place % len(every)]
        holder = at(certificate, path)
        if isinstance(holder, dict):
            names = [*holder, name]
            chosen = names[place % len(names)]
            value = {k: v for k, v in holder.items() if k != chosen} if chosen in holder else holder | {chosen: 1}
            changed = altered(certificate, path, value) if path else value
            assert ending(json.dumps(changed).encode()) == "unreadable"
            return "unreadable"
        return "no object"

    assert fuzz(200 * size, attempt, st.sampled_from(GOOD), st.integers(0, 10**6), st.text(max_size=4))["unreadable"]
