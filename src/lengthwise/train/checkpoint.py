"""The state of an unfinished member in one file, complete or not there at all."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from lengthwise.limit.storage import write_aside


@dataclass(frozen=True)
class Saved:
    """A member's state by name (weights and moments are dictionaries of arrays) and its loss history."""

    state: dict[str, Any]
    history: tuple[float, ...]


def write_checkpoint(folder: Path, run: str, saved: Saved) -> None:
    """Writes <folder>/<run>.safetensors aside and renames it; the header carries the run and a checksum."""
    from safetensors.numpy import save

    arrays = {"history": np.asarray(saved.history, dtype=np.float64)}
    for name, value in saved.state.items():
        parts = value if isinstance(value, dict) else {"": value}
        arrays |= {f"{name}/{part}": np.array(array, order="C") for part, array in parts.items()}
    metadata = {"run": run, "checksum": _checksum(arrays)}
    write_aside(folder / f"{run}.safetensors", save(arrays, metadata=metadata))


def read_checkpoint(folder: Path, run: str, say: Callable[[str], None] | None = None) -> Saved | None:
    """The state kept for a run, or None; a torn, tampered or foreign file is named and ignored."""
    from safetensors import SafetensorError, safe_open

    path = folder / f"{run}.safetensors"
    if not path.exists():
        return None
    try:
        with safe_open(path, framework="np") as file:
            metadata = file.metadata() or {}
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118  (not a dict)
        if metadata.get("run") != run or metadata.get("checksum") != _checksum(arrays):
            raise ValueError("its checksum or its run does not fit")
        return Saved(_nested(arrays), tuple(arrays["history"].tolist()))
    except (SafetensorError, OSError, ValueError, KeyError) as error:
        if say is not None:
            say(f"checkpoint {path} is ignored and its run starts again: {error}")
        return None


def _nested(arrays: dict[str, np.ndarray]) -> dict[str, Any]:
    state: dict[str, Any] = {}
    for name, array in arrays.items():
        if name != "history":
            field, part = name.split("/", 1)
            if part:
                state.setdefault(field, {})[part] = array
            else:
                state[field] = array
    return state


def _checksum(arrays: dict[str, np.ndarray]) -> str:
    digest = hashlib.sha256()
    for name in sorted(arrays):
        digest.update(f"{name}:{arrays[name].dtype}:{arrays[name].shape};".encode())
        digest.update(arrays[name].tobytes())
    return digest.hexdigest()
