"""One layer under hardmax, exactly: which keys are attended is decided on rationals, and means are rationals.

Under hardmax a head averages the values of the keys whose logit is the largest, and nothing else. A finite-precision
log-length model is in this regime from an explicit length on (one-layer notes, Lemmas 1 and 2).
"""

from fractions import Fraction
from typing import Any

from lengthwise.exact import Ball, entries, rational, rational_matrix
from lengthwise.limit.model import MLP, Head, LimitTransformer

Exact = Fraction | Ball
Vector = list[Fraction]


def hardmax_outputs(model: LimitTransformer, table: list[int], suffix: list[int], length: int) -> list[Exact]:
    """The exact outputs at the last position: rationals, or balls where an activation is sin or tanh."""
    layer = model.layers[0]
    codes = type_vectors(model)
    y = codes[suffix[0]]
    for head in layer.heads:
        y = [a + b for a, b in zip(y, hardmax_head(head, codes, table, suffix), strict=True)]
    after: list[Exact] = list(y)
    if layer.mlp is not None:
        after = [a + b for a, b in zip(after, _mlp(layer.mlp, y), strict=True)]
    return [sum((u * v for u, v in zip(row, after, strict=True)), Fraction(0)) for row in _rows(model.unembedding)]


def type_vectors(model: LimitTransformer) -> list[Vector]:
    """The exact code embedding[token] + positions[residue] of every type token * period + residue."""
    tokens, residues = _rows(model.embedding), _rows(model.positions)
    return [[a + b for a, b in zip(token, residue, strict=True)] for token in tokens for residue in residues]


def hardmax_head(head: Head, codes: list[Vector], table: list[int], suffix: list[int]) -> Vector:
    """The mean of value @ y over the attended keys: types present in the prefix, and suffix offsets; 0 if all masked."""
    attended = attended_weights(head, codes, table, suffix)
    mass = sum(weight for _, weight in attended)
    if not mass:
        return [Fraction(0)] * len(codes[0])
    mean = [sum((codes[t][k] * weight for t, weight in attended), Fraction(0)) / mass for k in range(len(codes[0]))]
    return _times(_rows(head.value), mean)


def attended_weights(head: Head, codes: list[Vector], table: list[int], suffix: list[int]) -> list[tuple[int, int]]:
    """(type, how often) of the keys with the largest logit; equality of logits is equality of rationals."""
    query = _times(_rows(head.query), codes[suffix[0]])
    present = sorted({t for t, count in enumerate(table) if count} | set(suffix))
    keys = _rows(head.key)
    content = {
        t: sum((a * b for a, b in zip(_times(keys, codes[t]), query, strict=True)), Fraction(0)) for t in present
    }
    logits = [(content[t], t, count) for t, count in enumerate(table) if count]
    for offset, t in enumerate(suffix):
        phi = float(head.phi[offset]) if offset < len(head.phi) else 0.0
        if phi != float("-inf"):
            logits.append((content[t] + rational(phi), t, 1))
    largest = max((logit for logit, _, _ in logits), default=Fraction(0))
    return [(t, count) for logit, t, count in logits if logit == largest]


def _mlp(mlp: MLP, y: Vector) -> list[Exact]:
    before = [a + b for a, b in zip(_times(_rows(mlp.inner), y), _rows(mlp.bias[None, :])[0], strict=True)]
    units = [_activate(kind, value) for kind, value in zip(mlp.activations, before, strict=True)]
    return [sum((w * u for w, u in zip(row, units, strict=True) if w), Fraction(0)) for row in _rows(mlp.outer)]


def _activate(kind: str, value: Fraction) -> Exact:
    if kind == "identity":
        return value
    if kind == "relu":
        return max(value, Fraction(0))
    if kind == "heaviside":
        return Fraction(value > 0)
    return Ball.of(value).apply(kind) if value else Fraction(0)


def _rows(matrix: Any) -> list[Vector]:
    return entries(rational_matrix(matrix))


def _times(matrix: list[Vector], vector: Vector) -> Vector:
    return [sum((a * b for a, b in zip(row, vector, strict=True) if a and b), Fraction(0)) for row in matrix]
