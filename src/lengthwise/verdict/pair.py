"""Two programs as one: joint normalisation, so that equal forms of both are one form."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

from lengthwise.crasp.operations import Operations, operations
from lengthwise.crasp.syntax import Boolean, BoolName, CountName, Definition, Node, Program, Truth, fold
from lengthwise.errors import WrongInput


@dataclass(frozen=True)
class Pair:
    """Two programs over one alphabet, and what is compared: Booleans of the first with Booleans of the second."""

    first: Program
    second: Program
    joint: Program
    compared: tuple[tuple[str, str], ...]  # names of outputs of the joint program
    renamed: tuple[tuple[str, str], ...]  # names of the second program as they are, and in the joint program

    @cached_property
    def operations(self) -> Operations:
        """The normal form of both: every operation that occurs in either, once."""
        return operations(self.joint)

    @property
    def roots(self) -> tuple[tuple[int, int], ...]:
        """What is compared, as operations."""
        outputs = self.operations.outputs
        return tuple((outputs[left], outputs[right]) for left, right in self.compared)

    @property
    def alphabet(self) -> tuple[str, ...]:
        """The symbols."""
        return self.joint.alphabet


def pair(first: Program, second: Program, outputs: bool = False) -> Pair:
    """Two programs, to be compared by what they accept; with `outputs` by their Boolean outputs too.

    Programs without `accept` are compared by their outputs. Outputs are compared by name.
    """
    if set(first.alphabet) != set(second.alphabet):
        got = f"{' '.join(map(repr, first.alphabet))} and {' '.join(map(repr, second.alphabet))}"
        raise WrongInput("two programs over one alphabet", got, "add the missing symbols to the alphabet lines")
    used = {one.name for one in first.definitions}
    names: dict[str, str] = {}
    for one in second.definitions:
        names[one.name] = _fresh(one.name, used)
    definitions = [Definition("let", one.name, one.body) for one in first.definitions]
    definitions += [Definition("let", names[one.name], _body(one.body, names)) for one in second.definitions]
    compared = []
    for left, right in _compared(first, second, outputs):
        ends = _fresh("left", used), _fresh("right", used)
        for name, body in zip(ends, (left, _body(right, names)), strict=True):
            definitions.append(Definition("output", name, body))
        compared.append(ends)
    joint = Program(_fresh("pair", used), first.alphabet, tuple(definitions))
    return Pair(first, second, joint, tuple(compared), tuple(names.items()))


def constant(like: Program, accepts: bool) -> Program:
    """The program over the same alphabet that accepts every word, or none."""
    return Program("true_" if accepts else "false_", like.alphabet, (), Truth(accepts))


def _compared(first: Program, second: Program, outputs: bool) -> list[tuple[Boolean, Boolean]]:
    """The Booleans that must agree."""
    found: list[tuple[Boolean, Boolean]] = []
    if first.accept is not None and second.accept is not None:
        found.append((first.accept, second.accept))
        if not outputs:
            return found
    elif (first.accept is None) != (second.accept is None):
        lacking = first if first.accept is None else second
        raise WrongInput("accept in both programs or in none", f"none in {lacking.name}", "add an accept line")
    shown = [_boolean_outputs(one) for one in (first, second)]
    if set(shown[0]) != set(shown[1]):
        got = " and ".join("{" + ", ".join(one) + "}" for one in shown)
        raise WrongInput("Boolean outputs of the same names", got, "rename them, or compare what is accepted")
    found += [(left, shown[1][name]) for name, left in shown[0].items()]
    if not found:
        raise WrongInput("programs with a Boolean that is shown", "none", "add `accept` or an `output`", first.name)
    return found


def _boolean_outputs(program: Program) -> dict[str, Boolean]:
    return {one.name: one.reference for one in program.outputs if isinstance(one.reference, BoolName)}


def _fresh(name: str, used: set[str]) -> str:
    """A name that nothing has yet; now it has."""
    number, found = 2, name
    while found in used:
        found, number = f"{name}_{number}", number + 1
    used.add(found)
    return found


def _body(tree: Node, names: dict[str, str]) -> Any:
    """An expression with its names replaced."""

    def step(one: Node, inside: Sequence[Node]) -> Node:
        if isinstance(one, (BoolName, CountName)):
            return type(one)(names[one.name])
        parts = iter(inside)
        values = [getattr(one, field.name) for field in fields(one)]  # type: ignore[arg-type]
        return type(one)(*(next(parts) if isinstance(value, Node) else value for value in values))

    return fold(tree, step)
