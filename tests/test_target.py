"""What a target stands for: a task by name, or a model in a file or as the weights of a task."""

import shutil
from pathlib import Path

import pytest

import lengthwise as lw
from lengthwise.cli.target import model_at, task_at
from lengthwise.errors import WrongInput
from lengthwise.limit.constructions import simple_task

STUDY = Path(__file__).parent.parent / "docs" / "golden" / "study"


def test_a_task_is_its_construction():
    model = model_at("simple:omega=4", bits=8)
    assert (model.symbols, model.bits, model.attention) == (3, 8, "log-length")
    assert lw.sensitivity(model) == (8,)
    assert model_at("modp:period=3,residue=1").period == 3
    assert task_at("modp:period=5").period == 5


def test_a_file_is_the_model_in_it_and_keeps_its_own_bits(tmp_path):
    lw.save(simple_task(1, bits=4), tmp_path / "f.safetensors")
    assert model_at(str(tmp_path / "f.safetensors"), bits=8).bits == 4
    lw.save(simple_task(1), tmp_path / "f.safetensors")
    assert model_at(str(tmp_path / "f.safetensors"), bits=8).bits == 8


def test_a_model_that_the_engine_trained(tmp_path):
    path = next((STUDY / "weights").glob("*.safetensors"))
    shutil.copy(path, tmp_path / "trained.safetensors")
    model = model_at(str(tmp_path / "trained.safetensors"), bits=8)
    assert (model.attention, model.bits, model.symbols) == ("plain", None, 3)


@pytest.mark.parametrize(("name", "meant"), [("sipmle:omega=4", "simple"), ("mdp", "modp"), ("tial:tail=2", "tail")])
def test_an_unknown_name_lists_the_nearest(name, meant):
    for resolve in (model_at, task_at):
        with pytest.raises(WrongInput, match=f"nearest: {meant}"):
            resolve(name)


@pytest.mark.parametrize("target", ["crasp:dyck1", "regex:(ab)*", "a.crasp", "mytask.py:MyTask", "dir/mytask.py"])
def test_kinds_that_are_not_models_or_tasks(target):
    for resolve in (model_at, task_at):
        with pytest.raises(WrongInput, match="wanted a task or a model file"):
            resolve(target)


def test_what_is_no_file():
    with pytest.raises(WrongInput, match="no such file"):
        model_at("nowhere.safetensors")
    with pytest.raises(WrongInput, match="nowhere/model"):
        model_at("nowhere/model")
    with pytest.raises(WrongInput, match="wanted a task; got the file"):
        task_at("f.safetensors")
