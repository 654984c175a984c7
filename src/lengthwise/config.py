"""The records that say what is trained, and how they are read and written.

A `Run` is one member of a study with nothing left open; its id is a hash of what it says, so the same record has the
same id everywhere. Reading names the key that does not fit and the nearest right one.
"""

import hashlib
import json
import math
import re
import tomllib
from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeVar, get_args, get_origin

import msgspec

from lengthwise.errors import WrongInput, nearest, shown

ID_DIGITS = 16
# Beyond these the device overflows its 32 bits or ends the process, neither of which says what was wrong.
MOST_STEPS = 10**9
MOST_STRINGS = 2**24  # of a batch, or of one test
MOST_WIDE = 2**16  # width and units
MOST_HEADS = 2**12  # and offsets, and members of a tile
MOST_RATE = 1e30
_Record = TypeVar("_Record", bound=msgspec.Struct)


class Model(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Sizes of one layer. offsets: positional logits a head has; None: 0 without locality, else locality + 1."""

    width: int = 16
    units: int = 256
    heads: int = 1
    offsets: int | None = None
    attention: Literal["plain", "log-length", "log-suffix"] = "plain"

    def __post_init__(self) -> None:
        """Sizes are positive, the attention rule is known."""
        for name in ("width", "units"):
            whole(getattr(self, name), name, most=MOST_WIDE)
        whole(self.heads, "heads", most=MOST_HEADS)
        if self.offsets is not None:
            whole(self.offsets, "offsets", least=0, most=MOST_HEADS)
        one_of(self.attention, get_args(self.__annotations__["attention"]), "attention")


TrainingPath = Literal["statistics", "last-query", "sequences"]


class Training(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """How a member is trained. rate: Adam's for embeddings. stop: the training loss that is low enough.

    path: what a step computes on. statistics: counts only, the same cost at every length; last-query and sequences:
    strings, with one query or all of them. The same function and the same data, at different speeds.
    adversarial: the share of each batch drawn at the corners, see `RegressionTask.corners`. Without one the field is
    absent, and the record, its id and its files are what they were before there was such a field.
    """

    batch: int = 1024
    steps: int = 30_000
    rate: float = 0.01
    stop: float = 1e-5
    chunk: int = 100  # steps between two looks at the stop rule
    path: TrainingPath = "statistics"
    adversarial: float | msgspec.UnsetType = msgspec.UNSET

    def __post_init__(self) -> None:
        """Counts and the rate are positive, the stop rule is not negative."""
        whole(self.batch, "batch", most=MOST_STRINGS)
        for name in ("steps", "chunk"):
            whole(getattr(self, name), name, most=MOST_STEPS)
        msgspec.structs.force_setattr(self, "rate", learning_rate(self.rate, "rate"))
        msgspec.structs.force_setattr(self, "stop", number(self.stop, "stop"))
        if self.adversarial is not msgspec.UNSET:
            share = share_of_one(self.adversarial, "adversarial")
            msgspec.structs.force_setattr(self, "adversarial", share or msgspec.UNSET)

    @property
    def corner_share(self) -> float:
        """The share of each batch drawn at the corners, as a number."""
        return 0.0 if isinstance(self.adversarial, msgspec.UnsetType) else self.adversarial

    @property
    def corner_strings(self) -> int:
        """How many strings of a batch that is; at least one where the share is above 0."""
        return max(1, round(self.corner_share * self.batch)) if self.corner_share else 0

    def without_corners(self) -> "Training":
        """The same training on the task's law alone."""
        return msgspec.structs.replace(self, adversarial=msgspec.UNSET)


class Testing(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Where a trained member is tested: lengths, and how many strings of each."""

    lengths: tuple[int, ...]
    samples: int = 32_768

    def __post_init__(self) -> None:
        """Lengths are positive and distinct."""
        msgspec.structs.force_setattr(self, "lengths", several(self.lengths, "lengths"))
        whole(self.samples, "samples", most=MOST_STRINGS)


class Run(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One member. task: its target with all parameters, as `tasks.registry.describe` writes it."""

    task: str
    longest: int
    seed: int
    model: Model
    training: Training
    testing: Testing
    tile: int

    def __post_init__(self) -> None:
        """Lengths and seeds are what they should be."""
        whole(self.longest, "longest")
        whole(self.seed, "seed", least=0)
        whole(self.tile, "tile", most=MOST_HEADS)

    @property
    def id(self) -> str:
        """The first 16 hexadecimal digits of the SHA-256 of the record's canonical JSON."""
        return hashlib.sha256(canonical(msgspec.to_builtins(self))).hexdigest()[:ID_DIGITS]

    def __str__(self) -> str:
        """The member as messages call it."""
        corners = self.training.corner_share
        more = f", adversarial {corners:g}" if corners else ""
        return f"{self.id} ({self.task}, longest {self.longest}, seed {self.seed}{more})"


def canonical(value: Any) -> bytes:
    """The one JSON text of a value: sorted keys, no blanks, floats as Python's repr, which reads back bit for bit."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False).encode()


def whole(value: object, name: str, least: int = 1, most: int | None = None) -> int:
    """An integer that is large enough, and not too large."""
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise WrongInput(f"an integer of at least {least}", shown(value), f"change {name}", name)
    if most is not None and value > most:
        raise WrongInput(f"an integer of at most {most}", shown(value), f"change {name}", name)
    return value


def one_of(value: object, known: Sequence[str], name: str) -> None:
    """A word from a short list."""
    if value not in known:
        raise WrongInput(f"one of {', '.join(known)}", shown(value), "name one of them", name)


def number(value: object, name: str, positive: bool = False) -> float:
    """A finite number that is positive, or not negative."""
    fits = isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
    if not fits or value < 0 or (positive and value == 0):  # type: ignore[operator]  # `fits` says it is a number
        wanted = "a finite number above 0" if positive else "a finite number, 0 or more"
        raise WrongInput(wanted, shown(value), f"change {name}", name)
    return float(value)  # type: ignore[arg-type]


def learning_rate(value: object, name: str) -> float:
    """A learning rate: above 0, and such that float32 holds what it leads to."""
    found = number(value, name, positive=True)
    if found > MOST_RATE:
        raise WrongInput(f"a learning rate of at most {MOST_RATE:g}", shown(value), f"change {name}", name)
    return found


def share_of_one(value: object, name: str) -> float:
    """A share: from 0 to 1."""
    found = number(value, name)
    if found > 1:
        raise WrongInput("a share from 0 to 1", shown(value), f"change {name}", name)
    return found


def several(values: Sequence[int], name: str, least: int = 1) -> tuple[int, ...]:
    """Distinct integers that are large enough, at least one."""
    if isinstance(values, str) or not isinstance(values, Sequence) or not values:
        raise WrongInput("a list of integers with something in it", shown(values), f"list the {name}", name)
    for value in values:
        whole(value, name, least)
    if len(set(values)) < len(values):
        twice = next(value for value in values if values.count(value) > 1)
        raise WrongInput("each number once", f"{twice} twice", "drop one of them", name)
    return tuple(values)


def read_toml(text: str, where: str) -> dict[str, Any]:
    """The tables of a TOML text."""
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise WrongInput("a TOML file", f"{error}", "see https://toml.io", where) from None


def record(data: Mapping[str, Any], kind: type[_Record], where: str) -> _Record:
    """A record from tables; what does not fit is named with its path, a misspelt key with the nearest right one."""
    _known(data, kind, where)
    try:
        return msgspec.convert(data, kind)
    except msgspec.ValidationError as error:
        found = re.fullmatch(r"(?P<said>.*?)(?: - at `\$\.?(?P<path>.*)`)?", f"{error}", re.DOTALL)
        assert found is not None
        place = ", ".join(part for part in (where, found["path"]) if part)
        if isinstance(error.__cause__, WrongInput):
            raise error.__cause__.at(place) from None
        parts = re.fullmatch(r"Expected (.*), got (.*)", found["said"])
        wanted, got = parts.groups() if parts else ("a record that fits", found["said"])
        raise WrongInput(_words(wanted), _words(got), "change the value", place) from None


_WORDS = {
    "array": "a list",
    "object": "a table",
    "int": "an integer",
    "float": "a number",
    "str": "a text",
    "bool": "true or false",
}


def _words(text: str) -> str:
    return re.sub(r"\w+", lambda word: _WORDS.get(word[0], word[0]), text.replace("`", "").replace(" | ", " or "))


def _known(data: Mapping[str, Any], kind: type[msgspec.Struct], where: str) -> None:
    """Every key is a field, every field without a default is there, every choice is one of the allowed."""
    fields = {field.name: field for field in msgspec.structs.fields(kind)}
    for name, value in data.items():
        if name not in fields:
            near = " or ".join(nearest(name, list(fields)))
            raise WrongInput("a known key", shown(name), f"nearest: {near}", where)
        inner = fields[name].type
        if isinstance(inner, type) and issubclass(inner, msgspec.Struct) and isinstance(value, Mapping):
            _known(value, inner, f"{where}, {name}")
        if get_origin(inner) is Literal and value not in get_args(inner):
            near = " or ".join(nearest(f"{value}", list(get_args(inner))))
            raise WrongInput(
                f"one of {', '.join(get_args(inner))}", shown(value), f"nearest: {near}", f"{where}, {name}"
            )
    for name, field in fields.items():
        if field.required and name not in data:
            raise WrongInput(f"the key {name}", "a table without it", f"add {name}", where)


def toml_text(tables: Mapping[str, Any]) -> str:
    """Tables of numbers, texts and lists of them as TOML; what is None or empty is left out.

    A list of tables becomes [[name]] once for each.
    """
    inner = {name: _tables(value) for name, value in tables.items()}
    lines = [
        f"{name} = {_toml(tables[name])}" for name, found in inner.items() if found is None and tables[name] is not None
    ]
    for name, found in inner.items():
        heading = f"[{name}]" if isinstance(tables[name], Mapping) else f"[[{name}]]"
        for table in found or ():
            lines += ["", heading, *(f"{key} = {_toml(entry)}" for key, entry in table.items() if entry is not None)]
    return "\n".join(lines) + "\n"


def _tables(value: Any) -> list[Mapping[str, Any]] | None:
    """A table, or a list of tables, as a list, empty for an empty value; None for any other value."""
    if isinstance(value, Mapping):
        return [value] if value else []
    if isinstance(value, (list, tuple)) and all(isinstance(entry, Mapping) for entry in value):
        return list(value)
    return None


def _toml(value: Any) -> str:
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_toml, value))}]"
    return repr(value)
