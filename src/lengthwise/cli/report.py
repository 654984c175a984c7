"""`lengthwise report`: a study's figures and its page."""

import time

import click

from lengthwise.cli.output import answer, json_option, print_json


@click.command("report")
@click.argument("directory", metavar="DIR")
@click.option("--open", "show", is_flag=True, help="Open the page in a browser.")
@json_option
def command(directory: str, show: bool, as_json: bool) -> None:
    """Draw the figures of the study directory DIR and write its page, report.html.

    The page is one file that needs no other: figures, claims where the study is a published one, plateaus, required
    lengths, exponents, bad seeds, settings, device and versions. The figures are in DIR/figures as PDF, SVG and PNG,
    with a CSV behind each panel. A study that is not finished gets a page of what is done.

    \b
    Examples:
      lengthwise report figure1-quick
      lengthwise report figure1-quick --open
      lengthwise report results/study --json

    \b
    JSON fields:
      report, figures   the files
      study, directory, runs, done, seeds, device, versions

    Exit codes: 0 done; 2 wrong input; 3 the machine stopped it.
    """
    from lengthwise.study.report import report

    started = time.perf_counter()
    found = report(directory, lambda message: click.echo(message, err=True))
    if as_json:
        print_json(answer("report", started, found.fields()))
    else:
        click.echo(f"{found.page}")
    if show:
        click.launch(str(found.page))
