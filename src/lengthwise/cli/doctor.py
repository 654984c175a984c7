"""`lengthwise doctor`: what this machine has, and whether every way to evaluate a model agrees on it."""

import os
import platform
import shutil
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import lengthwise
from lengthwise.cli.output import answer, json_option, print_json

if TYPE_CHECKING:
    from lengthwise.limit.model import LimitTransformer

LIBRARIES = ("numpy", "scipy", "jax", "jaxlib", "optax", "python-flint", "msgspec", "safetensors")


@click.command("doctor")
@json_option
@click.pass_context
def command(ctx: click.Context, as_json: bool) -> None:
    """Show what this machine can do, and check that the methods of evaluation agree on it.

    The check builds one-layer and two-layer models from a fixed seed and runs them by the definition (dense), by
    running counts (linear), from type counts (counts) and with JAX, in double and in single precision. It takes a few
    seconds and writes nothing.

    \b
    Examples:
      lengthwise doctor
      lengthwise doctor --json

    \b
    JSON fields:
      healthy            whether every check holds
      checks             a list: check, holds, difference, allowed; and
                         difference_reason where it could not run
      versions           Python and the libraries
      device, devices    the device JAX uses, and all that it sees
      system, cores, memory_bytes, disk_free_bytes
      seed               of the models in the check

    Exit codes: 0 all checks hold; 1 at least one does not.
    """
    started = time.perf_counter()
    checks = self_check()
    healthy = all(check["holds"] for check in checks)
    fields = {"healthy": healthy, "checks": checks, "versions": versions(), **_devices(), **_machine(), "seed": SEED}
    if as_json:
        print_json(answer("doctor", started, fields))
    else:
        _print(fields)
    ctx.exit(0 if healthy else 1)


SEED = 1


def versions() -> dict[str, str]:
    """Python and the libraries that numbers depend on."""
    found = {"python": platform.python_version(), "lengthwise": lengthwise.__version__}
    for name in LIBRARIES:
        with suppress(metadata.PackageNotFoundError):
            found[name] = metadata.version(name)
    return found


def self_check() -> list[dict[str, Any]]:
    """Every check with the largest difference it found and what was allowed, relative to the size of the outputs."""
    return [
        _checked("dense = linear, two layers", 1e-12, lambda: _by_method("log-suffix", 2, "dense", "linear")),
        _checked("dense = counts, one layer", 1e-12, lambda: _by_method("log-length", 1, "dense", "counts")),
        _checked("hardmax in rationals = attention with few bits", 1e-12, _hardmax),
        _checked("NumPy = JAX in double precision", 1e-12, lambda: _numpy_and_jax(double=True)),
        _checked("NumPy = JAX in single precision", 1e-5, lambda: _numpy_and_jax(double=False)),
    ]


def _checked(name: str, allowed: float, difference: Callable[[], float]) -> dict[str, Any]:
    try:
        found = float(difference())
    except Exception as error:  # whatever is broken here is what we are asked to find out
        reason = f"{type(error).__name__}: {error}"
        return {"check": name, "holds": False, "difference": None, "difference_reason": reason, "allowed": allowed}
    return {"check": name, "holds": found <= allowed, "difference": found, "allowed": allowed}


def _model(attention: Any, depth: int, bits: int | None = None) -> "LimitTransformer":
    """A small model with random weights: 3 symbols, period 2, locality 2, two heads a layer."""
    import numpy as np

    from lengthwise.limit.model import MLP, Head, Layer, LimitTransformer

    rng = np.random.default_rng(SEED)

    def weights(*shape: int) -> Any:
        return np.round(rng.normal(size=shape), 2)

    def layer() -> Layer:
        heads = tuple(Head(weights(2, 4), weights(2, 4), weights(4, 4) / 4, weights(3)) for _ in range(2))
        return Layer(heads, MLP(weights(5, 4), weights(5), weights(4, 5)))

    return LimitTransformer(
        embedding=weights(3, 4),
        positions=weights(2, 4),
        layers=tuple(layer() for _ in range(depth)),
        unembedding=weights(2, 4),
        attention=attention,
        bits=bits,
    )


def _string() -> Any:
    import numpy as np

    return np.random.default_rng(SEED).integers(0, 3, size=200)


def _difference(first: Any, second: Any) -> float:
    import numpy as np

    a, b = np.asarray(first, np.float64), np.asarray(second, np.float64)
    return float(np.max(np.abs(a - b)) / max(1.0, float(np.max(np.abs(a)))))


def _by_method(attention: str, depth: int, first: Any, second: Any) -> float:
    from lengthwise.limit.evaluate import evaluate

    model = _model(attention, depth)
    return _difference(evaluate(model, _string(), first), evaluate(model, _string(), second))


def _hardmax() -> float:
    """At 10^18 positions every weight but the largest is below 2^-2 and flushed, so the two must agree."""
    from lengthwise.limit.counts import evaluate_counts
    from lengthwise.strings import Counts

    model = _model("log-length", 1, bits=2)
    third = 10**18
    counts = Counts((0, 1, 2), ((third, third), (third, third), (third, third)))
    exact = [float(value) for value in evaluate_counts(model, counts, hardmax=True)]
    return _difference(evaluate_counts(model, counts), exact)


def _numpy_and_jax(double: bool) -> float:
    import jax
    import jax.numpy as jnp
    import numpy as np

    from lengthwise.limit.evaluate import evaluate
    from lengthwise.limit.model import map_arrays

    model = _model("log-length", 1)
    expected = evaluate(model, _string(), "linear")
    with jax.enable_x64(double):
        kind = jnp.float64 if double else jnp.float32
        traced = map_arrays(model, lambda array: jnp.asarray(array, kind))
        return _difference(expected, np.asarray(jax.jit(lambda: evaluate(traced, _string(), "linear"))()))


def _devices() -> dict[str, Any]:
    try:
        import jax

        devices = [f"{device.platform}:{device.id} {device.device_kind}" for device in jax.devices()]
    except Exception as error:
        return {"device": None, "device_reason": f"{type(error).__name__}: {error}", "devices": []}
    return {"device": devices[0], "devices": devices}


def _machine() -> dict[str, Any]:
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    found: dict[str, Any] = {
        "system": f"{platform.system()} {platform.machine()}",
        "cores": cores,
        "memory_bytes": None,
    }
    try:
        found["memory_bytes"] = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        with suppress(OSError, ValueError):  # a container may have less
            limit = int(Path("/sys/fs/cgroup/memory.max").read_text())
            found["memory_bytes"] = min(limit, found["memory_bytes"])
    except (AttributeError, OSError, ValueError):
        found["memory_bytes_reason"] = f"{sys.platform} does not tell"
    return found | {"disk_free_bytes": shutil.disk_usage(Path.cwd()).free}


def _print(fields: dict[str, Any]) -> None:
    click.echo("  ".join(f"{name} {version}" for name, version in fields["versions"].items()))
    memory = fields["memory_bytes"]
    shown = "unknown" if memory is None else f"{memory / 2**30:.1f} GiB"
    click.echo(
        f"{fields['system']}, {fields['cores']} cores, {shown} memory, {fields['disk_free_bytes'] / 2**30:.1f} GiB disk free here"
    )
    click.echo("JAX devices: " + (", ".join(fields["devices"]) or f"none ({fields.get('device_reason')})"))
    for check in fields["checks"]:
        found = (
            check.get("difference_reason") or f"difference {check['difference']:.1e}, allowed {check['allowed']:.0e}"
        )
        click.echo(f"{'ok   ' if check['holds'] else 'FAILS'} {check['check']}: {found}")
