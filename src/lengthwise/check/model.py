"""Models as a certificate holds them: section 4 of the format, every shape and every size checked."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain
from math import lcm
from operator import mul
from typing import Any

from .reader import Unreadable, fields, items, matrix, natural, number, numbers, one_of, shown

Rows = list[list[int]]
Type = tuple[int, int]  # token, residue modulo the model's period

ACTIVATIONS = ("relu", "heaviside", "sin", "tanh", "identity")
MOST_BITS = 1_000_000
MOST_HEADS = 256
LARGEST = 1 << 1100  # of a weight, and of the common denominator of all weights


@dataclass(frozen=True)
class Head:
    """One head; phi has None where an offset is masked."""

    key: Rows
    query: Rows
    value: Rows
    phi: list[int | None]

    def shift(self, offset: int) -> int | None:
        """Phi of an offset, 0 beyond its end."""
        return self.phi[offset] if offset < len(self.phi) else 0


@dataclass(frozen=True)
class MLP:
    """One hidden layer; one activation a unit."""

    inner: Rows
    bias: list[int]
    outer: Rows
    activation: list[str]


@dataclass(frozen=True)
class Layer:
    """Heads side by side, then an MLP or none."""

    heads: list[Head]
    mlp: MLP | None


@dataclass(frozen=True)
class Model:
    """A limit transformer: section 4 of the format; kinds other than `strings` speak of one layer, its first.

    Every weight is an integer over the one denominator `below`: integers multiply and compare fast, fractions do not.
    """

    attention: str
    bits: int | None
    below: int
    embedding: Rows
    positions: Rows
    layers: list[Layer]
    unembedding: Rows

    @property
    def heads(self) -> list[Head]:
        """The heads of the first layer."""
        return self.layers[0].heads

    @property
    def mlp(self) -> MLP | None:
        """The MLP of the first layer."""
        return self.layers[0].mlp

    @property
    def symbols(self) -> int:
        """Size of the vocabulary."""
        return len(self.embedding)

    @property
    def period(self) -> int:
        """Number of positional vectors."""
        return len(self.positions)

    @property
    def locality(self) -> int:
        """The largest offset whose phi is not 0, or 0."""
        return max((k for head in self.heads for k, phi in enumerate(head.phi) if phi != 0), default=0)

    def vector(self, kind: Type) -> list[int]:
        """What enters for a type, over `below`: embedding of the token plus vector of the residue."""
        return [a + b for a, b in zip(self.embedding[kind[0]], self.positions[kind[1]], strict=True)]


def times(rows: Rows, vector: Sequence[int]) -> list[int]:
    """Matrix times vector."""
    return [sum(map(mul, row, vector)) for row in rows]


def read_model(value: Any, where: str, rules: tuple[str, ...] = ("log-length", "plain"), deepest: int = 1) -> Model:
    """A model from its fields; every shape, and the size of every number, is checked."""
    names = ("attention", "bits", "embedding", "positions", "layers", "unembedding")
    attention, bits, embedding, positions, layers, unembedding = fields(value, where, *names)
    one_of(attention, f"{where}, attention", *rules)
    if bits is not None and attention != "log-length":
        raise Unreadable(f"null where attention is {attention}", shown(bits), f"{where}, bits")
    if bits is not None and natural(bits, f"{where}, bits", 1) > MOST_BITS:
        raise Unreadable(f"at most {MOST_BITS} bits", shown(bits), f"{where}, bits")
    first = items(embedding, f"{where}, embedding")
    width = len(items(first[0], f"{where}, embedding")) if first else 0
    if not width or not items(positions, f"{where}, positions") or not items(unembedding, f"{where}, unembedding"):
        raise Unreadable("at least one token, coordinate, residue and output", "an empty matrix", where)
    if not 1 <= len(items(layers, f"{where}, layers", 1 if deepest == 1 else None)) <= deepest:
        raise Unreadable(f"a list of 1 to {deepest} layers", f"one of {len(layers)}", f"{where}, layers")
    outside = [
        matrix(rows, f"{where}, {name}", width)
        for name, rows in (("embedding", embedding), ("positions", positions), ("unembedding", unembedding))
    ]
    read = [_layer(layer, f"{where}, layers[{i}]", width) for i, layer in enumerate(layers)]
    inside = chain.from_iterable(chain(*chain(*hidden), *chain(*chain(*heads))) for heads, hidden, _ in read)
    below = common(chain(*chain(*outside), inside), where)
    table, vectors, last = (_whole(rows, below) for rows in outside)
    whole = [_whole_layer(layer, below) for layer in read]
    return Model(attention, None if bits is None else natural(bits, where), below, table, vectors, whole, last)


def _layer(value: Any, where: str, width: int) -> tuple[list[Any], list[Any], list[str]]:
    """Heads, and the MLP's matrices and activations (empty without one), as rationals."""
    own, mlp = fields(value, where, "heads", "mlp")
    if len(items(own, f"{where}, heads")) > MOST_HEADS:
        raise Unreadable(f"at most {MOST_HEADS} heads", f"{len(own)}", where)
    heads = [_head(head, f"{where}, heads[{i}]", width) for i, head in enumerate(own)]
    hidden, kinds = ([], []) if mlp is None else _mlp(mlp, f"{where}, mlp", width)
    return heads, hidden, kinds


def _whole_layer(layer: tuple[list[Any], list[Any], list[str]], below: int) -> Layer:
    heads, hidden, kinds = layer
    acting = []
    for key, query, inward, [phi] in heads:
        shifts = [None if v is None else int(v * below) for v in phi]
        acting.append(Head(_whole(key, below), _whole(query, below), _whole(inward, below), shifts))
    if not hidden:
        return Layer(acting, None)
    inner, [bias], outer = (_whole(rows, below) for rows in hidden)
    return Layer(acting, MLP(inner, bias, outer, kinds))


def _head(value: Any, where: str, width: int) -> list[Any]:
    """Key, query and value as rows of rationals, and phi as one row."""
    key, query, inward, phi = fields(value, where, "key", "query", "value", "phi")
    keys = matrix(key, f"{where}, key", width)
    shifts = [None if v == "masked" else number(v, f"{where}, phi") for v in items(phi, f"{where}, phi")]
    queries = matrix(query, f"{where}, query", width, len(keys))
    return [keys, queries, matrix(inward, f"{where}, value", width, width), [shifts]]


def _mlp(value: Any, where: str, width: int) -> tuple[list[Any], list[str]]:
    """Inner, bias (one row) and outer as rows of rationals, and the activations."""
    inner, bias, outer, activation = fields(value, where, "inner", "bias", "outer", "activation")
    rows = matrix(inner, f"{where}, inner", width)
    kinds = items(activation, f"{where}, activation", len(rows))
    after = matrix(outer, f"{where}, outer", len(rows), width)
    tables = [rows, [numbers(bias, f"{where}, bias", len(rows))], after]
    return tables, [one_of(kind, f"{where}, activation", *ACTIVATIONS) for kind in kinds]


def common(weights: Iterable[Fraction | None], where: str) -> int:
    """The least common denominator; it and every weight are bounded, so that no sum of them grows without bound."""
    common = 1
    for value in weights:
        if value is not None:
            if common % value.denominator:
                common = lcm(common, value.denominator)
            if abs(value.numerator) > LARGEST * value.denominator or common > LARGEST:
                raise Unreadable("weights up to 2^1100 with a common denominator up to 2^1100", "larger ones", where)
    return common


def _whole(rows: list[list[Fraction]], below: int) -> Rows:
    return [[value.numerator * (below // value.denominator) for value in row] for row in rows]
