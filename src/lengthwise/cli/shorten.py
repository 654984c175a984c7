"""`lengthwise shorten`: a short string that provably stands in for a long one, with a certificate."""

import itertools
import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from lengthwise.cli.files import opened
from lengthwise.cli.output import answer, json_option, plain, print_json
from lengthwise.cli.progress import teller
from lengthwise.errors import WrongInput

if TYPE_CHECKING:
    from lengthwise.limit.model import LimitTransformer
    from lengthwise.theory.measured_shorten import Sampled
    from lengthwise.theory.shortening import Shortening

LONGEST_SHOWN = 1000  # tokens of a short string that is printed for people; longer ones as counts


@click.command("shorten")
@click.argument("models", metavar="F [G]", nargs=-1)
@click.option("--strings", metavar="FILE", help="Text file with one string a line.")
@click.option("--counts", metavar="FILE", help="JSON file with a table of type counts, or a list of tables.")
@click.option("--error", metavar="E", help="How far outputs may move, summed over the models; needed.")
@click.option("--bits", type=int, metavar="P", help="Precision of log-length attention, where F and G state none.")
@click.option(
    "--draws", type=click.IntRange(1, 10**6), default=16, help="Sampled strings a length; two layers.  [default: 16]"
)
@click.option("--seed", type=click.IntRange(0, 2**63), default=0, help="Root of all draws; two layers.  [default: 0]")
@click.option("--shortest", is_flag=True, help="Ask integer programs for the shortest string; one layer.")
@click.option("--certificate", metavar="FILE", help="Write a certificate that `lengthwise check` verifies.")
@click.option("--nl", "stream", is_flag=True, help="Print one JSON object a line, one for each string.")
@json_option
def command(
    models: tuple[str, ...],
    strings: str | None,
    counts: str | None,
    error: str | None,
    bits: int | None,
    draws: int,
    seed: int,
    shortest: bool,
    certificate: str | None,
    stream: bool,
    as_json: bool,
) -> None:
    """Find a short string that stands in for a long one: no output of F or G moves much from one to the other.

    F and G are models: .safetensors files (a dash is standard input) or tasks, which stand for their explicit weights.
    The short string ends with the same tokens, its length is congruent to the long one's modulo the period, and the
    largest output errors of F and of G sum to at most E. So models that differ by at most d on the short string differ
    by at most d + E on the long one. With F alone, it is F that cannot tell the two apart.

    For one layer of log-length or plain attention the string comes from the construction behind `lengthwise bound`
    where a theorem covers the models, and is then shortened as far as its errors, computed exactly, allow. A string
    that is too short for its model's rounding, or for which nothing shorter is within E, is its own answer. Files of
    strings and of counts are those of `lengthwise run`; counts may have any length.

    Other models see the order of tokens. For them short strings are sampled from the long one in windows, lengths
    doubled until the measured errors (Euclidean norms) fit; nothing is promised before it is measured. --counts has no
    place there, and --certificate is for log-suffix attention and strings of a few thousand tokens.

    --shortest also asks integer programs, solved in floating point, for the shortest string with the same ending and no
    new token; what they propose is checked exactly like everything else.

    \b
    Examples:
      lengthwise shorten simple:omega=4 --bits 4 --strings words.txt --error 0.1
      lengthwise shorten f.safetensors g.safetensors --counts table.json --error 0.1 --json
      lengthwise shorten f.safetensors --counts table.json --error 0.01 --certificate c.json
      lengthwise shorten f.safetensors g.safetensors --counts table.json --error 0.1 --shortest
      lengthwise shorten modp:period=3 --bits 8 --strings many.txt --error 0.05 --nl
      lengthwise shorten kgram:symbols=2 --strings long.txt --error 0.01 --draws 64

    \b
    JSON fields:
      models           what was named
      sentence         the answer in words
      length           of the short string; original_length of the long one
      errors           for each model the largest coordinate of its output error:
                       "p/q", or {"lower", "upper"} where no rational is exact;
                       a number where it was measured, in Euclidean norm
      exactness        "exact", or "measured in float64, no a-priori guarantee"
      error            the sum of errors that was allowed
      method           "construction", "sharpened construction" (a smaller
                       constant than the proof's), "halved budgets",
                       "proportional", "integer program (box)", "stratified
                       windows", "balanced windows", or "the string itself"
      reason           why it is the string itself, else null
      bound            a length that is enough for every long string, or null
                       with bound_reason
      string           the short string, or null where it has more than 100000
                       tokens
      counts           its suffix and table, as --counts takes them
      certificate      the file that was written, or null
      at_least         with --shortest: no shorter one meets the integer program,
                       says its solver; at_least_certainty is "numerical"

    With --json FILE holds one string; with --nl it may hold many, and every line is an object with index (from 0) and
    these fields.

    Exit codes: 0 done, also where the string itself is the answer; 2 wrong input; 3 the machine stopped it.
    """
    started = time.perf_counter()
    _check_request(models, strings, counts, error, stream and as_json)
    options = {"shortest": shortest, "draws": draws, "seed": seed}
    found = _shortened(models, strings, counts, str(error), bits, options)
    if stream or not (as_json or certificate):
        if certificate is not None:
            raise WrongInput("one certificate for one string", "--certificate with --nl", "leave --nl out")
        for index, one in enumerate(found):
            if stream:
                print_json(plain({"index": index, "models": models} | one.fields()), one_line=True)
            else:
                _print(one)
        return
    first, *others = itertools.islice(found, 2)
    if others:
        which = "--json" if as_json else "--certificate"
        raise WrongInput(f"one string with {which}", "a file with more", "use --nl, or a file with one string")
    if certificate is not None:
        first.certificate(certificate)
    if as_json:
        reason = {} if certificate else {"certificate_reason": "not asked for: --certificate FILE writes one"}
        asked = {"models": models} | first.fields() | {"certificate": certificate} | reason
        print_json(answer("shorten", started, asked))
    else:
        _print(first)


@dataclass(frozen=True)
class Searched:
    """How far a search at one length is."""

    done: int
    total: int
    best: float

    @property
    def note(self) -> str:
        """The best error so far."""
        return f"best error {self.best:.3g}"


def _check_request(
    models: tuple[str, ...], strings: str | None, counts: str | None, error: str | None, both: bool
) -> None:
    """Which options go together."""
    if not 1 <= len(models) <= 2:
        raise WrongInput("one or two models", f"{len(models)}", "name F, or F and G; see lengthwise shorten --help")
    if (strings is None) == (counts is None):
        got = "neither" if strings is None else "both"
        raise WrongInput("--strings FILE or --counts FILE", got, "give one of them; see lengthwise shorten --help")
    if [*models, strings, counts].count("-") > 1:
        raise WrongInput("one file on standard input", "a dash twice", "name the other files")
    if error is None:
        raise WrongInput("--error E", "nothing", "say how far outputs may move, as --error 0.1")
    if both:
        raise WrongInput("--json or --nl", "both", "--json is for one string, --nl for many")


def _shortened(
    targets: tuple[str, ...],
    strings: str | None,
    counts: str | None,
    error: str,
    bits: int | None,
    options: dict[str, Any],
) -> "Iterator[Shortening | Sampled]":
    """The answers for the strings of a file one after the other; an error names the line or the entry."""
    from lengthwise.cli.target import model_at
    from lengthwise.theory.pair import check_pair
    from lengthwise.theory.shorten import shorten

    first, *rest = (model_at(target, bits) for target in targets)
    second = rest[0] if rest else None
    check_pair(first, second or first)
    for place, given in _given(first if first.tokens or second is None else second, strings, counts):
        try:
            with teller("strings tried") as telling:
                report = lambda *told: telling.progress(Searched(*told))  # noqa: E731
                found = shorten(first, second, given, error, report=report, **options)
            yield found
        except WrongInput as wrong:
            raise wrong if wrong.where in ("error", "attention", "layers") else wrong.at(place) from None


def _given(model: "LimitTransformer", strings: str | None, counts: str | None) -> Iterator[tuple[str, Any]]:
    """The strings of a file, or the tables of one, each with its place."""
    from lengthwise.strings import read_counts, read_strings

    if counts is None:
        with opened(str(strings)) as (file, source):
            for number, tokens in enumerate(read_strings(file, model.names, source), start=1):
                yield f"{source}, line {number}", tokens
        return
    with opened(counts) as (file, source):
        tables = read_counts(file.read(), model.names, source)
    for index, table in enumerate(tables, start=1):
        yield source if len(tables) == 1 else f"{source}, entry {index}", table


def _print(found: "Shortening | Sampled") -> None:
    """The sentence, then the string, or its counts as --counts takes them."""
    click.echo(f"{found}")
    counts = found.fields()["counts"]
    click.echo(found.string if counts is None or found.length <= LONGEST_SHOWN else json.dumps(counts))
