"""The guard automaton of two linear-top programs: what is counted, read by finitely many states.

Inside counts only thresholds on forms that never decrease occur, so the truth of every counted Boolean depends on a
finite state. An edge (state, symbol) adds a fixed increment to each form tested at the top, and on it what the programs
say is a Boolean combination of literals F >= c alone.

Source: programs note, section 3.1.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from lengthwise.crasp.operations import AtLeastZero, Operations, RecentTally, Tally, inputs
from lengthwise.verdict.forms import Form, Test, forms_of
from lengthwise.verdict.pair import Pair
from lengthwise.verdict.steps import Steps

MOST_STATES = 3_000

Literal = tuple[int, int, bool]  # form, threshold c, and whether F >= c is meant (else F <= c - 1)


@dataclass(frozen=True)
class Setting:
    """What is known on an edge, apart from the forms: Booleans at the top that are settled, literals for the others."""

    settled: tuple[tuple[int, bool], ...]
    literals: tuple[tuple[int, Literal], ...]


@dataclass(frozen=True)
class Edge:
    """A step of the automaton: by a symbol from a state to a state, with the increment of each form."""

    source: int
    target: int
    symbol: int
    increments: tuple[int, ...]
    setting: Setting


@dataclass(frozen=True)
class Guards:
    """The automaton, its state 0 being the start; the forms tested at the top; and the operations there, in order."""

    pair: Pair
    states: int
    edges: tuple[Edge, ...]
    forms: tuple[Form, ...]
    top: tuple[int, ...]

    @property
    def step(self) -> int:
        """The largest increment of a form on an edge, in absolute value."""
        return max((abs(one) for edge in self.edges for one in edge.increments), default=0)

    @property
    def constant(self) -> int:
        """The largest |c| among literals F >= c, F <= c and their negations."""
        found = {c for edge in self.edges for _, (_, c, _) in edge.setting.literals}
        return max((max(abs(c), abs(c - 1)) for c in found), default=0)

    @property
    def tests_last_letter(self) -> bool:
        """Whether what is said at the top depends on the edge."""
        return len({edge.setting for edge in self.edges}) > 1


def guard_automaton(pair: Pair, most_states: int = MOST_STATES) -> Guards | None:
    """The guard automaton of two linear-top programs; None where it has too many states."""
    listed = pair.operations
    top = top_operations(listed, [root for both in pair.roots for root in both])
    forms, tests = forms_of(listed, top)
    leaves = [index for index in top if not list(inputs(listed.list[index])) or _without_form(listed, index, tests)]
    counted = [index for form in forms for _, index in form.terms]
    recent = [index for test in tests.values() for _, index in test.recent]
    steps = Steps(listed, [*counted, *recent, *leaves])
    rows = steps.start()
    numbers = {rows.tobytes(): 0}
    edges: list[Edge] = []
    first = 0
    while len(rows):
        after, truth = steps.step(rows)
        before = np.repeat(rows, steps.symbols, axis=0)
        held = {index: steps.recent(index, before, truth) for index in recent}
        new: list[int] = []
        for place in range(len(after)):
            target = numbers.setdefault(after[place].tobytes(), len(numbers))
            if target == first + len(rows) + len(new):
                new.append(place)
            increments = tuple(sum(k * int(truth[index][place]) for k, index in form.terms) for form in forms)
            settled = tuple((index, bool(truth[index][place])) for index in leaves)
            literals = tuple(
                (index, literal(test, sum(k * int(held[one][place]) for k, one in test.recent)))
                for index, test in tests.items()
                if test.form is not None
            )
            source, symbol = divmod(place, steps.symbols)
            edges.append(Edge(first + source, target, symbol, increments, Setting(settled, literals)))
        if len(numbers) > most_states:
            return None
        first += len(rows)
        rows = after[new]
    return Guards(pair, len(numbers), tuple(edges), forms, top)


def top_operations(listed: Operations, roots: Iterable[int]) -> tuple[int, ...]:
    """The operations that some Booleans rest on outside every count, ascending."""
    found: set[int] = set()
    ahead = list(roots)
    while ahead:
        index = ahead.pop()
        if index not in found and not isinstance(listed.list[index], (Tally, RecentTally)):
            found.add(index)
            ahead += inputs(listed.list[index])
    return tuple(sorted(found))


def _without_form(listed: Operations, index: int, tests: dict[int, Test]) -> bool:
    return isinstance(listed.list[index], AtLeastZero) and tests[index].form is None


def literal(test: Test, recent: int) -> Literal:
    """A test with its recent counts known:  g F + r >= 0  is  F >= ceil(-r / g)  for g > 0, else  F <= floor(r / -g)."""
    assert test.form is not None
    rest = test.constant + recent
    if test.factor > 0:
        return test.form, -(rest // test.factor), True
    return test.form, rest // -test.factor + 1, False
