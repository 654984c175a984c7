"""From the text of a program to its tree, or one line that says where it is wrong and what was expected there."""

import functools
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lengthwise.crasp.complaints import Text, misfit
from lengthwise.crasp.reader import Reader, Rule, unquoted
from lengthwise.crasp.syntax import RESERVED, Boolean, Definition, Program, check_alphabet
from lengthwise.errors import WrongInput

if TYPE_CHECKING:
    from lark import Lark


def parse(text: Any, source: str = "") -> Program:
    """The program that a text writes down; `source` is what errors call the text."""
    if not isinstance(text, str):
        raise WrongInput("the text of a program", type(text).__name__, "pass a string", source)
    place = Text(text, source)
    return _ProgramReader(place).program(syntax_tree("grammar.lark", place, RESERVED))


@functools.cache
def grammar(file: str) -> "Lark":
    """The parser that a grammar file describes."""
    from lark import Lark

    text = Path(__file__).with_name(file).read_text(encoding="utf-8")
    return Lark(text, start="program", parser="lalr", lexer="basic", keep_all_tokens=True, maybe_placeholders=False)


def syntax_tree(file: str, place: Text, words: frozenset[str]) -> Rule:
    """The text by rules of a grammar whose words are given; refuses what no rule fits."""
    from lark.exceptions import UnexpectedCharacters, UnexpectedToken

    parser = grammar(file)
    try:
        return parser.parse(place.text)
    except UnexpectedCharacters as error:
        raise place.unreadable(error.pos_in_stream or 0) from None
    except UnexpectedToken as error:
        raise misfit(parser, place, error, words) from None


class _ProgramReader(Reader):
    """Reads whole programs."""

    def __init__(self, place: Text) -> None:
        super().__init__(place)
        self.accept: Boolean | None = None
        self.lines: dict[str, int] = {}
        self.line = 0

    def program(self, tree: Rule) -> Program:
        """The whole program."""
        _, name, _, *rest = tree.children
        symbols = [child for child in rest if not hasattr(child, "data")]
        title = self.name(name)
        for index, token in enumerate(symbols):
            try:
                self.alphabet = check_alphabet([*self.alphabet, unquoted(token)])
            except WrongInput as error:
                raise self.place.at(error, token.start_pos) from None
            assert len(self.alphabet) == index + 1
        statements = rest[len(symbols) :]
        for statement in reversed(statements):
            if statement.data != "accept":
                self.lines[str(statement.children[1])] = statement.children[1].line
        for statement in statements:
            self.statement(statement)
        return Program(title, self.alphabet, tuple(self.known.values()), self.accept)

    def statement(self, tree: Rule) -> None:
        """A definition, or what accepts."""
        self.line = tree.children[0].line
        if tree.data == "accept":
            word, expression = tree.children
            if self.accept is not None:
                raise self.place.wrong("one accept", "a second one", "join the two with and, or", word.start_pos)
            self.accept = self.boolean(self.folded(expression), "after accept")
            return
        _, name, _, expression = tree.children
        text = self.name(name)
        if text in self.known:
            raise self.place.wrong("every name once", f"{text} again", "rename one of them", name.start_pos)
        self.known[text] = Definition(tree.data, text, self.folded(expression).node)

    def unknown(self, name: str) -> WrongInput:
        """The error for a name that nothing above defines; it may be defined below."""
        line = self.lines.get(name)
        if line is None:
            return super().unknown(name)
        remedy = (
            "a definition cannot use itself"
            if line == self.line
            else f"it is defined below, in line {line}: move it up"
        )
        return WrongInput("a name defined earlier", name, remedy)
