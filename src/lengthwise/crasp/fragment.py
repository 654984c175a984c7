"""What a program needs, read off its syntax: periods, offsets, nesting, constants, and the fragment it lies in.

The fragments say what is known about telling two programs apart, and so about how long words must be to learn one:

    positive        every comparison is a threshold on counts that never fall: finitely many states
    linear-top      inside counts only such thresholds; at the top any linear inequality
    one-difference  a single linear form of mixed sign, wherever it occurs
    rest            two or more such forms, one of them inside a count: no bound can be computed

They are decided on the normal form: a form is the sum over tallies of the whole past in a comparison, up to sign and a
common factor; it is of mixed sign if its coefficients have both.

Source: length-complexity note, sections 3.1 and 4.2; the fourth class after Yang et al. 2026.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from lengthwise.crasp.operations import (
    AtLeastZero,
    Constant,
    Operations,
    RecentTally,
    Tally,
    Terms,
    operations,
)
from lengthwise.crasp.syntax import BoolName, Compare, Count, CountName, Node, Phi, Program, fold, nodes

FragmentName = Literal["positive", "linear-top", "one-difference", "rest"]


@dataclass(frozen=True)
class Fragment:
    """What a program needs, and the fragment it lies in.

    kind      plain; periodic where a remainder of the position decides something; local where a count has offsets
    period    the least common multiple of the periods, 1 for none
    offsets   all offsets, ascending
    depth     how many counts stand inside one another at most
    one_layer whether no count stands inside another but counts with offsets
    heads     attention heads of the compiled form without optimisation: one for counts of the whole past, one an offset
    largest_coefficient, largest_constant   of the comparisons in normal form
    size      nodes of the syntax tree;  operations   of the normal form, those that accept and outputs rest on
    culprit   for `rest`: the comparison inside a count that no theorem covers, and the definition it stands in
    """

    kind: str
    period: int
    offsets: tuple[int, ...]
    depth: int
    one_layer: bool
    heads: int
    largest_coefficient: int
    largest_constant: int
    size: int
    operations: int
    fragment: FragmentName
    culprit: str | None = None
    culprit_in: str | None = None
    warnings: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The record in JSON's own types."""
        return asdict(self) | {"offsets": list(self.offsets), "warnings": list(self.warnings)}

    def __str__(self) -> str:
        """The record as a sentence."""
        needs = [f"period {self.period}"] if self.period > 1 else []
        needs += [f"offsets {', '.join(map(str, self.offsets))}"] if self.offsets else []
        return f"{self.kind} ({'; '.join([*needs, f'counts nested {self.depth} deep', self.fragment])})"


def fragment(program: Program) -> Fragment:
    """What a program needs and which fragment it lies in, from its syntax alone."""
    form = operations(program)
    bodies = dict(_bodies(program))
    every = [one for body in bodies.values() for one in nodes(body)]
    period = math.lcm(*(one.period for one in every if isinstance(one, Phi)))
    offsets = {offset for one in every if isinstance(one, Count) and one.back is not None for offset in one.back}
    periodic, local = any(isinstance(one, Phi) for one in every), bool(offsets)
    kind = ", ".join(["periodic"] * periodic + ["local"] * local) or "plain"
    depths = _depths(bodies)
    comparisons = [one for index in form.needed() if isinstance(one := form.list[index], AtLeastZero)]
    terms = [k for one in comparisons for k, _ in one.terms]
    name, culprit = _fragment(form)
    origin = None if culprit is None else {**form.parts, **form.origins}[culprit]
    return Fragment(
        kind=kind,
        period=period,
        offsets=tuple(sorted(offsets)),
        depth=max(depths.values(), default=0),
        one_layer=not any(isinstance(form.list[index], Tally) for index in _inside_counts(form)),
        heads=len(offsets) + any(isinstance(one, Count) and one.back is None for one in every),
        largest_coefficient=max(map(abs, terms), default=0),
        largest_constant=max((abs(one.constant) for one in comparisons), default=0),
        size=len(every),
        operations=len(form.needed()),
        fragment=name,
        culprit=None if origin is None else repr(origin),
        culprit_in=None
        if origin is None
        else next((key for key, body in bodies.items() if origin in nodes(body)), None),
        warnings=tuple(_warnings(program, form, bodies)),
    )


def _bodies(program: Program) -> list[tuple[str, Node]]:
    """All expressions of a program with their names, `accept` last."""
    found: list[tuple[str, Node]] = [(one.name, one.body) for one in program.definitions]
    return found if program.accept is None else [*found, ("accept", program.accept)]


def _depths(bodies: Mapping[str, Node]) -> dict[str, int]:
    """How many counts stand inside one another, for each expression, names looked through."""
    depths: dict[str, int] = {}

    def depth(tree: Node, inside: Sequence[int]) -> int:
        if isinstance(tree, (BoolName, CountName)):
            return depths[tree.name]
        return max(inside, default=0) + isinstance(tree, Count)

    for name, body in bodies.items():
        depths[name] = fold(body, depth)
    return depths


def _inside_counts(form: Operations) -> tuple[int, ...]:
    """The operations that the inputs of tallies rest on."""
    needed = [form.list[index] for index in form.needed()]
    return form.needed([one.input for one in needed if isinstance(one, (Tally, RecentTally))])


def linear_form(form: Operations, terms: Terms) -> Terms:
    """The part over tallies of the whole past, up to sign and a common factor: equal forms are equal tuples."""
    whole = [(k, index) for k, index in terms if isinstance(form.list[index], Tally)]
    if not whole:
        return ()
    factor = math.gcd(*(k for k, _ in whole)) * (1 if whole[0][0] > 0 else -1)
    return tuple((k // factor, index) for k, index in whole)


def is_mixed(terms: Terms) -> bool:
    """Whether a linear form has coefficients of both signs, so that it may rise and fall."""
    return any(k > 0 for k, _ in terms) and any(k < 0 for k, _ in terms)


def _fragment(form: Operations) -> tuple[FragmentName, int | None]:
    """The fragment, and for `rest` the first comparison of mixed sign inside a count."""

    def mixed(indices: Sequence[int]) -> dict[int, Terms]:
        found = {
            index: linear_form(form, one.terms) for index in indices if isinstance(one := form.list[index], AtLeastZero)
        }
        return {index: terms for index, terms in found.items() if is_mixed(terms)}

    everywhere, inside = mixed(form.needed()), mixed(_inside_counts(form))
    if not everywhere:
        return "positive", None
    if not inside:
        return "linear-top", None
    if len(set(everywhere.values())) == 1:
        return "one-difference", None
    return "rest", min(inside)


def _warnings(program: Program, form: Operations, bodies: Mapping[str, Node]) -> list[str]:
    """What is allowed and probably not meant."""
    found = []
    used = {one.name for body in bodies.values() for one in nodes(body) if isinstance(one, (BoolName, CountName))}
    found += [f"{one.name} is never used" for one in program.definitions if one.kind == "let" and one.name not in used]
    for name, body in bodies.items():
        if (
            name in form.names
            and isinstance(form.list[form.names[name]], Constant)
            and any(isinstance(one, Compare) for one in nodes(body))
        ):
            found.append(f"{name} is always {_word(form, form.names[name])}")
    if program.accept is not None and form.accept is not None and isinstance(form.list[form.accept], Constant):
        found.append(f"accept is always {_word(form, form.accept)}")
    if program.accept is None and not program.outputs:
        found.append("there is no accept and no output, so nothing can be asked")
    return found


def _word(form: Operations, index: int) -> str:
    one = form.list[index]
    return "true" if isinstance(one, Constant) and one.value else "false"
