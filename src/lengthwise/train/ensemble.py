"""Training a list of runs: tiles are filled, advanced, emptied and re-packed until every run is finished.

The order of runs, the number of tiles at once, re-packing, resuming and the number of devices change when a member is
computed, never what: a tile is always advanced by the same compiled program, and members do not mix inside it.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from lengthwise.config import Run
from lengthwise.limit.model import LimitTransformer
from lengthwise.train.checkpoint import Saved, read_checkpoint, write_checkpoint
from lengthwise.train.engine import Plan, State, first_states, test_loss, train_chunk
from lengthwise.train.plans import plan_of, shape_of
from lengthwise.train.statistics import as_model

CHECKPOINT_SECONDS = 60.0
CHECKPOINT_SHARE = 20  # checkpoints take at most a twentieth of the time
FLUSH_SECONDS = 20.0
TILES_AT_ONCE = {"cpu": 2}
TILES_IN_QUEUE = 4  # of any other device: it is never idle, and members finish one after another, not all at the end


@dataclass(frozen=True)
class Result:
    """What a finished run leaves. curve: (test length, mean squared error, worst squared error over the samples)."""

    curve: list[tuple[int, float, float]]
    steps: int
    training_loss: float
    ended: str  # "loss": below the stop rule; "steps": all steps made; "diverged": the loss was not finite
    weights: LimitTransformer
    history: list[float]  # mean training loss of each chunk
    seconds: float


@dataclass(frozen=True)
class Progress:
    """How far a study is: finished and all runs, model-steps a second, and an estimate of what is left."""

    done: int
    total: int
    steps_per_second: float
    seconds_left: float


@dataclass
class _Member:
    """A run on its way: its place in a tile is found by position, its loss history kept here."""

    run: Run
    history: list[float] = field(default_factory=list)
    saved: State | None = None
    seconds: float = 0.0


def train(
    runs: Sequence[Run],
    *,
    finished: Callable[[Run, Result], None],
    checkpoints: Path | None = None,
    progress: Callable[[Progress], None] | None = None,
    should_stop: Callable[[], bool] | None = None,
    devices: Sequence[Any] | None = None,
    say: Callable[[str], None] | None = None,
) -> None:
    """Trains and tests every run; calls `finished` as results come; leaves checkpoints when told to stop."""
    devices = list(devices or jax.devices())
    at_once = TILES_AT_ONCE.get(devices[0].platform, TILES_IN_QUEUE * len(devices))
    clock = _Clock(len(runs), progress)
    ordered = sorted(runs, key=lambda run: (repr(shape_of(run)), run.testing.lengths, run.testing.samples))
    for _, group in groupby(ordered, key=lambda run: (shape_of(run), run.testing)):
        members = [_Member(run) for run in group]
        for member in members:
            saved = read_checkpoint(checkpoints, member.run.id, say) if checkpoints else None
            if saved is not None:
                member.history, member.saved = list(saved.history), State(**saved.state)
        group_job = _Group(members, at_once * members[0].run.tile, devices, finished, checkpoints, clock)
        if not group_job.work(should_stop or (lambda: False)):
            return


class _Clock:
    """Counts finished runs and model-steps for the progress line."""

    def __init__(self, total: int, progress: Callable[[Progress], None] | None) -> None:
        self.total, self.progress = total, progress
        self.done, self.steps, self.begun = 0, 0, time.monotonic()
        self.left = 0

    def tick(self, steps: int, steps_left: int) -> None:
        """Some model-steps were made; about so many are left in this group."""
        self.steps += steps
        speed = self.steps / max(time.monotonic() - self.begun, 1e-9)
        if self.progress is not None:
            self.progress(Progress(self.done, self.total, speed, steps_left / max(speed, 1e-9)))


class _Group:
    """The runs of one shape."""

    def __init__(
        self,
        members: list[_Member],
        capacity: int,
        devices: list[Any],
        finished: Callable[[Run, Result], None],
        checkpoints: Path | None,
        clock: _Clock,
    ) -> None:
        self.waiting, self.capacity, self.devices = members, capacity, devices
        self.finished, self.checkpoints, self.clock = finished, checkpoints, clock
        self.shape, self.width = shape_of(members[0].run), members[0].run.tile
        self.inside: list[_Member | None] = []  # one entry a slot of the tiles, None for a dummy
        self.tiles: list[tuple[Plan, State]] = []
        self.over: list[tuple[_Member, State]] = []  # finished, not yet tested; states on the host
        self.flushed_at = time.monotonic()
        self.save_next = self.flushed_at + CHECKPOINT_SECONDS

    def work(self, should_stop: Callable[[], bool]) -> bool:
        """Until every member is finished and tested; False if told to stop before."""
        self._pack([])
        while self.tiles:
            if should_stop():
                self._save()
                return False
            self._advance()
            if time.monotonic() > self.save_next:
                self._save()
        self._test(everything=True)
        return True

    def _advance(self) -> None:
        """Every tile by one chunk; then what is finished leaves, and tiles are re-packed if that saves one."""
        begun = time.monotonic()
        program = train_chunk(self.shape)
        advanced = [program(plan, state) for plan, state in self.tiles]  # queued on the devices, not waited for
        before = len([m for m in self.inside if m is not None])
        self.tiles = [(plan, state) for (plan, _), (state, _) in zip(self.tiles, advanced, strict=True)]
        losses = np.concatenate([np.asarray(loss) for _, loss in advanced])
        done = np.concatenate([np.asarray(state.done) for _, state in self.tiles])
        share = (time.monotonic() - begun) / max(before, 1)
        for slot, member in enumerate(self.inside):
            if member is not None:
                member.history.append(float(losses[slot]))
                member.seconds += share
        leaving = [slot for slot, member in enumerate(self.inside) if member is not None and done[slot]]
        self.clock.tick(before * self.shape.chunk, self._steps_left())
        if leaving:
            self.over += self._on_host(leaving)
            for slot in leaving:
                self.inside[slot] = None
            self._test(everything=False)
        living = [slot for slot, member in enumerate(self.inside) if member is not None]
        free = len(self.inside) - len(living)
        if free >= self.width or (not living and not self.waiting):
            self._pack(living)

    def _on_host(self, slots: list[int]) -> list[tuple[_Member, State]]:
        """The members in some slots with their states, copied from those tiles that hold one."""
        tiles = {slot // self.width for slot in slots}
        host = {tile: jax.device_get(self.tiles[tile][1]) for tile in tiles}
        found = []
        for slot in slots:
            member = self.inside[slot]
            assert member is not None
            found.append((member, _row(host[slot // self.width], slot % self.width)))
        return found

    def _pack(self, living: list[int]) -> None:
        """New tiles from the living slots and from waiting members; what is missing to full tiles are dummies.

        All on the host: a device would compile a program for every number of members that stay.
        """
        room = self.capacity - len(living)
        joining, self.waiting = self.waiting[:room], self.waiting[room:]
        rows = self._on_host(living) + self._begin(joining)
        self.inside, self.tiles = [], []
        for index, first in enumerate(range(0, len(rows), self.width)):
            some = rows[first : first + self.width]
            idle = self.width - len(some)
            states = [state for _, state in some] + [some[0][1]._replace(done=np.bool_(True))] * idle
            plans = [plan_of(member.run) for member, _ in some] + [plan_of(some[0][0].run)] * idle
            self.inside += [member for member, _ in some] + [None] * idle
            self.tiles.append(jax.device_put((_stack(plans), _stack(states)), self.devices[index % len(self.devices)]))

    def _begin(self, joining: list[_Member]) -> list[tuple[_Member, State]]:
        """First states, a tile of them at a time, or those a checkpoint kept."""
        found = []
        for first in range(0, len(joining), self.width):
            some = joining[first : first + self.width]
            streams = [plan_of(member.run).stream for member in some]
            streams += [streams[0]] * (self.width - len(some))
            fresh = jax.device_get(first_states(self.shape.sizes)(np.stack(streams)))
            found += [(m, m.saved if m.saved is not None else _row(fresh, i)) for i, m in enumerate(some)]
        return found

    def _test(self, everything: bool) -> None:
        """Tests finished members, a tile of them at a time; part of a tile only when it is time."""
        waited = time.monotonic() - self.flushed_at
        while len(self.over) >= self.width or (self.over and (everything or waited > FLUSH_SECONDS)):
            batch, self.over = self.over[: self.width], self.over[self.width :]
            filled = batch + [batch[0]] * (self.width - len(batch))
            plan = _stack([plan_of(member.run) for member, _ in filled])
            weights = _stack([state.weights for _, state in filled])
            testing = batch[0][0].run.testing
            program = test_loss(self.shape, testing.samples)
            curves = [(n, program(plan, weights, jnp.int32(n))) for n in testing.lengths]
            tested = [(n, np.asarray(mean), np.asarray(worst)) for n, (mean, worst) in curves]
            for place, (member, state) in enumerate(batch):
                self.clock.done += 1
                self.finished(member.run, self._result(member, state, place, tested))
                if self.checkpoints is not None:
                    (self.checkpoints / f"{member.run.id}.safetensors").unlink(missing_ok=True)
            self.flushed_at = time.monotonic()

    def _result(self, member: _Member, state: State, place: int, tested: list[Any]) -> Result:
        ended = "diverged" if state.diverged else "loss" if state.loss < member.run.training.stop else "steps"
        return Result(
            curve=[(n, float(mean[place]), float(worst[place])) for n, mean, worst in tested],
            steps=int(state.step),
            training_loss=float(state.loss),
            ended=ended,
            weights=as_model(state.weights, self.shape.sizes),
            history=member.history,
            seconds=member.seconds,
        )

    def _steps_left(self) -> int:
        left = [m.run.training.steps - len(m.history) * self.shape.chunk for m in [*self.inside, *self.waiting] if m]
        return sum(max(0, steps) for steps in left)

    def _save(self) -> None:
        """Keeps the state of every member inside, so that a killed study loses little."""
        begun = time.monotonic()
        if self.checkpoints is None:
            return
        inside = [slot for slot, member in enumerate(self.inside) if member is not None]
        for member, state in [*self._on_host(inside), *self.over]:
            write_checkpoint(self.checkpoints, member.run.id, Saved(state._asdict(), tuple(member.history)))
        took = time.monotonic() - begun
        self.save_next = time.monotonic() + max(CHECKPOINT_SECONDS, CHECKPOINT_SHARE * took)


def _row(tree: Any, index: int) -> Any:
    return jax.tree.map(lambda leaf: leaf[index], tree)


def _stack(trees: list[Any]) -> Any:
    return jax.tree.map(lambda *leaves: np.stack(leaves), *trees)
