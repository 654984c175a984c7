"""Tables for people: ruled on a terminal, one tab-separated line a row elsewhere."""

import sys
from collections.abc import Iterable, Sequence

import click


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Prints rows under their column names. Off a terminal there are no names, and rows come as they are known."""
    if not sys.stdout.isatty():
        for row in rows:
            click.echo("\t".join(row))
        return
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    ruled = Table(*columns)
    for row in rows:
        ruled.add_row(*map(Text, row))  # Text: square brackets in a string are no markup
    Console().print(ruled)


def shortened(text: str, most: int = 40) -> str:
    """Text that fits into a column."""
    return text if len(text) <= most else text[: most - 1] + "…"
