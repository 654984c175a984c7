"""The house: what an import costs, and that the pinned versions are complete."""

import re
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path

import click
import pytest

from lengthwise.cli.verbs import lengthwise_command

VERBS = [words for words, _, _ in lengthwise_command.leaves(click.Context(lengthwise_command))]
ROOT = Path(__file__).parent.parent
HEAVY = {"jax", "jaxlib", "numpy", "scipy", "matplotlib", "rich", "optax", "flint", "safetensors"}


def loaded(code):
    """The heavy modules that a fresh Python has loaded after some code."""
    program = f"import sys\n{code}\nprint(*sorted(m for m in sys.modules if '.' not in m), sep='\\n', file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return HEAVY & set(done.stderr.split())


def test_the_probe_sees_what_is_loaded():
    assert loaded("import scipy") >= {"scipy", "numpy"}


def test_importing_the_package_loads_nothing_heavy():
    assert loaded("import lengthwise") == set()


@pytest.mark.parametrize(
    "arguments",
    [["--help"], ["--version"], *([*words.split(), "--help"] for words in VERBS), ["crasp", "lint", "crasp:D_2"]],
)
def test_help_loads_nothing_heavy(arguments):
    assert loaded(f"from lengthwise.cli.endings import outcome\nassert outcome({arguments!r}) == 0") == set()


def test_weighing_a_model_loads_no_jax(tmp_path):
    code = f"""
import lengthwise as lw
from lengthwise.limit import quantities
from lengthwise.limit.constructions import simple_task
lw.save(simple_task(4, bits=8), {str(tmp_path / "m.safetensors")!r})
from lengthwise.cli.endings import outcome
assert outcome(["show", {str(tmp_path / "m.safetensors")!r}]) == 0
"""
    assert loaded(code) & {"jax", "jaxlib", "matplotlib", "optax"} == set()


def test_every_public_name_loads():
    import lengthwise

    for name in lengthwise.__all__:
        assert getattr(lengthwise, name) is not None
    assert set(lengthwise.__all__) == set(dir(lengthwise))
    with pytest.raises(AttributeError, match="nothing_of_ours"):
        _ = lengthwise.nothing_of_ours


def test_public_names_are_no_modules_whoever_imported_those_before():
    code = """
import importlib, pkgutil, types, lengthwise as lw, lengthwise.crasp
for package in (lw, lengthwise.crasp):
    for name in package.__all__:
        importlib.import_module(f"{package.__name__}.{package._HOMES[name]}") if name in package._HOMES else None
    for name in package.__all__:
        assert not isinstance(getattr(package, name), types.ModuleType), name
        assert not isinstance(getattr(package, name), types.ModuleType), name
from lengthwise.crasp.parse import parse
assert parse is lw.crasp.parse
"""
    loaded(code)


def normal(name):
    return re.sub(r"[-_.]+", "-", name).lower()


def needed(requirements):
    """All packages that some requirements pull in here, by their normal names."""
    found, ahead = set(), list(requirements)
    while ahead:
        line = ahead.pop()
        name, extras = re.match(r"([\w.-]+)(?:\[([\w,-]+)\])?", line).groups()
        if normal(name) in found:
            continue
        try:
            further = metadata.requires(name) or []
        except metadata.PackageNotFoundError:
            continue  # its marker excludes this machine
        found.add(normal(name))
        ahead += [r for r in further if "extra ==" not in r and not re.search(r"platform|implementation", r)]
        assert not extras
    return found


def test_every_package_is_pinned_and_pins_are_what_runs_here():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    wanted = project["dependencies"] + project["optional-dependencies"]["test"]
    pins = {}
    for line in (ROOT / "constraints.txt").read_text().splitlines():
        if line.startswith("#"):
            continue
        name, version = re.fullmatch(r"([a-z0-9-]+)==([\w.]+)(?: ; .+)?", line).groups()
        pins.setdefault(name, set()).add(version)
    assert needed(wanted) <= set(pins)
    floors = {normal(re.match(r"[\w-]+", line)[0]): re.search(r">=([\d.]+)", line)[1] for line in wanted}
    for name, floor in floors.items():
        for version in pins[name]:
            assert tuple(map(int, version.split(".")[:2])) >= tuple(map(int, floor.split(".")[:2])), (name, version)


def test_the_version_is_told_once():
    import lengthwise

    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["version"] == lengthwise.__version__
    assert f"## [{lengthwise.__version__}]" in (ROOT / "CHANGELOG.md").read_text()
