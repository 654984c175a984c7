"""What the theorems of kind `length` need to know of a model: sensitivities, slots of logits, margins, spreads."""

from dataclasses import dataclass
from fractions import Fraction
from math import prod
from operator import mul

from .model import Head, Model, Type, times
from .reader import MOST_WORK, Refused, Unreadable

# Twice the middle and twice the radius of the slopes of an activation; a heaviside step has none.
SLOPES = {"relu": (1, 1), "tanh": (1, 1), "sin": (0, 2), "identity": (2, 0), "heaviside": (0, 0)}


def types(model: Model) -> list[Type]:
    """Every (token, residue) of the model's own period."""
    return [(token, residue) for token in range(model.symbols) for residue in range(model.period)]


def sensitivities(model: Model) -> list[Fraction]:
    """L_h = max over types t, t' and outputs c of |(Lin d)_c| + sum_j rad_j |W_cj| |(A d)_j|,  d = V_h (e_t - e_t').

    W = U B, Lin = U + W diag(mid) A. With D = model.below: V e is over D^2, A V e and U V e over D^3, W over D^2, so
    both summands are integers over 2 D^5.
    """
    mlp, below = model.mlp, model.below
    inner, outer, kinds = ([], [], []) if mlp is None else (mlp.inner, mlp.outer, mlp.activation)
    columns = [list(column) for column in zip(*outer, strict=True)]
    weights = [times(columns, row) for row in model.unembedding]
    bend = [[w * SLOPES[kind][0] for w, kind in zip(row, kinds, strict=True)] for row in weights]
    swing = [[abs(w) * SLOPES[kind][1] for w, kind in zip(row, kinds, strict=True)] for row in weights]
    steps = [j for j, kind in enumerate(kinds) if kind == "heaviside" and any(row[j] for row in weights)]
    found = []
    for head in model.heads:
        values = [times(head.value, model.vector(kind)) for kind in types(model)]
        before = [times(inner, v) for v in values]
        if any(row[j] != before[0][j] for j in steps for row in before):
            raise Refused("a heaviside unit has no slope, and a head changes what goes into one that counts")
        straight = [times(model.unembedding, v) for v in values]
        moves = [
            [2 * below**2 * p + q for p, q in zip(own, times(bend, hidden), strict=True)]
            for own, hidden in zip(straight, before, strict=True)
        ]
        best = 0
        for t, (move, hidden) in enumerate(zip(moves, before, strict=True)):
            for other, there in zip(moves[:t], before[:t], strict=True):
                gaps = [abs(p - q) for p, q in zip(hidden, there, strict=True)]
                apart = zip(move, other, times(swing, gaps), strict=True)
                best = max(best, *(abs(p - q) + spread for p, q, spread in apart))
        found.append(Fraction(best, 2 * below**5))
    return found


@dataclass(frozen=True)
class Logits:
    """Content logits [query type][key type] of one head, and phi, as integers over one denominator."""

    content: dict[Type, dict[Type, int]]
    phi: list[int | None]
    denominator: int
    symbols: int
    period: int

    @classmethod
    def of(cls, model: Model, head: Head, locality: int) -> "Logits":
        """From the weights: (K e_key) . (Q e_query), and phi up to the locality."""
        kinds, cube = types(model), model.below**3
        keys = {kind: times(head.key, model.vector(kind)) for kind in kinds}
        asked = {kind: times(head.query, model.vector(kind)) for kind in kinds}
        content = {kind: {key: sum(map(mul, k, asked[kind])) for key, k in keys.items()} for kind in kinds}
        shifts = [head.shift(offset) for offset in range(locality + 1)]
        phi = [None if v is None else v * cube for v in shifts]
        return cls(content, phi, model.below * cube, model.symbols, model.period)

    def slots(self, query: Type, period: int) -> list[list[int]]:
        """Options by slot: one a residue of the common period, then one an offset, in a fixed order."""
        token, residue = query
        row, tokens, own = self.content[token, residue % self.period], range(self.symbols), self.period
        prefix = [[row[s, r % own] for s in tokens] for r in range(period)]
        suffix = [
            [] if phi is None else [row[s, (residue - k) % own] + phi for s in (tokens if k else (token,))]
            for k, phi in enumerate(self.phi)
        ]
        return prefix + suffix

    def spread(self, query: Type) -> Fraction:
        """The largest difference of two content logits of one query type."""
        row = self.content[query[0], query[1] % self.period].values()
        return Fraction(max(row) - min(row), self.denominator)


def ranks(slots: list[list[int]]) -> list[list[int]]:
    """The place of every option among all values: equal for two heads iff all their comparisons agree."""
    place = {value: index for index, value in enumerate(sorted({value for slot in slots for value in slot}))}
    return [[place[value] for value in slot] for slot in slots]


def ties(slots: list[list[int]], period: int) -> int:
    """The number of offsets with an option that some prefix option equals."""
    prefix = {value for slot in slots[:period] for value in slot}
    return sum(any(value in prefix for value in slot) for slot in slots[period:])


def margin(slots: list[list[int]], period: int) -> int | None:
    """The least u - u' over options u > u', u >= beta, not both of one suffix slot; None if there are none."""
    beta = max(min(slot) for slot in slots if slot)
    owners: dict[int, set[int]] = {}
    for index, slot in enumerate(slots):
        for value in slot:
            owners.setdefault(value, set()).add(max(index - period, -1))  # -1: the prefix
    values, best = sorted(owners), None
    for index, value in enumerate(values):
        for owner in owners[value] if value >= beta else ():
            below = (values[i] for i in range(index - 1, -1, -1) if owner == -1 or owners[values[i]] != {owner})
            partner = next(below, None)  # at most one slot's options are passed over
            if partner is not None and (best is None or value - partner < best):
                best = value - partner
    return best


def counting_bound(etas: list[Fraction], types: int, period: int, bbar: int) -> Fraction:
    """B = c~ prod (1 + 1/eta) - c over the min(K, S) smallest budgets; 0 without groups. Theorem 1."""
    if not etas:
        return Fraction(0)
    half = Fraction(types, 2)
    c = half + period - 1 + bbar
    wider = c + half * max(etas) / (1 + max(etas))
    return wider * prod((1 + 1 / eta for eta in sorted(etas)[:types]), start=Fraction(1)) - c


def check_work(models: list[Model], period: int, locality: int) -> None:
    """Bounds the time before any is spent: products of integers, long ones counted by their length."""
    tokens, size, steps = models[0].symbols, models[0].symbols * period, 0
    for model in models:
        width, outputs, units = (
            len(model.positions[0]),
            len(model.unembedding),
            len(model.mlp.inner) if model.mlp else 0,
        )
        for head in model.heads:
            once = width * (width + outputs + units + 2 * len(head.key)) + outputs * units
            options = size + (locality + 1) * tokens
            pairs = size * (len(head.key) + outputs * (1 + units))
            steps += size * (once + 10 * options + pairs) * (1 + model.below.bit_length() // 100)
    if steps > MOST_WORK:
        raise Unreadable(f"models, a period and a locality for which {MOST_WORK} steps suffice", "larger ones")
