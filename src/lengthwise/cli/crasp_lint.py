"""`lengthwise crasp lint`: whether a program is one, and what it needs."""

import time
from typing import Any

import click

from lengthwise.cli.files import load_program
from lengthwise.cli.output import answer, json_option, print_json


@click.command("lint")
@click.argument("program", metavar="PROGRAM")
@click.option("--alphabet", metavar="SYMBOLS", help="For .cr files: further symbols, separated by blanks.")
@json_option
def command(program: str, alphabet: str | None, as_json: bool) -> None:
    """Check PROGRAM and say what it needs, from its text alone; no word is run.

    The fragment tells what is known about how long words must be to pin a program down: positive (thresholds on
    counts only), linear-top (linear inequalities, but not inside counts), one-difference (one difference of counts,
    anywhere), rest (no bound can be computed; the culprit is named).

    \b
    Examples:
      lengthwise crasp lint dyck1.crasp
      lengthwise crasp lint crasp:tomita4 --json

    \b
    JSON fields:
      program, alphabet, outputs     its name, symbols and outputs
      kind                           plain, periodic, local, or both
      period, offsets, depth         least common period, offsets back, and
                                     how deep counts are nested
      fragment, one_layer            see above; whether counts are nested
      culprit, culprit_in            for rest: the comparison, and where
      heads, size, operations        attention heads, syntax nodes, operations
      largest_coefficient, largest_constant
      warnings                       allowed, and probably not meant

    Exit codes: 0 the program is in order; 2 it is not: one line says where.
    """
    from lengthwise.crasp.fragment import fragment

    started = time.perf_counter()
    found = load_program(program, alphabet)
    needs = fragment(found)
    if as_json:
        fields: dict[str, Any] = {"program": found.name, "alphabet": list(found.alphabet)}
        fields |= {"outputs": [one.name for one in found.outputs]}
        print_json(answer("crasp lint", started, fields | needs.to_json()))
        return
    click.echo(f"{found.name}: {needs}")
    if needs.culprit is not None:
        click.echo(
            f"  no theorem covers {needs.culprit} (in {needs.culprit_in}): a difference of counts inside a count"
        )
    for warning in needs.warnings:
        click.echo(f"  warning: {warning}")
