"""A trained model on a declared grid of logits, where ties can happen and the logit margin means something."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

from lengthwise.errors import WrongInput, shown
from lengthwise.exact import Ball
from lengthwise.limit.model import LimitTransformer
from lengthwise.limit.sensitivity import Sensitivity, sensitivity
from lengthwise.limit.table_form import table_form
from lengthwise.limit.tables import LogitTable, Slots, slots

_MOST_BITS = 1000


@dataclass(frozen=True, eq=False)
class Rounded:
    """A model whose first-layer logits are multiples of 2^-bits, and what that changed.

    logit_change: the largest |new - old| over all first-layer logits content + phi, exact. For one-layer models head_changes has it
    head by head, spreads the largest distance between two logits of one query (old or new), sensitivities L.
    """

    model: LimitTransformer
    logit_change: Fraction
    head_changes: tuple[Fraction, ...]
    spreads: tuple[Fraction, ...]
    sensitivities: tuple[Sensitivity, ...] | None

    def error_at(self, length: int) -> float:
        """A proven bound of the change of the output (largest coordinate) at a length, rounded up.

            sum_h L_h tanh(delta_h s / 2),   s = 1 for plain and ln(length) for log-length attention

        delta_h is the change of head h's logits; infinity where `why_unbounded` says why.
        """
        if self.why_unbounded(length) is not None:
            return math.inf
        result = Ball.of(0)
        for slope, change in zip(self.sensitivities or (), self.head_changes, strict=True):
            if change == 0 or slope == 0:
                continue
            half = Ball.of(change / 2) * self._stretch(length)
            # Proof. All logits move by at most d = delta_h s, so the weights q_i of the new law are p_i r_i / sum p r
            # with r_i in [e^-d, e^d]. The mass q(A) of a set grows with r on A and shrinks with r elsewhere, so
            # TV = max_A q(A) - p(A) is largest for r = e^d on A and e^-d elsewhere: with x = p(A) and R = e^2d,
            # TV <= x R / (x R + 1 - x) - x, whose maximum, at x = 1 / (1 + sqrt R), is (sqrt R - 1) / (sqrt R + 1)
            # = tanh(d / 2). Old and new law sit on the positions of one string; Lemma 3 turns TV into output.
            result = result + slope * half.apply("tanh")
        return result.upper()

    def why_unbounded(self, length: int) -> str | None:
        """Why there is no bound of the change at a length, in words; None if there is one."""
        if self.sensitivities is None:
            return "only models with one layer have a proven bound; measure deeper ones"
        for slope, change, spread in zip(self.sensitivities, self.head_changes, self.spreads, strict=True):
            if change == 0 or slope == 0:
                continue
            if self.model.attention == "log-suffix":
                return "a change of phi grows with the position under log-suffix attention"
            if slope == math.inf:
                return "a Heaviside step can turn any change into a jump"
            if self.model.bits is not None and not self._keeps_all(spread, length):
                return f"weights below 2^-{self.model.bits} may be flushed in one model and not in the other"
        return None

    def _keeps_all(self, spread: Fraction, length: int) -> bool:
        """No flush: length^-spread > 2^-bits for the smallest weight there can be."""
        bits = self.model.bits or 0
        return (spread * Ball.of(length).apply("log")).certainly_less(bits * Ball.of(2).apply("log"))

    def _stretch(self, length: int) -> Ball:
        return Ball.of(length).apply("log") if self.model.attention == "log-length" else Ball.of(1)


def round_to_grid(model: LimitTransformer, bits: int) -> Rounded:
    """The model with every logit of its first layer rounded to a multiple of 2^-bits; then the margin is >= 2^-bits.

    Float weights almost never tie, so the exact margin of a trained model is tiny and its hardmax length astronomic.
    Rounding key and query would not put their products on a grid, so the first layer reads one-hot codes of token and
    residue, kept in fresh coordinates before the old ones, through a table: with codes c = (token, residue),

        content(key, query) = sum over a in {token, residue} of the key, b in {token, residue} of the query of T[a, b]

    T is K^T Q between embeddings and positions, computed exactly and rounded entry by entry; phi is rounded too. All
    other weights act on the old coordinates as before, so nothing else changes, not even in the last bit.
    """
    if isinstance(bits, bool) or not isinstance(bits, int) or not 0 <= bits <= _MOST_BITS:
        raise WrongInput(f"a whole number of bits from 0 to {_MOST_BITS}", shown(bits), "20 is usual", "bits")
    rounded = table_form(model, bits)
    compared = [_compare(old, new) for old, new in _tables(model, rounded)]
    changes = tuple(change for change, _ in compared)
    return Rounded(
        model=rounded if any(changes) else _with_declared(rounded, model),
        logit_change=max(changes, default=Fraction(0)),
        head_changes=changes,
        spreads=tuple(spread for _, spread in compared),
        sensitivities=sensitivity(model) if model.depth == 1 else None,
    )


def _with_declared(rounded: LimitTransformer, model: LimitTransformer) -> LimitTransformer:
    """Declared spreads and diameters were proven for the old model: they stay only if no logit changed."""
    layers = tuple(
        replace(
            new,
            heads=tuple(
                replace(head, known_spread=source.known_spread, known_diameter=source.known_diameter)
                for head, source in zip(new.heads, old.heads, strict=True)
            ),
        )
        for new, old in zip(rounded.layers, model.layers, strict=True)
    )
    return replace(rounded, layers=layers)


def _tables(model: LimitTransformer, rounded: LimitTransformer) -> Iterator[tuple[LogitTable, LogitTable]]:
    locality = model.layers[0].locality
    for old, new in zip(model.layers[0].heads, rounded.layers[0].heads, strict=True):
        yield LogitTable.of_head(model, old, locality), LogitTable.of_head(rounded, new, locality)


def _compare(old: LogitTable, new: LogitTable) -> tuple[Fraction, Fraction]:
    """The largest change of a logit, and the largest distance between two logits of one query, old or new."""
    change = before_spread = after_spread = 0
    for token in range(old.symbols):
        for residue in range(old.period):
            before, after = (_options(slots(table, token, residue)) for table in (old, new))
            before_spread = max(before_spread, max(before) - min(before))
            after_spread = max(after_spread, max(after) - min(after))
            moves = (a * old.denominator - b * new.denominator for b, a in zip(before, after, strict=True))
            change = max(change, max(map(abs, moves)))
    spread = max(Fraction(before_spread, old.denominator), Fraction(after_spread, new.denominator))
    return Fraction(change, old.denominator * new.denominator), spread


def _options(query: Slots) -> list[int]:
    return [*query.prefix, *(value for slot in query.suffix for value in slot)]
