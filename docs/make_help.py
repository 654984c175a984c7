"""Writes docs/commands.md: the help of every verb, as the program prints it."""

from pathlib import Path

import click

from lengthwise.cli.verbs import VERBS, lengthwise_command

PAGE = Path(__file__).parent / "commands.md"
INTRODUCTION = """# Commands

This page is generated from the program's own help by `docs/make_help.py`.
"""


def page() -> str:
    """The page as it should be."""
    parent = click.Context(
        lengthwise_command, info_name="lengthwise", terminal_width=80, **lengthwise_command.context_settings
    )
    sections = [INTRODUCTION, _section("lengthwise", lengthwise_command.get_help(parent))]
    for name in VERBS:
        command = lengthwise_command.get_command(parent, name)
        assert command is not None
        ctx = click.Context(command, info_name=name, parent=parent)
        sections.append(_section(f"lengthwise {name}", command.get_help(ctx)))
    return "\n".join(sections)


def _section(title: str, text: str) -> str:
    lines = "\n".join(line.rstrip() for line in text.splitlines())
    return f"## {title}\n\n```text\n{lines}\n```\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
