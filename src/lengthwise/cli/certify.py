"""`lengthwise certify`: the largest error of a model over all strings, between two proven ends, with a certificate."""

import json
import math
import time
from typing import TYPE_CHECKING

import click

from lengthwise.cli.endings import INTERRUPTED
from lengthwise.cli.output import answer, json_option, print_json
from lengthwise.cli.progress import teller
from lengthwise.cli.sweep import stop_asked
from lengthwise.errors import WrongInput

if TYPE_CHECKING:
    from lengthwise.theory.certified import Certified


@click.command("certify")
@click.argument("model", metavar="MODEL")
@click.option(
    "--task", metavar="TARGET", help="The task whose target the model is compared with; needed where MODEL is a file."
)
@click.option("--within", type=float, metavar="E", help="Stop as soon as 'at most E on every string' is decided.")
@click.option("--where", metavar="CONDITION", help="Only strings that meet it, as 'c0 + c1 >= 0.05 n'.")
@click.option("--bits", type=int, metavar="P", help="Precision of log-length attention, where MODEL states none.")
@click.option("--from-length", type=click.IntRange(1), metavar="N", help="Only strings of at least N tokens.")
@click.option(
    "--small",
    type=click.IntRange(1),
    metavar="N",
    help="Look at every string shorter than N.  [default: what is quick]",
)
@click.option(
    "--tolerance",
    type=click.FloatRange(0, min_open=True),
    default=0.001,
    show_default=True,
    help="How close the two ends have to come.",
)
@click.option("--most-cells", type=click.IntRange(1), default=200_000, show_default=True, help="Stop at so many cells.")
@click.option("--budget", type=click.FloatRange(0), metavar="SECONDS", help="Stop after so long.")
@click.option("--certificate", metavar="FILE", help="Write a certificate that `lengthwise check` verifies.")
@click.option("--resume", metavar="FILE", help="Go on from the cells of an earlier certificate.")
@json_option
@click.pass_context
def command(
    ctx: click.Context,
    model: str,
    task: str | None,
    within: float | None,
    where: str | None,
    bits: int | None,
    from_length: int | None,
    small: int | None,
    tolerance: float,
    most_cells: int,
    budget: float | None,
    certificate: str | None,
    resume: str | None,
    as_json: bool,
) -> None:
    """Bracket the largest error of MODEL against a task over all strings, of all lengths.

    MODEL is a one-layer model with one output: a .safetensors file (`lengthwise sweep` leaves one for every member, a dash
    is standard input) or a task, which stands for its explicit weights. Attention is plain, or log-length with bits. The
    task's target has to be a function of how often tokens stand at which residues, and of the last tokens: simple, modp,
    tail. For other targets and other models there is `lengthwise attack`, which searches and proves nothing.

    Short strings are looked at one by one; the others lie in cells of frequencies, on which the model and the target are
    enclosed between linear functions, and the widest cell is split until the ends are within the tolerance. The upper end
    holds for every string; the lower end is attained by the witness that is printed. A target can be discontinuous
    (simple, where nearly all tokens are 2), and the worst error is then found there; --where leaves such strings out.

    A condition compares sums of c0, c1, ... (how often a token stands), c0@1 (at positions of residue 1) and n (the
    length), by >= or <=; several are joined by `and`.

    Ctrl-C stops with what is proved so far; the certificate, if one was asked for, is written and --resume goes on from it.

    \b
    Examples:
      lengthwise certify member.safetensors --task simple:omega=4
      lengthwise certify member.safetensors --task simple:omega=4 --where "c0 + c1 >= 0.05 n"
      lengthwise certify member.safetensors --task modp:period=2 --within 0.1
      lengthwise certify simple:omega=4 --bits 4 --certificate c.json
      lengthwise check c.json

    \b
    JSON fields:
      model, task     what was named
      sentence        the answer in words
      worst_error     the upper end: no string is worse
      lower, upper    both ends
      witness         a string with an error of at least `lower`: its length and
                      its counts, as `run --counts` takes them
      within, proved  the claim, and true, false or null where it is open;
                      without a claim true where the ends are close enough
      stop            why it ended
      cells           how many cells the proof has
      short_strings_below  the length below which every string was looked at
      shortest, where what strings it is about
      certificate     the file that was written, or null

    Exit codes: 0 the ends are close, or the claim is proved; 1 the claim is refuted, or cells or time ran out; 2 wrong
    input; 130 interrupted.
    """
    from lengthwise.cli.target import MODEL_FILE, model_at, task_at
    from lengthwise.theory.certify import Limits, certify
    from lengthwise.theory.worst_certificate import trees_of

    started = time.perf_counter()
    if task is None and (model == "-" or model.endswith(MODEL_FILE)):
        raise WrongInput("--task TARGET", "nothing", "name the task the model was made for, as --task simple:omega=4")
    named = task or model
    begun = None
    if resume is not None:
        from lengthwise.cli.files import opened

        with opened(resume) as (file, source):
            begun = trees_of(file.read().decode("ascii", "replace"), source)
    with teller("cells") as telling, stop_asked(telling.say) as stopped:
        found = certify(
            model_at(model, bits),
            task_at(named),
            within=within,
            where=where,
            shortest=from_length,
            small=small,
            limits=Limits(tolerance, most_cells, math.inf if budget is None else budget),
            begun=begun,
            report=telling.progress,
            stopped=stopped,
        )
    if certificate is not None:
        found.certificate(certificate)
    if as_json:
        reason = {} if certificate else {"certificate_reason": "not asked for: --certificate FILE writes one"}
        asked = {"model": model, "task": named} | found.fields() | {"certificate": certificate} | reason
        print_json(answer("certify", started, asked))
    else:
        _print(found)
    ctx.exit(INTERRUPTED if found.stop == "stopped" else 0 if found.proved else 1)


def _print(found: "Certified") -> None:
    """The sentence, and the witness as `lengthwise run --counts` takes it."""
    click.echo(f"{found}")
    witness = found.fields()["witness"]
    if witness is not None:
        click.echo(json.dumps(witness["counts"]))
