"""`lengthwise crasp compare`: the shortest word on which two programs differ."""

import time

import click

from lengthwise.cli.files import load_program
from lengthwise.cli.output import answer, json_option, print_json
from lengthwise.errors import WrongInput


@click.command("compare")
@click.argument("first", metavar="P")
@click.argument("second", metavar="Q")
@click.option("--outputs", is_flag=True, help="Boolean outputs of the same name must agree too, at the last position.")
@click.option(
    "--states",
    type=click.IntRange(min=1),
    default=400_000,
    show_default=True,
    help="How many states a search may keep before the answer is: open.",
)
@click.option("--alphabet", metavar="SYMBOLS", help="For .cr files: further symbols, separated by blanks.")
@json_option
def command(first: str, second: str, outputs: bool, states: int, alphabet: str | None, as_json: bool) -> None:
    """Whether the programs P and Q accept the same words, and if not a shortest word on which they differ.

    "Equal" is never guessed: a search comes to its end, or to the length that the theorem of the pair's fragment asks
    for. Where that is too long, linear inequalities over finitely many states are decided by integer programs, and the
    answer says that it rests on a solver. From two different differences of counts on, one of them inside a count, no
    method decides every pair; such a pair may come out open.

    \b
    Examples:
      lengthwise crasp compare crasp:D_2 crasp:D_3
      lengthwise crasp compare mine.crasp crasp:dyck1 --json
      lengthwise crasp compare crasp:D_4 crasp:D_12 --states 1000000

    \b
    JSON fields:
      equal          true, false, or null where it is open
      word, length   a shortest word on which they differ, and its length; else
                     null
      exactness      proved; solver: the word differs, that none is shorter (or
                     that there is none) rests on a solver; searched: open
      agrees_up_to   they agree on all words up to this length, proved; null
                     where exactness is proved
      fragment       of both together: positive, linear-top, one-difference,
                     rest; see `lengthwise crasp lint`
      bound          if they differ, they do so within this length; null where
                     no theorem gives one
      source, terms  the theorem, and its quantities
      culprit, culprit_in   for rest: the comparison, and where
      sentence       the answer as a sentence

    Exit codes: 0 equal; 1 different, or open; 2 wrong input.
    """
    started = time.perf_counter()
    if first == second == "-":
        raise WrongInput("two programs", "standard input twice", "put one of them into a file")
    left, right = load_program(first, alphabet), load_program(second, alphabet)
    from lengthwise.verdict.compare import compare

    found = compare(left, right, outputs, states)
    if as_json:
        print_json(answer("crasp compare", started, found.fields()))
    else:
        click.echo(str(found))
    if not found.equal:
        raise click.exceptions.Exit(1)
