"""Training a list of runs: tiles are filled, advanced, emptied and re-packed until every run is finished.

The order of runs, the number of tiles at once, re-packing, resuming and the number of devices change when a member is
computed, never what: a tile is always advanced by the same compiled program, and members do not mix inside it.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from lengthwise.config import Run
from lengthwise.errors import WrongInput
from lengthwise.limit.model import LimitTransformer
from lengthwise.tasks.registry import task as find_task
from lengthwise.train.checkpoint import Saved, read_checkpoint, write_checkpoint
from lengthwise.train.engine import Plan, Shape, State, start, test_loss, train_chunk
from lengthwise.train.statistics import Architecture, as_model

CHECKPOINT_SECONDS = 60.0
CHECKPOINT_SHARE = 20  # checkpoints take at most a twentieth of the time
FLUSH_SECONDS = 20.0
TILES_AT_ONCE = {"cpu": 2}  # other devices take all tiles: work is queued on them without waiting
SHORTEST_ARRAY = 16  # strings stand in arrays of a power of two, so that few programs serve many lengths
LONGEST = 1 << 24  # counts are exact in float32 up to here


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
    at_once = TILES_AT_ONCE.get(devices[0].platform, 1 << 30)
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


def shape_of(run: Run) -> Shape:
    """The compiled program a run needs: its task without the traced parameters, its sizes, batch, tile and chunk."""
    task = find_task(run.task)
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
    return Shape(neutral, sizes, training.batch, run.tile, training.chunk, training.path, padded)


def plan_of(run: Run) -> Plan:
    """What a run's program is told, as scalars."""
    task = find_task(run.task)
    digest = int(run.id, 16)
    key = jax.random.fold_in(jax.random.fold_in(jax.random.key(0), digest >> 32), digest & 0xFFFFFFFF)
    parameters = {name: jnp.float32(getattr(task, name)) for name in task.traced}
    training = run.training
    rate, stop = jnp.float32(training.rate), jnp.float32(training.stop)
    return Plan(key, jnp.int32(run.longest), parameters, rate, jnp.int32(training.steps), stop)


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
            host = jax.device_get(_take([state for _, state in self.tiles], leaving))
            for place, slot in enumerate(leaving):
                member = self.inside[slot]
                assert member is not None
                self.over.append((member, _row(host, place)))
                self.inside[slot] = None
            self._test(everything=False)
        living = [slot for slot, member in enumerate(self.inside) if member is not None]
        free = len(self.inside) - len(living)
        if free >= self.width or (not living and not self.waiting):
            self._pack(living)

    def _pack(self, living: list[int]) -> None:
        """New tiles from the living slots and from waiting members; what is missing to full tiles are dummies."""
        room = self.capacity - len(living)
        joining, self.waiting = self.waiting[:room], self.waiting[room:]
        members: list[_Member | None] = [self.inside[slot] for slot in living] + list(joining)
        if not members:
            self.inside, self.tiles = [], []
            return
        states = [_take([state for _, state in self.tiles], living)] if living else []
        states += [self._begin(joining)] if joining else []
        plans = [_take([plan for plan, _ in self.tiles], living)] if living else []
        plans += [_stack([plan_of(member.run) for member in joining])] if joining else []
        state, plan = _join(states), _join(plans)
        dummies = -len(members) % self.width
        if dummies:
            idle = jax.tree.map(lambda leaf: jnp.repeat(leaf[:1], dummies, axis=0), (state, plan))
            idle = (idle[0]._replace(done=jnp.ones(dummies, bool)), idle[1])
            state, plan = _join([state, idle[0]]), _join([plan, idle[1]])
        self.inside = members + [None] * dummies
        self.tiles = []
        for index, first in enumerate(range(0, len(self.inside), self.width)):
            cut = jax.tree.map(lambda leaf, a=first: leaf[a : a + self.width], (plan, state))
            self.tiles.append(jax.device_put(cut, self.devices[index % len(self.devices)]))

    def _begin(self, joining: list[_Member]) -> State:
        """First states, or those a checkpoint kept."""
        fresh = jax.vmap(lambda key: start(key, self.shape.sizes))(jnp.stack([plan_of(m.run).key for m in joining]))
        rows = [m.saved if m.saved is not None else None for m in joining]
        if all(row is None for row in rows):
            return fresh
        host = jax.device_get(fresh)
        kept: State = _stack([row if row is not None else _row(host, i) for i, row in enumerate(rows)])
        return kept

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
        host = jax.device_get([state for _, state in self.tiles])
        rows: Iterator[tuple[_Member, State]] = (
            (member, _row(host[slot // self.width], slot % self.width))
            for slot, member in enumerate(self.inside)
            if member is not None
        )
        for member, state in [*rows, *self.over]:
            write_checkpoint(self.checkpoints, member.run.id, Saved(state._asdict(), tuple(member.history)))
        took = time.monotonic() - begun
        self.save_next = time.monotonic() + max(CHECKPOINT_SECONDS, CHECKPOINT_SHARE * took)


def _row(tree: Any, index: int) -> Any:
    return jax.tree.map(lambda leaf: leaf[index], tree)


def _stack(trees: list[Any]) -> Any:
    return jax.tree.map(lambda *leaves: jnp.stack(leaves), *trees)


def _join(trees: list[Any]) -> Any:
    return trees[0] if len(trees) == 1 else jax.tree.map(lambda *leaves: jnp.concatenate(leaves), *trees)


def _take(trees: list[Any], rows: list[int]) -> Any:
    """The given rows of tiles laid end to end, gathered on the first device."""
    home = next(iter(jax.tree.leaves(trees[0])[0].devices()))
    index = np.asarray(rows)
    return jax.tree.map(lambda leaf: leaf[index], _join(jax.device_put(trees, home)))
