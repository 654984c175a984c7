"""`lengthwise crasp decide`: whether a regular language is in C-RASP[periodic, local], and a program for it."""

import time
from typing import TYPE_CHECKING

import click

from lengthwise.cli.files import opened
from lengthwise.cli.output import answer, json_option, print_json
from lengthwise.errors import WrongInput

if TYPE_CHECKING:
    from lengthwise.crasp.regular import Decision


@click.command("decide")
@click.argument("regex", metavar="[REGEX]", required=False)
@click.option("--automaton", "table", metavar="FILE", help="Instead of an expression: a JSON file with an automaton.")
@click.option(
    "--alphabet", metavar="SYMBOLS", help="The symbols, as abc or with blanks between them; else those of REGEX."
)
@click.option("--max-period", type=int, default=6, show_default=True, help="Try periods up to this one.")
@click.option("--max-window", type=int, default=3, show_default=True, help="Try windows of up to so many letters back.")
@click.option(
    "--end-marker", is_flag=True, help="Read acceptance at a symbol $ after the word, not at its last symbol."
)
@json_option
@click.pass_context
def command(
    ctx: click.Context,
    regex: str | None,
    table: str | None,
    alphabet: str | None,
    max_period: int,
    max_window: int,
    end_marker: bool,
    as_json: bool,
) -> None:
    """Decide whether a C-RASP[periodic, local] program accepts a regular language; yes comes with a program.

    REGEX is made of symbols, | (or), * + ? {2} {2,5} (repetition), brackets, () for the empty word, [ab] and [^ab]
    for one of some symbols, . for any. A symbol of several characters, or one that has a meaning here, stands in
    quotes: 'left'. Note that + means at least once.

    The program is read against the automaton of the expression on all words up to a length. It is printed with its
    answer in comments, so that the output is a .crasp file. No comes with two words
    that lead to states which no program tells apart, whatever its period and window.

    \b
    Examples:
      lengthwise crasp decide "(aa|b)*"
      lengthwise crasp decide "(a|b)*b" --end-marker
      lengthwise crasp decide "[012]*02*" --json
      lengthwise crasp decide --automaton machine.json --max-period 12

    \b
    JSON fields:
      member       true, false, or null where it is not known
      certainty    decided or unknown
      plain        whether a program without periods and windows does
      period, window, depth, program, checked_to
                   the first that does, how deep its counts are nested, its
                   text, and the length up to which it was read on all words;
                   null without a program
      witness      first, second: words that lead to the two states; loop:
                   leads each back to itself; then: accepted from one of them
      tried        a list: period, window, outcome
      star_free, dot_depth_one
                   of the language; null where not computed
      language, alphabet, states, reason, source

    Exit codes: 0 a member; 1 not a member, or not known; 2 wrong input.
    """
    from lengthwise.crasp.automata import Automaton
    from lengthwise.crasp.automaton_file import read_automaton
    from lengthwise.crasp.regular import decide

    started = time.perf_counter()
    if (regex is None) == (table is None):
        got = "neither" if regex is None else "both"
        raise WrongInput("REGEX or --automaton FILE", got, "give one of them; see lengthwise crasp decide --help")
    if table is not None and alphabet is not None:
        raise WrongInput("--alphabet with an expression", "--automaton", "the file names its alphabet")
    language: str | Automaton = regex or ""
    if table is not None:
        with opened(table) as (file, source):
            language = read_automaton(file.read(), source)
    symbols = None if alphabet is None else tuple(alphabet.split() if " " in alphabet.strip() else alphabet.strip())
    decision = decide(language, symbols, max_period=max_period, max_window=max_window, end_marker=end_marker)
    if as_json:
        print_json(answer("crasp decide", started, decision.fields()))
    else:
        said = [str(decision), _flags(decision)]
        lines = (
            said
            if decision.program is None
            else [*(f"// {' '.join(one.split())}" for one in said), str(decision.program)]
        )
        click.echo("\n".join(lines).rstrip("\n"))
    ctx.exit(0 if decision.member else 1)


def _flags(decision: "Decision") -> str:
    words = {True: "yes", False: "no", None: "not computed"}
    flags = f"star-free: {words[decision.star_free]}; dot-depth at most one: {words[decision.dot_depth_one]}"
    return f"{flags}; states of the minimal automaton: {decision.states}"
