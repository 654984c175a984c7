"""`lengthwise crasp compile`: a program as a model file, with the length up to which its weights are right."""

import time
from fractions import Fraction
from typing import Any

import click

from lengthwise.cli.files import load_program
from lengthwise.cli.output import answer, json_option, print_json
from lengthwise.errors import WrongInput, shown


@click.command("compile")
@click.argument("program", metavar="PROGRAM")
@click.option("--out", "path", metavar="FILE", help="Write the model to this .safetensors file.")
@click.option("--offset-invariant", is_flag=True, help="Positions may start anywhere, as in training with offsets.")
@click.option("--no-passes", is_flag=True, help="Leave out all optimisations.")
@click.option("--average-error", metavar="E", help="Relative error of one average of your evaluator, such as 1e-6.")
@click.option("--alphabet", metavar="SYMBOLS", help="For .cr files: further symbols, separated by blanks.")
@json_option
def command(
    program: str,
    path: str | None,
    offset_invariant: bool,
    no_passes: bool,
    average_error: str | None,
    alphabet: str | None,
    as_json: bool,
) -> None:
    """Compile PROGRAM to a limit transformer: the same answers at every position of every word.

    The weights do not depend on a length. The model reads a begin symbol ($, unless the alphabet has it) and then the
    word. It has one output for accept, where there is one, and one for each Boolean output of the program, positive
    where that is true and negative where it is false; at the begin symbol it answers for the empty word.

    The ledger says up to which length of words floating point keeps every answer right: in float64, float32 and
    bfloat16, for four ways to average. The evaluators of `lengthwise run` add values exactly and divide once.

    \b
    Examples:
      lengthwise crasp compile dyck1.crasp --out dyck1.safetensors
      echo '$(())' | lengthwise run dyck1.safetensors --strings -
      sed 's/^/$/' words.txt | lengthwise run dyck1.safetensors --strings -
      lengthwise crasp compile crasp:aaaa_star --offset-invariant --json
      lengthwise crasp compile crasp:majority --average-error 1e-6

    \b
    JSON fields:
      program, kind        its name; plain, periodic, local, or both
      file                 the model file, null without --out
      begin                the token that stands before every word
      outputs, left_out    names of the model's outputs in order; outputs of
                           the program that are counts, which no model of fixed
                           weights can put out
      layers, heads, width, units, period, locality
                           sizes; of heads and units the most in a layer
      weights              how many numbers the file holds
      offset_invariant, passes
      ledger               exact: null, right at every length; lengths, by
                           format and way to average (null with a reason where
                           every length is right); sharpness of heads that look
                           back; thresholds, one a unit and output, with kind,
                           layer, margin and the length in float32
      stated               with --average-error: the error and its length

    Exit codes: 0 done; 2 wrong input; 3 the machine stopped it.
    """
    from lengthwise.crasp.compiled import ALL, NONE, compile
    from lengthwise.limit.storage import save

    started = time.perf_counter()
    error = None if average_error is None else _relative(average_error)
    compiled = compile(load_program(program, alphabet), offset_invariant, NONE if no_passes else ALL)
    if path is not None:
        save(compiled.model, path)
    stated = None if error is None else compiled.ledger.length(53, lambda keys, roundoff: error)
    if as_json:
        fields: dict[str, Any] = {"file": path, **compiled.to_json()}
        if error is not None:
            fields["stated"] = {"error": error, "length": stated}
            if stated is None:
                fields["stated"]["length_reason"] = "right at every length"
        print_json(answer("crasp compile", started, fields))
        return
    click.echo(str(compiled))
    if error is not None:
        click.echo(f"\naverages with a relative error of {average_error}: {stated or 'every length'}")
    if path is not None:
        click.echo(f"wrote {path}", err=True)


def _relative(text: str) -> Fraction:
    try:
        error = Fraction(text)
    except (ValueError, ZeroDivisionError):
        error = Fraction(-1)
    if not 0 <= error < 1:
        raise WrongInput("a relative error from 0 to 1", shown(text), "such as 1e-6 or 1/1000000", "--average-error")
    return error
