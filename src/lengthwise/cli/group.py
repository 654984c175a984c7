"""Groups of verbs that load one only to run it."""

import importlib
from collections.abc import Iterator, Mapping
from typing import Any

import click

from lengthwise.errors import WrongInput, nearest, shown

Table = Mapping[str, tuple[str, str]]  # a verb: the module that has it as `command`, and a line of help


class Verbs(click.Group):
    """A group that knows its verbs from a table; a verb's module is imported when the verb runs."""

    def __init__(self, *args: Any, table: Table, **settings: Any) -> None:
        """A click group over a table."""
        super().__init__(*args, **settings)
        self.table = table

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The verbs in the order of the table."""
        return list(self.table)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The verb's command, from its module."""
        if cmd_name not in self.table:
            return None
        command = importlib.import_module(self.table[cmd_name][0]).command
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The verb that the first word names; an unknown one gets the nearest names."""
        if args[0] not in self.table and not args[0].startswith("-"):
            near = " or ".join(nearest(args[0], list(self.table)))
            after = "" if ctx.parent is None else f" after {ctx.command_path}"
            raise WrongInput(f"a verb{after}", shown(args[0]), f"nearest: {near}; see {ctx.command_path} --help")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The table as the help shows it, without loading any verb."""
        with formatter.section("Verbs"):
            formatter.write_dl([(name, line) for name, (_, line) in self.table.items()])

    def leaves(self, ctx: click.Context) -> Iterator[tuple[str, click.Command, click.Context]]:
        """Every verb with the words that call it, those of groups inside too, and the context of its group."""
        for name in self.table:
            command = self.get_command(ctx, name)
            assert command is not None
            if isinstance(command, Verbs):
                inner = click.Context(command, info_name=name, parent=ctx)
                yield from ((f"{name} {words}", leaf, group) for words, leaf, group in command.leaves(inner))
            else:
                yield name, command, ctx
