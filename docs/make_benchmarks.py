"""Writes docs/benchmarks.md: one table a result file in benchmarks/results/."""

import json
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent.parent / "benchmarks" / "results"
PAGE = Path(__file__).parent / "benchmarks.md"
INTRODUCTION = """# Benchmarks

`make bench` measures and rewrites this page. Every line compares ours with a named rival in one run on one machine, so
the ratio is what to read; times depend on the machine.
"""


def page() -> str:
    """The page as it should be for the results there are."""
    results = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(RESULTS.glob("*.json"))]
    return "\n".join([INTRODUCTION, *map(_section, results)] if results else [INTRODUCTION, "No results yet.\n"])


def _section(result: dict[str, Any]) -> str:
    columns = list(dict.fromkeys(name for row in result["rows"] for name in row))
    versions = ", ".join(f"{name} {version}" for name, version in result["versions"].items())
    lines = [
        f"## {result['benchmark']}",
        "",
        f"{result['device']}; {result['date']}; {versions}.",
        "",
        f"| {' | '.join(columns)} |",
        f"|{'---|' * len(columns)}",
        *(f"| {' | '.join(_cell(row.get(name)) for name in columns)} |" for row in result["rows"]),
        "",
    ]
    return "\n".join(lines)


def _cell(value: Any) -> str:
    if value is None:
        return ""
    text = f"{value:.3g}" if isinstance(value, float) else str(value)
    return text.replace("|", "\\|")


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
