"""Where in a text something is wrong, and what was expected there, in one line."""

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from lengthwise.errors import WrongInput, nearest

if TYPE_CHECKING:
    from lark import Lark
    from lark.exceptions import UnexpectedToken

SEE = "see lengthwise crasp --help"
REMEDIES = dict.fromkeys((">=", "<=", "<", ">", "==", "!="), "write 0 <= c and c <= 3 for a chain of comparisons")
REMEDIES |= dict.fromkeys(("if", "then", "else"), "write if B then c else d, inside a larger expression in parentheses")
SIGNS = {
    "'": "close the quote: 'a'; a quote inside a symbol is written \\'",
    '"': "write symbols in single quotes: 'a'",
    "=": "write == to compare and := to define",
    "!": "write not, or != to compare",
    "&": "write and",
    "|": "write or",
    ":": "write := to define",
    "#": "write count(...) to count and // for a comment",
}
BESIDE = 30  # characters of the line shown before the caret, and after it
OPERANDS = {"SYMBOL", "NAME", "COUNT", "LPAR"}  # what may begin any expression; seen together they are one
NAMES = {
    "NAME": "a name",
    "SYMBOL": "a symbol in quotes",
    "STRING": "a symbol in quotes",
    "INTEGER": "an integer",
    "RELATION": "a comparison",
    "$END": "the end",
}


class Text:
    """A text with a name, and the errors that point into it."""

    def __init__(self, text: str, source: str, signs: Mapping[str, str] = SIGNS) -> None:
        """The text; what errors call it, or nothing; what to do about characters that begin nothing."""
        self.text, self.source, self.signs = text, source, signs

    def wrong(self, wanted: str, got: str, remedy: str, start: int) -> WrongInput:
        """The error at a place: line, column, and the line itself with a caret before the place."""
        cut = max(self.text.rfind("\n", 0, start), self.text.rfind("\r", 0, start)) + 1
        line = self.text.count("\n", 0, start) + 1
        place = f"line {line}, column {start - cut + 1}"
        shown = _shortened(got)
        excerpt = self._excerpt(cut, start)
        seen = f"{shown} in: {excerpt}" if excerpt != "^" else shown
        return WrongInput(wanted, seen, remedy, f"{self.source}, {place}" if self.source else place)

    def at(self, error: WrongInput, start: int) -> WrongInput:
        """An error that did not know its place."""
        return self.wrong(error.wanted, error.got, error.remedy, start)

    def unreadable(self, start: int) -> WrongInput:
        """The error at a character that begins nothing."""
        character = self.text[start]
        remedy = self.signs.get(character, SEE)
        return self.wrong("a word or sign of the language", repr(character), remedy, start)

    def _excerpt(self, cut: int, start: int) -> str:
        end = len(self.text)
        for sign in "\r\n":
            found = self.text.find(sign, start)
            end = found if 0 <= found < end else end
        before, after = self.text[cut:start].lstrip(), self.text[start:end].rstrip()
        if len(before) > BESIDE:
            before = "…" + before[1 - BESIDE :]
        if len(after) > BESIDE:
            after = after[: BESIDE - 1] + "…"
        return f"{before}^{after}"


def expected(parser: "Lark", error: "UnexpectedToken") -> str:
    """What could have stood where a token did not fit, in words."""
    patterns = {terminal.name: terminal.pattern for terminal in parser.terminals}
    accepted = set(error.accepts or error.expected)
    words: list[str] = []
    if accepted >= OPERANDS:
        words.append("an expression")
        starters = {
            "SYMBOL",
            "STRING",
            "NAME",
            "COUNT",
            "LPAR",
            "TRUE",
            "FALSE",
            "NOT",
            "IF",
            "POS",
            "MINUS",
            "INTEGER",
        }
        accepted -= starters
    for name in sorted(accepted):
        pattern = patterns.get(name)
        words.append(NAMES.get(name) or (f"{pattern.value}" if pattern is not None else name.lower()))
    words.sort(key=lambda word: (not re.match(r"an? ", word), word))
    return " or ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def misfit(parser: "Lark", place: Text, error: "UnexpectedToken", words: frozenset[str]) -> WrongInput:
    """What to say of a token that no rule takes."""
    token = error.token
    if token.type == "$END":
        return place.wrong(expected(parser, error), "the end of the text", SEE, len(place.text.rstrip()))
    start, got = int(token.start_pos or 0), str(token)
    before = re.search(r"([^\W\d]\w*)\s*\Z", place.text[:start])
    word, at = (before[1], before.start()) if before and got == "(" else (got, start)
    if word.isidentifier() and word not in words:
        near = nearest(word, sorted(words), 1)[0]
        if alike(word, near):
            return place.wrong("a word of the language", word, f"did you mean {near}?", at)
    wanted = expected(parser, error)
    remedy = REMEDIES.get(got, SEE)
    if before and before[1] == "pos":
        remedy = "write pos % m in {r, ...}; count(true) is the position itself"
    elif wanted == "a name" and got in words:
        remedy = f"words of the language are no names: write {got}_"
    return place.wrong(wanted, got, remedy, start)


def alike(word: str, other: str) -> bool:
    """Whether one word may be a slip of the pen for another."""
    from difflib import SequenceMatcher

    return SequenceMatcher(None, word, other).ratio() >= 0.7


def _shortened(text: str, most: int = 40) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"
