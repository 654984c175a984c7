"""`lengthwise check`: whether a certificate holds, by a program that shares no code with what wrote it."""

import time

import click

from lengthwise.cli.files import opened
from lengthwise.cli.output import answer, json_option, print_json
from lengthwise.errors import WrongInput


@click.command("check")
@click.argument("certificate", metavar="CERTIFICATE")
@json_option
@click.pass_context
def command(ctx: click.Context, certificate: str, as_json: bool) -> None:
    """Check CERTIFICATE, a JSON file as the page "The certificate" defines it; a dash is standard input.

    Everything the file claims is recomputed from the weights in it: counts, logits, attended positions, outputs and
    errors, or sensitivities, margins and bounds; exactly where numbers are rational, between two rationals elsewhere.
    The checker uses Python's standard library alone; `make checker` makes one file of it that runs by itself.

    \b
    Examples:
      lengthwise check certificate.json
      lengthwise check certificate.json --json
      lengthwise check - < certificate.json

    \b
    JSON fields:
      certificate   the file
      valid         whether every rule holds
      statement     what has been checked, in words; empty where refused
      reason        why it is refused; empty where it is valid

    Exit codes: 0 valid; 1 refused; 2 not a certificate, or wrong input; 3 the machine stopped it.
    """
    from lengthwise.check import Unreadable, check_bytes
    from lengthwise.check.reader import MOST_BYTES

    started = time.perf_counter()
    with opened(certificate) as (file, source):
        data = file.read(MOST_BYTES + 1)
    try:
        verdict = check_bytes(data)
    except Unreadable as error:
        remedy = "see the page on certificates for the format"
        raise WrongInput(error.wanted, error.got, remedy, error.where).at(source) from None
    if as_json:
        print_json(answer("check", started, {"certificate": certificate} | verdict.to_json()))
    else:
        click.echo(str(verdict))
    ctx.exit(0 if verdict.valid else 1)
