"""Published studies laid out without training: curves made to order, weights that solve the task."""

import re
from dataclasses import replace

import lengthwise as lw
from lengthwise.limit.constructions import mod_p_task
from lengthwise.study.machine import Trainer
from lengthwise.study.published import published
from study_helpers import result

DEVICE = "nothing <&>"
NO_PICTURES = {"pdf": b"", "svg": b"<svg/>", "png": b""}


def law(run):
    """Curves as published: the plateau is (N / 2x)^-2 / 100 for omega or period x, a little more for later seeds."""
    found = re.search(r"(?:omega|period|symbols|tail)=([\d.]+)", run.task)
    x = float(found[1])
    end = 0.01 * (run.longest / (2 * x)) ** -2.0 * (1 + 0.02 * run.seed)
    return [(length, end * (1 - 0.5 / length), 4 * end) for length in run.testing.lengths]


def weights(run):
    """A model that the theorem of plain attention speaks of, if the run's attention is plain."""
    return replace(mod_p_task(2, 1), attention=run.model.attention)


def trainer(curve_of=law, ended=lambda run: "steps", weights_of=weights):
    """Something that trains nothing and leaves what was ordered."""

    def lay(runs, *, finished, checkpoints=None, progress=None, should_stop=None, say=None):
        for run in runs:
            if should_stop is not None and should_stop():
                return
            left = replace(result(run, curve_of(run), ended(run)), training_loss=1e-5)
            finished(run, replace(left, weights=weights_of(run)))

    return Trainer(lay, DEVICE, lambda run: None)


def refuses():
    """A trainer that nobody may ask to train."""

    def no(runs, **told):
        raise AssertionError(f"{len(runs)} runs were to be trained")

    return Trainer(no, "none", lambda run: None)


def laid(name, path, scale="quick", **options):
    """The published study's directory, every run done."""
    lw.sweep(published(name, scale), path, trainer=trainer(**options))
    return path
