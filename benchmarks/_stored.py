"""What a benchmark measured, kept for the docs with the device, the date and the versions it was measured with."""

import importlib.metadata
import json
import os
import platform
from datetime import UTC, datetime
from pathlib import Path

import lengthwise

RESULTS = Path(__file__).parent / "results"


def store(name, benchmark, rows, device=None, packages=("numpy",), path=None):
    """Writes rows to benchmarks/results/NAME.json, or to `path`."""
    result = {
        "benchmark": benchmark,
        "date": datetime.now(UTC).date().isoformat(),
        "device": device or f"CPU, {os.cpu_count()} cores, {platform.machine()}",
        "versions": {
            "python": platform.python_version(),
            **{package: importlib.metadata.version(package) for package in packages},
            "lengthwise": lengthwise.__version__,
        },
        "rows": rows,
    }
    RESULTS.mkdir(exist_ok=True)
    Path(path or RESULTS / f"{name}.json").write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
