"""`lengthwise forecast`: how long training sequences must be for a task."""

import shlex
import time

import click

from lengthwise.cli.output import answer, json_option, print_json
from lengthwise.cli.progress import teller
from lengthwise.cli.sweep import stop_asked


@click.command("forecast")
@click.argument("target", metavar="TARGET")
@click.option("--loss", type=float, metavar="L", help="The mean squared error to reach at every longer length.")
@click.option("--error", type=float, metavar="E", help="The worst absolute error over test strings to reach.")
@click.option(
    "--budget",
    type=float,
    default=60.0,
    show_default=True,
    metavar="SECONDS",
    help="No round begins that is not expected to end within it; the first one is always finished.",
)
@click.option("--seed", type=int, default=0, show_default=True, metavar="N", help="Which seeds are drawn.")
@click.option("--out", metavar="DIR", help="Folder to write to.  [default: forecast- and the task]")
@click.option(
    "--steps", type=int, default=2000, show_default=True, metavar="N", help="Most training steps of a member."
)
@click.option("--batch", type=int, default=256, show_default=True, metavar="N", help="Strings in a training step.")
@click.option(
    "--adversarial",
    type=float,
    default=0.0,
    show_default=True,
    metavar="SHARE",
    help="The share of each batch drawn at the corners: one token or two, and rare ones.",
)
@click.option(
    "--device",
    type=click.Choice(["cpu", "gpu", "auto"]),
    default="auto",
    show_default=True,
    help="Where to train. auto: a GPU where there is one.",
)
@json_option
@click.pass_context
def command(
    ctx: click.Context,
    target: str,
    loss: float | None,
    error: float | None,
    budget: float,
    seed: int,
    out: str | None,
    steps: int,
    batch: int,
    adversarial: float,
    device: str,
    as_json: bool,
) -> None:
    """Find out how long training sequences must be for TARGET, a task as `lengthwise tasks` lists them.

    Trains small transformers at several training lengths, brackets the length from which on their loss (--loss) or
    their worst error (--error) stays below a threshold at every longer length up to a million, narrows the bracket as
    the budget allows, and checks the answer with new seeds at test lengths that had no part in it.

    What is trained next follows from the results alone; the clock only decides after which round to stop. So the same
    seed and the same number of rounds give the same numbers. Every round is a study in the folder: the same command
    again starts from what is there and spends its budget on a narrower answer, also with another threshold.

    \b
    The length is the crossing of the median over seeds; its interval is a
    bootstrap over seeds of 95 %, once 8 seeds stand on either side. The
    answer holds for members trained like these: one layer of width 16 with
    256 units, muP, Adam with cosine decay over --steps; the published
    training is --steps 30000 --batch 1024, which needs a larger budget.

    \b
    Examples:
      lengthwise forecast simple:omega=4 --loss 0.01
      lengthwise forecast modp:period=5 --loss 0.001 --budget 300
      lengthwise forecast simple --error 0.3 --json
      lengthwise forecast simple --error 0.3 --adversarial 0.25
      lengthwise forecast simple:omega=12 --loss 0.01 --steps 8000 --budget 600

    \b
    JSON fields:
      sentence           the answer in words
      required_length    the first training length that suffices, a whole
                         number; null where it was not reached
      censored           "at most" where every length that was trained
                         suffices, "not reached" where none does
      interval           its lower and upper end; null where it is open
      metric, threshold, averaged
      held_out           the check: holds, training_length (the interval's
                         upper end), seeds, lengths, medians,
                         medians_at_required_length
      failed_checks      earlier checks; they joined the evidence
      worst_error        the largest absolute error in the check
      theory             what a theorem says of the trained weights:
                         theorem, training_length, error, ...; or null
      prediction         what can be expressed, as `lengthwise predict` says
      report             null, and why
      medians            a list: training_length, seeds, median,
                         training_loss
      rounds             what was trained, in order
      budget, budget_spent, model, training, directory, seed, device,
      versions

    Exit codes: 0 done; 1 the threshold is not reached, or the check speaks against the answer; 2 wrong input; 3 the
    machine stopped it, finished runs are kept; 130 interrupted, the same command continues.
    """
    from lengthwise.study.forecast import folder_name, forecast

    started = time.perf_counter()
    folder = folder_name(target) if out is None else out
    with teller("members") as tell, stop_asked(tell.say) as should_stop:
        try:
            said = forecast(
                target,
                loss=loss,
                error=error,
                budget=budget,
                seed=seed,
                out=folder,
                steps=steps,
                batch=batch,
                adversarial=adversarial,
                device=device,
                progress=tell.progress,
                say=tell.say,
                should_stop=should_stop,
            )
        except KeyboardInterrupt:
            tell.say(f"finished runs are kept in {shlex.quote(folder)}; the same command continues")
            raise
    if as_json:
        print_json(answer("forecast", started, said.fields()))
    else:
        click.echo(said.sentence)
    if not said.holds:
        ctx.exit(1)
