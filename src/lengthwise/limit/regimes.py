"""Where a head of a log-suffix model looks in the limit: at the bulk, at fixed offsets, or at both, and by what margin."""

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal

import numpy as np

from lengthwise.errors import WrongInput, shown
from lengthwise.limit.model import Head, LimitTransformer
from lengthwise.limit.tables import exact_phi

Domination = Literal["token", "balanced", "position"]


@dataclass(frozen=True)
class Regime:
    """What decides a head's limit: its largest phi, the offsets that attain it (if phi >= 1), and its margin.

    margin is a positive rational or math.inf; rate = min(margin, 1) is the exponent of the limit error.
    """

    domination: Domination
    largest: Fraction | None
    offsets: tuple[int, ...]
    margin: Fraction | float
    rate: Fraction


def head_regime(head: Head, locality: int) -> Regime:
    """phi* = max phi against 1, T* = where it is attained if phi* >= 1, and gamma = how far the second is behind.

        P = {phi(0..tau)} and 1, as a set;   gamma = max P - second largest of P (infinity if P has one element)
        token-dominated: phi* < 1;   balanced: phi* = 1;   position-dominated: phi* > 1

    Source: two-layer note, section 1.4. Ours: a masked offset (phi = -inf) is left out of P and of phi*. In the proof
    of its Lemma 1 such an offset contributes weight 0 where 1 is subtracted if phi* <= 1, an error i^-1 <= i^-rate,
    and nothing at all if phi* > 1, so the bound (tau + 1) e^spread i^-rate holds with P so read. What masking does
    change is where all keys are masked: see `complexity`.
    """
    phi = [value for value in exact_phi(head, locality) if value is not None]
    largest = max(phi, default=None)
    ordered = sorted({*phi, Fraction(1)}, reverse=True)
    margin: Fraction | float = ordered[0] - ordered[1] if len(ordered) > 1 else math.inf
    rate = Fraction(min(margin, 1))
    if largest is None or largest < 1:
        return Regime("token", largest, (), margin, rate)
    offsets = tuple(k for k, value in enumerate(exact_phi(head, locality)) if value == largest)
    return Regime("balanced" if largest == 1 else "position", largest, offsets, margin, rate)


def regimes(model: LimitTransformer, locality: int | None = None) -> tuple[tuple[Regime, ...], ...]:
    """The regime of every head, layer by layer, with phi padded by 0 to the model's locality or a larger one."""
    _log_suffix(model)
    shared = max(model.locality, locality or 0)
    return tuple(tuple(head_regime(head, shared) for head in layer.heads) for layer in model.layers)


def position_margin(model: LimitTransformer, locality: int | None = None) -> Fraction | float:
    """gamma(f) = min of the heads' margins: all of layer 1, and those later heads that have a suffix term.

    Source: two-layer note, section 1.4. A positive rational, or math.inf.
    """
    margins = [
        regime.margin
        for depth, (layer, found) in enumerate(zip(model.layers, regimes(model, locality), strict=True))
        for head, regime in zip(layer.heads, found, strict=True)
        if depth == 0 or head.has_suffix_term
    ]
    return min(margins, default=math.inf)


def snap_positions(model: LimitTransformer, tolerance: float = 1e-9) -> LimitTransformer:
    """The model with nearly equal positional logits of a head made equal, and those near 1 or 0 made 1 or 0.

    A margin of 1e-12 is true and useless. Values are chained while neighbours are at most the tolerance apart; a chain
    becomes 1 or 0 if that is in it, else the value of its first offset. The snapped model is the one to evaluate
    *and* to bound. Source: two-layer note, section 1.4, last lines.
    """
    _log_suffix(model)
    if not 0 <= tolerance < 0.5:
        raise WrongInput("a tolerance in [0, 0.5)", shown(tolerance), "0 and 1 must stay apart", "tolerance")

    def snapped(head: Head) -> Head:
        phi = np.asarray(head.phi)
        finite = sorted({1.0, 0.0, *(float(value) for value in phi if np.isfinite(value))})
        chains: list[list[float]] = []
        for value in finite:
            if chains and Fraction(value) - Fraction(chains[-1][-1]) <= Fraction(tolerance):
                chains[-1].append(value)
            else:
                chains.append([value])
        order = [1.0, 0.0, *(float(value) for value in phi)]
        common = {value: next(v for v in order if v in chain) for chain in chains for value in chain}
        return replace(head, phi=np.array([common.get(float(value), value) for value in phi], dtype=phi.dtype))

    layers = tuple(replace(layer, heads=tuple(snapped(head) for head in layer.heads)) for layer in model.layers)
    return replace(model, layers=layers)


def _log_suffix(model: LimitTransformer) -> None:
    if model.attention != "log-suffix":
        raise WrongInput(
            "log-suffix attention", model.attention, "for the other rules ask for the logit margin", "attention"
        )
