"""`lengthwise predict`: will a task length-generalize, why, how surely, and from words of which length."""

import time
from typing import TYPE_CHECKING

import click

from lengthwise.cli.output import answer, json_option, print_json
from lengthwise.errors import WrongInput, shown

if TYPE_CHECKING:
    from lengthwise.verdict.prediction import Prediction


@click.command("predict")
@click.argument("target", metavar="TARGET")
@click.option(
    "--budget",
    type=float,
    default=10.0,
    show_default=True,
    metavar="SECONDS",
    help="How long to ask a function and to search for a program, where that is the last resort.",
)
@click.option(
    "--alphabet", metavar="SYMBOLS", help="The symbols, for a Python function or an expression that lacks some."
)
@json_option
def command(target: str, budget: float, alphabet: str | None, as_json: bool) -> None:
    """Say whether TARGET will length-generalize: generalizes, fails or unknown, with the reason and how sure it is.

    The steps, in this order, each shown with its outcome: a program is given; the language is regular (the decision
    procedure); linear growth of communication; the theorems on Parity and the flip-flop; a search for a short program;
    unknown. The verdict is for transformers with learned positions and random offsets; `without_positions` is the
    other one. It speaks of the idealised learner of Huang et al. 2025, not of one training run: docs/predict.md.

    TARGET is a task (majority, parity, sort, ..., simple:omega=4), a language of the suite (tomita4, D_12, "(aa)*"), a
    library program (dyck1, crasp:majority), a .crasp file, regex:EXPRESSION, an automaton in a .json file,
    file.py:FUNCTION, a function of a word, or a .tsv file of labelled words: a word, a tab, 0 or 1 on each line.

    \b
    Examples:
      lengthwise predict tomita4
      lengthwise predict 'regex:(aa|b)*' --json
      lengthwise predict mytask.py:is_square --alphabet ab --budget 30

    \b
    JSON fields:
      verdict            generalizes, fails or unknown
      certainty          proved: about limit transformers; decided: about
                         the class of programs; checked: on all words up to
                         checked_to; conjectured; null where unknown
      checked_to         all words up to this length were compared, or null
      without_positions  the verdict without positions, with
                         without_positions_certainty, without_positions_reason
      class              the smallest class that is known to hold the target:
                         plain C-RASP, C-RASP[periodic], C-RASP[local], ...;
                         period, window of its program
      reason, source     why, and what that rests on
      bound              answer: bound (training_length, members: the class it
                         is about, source, exactness, lower, terms), no
                         computable bound (culprit, line, reason, remedy), or
                         outside the theory (reason)
      program            the text of a program, or null
      witness            for fails: words, or numbers of rows; else null
      published          accuracies of trained transformers, for the tasks and
                         languages of the paper; no part of the verdict
      notes              what a reader must know besides
      steps              a list: step, outcome, source
      sentence           the answer in words

    Exit codes: 0 generalizes; 1 fails or unknown; 2 wrong input.
    """
    from lengthwise.cli.word_target import predicted_at

    started = time.perf_counter()
    if not 0 < budget < float("inf"):
        raise WrongInput("a number of seconds above 0", shown(budget), "give for example 10", "--budget")
    found = predicted_at(target, alphabet, budget)
    if as_json:
        print_json(answer("predict", started, found.fields()))
    else:
        click.echo("\n".join(lines(found)))
    if found.verdict != "generalizes":
        raise click.exceptions.Exit(1)


def lines(found: "Prediction") -> list[str]:
    """The answer for a person: the sentence, then what it rests on."""
    said = [str(found), f"  source: {found.source}"]
    if found.nope.reason != found.reason:
        said.append(f"  without positions: {found.nope.reason}")
    said.append(f"  length: {found.bound}")
    said += [f"  note: {note}" for note in found.notes]
    if found.published is not None:
        shares = (" / ".join(f"{x:g}" for x in found.published[f"{how}_positions"]) for how in ("with", "without"))
        said.append("  published accuracies, per cent, three bins of lengths: {}; without positions {}".format(*shares))
    said += [f"  {number}. {one.step}: {one.outcome}" for number, one in enumerate(found.steps, start=1)]
    if found.program is not None and found.steps[0].outcome == "none is given":
        said += ["", str(found.program).rstrip("\n")]
    return said
