"""How much the output of a one-layer model can move when one head attends elsewhere."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
from jaxtyping import Float

from lengthwise.errors import WrongInput
from lengthwise.exact import RationalMatrix, common_denominator, entries, matrix_of
from lengthwise.limit.model import MLP, LimitTransformer
from lengthwise.limit.tables import exact, head_values, type_vectors

Sensitivity = Fraction | float  # a rational, or math.inf
_ZERO, _HALF, _ONE = Fraction(0), Fraction(1, 2), Fraction(1)
SLOPES = {"relu": (_HALF, _HALF), "tanh": (_HALF, _HALF), "sin": (_ZERO, _ONE), "identity": (_ONE, _ZERO)}
Table = list[list[int]]


def sensitivity(model: LimitTransformer) -> tuple[Sensitivity, ...]:
    """L of every head: the output (largest coordinate) moves by at most the sum of L_h * TV(attended laws of head h).

        L_h = max over types t, t' and outputs c of  |(Lin d)_c| + sum_j rad_j |W_cj| |(A d)_j|,   d = V_h (e_t - e_t')
        W = U B,   Lin = U + W diag(mid) A,   slopes of unit j in mid_j +- rad_j

    Source: one-layer note, section 3, Lemma 3; slopes: relu and tanh [0, 1], sin [-1, 1], identity [1, 1].
    Ours: a Heaviside step has no slope, so L is infinite unless the step has no weight in any output or head h
    cannot change what goes into it. A string whose every key is masked for head h is not covered: its mean is 0.
    """
    if model.depth != 1:
        raise WrongInput("a model with one layer", f"{model.depth} layers", "ask for the complexity instead", "layers")
    types, layer, output = type_vectors(model), model.layers[0], exact(model.unembedding)
    values = [head_values(head, types) for head in layer.heads]
    if layer.mlp is None or not len(layer.mlp.inner):
        return tuple(_largest_move(common_denominator(value * output.transpose()), None, None) for value in values)
    weights, linear, swings, steps = _slopes(layer.mlp, output)
    inner = exact(layer.mlp.inner).transpose()
    heavy = [unit for unit in steps if any(row[unit] for row in common_denominator(weights)[0])]
    swing = _absolute(swings)
    result: list[Sensitivity] = []
    for value in values:
        before = common_denominator(value * inner)
        jumps = any(row[unit] != before[0][0][unit] for unit in heavy for row in before[0])
        moves = common_denominator(value * linear.transpose())
        result.append(math.inf if jumps else _largest_move(moves, before, swing))
    return tuple(result)


def ignorable(*models: LimitTransformer) -> frozenset[tuple[int, int]]:
    """The heads (model, head) with sensitivity 0: whatever they attend to, the output is the same."""
    every = [(index, head, L) for index, model in enumerate(models) for head, L in enumerate(sensitivity(model))]
    return frozenset((index, head) for index, head, L in every if L == 0)


def _slopes(mlp: MLP, output: RationalMatrix) -> tuple[RationalMatrix, RationalMatrix, RationalMatrix, list[int]]:
    """W = U B, Lin, W diag(rad), and the Heaviside units (which get mid = rad = 0)."""
    pairs = [SLOPES.get(name, (_ZERO, _ZERO)) for name in mlp.activations]
    weights = output * exact(mlp.outer)
    middle, swing = (
        matrix_of([[value * pair[which] for value, pair in zip(row, pairs, strict=True)] for row in entries(weights)])
        for which in (0, 1)
    )
    steps = [unit for unit, name in enumerate(mlp.activations) if name == "heaviside"]
    return weights, output + middle * exact(mlp.inner), swing, steps


def _absolute(matrix: RationalMatrix) -> tuple[Table, int]:
    numerators, denominator = common_denominator(matrix)
    return [[abs(value) for value in row] for row in numerators], denominator


def _largest_move(
    moves: tuple[Table, int], before: tuple[Table, int] | None, swing: tuple[Table, int] | None
) -> Fraction:
    """Max over t, t', c of |moves_tc - moves_t'c| + sum_j swing_cj |before_tj - before_t'j|, exactly.

    Everything is put over one denominator and compared as integers; only pairs that floats cannot rule out are
    summed exactly (trained weights leave a handful, symmetric constructions many, of few types).
    """
    rows, denominator = moves
    if before is None or swing is None:
        before, swing = ([[] for _ in rows], 1), ([[] for _ in rows[0]], 1)
    scale = before[1] * swing[1]
    a = [[value * scale for value in row] for row in rows]
    w = [[value * denominator for value in row] for row in swing[0]]
    seen = sorted({(tuple(move), tuple(inside)) for move, inside in zip(a, before[0], strict=True)})
    a, b = [list(move) for move, _ in seen], [list(inside) for _, inside in seen]
    best = 0
    for t, other, c in _candidates(a, b, w):
        spread = sum(weight * abs(x - y) for weight, x, y in zip(w[c], b[t], b[other], strict=True) if weight)
        best = max(best, abs(a[t][c] - a[other][c]) + spread)
    return Fraction(best, denominator * scale)


def _candidates(a: Table, b: Table, w: Table) -> list[tuple[int, int, int]]:
    """The triples (t, t', c) that may attain the maximum, by floats with a proven error.

    Rows are divided by a common M >= the largest |a| and >= sum_j w_cj range_j, units by their range; each division
    of integers is correctly rounded, so every entry is within 2^-53 of its true value in [-1, 1] or [0, 1]. A float
    sum over u units of such terms errs by at most (u + 8) 2^-50, products with weights that sum to at most 1
    included; twice that separates a triple from the best.
    """
    types, units = len(a), len(b[0])
    low = [min(row[j] for row in b) for j in range(units)]
    width = [max(row[j] for row in b) - low[j] for j in range(units)]
    total = max((sum(weight * span for weight, span in zip(row, width, strict=True)) for row in w), default=0)
    size = max(total, *(abs(value) for row in a for value in row), 1)
    used = [j for j in range(units) if width[j] and any(row[j] for row in w)]
    moves = _ratios(a, size)
    inside = np.array([[(row[j] - low[j]) / width[j] for j in used] for row in b]).reshape(types, len(used))
    weights = np.array([[row[j] * width[j] / size for j in used] for row in w]).reshape(len(w), len(used))
    estimate = np.stack(
        [np.abs(moves - moves[t]) + np.abs(inside - inside[t]) @ weights.T for t in range(types)]
    )  # (t, t', c)
    slack = 2 * (units + 8) * 2.0**-50
    found: Any = np.argwhere(estimate >= estimate.max() - slack)
    return [(int(t), int(other), int(c)) for t, other, c in found if t <= other]


def _ratios(rows: Table, size: int) -> Float[np.ndarray, "types outputs"]:
    return np.array([[value / size for value in row] for row in rows], dtype=np.float64).reshape(len(rows), -1)
