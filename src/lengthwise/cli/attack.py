"""`lengthwise attack`: the string on which a model is most wrong, as far as a search finds it."""

import json
import re
import time
from typing import TYPE_CHECKING, Any, Literal

import click

from lengthwise.cli.output import answer, json_option, print_json
from lengthwise.cli.progress import teller
from lengthwise.errors import WrongInput, shown

if TYPE_CHECKING:
    from lengthwise.limit.model import LimitTransformer
    from lengthwise.tasks.attack import Attack

MOST_SHOWN = 8  # improvements that people are shown
PROGRAMS = (".crasp", ".cr")


@click.command("attack")
@click.argument("model", metavar="MODEL")
@click.option("--task", "target", metavar="TARGET", help="What the outputs should be; needed where MODEL is a file.")
@click.option(
    "--length",
    metavar="N or A..B",
    help="Lengths of the strings; 10^6 may be written so.  [default: the task's shortest to 10^6, over strings to 64]",
)
@click.option("--where", metavar="CONDITION", help='Only strings whose counts meet it, as "c0 + c1 >= 0.05 n".')
@click.option(
    "--method",
    type=click.Choice(["auto", "counts", "strings"]),
    default="auto",
    show_default=True,
    help="Search over count tables (one layer, and a task that counts decide) or over strings.",
)
@click.option(
    "--strategy",
    type=click.Choice(["evolution", "random"]),
    default="evolution",
    show_default=True,
    help="Over strings: edits of the worst ones so far, or nothing but random ones, for comparison.",
)
@click.option(
    "--evaluations",
    type=click.IntRange(1, 10**10),
    help="How many strings to try.  [default: 200000 count tables, 10000 strings]",
)
@click.option(
    "--budget", type=click.FloatRange(0, min_open=True), metavar="SECONDS", help="Stop trying after this time."
)
@click.option("--bits", type=int, metavar="P", help="Precision of log-length attention, where MODEL states none.")
@click.option("--seed", type=click.IntRange(0, 2**63), default=0, help="Root of all draws.  [default: 0]")
@json_option
def command(
    model: str,
    target: str | None,
    length: str | None,
    where: str | None,
    method: Literal["auto", "counts", "strings"],
    strategy: Literal["evolution", "random"],
    evaluations: int | None,
    budget: float | None,
    bits: int | None,
    seed: int,
    as_json: bool,
) -> None:
    """Search for the string on which MODEL is furthest from its target.

    MODEL is a .safetensors file (a dash is standard input), a task, which stands for its explicit weights, or a program
    (crasp:NAME, file.crasp), which is compiled. TARGET is a task, a program, or mytask.py:FUNCTION: a function of the
    list of token indices that returns a number, several, or None where nothing is wanted. Its attribute `shortest`, if
    there is one, is the least length. Without --task a task or a program is its own target.

    The error is the largest |output - target|. For programs, whose outputs are positive where true, it is what an
    output lacks of a margin of 1/2 on its side: 0 is right, 1/2 and more is wrong.

    One-layer models see a string only through its last tokens and its counts, so where the task does too, count tables
    are searched: all of the shortest lengths, then up the slope over relaxed frequencies, rounded, and on by whole
    steps. Other strings are searched by edits. What is found is a lower bound on the worst error, not a proof that there
    is nothing worse, unless all strings of the lengths were tried ("complete"). The same seed finds the same string,
    except with --budget.

    --where: c0 is how often token 0 stands in the whole string, c0@2 how often at positions i (from 1) with i mod
    period = 2, n the length; sums with whole, decimal or p/q factors, compared by >= or <=, joined by `and`.

    \b
    Examples:
      lengthwise attack model.safetensors --task simple:omega=4
      lengthwise attack model.safetensors --task modp:period=3 --length 100..10^6
      lengthwise attack simple:omega=4 --bits 8 --where "c0 + c1 >= 0.05 n"
      lengthwise attack kgram:symbols=2,order=1 --length 256 --json
      lengthwise attack trained.safetensors --task crasp:dyck1 --length 1..40
      lengthwise attack model.safetensors --task mytask.py:wanted

    \b
    JSON fields:
      model, task   what was named
      sentence      the answer in words
      worst_error   the largest error that was found
      witness       its string: length, string (null where it is long and only
                    counts matter), counts as `run --counts` takes them, and the
                    model's outputs and the target there
      lengths, where   what was searched
      method        "counts" or "strings"; strategy the same for strings
      complete      whether all strings of the lengths were tried
      every_to      all count tables up to this length were tried
      evaluations, restarts, seed   how much was searched
      trace         pairs [evaluations, largest error by then]

    Exit codes: 0 done; 2 wrong input; 3 the machine stopped it; 130 interrupted.
    """
    started = time.perf_counter()
    from lengthwise.tasks.attack import attack

    named = target or model
    if [model, target].count("-") > 1:
        raise WrongInput("one file on standard input", "a dash twice", "name one of the two files")
    known = _model(model, bits)
    wanted = _target(named, target is None)
    lengths = None if length is None else _lengths(length)
    with teller("evaluations") as telling:
        found = attack(
            known,
            wanted,
            length=lengths,
            where=where,
            method=method,
            strategy=strategy,
            evaluations=evaluations,
            seconds=budget,
            seed=seed,
            report=telling.progress,
        )
    if as_json:
        print_json(answer("attack", started, {"model": model, "task": named} | found.fields() | {"strategy": strategy}))
        return
    _print(found)


def _model(target: str, bits: int | None) -> "LimitTransformer":
    """The model in a file, of a task, or of a program."""
    if target.startswith("crasp:") or target.endswith(PROGRAMS):
        from lengthwise.cli.files import load_program
        from lengthwise.crasp.compiled import compile

        return compile(load_program(target)).model
    from lengthwise.cli.target import model_at

    return model_at(target, bits)


def _target(target: str, same: bool) -> Any:
    """What a target's name stands for: a program, a function or a task; `same` if it is the model's name."""
    if target.startswith("crasp:") or target.endswith(PROGRAMS):
        from lengthwise.cli.files import load_program

        return load_program(target)
    if target.partition(":")[0].endswith(".py"):
        from lengthwise.cli.word_target import function_of_file

        return function_of_file(target)[2]
    from lengthwise.cli.target import task_at

    try:
        return task_at(target)
    except WrongInput:
        if same:
            raise WrongInput("--task TARGET", "nothing", "say what the outputs of the file should be") from None
        raise


def _lengths(text: str) -> tuple[int, int]:
    """The lengths of `N` or `A..B`; a number may be written 10^6."""
    found = re.fullmatch(r"(\d{1,16})(?:\^(\d{1,2}))?(?:\.\.(\d{1,16})(?:\^(\d{1,2}))?)?", text.replace(" ", ""))
    if found is None:
        raise WrongInput("a length, or two as 10..1000 or 1..10^6", shown(text), "write it so", "--length")
    low, low_power, high, high_power = found.groups()
    least = int(low) ** int(low_power or 1)
    return least, least if high is None else int(high) ** int(high_power or 1)


def _print(found: "Attack") -> None:
    """The sentence, then the string, or its counts as `run --counts` takes them, and how the search went."""
    witness = found.fields()["witness"]
    click.echo(f"{found}")
    click.echo(json.dumps(witness["counts"]) if found.text is None else found.text)
    shown_few = found.trace if len(found.trace) <= MOST_SHOWN else (found.trace[0], *found.trace[1 - MOST_SHOWN :])
    steps = ", ".join(f"{error:.4g} after {evaluations:,}" for evaluations, error in shown_few)
    restarts = "1 restart" if found.restarts == 1 else f"{found.restarts} restarts"
    click.echo(f"largest error: {steps} evaluations; {restarts}, seed {found.seed}")
