"""`lengthwise communication`: what one part of a word must tell the other, and how that grows."""

import time

import click

from lengthwise.cli.output import answer, json_option, print_json
from lengthwise.cli.tables import table


@click.command("communication")
@click.argument("target", metavar="TARGET")
@click.option("--max-length", type=int, default=20, show_default=True, help="The longest words; even lengths are cut.")
@click.option(
    "--alphabet", metavar="SYMBOLS", help="The symbols, for a Python function or an expression that lacks some."
)
@json_option
def command(target: str, max_length: int, alphabet: str | None, as_json: bool) -> None:
    """Print how much must be known of the first part of a word to go on: a lower bound table, and its growth.

    For f on words, cut after some symbols, the matrix M[x, y] = f(xy): the number of different rows is the one-way
    communication, exactly; rank and fooling sets bound conversations both ways. Growth linear in the length means that no
    periodic, local limit transformer computes f (Huang et al. 2025, Theorem 12). Slower growth means nothing: parity is
    constant.

    TARGET is a library program (dyck1, crasp:dyck1), a .crasp file, regex:EXPRESSION, or file.py:FUNCTION, a function
    of a word; what is known of a Python function is its values only, so its lengths stay small.

    \b
    Examples:
      lengthwise communication dyck1 --max-length 40
      lengthwise communication 'regex:(aa|b)*' --json
      lengthwise communication copies.py:is_square --alphabet ab --max-length 14

    \b
    JSON fields:
      sentence        the answer in words
      rows            a list, cut in the middle: length, cut, rows (different
                      ones), bits (one way), rank over Q and rank_mod_2 and
                      fooling (lower bounds both ways, null where not found)
      worst_cuts      the same at the cut with the most rows
      rank            the ranks, length by length
      growth          constant, logarithmic, linear or undecided
      fits            bits against log2 n and against n: start, slope, error
      stopped         why the table ends early, or null

    Exit codes: 0 done; 2 wrong input.
    """
    from lengthwise.cli.word_target import machine_at
    from lengthwise.verdict.communication import communication

    started = time.perf_counter()
    found = communication(machine_at(target, alphabet), max_length, target)
    if as_json:
        print_json(answer("communication", started, {"target": target} | found.fields()))
        return
    click.echo(f"{found}")
    names = ("length", "cut", "rows", "bits", "rank", "rank mod 2", "fooling set")
    listed = [
        (row.length, row.cut, row.rows, row.bits, _shown(row.rank), _shown(row.rank_mod_2), _shown(row.fooling))
        for row in found.rows
    ]
    table(names, [tuple(map(str, row)) for row in listed])
    if found.stopped:
        click.echo(f"The table ends here: {found.stopped}.", err=True)


def _shown(value: int | None) -> str:
    return "-" if value is None else str(value)
