"""The verbs by name. A verb's module is imported when the verb runs, so that `lengthwise --help` stays fast."""

import importlib

import click

import lengthwise
from lengthwise.errors import WrongInput, nearest, shown

VERBS = {
    "forecast": ("lengthwise.cli.forecast", "How long training sequences must be for a task, measured and checked."),
    "run": ("lengthwise.cli.run", "Evaluate a model on strings or on type counts."),
    "show": ("lengthwise.cli.show", "What a model file holds: shapes, margins, sensitivity, complexity."),
    "check": ("lengthwise.cli.check", "Whether a certificate holds, by an independent program."),
    "sweep": ("lengthwise.cli.sweep", "Run a study: train every member, keep every finished one."),
    "measure": ("lengthwise.cli.measure", "How long training must be, by a study's runs; plateaus and exponents."),
    "report": ("lengthwise.cli.report", "Figures of a study, and one page that says what it shows."),
    "reproduce": ("lengthwise.cli.reproduce", "A published figure from one command, its claims judged one by one."),
    "tasks": ("lengthwise.cli.tasks", "The tasks there are, with their parameters."),
    "doctor": ("lengthwise.cli.doctor", "What this machine can do, and whether the methods agree on it."),
}


class Verbs(click.Group):
    """A group that knows its verbs from a table and loads one only to run it."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The verbs in the order of the table."""
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The verb's command, from its module."""
        if cmd_name not in VERBS:
            return None
        command = importlib.import_module(VERBS[cmd_name][0]).command
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The verb that the first word names; an unknown one gets the nearest names."""
        if args[0] not in VERBS and not args[0].startswith("-"):
            near = " or ".join(nearest(args[0], list(VERBS)))
            raise WrongInput("a verb", shown(args[0]), f"nearest: {near}; see lengthwise --help")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The table as the help shows it, without loading any verb."""
        with formatter.section("Verbs"):
            formatter.write_dl([(name, line) for name, (_, line) in VERBS.items()])


@click.command(
    cls=Verbs,
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
