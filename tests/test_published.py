"""The studies behind the figures: what the issue of each scale is, in numbers."""

import jax
import numpy as np
import pytest

import lengthwise as lw
from lengthwise.study.published import FIGURES, SCALES, figure_of, published
from lengthwise.train.engine import first_states, train_chunk
from lengthwise.train.plans import plan_of, shape_of

ALL = [(name, scale) for name in FIGURES for scale in SCALES]


@pytest.mark.parametrize(("name", "scale"), ALL)
def test_every_study_is_there_and_known_by_what_it_says(name, scale):
    study = published(name, scale)
    assert study.name == f"{name}-{scale}"
    assert figure_of(study) == name
    assert figure_of(lw.Study.parse(study.toml(), "again", ["name=other"])) == name
    assert figure_of(lw.Study.parse(study.toml(), "again", ["training.steps=123"])) is None
    assert len({run.id for run in study.runs()}) == study.members


@pytest.mark.parametrize("name", FIGURES)
def test_the_quick_scale_is_small(name):
    study = published(name, "quick")
    assert study.members <= 32
    assert study.training.steps <= 4000
    assert study.tile == 8


@pytest.mark.parametrize("name", ["figure1", "figure2", "figure3"])
def test_the_paper_scale_is_the_published_protocol_and_both_attention_rules(name):
    study = published(name, "paper")
    least = 5 if name == "figure3" else 3
    assert set(range(least, 25)) | {28, 112} <= set(study.lengths)
    assert study.grid["attention"] == ["plain", "log-length"]


@pytest.mark.parametrize("name", ["figure1", "figure2", "figure3"])
def test_the_quick_scale_has_log_length_beside_plain_attention(name):
    runs = published(name, "quick").runs()
    plain = [run for run in runs if run.model.attention == "plain"]
    others = [run for run in runs if run.model.attention == "log-length"]
    both = {(run.task, run.longest, run.seed) for run in plain}
    assert others
    assert all((run.task, run.longest, run.seed) in both for run in others)
    assert len(plain) + len(others) == len(runs)
    if name != "figure3":
        assert len({run.task for run in plain}) == 3  # a line needs three


@pytest.mark.parametrize("scale", SCALES)
def test_a_whole_figure_1_needs_one_program_for_each_attention_rule(scale):
    """What is compiled is the shape: omega, training length, seed and rate are traced."""
    assert len({shape_of(run) for run in published("figure1", scale).runs()}) == 2


def test_a_program_of_the_paper_scale_is_lowered_for_a_gpu_with_its_kernels():
    """No GPU is needed for that: both products of the hidden layer are kernels, forward and backward."""
    run = published("locality", "paper").runs()[-1]
    shape = shape_of(run)
    plan = jax.tree.map(lambda leaf: np.stack([leaf] * run.tile), plan_of(run))
    state = jax.eval_shape(first_states(shape.sizes), plan.stream)
    lowered = train_chunk(shape).trace(plan, state).lower(lowering_platforms=("cuda",))
    assert lowered.as_text().count("triton") == 2


@pytest.mark.parametrize("name", FIGURES)
def test_the_paper_scale_trains_the_published_model_on_its_lengths(name):
    study = published(name, "paper")
    assert {3, 4, 5, 6, 7, 8, 112} - set(range(5 if name == "figure3" else 3)) <= set(study.lengths)
    assert max(study.lengths) == 112
    assert study.seeds == 8
    assert study.training.batch == 1024
    assert "plain" in study.grid["attention"]
    assert (study.model.width, study.model.units) == (16, 256)
    assert max(study.testing.lengths) >= 10**6


def test_omegas_and_periods_of_the_paper_scale():
    assert {2, 4, 6, 8, 10, 12} <= set(published("figure1", "paper").grid["omega"])
    assert {2, 3, 4, 5, 6, 8} == set(published("figure2", "paper").grid["period"])
    assert "period=5" in published("figure3", "paper").task


@pytest.mark.parametrize(("name", "scale"), [("figure2", scale) for scale in SCALES])
def test_far_test_lengths_have_whole_periods(name, scale):
    study = published(name, scale)
    far = [length for length in study.testing.lengths if length >= 120]
    assert len(far) > 4
    assert all(length % period == 0 for length in far for period in study.grid["period"])


@pytest.mark.parametrize(
    ("given", "near"), [(("figure9", "quick"), "figure1"), (("figure1", "qick"), "quick"), (("vocab", "quick"), "voca")]
)
def test_unknown_names_get_the_nearest(given, near):
    with pytest.raises(lw.WrongInput, match=near):
        published(*given)


def test_studies_differ_in_every_way_that_matters():
    texts = {published(name, scale).toml() for name, scale in ALL}
    assert len(texts) == len(ALL)
