"""What the theorems of kind `length` need to know of a model: sensitivities, slots of logits, margins, spreads."""

from dataclasses import dataclass
from fractions import Fraction
from math import lcm, prod

from .model import Head, Matrix, Model, Type, Vector
from .reader import Refused, Unreadable

MOST_WORK = 50_000_000

# Slopes of an activation lie in middle +- radius; a heaviside step has none.
SLOPES = {"relu": (Fraction(1, 2), Fraction(1, 2)), "tanh": (Fraction(1, 2), Fraction(1, 2))} | {
    "sin": (Fraction(0), Fraction(1)),
    "identity": (Fraction(1), Fraction(0)),
    "heaviside": (Fraction(0), Fraction(0)),
}
Whole = tuple[list[list[int]], int]  # integers over one denominator: integers compare fast, fractions do not


def types(model: Model) -> list[Type]:
    """Every (token, residue) of the model's own period."""
    return [(token, residue) for token in range(model.symbols) for residue in range(model.period)]


def times(matrix: Matrix, vector: Vector) -> Vector:
    """Matrix times vector."""
    return [sum((a * b for a, b in zip(row, vector, strict=True) if a and b), Fraction(0)) for row in matrix]


def whole(rows: Matrix) -> Whole:
    """Rows of rationals as rows of integers over their least common denominator."""
    common = lcm(1, *(value.denominator for row in rows for value in row))
    return [[value.numerator * (common // value.denominator) for value in row] for row in rows], common


def sensitivities(model: Model) -> list[Fraction]:
    """L_h = max over types t, t' and outputs c of |(Lin d)_c| + sum_j rad_j |W_cj| |(A d)_j|,  d = V_h (e_t - e_t')."""
    inner, bend, steps, straight = _read_out(model)
    found = []
    for head in model.heads:
        values = [times(head.value, model.vector(kind)) for kind in types(model)]
        moves, below = whole([times(straight, v) for v in values])
        before, under = whole([times(inner, v) for v in values])
        weights, over = whole(bend)
        if any(before[0][j] != row[j] for j in steps for row in before):
            raise Refused("a heaviside unit has no slope, and a head changes what goes into one that counts")
        best = 0
        for t, (a, x) in enumerate(zip(moves, before, strict=True)):
            for b, y in zip(moves[:t], before[:t], strict=True):
                gaps = [abs(p - q) for p, q in zip(x, y, strict=True)]
                for p, q, row in zip(a, b, weights, strict=True):
                    spread = sum(w * gap for w, gap in zip(row, gaps, strict=True))
                    best = max(best, abs(p - q) * under * over + spread * below)
        found.append(Fraction(best, below * under * over))
    return found


def _read_out(model: Model) -> tuple[Matrix, Matrix, list[int], Matrix]:
    """A, the matrix rad_j |W_cj|, the heaviside units with a weight in W = U B, and Lin = U + W diag(mid) A."""
    mlp, read = model.mlp, model.unembedding
    if mlp is None:
        return [], [[] for _ in read], [], read
    columns = [list(column) for column in zip(*mlp.outer, strict=True)]
    outer = [
        [sum((u * b for u, b in zip(row, column, strict=True)), Fraction(0)) for column in columns] for row in read
    ]
    slopes = [SLOPES[kind] for kind in mlp.activation]
    straight = [list(row) for row in read]
    for row, weights in zip(straight, outer, strict=True):
        for w, (middle, _), inner in zip(weights, slopes, mlp.inner, strict=True):
            if w * middle:
                row[:] = [r + w * middle * a for r, a in zip(row, inner, strict=True)]
    bend = [[abs(w) * radius for w, (_, radius) in zip(weights, slopes, strict=True)] for weights in outer]
    steps = [j for j, kind in enumerate(mlp.activation) if kind == "heaviside" and any(row[j] for row in outer)]
    return mlp.inner, bend, steps, straight


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
        kinds = types(model)
        keys, below = whole([times(head.key, model.vector(kind)) for kind in kinds])
        asked, under = whole([times(head.query, model.vector(kind)) for kind in kinds])
        phi = [head.shift(offset) for offset in range(locality + 1)]
        common = lcm(below * under, *(value.denominator for value in phi if value is not None))
        factor = common // (below * under)
        content = {
            kind: {
                key: sum(a * b for a, b in zip(k, q, strict=True)) * factor for key, k in zip(kinds, keys, strict=True)
            }
            for kind, q in zip(kinds, asked, strict=True)
        }
        shifts = [None if v is None else v.numerator * (common // v.denominator) for v in phi]
        return cls(content, shifts, common, model.symbols, model.period)

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
    """Bounds the time before any is spent."""
    tokens = models[0].symbols
    size = tokens * period
    for model in models:
        pairs = size * len(model.unembedding) * (1 + (0 if model.mlp is None else len(model.mlp.inner)))
        if len(model.heads) * size * (size + (locality + 1) * tokens + pairs) > MOST_WORK:
            raise Unreadable(f"models and a period for which {MOST_WORK} steps suffice", "larger ones")
