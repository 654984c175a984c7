"""The verbs by name. A verb's module is imported when the verb runs, so that `lengthwise --help` stays fast."""

import click

import lengthwise
from lengthwise.cli.group import Verbs

VERBS = {
    "forecast": ("lengthwise.cli.forecast", "How long training sequences must be for a task, measured and checked."),
    "bound": ("lengthwise.cli.bound", "A training length that provably suffices, for two models or for constants."),
    "shorten": ("lengthwise.cli.shorten", "A short string that stands in for a long one, with a certificate."),
    "certify": ("lengthwise.cli.certify", "The largest error of a model over all strings, between two proven ends."),
    "attack": ("lengthwise.cli.attack", "The string on which a model is most wrong, as far as a search finds it."),
    "run": ("lengthwise.cli.run", "Evaluate a model on strings or on type counts."),
    "show": ("lengthwise.cli.show", "What a model file holds: shapes, margins, sensitivity, complexity."),
    "check": ("lengthwise.cli.check", "Whether a certificate holds, by an independent program."),
    "crasp": ("lengthwise.cli.crasp", "Programs of C-RASP: run, check, explain."),
    "sweep": ("lengthwise.cli.sweep", "Run a study: train every member, keep every finished one."),
    "measure": ("lengthwise.cli.measure", "How long training must be, by a study's runs; plateaus and exponents."),
    "report": ("lengthwise.cli.report", "Figures of a study, and one page that says what it shows."),
    "reproduce": ("lengthwise.cli.reproduce", "A published figure from one command, its claims judged one by one."),
    "predict": ("lengthwise.cli.predict", "Will a task length-generalize, why, and from which length."),
    "communication": ("lengthwise.cli.communication", "What one part of a word must tell the other, and its growth."),
    "tasks": ("lengthwise.cli.tasks", "The tasks there are, with their parameters."),
    "doctor": ("lengthwise.cli.doctor", "What this machine can do, and whether the methods agree on it."),
}


@click.command(
    cls=Verbs,
    table=VERBS,
    name="lengthwise",
    invoke_without_command=True,
    subcommand_metavar="VERB ...",
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(lengthwise.__version__, message="%(prog)s %(version)s", help="Show the version and leave.")
@click.pass_context
def lengthwise_command(ctx: click.Context) -> None:
    """How long must training sequences be for a transformer to keep working on longer ones?

    Every verb has its own help with examples: lengthwise run --help.

    With --json a verb prints one JSON object on standard output and nothing else there. Progress and prose go to
    standard error. A dash (-) stands for standard input.

    \b
    Exit codes:
      0    done, or the answer is yes
      1    answered, and the answer is no
      2    wrong input or usage: one line says what was wanted, what came,
           and what to do
      3    the machine stopped it: disk, memory, device
      130  interrupted

    Tab completion for bash: eval "$(_LENGTHWISE_COMPLETE=bash_source lengthwise)"; for zsh and fish: zsh_source,
    fish_source.
    """
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())
