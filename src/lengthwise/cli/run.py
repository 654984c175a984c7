"""`lengthwise run`: the outputs of a model on strings, or on type counts where nobody could write the string down."""

import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import click

from lengthwise.cli.files import load_model, opened
from lengthwise.cli.output import answer, json_option, plain, print_json
from lengthwise.cli.tables import shortened, table
from lengthwise.errors import WrongInput

if TYPE_CHECKING:
    from lengthwise.limit.model import LimitTransformer

Method = Literal["auto", "dense", "linear", "counts"]
Positions = Literal["last", "all"]


class Evaluation(NamedTuple):
    """One string with its outputs: one row, or one row a position."""

    string: str
    length: int
    outputs: Any


@click.command("run")
@click.argument("model", metavar="MODEL")
@click.option("--strings", metavar="FILE", help="Text file with one string a line.")
@click.option("--counts", metavar="FILE", help="JSON file with a table of type counts, or a list of tables.")
@click.option(
    "--method",
    type=click.Choice(["auto", "dense", "linear", "counts"]),
    default="auto",
    show_default=True,
    help="How to evaluate strings. dense: the definition, quadratic in the length. linear: running counts. "
    "counts: one layer, from suffix and type counts. auto: linear where the model allows it, else dense.",
)
@click.option(
    "--positions",
    type=click.Choice(["last", "all"]),
    default="last",
    show_default=True,
    help="Outputs at the last position, or at every one.",
)
@click.option("--hardmax", is_flag=True, help="One layer, exactly: attend to the largest logits only; rationals p/q.")
@click.option("--nl", "stream", is_flag=True, help="Print one JSON object a line, as soon as it is known.")
@json_option
def command(
    model: str,
    strings: str | None,
    counts: str | None,
    method: Method,
    positions: Positions,
    hardmax: bool,
    stream: bool,
    as_json: bool,
) -> None:
    """Evaluate MODEL, a .safetensors file of a limit transformer, on every string of a file.

    Strings stand one a line. Tokens are separated by blanks, or are one character each where every token name is one
    character. Without token names the tokens are 0, 1, 2, ...

    A one-layer model sees a string only through its suffix, its last locality + 1 tokens, and through how often each
    token stands at positions of each residue modulo the period in the prefix, the part before the suffix. --counts
    takes just that, so the length may be any integer. Positions are counted from 1; column r of the table counts the
    positions i with i mod period = r:

    \b
      {"suffix": ["b", "a"], "table": [[500000000000000], [499999999999998]]}

    A suffix is text, or a list of token names or of token indices. Counts are integers of any size.

    \b
    Examples:
      lengthwise run model.safetensors --strings words.txt
      echo abba | lengthwise run model.safetensors --strings - --positions all
      lengthwise run model.safetensors --counts table.json --json
      lengthwise run model.safetensors --strings words.txt --hardmax
      lengthwise run model.safetensors --strings words.txt --nl | head -3

    \b
    JSON fields:
      model, method, positions, hardmax: what was asked
      lengths   the length of each string
      outputs   a list for each string, in their order; with --positions all,
                a list for each position. With --hardmax a number is "p/q", or
                {"lower", "upper"} where an activation is sin or tanh.

    With --nl every line is an object with index (from 0), length and outputs.

    Exit codes: 0 done; 2 wrong input; 3 the machine stopped it.
    """
    started = time.perf_counter()
    _check_request(model, strings, counts, method, positions, hardmax)
    loaded = load_model(model)
    if counts is not None:
        done = _on_counts(loaded, counts, hardmax)
    else:
        done = _on_strings(loaded, str(strings), method, positions, hardmax)
    if stream:
        for index, one in enumerate(done):
            print_json(plain({"index": index, "length": one.length, "outputs": one.outputs}), one_line=True)
        return
    if as_json:
        known = list(done)
        by_counts = counts is not None or hardmax
        asked: dict[str, Any] = {"model": model, "method": "counts" if by_counts else method}
        asked |= {"positions": positions, "hardmax": hardmax}
        fields = {"lengths": [one.length for one in known], "outputs": [one.outputs for one in known]}
        print_json(answer("run", started, asked | fields))
        return
    table(("string", "length", "outputs"), ((one.string, str(one.length), _line(one.outputs)) for one in done))


def _check_request(
    model: str, strings: str | None, counts: str | None, method: Method, positions: Positions, hardmax: bool
) -> None:
    """Which options go together."""
    if (strings is None) == (counts is None):
        got = "neither" if strings is None else "both"
        raise WrongInput("--strings FILE or --counts FILE", got, "give one of them; see lengthwise run --help")
    if model == "-" and "-" in (strings, counts):
        raise WrongInput("one file on standard input", "a dash twice", "name one of the two files")
    by_counts = counts is not None or hardmax
    reason = "--counts" if counts is not None else "--hardmax"
    if by_counts and method not in ("auto", "counts"):
        raise WrongInput(f"--method counts with {reason}", f"--method {method}", "leave --method out")
    if (by_counts or method == "counts") and positions == "all":
        remedy = "use --method linear on strings for every position"
        raise WrongInput("--positions last where counts are used", "--positions all", remedy)


def _on_strings(
    model: "LimitTransformer", path: str, method: Method, positions: Positions, hardmax: bool
) -> Iterator[Evaluation]:
    """The strings of a file one after the other; an error names the line."""
    from lengthwise.limit.counts import evaluate_counts
    from lengthwise.limit.evaluate import evaluate
    from lengthwise.strings import Counts, decode, read_strings

    with opened(path) as (file, source):
        for number, tokens in enumerate(read_strings(file, model.names, source), start=1):
            place = f"{source}, line {number}"
            if hardmax:
                counts = Counts.of(tokens, model.symbols, model.period, model.locality)
                outputs = _placed(place, lambda counts=counts: evaluate_counts(model, counts, hardmax=True))  # type: ignore[misc]
            else:
                outputs = _placed(place, lambda tokens=tokens: evaluate(model, tokens, method, positions))  # type: ignore[misc]
            yield Evaluation(shortened(decode(tokens[:64].tolist(), model.names)), len(tokens), outputs)


def _on_counts(model: "LimitTransformer", path: str, hardmax: bool) -> Iterator[Evaluation]:
    """The tables of a file one after the other; an error names the entry."""
    from lengthwise.limit.counts import evaluate_counts
    from lengthwise.strings import decode, read_counts

    with opened(path) as (file, source):
        tables = read_counts(file.read(), model.names, source)
    for index, counts in enumerate(tables, start=1):
        place = source if len(tables) == 1 else f"{source}, entry {index}"
        outputs = _placed(place, lambda counts=counts: evaluate_counts(model, counts, hardmax))  # type: ignore[misc]
        ending = decode(counts.suffix[-20:], model.names)
        yield Evaluation(f"…{ending}", counts.length, outputs)


def _placed(place: str, call: Callable[[], Any]) -> Any:
    try:
        return call()
    except WrongInput as error:
        raise error.at(place) from None


def _line(outputs: Any, most: int = 8) -> str:
    """Outputs as a person reads them: a few numbers, or one group a position."""
    if getattr(outputs, "ndim", 1) == 2:
        rows = [_line(row, 4) for row in outputs[:most]]
        return " | ".join(rows) + (f" | … ({len(outputs)} positions)" if len(outputs) > most else "")
    numbers = [f"{value:.12g}" if isinstance(value, float) else str(value) for value in outputs[:most]]
    return " ".join(numbers) + (f" … ({len(outputs)} outputs)" if len(outputs) > most else "")
