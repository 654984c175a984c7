"""`lengthwise crasp run`: what a program says of words."""

import codecs
import time
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any

import click

from lengthwise.cli.files import load_program, opened
from lengthwise.cli.output import answer, json_option, plain, print_json
from lengthwise.cli.tables import shortened, table
from lengthwise.errors import WrongInput

if TYPE_CHECKING:
    from lengthwise.crasp.interpret import Answer
    from lengthwise.crasp.syntax import Program

LINES = 1 << 14  # lines that are read before they are run together
CHARACTERS = 1 << 24


@click.command("run")
@click.argument("program", metavar="PROGRAM")
@click.argument("words", metavar="[WORD]...", nargs=-1)
@click.option("--strings", metavar="FILE", help="Text file with one word a line; an empty line is the empty word.")
@click.option(
    "--positions",
    type=click.Choice(["last", "all"]),
    default="last",
    show_default=True,
    help="Values at the last position, or at every one.",
)
@click.option("--every", is_flag=True, help="Show all named values, not only the outputs.")
@click.option("--alphabet", metavar="SYMBOLS", help="For .cr files: further symbols, separated by blanks.")
@click.option("--nl", "stream", is_flag=True, help="Print one JSON object a line, as soon as it is known.")
@json_option
def command(
    program: str,
    words: tuple[str, ...],
    strings: str | None,
    positions: str,
    every: bool,
    alphabet: str | None,
    stream: bool,
    as_json: bool,
) -> None:
    """Run PROGRAM on words: those named after it, or those of a file.

    Symbols are separated by blanks, or are one character each where every symbol of the alphabet is one character. The
    empty word is read at position 0, where no symbol stands and every count is 0.

    \b
    Examples:
      lengthwise crasp run crasp:dyck1 "(())()" "())("
      lengthwise crasp run dyck1.crasp --strings words.txt --json
      echo aabS | lengthwise crasp run crasp:majority4 --strings -
      lengthwise crasp run crasp:dyck1 "(()" --positions all --every
      lengthwise crasp run crasp:dyck1 --strings words.txt --nl | head -3

    \b
    JSON fields:
      program, positions   what was asked
      lengths   the length of each word
      accepts   for each word whether it is accepted, with --positions all a
                list for each position; null for a program without accept
      outputs   for each output, by name, the same: true, false or an integer;
                with --every for each name

    With --nl every line is an object with index (from 0), length, accepts and
    outputs.

    Exit codes: 0 done; 2 wrong input; 3 the machine stopped it.
    """
    started = time.perf_counter()
    if bool(words) == (strings is not None):
        got = "both" if words else "neither"
        raise WrongInput("words, or --strings FILE", got, "give one of them; see lengthwise crasp run --help")
    if program == "-" and strings == "-":
        raise WrongInput("one file on standard input", "a dash twice", "name one of the two files")
    found = load_program(program, alphabet)
    done = _answers(found, words, strings, positions, every)
    if stream:
        for index, (_, length, values) in enumerate(done):
            print_json(plain({"index": index, "length": length} | values), one_line=True)
    elif as_json:
        known = list(done)
        names = known[0][2]["outputs"]
        fields: dict[str, Any] = {"program": found.name, "positions": positions}
        fields["lengths"] = [length for _, length, _ in known]
        fields["accepts"] = None if found.accept is None else [values["accepts"] for _, _, values in known]
        fields["outputs"] = {name: [values["outputs"][name] for _, _, values in known] for name in names}
        print_json(answer("crasp run", started, fields))
    else:
        _print(found, done, every)


def _answers(
    program: "Program", words: tuple[str, ...], strings: str | None, positions: str, every: bool
) -> Iterator[tuple[str, int, dict[str, Any]]]:
    """Each word with its length, and what `accepts` and the outputs are on it."""
    from lengthwise.crasp.interpret import run
    from lengthwise.crasp.words import Words

    def batch(texts: list[str], called: str, first: int) -> Iterator[tuple[str, int, dict[str, Any]]]:
        cut = Words.of(texts, program.alphabet, called, first)
        yield from zip(texts, cut.lengths.tolist(), _values(run(program, cut, positions, every)), strict=True)

    if strings is None:
        yield from batch(list(words), "word", 1)
        return
    with opened(strings) as (file, source):
        first = 1
        for texts in _batches(_texts(file, source)):
            try:
                yield from batch(texts, f"{source}, line", first)
            except WrongInput:  # what comes before a wrong line is said before it
                for index, text in enumerate(texts):
                    yield from batch([text], f"{source}, line", first + index)
            first += len(texts)
        if first == 1:
            raise WrongInput("at least one word", "an empty file", "write one word a line", source)


def _values(answer: "Answer") -> Iterator[dict[str, Any]]:
    """What an answer says, word by word."""
    listed = answer.to_json()
    names, columns = list(listed["outputs"]), list(listed["outputs"].values())
    for index in range(len(answer.lengths)):
        accepts = None if listed["accepts"] is None else listed["accepts"][index]
        yield {"accepts": accepts, "outputs": {n: c[index] for n, c in zip(names, columns, strict=True)}}


def _texts(lines: Iterable[bytes], source: str) -> Iterator[str]:
    """The lines of a file as text; an error names the line. A byte order mark is no symbol."""
    for number, line in enumerate(lines, start=1):
        try:
            yield (line.removeprefix(codecs.BOM_UTF8) if number == 1 else line).decode("utf-8").rstrip("\r\n")
        except UnicodeDecodeError as error:
            got = f"byte 0x{line[error.start]:02x} at byte {error.start + 1}"
            raise WrongInput("UTF-8 text", got, "save the file as UTF-8", f"{source}, line {number}") from None


def _batches(texts: Iterator[str]) -> Iterator[list[str]]:
    """Texts in lists that are large enough to be fast and small enough to be held; the first has one, to be prompt."""
    size = 1
    while batch := list(islice(texts, size)):
        yield batch
        longest = max(map(len, batch)) + 1
        size = max(1, min(LINES, 16 * size, CHARACTERS // longest))


def _print(program: "Program", done: Iterator[tuple[str, int, dict[str, Any]]], every: bool) -> None:
    """A table for people: the word, its length, whether it is accepted, and the values by name."""
    shown = [one.name for one in (program.definitions if every else program.outputs)]
    columns = ["word", "length", *(["accepts"] if program.accept is not None else []), *shown]

    def rows() -> Iterator[list[str]]:
        for text, length, values in done:
            cells = [values["accepts"]] if program.accept is not None else []
            cells += [values["outputs"][name] for name in shown]
            yield [shortened(text), str(length), *map(_cell, cells)]

    table(columns, rows())


def _cell(value: Any) -> str:
    """A value as a person reads it: yes or no, a number, or a row of them with 1 for yes."""
    if isinstance(value, list):
        booleans = all(isinstance(one, bool) for one in value)
        return shortened("".join("01"[one] for one in value) if booleans else " ".join(map(str, value)), 80)
    return ("no", "yes")[value] if isinstance(value, bool) else str(value)
