"""Every number of valid certificates altered: the checker accepts what is still true, by another program, and no more."""

import pytest

from helpers_certificates import (
    accepted,
    altered,
    at,
    lengths,
    neighbours,
    places,
    second_opinion,
    shortenings,
    verdict,
)

EVERY = {
    **{f"shortening, {n}": c for n, c in shortenings().items()},
    **{f"length, {n}": c for n, c in lengths().items()},
}


@pytest.mark.parametrize("name", EVERY)
def test_valid_certificates_are_accepted(name):
    assert verdict(EVERY[name]) is True
    assert second_opinion(EVERY[name]) is True


@pytest.mark.parametrize("every", [False, pytest.param(True, marks=pytest.mark.slow)], ids=["one", "all"])
@pytest.mark.parametrize("name", EVERY)
def test_an_altered_number_is_refused_or_the_statement_still_follows(name, every):
    certificate, refused = EVERY[name], 0
    weights = [path for path in places(certificate) if path[0] == "models"]
    claims = [path for path in places(certificate) if path[0] != "models"]
    changing = claims + (weights if every else weights[:: 1 + len(weights) // 60])  # a sample of them, evenly
    for index, path in enumerate(changing):
        near = neighbours(at(certificate, path))
        for value in near if every else [near[index % len(near)]]:
            changed = altered(certificate, path, value)
            if accepted(changed):
                assert second_opinion(changed), (path, value)
            else:
                refused += 1
    assert refused >= 10
