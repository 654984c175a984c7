"""The exact shortest disagreement of two linear-top programs, by integer programs over trails of the guard automaton.

Source: programs note, section 3.5.
"""

from dataclasses import dataclass

from lengthwise.crasp.empty import at_zero
from lengthwise.verdict.cells import TooManyCells, differing_cells
from lengthwise.verdict.guards import Guards, Setting
from lengthwise.verdict.machine import Word
from lengthwise.verdict.trails import SolverFailed, Uses, shortest_trail, word_of

MOST_CELLS = 5_000
MOST_WRITTEN = 10_000_000


@dataclass(frozen=True)
class Solved:
    """A shortest disagreement, None for none, and how many integer programs stand behind the claim.

    With `programs` 0 no box was left to a solver: the claim is exact. A word of more than MOST_WRITTEN symbols is not
    written down; its length is known, and that it exists was checked in integers.
    """

    word: Word | None
    length: int | None
    programs: int


def shortest_disagreement(guards: Guards, most_cells: int = MOST_CELLS) -> Solved | None:
    """A shortest word on which two linear-top programs differ; None where this cannot be found out here.

    Every setting of last edges, every box on which the programs differ there, one integer program a box. That a word is a
    disagreement is certain, it is run; that none is shorter rests on the solver, which works in floating point.
    """
    values = at_zero(guards.pair.operations)
    if any(bool(values[left]) != bool(values[right]) for left, right in guards.pair.roots):
        return Solved((), 0, 0)
    settings: dict[Setting, list[int]] = {}
    for place, edge in enumerate(guards.edges):
        settings.setdefault(edge.setting, []).append(place)
    best: Uses | None = None
    programs = 0
    try:
        for setting, last_edges in settings.items():
            for box in differing_cells(guards, setting, most_cells):
                uses = shortest_trail(guards, last_edges, box, None if best is None else best.length)
                programs += 1
                best = best if uses is None else uses
    except (TooManyCells, SolverFailed):
        return None
    if best is None:
        return Solved(None, None, programs)
    return Solved(word_of(guards, best) if best.length <= MOST_WRITTEN else None, best.length, programs)
