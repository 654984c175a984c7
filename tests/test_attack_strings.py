"""The search over strings: against brute force, against random search, for every kind of target."""

import itertools

import numpy as np
import pytest

import lengthwise as lw
from lengthwise.crasp.compiled import compile
from lengthwise.crasp.library import library
from lengthwise.errors import WrongInput
from lengthwise.limit.constructions import kgram_add, kgram_and
from lengthwise.theory.attack_strings import StringSpace, attack_strings
from lengthwise.theory.edits import OTHER_LENGTH, SAME_LENGTH, crossed, random_string
from lengthwise.theory.effort import Effort
from lengthwise.theory.where import parse_where
from models import random_model


def all_strings(symbols, lengths):
    for n in lengths:
        yield from (np.asarray(string) for string in itertools.product(range(symbols), repeat=n))


@pytest.mark.parametrize("seed", [1, 2])
def test_all_strings_are_tried_while_there_are_few(seed):
    model = random_model(np.random.default_rng(seed), depth=2, linear=False)
    target = lambda string: [0.0] * len(model.unembedding)  # noqa: E731
    longest = 5 if model.symbols == 2 else 3
    found = lw.attack(model, target, length=(1, longest), evaluations=10_000)
    wanted = max(
        np.abs(lw.evaluate(model, s, "dense")).max() for s in all_strings(model.symbols, range(1, longest + 1))
    )
    assert found.complete
    assert found.worst_error == pytest.approx(wanted, rel=1e-9)
    assert np.abs(lw.evaluate(model, found.string)).max() == pytest.approx(found.worst_error, rel=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_evolution_finds_the_worst_with_a_tenth_of_the_work(seed):
    """Random couplings between all pairs of places: a rugged landscape, nothing of our own."""
    rng = np.random.default_rng(seed)
    n, symbols = 13, 2
    couplings = rng.normal(size=(n, n))
    energy = lambda string: float((2 * string - 1) @ couplings @ (2 * string - 1))  # noqa: E731
    signs = 2 * np.asarray(list(itertools.product(range(symbols), repeat=n))) - 1
    wanted = np.einsum("si,ij,sj->s", signs, couplings, signs).max()
    space = StringSpace(symbols, n, n)
    found = attack_strings(energy, space, Effort(symbols**n // 10, seed))
    assert not found.complete
    assert found.evaluations <= symbols**n // 10
    assert found.error == pytest.approx(wanted)


def test_a_needle_with_a_slope_is_found_and_random_search_misses_it():
    wanted = np.random.default_rng(5).integers(0, 3, 30)
    score = lambda string: float(np.mean(string == wanted))  # noqa: E731
    space = StringSpace(3, 30, 30)
    found = attack_strings(score, space, Effort(3_000, 1))
    rival = attack_strings(score, space, Effort(3_000, 1), "random")
    assert found.error == 1.0
    assert found.string.tolist() == wanted.tolist()
    assert rival.error < 0.8
    assert rival.evaluations == 3_000


def test_lengths_change_where_they_may():
    score = lambda string: float(len(string) + (string == 1).sum())  # noqa: E731
    found = attack_strings(score, StringSpace(2, 3, 20), Effort(600))
    assert found.error == 40.0


def test_the_same_seed_finds_the_same():
    model = kgram_and(2, 1, 0.05)
    runs = [lw.attack(model, "kgram:symbols=2", length=16, evaluations=60, seed=seed) for seed in (1, 1, 2)]
    assert runs[0].trace == runs[1].trace
    assert runs[0].string == runs[1].string
    assert runs[0].trace != runs[2].trace


def test_conditions_hold_for_what_is_found():
    model, where = kgram_and(2, 1, 0.05), "c0 >= 0.4 n and c1@1 >= 3"
    task = lw.task("kgram:symbols=2")
    found = attack_strings(
        lambda string: float(np.abs(lw.evaluate(model, string) - np.asarray(task.target(string), float)).max()),
        StringSpace(2, 20, 24, 2, parse_where(where, 2, 2)),
        Effort(100),
    )
    string = found.string
    odd = sum(token == 1 for token in string[::2])  # positions 1, 3, ... are of residue 1
    assert 10 * (string == 0).sum() >= 4 * len(string)
    assert odd >= 3


def test_strings_without_a_target_are_passed_over():
    task = lw.task("kgram:symbols=3,order=2")
    found = lw.attack(kgram_add(3, 2, 3.0), task.hard_target, length=12, evaluations=60)
    assert task.hard_target(found.string) is not None
    with pytest.raises(WrongInput, match="strings with a target"):
        lw.attack(kgram_add(3, 2, 3.0), lambda string: None, length=12, evaluations=20)


def test_compiled_programs_are_right_and_perturbed_ones_are_caught():
    program = library()["tomita4"]
    compiled = compile(program)
    right = lw.attack(compiled, program, length=(1, 5))
    assert right.complete
    assert right.worst_error == 0
    turned = lw.LimitTransformer(
        embedding=compiled.model.embedding, positions=compiled.model.positions, layers=compiled.model.layers,
        unembedding=-compiled.model.unembedding, attention=compiled.model.attention, tokens=compiled.model.tokens,
    )  # fmt: skip
    wrong = lw.attack(turned, program, length=(1, 5))
    assert wrong.worst_error >= 1.0


def test_a_larger_unembedding_changes_the_error_accordingly():
    """Against the target 0 the error is the output itself."""
    model = kgram_and(2, 1, 0.05)
    larger = lw.map_arrays(model, lambda array: array * (1.1 if array is model.unembedding else 1.0))
    runs = [lw.attack(one, lambda string: [0.0, 0.0], length=(1, 5)) for one in (model, larger)]
    assert runs[1].worst_error == pytest.approx(1.1 * runs[0].worst_error)


def test_counts_and_strings_agree():
    task = lw.task("simple:omega=4")
    runs = [lw.attack(task.construction(), task, length=(1, 5), method=method) for method in ("counts", "strings")]
    assert all(run.complete for run in runs)
    assert runs[0].worst_error == pytest.approx(runs[1].worst_error, rel=1e-12)


def test_edits_give_strings_of_the_vocabulary():
    rng = np.random.default_rng(0)
    for _ in range(100):
        string = random_string(rng, int(rng.integers(1, 20)), 3)
        for edit in SAME_LENGTH:
            new = edit(rng, string, 3)
            assert len(new) == len(string)
            assert set(new.tolist()) <= {0, 1, 2}
        for edit in OTHER_LENGTH:
            assert set(edit(rng, string, 3).tolist()) <= {0, 1, 2}
        other = random_string(rng, int(rng.integers(1, 20)), 3)
        assert len(crossed(rng, string, other)) == len(string)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"length": 2}, "at least 3"),
        ({"length": (9, 4)}, "shorter length first"),
        ({"method": "guess"}, "one of auto"),
        ({"evaluations": 0}, "at least 1"),
        ({"where": "c5 >= 1"}, "c0 to c1"),
        ({"where": "c0 >= 2 n"}, "strings with"),
    ],
)
def test_what_cannot_be_searched_is_named(arguments, told):
    task = lw.task("modp:period=3")
    with pytest.raises(WrongInput, match=told):
        lw.attack(task.construction(), task, **({"evaluations": 500} | arguments))


def test_models_that_do_not_fit_their_target_are_named():
    simple, kgram = lw.task("simple:omega=4"), lw.task("kgram:symbols=3")
    with pytest.raises(WrongInput, match="a model of 2 tokens"):
        lw.attack(simple.construction(), "modp:period=3")
    with pytest.raises(WrongInput, match="3 outputs"):
        lw.attack(simple.construction(), kgram)
    with pytest.raises(WrongInput, match="3 outputs"):
        lw.attack(simple.construction(), lambda string: [0, 0, 0], length=3)
    with pytest.raises(WrongInput, match="the tokens"):
        lw.attack(compile(library()["dyck1"]), library()["tomita4"])
    with pytest.raises(WrongInput, match="counts decide"):
        lw.attack(kgram.construction(), kgram, method="counts")
    with pytest.raises(WrongInput, match="ZeroDivisionError"):
        lw.attack(simple.construction(), lambda string: 1 / 0, length=3)
