"""What a run's compiled program is, and what it is told."""

from dataclasses import replace

import msgspec
import numpy as np

from lengthwise.config import Run
from lengthwise.errors import WrongInput
from lengthwise.tasks.registry import task as find_task
from lengthwise.tasks.registry import trainable
from lengthwise.train.engine import Plan, Shape
from lengthwise.train.statistics import Architecture

SHORTEST_ARRAY = 16  # strings stand in arrays of a power of two, so that few programs serve many lengths
LONGEST = 1 << 24  # counts are exact in float32 up to here


def shape_of(run: Run) -> Shape:
    """The compiled program a run needs: its task without the traced parameters, its sizes, batch, tile and chunk."""
    task = trainable(find_task(run.task))
    if run.longest < task.shortest:
        raise WrongInput(
            f"training lengths of at least {task.shortest} for {run.task}", f"{run.longest}", "drop it", "lengths"
        )
    longest = max((run.longest, *run.testing.lengths))
    if longest > LONGEST:
        raise WrongInput(f"lengths up to {LONGEST}", f"{longest}", "float32 counts stop being exact there", "lengths")
    offsets = run.model.offsets
    if offsets is None:
        offsets = task.locality + 1 if task.locality else 0
    sizes = Architecture(
        symbols=task.symbols,
        period=task.period,
        offsets=offsets,
        width=run.model.width,
        units=run.model.units,
        heads=run.model.heads,
        attention=run.model.attention,
    )
    neutral = replace(task, **dict.fromkeys(task.traced, 0.0))  # type: ignore[type-var]
    training = run.training
    padded = 0 if training.path == "statistics" else max(SHORTEST_ARRAY, 1 << (run.longest - 1).bit_length())
    return Shape(
        neutral, sizes, training.batch, run.tile, training.chunk, training.path, padded, training.corner_strings
    )


def plan_of(run: Run) -> Plan:
    """What a run's program is told, as NumPy scalars: nothing is computed on a device for it.

    The random numbers are those of the run without a share of corners: it and its adversarial twins begin with the same
    weights and see the same ordinary strings, so that they differ by what they were compared for.
    """
    task = trainable(find_task(run.task))
    digest = int(msgspec.structs.replace(run, training=run.training.without_corners()).id, 16)
    training = run.training
    return Plan(
        stream=np.asarray([digest >> 32, digest & 0xFFFFFFFF], np.uint32),
        longest=np.int32(run.longest),
        parameters={name: np.float32(getattr(task, name)) for name in task.traced},
        rate=np.float32(training.rate),
        steps=np.int32(training.steps),
        stop=np.float32(training.stop),
    )
