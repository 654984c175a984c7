"""From the text of a program to its tree, or one line that says where it is wrong and what was expected there."""

import functools
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lengthwise.crasp.complaints import SEE, Text, alike, expected
from lengthwise.crasp.syntax import (
    RESERVED,
    And,
    Boolean,
    BoolName,
    Compare,
    Count,
    CountName,
    Definition,
    If,
    Minus,
    Negative,
    Node,
    Not,
    Number,
    Or,
    Phi,
    Plus,
    Program,
    Quantity,
    Sym,
    Times,
    Truth,
    check_alphabet,
    check_name,
    unknown_name,
    unknown_symbol,
)
from lengthwise.errors import WrongInput, nearest

if TYPE_CHECKING:
    from lark import Lark
    from lark.exceptions import UnexpectedToken

Rule = Any  # a tree or a token of lark, which says of its children only that they are one or the other

MOST_DIGITS = 1000
REMEDIES = dict.fromkeys((">=", "<=", "<", ">", "==", "!="), "write 0 <= c and c <= 3 for a chain of comparisons")
REMEDIES |= dict.fromkeys(("if", "then", "else"), "write if B then c else d, inside a larger expression in parentheses")


def parse(text: str, source: str = "") -> Program:
    """The program that a text writes down; `source` is what errors call the text."""
    if not isinstance(text, str):
        raise WrongInput("the text of a program", type(text).__name__, "pass a string", source)
    place = Text(text, source)
    return _Reader(place).program(syntax_tree(grammar(), place))


@functools.cache
def grammar() -> "Lark":
    """The parser that grammar.lark describes."""
    from lark import Lark

    text = Path(__file__).with_name("grammar.lark").read_text(encoding="utf-8")
    return Lark(text, start="program", parser="lalr", lexer="basic", keep_all_tokens=True, maybe_placeholders=False)


def syntax_tree(parser: "Lark", place: Text) -> Rule:
    """The text by rules of the grammar; refuses what no rule fits."""
    from lark.exceptions import UnexpectedCharacters, UnexpectedToken

    try:
        return parser.parse(place.text)
    except UnexpectedCharacters as error:
        raise place.unreadable(error.pos_in_stream or 0) from None
    except UnexpectedToken as error:
        raise _misfit(parser, place, error) from None


def _misfit(parser: "Lark", place: Text, error: "UnexpectedToken") -> WrongInput:
    """What to say of a token that no rule takes."""
    token = error.token
    if token.type == "$END":
        return place.wrong(expected(parser, error), "the end of the text", SEE, len(place.text.rstrip()))
    start, got = int(token.start_pos or 0), str(token)
    before = re.search(r"([^\W\d]\w*)\s*\Z", place.text[:start])
    word, at = (before[1], before.start()) if before and got == "(" else (got, start)
    if word.isidentifier() and word not in RESERVED:
        near = nearest(word, sorted(RESERVED), 1)[0]
        if alike(word, near):
            return place.wrong("a word of the language", word, f"did you mean {near}?", at)
    wanted = expected(parser, error)
    remedy = REMEDIES.get(got, SEE)
    if before and before[1] == "pos":
        remedy = "write pos % m in {r, ...}; count(true) is the position itself"
    elif wanted == "a name" and got in RESERVED:
        remedy = f"words of the language are no names: write {got}_"
    return place.wrong(wanted, got, remedy, start)


class _Placed:
    """A part of a program with the place where it starts."""

    __slots__ = ("node", "start")

    def __init__(self, node: Any, start: int) -> None:
        self.node, self.start = node, start


class _Reader:
    """Turns rules into nodes, bottom-up and from left to right, checking what the grammar cannot say."""

    def __init__(self, place: Text) -> None:
        self.place = place
        self.alphabet: tuple[str, ...] = ()
        self.known: dict[str, Definition] = {}
        self.accept: Boolean | None = None

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
        for statement in rest[len(symbols) :]:
            self.statement(statement)
        return Program(title, self.alphabet, tuple(self.known.values()), self.accept)

    def statement(self, tree: Rule) -> None:
        """A definition, or what accepts."""
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

    def folded(self, tree: Rule) -> _Placed:
        """An expression, from the leaves up."""
        ahead: list[tuple[Any, bool]] = [(tree, False)]
        done: list[_Placed] = []
        while ahead:
            here, ready = ahead.pop()
            inside = [child for child in here.children if hasattr(child, "data")]
            if ready or not inside:
                parts = [done.pop() for _ in inside][::-1]
                done.append(self.step(here, parts))
            else:
                ahead.append((here, True))
                ahead += [(child, False) for child in reversed(inside)]
        (made,) = done
        return made

    def step(self, tree: Rule, parts: list[_Placed]) -> _Placed:
        """One rule, given its parts."""
        first = tree.children[0]
        start = parts[0].start if hasattr(first, "data") else first.start_pos
        if tree.data == "bracketed":
            return _Placed(parts[0].node, start)
        return _Placed(getattr(self, f"_{tree.data}")(tree.children, *parts), start)

    def name(self, token: Rule) -> str:
        """A name that may be given to something."""
        try:
            return check_name(str(token))
        except WrongInput as error:
            raise self.place.at(error, token.start_pos) from None

    def number(self, token: Rule) -> int:
        """An integer without sign."""
        if len(token) > MOST_DIGITS:
            wanted, got = f"an integer of at most {MOST_DIGITS} digits", f"one of {len(token)}"
            raise self.place.wrong(wanted, got, "write a smaller one", token.start_pos)
        return int(token)

    def boolean(self, part: _Placed, role: str) -> Boolean:
        """A part that must be a Boolean."""
        if isinstance(part.node, Boolean):
            return part.node
        raise self.place.wrong(f"a Boolean {role}", "a quantity", "compare it with a number, as in c >= 1", part.start)

    def quantity(self, part: _Placed, role: str) -> Quantity:
        """A part that must be a quantity."""
        if isinstance(part.node, Quantity):
            return part.node
        raise self.place.wrong(
            f"a quantity {role}", "a Boolean", "write count(...) around it to count where it holds", part.start
        )

    def _choice(self, tokens: Any, test: _Placed, then: _Placed, otherwise: _Placed) -> Node:
        sides = self.quantity(then, "after then"), self.quantity(otherwise, "after else")
        return If(self.boolean(test, "after if"), *sides)

    def _disjunction(self, tokens: Any, left: _Placed, right: _Placed) -> Node:
        return Or(self.boolean(left, "on the left of or"), self.boolean(right, "on the right of or"))

    def _conjunction(self, tokens: Any, left: _Placed, right: _Placed) -> Node:
        return And(self.boolean(left, "on the left of and"), self.boolean(right, "on the right of and"))

    def _negation(self, tokens: Any, body: _Placed) -> Node:
        return Not(self.boolean(body, "after not"))

    def _comparison(self, tokens: Any, left: _Placed, right: _Placed) -> Node:
        sign = str(tokens[1])
        sides = self.quantity(left, f"on the left of {sign}"), self.quantity(right, f"on the right of {sign}")
        return Compare(sides[0], sign, sides[1])  # type: ignore[arg-type]

    def _periodic(self, tokens: Any) -> Node:
        period, *residues = [token for token in tokens if token.type == "INTEGER"]
        modulus = self.number(period)
        if modulus < 1:
            raise self.place.wrong("a period of at least 1", "0", "write pos % 2 in {0}", period.start_pos)
        for token in residues:
            if self.number(token) >= modulus:
                wanted, remedy = f"a remainder below {period}", f"remainders modulo {period} end at {modulus - 1}"
                raise self.place.wrong(wanted, str(token), remedy, token.start_pos)
        return Phi(modulus, tuple(map(self.number, residues)))

    def _plus(self, tokens: Any, left: _Placed, right: _Placed) -> Node:
        return Plus(self.quantity(left, "on the left of +"), self.quantity(right, "on the right of +"))

    def _minus(self, tokens: Any, left: _Placed, right: _Placed) -> Node:
        return Minus(self.quantity(left, "on the left of -"), self.quantity(right, "on the right of -"))

    def _times(self, tokens: Any, left: _Placed, right: _Placed) -> Node:
        factor, body = (left, right) if tokens[0].data == "integer" else (right, left)
        return Times(factor.node.value, self.quantity(body, "beside *"))

    def _negative(self, tokens: Any, body: _Placed) -> Node:
        return Negative(self.quantity(body, "after -"))

    def _count(self, tokens: Any, body: _Placed) -> Node:
        return Count(self.boolean(body, "inside count"))

    def _recent(self, tokens: Any, body: _Placed) -> Node:
        back = [self.number(token) for token in tokens if getattr(token, "type", "") == "INTEGER"]
        return Count(self.boolean(body, "inside count"), tuple(back))

    def _symbol(self, tokens: Any) -> Node:
        symbol = unquoted(tokens[0])
        if symbol not in self.alphabet:
            raise self.place.at(unknown_symbol(symbol, self.alphabet), tokens[0].start_pos)
        return Sym(symbol)

    def _true(self, tokens: Any) -> Node:
        return Truth(True)

    def _false(self, tokens: Any) -> Node:
        return Truth(False)

    def _name(self, tokens: Any) -> Node:
        name = str(tokens[0])
        if name not in self.known:
            raise self.place.at(unknown_name(name, self.known), tokens[0].start_pos)
        reference: BoolName | CountName = self.known[name].reference
        return reference

    def _integer(self, tokens: Any) -> Node:
        return Number(self.number(tokens[-1]) * (-1 if len(tokens) == 2 else 1))


def unquoted(token: str) -> str:
    """The symbol that stands between quotes."""
    return re.sub(r"\\(.)", r"\1", token[1:-1])
