"""The largest error of a one-layer model over all strings of all lengths, between two proven ends, by branch and bound.

Short strings are looked at one by one; all longer ones lie in cells of frequencies, and the cell with the widest
enclosure is split until the claim is proved, refuted, or the ends are close.

Source: one-layer note, Lemma 3 and section 10; docs/certificate.md, section 8, which proves the enclosures. Ours.
"""

import heapq
import math
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

from lengthwise.errors import WrongInput
from lengthwise.limit.model import LimitTransformer
from lengthwise.theory.admitted import ATTACK, MOST_TABLES, Problem, admitted
from lengthwise.theory.cell_corners import Cells
from lengthwise.theory.cell_tree import UNIT, Node, Root, chosen_splits, divided, is_timed, possible, whole_cell
from lengthwise.theory.certified import Certified
from lengthwise.theory.forms import Forms
from lengthwise.theory.frequency_target import FrequencyTarget
from lengthwise.theory.leaf import enclosed
from lengthwise.theory.rounding import DEEPEST
from lengthwise.theory.short_strings import looked_at, number_of_tables
from lengthwise.theory.where import Condition, parse_where
from lengthwise.theory.witness import Best, near_corners

AT_ONCE = 256  # cells split in one round
FEW_TABLES = 20_000  # short strings that are looked at without being asked to
Report = Callable[["Progress"], None]


@dataclass(frozen=True)
class Progress:
    """How far a proof is: cells so far, the most there may be, and the bracket."""

    done: int
    total: int
    lower: float
    upper: float

    @property
    def note(self) -> str:
        """The bracket."""
        return f"worst error {self.lower:.4g} to {self.upper:.4g}"


@dataclass(frozen=True)
class Limits:
    """When to stop: ends closer than the tolerance (where no claim is asked for), or cells or seconds used up."""

    tolerance: float = 0.001
    most_cells: int = 200_000
    seconds: float = math.inf


DEFAULT = Limits()


def certify(
    model: LimitTransformer,
    task: Any,
    *,
    within: float | None = None,
    where: Condition | str | None = None,
    shortest: int | None = None,
    small: int | None = None,
    limits: Limits = DEFAULT,
    begun: Mapping[Any, list[Any]] | None = None,
    report: Report = lambda progress: None,
    stopped: Callable[[], bool] = lambda: False,
) -> Certified:
    """Bracket the largest error of a one-layer model over all strings:  lower <= sup |f(x) - T(x)| <= upper.

    task: a task whose target is a function of frequencies, or a FrequencyTarget. The supremum is over all strings of at
    least `shortest` tokens (the task's own shortest if None) that meet the condition `where`, of every length.
    within: stop as soon as "at most that much" is proved or refuted. small: shorter strings are looked at one by one
    (None: as many as is quickly done). begun: trees of an earlier proof, by root, to go on from.
    """
    target, least = target_of(task)
    least = least if shortest is None else max(least, shortest)
    if isinstance(where, str):
        where = parse_where(where, target.symbols, target.period)
    if within is not None and not (math.isfinite(within) and within >= 0):
        raise WrongInput("an error of 0 or more", f"{within}", "name the largest error allowed", "within")
    if not limits.tolerance > 0:
        raise WrongInput("a number above 0", f"{limits.tolerance}", "say how close the ends have to come", "tolerance")
    if math.isnan(limits.seconds):
        raise WrongInput("a number of seconds", "nan", "leave it out for no limit", "budget")
    problem = admitted(model, target, least, where)
    start = small_lengths(problem, small)
    best = Best(problem)
    for seen in looked_at(problem.maker, least, start, problem.holds):
        best.take(abs(seen.apart), seen.counts)
    listed = best.error + problem.maker.rounding if best.counts is not None else 0.0
    roots = [_root(forms, start, begun or {}) for forms in endings(problem)]
    for root in roots:
        near_corners(best, root, [root.node])
    reason = _split_until(roots, best, listed, within, limits, report, stopped)
    upper = max([listed, *(leaf.bound * UNIT for _, leaf in _leaves(roots))])
    witness = best.proven(limits.tolerance, within or 0.0)
    return Certified(problem, start, tuple(roots), witness, upper, within, reason)


def target_of(task: Any) -> tuple[FrequencyTarget, int]:
    """The target of a task as a function of frequencies, and the task's shortest length."""
    if isinstance(task, FrequencyTarget):
        return task, 1
    if not hasattr(task, "frequency_target"):
        name = getattr(task, "name", type(task).__name__)
        raise WrongInput("a task whose target is a function of frequencies (simple, modp, tail)", name, ATTACK, "task")
    return task.frequency_target(), task.shortest


def small_lengths(problem: Problem, small: int | None) -> int:
    """The length from which cells take over: n_0 of the certificate."""
    maker, period = problem.maker, problem.target.period
    timed = maker.apart > 0 or period > 1
    least = max(problem.shortest, maker.apart + period if timed else 1, problem.hard_from)
    symbols = problem.target.symbols
    if small is not None:
        least = max(least, small)
    elif timed and problem.model.attention == "plain":
        few = (symbols, period, maker.locality, problem.shortest)
        while least < 64 and number_of_tables(*few, least + 1, FEW_TABLES) < FEW_TABLES:
            least += 1
    many = number_of_tables(symbols, period, maker.locality, problem.shortest, least, MOST_TABLES)
    problem.check_tables(many, least)
    return least


def endings(problem: Problem) -> Iterator[Forms]:
    """The forms of every ending of a long string, for hard attention level by level."""
    maker, target = problem.maker, problem.target
    tokens = max(maker.apart, 1)
    for suffix in product(range(target.symbols), repeat=tokens):
        for residue in range(target.period):
            if problem.model.attention == "plain":
                yield maker.plain(suffix, residue)
                continue
            for levels in product(*map(range, maker.level_counts(suffix, residue))):
                forms = maker.hard(suffix, residue, levels)
                if forms is not None:
                    yield forms


def _root(forms: Forms, start: int, begun: Mapping[Any, list[Any]]) -> Root:
    """A root with its whole cell, or with the tree that an earlier proof has for it."""
    fewest = max(1, (start - forms.apart) // forms.period)
    timed = is_timed(forms)
    whole = whole_cell(forms, fewest)
    [node] = _evaluated(forms, whole, timed)
    root = Root(forms, timed, node)
    written = begun.get((forms.suffix, forms.residue, forms.levels))
    if written is not None:
        _grown(root, written)
    return root


def _grown(root: Root, written: list[Any]) -> None:
    """Splits a root as an earlier proof did; its leaves are evaluated anew."""
    waiting = [root.node]
    for entry in written:
        if not waiting:
            return
        node = waiting.pop()
        split = possible(root, node, entry)
        if split is not None and node.next is not None:
            node.next = split
            waiting.extend(reversed(_split(root, [node])))


def _evaluated(forms: Forms, cells: Cells, timed: bool) -> list[Node]:
    """A leaf for every cell, its enclosure rounded outward by more than floating point can have lost."""
    found = enclosed(forms, cells, timed)
    shape = (*(q.shape[1] for q in cells.vertices), 2 if timed else 1)
    splits = chosen_splits(forms, found, shape)
    reach = found.reach.tolist()
    lost = forms.rounding / UNIT + 1
    low, high = (
        [0 if nothing else end(value / UNIT + sign * lost) for value, nothing in zip(ends, found.nothing, strict=True)]
        for ends, end, sign in ((found.low.tolist(), math.floor, -1), (found.high.tolist(), math.ceil, 1))
    )
    return [
        Node(cells.pick(slice(i, i + 1)), low[i], high[i], int(found.face[i]), reach[i], splits[i])
        for i in range(len(cells))
    ]


def _split_until(
    roots: list[Root],
    best: Best,
    listed: float,
    within: float | None,
    limits: Limits,
    report: Report,
    stopped: Callable[[], bool],
) -> str:
    """Splits the cells of the largest bounds until a limit is met; says which."""
    queue = [(-leaf.bound, place, number, leaf) for number, (place, leaf) in enumerate(_leaves(roots))]
    heapq.heapify(queue)
    number, cells, begun = len(queue), sum(root.leaves for root in roots), time.monotonic()
    while True:
        upper = max(listed, -queue[0][0] * UNIT if queue else 0.0)
        report(Progress(cells, limits.most_cells, best.error, upper))
        enough = best.error + limits.tolerance if within is None else within
        if within is not None and best.error > within:
            return "refuted"
        if upper <= enough:
            return "done"
        if listed > enough or -queue[0][0] * UNIT <= enough:
            return "done" if within is None else "undecided"
        if cells >= limits.most_cells:
            return "cells"
        if time.monotonic() - begun > limits.seconds:
            return "seconds"
        if stopped():
            return "stopped"
        batch: dict[int, list[Node]] = {}
        for _ in range(min(AT_ONCE, len(queue))):
            if -queue[0][0] * UNIT <= enough:
                break
            _, place, _, leaf = heapq.heappop(queue)
            if leaf.next is None:
                listed = max(listed, leaf.bound * UNIT)
                continue
            batch.setdefault(place, []).append(leaf)
        for place, leaves in batch.items():
            root = roots[place]
            near_corners(best, root, leaves)
            for child in _split(root, leaves):
                number += 1
                heapq.heappush(queue, (-child.bound, place, number, child))
            cells += len(leaves)


def _leaves(roots: list[Root]) -> Iterator[tuple[int, Node]]:
    for place, root in enumerate(roots):
        for node in root.nodes():
            if node.split is None:
                yield place, node


def _split(root: Root, leaves: list[Node]) -> list[Node]:
    """Splits some leaves of one root as they said: the first children, then the second."""
    cells = Cells.joined([leaf.cell for leaf in leaves])
    splits = [leaf.next for leaf in leaves if leaf.next is not None]
    found = _evaluated(root.forms, divided(cells, splits), root.timed)
    for place, (leaf, split) in enumerate(zip(leaves, splits, strict=True)):
        leaf.split, leaf.children = split, (found[place], found[place + len(leaves)])
        for child in leaf.children:
            child.depth = leaf.depth + 1
            child.next = child.next if child.depth < DEEPEST else None
    root.leaves += len(leaves)
    return found
