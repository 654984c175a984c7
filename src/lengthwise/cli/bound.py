"""`lengthwise bound`: a training length that provably suffices, and why."""

import time
from typing import TYPE_CHECKING

import click

from lengthwise.cli.output import answer, json_option, print_json
from lengthwise.cli.tables import table
from lengthwise.errors import WrongInput

if TYPE_CHECKING:
    from lengthwise.theory.answer import Bound, NoBound

NEEDED = ("vocabulary", "sensitivity", "margin", "bits")


@click.command("bound")
@click.argument("models", metavar="[F [G]]", nargs=-1)
@click.option("--error", metavar="E", help="How far outputs may differ, in the worst case; needed.")
@click.option("--bits", type=int, metavar="P", help="Precision of log-length attention, where F and G state none.")
@click.option("--same-attention", is_flag=True, help="The models are known to attend alike, head for head.")
@click.option("--average", metavar="ALPHA", help="Expected error, tokens by Dirichlet weights: 1, or 0.5,1,1.")
@click.option("--vocabulary", type=int, metavar="N", help="Constants: the number of tokens.")
@click.option("--sensitivity", metavar="L", help="Constants: at least the sensitivity of every head.")
@click.option("--margin", metavar="M", help="Constants: at most the logit margin of both models; may be inf.")
@click.option("--period", type=int, metavar="N", help="Constants: the period of the positions.  [default: 1]")
@click.option("--locality", type=int, metavar="N", help="Constants: the largest offset seen by phi.  [default: 0]")
@click.option("--heads", type=int, metavar="N", help="Constants: heads in each model.  [default: 1]")
@click.option("--layers", type=click.IntRange(1, 2), help="Constants: layers of the models.  [default: 1]")
@click.option("--complexity", metavar="C", help="Constants of two layers: at least the complexity of both models.")
@click.option("--certificate", metavar="FILE", help="F and G: write a certificate that `lengthwise check` verifies.")
@json_option
@click.pass_context
def command(
    ctx: click.Context,
    /,
    models: tuple[str, ...],
    error: str | None,
    bits: int | None,
    same_attention: bool,
    average: str | None,
    certificate: str | None,
    as_json: bool,
    **constants: int | str | None,
) -> None:
    """Find a training length N: models that agree on strings of N tokens agree on all longer ones, up to E.

    F and G are models: .safetensors files (a dash is standard input) or tasks, which stand for their explicit weights.
    With F alone the bound holds against every model with no worse constants; without models it holds for every pair
    within the constants given. If F and G differ by at most d on every string of the lengths in `window`, they differ
    by at most d + E on every longer string.

    One layer of log-length attention with bits: Theorem 2. One layer of plain attention, what ordinary trained models
    compute: Theorem P. One or two layers of log-suffix attention: Theorem B, about all lengths up to N, in Euclidean
    norm. With --average, for F and G of one layer, not log-suffix: Theorem 3. Every term of N is shown with what would lower
    it; lower bounds and the bounds printed in the literature stand beside it.

    \b
    Examples:
      lengthwise bound simple:omega=4 --bits 4 --error 0.1
      lengthwise bound modp:period=3,residue=0 modp:period=3,residue=1 --bits 4 --error 0.1
      lengthwise bound trained.safetensors --error 0.1 --json
      lengthwise bound f.safetensors g.safetensors --error 0.1 --certificate c.json
      lengthwise bound kgram:symbols=2,order=1,backoff=0.1 --error 0.1
      lengthwise bound f.safetensors g.safetensors --error 0.1 --average 1
      lengthwise bound --vocabulary 3 --sensitivity 8 --margin 1 --bits 4 --error 0.1 --same-attention
      lengthwise bound --layers 2 --complexity 100 --margin 0.5 --error 0.1

    \b
    JSON fields:
      kind               "bound" or "no bound"
      sentence           the answer in words
      training_length    N; log2_training_length, rounded up
      window, window_lengths
                         first and last length to agree on, and how many
      terms              what N is made of: name, length, formula, lowered_by
      dominant_term      the name of the largest
      lower_bound        what no argument can beat for models like these
      lower_bounds, others
                         lists: name, length, statement, source
      theorem, source, hypotheses, attention, error, law
      reason             why there is no bound; remedy
      certificate        the file that was written, or null

    A length that is too large to write out is null, and log2 of it stands beside. Lengths above 2^53 are strings.

    Exit codes: 0 a bound; 1 no bound, with the reason; 2 wrong input.
    """
    started = time.perf_counter()
    if error is None:
        raise WrongInput("--error E", "nothing", "say how far outputs may differ, as --error 0.1")
    if models:
        found = _models(models, bits, same_attention, average, error, constants)
    elif average is not None:
        raise WrongInput("two models for an average", "none", "name them, or leave --average out")
    else:
        found = _pairs(bits, same_attention, error, constants)
    fields = found.fields()
    if certificate is None:
        fields |= {"certificate": None, "certificate_reason": "not asked for: --certificate FILE writes one"}
    elif fields["kind"] == "bound":
        _certify(models, bits, average, error, certificate)
        fields |= {"certificate": certificate}
    else:
        fields |= {"certificate": None, "certificate_reason": "there is no bound to certify"}
    if as_json:
        print_json(answer("bound", started, fields))
    else:
        _print(found)
    if fields["kind"] != "bound":
        ctx.exit(1)


def _certify(models: tuple[str, ...], bits: int | None, average: str | None, error: str, path: str) -> None:
    """Writes the certificate of a bound on the worst case of two models of one layer."""
    from lengthwise.cli.target import model_at
    from lengthwise.theory.certificate import length_certificate, write_certificate

    if len(models) != 2 or average is not None or "-" in models:
        got = "an average" if average is not None else "standard input" if "-" in models else f"{len(models)} models"
        raise WrongInput("a worst case of F and G in files with --certificate", got, "leave --certificate out")
    first, second = (model_at(target, bits) for target in models)
    write_certificate(length_certificate(first, second, error), path)


def _models(
    models: tuple[str, ...],
    bits: int | None,
    same_attention: bool,
    average: str | None,
    error: str,
    constants: dict[str, int | str | None],
) -> "Bound | NoBound":
    from lengthwise.cli.target import model_at
    from lengthwise.theory.bound import bound

    if len(models) > 2:
        raise WrongInput("one or two models", f"{len(models)}", "bound them in pairs")
    if models.count("-") > 1:
        raise WrongInput("standard input once", "two dashes", "give one model as a file")
    given = [name for name, value in constants.items() if value is not None]
    if given:
        remedy = "leave it out; constants alone are for models that are not given"
        raise WrongInput("models or constants", f"models and --{given[0]}", remedy)
    first, *rest = (model_at(target, bits) for target in models)
    weights = average.split(",") if average is not None and "," in average else average
    return bound(first, *rest, error=error, same_attention=same_attention, average=weights)


def _pairs(
    bits: int | None, same_attention: bool, error: str, constants: dict[str, int | str | None]
) -> "Bound | NoBound":
    from lengthwise.theory.bound import bound
    from lengthwise.theory.from_constants import Constants

    given = {name: value for name, value in {**constants, "bits": bits}.items() if value is not None}
    if given.pop("layers", 1) == 2:
        return _two_layer_pairs(given, same_attention, error)
    if "complexity" in given:
        raise WrongInput("--complexity with --layers 2", "one layer", "add --layers 2, or give --sensitivity")
    missing = [name for name in NEEDED if name not in given]
    if missing:
        got = "no model" if len(missing) == len(NEEDED) else ", ".join(f"--{name}" for name in given)
        remedy = f"give {', '.join(f'--{name}' for name in missing)} too, or name a model"
        raise WrongInput("a model, or the constants of a pair", got, remedy)
    return bound(Constants(same_attention=same_attention, **given), error=error)  # type: ignore[arg-type]


def _two_layer_pairs(given: dict[str, int | str], same_attention: bool, error: str) -> "Bound":
    """Constants alone for two layers: complexity and margin, with period and locality."""
    from lengthwise.theory.pair import allowed_error, positive_rational
    from lengthwise.theory.two_layer import closed_bound

    others = [name for name in given if name not in ("complexity", "margin", "period", "locality")]
    if others or same_attention:
        name = others[0] if others else "same-attention"
        raise WrongInput("constants of two layers (complexity, margin, period, locality)", f"--{name}", "leave it out")
    missing = [name for name in ("complexity", "margin") if name not in given]
    if missing:
        raise WrongInput("--complexity and --margin", "less", f"give --{missing[0]} too; `show` prints them")
    complexity = positive_rational(str(given["complexity"]))
    if complexity is None:
        raise WrongInput("a finite complexity above 0", str(given["complexity"]), "`show` prints it", "complexity")
    margin = None if str(given["margin"]) == "inf" else positive_rational(str(given["margin"]))
    if margin is None and str(given["margin"]) != "inf":
        raise WrongInput("a margin above 0, or inf", str(given["margin"]), "`show` prints it", "margin")
    period, locality = int(given.get("period", 1)), int(given.get("locality", 0))
    if period < 1 or locality < 0:
        raise WrongInput("a period >= 1 and a locality >= 0", f"{period} and {locality}", "change them")
    return closed_bound(complexity, margin, locality, period, allowed_error(error))


def _print(found: "Bound | NoBound") -> None:
    """The sentence, then what the number is made of and what stands beside it."""
    from lengthwise.theory.answer import Bound

    click.echo(f"{found}")
    if not isinstance(found, Bound):
        return
    dominant = found.dominant.name
    rows = [
        ("term*" if term.name == dominant else "term", term.name, f"{term.length}", term.formula, term.lowered_by)
        for term in found.terms
    ]
    table(("", "name", "length", "formula", "lowered by"), rows)
    beside = [("lower bound", other) for other in found.lower_bounds] + [("compare", other) for other in found.others]
    table(("", "name", "length", "what it says"), [(kind, o.name, f"{o.length}", o.statement) for kind, o in beside])
    table(("", "supposes"), [("supposes", one) for one in found.hypotheses])
