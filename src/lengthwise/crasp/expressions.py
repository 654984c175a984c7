"""Expressions: Booleans and quantities, and the operators that build them."""

from typing import Any, Literal, get_args

from lengthwise.crasp.tree import Node, node, sorted_once, whole
from lengthwise.errors import WrongInput, shown

Relation = Literal[">=", "<=", "<", ">", "==", "!="]


class Boolean(Node):
    """An expression that is true or false at each position."""

    __slots__ = ()

    def __invert__(self) -> "Not":
        return Not(self)

    def __and__(self, other: "Boolean") -> "And":
        return And(self, other)

    def __or__(self, other: "Boolean") -> "Or":
        return Or(self, other)


class Quantity(Node):
    """An expression that is an integer at each position."""

    __slots__ = ()

    def __add__(self, other: "Quantity | int") -> "Plus":
        return Plus(self, quantity(other))

    def __radd__(self, other: int) -> "Plus":
        return Plus(quantity(other), self)

    def __sub__(self, other: "Quantity | int") -> "Minus":
        return Minus(self, quantity(other))

    def __rsub__(self, other: int) -> "Minus":
        return Minus(quantity(other), self)

    def __mul__(self, factor: int) -> "Times":
        return Times(factor, self)

    __rmul__ = __mul__

    def __neg__(self) -> "Negative":
        return Negative(self)

    def __ge__(self, other: "Quantity | int") -> "Compare":
        return Compare(self, ">=", quantity(other))

    def __le__(self, other: "Quantity | int") -> "Compare":
        return Compare(self, "<=", quantity(other))

    def __gt__(self, other: "Quantity | int") -> "Compare":
        return Compare(self, ">", quantity(other))

    def __lt__(self, other: "Quantity | int") -> "Compare":
        return Compare(self, "<", quantity(other))

    def eq(self, other: "Quantity | int") -> "Compare":
        """Whether the two are equal at a position; == compares trees."""
        return Compare(self, "==", quantity(other))

    def ne(self, other: "Quantity | int") -> "Compare":
        """Whether the two differ at a position; != compares trees."""
        return Compare(self, "!=", quantity(other))


def quantity(value: Any) -> Quantity:
    """A quantity as it is; an integer as a constant."""
    if isinstance(value, Quantity):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return Number(value)
    raise WrongInput("a quantity", shown(value), "write count(...) around a Boolean to count where it holds")


def _boolean(value: Any, role: str) -> None:
    if not isinstance(value, Boolean):
        raise WrongInput(f"a Boolean {role}", shown(value), "compare a quantity with a number, as in c >= 1")


def _quantity(value: Any, role: str) -> None:
    if not isinstance(value, Quantity):
        remedy = "write count(...) around a Boolean to count where it holds"
        raise WrongInput(f"a quantity {role}", shown(value), remedy)


@node
class Truth(Boolean):
    """True, or false, at every position."""

    value: bool


@node
class Sym(Boolean):
    """Whether the symbol at the position is this one."""

    symbol: str

    def _check(self) -> None:
        if not isinstance(self.symbol, str):
            raise WrongInput("a symbol as text", shown(self.symbol), "write Sym('a')")


@node
class Phi(Boolean):
    """Whether the position, counted from 1, leaves one of some remainders: pos % period in {residues}."""

    period: int
    residues: tuple[int, ...]

    def _check(self) -> None:
        whole(self.period, "as a period", 1)
        object.__setattr__(self, "residues", sorted_once(self.residues, "as a remainder"))
        if self.residues and self.residues[-1] >= self.period:
            remedy = f"the remainders modulo {shown(self.period)} end at {shown(self.period - 1)}"
            raise WrongInput(f"remainders below {shown(self.period)}", shown(self.residues[-1]), remedy)


@node
class Not(Boolean):
    """Whether the body is false."""

    body: Boolean

    def _check(self) -> None:
        _boolean(self.body, "after not")


@node
class And(Boolean):
    """Whether both sides are true."""

    left: Boolean
    right: Boolean

    def _check(self) -> None:
        _boolean(self.left, "on the left of and")
        _boolean(self.right, "on the right of and")


@node
class Or(Boolean):
    """Whether one side or both are true."""

    left: Boolean
    right: Boolean

    def _check(self) -> None:
        _boolean(self.left, "on the left of or")
        _boolean(self.right, "on the right of or")


@node
class Compare(Boolean):
    """Whether two quantities stand in a relation."""

    left: Quantity
    relation: Relation
    right: Quantity

    def _check(self) -> None:
        _quantity(self.left, f"on the left of {self.relation}")
        _quantity(self.right, f"on the right of {self.relation}")
        if self.relation not in get_args(Relation):
            raise WrongInput("a relation", shown(self.relation), f"use one of {' '.join(get_args(Relation))}")


@node
class BoolName(Boolean):
    """The Boolean that an earlier definition named."""

    name: str


@node
class Number(Quantity):
    """The same integer at every position."""

    value: int

    def _check(self) -> None:
        whole(self.value, "as a constant")


@node
class Count(Quantity):
    """At how many positions j <= i the body holds; with `back`, at how many of the positions i - s, s in back, j >= 1."""

    body: Boolean
    back: tuple[int, ...] | None = None

    def _check(self) -> None:
        _boolean(self.body, "inside count")
        if self.back is not None:
            object.__setattr__(self, "back", sorted_once(self.back, "as an offset"))
            if not self.back:
                raise WrongInput("at least one offset", "none", "write count[back 1](...), or count(...) for all")


@node
class Times(Quantity):
    """An integer multiple of a quantity."""

    factor: int
    body: Quantity

    def _check(self) -> None:
        whole(self.factor, "as a factor")
        _quantity(self.body, "after *")


@node
class Plus(Quantity):
    """The sum of two quantities."""

    left: Quantity
    right: Quantity

    def _check(self) -> None:
        _quantity(self.left, "on the left of +")
        _quantity(self.right, "on the right of +")


@node
class Minus(Quantity):
    """The difference of two quantities; it may be negative."""

    left: Quantity
    right: Quantity

    def _check(self) -> None:
        _quantity(self.left, "on the left of -")
        _quantity(self.right, "on the right of -")


@node
class Negative(Quantity):
    """The quantity with the other sign."""

    body: Quantity

    def _check(self) -> None:
        _quantity(self.body, "after -")


@node
class If(Quantity):
    """One quantity where the test holds, the other where it does not."""

    test: Boolean
    then: Quantity
    otherwise: Quantity

    def _check(self) -> None:
        _boolean(self.test, "after if")
        object.__setattr__(self, "then", quantity(self.then))  # an integer may stand for a constant
        object.__setattr__(self, "otherwise", quantity(self.otherwise))


@node
class CountName(Quantity):
    """The quantity that an earlier definition named."""

    name: str
