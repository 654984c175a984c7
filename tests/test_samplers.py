"""Which positions a short string keeps: the note's positions, the law of each sampler, and balanced prefix sums."""

import numpy as np
import pytest

from helpers_quantities import MILD_F, POS, TOK, TOK_L2BAL, TOK_PERIOD_2, X3, common_model
from lengthwise.errors import WrongInput
from lengthwise.limit.evaluate import evaluate
from lengthwise.theory.balanced_windows import balanced_offsets, functionals, token_statistics
from lengthwise.theory.balancing import balanced_choices, thinned
from lengthwise.theory.samplers import boundaries, chain_positions, drawn_offsets, kept_windows, tail_length
from lengthwise.theory.sampling_rates import Shape

SHAPE = Shape(symbols=2, locality=1, period=1, statistics=3)
PRINTED = {  # offset: the first positions kept (from 1), and the outputs of two models on the kept string
    0: ([*range(1, 11), *range(100, 110)], -3.189293720834917, -2.075370415543549),
    37: ([*range(38, 48), *range(137, 147)], -3.248089398591341, -2.206418590807775),
    95: ([*range(1, 7), *range(96, 102)], -3.234651625672051, -2.188150040158972),
}


@pytest.mark.parametrize("offset", PRINTED)
def test_printed_windows(offset):
    first, tok, pos = PRINTED[offset]
    assert list(boundaries(1000, 10, SHAPE)) == [0, 99, 199, 299, 398, 498, 598, 697, 797, 897, 997]
    kept = kept_windows(1000, 10, [offset] * 10, SHAPE)
    assert (kept[: len(first)] + 1).tolist() == first
    assert len(kept) == 103
    short = np.array(X3)[kept]
    assert evaluate(TOK, short)[0] == pytest.approx(tok, abs=1e-13)
    assert evaluate(POS, short)[0] == pytest.approx(pos, abs=1e-13)


@pytest.mark.parametrize("period", [1, 2, 3])
@pytest.mark.parametrize("locality", [0, 2])
def test_kept_positions_keep_their_residues_and_the_ending(period, locality):
    shape = Shape(2, locality, period, 1)
    generator = np.random.default_rng(period)
    for length in range(600, 600 + 2 * period):
        tail = tail_length(length, shape)
        assert 2 * locality + 1 <= tail <= 2 * locality + period
        window = 4 * period
        offsets = drawn_offsets(generator, length, 9, window, shape)
        chain = chain_positions(generator, length, 120, 2 * period + 1, shape)
        for kept in (kept_windows(length, window, offsets, shape), chain):
            assert (np.diff(kept) > 0).all()
            assert ((kept - np.arange(len(kept))) % period == 0).all()
            assert kept[-tail:].tolist() == list(range(length - tail, length))
        assert len(kept_windows(length, window, offsets, shape)) == 9 * window + tail


def test_every_position_of_a_block_is_kept_equally_often():
    ends = boundaries(100, 3, SHAPE)
    times = np.zeros(100)
    for block, size in enumerate(np.diff(ends)):
        for offset in range(size):
            offsets = [0, 0, 0]
            offsets[block] = offset
            kept = kept_windows(100, 7, offsets, SHAPE)
            inside = kept[(kept >= ends[block]) & (kept < ends[block + 1])]
            assert len(inside) == 7
            times[inside] += 1
    assert set(times[: ends[-1]]) == {7}


def test_the_chain_keeps_its_share_in_runs_of_its_length():
    shape, kept, run, length = Shape(2, 0, 1, 1), 1000, 20, 20_000
    generator = np.random.default_rng(3)
    chosen = np.zeros(length)
    runs, total = 0, 0
    for _ in range(300):
        positions = chain_positions(generator, length, kept, run, shape)[:-1]
        chosen[positions] += 1
        runs, total = runs + 1 + int((np.diff(positions) > 1).sum()), total + len(positions)
    assert total / 300 == pytest.approx(kept, rel=0.05)
    assert total / runs == pytest.approx(run, rel=0.05)
    halves = chosen[:10_000].sum() / chosen[10_000:].sum()
    assert halves == pytest.approx(1, abs=0.05)


def test_wrong_sizes_are_told():
    with pytest.raises(WrongInput, match="multiples of 2"):
        kept_windows(100, 3, [0], Shape(2, 0, 2, 1))
    with pytest.raises(WrongInput, match="at least 103 tokens"):
        kept_windows(100, 10, [0] * 10, SHAPE)
    with pytest.raises(WrongInput, match="n > 8 l"):
        chain_positions(np.random.default_rng(0), 1000, 100, 20, SHAPE)


# --- balancing ---


def test_thinning_keeps_the_mean_with_few_options():
    for seed in range(20):
        rng = np.random.default_rng(seed)
        count, dimensions = int(rng.integers(1, 3000)), int(rng.integers(1, 9))
        vectors, weights = rng.normal(size=(count, dimensions)), rng.random(count) + 0.01
        kept, moved = thinned(vectors, weights)
        assert len(kept) <= dimensions + 1
        assert len(set(kept.tolist())) == len(kept)
        assert (moved > 0).all()
        assert moved.sum() == pytest.approx(weights.sum(), rel=1e-9)
        assert moved @ vectors[kept] == pytest.approx(weights @ vectors, abs=1e-8 * count)


def prefix_discrepancy(groups, chosen):
    away = np.cumsum([group[index] - group.mean(axis=0) for group, index in zip(groups, chosen, strict=True)], axis=0)
    return np.linalg.norm(away, axis=1).max()


def test_prefix_sums_stay_within_the_bound_where_heaviest_and_random_choices_do_not():
    rng = np.random.default_rng(0)
    dimensions = 3
    groups = [rng.normal(size=(40, dimensions)) for _ in range(400)]
    groups = [group / np.linalg.norm(group, axis=1).max() for group in groups]
    chosen = balanced_choices(groups, dimensions)
    assert prefix_discrepancy(groups, chosen) <= 2 * dimensions
    assert prefix_discrepancy(groups, chosen) < prefix_discrepancy(groups, rng.integers(0, 40, 400)) / 2
    assert prefix_discrepancy(groups, [0] * 400) > 2 * dimensions
    assert balanced_choices(groups, dimensions) == chosen


def test_one_option_and_equal_options_are_no_trouble():
    groups = [np.ones((1, 2)), np.ones((5, 2)), np.zeros((3, 2))]
    assert balanced_choices(groups, 2)[0] == 0


# --- balanced windows ---


def test_functionals_sum_to_nothing_without_atoms():
    """sum_i e^b_i (V y_i - a) = 0 when a is the mean under e^b, so a change of the mean is seen as a sum of g."""
    string = np.array(X3)
    seen = functionals(MILD_F, string)
    assert seen.shape == (1000, 2)
    assert abs(seen.sum(axis=0)).max() < 1e-9
    assert np.linalg.norm(seen, axis=1).max() == pytest.approx(1)
    with_atoms = functionals(common_model([0.25, 0.5], [0, 1], scale=0.1), string)
    assert abs(with_atoms.sum(axis=0)).max() > 1e-6
    assert functionals(common_model([0.25, 0.5], [0, 1.5]), string).shape == (1000, 0)


def test_token_statistics_are_extended_tokens():
    seen = token_statistics(np.array([0, 1, 0, 0]), Shape(2, 0, 2, 1))
    assert seen.tolist() == [[0, 1], [0, 0], [0, 1], [1, 0]]


@pytest.mark.parametrize("model", [TOK, TOK_L2BAL, TOK_PERIOD_2])
def test_balanced_windows_keep_counts_closer_than_random_ones(model):
    rng = np.random.default_rng(1)
    string = (rng.random(20_000) < np.linspace(0, 1, 20_000)).astype(np.int64)
    shape = Shape(2, 1, model.period, 0)
    blocks, window = 50, 20
    rows = token_statistics(string, shape)
    mean = rows[: boundaries(len(string), blocks, shape)[-1]].mean(axis=0)

    def away(offsets):
        kept = kept_windows(len(string), window, offsets, shape)[: blocks * window]
        return np.abs(rows[kept].mean(axis=0) - mean).sum()

    balanced = balanced_offsets([model], string, blocks, window, shape)
    drawn = np.median([away(drawn_offsets(rng, len(string), blocks, window, shape)) for _ in range(40)])
    assert away(balanced) < drawn
    assert (balanced_offsets([model], string, blocks, window, shape) == balanced).all()
