"""What the first layer of a model sees, as exact tables over types: vectors, logits, and the slots of a query.

A type is a pair (token, residue) with code token * period + residue; its vector is embedding[token] +
positions[residue], a sum of rationals. Weights are floats, hence dyadic rationals, so every table is exact.
"""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from lengthwise.errors import WrongInput
from lengthwise.exact import RationalMatrix, common_denominator, rational_matrix
from lengthwise.limit.model import Head, LimitTransformer


def exact(array: Any) -> RationalMatrix:
    """A weight matrix as the rationals it stores."""
    return rational_matrix(np.asarray(array))


def type_vectors(model: LimitTransformer) -> RationalMatrix:
    """One row a type: e_(s,r) = E_s + p_r, before the first layer."""
    embedding, positions = np.asarray(model.embedding), np.asarray(model.positions)
    return exact(np.repeat(embedding, model.period, axis=0)) + exact(np.tile(positions, (model.symbols, 1)))


def head_values(head: Head, types: RationalMatrix) -> RationalMatrix:
    """One row a type: V e_t."""
    return types * exact(head.value).transpose()


def content_logits(head: Head, types: RationalMatrix) -> RationalMatrix:
    """One row a query type, one column a key type: (K e_key) . (Q e_query)."""
    return (types * exact(head.query).transpose()) * (types * exact(head.key).transpose()).transpose()


@dataclass(frozen=True)
class LogitTable:
    """The exact logits of one first-layer head: content[query type][key type] / denominator, phi[offset] / denominator.

    phi runs over the offsets 0..locality; None stands for -inf, a masked offset. Beyond it phi is 0.
    """

    content: tuple[tuple[int, ...], ...]
    phi: tuple[int | None, ...]
    denominator: int
    symbols: int
    period: int

    @classmethod
    def of_fractions(
        cls, content: Sequence[Sequence[Fraction | int]], phi: Sequence[Fraction | int | None], period: int = 1
    ) -> "LogitTable":
        """A table from rationals: content[query type][key type], then phi for the offsets 0, 1, ..."""
        plain = [*itertools.chain(*content), *(value for value in phi if value is not None)]
        denominator = math.lcm(1, *(Fraction(value).denominator for value in plain))
        return cls(
            tuple(tuple(int(value * denominator) for value in row) for row in content),
            tuple(None if value is None else int(value * denominator) for value in phi),
            denominator,
            len(content) // period,
            period,
        )

    @classmethod
    def of_head(cls, model: LimitTransformer, head: Head, locality: int) -> "LogitTable":
        """The table of a first-layer head of the model, phi padded with 0 to the locality."""
        content, denominator = common_denominator(content_logits(head, type_vectors(model)))
        phi = exact_phi(head, locality)
        common = math.lcm(denominator, *(value.denominator for value in phi if value is not None))
        factor = common // denominator
        return cls(
            tuple(tuple(row) if factor == 1 else tuple(value * factor for value in row) for row in content),
            tuple(None if value is None else int(value * common) for value in phi),
            common,
            model.symbols,
            model.period,
        )

    @property
    def locality(self) -> int:
        """The largest offset phi is given for."""
        return len(self.phi) - 1


def exact_phi(head: Head, locality: int) -> tuple[Fraction | None, ...]:
    """Phi of the offsets 0..locality as rationals, 0 beyond its end, None where masked."""
    kept = [float(value) for value in np.asarray(head.phi)[: locality + 1]]
    padded = kept + [0.0] * (locality + 1 - len(kept))
    return tuple(None if math.isinf(value) else Fraction(value) for value in padded)


def logit_tables(model: LimitTransformer) -> tuple[LogitTable, ...]:
    """The exact logit tables of the first-layer heads; needs log-length or plain attention, where logits are sums."""
    if model.attention == "log-suffix":
        raise WrongInput(
            "attention whose logit is content + phi (log-length or plain)",
            "log-suffix",
            "ask for the position margin instead",
            "attention",
        )
    if model.depth != 1:
        raise WrongInput(
            "a model with one layer", f"{model.depth} layers", "later layers have no finite table of logits", "layers"
        )
    return tuple(LogitTable.of_head(model, head, model.locality) for head in model.layers[0].heads)


@dataclass(frozen=True)
class Slots:
    """All logits one head can give to one query type (y, i), slot by slot, as numerators over one denominator.

    prefix[t] is the logit of type t (phi = 0); the types of one residue are the options of one slot.
    suffix[k] are the options of offset k, one a token; offset 0 has one, the query's own token; a masked offset none.
    """

    prefix: tuple[int, ...]
    suffix: tuple[tuple[int, ...], ...]
    denominator: int
    period: int

    @property
    def floor(self) -> int:
        """Beta = max over slots of the least option: the largest logit of a long string is never below it."""
        classes = [min(self.prefix[residue :: self.period]) for residue in range(self.period)]
        return max(classes + [min(options) for options in self.suffix if options])

    def exact(self, numerator: int) -> Fraction:
        """An option as a rational."""
        return Fraction(numerator, self.denominator)


def slots(table: LogitTable, token: int, residue: int, period: int | None = None, locality: int | None = None) -> Slots:
    """The slots of a head for the query type (token, residue); a larger common period or locality lifts them.

        prefix class r:  u(s, r) = content((s, r), (y, i))
        offset k = 1..locality:  w(k) = content((s, i - k), (y, i)) + phi(k), any token s;   offset 0:  s = y.

    Source: one-layer note, section 2. Ours: a masked offset has no options, it is never attended and never second.
    """
    own, shared = table.period, period or table.period
    if shared % own:
        raise WrongInput(f"a multiple of the period {own}", f"{shared}", "pass a common multiple", "period")
    row = table.content[token * own + residue % own]
    prefix = tuple(row[s * own + r % own] for s in range(table.symbols) for r in range(shared))
    last = table.locality if locality is None else max(locality, table.locality)
    phi = table.phi + (0,) * (last - table.locality)
    suffix = tuple(
        ()
        if shift is None
        else tuple(
            row[s * own + (residue - offset) % own] + shift for s in (range(table.symbols) if offset else (token,))
        )
        for offset, shift in enumerate(phi)
    )
    return Slots(prefix, suffix, table.denominator, shared)
