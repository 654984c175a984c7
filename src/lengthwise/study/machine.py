"""The machine a study runs on: its device, and the versions that numbers depend on."""

import platform
from collections.abc import Callable, Sequence
from contextlib import suppress
from importlib import metadata
from pathlib import Path
from typing import Any, NamedTuple, Protocol, runtime_checkable

from lengthwise import __version__
from lengthwise.config import Run
from lengthwise.errors import MachineStopped
from lengthwise.study.runfile import Trained

DEVICES = ("auto", "cpu", "gpu")
LIBRARIES = ("numpy", "jax", "jaxlib", "msgspec", "safetensors")


@runtime_checkable
class Train(Protocol):
    """What trains: `lengthwise.train.ensemble.train`, or anything that keeps its promises."""

    def __call__(
        self,
        runs: Sequence[Run],
        *,
        finished: Callable[[Run, Trained], None],
        checkpoints: Path | None = None,
        progress: Callable[[Any], None] | None = None,
        should_stop: Callable[[], bool] | None = None,
        say: Callable[[str], None] | None = None,
    ) -> None:
        """Trains runs, tells of each that is finished, leaves checkpoints of the others."""


class Trainer(NamedTuple):
    """Something that trains, the device it trains on, and its check of a run before anything is written."""

    train: Train
    device: str
    check: Callable[[Run], Any]


def ensemble_on(device: str) -> Trainer:
    """The ensemble on all devices of one kind: auto is what JAX prefers."""
    import jax

    from lengthwise.train.ensemble import train
    from lengthwise.train.plans import shape_of

    try:
        devices = jax.devices() if device == "auto" else jax.devices(device)
    except RuntimeError as error:
        there = ", ".join(sorted({found.platform for found in jax.devices()}))
        remedy = "use --device auto" if there else f"repair JAX ({error})"
        raise MachineStopped(f"a device of kind {device}", f"a machine with {there or 'none'}", remedy) from None

    def on_devices(runs: Sequence[Run], **told: Any) -> None:
        try:
            with jax.default_device(devices[0]):
                train(runs, devices=devices, **told)
        except jax.errors.JaxRuntimeError as error:
            first = (f"{error}".splitlines() or ["it failed"])[0]
            remedy = "use a smaller batch or tile, or another device"
            raise MachineStopped("the device to finish", first, remedy, str(devices[0])) from error

    return Trainer(on_devices, f"{devices[0].platform}:{devices[0].id} {devices[0].device_kind}", shape_of)


def versions() -> dict[str, str]:
    """Python, ours, and the libraries that a trained number depends on."""
    found = {"python": platform.python_version(), "lengthwise": __version__}
    for name in LIBRARIES:
        with suppress(metadata.PackageNotFoundError):
            found[name] = metadata.version(name)
    return found
