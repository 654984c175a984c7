"""A whole study measured, from its directory's files to the fields that other tools read; and the machine it ran on."""

import json
import math

import jax
import pytest

import lengthwise as lw
from lengthwise.cli.output import plain
from lengthwise.study import machine
from lengthwise.study.curves import Member, member, series
from lengthwise.study.measurement import measured, metric_of
from lengthwise.study.store import Store
from lengthwise.train import ensemble
from study_helpers import NOTHING, result, study, sweep
from study_helpers import member as made


def power_law(runs, *, finished, **_):
    """Runs whose plateau is (N / 3 omega)^-2 / 100, and whose worst squared error is four times that."""
    for run in runs:
        needed = 3 * lw.task(run.task).omega
        loss = 0.01 * (run.longest / needed) ** -2.0
        finished(run, result(run, [(n, loss, 4 * loss) for n in run.testing.lengths]))


SETTINGS = ("lengths=[2, 4, 8, 16, 32]", "testing.lengths=[100, 10000, 100000, 1000000]", "grid.omega=[1, 2, 4]")


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    path = tmp_path_factory.mktemp("law") / "study"
    sweep(path, *SETTINGS, trainer=NOTHING._replace(train=power_law))
    return path


def test_from_files_to_answers(directory):
    """By the law: N(loss 1e-2) = 3 omega, exponent 1, settled everywhere; N(error 0.2) is the same length."""
    members = [member(one) for one in Store(directory).finished().values()]
    for metric, threshold in (("loss", 1e-2), ("error", 0.2)):
        found = measured(members, metric)
        fields = found.to_json(threshold)
        assert fields["required_length"] == pytest.approx([3, 6, 12])
        assert fields["settings"] == [{"attention": "plain", "omega": omega} for omega in (1.0, 2.0, 4.0)]
        assert fields["interval"] == [pytest.approx([n, n]) for n in (3, 6, 12)]
        against = {one["against"]: one for one in fields["exponents"]}
        assert against["omega"]["exponent"] == pytest.approx(1.0)
        assert against["omega"]["slope"] == pytest.approx(3.0)
        assert {p["settled"] for group in fields["plateaus"] for p in group} == {True}
        assert [p["training_length"] for p in fields["plateaus"][0]] == [2, 4, 8, 16, 32]


def nulls(value, path=""):
    """The paths of all nulls that have no reason beside them."""
    if isinstance(value, dict):
        for name, entry in value.items():
            if (
                entry is None
                and not name.endswith("_reason")
                and not value.get(f"{name}_reason")
                and "reason" not in value
            ):
                yield f"{path}.{name}"
            yield from nulls(entry, f"{path}.{name}")
    elif isinstance(value, list):
        for entry in value:
            yield from nulls(entry, path)


@pytest.mark.parametrize("threshold", [1e-2, 1e-9, 1e9])
@pytest.mark.parametrize("end", [None, 0.0, math.inf])
def test_fields_are_json_whatever_the_losses_are(directory, threshold, end):
    """Infinite, zero, censored, one seed: no NaN, and a reason for what is null."""
    members = [member(one) for one in Store(directory).finished().values()]
    if end is not None:
        members = [made(end, m.lengths, longest=m.longest, seed=m.seed, omega=m.settings["omega"]) for m in members]
        members = [m for m in members if m.seed == 0]
    text = json.dumps(plain(measured(members).to_json(threshold)), allow_nan=False)
    fields = json.loads(text)
    assert len(fields["required_length"]) == len(fields["interval"]) == len(fields["plateaus"]) == 3
    for length, reason in zip(fields["required_length"], fields["required_length_reason"], strict=True):
        assert (length is None) == bool(reason)
    assert not [path for path in nulls(fields["plateaus"]) if path]


def test_one_setting_has_one_required_length():
    one = [made(0.01 * (n / 20) ** -2.0, longest=n) for n in (4, 8, 16, 32)]
    assert measured(one).required_length(loss=1e-2) == pytest.approx(20)
    assert measured(one).required_length(error=0.2) == pytest.approx(20)  # worst squared error 4 * 0.01
    assert measured(one).required_length(loss=1e-9) is None
    assert measured(one).required_length(loss=10.0) == 4.0  # at most the shortest
    two = one + [made(0.5, longest=4, omega=2), made(0.5, longest=4, omega=3)]
    with pytest.raises(lw.WrongInput, match="one setting"):
        measured(two).required_length(loss=1e-2)


@pytest.mark.parametrize(
    ("loss", "error", "got"),
    [
        (None, None, "neither"),
        (1.0, 1.0, "both"),
        (0.0, None, "0.0"),
        (None, -1.0, "-1.0"),
        (math.inf, None, "inf"),
        (math.nan, None, "nan"),
    ],
)
def test_one_threshold_and_only_one(loss, error, got):
    with pytest.raises(lw.WrongInput) as caught:
        metric_of(loss, error)
    assert caught.value.got == got
    assert metric_of(0.5, None) == ("loss", 0.5)
    assert metric_of(None, 0.5) == ("error", 0.5)


def test_nothing_to_measure():
    with pytest.raises(lw.WrongInput, match="at least one finished run"):
        measured([])
    empty = Member("x", "simple", {"attention": "plain"}, 8, 0, (), (), (), 1.0, "steps")
    with pytest.raises(lw.WrongInput, match="run x without a test curve"):
        measured([made(0.5), empty])


def test_the_same_members_give_the_same_intervals():
    members = [made(0.01 * seed, longest=n, seed=seed) for n in (4, 8) for seed in range(1, 6)]
    first, second = series(members), series(members)
    assert (first[0].draws == second[0].draws).all()
    assert len(set(first[0].draws[:, 0])) > 1


# --- the machine


def test_what_the_device_says_is_told_in_one_line(monkeypatch):
    def fail(runs, **_):
        raise jax.errors.JaxRuntimeError("RESOURCE_EXHAUSTED: out of memory\nand a page of details")

    monkeypatch.setattr(ensemble, "train", fail)
    with pytest.raises(lw.MachineStopped) as caught:
        machine.ensemble_on("cpu").train(study().runs())
    assert caught.value.got == "RESOURCE_EXHAUSTED: out of memory"
    assert "smaller batch" in caught.value.remedy


def test_a_device_that_is_not_there():
    with pytest.raises(lw.MachineStopped, match="a device of kind tpu"):
        machine.ensemble_on("tpu")
    with pytest.raises(lw.WrongInput, match="nearest: gpu"):
        lw.sweep(study(), device="gqu")


def test_the_trainer_knows_its_device_and_checks_runs():
    using = machine.ensemble_on("cpu")
    assert using.device.startswith("cpu:0 ")
    [run, *_] = study().runs()
    using.check(run)
    with pytest.raises(lw.WrongInput, match="16777216"):
        using.check(study("testing.lengths=[100000000]").runs()[0])
    assert set(machine.versions()) == {"python", "lengthwise", *machine.LIBRARIES}
