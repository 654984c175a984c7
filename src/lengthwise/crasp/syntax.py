"""The syntax of C-RASP[periodic, local]: what a program is, whether it came as text or from Python.

A program is a list of named expressions over the positions i = 1..n of a word. An expression is a *Boolean* (true or
false at each position) or a *quantity* (an integer at each position). At the virtual position 0, where the empty word
is read, every symbol test is false, every count is 0 and pos = 0. A word is accepted when `accept` holds at its last
position.

In Python the operators build trees:  ~P  P & Q  P | Q  c + d  c - d  2 * c  c >= d  c < 3  c.eq(d)  c.ne(d).
Trees are compared and hashed by value, at any depth, and print as their text.

Source: Huang et al. 2025, definition 8, after Yang and Chiang 2024. Ours: every relation, or, integer factors and
sums of any sign are in the language; they abbreviate the operations of the definition.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, get_args

from lengthwise.crasp.expressions import (
    And,
    Boolean,
    BoolName,
    Compare,
    Count,
    CountName,
    If,
    Minus,
    Negative,
    Not,
    Number,
    Or,
    Phi,
    Plus,
    Quantity,
    Relation,
    Sym,
    Times,
    Truth,
    quantity,
)
from lengthwise.crasp.tree import Node, fold
from lengthwise.errors import WrongInput, nearest, shown

__all__ = [
    "And",
    "BoolName",
    "Boolean",
    "Compare",
    "Count",
    "CountName",
    "Definition",
    "If",
    "Kind",
    "Minus",
    "Negative",
    "Node",
    "Not",
    "Number",
    "Or",
    "Phi",
    "Plus",
    "Program",
    "Quantity",
    "Relation",
    "Sym",
    "Times",
    "Truth",
    "fold",
    "nodes",
    "quantity",
    "unknown_name",
    "unknown_symbol",
]

Kind = Literal["let", "output"]
RESERVED = frozenset(
    "program alphabet let output accept true false not and or pos in count back if then else".split()  # noqa: SIM905
)


@dataclass(frozen=True)
class Definition:
    """A named expression; an `output` is shown at every position, a `let` only names."""

    __no_type_check__ = True  # for the tests' type checker: __post_init__ checks, with errors for people

    kind: Kind
    name: str
    body: Boolean | Quantity

    def __post_init__(self) -> None:
        """Checks what a definition can check alone."""
        if self.kind not in get_args(Kind):
            raise WrongInput("let or output", shown(self.kind), "write one of the two")
        check_name(self.name)
        if not isinstance(self.body, (Boolean, Quantity)):
            raise WrongInput("an expression", shown(self.body), "build it from Sym, Count, ...", self.name)

    @property
    def reference(self) -> BoolName | CountName:
        """The expression by which later definitions use this one."""
        return BoolName(self.name) if isinstance(self.body, Boolean) else CountName(self.name)


@dataclass(frozen=True)
class Program:
    """A program: its alphabet, its definitions in order, and the Boolean that accepts, if it has one."""

    __no_type_check__ = True

    name: str
    alphabet: tuple[str, ...]
    definitions: tuple[Definition, ...]
    accept: Boolean | None = None

    def __post_init__(self) -> None:
        """Refuses what has no meaning: unknown symbols, names used before they are defined, or defined twice."""
        check_name(self.name)
        object.__setattr__(self, "alphabet", check_alphabet(self.alphabet))
        object.__setattr__(self, "definitions", tuple(self.definitions))
        if self.accept is not None and not isinstance(self.accept, Boolean):
            raise WrongInput("a Boolean to accept", shown(self.accept), "compare a quantity with a number", "accept")
        known: dict[str, Definition] = {}
        for definition in self.definitions:
            if definition.name in known:
                raise WrongInput("every name once", f"{definition.name} twice", "rename one of them", definition.name)
            self._check_body(definition.body, known, definition.name)
            known[definition.name] = definition
        if self.accept is not None:
            self._check_body(self.accept, known, "accept")

    def _check_body(self, body: Node, known: dict[str, Definition], where: str) -> None:
        for one in nodes(body):
            if isinstance(one, Sym) and one.symbol not in self.alphabet:
                raise unknown_symbol(one.symbol, self.alphabet, where)
            if isinstance(one, (BoolName, CountName)):
                if one.name not in known:
                    raise unknown_name(one.name, known, where)
                if type(known[one.name].reference) is not type(one):
                    kind = "a quantity" if isinstance(one, BoolName) else "a Boolean"
                    remedy = "use BoolName for Booleans and CountName for quantities"
                    raise WrongInput("a name of the right kind", f"{one.name}, which is {kind}", remedy, where)

    @property
    def outputs(self) -> tuple[Definition, ...]:
        """The definitions that are shown at every position."""
        return tuple(definition for definition in self.definitions if definition.kind == "output")

    def __str__(self) -> str:
        """The program as text."""
        from lengthwise.crasp.printer import text

        return text(self)


def nodes(tree: Node) -> Iterator[Node]:
    """An expression and all those inside it, outermost first, left to right."""
    ahead = [tree]
    while ahead:
        here = ahead.pop()
        yield here
        ahead += reversed(here.parts)


def check_name(name: object) -> str:
    """A name: a letter or underscore, then letters, digits, underscores; no word of the language."""
    if not isinstance(name, str) or not name.isidentifier():
        raise WrongInput("a name of letters, digits and underscores", shown(name), "write a name such as h1")
    if name in RESERVED:
        raise WrongInput("a name that is no word of the language", name, f"write {name}_ or another name")
    return name


def check_alphabet(symbols: object) -> tuple[str, ...]:
    """An alphabet: at least one symbol, each once, each a piece of text without blanks."""
    found = tuple(symbols) if isinstance(symbols, (str, tuple, list)) else ()
    if not found or not all(isinstance(symbol, str) for symbol in found):
        raise WrongInput("an alphabet of at least one symbol", shown(symbols), "write alphabet 'a' 'b'")
    for index, symbol in enumerate(found):
        if not symbol or not symbol.isprintable() or " " in symbol:
            raise WrongInput("symbols of printable characters without blanks", shown(symbol), "rename the symbol")
        if symbol in found[:index]:
            raise WrongInput("every symbol once", f"{shown(symbol)} twice", "drop one of them")
    return found


def unknown_name(name: str, known: dict[str, Definition], where: str = "") -> WrongInput:
    """The error for a name that no earlier definition gave."""
    if not known:
        return WrongInput("a name defined earlier", name, "nothing is defined before this line", where)
    near = " or ".join(nearest(name, list(known)))
    return WrongInput("a name defined earlier", name, f"nearest: {near}", where)


def unknown_symbol(symbol: str, alphabet: tuple[str, ...], where: str = "") -> WrongInput:
    """The error for a symbol that is not in the alphabet."""
    known = " ".join(map(repr, alphabet[:8])) + (" ..." if len(alphabet) > 8 else "")
    return WrongInput(f"a symbol of the alphabet {known}", shown(symbol), "add it to the alphabet line", where)
