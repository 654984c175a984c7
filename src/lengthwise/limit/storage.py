"""One file for one model: safetensors with a JSON header, bit for bit, and nothing that runs.

The header's entry `lengthwise` is a JSON object with the format's version, the attention rule and the names; the
tensors carry the names of `named_arrays`. docs/model-file.md is the specification.
"""

import contextlib
import os
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import msgspec
import numpy as np

from lengthwise.errors import MachineStopped, WrongInput, shown
from lengthwise.limit.model import MLP, Head, Layer, LimitTransformer, named_arrays

FORMAT = 1
_REMEDY = "pass a file that `lw.save` wrote"
_Version = Annotated[int, msgspec.Meta(ge=1, le=FORMAT)]


class _HeadNote(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    known_spread: float | None = None
    known_diameter: float | None = None


class _LayerNote(msgspec.Struct, forbid_unknown_fields=True):
    heads: list[_HeadNote]
    activation: str | list[str] | None


class _Note(msgspec.Struct, forbid_unknown_fields=True):
    format: _Version
    attention: str
    bits: int | None
    tokens: list[str] | None
    coordinates: list[str] | None
    layers: list[_LayerNote]


def save(model: LimitTransformer, path: str | os.PathLike[str]) -> None:
    """Writes the model to one .safetensors file: written aside, then renamed, so that no half file is ever seen."""
    from safetensors.numpy import save as to_bytes

    layers = [
        _LayerNote(
            [_HeadNote(head.known_spread, head.known_diameter) for head in layer.heads],
            None
            if layer.mlp is None
            else layer.mlp.activation
            if isinstance(layer.mlp.activation, str)
            else list(layer.mlp.activation),
        )
        for layer in model.layers
    ]
    names = [None if n is None else list(n) for n in (model.tokens, model.coordinates)]
    note = _Note(FORMAT, model.attention, model.bits, names[0], names[1], layers)
    arrays = {name: np.ascontiguousarray(array) for name, array in named_arrays(model).items()}
    write_aside(Path(path), to_bytes(arrays, metadata={"lengthwise": msgspec.json.encode(note).decode()}))


def load(path: str | os.PathLike[str]) -> LimitTransformer:
    """Reads a model that `save` wrote; the weights are the same bits."""
    note, arrays = _read(Path(path))
    where = str(path)
    try:
        model = _assemble(note, arrays)
    except KeyError as missing:
        raise WrongInput(f"the array {missing.args[0]}", "a file without it", _REMEDY, where) from None
    except WrongInput as error:
        raise error.at(where) from None
    if arrays:
        raise WrongInput("only the arrays its header describes", f"also {shown(min(arrays))}", _REMEDY, where)
    return model


def _assemble(note: _Note, arrays: dict[str, np.ndarray]) -> LimitTransformer:
    layers = []
    for index, layer in enumerate(note.layers):
        heads = []
        for number, extra in enumerate(layer.heads):
            own = {
                name: arrays.pop(f"layers.{index}.heads.{number}.{name}") for name in ("key", "query", "value", "phi")
            }
            with _placed(f"layers.{index}.heads.{number}"):
                heads.append(Head(**own, known_spread=extra.known_spread, known_diameter=extra.known_diameter))
        mlp = None
        if layer.activation is not None:
            own = {name: arrays.pop(f"layers.{index}.mlp.{name}") for name in ("inner", "bias", "outer")}
            activation = layer.activation if isinstance(layer.activation, str) else tuple(layer.activation)
            with _placed(f"layers.{index}.mlp"):
                mlp = MLP(**own, activation=activation)
        layers.append(Layer(tuple(heads), mlp))
    outer = {name: arrays.pop(name) for name in ("embedding", "positions", "unembedding")}
    return LimitTransformer(
        **outer,
        layers=tuple(layers),
        attention=note.attention,  # type: ignore[arg-type]  # the record checks it
        bits=note.bits,
        tokens=None if note.tokens is None else tuple(note.tokens),
        coordinates=None if note.coordinates is None else tuple(note.coordinates),
    )


@contextlib.contextmanager
def _placed(place: str) -> Iterator[None]:
    try:
        yield
    except WrongInput as error:
        raise error.at(place) from None


def _read(path: Path) -> tuple[_Note, dict[str, np.ndarray]]:
    """The header and the arrays; the header is checked before any array is touched."""
    from safetensors import SafetensorError, safe_open

    where = str(path)
    check_readable(path)
    try:
        with safe_open(path, framework="np") as file:
            note = _header(file.metadata() or {}, where)
            kinds = {name: file.get_slice(name).get_dtype() for name in file.keys()}  # noqa: SIM118  (not a dict)
            foreign = next((name for name, kind in kinds.items() if kind not in ("F32", "F64")), None)
            if foreign is not None:
                raise WrongInput("arrays of F32 or F64", f"{kinds[foreign]}", _REMEDY, f"{where}, {foreign}")
            return note, {name: file.get_tensor(name) for name in kinds}
    except SafetensorError as error:
        raise WrongInput("a safetensors file", f"one that does not parse ({error})", _REMEDY, where) from None
    except WrongInput:
        raise
    except (OSError, ValueError) as error:
        raise WrongInput("a readable file", _reason(error), "check the path", where) from None
    except MemoryError:
        raise MachineStopped("to read the file", "not enough memory", "use a larger machine", where) from None


def _header(metadata: dict[str, str], where: str) -> _Note:
    text = metadata.get("lengthwise")
    if text is None:
        raise WrongInput("a limit transformer's file", "a safetensors file without our header", _REMEDY, where)
    try:
        version = msgspec.json.decode(text, type=dict[str, msgspec.Raw]).get("format")
        if version is not None and bytes(version).isdigit() and int(bytes(version)[:9]) > FORMAT:
            raise WrongInput(
                f"format {FORMAT} or older", f"format {bytes(version)[:9].decode()}", "update lengthwise", where
            )
        return msgspec.json.decode(text, type=_Note)
    except (msgspec.MsgspecError, RecursionError) as error:
        raise WrongInput("a header as docs/model-file.md says", f"{error}", _REMEDY, where) from None


def check_readable(path: Path) -> None:
    """A path that can be read as a file, or why not."""
    try:
        if path.is_dir():
            raise WrongInput("a file", "a folder", "name a file in it", str(path))
        if path.exists() and not path.is_file():
            raise WrongInput("a file", "a pipe or device", "save it as a file first", str(path))
        with path.open("rb") as file:
            if not file.read(1):
                raise WrongInput("a file with something in it", "an empty file", _REMEDY, str(path))
    except FileNotFoundError:
        raise WrongInput("a file", "no such file", "check the path", str(path)) from None
    except WrongInput:
        raise
    except (OSError, ValueError) as error:
        raise WrongInput("a readable file", _reason(error), "check the path", str(path)) from None


def write_aside(path: Path, content: bytes) -> None:
    """Writes a file beside its place and renames it there: other readers see all of it or none."""
    aside = Path(path.parent, f".{path.name[:40]}.{secrets.token_hex(4)}")
    try:
        special = path.exists() and not path.is_file()  # renaming onto a device would replace it
        if not special:
            path.parent.mkdir(parents=True, exist_ok=True)
            _write_and_rename(aside, path, content)
    except (FileExistsError, NotADirectoryError):
        raise WrongInput("a path for a file", "a file on the way", "choose another place", str(path)) from None
    except ValueError as error:
        raise WrongInput("a path for a file", _reason(error), "choose another place", str(path)) from None
    except OSError as error:
        remedy = "choose another place or free the disk"
        raise MachineStopped("to write the file", _reason(error), remedy, str(path)) from None
    if special:
        got = "a folder" if path.is_dir() else "a pipe or device"
        raise WrongInput("a path for a file", got, "choose another place", str(path))


def _write_and_rename(aside: Path, path: Path, content: bytes) -> None:
    try:
        with aside.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        aside.replace(path)
    except BaseException:
        with contextlib.suppress(OSError, ValueError):
            aside.unlink(missing_ok=True)
        raise


def _reason(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error)
