"""Models as a certificate holds them: section 4 of the format, every shape and every size checked."""

from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from typing import Any

from .reader import Unreadable, fields, items, matrix, natural, number, numbers, one_of, shown

Vector = list[Fraction]
Matrix = list[Vector]
Type = tuple[int, int]  # token, residue modulo the model's period

ACTIVATIONS = ("relu", "heaviside", "sin", "tanh", "identity")
MOST_BITS = 1_000_000
LARGEST_WEIGHT = Fraction(2) ** 1100
LARGEST_DENOMINATOR = 1 << 2200


@dataclass(frozen=True)
class Head:
    """One head; phi has None where an offset is masked."""

    key: Matrix
    query: Matrix
    value: Matrix
    phi: list[Fraction | None]

    def shift(self, offset: int) -> Fraction | None:
        """Phi of an offset, 0 beyond its end."""
        return self.phi[offset] if offset < len(self.phi) else Fraction(0)


@dataclass(frozen=True)
class MLP:
    """One hidden layer; one activation a unit."""

    inner: Matrix
    bias: Vector
    outer: Matrix
    activation: list[str]


@dataclass(frozen=True)
class Model:
    """A one-layer limit transformer in rationals: section 4 of the format."""

    attention: str
    bits: int | None
    embedding: Matrix
    positions: Matrix
    heads: list[Head]
    mlp: MLP | None
    unembedding: Matrix

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

    def vector(self, kind: Type) -> Vector:
        """What enters for a type: embedding of the token plus vector of the residue."""
        return [a + b for a, b in zip(self.embedding[kind[0]], self.positions[kind[1]], strict=True)]


def read_model(value: Any, where: str) -> Model:
    """A model from its fields; every shape, and the size of every number, is checked."""
    names = ("attention", "bits", "embedding", "positions", "layers", "unembedding")
    attention, bits, embedding, positions, layers, unembedding = fields(value, where, *names)
    one_of(attention, f"{where}, attention", "log-length", "plain")
    if bits is not None and attention == "plain":
        raise Unreadable("null where attention is plain", shown(bits), f"{where}, bits")
    if bits is not None and natural(bits, f"{where}, bits", 1) > MOST_BITS:
        raise Unreadable(f"at most {MOST_BITS} bits", shown(bits), f"{where}, bits")
    first = items(embedding, f"{where}, embedding")
    width = len(items(first[0], f"{where}, embedding")) if first else 0
    if not width or not items(positions, f"{where}, positions") or not items(unembedding, f"{where}, unembedding"):
        raise Unreadable("at least one token, coordinate, residue and output", "an empty matrix", where)
    heads, mlp = fields(items(layers, f"{where}, layers", 1)[0], f"{where}, layers[0]", "heads", "mlp")
    model = Model(
        attention,
        None if bits is None else natural(bits, where),
        matrix(embedding, f"{where}, embedding", width),
        matrix(positions, f"{where}, positions", width),
        [_head(h, f"{where}, heads[{i}]", width) for i, h in enumerate(items(heads, f"{where}, heads"))],
        None if mlp is None else _mlp(mlp, f"{where}, mlp", width),
        matrix(unembedding, f"{where}, unembedding", width),
    )
    _check_sizes(model, where)
    return model


def _head(value: Any, where: str, width: int) -> Head:
    key, query, inward, phi = fields(value, where, "key", "query", "value", "phi")
    keys = matrix(key, f"{where}, key", width)
    shifts = [None if v == "masked" else number(v, f"{where}, phi") for v in items(phi, f"{where}, phi")]
    queries = matrix(query, f"{where}, query", width, len(keys))
    return Head(keys, queries, matrix(inward, f"{where}, value", width, width), shifts)


def _mlp(value: Any, where: str, width: int) -> MLP:
    inner, bias, outer, activation = fields(value, where, "inner", "bias", "outer", "activation")
    rows = matrix(inner, f"{where}, inner", width)
    kinds = items(activation, f"{where}, activation", len(rows))
    return MLP(
        rows,
        numbers(bias, f"{where}, bias", len(rows)),
        matrix(outer, f"{where}, outer", len(rows), width),
        [one_of(kind, f"{where}, activation", *ACTIVATIONS) for kind in kinds],
    )


def _check_sizes(model: Model, where: str) -> None:
    """No number above 2^1100, one common denominator up to 2^2200: so no sum of them can grow without bound."""
    tables = [model.embedding, model.positions, model.unembedding]
    for head in model.heads:
        tables += [head.key, head.query, head.value, [[v for v in head.phi if v is not None]]]
    if model.mlp is not None:
        tables += [model.mlp.inner, [model.mlp.bias], model.mlp.outer]
    common = 1
    for value in (value for table in tables for row in table for value in row):
        if common % value.denominator:
            common = lcm(common, value.denominator)
        if abs(value) > LARGEST_WEIGHT or common > LARGEST_DENOMINATOR:
            raise Unreadable("weights up to 2^1100 with a common denominator up to 2^2200", "larger ones", where)
