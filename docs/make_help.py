"""Writes docs/commands.md: the help of every verb, as the program prints it."""

from pathlib import Path

import click

from lengthwise.cli.verbs import lengthwise_command

PAGE = Path(__file__).parent / "commands.md"
INTRODUCTION = """# Commands

This page is generated from the program's own help by `docs/make_help.py`.
"""


def page() -> str:
    """The page as it should be."""
    parent = click.Context(
        lengthwise_command, info_name="lengthwise", terminal_width=80, **lengthwise_command.context_settings
    )
    shown: set[str | None] = set()
    sections = [INTRODUCTION, _section("lengthwise", lengthwise_command.get_help(parent))]
    for words, command, group in lengthwise_command.leaves(parent):
        if group is not parent and group.command.name not in shown:
            shown.add(group.command.name)
            sections.append(_section(f"lengthwise {group.command.name}", group.command.get_help(group)))
        ctx = click.Context(command, info_name=words.rpartition(" ")[2], parent=group)
        sections.append(_section(f"lengthwise {words}", command.get_help(ctx)))
    return "\n".join(sections)


def _section(title: str, text: str) -> str:
    lines = "\n".join(line.rstrip() for line in text.splitlines())
    return f"## {title}\n\n```text\n{lines}\n```\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
