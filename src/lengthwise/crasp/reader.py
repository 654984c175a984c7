"""What the rules of a grammar mean: from the parser's rules to the syntax tree."""

import re
from typing import Any

from lengthwise.crasp.complaints import Text
from lengthwise.crasp.syntax import (
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
    Quantity,
    Sym,
    Times,
    Truth,
    check_name,
    unknown_name,
    unknown_symbol,
)
from lengthwise.errors import WrongInput

Rule = Any  # a tree or a token of lark, which says of its children only that they are one or the other

MOST_DIGITS = 1000


class Placed:
    """A part of a program with the place where it starts."""

    __slots__ = ("node", "start")

    def __init__(self, node: Any, start: int) -> None:
        self.node, self.start = node, start


class Reader:
    """Turns rules into nodes, bottom-up and from left to right, checking what the grammar cannot say.

    A rule `name` of the grammar is read by the method `_name`, given its children and its parts already read.
    """

    def __init__(self, place: Text) -> None:
        self.place = place
        self.alphabet: tuple[str, ...] = ()
        self.known: dict[str, Definition] = {}

    def folded(self, tree: Rule) -> Placed:
        """An expression, from the leaves up."""
        ahead: list[tuple[Any, bool]] = [(tree, False)]
        done: list[Placed] = []
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

    def step(self, tree: Rule, parts: list[Placed]) -> Placed:
        """One rule, given its parts."""
        first = tree.children[0]
        start = parts[0].start if hasattr(first, "data") else first.start_pos
        if tree.data == "bracketed":
            return Placed(parts[0].node, start)
        return Placed(getattr(self, f"_{tree.data}")(tree.children, *parts), start)

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

    def unknown(self, name: str) -> WrongInput:
        """The error for a name that nothing above defines."""
        return unknown_name(name, self.known)

    def boolean(self, part: Placed, role: str) -> Boolean:
        """A part that must be a Boolean."""
        if isinstance(part.node, Boolean):
            return part.node
        raise self.place.wrong(f"a Boolean {role}", "a quantity", "compare it with a number, as in c >= 1", part.start)

    def quantity(self, part: Placed, role: str) -> Quantity:
        """A part that must be a quantity."""
        if isinstance(part.node, Quantity):
            return part.node
        raise self.place.wrong(
            f"a quantity {role}", "a Boolean", "write count(...) around it to count where it holds", part.start
        )

    def _choice(self, tokens: Any, test: Placed, then: Placed, otherwise: Placed) -> Node:
        sides = self.quantity(then, "after then"), self.quantity(otherwise, "after else")
        return If(self.boolean(test, "after if"), *sides)

    def _disjunction(self, tokens: Any, left: Placed, right: Placed) -> Node:
        return Or(self.boolean(left, "on the left of or"), self.boolean(right, "on the right of or"))

    def _conjunction(self, tokens: Any, left: Placed, right: Placed) -> Node:
        return And(self.boolean(left, "on the left of and"), self.boolean(right, "on the right of and"))

    def _negation(self, tokens: Any, body: Placed) -> Node:
        return Not(self.boolean(body, "after not"))

    def _comparison(self, tokens: Any, left: Placed, right: Placed) -> Node:
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

    def _plus(self, tokens: Any, left: Placed, right: Placed) -> Node:
        return Plus(self.quantity(left, "on the left of +"), self.quantity(right, "on the right of +"))

    def _minus(self, tokens: Any, left: Placed, right: Placed) -> Node:
        return Minus(self.quantity(left, "on the left of -"), self.quantity(right, "on the right of -"))

    def _times(self, tokens: Any, left: Placed, right: Placed) -> Node:
        factor, body = (left, right) if tokens[0].data == "integer" else (right, left)
        return Times(factor.node.value, self.quantity(body, "beside *"))

    def _negative(self, tokens: Any, body: Placed) -> Node:
        return Negative(self.quantity(body, "after -"))

    def _count(self, tokens: Any, body: Placed) -> Node:
        return Count(self.boolean(body, "inside count"))

    def _recent(self, tokens: Any, body: Placed) -> Node:
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
            raise self.place.at(self.unknown(name), tokens[0].start_pos)
        reference: BoolName | CountName = self.known[name].reference
        return reference

    def _integer(self, tokens: Any) -> Node:
        return Number(self.number(tokens[-1]) * (-1 if len(tokens) == 2 else 1))


def unquoted(token: str) -> str:
    """The symbol that stands between quotes."""
    return re.sub(r"\\(.)", r"\1", token[1:-1])
