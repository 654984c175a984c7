"""`lengthwise reproduce`: a published figure, and its claims checked one by one."""

import shlex
import time

import click

from lengthwise.cli.endings import INTERRUPTED
from lengthwise.cli.output import answer, json_option, print_json
from lengthwise.cli.progress import teller
from lengthwise.cli.sweep import stop_asked
from lengthwise.cli.tables import table


@click.command("reproduce")
@click.argument("name", metavar="NAME")
@click.option(
    "--scale",
    metavar="quick|paper",
    default="quick",
    show_default=True,
    help="quick: at most 32 members and 4,000 steps, two minutes on two cores. paper: everything, for a GPU.",
)
@click.option("--out", metavar="DIR", help="Folder to write to.  [default: NAME-SCALE]")
@click.option("--resume", is_flag=True, help="Continue the study that the folder holds.")
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
    ctx: click.Context, name: str, scale: str, out: str | None, resume: bool, device: str, as_json: bool
) -> None:
    """Train, measure and draw a published figure, and judge each of its claims.

    \b
    NAME is one of
      figure1     SimpleTask: loss, plateau, and the length that omega needs
      figure2     ModPTask: the same, and plateaus over N / p
      figure3     ModPTask with period 5: where trained attention looks
      vocabulary  the length needed against the size of the vocabulary
      locality    the length needed against the locality of the target

    The folder is a study directory, as `lengthwise sweep` makes one, with figures (PDF, SVG, PNG, and the CSV behind
    each panel) and report.html. A folder in which every run is done is measured and drawn again, not trained.

    Printed are the claims: claim, verdict, and what was measured. A claim that cannot be judged on these runs says why.

    \b
    Examples:
      lengthwise reproduce figure1
      lengthwise reproduce figure1 --scale paper --device gpu --out results/figure1
      lengthwise reproduce figure2 --resume
      lengthwise reproduce figure3 --json

    \b
    JSON fields:
      figure, scale     what was asked
      claims            a list: claim, published, measured, holds (true,
                        false, or null with a reason), required, data
      figures, report   the files
      study, directory, runs, done, seeds, device, versions

    Exit codes: 0 no required claim is false; 1 a required claim is false; 2 wrong input; 3 the machine stopped it,
    finished runs are kept; 130 interrupted, --resume continues.
    """
    from lengthwise.study.published import published
    from lengthwise.study.report import VERDICTS
    from lengthwise.study.reproduce import reproduce

    started = time.perf_counter()
    folder = published(name, scale).name if out is None else out
    with teller("members") as tell, stop_asked(tell.say) as should_stop:
        try:
            found = reproduce(
                name,
                scale,
                folder,
                resume=resume,
                device=device,
                progress=tell.progress,
                say=tell.say,
                should_stop=should_stop,
            )
        except KeyboardInterrupt:
            tell.say(how_to_resume(name, scale, folder))
            raise
        if found is None:
            tell.say(how_to_resume(name, scale, folder))
            ctx.exit(INTERRUPTED)
    if as_json:
        print_json(answer("reproduce", started, found.fields()))
    else:
        rows = ((one.claim, VERDICTS[one.holds], one.measured or one.reason) for one in found.report.claims)
        table(("claim", "verdict", "measured"), rows)
        click.echo(f"{found}", err=True)
    ctx.exit(0 if found.holds else 1)


def how_to_resume(name: str, scale: str, folder: str) -> str:
    """The command that continues a figure."""
    return (
        f"continue with: {shlex.join(['lengthwise', 'reproduce', name, '--scale', scale, '--out', folder, '--resume'])}"
    )
