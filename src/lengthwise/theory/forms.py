"""What a one-layer model and its target are on all strings of one ending: linear forms of the counts, and ratios of them.

For a fixed ending and residue every attention weight is a number, so a head's mass, what it brings to each hidden unit
and to the output, the two sides of the target's ratio and every condition are sums over the prefix types of a
coefficient times a count, plus what the suffix adds once:

    form(x) = sum over types t of coefficient[t] n_t + (number of suffixes, 1) own

A cell of strings is then a convex set of such vectors. Everything here is in float64; `rounding` bounds what that loses. Only conditions are exact.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from lengthwise.exact import power_reaches
from lengthwise.limit.model import LimitTransformer
from lengthwise.limit.tables import LogitTable, slots
from lengthwise.theory.frequency_target import FrequencyTarget, Table
from lengthwise.theory.rounding import float_loss
from lengthwise.theory.where import Row

Weight = float | None  # None: the type may not occur


@dataclass(frozen=True, eq=False)
class Forms:
    """The forms of one ending (the suffix, its residue, the weights it gives to types).

    types[form, residue, token] and own[form]: the coefficients. Forms stand in this order: for every head its mass, what
    it brings to the output straight and to every unit; then over and under of the target; then the conditions.
    unit, start: what the query itself brings to the units and to the output. readout: the weight of every unit.
    apart: how many tokens of the suffix are set apart; 0 if the last token is counted like the others.
    allowed[residue]: the tokens that may stand there.
    """

    suffix: tuple[int, ...]
    residue: int
    levels: tuple[int, ...]
    apart: int
    heads: int
    types: Float[np.ndarray, "forms period symbols"]
    own: Float[np.ndarray, " forms"]
    unit: Float[np.ndarray, " units"]
    start: float
    readout: Float[np.ndarray, " units"]
    bent: Float[np.ndarray, " units"]  # 1 for relu, 0 for the others
    curved: Float[np.ndarray, " units"]  # 1 for sin and tanh
    kinds: tuple[str, ...]
    target: FrequencyTarget
    tail: float
    allowed: tuple[tuple[int, ...], ...]
    rounding: float
    planes: tuple[Table, ...]  # the conditions exactly

    @property
    def period(self) -> int:
        """Number of residues."""
        return int(self.types.shape[1])

    @property
    def conditions(self) -> int:
        """How many conditions there are."""
        return len(self.planes)

    @property
    def always(self) -> bool:
        """Whether the lower side of the target's ratio is positive on every string of the ending."""
        ending = [(token, (self.residue - k) % self.period) for k, token in enumerate(reversed(self.suffix))]
        return any(self.target.under[token][residue] > 0 for token, residue in ending)

    def extra(self) -> tuple[int, ...]:
        """e_r = [1 <= r <= M mod period]: which classes have a position more than the others; M = n - apart."""
        over = (self.residue - self.apart) % self.period
        return tuple(int(1 <= r <= over) for r in range(self.period))


class FormMaker:
    """Makes the forms of a model and its target, ending by ending; what does not depend on the ending is made once."""

    def __init__(self, model: LimitTransformer, target: FrequencyTarget, rows: Sequence[Row] = ()) -> None:
        layer, mlp = model.layers[0], model.layers[0].mlp
        self.model, self.target = model, target
        self.planes = tuple(
            tuple(tuple(value + row.length for value in values) for values in row.counts) for row in rows
        )
        self.locality = max(model.locality, len(target.tail) - 1, 0)
        positional = any(head.has_suffix_term for head in layer.heads)
        self.apart = self.locality + 1 if positional or target.tail else 0
        self.tables = [LogitTable.of_head(model, head, self.locality) for head in layer.heads]
        self.rounding = float_loss(model, target, self.tables)
        wide = [np.asarray(array, dtype=np.float64) for array in (model.embedding, model.positions, model.unembedding)]
        self.vectors = wide[0][:, None, :] + wide[1][np.arange(target.period) % model.period]  # token, residue, width
        self.out = wide[2][0]
        self.kinds = () if mlp is None else mlp.activations
        width = model.width
        self.inner = np.zeros((0, width)) if mlp is None else np.asarray(mlp.inner, dtype=np.float64)
        self.bias = np.zeros(0) if mlp is None else np.asarray(mlp.bias, dtype=np.float64)
        outer = np.zeros((width, 0)) if mlp is None else np.asarray(mlp.outer, dtype=np.float64)
        self.readout = self.out @ outer
        self.values = [self.vectors @ np.asarray(head.value, dtype=np.float64).T for head in layer.heads]
        self.straight = [value @ self.out for value in self.values]
        self.inside = [value @ self.inner.T for value in self.values]
        self.numbers = len(layer.heads) * (2 + len(self.bias)) + 2 + len(rows)

    def plain(self, suffix: tuple[int, ...], residue: int) -> Forms:
        """Plain attention: weights exp(logit)."""
        weights = []
        for prefix, near, denominator in self.logits(suffix, residue):
            top = max([*prefix, *(logit for logit in near if logit is not None)])
            weights.append(([_exp(u, top, denominator) for u in prefix], [_exp(w, top, denominator) for w in near]))
        return self._made(suffix, residue, (), weights, self.apart)

    def at_length(self, suffix: tuple[int, ...], length: int, tops: tuple[int, ...] | None = None) -> Forms:
        """Either attention at one length, with the whole suffix set apart.

        tops: the largest logit that occurs, one a head; types with a larger one must not. Only log-length attention with
        bits asks for them: which weights are flushed depends on it.
        """
        bits, weights = self.model.bits, []
        for head, (prefix, near, denominator) in enumerate(self.logits(suffix, length % self.target.period)):
            given = [*prefix, *(logit for logit in near if logit is not None)]
            top = max(given) if tops is None else tops[head]

            def weight(logit: int | None, top: int = top, denominator: int = denominator) -> float:
                if logit is None or logit > top:
                    return 0.0
                gap = Fraction(top - logit, denominator)
                if self.model.attention == "plain":
                    return math.exp(-float(gap))
                if gap and bits is not None and power_reaches(length, gap, bits):
                    return 0.0
                return math.exp(-float(gap) * math.log(length))

            weights.append(([weight(u) for u in prefix], [weight(w) for w in near]))
        return self._made(suffix, length % self.target.period, (), weights, len(suffix))

    def tops(
        self, suffix: tuple[int, ...], length: int, tables: Int[np.ndarray, "tables period symbols"]
    ) -> Int[np.ndarray, "tables heads"]:
        """The place of the largest logit that occurs, one a head, among the head's logits in increasing order."""
        present = np.moveaxis(tables, 1, 2).reshape(len(tables), -1) > 0  # token * period + residue
        columns = []
        for prefix, near, _ in self.logits(suffix, length % self.target.period):
            order = self.listed(prefix, near)
            ranks = np.asarray([order.index(u) for u in prefix])
            least = max((order.index(w) for w in near if w is not None), default=0)
            columns.append(np.maximum(np.where(present, ranks, 0).max(1), least))
        return np.stack(columns, axis=1)

    def listed(self, prefix: Sequence[int], near: Sequence[int | None]) -> list[int]:
        """The different logits of a head, in increasing order."""
        return sorted({*prefix, *(w for w in near if w is not None)})

    def hard(self, suffix: tuple[int, ...], residue: int, levels: tuple[int, ...]) -> Forms | None:
        """Hard attention, every head at one of its levels; None if no string has these levels.

        Source: docs/certificate.md, section 8, roots.
        """
        weights, barred, wanted = [], set[int](), []
        for (prefix, near, _), level in zip(self.logits(suffix, residue), levels, strict=True):
            listed = self._levels(suffix, residue, prefix, near)
            chosen = listed[level]
            barred |= {t for t, u in enumerate(prefix) if u > chosen}
            if chosen > listed[-1]:
                wanted.append({t for t, u in enumerate(prefix) if u == chosen})
            weights.append(([float(u == chosen) for u in prefix], [float(w == chosen) for w in near]))
        made = self._made(suffix, residue, levels, weights, self.apart, frozenset(barred))
        if not all(made.allowed) or any(types <= barred for types in wanted):
            return None
        return made

    def level_counts(self, suffix: tuple[int, ...], residue: int) -> list[int]:
        """How many levels every head has for an ending."""
        return [len(self._levels(suffix, residue, p, w)) for p, w, _ in self.logits(suffix, residue)]

    def _levels(
        self, suffix: tuple[int, ...], residue: int, prefix: Sequence[int], near: Sequence[int | None]
    ) -> list[int]:
        """The logits that can be the largest: those of prefix types above the suffix's largest, and that one."""
        own = suffix[-1] * self.target.period + residue
        given = [w for w in near if w is not None] if self.apart else [prefix[own]]
        base = max(given) if given else min(prefix)
        return sorted({u for u in prefix if u >= base} | {base}, reverse=True)

    def logits(self, suffix: tuple[int, ...], residue: int) -> list[tuple[list[int], list[int | None], int]]:
        """For every head the logits of the prefix types (token * period + residue), of the suffix, their denominator."""
        found, last = [], len(suffix) - 1
        for table in self.tables:
            options = slots(table, suffix[-1], residue, self.target.period, last)
            near = [
                None if not given else given[key if offset else 0]
                for offset, (key, given) in enumerate(zip(reversed(suffix), options.suffix, strict=False))
            ]
            found.append((list(options.prefix), near, options.denominator))
        return found

    def _made(
        self,
        suffix: tuple[int, ...],
        residue: int,
        levels: tuple[int, ...],
        weights: list[tuple[list[float], list[float]]],
        apart: int,
        barred: frozenset[int] = frozenset(),
    ) -> Forms:
        symbols, period = self.target.symbols, self.target.period
        ending = [(token, (residue - k) % period) for k, token in enumerate(reversed(suffix))][:apart]
        rows, own = [], []

        def add(by_type: Any, of_suffix: float | np.ndarray) -> None:
            rows.append(np.asarray(by_type, dtype=np.float64).reshape(symbols, period, -1))
            own.append(np.atleast_1d(np.asarray(of_suffix, dtype=np.float64)))

        for (prefix, near), straight, inside in zip(weights, self.straight, self.inside, strict=True):
            weight = np.asarray(prefix).reshape(symbols, period, 1)
            add(weight, sum(near[:apart]))
            for by_type in (straight[..., None], inside):
                held = [by_type[place] * w for place, w in zip(ending, near, strict=False)]
                add(weight * by_type, sum(held, np.zeros(by_type.shape[-1])))
        for table in (self.target.over, self.target.under):
            add(_floats(table), float(sum(table[s][r] for s, r in ending)))
        for table in self.planes:
            add(_floats(table), float(sum(table[s][r] for s, r in ending)))
        query = self.vectors[suffix[-1], residue]
        allowed = tuple(tuple(s for s in range(symbols) if s * period + r not in barred) for r in range(period))
        kinds = np.asarray(self.kinds)
        return Forms(
            suffix,
            residue,
            levels,
            apart,
            len(weights),
            np.moveaxis(np.concatenate(rows, axis=2), 2, 0).swapaxes(1, 2).copy(),
            np.concatenate(own),
            self.inner @ query + self.bias,
            float(self.out @ query),
            self.readout,
            np.asarray(kinds == "relu", dtype=float).reshape(len(self.bias)),
            np.asarray((kinds == "sin") | (kinds == "tanh"), dtype=float).reshape(len(self.bias)),
            tuple(self.kinds),
            self.target,
            float(self.target.tail_of(suffix)),
            allowed,
            self.rounding,
            self.planes,
        )


def activated(kinds: tuple[str, ...], inputs: Float[np.ndarray, "*any units"]) -> Float[np.ndarray, "*any units"]:
    """The units after their activations; relu, sin, tanh or identity."""
    result: Float[np.ndarray, "*any units"] = np.array(inputs)
    for name, function in (("sin", np.sin), ("tanh", np.tanh), ("relu", lambda z: np.maximum(z, 0.0))):
        places = [index for index, kind in enumerate(kinds) if kind == name]
        if len(places) == len(kinds):
            result = function(result)
        elif places:
            result[..., places] = function(result[..., places])
    return result


def _exp(logit: int | None, top: int, denominator: int) -> float:
    """e^(logit - largest); 0 where masked."""
    return 0.0 if logit is None else math.exp(float(Fraction(logit - top, denominator)))


def _floats(table: Sequence[Sequence[Fraction]]) -> Float[np.ndarray, "symbols period"]:
    return np.asarray([[float(value) for value in row] for row in table])
