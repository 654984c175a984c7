"""Reading what the command line names; a dash is standard input."""

import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING

from lengthwise.errors import WrongInput

if TYPE_CHECKING:
    from lengthwise.crasp.syntax import Program
    from lengthwise.limit.model import LimitTransformer

STANDARD_INPUT = "standard input"


@contextmanager
def opened(path: str) -> Iterator[tuple[IO[bytes], str]]:
    """A file (or pipe, or standard input for a dash) to read bytes from, and the name that errors call it by."""
    if path == "-":
        yield sys.stdin.buffer, STANDARD_INPUT
        return
    with _open(path) as file:
        yield file, path


def _open(path: str) -> IO[bytes]:
    try:
        return Path(path).open("rb")
    except FileNotFoundError:
        raise WrongInput("a file", "no such file", "check the path", path) from None
    except (OSError, ValueError) as error:
        raise WrongInput("a file", getattr(error, "strerror", None) or str(error), "check the path", path) from None


def load_model(path: str) -> "LimitTransformer":
    """The model in a file, or on standard input for a dash."""
    from lengthwise.limit.storage import load

    if path != "-":
        return load(path)
    with tempfile.TemporaryDirectory() as folder:
        aside = Path(folder, "model.safetensors")
        aside.write_bytes(sys.stdin.buffer.read())
        try:
            return load(aside)
        except WrongInput as error:
            where = error.where.replace(str(aside), STANDARD_INPUT)
            raise type(error)(error.wanted, error.got, error.remedy, where) from None


def load_program(target: str, alphabet: str | None = None) -> "Program":
    """The program in a .crasp or .cr file, on standard input for a dash, or of the library for crasp:NAME.

    alphabet: for .cr files, which name no alphabet, the symbols beyond those that the program tests.
    """
    from lengthwise.crasp.library import library

    if target.startswith("crasp:"):
        return library()[target.removeprefix("crasp:")]
    with opened(target) as (file, source):
        text = program_text(file.read(), source)
    if target.endswith(".cr"):
        from lengthwise.crasp.older import parse_older

        return parse_older(text, source, tuple((alphabet or "").split()))
    from lengthwise.crasp.parse import parse

    return parse(text, source)


def program_and_text(path: str) -> "tuple[Program, str, str]":
    """The program in a .crasp file or on standard input, its name for people, and its text."""
    from lengthwise.crasp.parse import parse

    with opened(path) as (file, source):
        text = program_text(file.read(), source)
    return parse(text, source), source, text


def program_text(content: bytes, source: str) -> str:
    """The text of a program's file."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        got = f"byte 0x{content[error.start]:02x} at byte {error.start + 1}"
        raise WrongInput("UTF-8 text", got, "save the file as UTF-8", source) from None
