"""Staying within a condition on counts: a point well inside it for each length and ending, and the way back to it."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from jaxtyping import Float, Real

from lengthwise.theory.count_space import CountSpace, select
from lengthwise.type_counts import Statistics

Centre = Float[np.ndarray, " types"]


@dataclass
class Inside:
    """The relaxed tables that meet a space's condition: a convex set for each length and ending."""

    space: CountSpace
    centres: dict[tuple[int, ...], Centre | None] = field(default_factory=dict)

    def values(self, tables: Statistics) -> Float[np.ndarray, "rows batch"]:
        """The left sides of the condition's rows, >= 0 where they hold, as floats."""
        assert self.space.where is not None
        rows = np.asarray([row.whole for row in self.space.where.rows], dtype=float)
        rows = rows / np.maximum(1.0, np.abs(rows[:, :-1]).max(axis=1, keepdims=True))
        return np.asarray(rows[:, :-2] @ self.space.whole(tables) + rows[:, -2:-1] * tables.length + rows[:, -1:])

    def within(
        self,
        tables: Statistics,
        centres: Real[np.ndarray, "types batch"],
        margin: float | Float[np.ndarray, " batch"] = 0.0,
    ) -> Statistics:
        """The tables moved straight towards their centres until they meet the condition.

        Rows are linear: with value g at the table and h > 0 at the centre, a share h / (h - g) of the way back from the
        centre is on the row. margin: a further share of the way, for what rounding moves.
        """
        if self.space.where is None:
            return tables
        here, there = self.values(tables), self.values(Statistics(tables.length, centres, tables.suffix))
        there = np.maximum(there, 0.0)
        share = np.where(here < 0, there / np.where(here < 0, there - here, 1.0), 1.0).min(axis=0, initial=1.0)
        moved = centres + (1 - margin) * share * (tables.prefix - centres)
        return Statistics(tables.length, moved, tables.suffix)

    def centred(self, tables: Statistics) -> tuple[Statistics, Float[np.ndarray, "types batch"]]:
        """The tables whose length and ending leave room within the condition, and a centre for each."""
        if self.space.where is None:
            return tables, np.zeros_like(tables.prefix, dtype=float)
        found: list[Any] = []
        for place in range(len(tables.length)):
            key = (int(tables.length[place]), *map(int, tables.suffix[:, place]))
            if key not in self.centres:
                self.centres[key] = self._centre(select(tables, np.asarray([place])))
            found.append(self.centres[key])
        kept = np.asarray([place for place, centre in enumerate(found) if centre is not None], dtype=int)
        if not len(kept):
            return select(tables, kept), np.zeros((len(tables.prefix), 0))
        return select(tables, kept), np.stack([found[place] for place in kept], axis=1)

    def _centre(self, one: Statistics) -> Centre | None:
        """The point whose least row is largest, by a linear program; it only steers. None where nothing is inside."""
        from scipy.optimize import linprog

        types, period = len(one.prefix), self.space.period
        empty = Statistics(one.length, np.zeros_like(one.prefix, dtype=float), one.suffix)
        base = self.values(empty)[:, 0]
        columns = np.stack(
            [self.values(Statistics(one.length, np.eye(types)[:, [t]], one.suffix))[:, 0] - base for t in range(types)],
            axis=1,
        )
        scale = float(one.length[0])
        least = np.hstack([-columns * scale, np.ones((len(base), 1))])
        classes = np.hstack([np.eye(period)[np.arange(types) % period].T, np.zeros((period, 1))])
        sizes = self.space.sizes(one.length)[:, 0] / scale
        found = linprog(
            [0.0] * types + [-1.0],
            A_ub=least,
            b_ub=base,
            A_eq=classes,
            b_eq=sizes,
            bounds=[(0, None)] * types + [(None, scale)],
        )
        if found.status != 0 or found.x[-1] < -1e-9 * scale:
            return None
        return np.asarray(np.maximum(found.x[:-1], 0.0) * scale)
