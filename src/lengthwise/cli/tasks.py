"""`lengthwise tasks`: what there is to train on."""

import time

import click

from lengthwise.cli.output import answer, json_option, print_json
from lengthwise.cli.tables import table


@click.command("tasks")
@json_option
def command(as_json: bool) -> None:
    """List the tasks: what each computes, its parameters with their defaults, and what is known of it.

    A task with parameters is written NAME:PARAMETER=VALUE,...; parameters that are not named keep their defaults.

    \b
    Examples:
      lengthwise tasks
      lengthwise tasks --json
      lengthwise sweep study.toml --set task=modp:period=5 --out modp5

    \b
    JSON fields:
      tasks   a list; the numbers below are those of the defaults:
        task, target             its name, and the function to learn
        parameters, example      defaults, and the task written out with them
        symbols, period, locality, shortest
                                 the vocabulary, what the target reads of
                                 positions, and the least length of a string
        sensitivity, margin      of a solution by hardmax attention
        source                   where the two come from

    Exit codes: 0 done; 2 wrong usage.
    """
    from lengthwise.tasks.registry import catalogue

    started = time.perf_counter()
    entries = catalogue()
    if as_json:
        print_json(answer("tasks", started, {"tasks": entries}))
        return
    table(("task", "target"), ((entry["example"], entry["target"]) for entry in entries))
