"""What a verb prints with --json: one object, in words, in the form that `lengthwise.jsonform` gives its values."""

import json
import time
from collections.abc import Callable, Mapping
from typing import Any

import click

import lengthwise
from lengthwise.jsonform import LARGEST_EXACT as LARGEST_EXACT
from lengthwise.jsonform import plain as plain

Decorated = Callable[..., Any]


def json_option(command: Decorated) -> Decorated:
    """The option --json, the same for every verb."""
    return click.option("--json", "as_json", is_flag=True, help="Print one JSON object on standard output.")(command)


def answer(verb: str, started: float, fields: Mapping[str, Any]) -> dict[str, Any]:
    """The object that a verb prints; `started` is what time.perf_counter said when the verb began."""
    seconds = round(time.perf_counter() - started, 6)
    return {"lengthwise": lengthwise.__version__, "verb": verb, "seconds": seconds} | plain(fields)


def print_json(fields: Mapping[str, Any], one_line: bool = False) -> None:
    """Prints an object that `answer` or `plain` made: one field a line, or all on one line."""
    if one_line:
        click.echo(json.dumps(fields, allow_nan=False))
        return
    lines = [f"  {json.dumps(name)}: {json.dumps(value, allow_nan=False)}" for name, value in fields.items()]
    click.echo("{\n" + ",\n".join(lines) + "\n}")
