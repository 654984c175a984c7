"""Fixtures: the command line in this process, and small models for it."""

import io
import json
import sys
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
import pytest

import lengthwise as lw
from lengthwise.cli.endings import outcome
from lengthwise.limit.constructions import kgram_and, mod_p_task, simple_task


class Ended(NamedTuple):
    """What is left of a command."""

    code: int
    out: str
    err: str

    @property
    def json(self):
        return json.loads(self.out)

    @property
    def error(self):
        return json.loads(self.err)["error"]


@pytest.fixture
def command(capfd, monkeypatch, tmp_path):
    """Runs the command line in a fresh folder."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments, stdin=b""):
        stream = SimpleNamespace(buffer=io.BytesIO(stdin))
        monkeypatch.setattr(sys, "stdin", stream)
        capfd.readouterr()
        code = outcome([str(argument) for argument in arguments])
        return Ended(code, *capfd.readouterr())

    return run


@pytest.fixture
def models(tmp_path):
    """One file for each kind of model, in the folder of `command`."""
    width = 2
    named = lw.LimitTransformer(
        embedding=np.eye(2),
        layers=[lw.Layer([lw.Head(np.zeros((1, 2)), np.zeros((1, 2)), np.eye(2), [0.0, 1.0])])],
        unembedding=np.eye(width),
        attention="log-length",
        bits=4,
        tokens=["ab", "c"],
    )
    made = {
        "simple": simple_task(omega=4, bits=8),
        "modp": mod_p_task(3, 1, bits=8),
        "kgram": kgram_and(2, 1, 0.25),
        "named": named,
    }
    for name, model in made.items():
        lw.save(model, tmp_path / f"{name}.safetensors")
    return made
