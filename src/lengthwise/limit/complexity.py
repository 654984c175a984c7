"""What a two-layer log-suffix model weighs: every constant its bounds are made of, and its complexity C.

The constants are computed in rationals and balls (layer_constants.py); the floats in the record are rounded up.
"""

from dataclasses import dataclass
from fractions import Fraction

from lengthwise.errors import WrongInput, shown
from lengthwise.exact import ceil_float
from lengthwise.limit.layer_constants import FirstHead, SecondHead, total, weigh_first_layer, weigh_second_layer
from lengthwise.limit.model import LimitTransformer
from lengthwise.limit.norms import root
from lengthwise.limit.reach import first_layer_box
from lengthwise.limit.regimes import Regime, position_margin, regimes


@dataclass(frozen=True)
class FirstLayerHead:
    """Layer 1, head h: spread omega_h of its content logits, diameter D_h of its values, histogram share xi_h."""

    spread: float
    diameter: float
    share: Fraction
    regime: Regime


@dataclass(frozen=True)
class SecondLayerHead:
    """Layer 2, head h: spread omega_2, diameter D_2, key gain beta, query gain kappa.

    atoms: whether the limit keeps single positions (at_h); has_suffix: whether phi is there at all (has_h).
    """

    spread: float
    diameter: float
    key_gain: float
    query_gain: float
    atoms: bool
    has_suffix: bool
    regime: Regime


@dataclass(frozen=True)
class Complexity:
    """All constants of a two-layer model; floats are upper bounds, infinity where none fits (then the log2 is kept).

    mlp_gain lambda_1, histogram_gain L_1, offset_gain M_1, radius rho_1, diameter diam_1 (layer 1);
    readout_gain Lambda; sampling_gain G, amplification Theta, histogram_sensitivity L, limit_gain J, complexity C.
    margin gamma(f), exact. symbols, period, locality: S, Delta, tau.
    """

    symbols: int
    period: int
    locality: int
    margin: Fraction | float
    first: tuple[FirstLayerHead, ...]
    second: tuple[SecondLayerHead, ...]
    mlp_gain: float
    histogram_gain: float
    offset_gain: float
    radius: float
    diameter: float
    readout_gain: float
    sampling_gain: float
    amplification: float
    histogram_sensitivity: float
    limit_gain: float
    complexity: float
    log2_sampling_gain: float
    log2_histogram_sensitivity: float
    log2_limit_gain: float
    log2_complexity: float


def complexity(
    model: LimitTransformer, box: bool = True, period: int | None = None, locality: int | None = None
) -> Complexity:
    """The complexity C(f) of a two-layer log-suffix model, with every constant on the way.

        G = Lambda sum_h D_2 e^omega_2                   Theta = 1 + sum_h (kappa + 3 beta e^omega_2)
        L = Lambda L_1 Theta                             J = 2 Lambda (M_1 Theta + (tau + 1) sum_h has D_2 e^omega_2)
        C = 6 (tau + Delta + sqrt S)(G + L) + J          (L_1, M_1 and the constants of the heads: layer_constants.py)

    Source: two-layer note, section 2; box: its box refinement, taken wherever it is smaller. period and locality: a
    common multiple and a larger locality, for a pair of models. Declared spreads and diameters of second-layer heads
    are taken where smaller.
    Ours: Lemma 1 says that a head's output is a mean of values; where a head masks offset 0, position 1 (and any
    position with all keys masked) gets 0 instead, so for such a head 0 counts as one of its values.
    """
    _check(model, period)
    tau, delta = max(model.locality, locality or 0), period or model.period
    found = regimes(model, tau)
    one = weigh_first_layer(model, found[0], tau)
    two = weigh_second_layer(model, one, found[1], first_layer_box(model) if box else None)
    sampling = two.readout_gain * total(head.diameter * head.ratio for head in two.heads)
    theta = 1 + total(head.query_gain + 3 * head.key_gain * head.ratio for head in two.heads)
    histogram = two.readout_gain * one.histogram_gain * theta
    suffixes = total(head.diameter * head.ratio for head in two.heads if head.has_suffix)
    limit = 2 * two.readout_gain * (one.offset_gain * theta + (tau + 1) * suffixes)
    everything = 6 * (tau + delta + root(Fraction(model.symbols))) * (sampling + histogram) + limit
    return Complexity(
        symbols=model.symbols,
        period=delta,
        locality=tau,
        margin=position_margin(model, tau),
        first=tuple(_first(head) for head in one.heads),
        second=tuple(_second(head) for head in two.heads),
        mlp_gain=one.mlp_gain.upper(),
        histogram_gain=one.histogram_gain.upper(),
        offset_gain=one.offset_gain.upper(),
        radius=two.radius.upper(),
        diameter=two.diameter.upper(),
        readout_gain=two.readout_gain.upper(),
        sampling_gain=sampling.upper(),
        amplification=theta.upper(),
        histogram_sensitivity=histogram.upper(),
        limit_gain=limit.upper(),
        complexity=everything.upper(),
        log2_sampling_gain=sampling.log2_upper(),
        log2_histogram_sensitivity=histogram.log2_upper(),
        log2_limit_gain=limit.log2_upper(),
        log2_complexity=everything.log2_upper(),
    )


def _first(head: FirstHead) -> FirstLayerHead:
    return FirstLayerHead(ceil_float(head.spread), head.diameter.upper(), head.share, head.regime)


def _second(head: SecondHead) -> SecondLayerHead:
    return SecondLayerHead(
        spread=head.spread.upper(),
        diameter=head.diameter.upper(),
        key_gain=head.key_gain.upper(),
        query_gain=head.query_gain.upper(),
        atoms=head.atoms,
        has_suffix=head.has_suffix,
        regime=head.regime,
    )


def _check(model: LimitTransformer, period: int | None) -> None:
    """Two layers, log-suffix attention (checked with the regimes), activations that never move more than their input."""
    if model.depth != 2:
        raise WrongInput(
            "a model with two layers", f"{model.depth}", "for one layer ask for sensitivity and logit margin", "layers"
        )
    for index, layer in enumerate(model.layers):
        if layer.mlp is not None and "heaviside" in layer.mlp.activations:
            raise WrongInput(
                "activations with slopes of at most 1 (relu, tanh, sin, identity)",
                "heaviside",
                "the two-layer bounds need them: a step moves its output by 1 however little its input moves",
                f"layers.{index}.mlp.activation",
            )
    if period is not None and (period < 1 or period % model.period):
        raise WrongInput(f"a multiple of the period {model.period}", shown(period), "pass a common multiple", "period")
