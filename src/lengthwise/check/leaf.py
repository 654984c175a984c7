"""The enclosure of f - T on a cell, from its corners: section 8 of the format, step by step.

All numbers are integers with `network.digits` binary places; every one is rounded so that the claim gets harder, and the
slack of the scene, which covers the roundings in the columns and in the weights, is added at the end.
"""

from fractions import Fraction
from itertools import compress
from math import ceil

from .corner import Columns, Corner, Scene, Whole, check_scored, reweighting
from .network import downward

SLOPE = 50  # binary places of s_j


def enclosure(scene: Scene, corners: list[Corner]) -> tuple[int, int] | None:
    """Two numbers around f - T for all strings between these corners; None if some head has no mass: there are none."""
    filled: list[Columns] = []
    for head in range(len(scene.weights)):
        first = next((c.own[head] for c in corners if c.masses[head]), None)
        if first is None:
            return None
        filled.append(first)
    seen = [c for c in corners if c.masses[0]]
    wholes = [c.whole or scene.whole([v or f for v, f in zip(c.own, filled, strict=True)]) for c in seen]
    delta = _other_weights(scene, corners, filled)
    below, above = _gaps(scene, wholes)
    lows = [w.low - delta - gap for w, gap in zip(wholes, below, strict=True)]
    highs = [w.high + delta + gap for w, gap in zip(wholes, above, strict=True)]
    low, high = _against_target(scene, corners, seen, lows, highs)
    ends = downward(-scene.tail, scene.network.digits), -downward(scene.tail, scene.network.digits)
    return low + ends[0] - scene.slack, high + ends[1] + scene.slack


def _other_weights(scene: Scene, corners: list[Corner], filled: list[Columns]) -> int:
    """Step 1, delta: sum over the other heads of D_a (|x_a| + sum_j |w_j| |x_aj|)."""
    total, first = Fraction(0), [c.masses[0] for c in corners]
    network = scene.network
    for head in range(1, len(filled)):
        part = reweighting([c.masses[head] for c in corners], first)
        if part:
            parts = [c.own[head] or filled[head] for c in corners]
            spreads = [max(column) - min(column) for column in zip(*parts, strict=True)]
            bent = zip(network.factors, spreads[1 + network.relus :], strict=True)
            total += part * (sum(spreads[: 1 + network.relus]) + sum((f * s for f, s in bent), Fraction(0)))
    return ceil(total)


def _gaps(scene: Scene, wholes: list[Whole]) -> tuple[list[int], list[int]]:
    """Step 1: by seen corner, what F^- loses and F^+ gains because the units are not linear.

    A unit that is positive at all corners or at none is linear up to rounding (s_j = 1 or 0), so only the others are looked at.
    """
    network, columns = scene.network, [w.columns for w in wholes]
    if len(wholes) == 1:
        return [0], [0]
    some, every = wholes[0].positive, wholes[0].positive
    for w in wholes[1:]:
        some, every = some | w.positive, every & w.positive
    mixed = (some ^ every).to_bytes(network.relus, "little")
    found = []
    for first, last in ((0, len(network.up)), (len(network.up), network.relus)):
        gaps = [0] * len(wholes)
        for index in compress(range(1 + first, 1 + last), mixed[first:last]):
            values = [row[index] for row in columns]
            top, bottom = max(values), min(values)
            slope = (top << SLOPE) // (top - bottom)
            gaps = [
                gap + ((v << SLOPE) - slope * v if v > 0 else -slope * v) for gap, v in zip(gaps, values, strict=True)
            ]
        found.append([-(-gap >> SLOPE) for gap in gaps])
    bent = _eighths(scene, columns)
    return [gap + bent for gap in found[0]], [gap + bent for gap in found[1]]


def _eighths(scene: Scene, columns: list[Columns]) -> int:
    """Sum over the sin and tanh units of |w_j| |z_j|^2 / 8."""
    network, total = scene.network, Fraction(0)
    for unit, (factor, off) in enumerate(zip(network.factors, network.off, strict=True)):
        values = [row[1 + network.relus + unit] for row in columns]
        total += factor * (max(values) - min(values) + 2 * off) ** 2
    return ceil(total / (8 << network.digits))


def _against_target(
    scene: Scene, corners: list[Corner], seen: list[Corner], lows: list[int], highs: list[int]
) -> tuple[int, int]:
    """Steps 2 to 5."""
    scored = [c for c in corners if c.ratio is not None]
    check_scored(corners)
    if not scored:
        return min(lows), max(highs)
    ratios = [c.ratio for c in scored if c.ratio is not None]
    bend = (max(ratios) - min(ratios)) ** 2 / 8 if scene.case.target.activation == "sin" else 0
    kappa = ceil(bend * (1 << scene.network.digits))
    least, most = min(c.low for c in scored), max(c.high for c in scored)
    middle = (least + most) // 2
    part = reweighting([c.under for c in corners], [c.masses[0] for c in corners])
    apart = kappa + ceil(part * (most - least))
    ends = [(c.low, c.high) if c.ratio is not None else (middle, middle) for c in seen]
    low = min(low - top for low, (_, top) in zip(lows, ends, strict=True)) - apart
    high = max(high - bottom for high, (bottom, _) in zip(highs, ends, strict=True)) + apart
    low, high = max(low, min(lows) - most - kappa), min(high, max(highs) - least + kappa)
    bare = [
        (low, high)
        for c, low, high in zip(seen, lows, highs, strict=True)
        if c.ratio is None and not scene.always_scored
    ]
    return min([low, *(low for low, _ in bare)]), max([high, *(high for _, high in bare)])
