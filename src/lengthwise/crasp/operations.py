"""The flat normal form of a program, by which it is run, compiled and judged.

A list of operations in topological order: each uses only earlier ones, and no two are the same. All are Boolean but
`Tally` and `RecentTally`, which count. A quantity never stands in the list: it is a sum of integer multiples of tallies
and a constant, and appears inside `AtLeastZero`. So the whole language is

    SymbolIs   InResidues   Constant   Opposite   AllOf   AnyOf   Tally   RecentTally   AtLeastZero

At the virtual position 0 SymbolIs is false, both tallies are 0 and the position is 0; the rest follows.

What the normal form does, each step an identity over the integers:

    c >= d  is  c - d >= 0;   c > d  is  c - d - 1 >= 0;   c == d  is both of  c - d >= 0  and  d - c >= 0
    not (F >= 0)  is  -F - 1 >= 0
    g F + c >= 0  is  F + floor(c / g) >= 0  where g divides every coefficient
    F >= 0  is constant where the ranges of its tallies say so (a tally is at least 0, a recent one at most its offsets)
    nested and, or are flattened; remainders modulo a period become remainders modulo the least period of the set
    (if P then c else d) + e >= 0  is  (P and c + e >= 0) or (not P and d + e >= 0)

The last one is a split into cases. Cases that contradict one another (P with not P) are dropped and cases with the same
sum are one, so a chain of k tests costs k + 1 cases; k independent tests inside one sum cost 2^k.

Source: Huang et al. 2025, definition 8. Ours: the normal form.
"""

import functools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from lengthwise.crasp.syntax import Node, Program

Terms = tuple[tuple[int, int], ...]  # (coefficient, index of a tally), by ascending index, no coefficient 0


@dataclass(frozen=True, slots=True)
class SymbolIs:
    """Whether the symbol at the position is this one, by its index in the alphabet."""

    symbol: int


@dataclass(frozen=True, slots=True)
class InResidues:
    """Whether the position modulo the period is one of the residues, which are neither none nor all."""

    period: int
    residues: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Constant:
    """The same truth value everywhere, also at position 0."""

    value: bool


@dataclass(frozen=True, slots=True)
class Opposite:
    """Whether the input is false; the input is no AtLeastZero, Constant or Opposite."""

    input: int


@dataclass(frozen=True, slots=True)
class AllOf:
    """Whether all inputs are true; at least two, ascending."""

    inputs: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class AnyOf:
    """Whether some input is true; at least two, ascending."""

    inputs: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Tally:
    """At how many positions j with 1 <= j <= i the input is true."""

    input: int


@dataclass(frozen=True, slots=True)
class RecentTally:
    """At how many of the positions i - offset, as far as they are 1 or more, the input is true."""

    input: int
    offsets: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class AtLeastZero:
    """Whether  sum of coefficient * tally  +  constant  >=  0; at least one term, coefficients without common factor."""

    terms: Terms
    constant: int


Operation = SymbolIs | InResidues | Constant | Opposite | AllOf | AnyOf | Tally | RecentTally | AtLeastZero


@dataclass(frozen=True, slots=True)
class Case:
    """A quantity where a Boolean holds (everywhere, where the guard is None): sum of coefficient * tally + constant."""

    guard: int | None
    terms: Terms
    constant: int


Cases = tuple[Case, ...]  # at every position exactly one guard holds


@dataclass(frozen=True)
class Operations:
    """A program in normal form.

    `accept` and `outputs` (the Boolean outputs) are indices into `list`; `names` has every Boolean definition, outputs
    and lets; `quantities` has every definition that is a quantity, output or let, by cases; `shown` tells which of
    these are outputs, in order. `origins` has, for an index, the first expression it was made for; `parts` has, for one
    that was made on the way to a comparison, that comparison.
    """

    alphabet: tuple[str, ...]
    list: tuple[Operation, ...]
    accept: int | None
    outputs: Mapping[str, int]
    names: Mapping[str, int]
    quantities: Mapping[str, Cases]
    shown: tuple[str, ...]
    origins: Mapping[int, Node]
    parts: Mapping[int, Node] = field(default_factory=dict)

    def needed(self, roots: Iterable[int] | None = None) -> tuple[int, ...]:
        """The indices that some operations rest on, with them, ascending; of all that accepts and is shown by default."""
        if roots is None:
            roots = [*self.outputs.values(), *(() if self.accept is None else (self.accept,))]
            cases = [case for name in self.shown if name in self.quantities for case in self.quantities[name]]
            roots += [index for case in cases for index in case_inputs(case)]
        found: set[int] = set()
        ahead = list(roots)
        while ahead:
            index = ahead.pop()
            if index not in found:
                found.add(index)
                ahead += inputs(self.list[index])
        return tuple(sorted(found))


def inputs(operation: Operation) -> Iterator[int]:
    """The indices that an operation reads."""
    match operation:
        case Opposite(one) | Tally(one) | RecentTally(one, _):
            yield one
        case AllOf(several) | AnyOf(several):
            yield from several
        case AtLeastZero(terms, _):
            yield from (index for _, index in terms)


def case_inputs(case: Case) -> Iterator[int]:
    """The indices that a case reads."""
    if case.guard is not None:
        yield case.guard
    yield from (index for _, index in case.terms)


@functools.lru_cache(maxsize=64)
def operations(program: Program) -> Operations:
    """The program in normal form; that of the programs used last is kept."""
    from lengthwise.crasp.normalise import normal_form

    return normal_form(program)
