"""Regular expressions, read into steps that an automaton is built from.

    a                one character that is no blank and none of  | * + ? ( ) [ ] { } . ' "
    'left'  "("      a symbol in quotes: several characters, or a character that means something here
    e f    e|f       one after the other; one or the other. Blanks mean nothing.
    e*  e+  e?       any number of times; at least once; at most once
    e{3}  e{2,5}     three times; two to five times;  e{2,}  at least twice
    ()               the empty word
    [ab]  [^ab]  .   one of these symbols; any other symbol of the alphabet; any symbol of the alphabet

`+` is "at least once", as in every tool on a Unix machine; papers that write union as `+` mean `|`. The alphabet is what
the expression names, in sorted order, unless it is given.

An expression is kept as a list of steps in postfix order, so that ten thousand brackets need no recursion.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

from lengthwise.crasp.syntax import check_alphabet
from lengthwise.errors import WrongInput, nearest, shown

MOST_OCCURRENCES = 2_000
SPECIAL = frozenset("|*+?()[]{}.'\"")


class Some(NamedTuple):
    """One symbol out of a set of symbols; out of all others where `others` is set."""

    symbols: frozenset[str]
    others: bool = False


Step = Some | str  # a str is "empty", or an operation on the last one or two: "then", "or", "star", "plus", "option"


@dataclass(frozen=True)
class Expression:
    """A regular expression: its text, its alphabet, and its steps in postfix order."""

    text: str
    alphabet: tuple[str, ...]
    steps: tuple[Step, ...]

    def chosen(self, step: Some) -> frozenset[int]:
        """The indices of the symbols that a step stands for."""
        if not step.others:
            return frozenset(index for index, symbol in enumerate(self.alphabet) if symbol in step.symbols)
        return frozenset(index for index, symbol in enumerate(self.alphabet) if symbol not in step.symbols)


def parse(text: Any, alphabet: Any = None) -> Expression:
    """The expression that a text says; an error names the column."""
    if not isinstance(text, str):
        raise WrongInput("a regular expression as text", shown(text), 'write it in quotes: "(aa|b)*"')
    known = None if alphabet is None else check_alphabet(alphabet if isinstance(alphabet, str) else tuple(alphabet))
    steps = _Reader(text, known).read()
    named = {symbol for step in steps if isinstance(step, Some) for symbol in step.symbols}
    if known is None and not named:
        raise WrongInput("an expression with at least one symbol", shown(text), "name the alphabet as well")
    return Expression(text, known or check_alphabet(tuple(sorted(named))), tuple(steps))


class _Reader:
    """Reads from left to right. A level is opened by a bracket: the parts of its union, each a list of factors."""

    def __init__(self, text: str, alphabet: tuple[str, ...] | None) -> None:
        self.text, self.alphabet, self.at = text, alphabet, 0
        self.levels: list[list[list[list[Step]]]] = [[[]]]  # level, part of the union, factor, step
        self.opened: list[int] = []
        self.occurrences = 0

    def read(self) -> list[Step]:
        while self.at < len(self.text):
            self._one(self.text[self.at])
        if self.opened:
            raise self._wrong("a closing bracket )", f"the end; ( at column {self.opened[-1] + 1} is open", "write )")
        return self._union(self.levels.pop())

    def _one(self, character: str) -> None:
        factors = self.levels[-1][-1]
        if character.isspace():
            self.at += 1
        elif character in "*+?":
            operation = {"*": "star", "+": "plus", "?": "option"}[character]
            factors.append([*self._repeated(factors, character), operation])
            self.at += 1
        elif character == "{":
            self._repeat(factors)
        elif character == "|":
            self.at += 1
            self.levels[-1].append([])
        elif character == "(":
            self.opened.append(self.at)
            self.levels.append([[]])
            self.at += 1
        elif character == ")":
            if not self.opened:
                raise self._wrong("a bracket that was opened", ")", "drop it, or quote it: ')'")
            self.at += 1
            self.opened.pop()
            inside = self._union(self.levels.pop())
            self.levels[-1][-1].append(inside)
        else:
            factors.append([self._counted(self._some(character))])

    def _some(self, character: str) -> Some:
        if character == ".":
            self.at += 1
            return Some(frozenset(), others=True)
        if character == "[":
            return self._choice()
        if character in SPECIAL - {"'", '"'}:
            raise self._wrong("a symbol", character, f"quote it if it is a symbol: '{character}'")
        return Some(frozenset([self._symbol()]))

    def _choice(self) -> Some:
        """A list of symbols in square brackets."""
        opened, found = self.at, list[str]()
        self.at += 1
        others = self.text.startswith("^", self.at)
        self.at += others
        while self.at < len(self.text) and self.text[self.at] != "]":
            if self.text[self.at].isspace():
                self.at += 1
            else:
                found.append(self._symbol())
        if self.at == len(self.text):
            raise self._wrong("a closing bracket ]", f"the end; [ at column {opened + 1} is open", "write ]")
        if not found:
            raise self._wrong("at least one symbol in the brackets", "none", "name a symbol, or write . for any")
        self.at += 1
        return Some(frozenset(found), others)

    def _symbol(self) -> str:
        """One character, or what stands in quotes."""
        start, quote = self.at, self.text[self.at]
        if quote in "'\"":
            end = self.text.find(quote, start + 1)
            if end < 0:
                raise self._wrong(f"a closing quote {quote}", "the end", "close the quote")
            symbol = self.text[start + 1 : end]
            if not symbol or not symbol.isprintable() or " " in symbol:
                raise self._wrong("a symbol of printable characters without blanks", shown(symbol), "name a symbol")
            after = end + 1
        elif quote in SPECIAL or not quote.isprintable():
            raise self._wrong("a symbol", shown(quote), "quote it if it is a symbol")
        else:
            symbol, after = quote, start + 1
        if self.alphabet is not None and symbol not in self.alphabet:
            near = " or ".join(map(repr, nearest(symbol, list(self.alphabet))))
            raise self._wrong("a symbol of the alphabet", shown(symbol), f"nearest: {near}")
        self.at = after
        return symbol

    def _repeat(self, factors: list[list[Step]]) -> None:
        """e{n}, e{n,m}, e{n,}: copies of e, the last ones left out at will."""
        end = self.text.find("}", self.at)
        inside = self.text[self.at + 1 : end] if end >= 0 else self.text[self.at + 1 :]
        low, comma, high = inside.partition(",")
        digits = [part.strip() for part in ([low] if not comma or not high.strip() else [low, high])]
        if end < 0 or not all(part.isascii() and part.isdigit() and len(part) < 7 for part in digits):
            remedy = "write e{2} or e{2,5}; for a choice of symbols write [ab]"
            raise self._wrong("how often to repeat, as {2} or {2,5}", shown("{" + inside), remedy)
        least, most, unbounded = int(digits[0]), int(digits[-1]), bool(comma) and not high.strip()
        if most < least or (most == 0 and not unbounded):
            raise self._wrong("a least and a larger most number of times", shown("{" + inside + "}"), "swap them")
        copied = self._repeated(factors, "{" + inside + "}")
        size = sum(isinstance(step, Some) for step in copied)
        self.occurrences += size * (most - 1 + unbounded)
        self._check_occurrences()
        copies: list[list[Step]] = [copied] * least + [[*copied, "option"]] * (most - least)
        if unbounded:
            copies += [[*copied, "star"]]
        self.at = end + 1
        factors.append(_joined(copies, "then"))

    def _repeated(self, factors: list[list[Step]], operation: str) -> list[Step]:
        if not factors:
            remedy = (
                f"put a symbol before it, or quote it: '{operation}'" if len(operation) == 1 else "put one before it"
            )
            raise self._wrong(f"something to repeat before {operation}", "nothing", remedy)
        return factors.pop()

    def _counted(self, step: Some) -> Some:
        self.occurrences += 1
        self._check_occurrences()
        return step

    def _check_occurrences(self) -> None:
        if self.occurrences > MOST_OCCURRENCES:
            wanted = f"an expression with at most {MOST_OCCURRENCES} symbols, repetitions written out"
            raise self._wrong(wanted, f"{self.occurrences}", "give the automaton as a table instead")

    def _union(self, union: list[list[list[Step]]]) -> list[Step]:
        return _joined([_joined(factors, "then") for factors in union], "or")

    def _wrong(self, wanted: str, got: str, remedy: str) -> WrongInput:
        where = f"column {self.at + 1}" if self.at < len(self.text) else "the end of the expression"
        return WrongInput(wanted, got, remedy, where)


def _joined(operands: Iterable[list[Step]], operation: str) -> list[Step]:
    """The operands under one operation, from left to right; of none of them, the empty word."""
    joined: list[Step] = []
    for count, operand in enumerate(operands):
        joined += operand
        if count:
            joined.append(operation)
    return joined or ["empty"]
