"""`lengthwise measure`: plateaus, required lengths and exponents of a study."""

import time

import click

from lengthwise.cli.output import answer, json_option, print_json
from lengthwise.cli.tables import table


@click.command("measure")
@click.argument("directory", metavar="DIR")
@click.option("--loss", type=float, metavar="L", help="Threshold of the mean squared error; the paper's is 0.01.")
@click.option("--error", type=float, metavar="E", help="Threshold of the worst absolute error over the test strings.")
@json_option
@click.pass_context
def command(ctx: click.Context, directory: str, loss: float | None, error: float | None, as_json: bool) -> None:
    """Measure the study directory DIR: how long training must be, where the loss settles, how the length grows.

    The required length is the training length from which on the plateau stays at or below the threshold, at every longer
    training length too. The plateau is the value at the longest test length, the median over seeds. --loss and --error
    are two different things, and one of them has to be given.

    Printed, one line each: the required length of every setting, its plateaus, and the exponents. Off a terminal the
    first column says which of the three it is.

    \b
    Examples:
      lengthwise measure figure1-quick --loss 0.01
      lengthwise measure figure1-quick --error 0.1 --json

    \b
    JSON fields:
      settings          what varies; the lists below have an entry for each
      required_length   null where it is not reached, or is at most the
                        shortest trained; required_length_reason says which
      interval          its 95 % interval over seeds, null where it is open;
                        interval_reason
      plateaus          for each setting a list over training lengths
      exponents         required length against each parameter that varies,
                        and against 1/error
      metric, threshold, averaged
      study, directory, runs, done, seeds, device, versions

    Exit codes: 0 reached in some setting; 1 reached in none; 2 wrong input.
    """
    from lengthwise.study.measurement import metric_of
    from lengthwise.study.reading import read

    started = time.perf_counter()
    metric, threshold = metric_of(loss, error)
    found = read(directory, lambda message: click.echo(message, err=True))
    measurement = found.measurement(metric)
    needed = measurement.required_lengths(threshold)
    if not found.whole:
        click.echo(f"{len(found.finished)} of {found.study.members} runs are done; the others do not count", err=True)
    if as_json:
        print_json(answer("measure", started, found.origin() | measurement.to_json(threshold)))
    else:
        lines = measurement.series
        rows = (("required", line.name, need.sentence) for line, need in zip(lines, needed, strict=True))
        table(("", "setting", f"training length for {metric} {threshold:g}"), rows)
        plateaus = (
            (
                "plateau",
                line.name,
                f"{one.longest}",
                f"{one.median:.3g}",
                f"{one.lower:.3g} to {one.upper:.3g}",
                _settled(one.settled),
            )
            for line, group in zip(lines, measurement.plateaus(), strict=True)
            for one in group
        )
        table(("", "setting", "trained up to", f"plateau ({metric})", "interval", "settled"), plateaus)
        table(("", "exponents"), (("exponent", one.sentence) for one in measurement.exponents(threshold)))
    ctx.exit(1 if all(need.censored == "not reached" for need in needed) else 0)


def _settled(settled: bool | None) -> str:
    return "unknown" if settled is None else "yes" if settled else "no"
