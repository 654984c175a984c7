"""What an allowed error asks of a short prefix, as rows of an integer program: three modes, each weaker than the last.

    TV          every mixture moves by at most its budget in total variation
    Lipschitz   every output moves by at most an error by the slopes of its model, in the direction it does move
    box         every output moves by at most an error; needs a read-out of one number, and is exact up to its
                monotone pieces

Source: one-layer note, section 9. All numbers here are floats for the solver; what it proposes is checked exactly.
"""

import math
from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np
from jaxtyping import Float

from lengthwise.exact import entries
from lengthwise.theory.integer_program import Program
from lengthwise.theory.mixtures import Mixture, Row, Unit

STEPS = 20_000  # along a read-out curve, at most
_ZERO = Fraction(0)
_CLOSE = 1e-12  # relative: where the walk along a curve stops


def keep_presence(program: Program, mixture: Mixture) -> None:
    """Where no suffix position is attended, some attended type must occur, or the largest logit is another."""
    if not mixture.near and mixture.weights:
        program.present(t for t, _ in mixture.weights)


def keep_variation(program: Program, mixture: Mixture, budget: Fraction) -> None:
    """TV <= eta:  s_t >= w_t m_t - P_t M and s_t >= 0 for every atom,  sum s <= eta M;   P the law of the long string.

    M = sum w_t m_t + b. The positive parts alone are the total variation. The suffix is one atom: all its positions
    gain or lose weight together.
    """
    mass = mixture.mass(program.table)
    atoms = [*mixture.weights, *([(None, mixture.suffix)] if mixture.near else [])]
    if len(atoms) < 2 or not mixture.weights:
        return
    slacks = []
    for t, weight in atoms:
        share = (mixture.suffix if t is None else program.table[t] * weight) / mass
        row = {u: -share * other for u, other in mixture.weights}
        if t is not None:
            row[t] += weight
        limit = share * mixture.suffix - (mixture.suffix if t is None else 0)
        slacks.append(_bounded(program, row, limit))
    row = {t: -budget * weight for t, weight in mixture.weights}
    _at_most(program, row, budget * mixture.suffix, dict.fromkeys(slacks, 1.0))


def keep_slopes(program: Program, unit: Unit, error: Fraction) -> None:
    """|(Lin d)_c| + sum_j rad_j |W_cj| s_j <= error M for every output c, with s_j >= |(A d)_j|.

    d = sum w_t m_t (row_t - mean) + sum over the suffix, which is M times the change of the mean, so linear in m.
    """
    mean = unit.mean(program.table)
    moves = {t: _minus(unit.rows[t], mean) for t in unit.rows}
    linear = {t: unit.linear(move) for t, move in moves.items()}
    used = [
        j
        for j in range(len(unit.swing[0]))
        if any(row[j] for row in unit.swing) and any(move[unit.outputs + j] for move in moves.values())
    ]
    slacks = {
        j: _absolute(program, unit.mixture, {t: move[unit.outputs + j] for t, move in moves.items()}) for j in used
    }
    for c in range(unit.outputs):
        weighted = {slacks[j]: float(unit.swing[c][j]) for j in used if unit.swing[c][j]}
        for sign in (1, -1):
            row = {t: (sign * linear[t][c] - error) * weight for t, weight in unit.mixture.weights}
            near = sum(((error - sign * linear[t][c]) * weight for t, weight in unit.mixture.near), _ZERO)
            _at_most(program, row, near, weighted)


def keep_box(program: Program, unit: Unit, curve: "Curve", error: float) -> None:
    """The mean's place v stays in [lo, hi]: lo M <= sum w_t m_t v_t + suffix <= hi M.

    [lo, hi] is the component around 0 of the places where no output has moved by more than the error.
    """
    low, high = (Fraction(sign * curve.reach(sign, error)) for sign in (-1, 1))
    for sign, end in ((1, high), (-1, low)):
        row = {t: sign * (curve.places[t] - end) * weight for t, weight in unit.mixture.weights}
        near = sum((sign * (end - curve.places[t]) * weight for t, weight in unit.mixture.near), _ZERO)
        _at_most(program, row, near, {})


class Curve:
    """A model whose outputs depend on one number v, the place of its mean on a line; v = 0 for the long string.

    places: v_t of every type, so that the mean's place is the mean of the v_t.
    """

    def __init__(self, unit: Unit, places: dict[int, Fraction], direction: Row, mean: Row) -> None:
        reading, self.places, outputs = unit.reading, places, unit.outputs
        self._value: Callable[[float], Float[np.ndarray, " outputs"]]
        start, slope = np.array(mean, float), np.array(direction, float)
        mlp = reading.model.layers[0].mlp
        self._lipschitz = max(
            float(abs(value)) + float(sum((s * abs(d) for s, d in zip(swing, direction[outputs:], strict=True)), _ZERO))
            for value, swing in zip(unit.linear(direction), unit.swing, strict=True)
        )
        if mlp is None or reading.before is None or reading.readout is None:
            self._value = lambda v: v * slope[:outputs]
            return
        before = np.array(entries(reading.before)[0], float) + start[outputs:]
        readout = np.array(entries(reading.readout), float).T
        kinds: dict[str, Callable[[float], float]] = {
            "relu": lambda x: max(x, 0.0),
            "tanh": math.tanh,
            "sin": math.sin,
            "identity": lambda x: x,
        }

        def value(v: float) -> Float[np.ndarray, " outputs"]:
            inside = before + v * slope[outputs:]
            after = np.array([kinds[name](x) for name, x in zip(mlp.activations, inside, strict=True)])
            return np.asarray(v * slope[:outputs] + readout @ after)

        self._value = value

    @classmethod
    def of(cls, unit: Unit, table: Sequence[int]) -> "Curve | None":
        """The curve of a unit, None where its rows do not lie on one line."""
        mean = unit.mean(table)
        moves = {t: _minus(row, mean) for t, row in unit.rows.items()}
        direction = max(moves.values(), key=lambda move: max(map(abs, move), default=_ZERO))
        axis = max(range(len(direction)), key=lambda k: abs(direction[k]))
        if not direction[axis]:
            return None
        places = {t: move[axis] / direction[axis] for t, move in moves.items()}
        on_line = all(
            move[k] == places[t] * direction[k] for t, move in moves.items() for k in range(len(direction)) if k != axis
        )
        return cls(unit, places, direction, mean) if on_line else None

    def reach(self, sign: int, error: float) -> float:
        """How far v can go in a direction until some output has moved by more than the error; steps no walk oversteps.

        From v the outputs need at least (error - moved) / Lipschitz to reach the error, so the walk never leaves the
        component; it ends at the last type's place or where steps vanish.
        """
        end = max((sign * float(place) for place in self.places.values()), default=0.0)
        origin, v = self._value(0.0), 0.0
        if not self._lipschitz or end <= 0:
            return max(end, 0.0)
        for _ in range(STEPS):
            step = (error - float(np.abs(self._value(sign * v) - origin).max())) / self._lipschitz
            if step <= _CLOSE * (1 + v) or v >= end:
                break
            v += step
        return min(v, end)


def _minus(first: Row, second: Row) -> Row:
    return tuple(a - b for a, b in zip(first, second, strict=True))


def _at_most(program: Program, row: dict[int, Fraction], limit: Fraction, slacks: dict[int, float]) -> None:
    """A row of rationals, divided by its largest entry so that the solver's tolerance means the same everywhere."""
    scale = (
        max([abs(value) for value in row.values()] + [abs(Fraction(value)) for value in slacks.values()], default=_ZERO)
        or 1
    )
    program.at_most(
        {t: float(value / scale) for t, value in row.items()},
        {slack: float(Fraction(value) / scale) for slack, value in slacks.items()},
        float(limit / scale),
    )


def _bounded(program: Program, row: dict[int, Fraction], limit: Fraction) -> int:
    """A slack s >= row . m - limit."""
    slack = program.slack()
    _at_most(program, row, limit, {slack: -1.0})
    return slack


def _absolute(program: Program, mixture: Mixture, moves: dict[int, Fraction]) -> int:
    """A slack s >= |sum w_t m_t move_t + suffix|."""
    slack = program.slack()
    near = sum((moves[t] * weight for t, weight in mixture.near), _ZERO)
    for sign in (1, -1):
        row = {t: sign * moves[t] * weight for t, weight in mixture.weights}
        _at_most(program, row, -sign * near, {slack: -1.0})
    return slack
