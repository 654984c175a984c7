"""`lengthwise sweep`: a study from its file to its directory."""

import shlex
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lengthwise.cli.endings import INTERRUPTED
from lengthwise.cli.output import answer, json_option, print_json
from lengthwise.cli.progress import teller
from lengthwise.errors import WrongInput

if TYPE_CHECKING:
    from lengthwise.study.plan import Study


@click.command("sweep")
@click.argument("study", metavar="STUDY.toml")
@click.option("--resume", is_flag=True, help="Continue the study that the folder holds.")
@click.option("--out", metavar="DIR", help="Folder to write to.  [default: the study's name]")
@click.option(
    "--set",
    "settings",
    metavar="KEY=VALUE",
    multiple=True,
    help="Change a key of the study, as in training.steps=200; may be given several times.",
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
    study: str,
    resume: bool,
    out: str | None,
    settings: tuple[str, ...],
    device: str,
    as_json: bool,
) -> None:
    """Train every member of the study in STUDY.toml: every combination of its grid, training lengths and seeds.

    A finished run is kept at once, in one file. Whatever stops a sweep, the same command with --resume finishes it, and
    the results are those of a sweep that was never stopped. A file that is torn or was changed is named and its run is
    done again.

    \b
    A study file:
      task = "simple"            # see lengthwise tasks
      lengths = [8, 16, 32]      # training lengths
      seeds = 4                  # how many
      [grid]                     # parameters of the task; also attention,
      omega = [2, 4]             # width, units, heads, rate, adversarial
      [training]
      steps = 4000
      [testing]
      lengths = [100, 10000, 1000000]

    \b
    Other keys and their defaults:
      name               the file's name
      first_seed = 0     where the seeds begin
      tile = 8           members that train side by side
      [model]            width = 16, units = 256, heads = 1, offsets,
                         attention = "plain"
      [training]         batch = 1024, steps = 30000, rate = 0.01,
                         stop = 1e-5, chunk = 100, adversarial = 0 (the share
                         of each batch drawn at the corners)
      [testing]          samples = 32768
      [[beside]]         more combinations of the grid's axes

    \b
    Examples:
      lengthwise sweep study.toml
      lengthwise sweep study.toml --out results/study --set training.steps=200
      lengthwise sweep study.toml --set training.adversarial=0.25
      lengthwise sweep study.toml --resume
      lengthwise sweep study.toml --set grid.omega='[2, 4, 6]' --json

    \b
    JSON fields:
      study, directory   its name, and where it is
      runs, done         how many members there are, and how many are done
      failed             the members that diverged: id, task, longest, seed
      redone             ids of runs whose file was not whole
      seeds, device, versions

    A member that diverges is a finished run; it is named.

    Exit codes: 0 done; 2 wrong input; 3 the machine stopped it, finished runs are kept; 130 interrupted, --resume
    continues.
    """
    from lengthwise.study.sweep import sweep

    started = time.perf_counter()
    asked = read_study(study, settings)
    folder = asked.name if out is None else out
    with teller("members") as tell, stop_asked(tell.say) as should_stop:
        try:
            swept = sweep(
                asked,
                folder,
                resume=resume,
                device=device,
                progress=tell.progress,
                say=tell.say,
                should_stop=should_stop,
            )
        except KeyboardInterrupt:
            tell.say(how_to_resume(folder))
            raise
        if not swept.complete:
            tell.say(f"{swept}; {how_to_resume(folder)}")
            ctx.exit(INTERRUPTED)
    if as_json:
        print_json(answer("sweep", started, swept.fields()))
    else:
        click.echo(f"{swept}")


def read_study(path: str, settings: tuple[str, ...]) -> "Study":
    """The study in a file, or on standard input for a dash."""
    from lengthwise.study.plan import Study

    if path != "-":
        return Study.load(path, settings)
    try:
        text = sys.stdin.buffer.read().decode()
    except UnicodeDecodeError:
        raise WrongInput("a text", "bytes that are no UTF-8", "check the input", "standard input") from None
    return Study.parse(text, "standard input", settings)


def how_to_resume(folder: str) -> str:
    """The command that continues what is in a folder."""
    file = str(Path(folder, "study.toml"))
    return f"continue with: {shlex.join(['lengthwise', 'sweep', file, '--resume', '--out', folder])}"


@contextmanager
def stop_asked(say: Callable[[str], None]) -> Iterator[Callable[[], bool]]:
    """While the body runs, the first Ctrl-C asks it to stop between two chunks, the second one stops it at once."""
    asked: list[int] = []
    if threading.current_thread() is not threading.main_thread():
        yield lambda: False
        return

    def ask(number: int, _: Any) -> None:
        if asked:
            raise KeyboardInterrupt
        asked.append(number)
        say("stopping at the next checkpoint; Ctrl-C again stops at once")

    before = signal.signal(signal.SIGINT, ask)
    try:
        yield lambda: bool(asked)
    finally:
        signal.signal(signal.SIGINT, before)
