"""Models and conditions made to mislead floating point: what is claimed is still what the independent checker accepts."""

from fractions import Fraction

import numpy as np
import pytest

import lengthwise as lw
from helpers_certify import fractions
from lengthwise.check import check_bytes
from lengthwise.errors import WrongInput
from lengthwise.theory.certificate import certificate_text
from lengthwise.theory.certify import Limits
from lengthwise.theory.frequency_target import FrequencyTarget
from lengthwise.theory.worst_certificate import worst_certificate

NOTHING = FrequencyTarget("identity", Fraction(0), fractions([[0], [0]]), fractions([[1], [1]]))
QUICK = Limits(tolerance=0.01, most_cells=400)


def plain(embedding, logits, values, unembedding):
    """A sum of plain heads with these logits by token, whatever asks, and these values; the query's own vector adds 0."""
    symbols, width = np.shape(embedding)
    vectors = np.hstack([embedding, np.zeros((symbols, width)), np.eye(symbols), np.ones((symbols, 1))])
    every = vectors.shape[1]
    heads = []
    for by_token, value in zip(logits, values, strict=True):
        key, query, moved = np.zeros((1, every)), np.zeros((1, every)), np.zeros((every, every))
        key[0, 2 * width : -1], query[0, -1] = by_token, 1.0
        moved[width : 2 * width, :width] = value
        heads.append(lw.Head(key, query, moved))
    out = np.zeros((1, every))
    out[0, width : 2 * width] = unembedding
    return lw.LimitTransformer(
        embedding=vectors,
        positions=np.zeros((1, every)),
        layers=[lw.Layer(heads)],
        unembedding=out,
        attention="plain",
    )


def held(model, target=NOTHING, where=None, limits=QUICK):
    """What is found, after the checker has accepted it."""
    found = lw.certify(model, target, where=where, limits=limits)
    ended = check_bytes(certificate_text(worst_certificate(found)).encode())
    assert ended.valid, ended.reason
    return found


@pytest.mark.parametrize("seed", range(4))
def test_large_numbers_that_cancel(seed):
    """What tokens bring is a sum of terms of 10^9 that is nearly 0: it is off by its terms, not by itself."""
    rng = np.random.default_rng(seed)
    embedding, sizes = rng.normal(size=(2, 6)), 1e9 * rng.normal(size=6)
    sizes[-1] = -(embedding[0, :-1] @ sizes[:-1]) / embedding[0, -1]
    embedding[1, -1] = -(embedding[1, :-1] @ sizes[:-1]) / sizes[-1]
    found = held(plain(embedding, [[0.0, 1.0]], [np.diag(sizes)], np.ones(6)))
    assert found.upper - found.lower < 0.1


@pytest.mark.parametrize("gap", [30.0, 300.0, 490.0])
def test_weights_far_apart(gap):
    """Any mixture can be had, whatever the weights: the supremum of |a share| is 1."""
    model = plain([[0.0], [1.0]], [[0.0, -gap]], [[[1.0]]], [1.0])
    found = held(model, limits=Limits(tolerance=0.01, most_cells=2000))
    assert found.lower <= 1 <= found.upper < 1.01


@pytest.mark.parametrize("gap", [600.0, 800.0, 5000.0])
def test_weights_that_float64_does_not_hold(gap):
    """A weight that underflows to 0 is not 0: a string of that token alone has the error 1."""
    model = plain([[0.0], [1.0]], [[0.0, -gap]], [[[1.0]]], [1.0])
    with pytest.raises(WrongInput, match="differ by at most 500"):
        lw.certify(model, NOTHING)


def test_heads_with_opposite_weights_far_apart():
    """Ratios of masses to e^960: their total variation is 1, and not a number that is none."""
    model = plain([[0.0], [1.0]], [[0.0, -480.0], [-480.0, 0.0]], [[[1.0]], [[1.0]]], [1.0])
    found = held(model)
    assert found.upper >= 2 - 1e-6


def test_outputs_larger_than_64_bits_of_leaf_units():
    model = plain([[0.0], [1.0]], [[0.0, 1.0]], [[[1.0]]], [2.0**50])
    found = held(model, limits=Limits(tolerance=1.0, most_cells=50))
    assert found.upper >= 2.0**50


def test_numbers_that_overflow():
    model = plain([[0.0], [1e200]], [[0.0, 1.0]], [[[1e200]]], [1.0])
    with pytest.raises(WrongInput, match="numbers up to some 1e"):
        lw.certify(model, NOTHING)


@pytest.mark.parametrize("share", ["0.0000000000005", "0.000000000000000001", "0.01"])
def test_a_thin_slice_is_no_face(share):
    """Up to a tiny share of a token that weighs e^40: in the slice the mean goes from 1 to nearly 0 where the share allows."""
    model = plain([[1.0], [0.0]], [[40.0, 0.0]], [[[1.0]]], [1.0])
    found = held(model, where=f"c0 <= {share} n", limits=Limits(tolerance=0.01, most_cells=200))
    weight = Fraction(share) * Fraction(np.exp(40.0))
    truth = float(weight / (weight + 1 - Fraction(share)))
    assert found.lower - 1e-6 <= truth <= found.upper <= truth + 0.02


def test_a_condition_in_tiny_units():
    """Multiplying a condition changes nothing."""
    model = plain([[1.0], [0.0]], [[1.0, 0.0]], [[[1.0]]], [1.0])
    ends = [held(model, where=f"{unit} c0 <= {unit} c1").upper for unit in ("1", "0.000000000003", "1000000000000")]
    assert ends[0] == pytest.approx(np.e / (np.e + 1), abs=0.01)
    assert ends[1:] == pytest.approx([ends[0]] * 2, abs=1e-8)


@pytest.mark.parametrize(
    ("where", "truth"),
    [
        ("c0 <= 0 n", 0.0),
        ("0 n >= c0", 0.0),
        ("c0 >= n", 1.0),
        ("c0 >= 0.3 n and c0 <= 0.3 n", 0.3 * np.e / (0.3 * np.e + 0.7)),
        ("c1 >= 0.3 n and c0 >= 0.7 n", 0.7 * np.e / (0.7 * np.e + 0.3)),
    ],
)
def test_conditions_that_hold_on_a_face_only(where, truth):
    model = plain([[1.0], [0.0]], [[1.0, 0.0]], [[[1.0]]], [1.0])
    found = held(model, where=where)
    assert found.lower - 1e-6 <= truth <= found.upper <= truth + 1e-3


def test_conditions_that_nothing_meets():
    model = plain([[1.0], [0.0]], [[1.0, 0.0]], [[[1.0]]], [1.0])
    found = lw.certify(model, NOTHING, where="c0 >= 0.7 n and c1 >= 0.7 n")
    assert (found.witness, found.lower, found.upper) == (None, 0.0, 0.0)


def test_a_target_with_a_large_ratio():
    """Its values are far larger than its factor, and what float64 loses with them."""
    target = FrequencyTarget("identity", Fraction(1), fractions([[10**9], [1]]), fractions([[1], [3]]))
    model = plain([[1.0], [0.0]], [[0.3, 0.0]], [[[1.0]]], [1.0])
    assert held(model, target, limits=Limits(tolerance=1e6, most_cells=300)).upper > 9e8
