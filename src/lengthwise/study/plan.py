"""A study: one task, a grid of what varies, training lengths and seeds; its members in a fixed order."""

import itertools
import math
import os
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from lengthwise.config import (
    MOST_HEADS,
    Model,
    Run,
    Testing,
    Training,
    learning_rate,
    read_toml,
    record,
    several,
    share_of_one,
    toml_text,
    whole,
)
from lengthwise.errors import WrongInput, nearest, shown
from lengthwise.tasks import registry
from lengthwise.tasks.protocol import RegressionTask

MODEL_AXES = ("attention", "width", "units", "heads")
TRAINING_AXES: dict[str, Callable[[object, str], float]] = {"rate": learning_rate, "adversarial": share_of_one}
MOST_MEMBERS = 1_000_000
LEAST_TILE = 4
Grid = dict[str, list[int | float | str]]


class _Kind(NamedTuple):
    """What the members that differ only in training length and seed have in common."""

    task: RegressionTask
    text: str
    model: Model
    training: Training


class Study(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What `lengthwise sweep` runs: every combination of grid, training lengths and seeds.

    grid: lists of values for parameters of the task, and for attention, width, units, heads, rate,
    adversarial. beside: further grids with the same axes, for combinations that are not all with all.
    lengths: training lengths; a member sees lengths up to its own. seeds: how many, counted from first_seed.
    """

    name: str = "study"
    task: str
    grid: Grid = {}
    beside: tuple[Grid, ...] = ()
    lengths: tuple[int, ...]
    seeds: int
    first_seed: int = 0
    model: Model = Model()
    training: Training = Training()
    testing: Testing
    tile: int = 8

    def __post_init__(self) -> None:
        """Fills in the task's other parameters and checks every member's record but for length and seed."""
        if not isinstance(self.name, str) or not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}", self.name):
            raise WrongInput("a name of letters, digits, . _ -", shown(self.name), "rename the study", "name")
        force = msgspec.structs.force_setattr
        force(self, "lengths", several(self.lengths, "lengths"))
        whole(self.seeds, "seeds")
        whole(self.first_seed, "first_seed", least=0)
        whole(self.tile, "tile", LEAST_TILE, MOST_HEADS)
        name, given = registry.parsed(self.task)
        force(self, "grid", _typed(name, self.grid, "grid"))
        force(self, "beside", tuple(_typed(name, grid, "beside") for grid in self.beside))
        both = next((axis for axis in self.grid if axis in given), None)
        if both is not None:
            raise WrongInput(f"{both} in one place", f"it in task and in grid.{both}", "drop one of them", "task")
        fixed = {key: value for key, value in (registry.parameters(name) | given).items() if key not in self.grid}
        force(self, "task", registry.target_text(name, fixed))
        grids = (self.grid, *self.beside)
        most = len(self.lengths) * self.seeds * sum(math.prod(map(len, grid.values())) for grid in grids)
        if most > MOST_MEMBERS:
            raise WrongInput(f"at most {MOST_MEMBERS} members", f"{most}", "split the study")
        self._check_beside()
        self._check_lengths(list(self._kinds()))

    @property
    def members(self) -> int:
        """How many runs there are."""
        return self.seeds * sum(len(self._lengths(kind)) for kind in self._kinds())

    def runs(self) -> list[Run]:
        """All members: the grid's last axis changes slowest seen from the seeds, which change fastest."""
        return [
            Run(
                task=kind.text,
                longest=longest,
                seed=seed,
                model=kind.model,
                training=kind.training,
                testing=self.testing,
                tile=self.tile,
            )
            for kind in self._kinds()
            for longest in self._lengths(kind)
            for seed in range(self.first_seed, self.first_seed + self.seeds)
        ]

    @classmethod
    def load(cls, path: str | os.PathLike[str], settings: Sequence[str] = ()) -> "Study":
        """Reads a study file; its name is the file's unless it says another. settings: `key=value`, as in --set."""
        file = Path(path)
        try:
            text = file.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            raise WrongInput("a text file", "bytes that are no UTF-8", "check the path", str(path)) from None
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise WrongInput("a study file", reason, "check the path", str(path)) from None
        return cls.parse(text, str(path), settings, name=file.stem)

    @classmethod
    def parse(cls, text: str, where: str, settings: Sequence[str] = (), name: str = "study") -> "Study":
        """A study from the text of its file."""
        tables = {"name": re.sub(r"[^A-Za-z0-9._-]+|^[^A-Za-z0-9]+", "-", name).strip("-") or "study"}
        tables |= read_toml(text, where)
        for setting in settings:
            _set(tables, setting)
        place = where + (" with --set" if settings else "")
        _check_axes(tables.get("grid"), f"{place}, grid")
        beside: object = tables.get("beside")
        for grid in beside if isinstance(beside, list) else ():
            _check_axes(grid, f"{place}, beside")
        return record(tables, cls, place)

    def toml(self) -> str:
        """The study file with nothing left out, which reads back as this study."""
        return toml_text(msgspec.to_builtins(self))

    def _kinds(self) -> Iterator[_Kind]:
        """The combinations of the grid: task, its text, model and training, all resolved."""
        name, fixed = registry.parsed(self.task)
        for chosen in self._chosen():
            model = {axis: chosen.pop(axis) for axis in MODEL_AXES if axis in chosen}
            training = {axis: chosen.pop(axis) for axis in TRAINING_AXES if axis in chosen}
            task = registry.trainable(registry.made(name, fixed | chosen))
            if self.model.offsets is None:
                model["offsets"] = task.locality + 1 if task.locality else 0
            try:
                settings = msgspec.structs.replace(self.model, **model)
            except WrongInput as error:  # a wrong [model] was refused before, so an axis is to blame
                raise error.at("grid" if not self.beside else "grid or beside") from None
            replaced = msgspec.structs.replace(self.training, **training)
            yield _Kind(task, registry.describe(task), settings, replaced)

    def _chosen(self) -> Iterator[dict[str, Any]]:
        """The combinations of all grids, by axis."""
        for grid in (self.grid, *self.beside):
            for values in itertools.product(*grid.values()):
                yield dict(zip(grid, values, strict=True))

    def _lengths(self, kind: _Kind) -> tuple[int, ...]:
        """The training lengths that are not too short for a task."""
        return tuple(length for length in self.lengths if length >= kind.task.shortest)

    def _check_beside(self) -> None:
        """Every grid has the same axes, and no combination stands in two of them."""
        for grid in self.beside:
            if set(grid) != set(self.grid):
                raise WrongInput(
                    f"the axes of grid: {', '.join(self.grid)}", ", ".join(grid), "name them all", "beside"
                )
        seen: set[tuple[Any, ...]] = set()
        for chosen in self._chosen():
            key = tuple(chosen[axis] for axis in self.grid)
            if key in seen:
                raise WrongInput("each combination once", f"{chosen} twice", "drop one of them", "beside")
            seen.add(key)

    def _check_lengths(self, kinds: Sequence[_Kind]) -> None:
        """Every training length serves some task and every task has one; test lengths serve all."""
        modest, greedy = (choose(kinds, key=lambda kind: kind.task.shortest) for choose in (min, max))
        for where, length, kind in (
            ("lengths", min(self.lengths), modest),
            ("lengths", max(self.lengths), greedy),
            ("testing, lengths", min(self.testing.lengths), greedy),
        ):
            if length < kind.task.shortest:
                wanted = f"lengths of at least {kind.task.shortest} for {kind.text}"
                raise WrongInput(wanted, f"{length}", "drop the length", where)


def differences(there: Study, here: Study) -> list[str]:
    """Where two studies differ, in words; their names do not matter."""
    tables = [_flat(msgspec.to_builtins(study)) for study in (there, here)]
    keys = [key for key in {**tables[0], **tables[1]} if key != "name"]
    return [
        f"{key}: {shown(tables[0].get(key))} there, {shown(tables[1].get(key))} here"
        for key in keys
        if tables[0].get(key) != tables[1].get(key)
    ]


def _flat(tables: dict[str, Any], before: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for key, value in tables.items():
        flat |= _flat(value, f"{before}{key}.") if isinstance(value, dict) else {f"{before}{key}": value}
    return flat


def _check_axes(grid: object, where: str) -> None:
    """Every axis is a list of numbers or texts; said here, because the reader of records cannot name the axis."""
    for axis, values in grid.items() if isinstance(grid, dict) else ():
        if not isinstance(values, list):
            remedy = f"write it as [{values}]" if isinstance(values, (int, float)) else "list the values"
            raise WrongInput("a list of values", shown(values), remedy, f"{where}, {axis}")
        for value in values:
            if isinstance(value, bool) or not isinstance(value, (int, float, str)):
                raise WrongInput("numbers or texts", shown(value), "change the value", f"{where}, {axis}")


def _typed(task: str, grid: Grid, where: str) -> Grid:
    return {axis: _axis(task, axis, values, f"{where}, {axis}") for axis, values in grid.items()}


def _axis(task: str, axis: str, values: Any, where: str) -> list[int | float | str]:
    """The values of one axis of a grid, in the types of what they set."""
    own = list(registry.parameters(task))
    if axis not in (*own, *MODEL_AXES, *TRAINING_AXES):
        near = " or ".join(nearest(axis, [*own, *MODEL_AXES, *TRAINING_AXES]))
        raise WrongInput(
            f"a parameter of {task}, or something of its model or training", shown(axis), f"nearest: {near}", where
        )
    if not isinstance(values, (list, tuple)) or not values:
        raise WrongInput("a list with something in it", shown(values), "list the values", where)
    typed: list[int | float | str]
    if axis in own:
        typed = [registry.value_of(task, axis, value, where) for value in values]
    elif axis in TRAINING_AXES:
        typed = [TRAINING_AXES[axis](value, where) for value in values]
    else:
        typed = list(values)  # Model checks them
    if len(set(typed)) < len(typed):
        raise WrongInput("each value once", shown(list(values)), "drop the doubles", where)
    return typed


def _set(tables: dict[str, Any], setting: str) -> None:
    """Sets one key of a study file: `training.steps=200`, `grid.omega=[2, 4]`; a text needs no quotes."""
    key, equals, value = setting.partition("=")
    path = key.strip().split(".")
    if not equals or not all(path):
        raise WrongInput("key=value", shown(setting), "for example --set training.steps=200", "--set")
    table = tables
    for part in path[:-1]:
        table = table.setdefault(part, {})
        if not isinstance(table, dict):
            raise WrongInput(f"a key of the study, {part} has none inside", shown(setting), "change the key", "--set")
    try:
        table[path[-1]] = read_toml(f"value = {value}", "--set")["value"]
    except (WrongInput, KeyError):
        table[path[-1]] = value.strip()
