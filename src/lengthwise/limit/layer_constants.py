"""The constants of each of the two layers, as balls around upper bounds: what `complexity` puts together."""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from lengthwise.exact import Ball, RationalMatrix, common_denominator, entries, least, matrix_of
from lengthwise.limit.model import MLP, Head, Layer, LimitTransformer
from lengthwise.limit.norms import diameter, length, longest, operator_norm
from lengthwise.limit.reach import Box, sees_nothing_at_first
from lengthwise.limit.regimes import Regime
from lengthwise.limit.tables import content_logits, exact, head_values, type_vectors


def total(values: Iterable[Ball | Fraction | int]) -> Ball:
    """The sum of balls and rationals, 0 of none."""
    result = Ball.of(0)
    for value in values:
        result = result + value
    return result


@dataclass(frozen=True, eq=False)
class FirstHead:
    """Layer 1, head h: omega_h = spread, e^omega_h = ratio, D_h = diameter, xi_h = share, max ||V_h e|| = reach."""

    spread: Fraction
    diameter: Ball
    reach: Ball
    share: Fraction
    regime: Regime

    @property
    def ratio(self) -> Ball:
        """The largest ratio of two content weights of one query."""
        return Ball.of(self.spread).apply("exp")


@dataclass(frozen=True, eq=False)
class FirstLayer:
    """lambda_1 = mlp_gain, L_1 = histogram_gain, M_1 = offset_gain, rho_1 = radius, diam_1 = diameter."""

    heads: tuple[FirstHead, ...]
    mlp_gain: Ball
    histogram_gain: Ball
    offset_gain: Ball
    radius: Ball
    diameter: Ball


def weigh_first_layer(model: LimitTransformer, regimes: tuple[Regime, ...], locality: int) -> FirstLayer:
    """The constants of layer 1.

        omega_h = max_query (max_key c_h - min_key c_h),   D_h = max_{e,e'} ||V_h (e - e')||
        lambda_1 = 1 + ||B|| ||A||,   L_1 = lambda_1 sum D e^omega xi,   M_1 = lambda_1 (tau + 1) sum D e^omega
        rho_Y = max_e ||e|| + sum max_e ||V_h e||,   rho_1 = rho_Y + ||B|| (||psi(b)|| + ||A|| rho_Y)
        diam_1 = lambda_1 (max ||e - e'|| + sum D_h)

    Source: two-layer note, section 2.
    """
    types, layer = type_vectors(model), model.layers[0]
    heads = tuple(_first_head(head, types, regime) for head, regime in zip(layer.heads, regimes, strict=True))
    outer, inner, start = _mlp_norms(layer)
    gain = 1 + outer * inner
    reach = longest(types) + total(head.reach for head in heads)
    return FirstLayer(
        heads=heads,
        mlp_gain=gain,
        histogram_gain=gain * total(head.diameter * head.ratio * head.share for head in heads),
        offset_gain=gain * (locality + 1) * total(head.diameter * head.ratio for head in heads),
        radius=reach + outer * (start + inner * reach),
        diameter=gain * (diameter(types) + total(head.diameter for head in heads)),
    )


def _first_head(head: Head, types: RationalMatrix, regime: Regime) -> FirstHead:
    numerators, denominator = common_denominator(content_logits(head, types))
    spread = Fraction(max(max(row) - min(row) for row in numerators), denominator)
    values = head_values(head, types)
    share = {"token": Fraction(1), "balanced": Fraction(1, 1 + len(regime.offsets)), "position": Fraction(0)}
    with_zero = sees_nothing_at_first(np.asarray(head.phi))
    return FirstHead(spread, diameter(values, with_zero), longest(values), share[regime.domination], regime)


@dataclass(frozen=True, eq=False)
class SecondHead:
    """Layer 2, head h: omega_2 = spread, e^omega_2 = ratio, D_2 = diameter, beta = key_gain, kappa = query_gain."""

    spread: Ball
    diameter: Ball
    key_gain: Ball
    query_gain: Ball
    atoms: bool
    has_suffix: bool
    regime: Regime

    @property
    def ratio(self) -> Ball:
        """The largest ratio of two content weights."""
        return self.spread.apply("exp")


@dataclass(frozen=True, eq=False)
class SecondLayer:
    """The heads; rho_1 = radius and diam_1 = diameter of what they read, refined by the box; Lambda = readout_gain."""

    heads: tuple[SecondHead, ...]
    radius: Ball
    diameter: Ball
    readout_gain: Ball


def weigh_second_layer(
    model: LimitTransformer, first: FirstLayer, regimes: tuple[Regime, ...], box: Box | None
) -> SecondLayer:
    """The constants of layer 2, with rho_1 and diam_1 replaced by those of the box where it is smaller.

        omega_2 = ||W|| rho_1 diam_1,   D_2 = ||V|| diam_1,   beta = ||V|| + D_2 ||W|| rho_1,
        kappa = ||W|| diam_1 D_2 / 4,   Lambda = ||U|| (1 + ||B_2|| ||A_2||)
        box: rho_1 = ||max(|hi|, |lo|)||, diam_1 = ||wd||, omega_2 = wd.(|W ctr| + |W| wd / 2), D_2 = || |V| wd ||

    Source: two-layer note, section 2.
    """
    radius, width = first.radius, first.diameter
    if box is not None:
        radius, width = least(radius, length(box.farthest)), least(width, length(box.widths))
    layer = model.layers[1]
    outer, inner, _ = _mlp_norms(layer)
    return SecondLayer(
        heads=tuple(
            _second_head(head, regime, radius, width, box) for head, regime in zip(layer.heads, regimes, strict=True)
        ),
        radius=radius,
        diameter=width,
        readout_gain=operator_norm(exact(model.unembedding)) * (1 + outer * inner),
    )


def _second_head(head: Head, regime: Regime, radius: Ball, width: Ball, box: Box | None) -> SecondHead:
    content, value = exact(head.key).transpose() * exact(head.query), exact(head.value)
    logit_norm, value_norm = operator_norm(content), operator_norm(value)
    spread, across = logit_norm * radius * width, value_norm * width
    if box is not None:
        spread, across = least(spread, _box_spread(content, box)), least(across, _box_diameter(value, box))
    if head.known_spread is not None:
        spread = least(spread, Ball.of(head.known_spread))
    if head.known_diameter is not None:
        across = least(across, Ball.of(head.known_diameter))
    if sees_nothing_at_first(np.asarray(head.phi)):  # a short string may give 0: count it among the values
        reach = value_norm * radius
        across = across if reach.certainly_less(across) else reach
    return SecondHead(
        spread=spread,
        diameter=across,
        key_gain=value_norm + across * logit_norm * radius,
        query_gain=Fraction(1, 4) * logit_norm * width * across,
        atoms=bool(regime.offsets),
        has_suffix=head.has_suffix_term,
        regime=regime,
    )


def _absolute(matrix: RationalMatrix) -> RationalMatrix:
    return matrix_of([[abs(value) for value in row] for row in entries(matrix)])


def _column(vector: list[Fraction]) -> RationalMatrix:
    return matrix_of([[value] for value in vector])


def _box_spread(content: RationalMatrix, box: Box) -> Ball:
    at_centre = entries(content * _column(box.centre))
    around = entries(_absolute(content) * _column(box.widths))
    terms = zip(box.widths, at_centre, around, strict=True)
    return Ball.of(sum((wd * (abs(middle[0]) + extra[0] / 2) for wd, middle, extra in terms), Fraction(0)))


def _box_diameter(value: RationalMatrix, box: Box) -> Ball:
    return length(row[0] for row in entries(_absolute(value) * _column(box.widths)))


def _mlp_norms(layer: Layer) -> tuple[Ball, Ball, Ball]:
    """||B||, ||A|| and ||psi(b)||, all 0 without an MLP."""
    if layer.mlp is None or not len(layer.mlp.inner):
        return Ball.of(0), Ball.of(0), Ball.of(0)
    squares = total(value * value for value in _at_bias(layer.mlp))
    return operator_norm(exact(layer.mlp.outer)), operator_norm(exact(layer.mlp.inner)), squares.apply("sqrt")


def _at_bias(mlp: MLP) -> Iterable[Ball]:
    for name, bias in zip(mlp.activations, np.asarray(mlp.bias), strict=True):
        value = Ball.of(float(bias))
        if name in ("tanh", "sin"):
            value = value.apply(name)
        yield Ball.of(max(float(bias), 0.0)) if name == "relu" else value
