"""Short strings for models that see the order of tokens: what is claimed is what evaluation says."""

import math

import numpy as np
import pytest

import lengthwise as lw
from helpers_quantities import MILD_F, MILD_H
from lengthwise.errors import WrongInput
from lengthwise.limit.constructions import kgram_and
from lengthwise.theory.measured_shorten import Sampled

STRING = (np.arange(4000) ** 2 % 7 < 3).astype(np.int64)


def test_errors_are_those_of_the_two_strings():
    found = lw.shorten(MILD_F, MILD_H, STRING, error=0.001)
    assert isinstance(found, Sampled)
    for model, error in zip((MILD_F, MILD_H), found.errors, strict=True):
        away = math.dist(lw.evaluate(model, STRING), lw.evaluate(model, found.string))
        assert away == pytest.approx(error, abs=1e-15)
    assert sum(found.errors) <= 0.001
    assert found.length == len(found.tokens) < 2000
    assert found.tokens[-3:] == STRING[-3:].tolist()
    assert f"{found.length} tokens stand in for 4,000" in str(found)
    assert found.bound.training_length > found.length


def test_a_smaller_error_needs_more_and_none_is_the_string_itself():
    lengths = [lw.shorten(MILD_F, None, STRING, error=error).length for error in (0.01, 0.0005)]
    assert lengths[0] < lengths[1]
    whole = lw.shorten(MILD_F, None, STRING, error=1e-12)
    assert (whole.length, whole.errors) == (4000, (0.0,))
    assert "within the error" in str(whole)
    tiny = lw.shorten(MILD_F, None, [0, 1, 1], error=0.1)
    assert (tiny.length, tiny.reason) == (3, "no shorter one has the same ending")


def test_seeds_and_draws():
    model = kgram_and(2, 1, 0.1)
    first, same, other = (lw.shorten(model, None, STRING, error=0.01, seed=seed) for seed in (0, 0, 5))
    assert first.string == same.string
    assert first.string != other.string
    seen = []
    lw.shorten(model, None, STRING, error=0.01, draws=30, report=lambda *told: seen.append(told))
    assert seen
    assert all(done <= total for done, total, _ in seen)


def test_what_cannot_be_measured_is_told(tmp_path):
    with pytest.raises(WrongInput, match="order of tokens"):
        lw.shorten(MILD_F, None, lw.Counts(suffix=[0, 1], table=[[5], [4]]), error=0.1)
    found = lw.shorten(MILD_F, None, np.tile(STRING, 8), error=0.01)
    with pytest.raises(WrongInput, match="stays numerical"):
        found.certificate(tmp_path / "c.json")
