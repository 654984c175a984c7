"""`lengthwise crasp explain`: one word, every expression at every position."""

import sys
import time
from typing import TYPE_CHECKING

import click

from lengthwise.cli.files import load_program
from lengthwise.cli.output import answer, json_option, print_json
from lengthwise.errors import WrongInput

if TYPE_CHECKING:
    from lengthwise.crasp.explain import Explanation

MOST_COLUMNS = 2_000


@click.command("explain")
@click.argument("program", metavar="PROGRAM")
@click.argument("word", metavar="WORD")
@click.option("--from", "start", type=int, help="The first position to show.  [default: the first]")
@click.option("--to", "end", type=int, help="The last position to show.  [default: the last]")
@click.option("--html", metavar="FILE", help="Write the table to one self-contained page.")
@click.option("--alphabet", metavar="SYMBOLS", help="For .cr files: further symbols, separated by blanks.")
@json_option
def command(
    program: str,
    word: str,
    start: int | None,
    end: int | None,
    html: str | None,
    alphabet: str | None,
    as_json: bool,
) -> None:
    """Show every expression of PROGRAM at every position of WORD, and mark those that make it reject.

    WORD is written as for `lengthwise crasp run`; "" is the empty word, read at position 0. Rows stand in the order of
    the program, the parts of an expression before it. A true Boolean is a tick, a false one a dot; where the output is
    no terminal they are 1 and 0, one tab-separated line a row, failing ones with an x before them.

    \b
    Examples:
      lengthwise crasp explain crasp:dyck1 "())("
      lengthwise crasp explain dyck1.crasp "())(" --html dyck1.html
      lengthwise crasp explain crasp:majority4 aabcS --json

    \b
    JSON fields:
      program, word, accepts
      why       sentences: what is false at the last position, and where the
                positions are that were counted
      rows      a list: expression, name (empty where it has none), failing,
                values (one for each position shown)
      first     the position of the first value
      html      the page that was written, or null

    Exit codes: 0 accepted, or the program has no accept; 1 rejected; 2 wrong input.
    """
    from lengthwise.crasp.explain import explain

    started = time.perf_counter()
    found = explain(load_program(program, alphabet), word)
    shown = _window(found, start, end)
    if html is not None:
        shown.to_html(html)
    if as_json:
        fields = shown.to_json() | {"html": html}
        print_json(answer("crasp explain", started, fields))
    else:
        if html is None:
            _print(shown)
        click.echo(str(found), err=True)
    if found.accepts is False:
        raise click.exceptions.Exit(1)


def _window(found: "Explanation", start: int | None, end: int | None) -> "Explanation":
    """The columns that are asked for."""
    places = found.positions
    first, last = places[0] if start is None else start, places[-1] if end is None else end
    if not places[0] <= first <= last <= places[-1]:
        wanted = f"positions from {places[0]} to {places[-1]}, in order"
        raise WrongInput(wanted, f"{first} to {last}", "change --from and --to")
    if last - first >= MOST_COLUMNS:
        raise WrongInput(f"at most {MOST_COLUMNS} positions", str(last - first + 1), "show a part with --from and --to")
    return found.cut(first, last)


def _print(found: "Explanation") -> None:
    """The table: ruled on a terminal, elsewhere one line a row."""
    if sys.stdout.isatty():
        _ruled(found)
        return
    click.echo("\t".join(["", "position", *map(str, found.positions)]))
    click.echo("\t".join(["", "symbol", *(found.word or ("",))]))
    for row in found.rows:
        click.echo("\t".join(["x" if row.failing else "", row.label, *(str(int(value)) for value in row.values)]))


def _ruled(found: "Explanation") -> None:
    """The table in as many parts as the width of the terminal needs."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console()
    heads = [Text(f"{place}\n{symbol}") for place, symbol in zip(found.positions, found.word or ("",), strict=True)]
    cells = [[("✓" if v else "·") if isinstance(v, bool) else str(v) for v in row.values] for row in found.rows]
    label = min(max((len(row.label) for row in found.rows), default=0) + 2, console.width // 2)
    widest = max(len(word) for word in [*str(heads[-1]).split(), *found.word, *(cell for row in cells for cell in row)])
    step = max(1, (console.width - label - 4) // (widest + 2))
    for at in range(0, len(heads), step):
        ruled = Table(box=None, padding=(0, 1))
        ruled.add_column(Text("position"), max_width=label, overflow="fold")
        for head in heads[at : at + step]:
            ruled.add_column(head)
        for row, values in zip(found.rows, cells, strict=True):
            mark = Text(("✗ " if row.failing else "  ") + row.label)
            ruled.add_row(mark, *values[at : at + step], style="red" if row.failing else "")
        console.print(ruled)
