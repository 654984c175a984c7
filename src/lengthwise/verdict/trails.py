"""Words as trails: how often each edge is used, when such numbers belong to a word, and the word.

Numbers z of uses belong to a trail from the start to a state u iff at every state v

    out_z(v) - in_z(v) = [v = start] - [v = u]

and every used edge is connected to the start by used edges (Euler). The first is linear; the second is imposed by
branching where a solution violates it: of a part S that is cut off, either no edge is used, or the flow that enters S
is at least 1. Both exclude the solution, and every trail satisfies one of them.

Source: programs note, section 3.2; Hierholzer 1873.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lengthwise.verdict.cells import Box
from lengthwise.verdict.guards import Edge, Guards

SECONDS = 60  # for one integer program
LARGEST = 2**31  # coefficients and thresholds beyond are not given to a solver in floating point

Branch = tuple[tuple[frozenset[int], bool], ...]  # sets of states, and whether they are entered (else left alone)


class SolverFailed(Exception):
    """The solver gave no answer, or one that is not to be trusted."""


@dataclass(frozen=True)
class Uses:
    """How often each edge is used before the last one, and the last edge."""

    before: tuple[int, ...]
    last: int

    @property
    def length(self) -> int:
        """The length of the word."""
        return sum(self.before) + 1


def shortest_trail(guards: Guards, last_edges: Sequence[int], box: Box, shorter_than: int | None) -> Uses | None:
    """The fewest edges of a word that ends with one of some edges, its forms in a box; None where there is none.

    Only words shorter than a given length are looked for.
    """
    best: Uses | None = None
    ahead: list[Branch] = [()]
    while ahead:
        branch = ahead.pop()
        below = shorter_than if best is None else best.length
        uses = _solve(guards, last_edges, box, below, branch)
        if uses is None:
            continue
        apart = _cut_off(guards, uses)
        if apart is None:
            best = uses
        else:
            ahead += [(*branch, (apart, True)), (*branch, (apart, False))]
    return best


def _solve(
    guards: Guards, last_edges: Sequence[int], box: Box, shorter_than: int | None, branch: Branch
) -> Uses | None:
    """One integer program: uses of all edges, then a 0-1 choice of the last one."""
    from scipy import optimize, sparse

    edges, lasts = guards.edges, [guards.edges[place] for place in last_edges]
    count, width = len(edges), len(guards.edges) + len(lasts)
    rows: list[tuple[list[int], list[int], float, float]] = []  # columns, coefficients, low, high
    for state in range(guards.states):
        columns, weights = [], []
        for place, edge in enumerate(edges):
            if (weight := (edge.source == state) - (edge.target == state)) != 0:
                columns.append(place)
                weights.append(weight)
        chosen = [count + place for place, edge in enumerate(lasts) if edge.source == state]
        right = float(state == 0)
        rows.append((columns + chosen, weights + [1] * len(chosen), right, right))
    rows.append((list(range(count, width)), [1] * len(lasts), 1.0, 1.0))
    for form, (low, high) in enumerate(box):
        if low is None and high is None:
            continue
        if max(abs(low or 0), abs(high or 0), guards.step) >= LARGEST:
            raise SolverFailed
        every = [*edges, *lasts]
        columns = [place for place, edge in enumerate(every) if edge.increments[form]]
        weights = [every[place].increments[form] for place in columns]
        rows.append((columns, weights, -np.inf if low is None else low, np.inf if high is None else high))
    if shorter_than is not None:
        rows.append((list(range(count)), [1] * count, -np.inf, shorter_than - 2))
    upper = np.full(width, np.inf)
    upper[count:] = 1
    for states, entered in branch:
        if entered:
            into = [p for p, edge in enumerate(edges) if edge.target in states and edge.source not in states]
            rows.append((into, [1] * len(into), 1.0, np.inf))
        else:
            upper[[p for p, edge in enumerate(edges) if edge.source in states or edge.target in states]] = 0
    data = [weight for _, weights, _, _ in rows for weight in weights]
    at = ([number for number, row in enumerate(rows) for _ in row[0]], [c for columns, *_ in rows for c in columns])
    matrix = sparse.csr_array((np.array(data, dtype=float), at), shape=(len(rows), width))
    cost = np.concatenate([np.ones(count), np.zeros(len(lasts))])
    found: Any = optimize.milp(
        cost,
        integrality=np.ones(width),
        bounds=optimize.Bounds(np.zeros(width), upper),
        constraints=optimize.LinearConstraint(matrix, [row[2] for row in rows], [row[3] for row in rows]),
        options={"mip_rel_gap": 0, "time_limit": SECONDS},
    )
    if found.status == 2:
        return None
    if found.status != 0 or found.x is None or float(np.abs(found.x).max()) >= LARGEST:
        raise SolverFailed
    whole = [round(float(value)) for value in found.x]
    uses = Uses(tuple(whole[:count]), last_edges[whole[count:].index(1)])
    _check(guards, uses, box)
    return uses


def _check(guards: Guards, uses: Uses, box: Box) -> None:
    """Refuses a rounded solution that is none, in exact arithmetic; connection is asked for elsewhere."""
    every = [*zip(guards.edges, uses.before, strict=True), (guards.edges[uses.last], 1)]
    for form, (low, high) in enumerate(box):
        value = sum(times * edge.increments[form] for edge, times in every)
        if (low is not None and value < low) or (high is not None and value > high):
            raise SolverFailed
    balance = [0] * guards.states
    for edge, times in every[:-1]:
        balance[edge.source] += times
        balance[edge.target] -= times
    balance[0] -= 1
    balance[guards.edges[uses.last].source] += 1
    if any(balance) or min(uses.before, default=0) < 0:
        raise SolverFailed


def _cut_off(guards: Guards, uses: Uses) -> frozenset[int] | None:
    """The states of a part of the used edges that is not connected to the start; None where there is none."""
    used = [edge for edge, times in zip(guards.edges, uses.before, strict=True) if times]
    beside: dict[int, set[int]] = {0: set()}
    for edge in used:
        beside.setdefault(edge.source, set()).add(edge.target)
        beside.setdefault(edge.target, set()).add(edge.source)

    def part(state: int) -> frozenset[int]:
        found, ahead = {state}, [state]
        while ahead:
            for one in beside[ahead.pop()]:
                if one not in found:
                    found.add(one)
                    ahead.append(one)
        return frozenset(found)

    connected = part(0)
    apart = sorted(set(beside) - connected)
    return part(apart[0]) if apart else None


def word_of(guards: Guards, uses: Uses) -> tuple[int, ...]:
    """The symbols of a trail that uses every edge as often as told, from the start, and then the last edge."""
    left = list(uses.before)
    leaving: dict[int, list[int]] = {}
    for place, edge in enumerate(guards.edges):
        leaving.setdefault(edge.source, []).append(place)
    path: list[tuple[int, Edge | None]] = [(0, None)]
    found: list[int] = []
    while path:
        state, through = path[-1]
        while leaving.get(state) and not left[leaving[state][-1]]:
            leaving[state].pop()
        if leaving.get(state):
            place = leaving[state][-1]
            left[place] -= 1
            path.append((guards.edges[place].target, guards.edges[place]))
        else:
            path.pop()
            if through is not None:
                found.append(through.symbol)
    return (*reversed(found), guards.edges[uses.last].symbol)
