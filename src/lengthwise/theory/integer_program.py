"""The shortest prefix as an integer program: whole counts by type, as few per class as the allowed errors permit.

Variables: m_t, how often type t stands in the short prefix, and Z, its class size. In class r the m_t sum to
Z + C_r - C. Accuracy is linear because every condition on a mean is multiplied by the attended mass
M = sum over attended types of m_t, plus the attended suffix positions.

Solved by HiGHS in floating point. So a solution is only a proposal, checked exactly by whoever asked for it, and the
solver's bound on what is optimal is numerical, never a proof.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil, inf

import numpy as np

from lengthwise.type_counts import class_size

NODES = 200_000  # of the branch and bound tree; a limit in seconds would make answers depend on the machine
_SLACK = 1e-6  # the solver's own tolerance on a dual bound of whole numbers


@dataclass(frozen=True)
class Proposal:
    """What the solver proposes: counts by type, and the least class size it says is possible (numerical).

    table is None where it says that there is none, or found none within its limit (`finished` tells which).
    """

    table: tuple[int, ...] | None
    bound: int
    finished: bool


@dataclass
class Program:
    """An integer program for one long prefix, to which conditions on attention are added.

    table: the long prefix by type code token * period + residue; allowed: the types that may occur in the short one;
    smallest, largest: the class sizes Z to choose from.
    """

    table: Sequence[int]
    period: int
    allowed: Sequence[int]
    smallest: int
    largest: int
    _rows: list[tuple[dict[int, float], float, float]] = field(default_factory=list)
    _slacks: int = 0

    def __post_init__(self) -> None:
        """The class sums: sum_s m_(s,r) - Z = C_r - C for every residue r."""
        self._place = {t: index + 1 for index, t in enumerate(self.allowed)}  # Z is variable 0
        prefix = sum(self.table)
        for residue in range(self.period):
            more = class_size(prefix, residue, self.period) - prefix // self.period
            members = {place: 1.0 for t, place in self._place.items() if t % self.period == residue}
            self._rows.append(({0: -1.0} | members, more, more))

    def present(self, types: Iterable[int]) -> None:
        """At least one of these types occurs: sum m_t >= 1."""
        self._rows.append(({self._place[t]: 1.0 for t in types}, 1, inf))

    def slack(self) -> int:
        """A new variable >= 0."""
        self._slacks += 1
        return len(self.allowed) + self._slacks

    def at_most(self, weights: Mapping[int, float], slacks: Mapping[int, float], limit: float) -> None:
        """Sum of weights[t] m_t plus the weighted slacks is at most a limit."""
        row = {self._place[t]: weight for t, weight in weights.items() if weight}
        self._rows.append((row | dict(slacks), -inf, limit))

    def solve(self) -> Proposal:
        """Minimises Z. The same program always gets the same answer: one thread, a limit on nodes, none on time."""
        from scipy.optimize import Bounds, LinearConstraint, milp
        from scipy.sparse import coo_array

        width = 1 + len(self.allowed) + self._slacks
        entries = [
            (row, place, value) for row, (found, _, _) in enumerate(self._rows) for place, value in found.items()
        ]
        rows, places, values = zip(*entries, strict=True)
        matrix = coo_array((values, (rows, places)), shape=(len(self._rows), width)).tocsr()
        prefix = sum(self.table)
        ceilings = [
            float(self.largest + class_size(prefix, t % self.period, self.period) - prefix // self.period)
            for t in self.allowed
        ]
        found = milp(
            c=np.eye(1, width)[0],
            constraints=LinearConstraint(
                matrix, [low for _, low, _ in self._rows], [high for _, _, high in self._rows]
            ),
            bounds=Bounds(
                np.array([float(self.smallest)] + [0.0] * (width - 1)),
                np.array([float(self.largest), *ceilings] + [np.inf] * self._slacks),
            ),
            integrality=np.array([1] * (1 + len(self.allowed)) + [0] * self._slacks),
            options={"node_limit": NODES, "mip_rel_gap": 0.0},
        )
        if found.status == 2:  # infeasible
            return Proposal(None, self.largest + 1, True)
        dual = found.mip_dual_bound
        bound = self.smallest if dual is None or not np.isfinite(dual) else ceil(dual - _SLACK)
        if found.x is None:
            return Proposal(None, bound, False)
        counts = np.rint(found.x[1 : 1 + len(self.allowed)]).astype(np.int64)
        table = [0] * len(self.table)
        for t, count in zip(self.allowed, counts.tolist(), strict=True):
            table[t] = count
        return Proposal(tuple(table), max(bound, self.smallest), found.status == 0)
