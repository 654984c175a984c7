"""Trees that are values: compared, hashed and walked without recursion, so that their depth does not matter."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Any, TypeVar, dataclass_transform

from lengthwise.errors import WrongInput, shown

Found = TypeVar("Found")


class Node:
    """An expression: immutable, equal to any other of the same form."""

    __no_type_check__ = True  # for the tests' type checker: constructors check, with errors for people
    __slots__ = ("_hash", "parts")
    _hash: int
    parts: tuple["Node", ...]  # the expressions directly inside, in order

    def __post_init__(self) -> None:
        """Checks the parts, and keeps the hash so that hashing a tree is never deeper than one node."""
        self._check()
        values = [getattr(self, name) for name in self.__dataclass_fields__]  # type: ignore[attr-defined]
        object.__setattr__(self, "parts", tuple([value for value in values if isinstance(value, Node)]))
        object.__setattr__(self, "_hash", hash((type(self).__name__, *values)))

    def _check(self) -> None:
        """What the constructor demands of its parts."""

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Node):
            return NotImplemented
        ahead: list[tuple[Any, Any]] = [(self, other)]
        while ahead:
            ours, theirs = ahead.pop()
            if ours is theirs:
                continue
            if type(ours) is not type(theirs) or (isinstance(ours, Node) and ours._hash != theirs._hash):
                return False
            if isinstance(ours, Node):
                names = [field.name for field in fields(ours)]  # type: ignore[arg-type]
                ahead += [(getattr(ours, name), getattr(theirs, name)) for name in names]
            elif ours != theirs:
                return False
        return True

    def __bool__(self) -> bool:
        remedy = "write & for and, | for or, ~ for not, and 0 <= c <= 3 as (c >= 0) & (c <= 3)"
        raise WrongInput("an operator that builds a tree", f"the truth value of {shown(self)}", remedy)

    def __repr__(self) -> str:
        from lengthwise.crasp.printer import expression

        return expression(self)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), tuple(getattr(self, field.name) for field in fields(self))  # type: ignore[arg-type]


@dataclass_transform(frozen_default=True, eq_default=False)
def node(cls: type[Any]) -> type[Any]:
    """A frozen dataclass that keeps the equality, hash and text of its base."""
    return dataclass(frozen=True, eq=False, repr=False, slots=True)(cls)


def fold(tree: Node, step: Callable[[Node, Sequence[Found]], Found]) -> Found:
    """What a step makes of a tree, given what it made of its parts: from the leaves up, left to right.

    An expression that occurs several times as the same object is folded once.
    """
    done: dict[int, Found] = {}
    ahead: list[tuple[Node, bool]] = [(tree, False)]
    while ahead:
        here, ready = ahead.pop()
        if id(here) in done:
            continue
        inside = here.parts
        if ready or not inside:
            done[id(here)] = step(here, [done[id(part)] for part in inside])
        else:
            ahead.append((here, True))
            ahead += [(part, False) for part in reversed(inside)]
    return done[id(tree)]


def whole(value: Any, role: str, least: int | None = None) -> None:
    """Refuses what is no integer, or one below the least that makes sense."""
    if not isinstance(value, int) or isinstance(value, bool) or (least is not None and value < least):
        wanted = f"a whole number {role}" + ("" if least is None else f", at least {least}")
        raise WrongInput(wanted, shown(value), "write an integer")


def sorted_once(values: Any, role: str) -> tuple[int, ...]:
    """Integers from 0 on in ascending order, each once."""
    if isinstance(values, (str, bytes)) or not hasattr(values, "__iter__"):
        raise WrongInput(f"whole numbers {role}", shown(values), "write a tuple of integers")
    found = tuple(values)
    for value in found:
        whole(value, role, 0)
    return tuple(sorted(set(found)))
