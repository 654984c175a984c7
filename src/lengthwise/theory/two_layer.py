"""Two layers of log-suffix attention: how long training strings must be, and which theorem says so."""

import math
from dataclasses import replace
from fractions import Fraction

from lengthwise.limit.model import Layer, LimitTransformer
from lengthwise.theory.answer import Bound, Length, NoBound, Other, Term, log2_upper
from lengthwise.theory.sampling_rates import Sampler
from lengthwise.theory.simulation import Pair, sampler_name, simulated_pair
from lengthwise.theory.two_layer_forms import (
    cubic_form,
    cubic_length,
    least_margin,
    lower_bounds,
    lower_bounds_of,
    published_forms,
    quadratic_form,
)
from lengthwise.theory.window_solver import Windows, least_windows
from lengthwise.theory.words import number

PARTS = (
    ("sampling", "Lambda sum D_2 e^spread_2 * a_bulk", "smaller layer-2 logits or values"),
    ("histogram", "Lambda L_1 {...} with a_histogram, a_end", "smaller layer-1 logits, or heads decided by position"),
    ("limit", "2 Delta_lim", "a larger position margin, or a smaller spread of layer-1 logits"),
)
Candidate = tuple[Length, str, str]
SAMPLERS: tuple[Sampler, ...] = ("windows", "balanced")
SOURCE = "two-layer note, section 6"
NEAR = Fraction(1, 10**6)  # a margin below this is told as a near tie


def two_layer_bound(first: LimitTransformer, second: LimitTransformer | None, error: Fraction) -> Bound | NoBound:
    """The training length for two log-suffix models of at most two layers: the least that our theorems give.

        |x| > N:   ||f(x) - f(z)|| + ||g(x) - g(z)|| <= error for some z with |z| <= N, a subsequence of x

    so agreement within delta on *all* strings up to N gives delta + error everywhere (2-norm of the outputs).
    Source: two-layer note, Theorems A and B: exact solutions for both window samplers with the printed and with the
    smoothed margin, and both closed forms. Ours: without a second model, N holds for the first against every model
    with no worse constants, because the right side of Theorem A grows with each of them; a model of one layer gets a
    second one that does nothing.
    """
    models = [_with_two_layers(model) for model in (first, first if second is None else second)]
    pairs = {smoothed: simulated_pair(*models, smoothed=smoothed) for smoothed in (True, False)}
    solved = [
        (found, smoothed)
        for smoothed, pair in pairs.items()
        for sampler in SAMPLERS
        if (found := least_windows(pair, error, sampler)) is not None
    ]
    candidates = [_exact(found, smoothed) for found, smoothed in solved]
    candidates.append((cubic_form(pairs[False], error), "Theorem B.2", "closed form, stratified windows (S1)"))
    candidates.append((quadratic_form(pairs[False], error), "Theorem B.3", "closed form, balanced windows (S2)"))
    length, theorem, how = min(candidates, key=lambda candidate: candidate[0].log2)
    if not math.isfinite(length.log2):
        reason = "the constants of the models are too large to be represented, even as powers of two"
        return NoBound(reason, "scale the layer-2 logits down, or measure with `shorten`", first.attention)
    others = [
        Other(f"{name}, {form}", found, "a valid training length too", SOURCE)
        for found, name, form in candidates
        if form != how
    ]
    return Bound(
        length=length,
        error=error,
        window=None,
        terms=_terms(pairs[True], error, solved),
        theorem=f"{theorem}, {how}",
        source=SOURCE,
        attention=first.attention,
        hypotheses=_hypotheses(pairs[True], second is None),
        lower_bounds=lower_bounds(pairs[False], error),
        others=(*others, *_chain(pairs[True], error), *published_forms(pairs[False], error)),
    )


def closed_bound(complexity: Fraction, margin: Fraction | None, locality: int, period: int, error: Fraction) -> Bound:
    """The training length for every pair of two-layer models whose complexities and margins are no worse.

    Source: two-layer note, Theorem B.2, with C(f) = C(g) = complexity; a margin of None is infinite.
    """
    total = 2 * complexity
    length = cubic_length(total, log2_upper(total), margin, locality, period, error)
    known = "infinite" if margin is None else number(margin)
    return Bound(
        length=length,
        error=error,
        window=None,
        terms=(Term("sampling", length, "(2 C / error)^max(3, 1/margin)", "a smaller complexity, or a larger margin"),),
        theorem="Theorem B.2, closed form, stratified windows (S1)",
        source=SOURCE,
        attention="log-suffix",
        hypotheses=(
            "two layers of log-suffix attention, infinite precision, output at the last position",
            f"complexity of both models at most {number(complexity)}, position margin at least {known}",
            f"period {period}, locality {locality}",
            "agreement is assumed on all strings up to the training length; errors are Euclidean norms",
        ),
        lower_bounds=lower_bounds_of(margin, 0.0, error),
    )


def _with_two_layers(model: LimitTransformer) -> LimitTransformer:
    """The model, with a second layer that changes nothing where it has one layer."""
    return model if model.depth == 2 else replace(model, layers=(*model.layers, Layer()))


def _exact(found: Windows, smoothed: bool) -> Candidate:
    margin = "smoothed margin" if smoothed else "printed margin"
    searched = "" if found.searched == "every window" else ", on a grid of windows"
    return Length.of(found.length), "Theorem B.1", f"{sampler_name(found.sampler)}, {margin}{searched}"


def _chain(pair: Pair, error: Fraction) -> tuple[Other, ...]:
    found = least_windows(pair, error, "chain")
    if found is None:
        return ()
    statement = "the published sampler with our constants and the smoothed margin"
    return (Other("Markov chain (M)", Length.of(found.length), statement, "two-layer note, Theorem A"),)


def _terms(pair: Pair, error: Fraction, solved: list[tuple[Windows, bool]]) -> tuple[Term, ...]:
    """Each term by the length that it alone would need, with the sampler of the shortest solution."""
    sampler: Sampler = min(solved, key=lambda s: s[0].length)[0].sampler if solved else "windows"
    result = []
    for kind, (name, formula, remedy) in enumerate(PARTS):
        alone = least_windows(pair, error, sampler, only=(kind,))
        length = Length.of(alone.length) if alone else Length(None, math.inf)
        result.append(Term(name, length, formula, remedy))
    return tuple(result)


def _hypotheses(pair: Pair, alone: bool) -> tuple[str, ...]:
    margin = least_margin(pair)
    other = ("the other model's constants, ranks and decays to the limit are no worse than these",) if alone else ()
    return (
        "at most two layers of log-suffix attention, infinite precision, output at the last position",
        "activations with slopes of at most 1",
        f"position margin {'infinite' if margin is None else number(margin)}",
        "agreement is assumed on all strings up to the training length; errors are Euclidean norms",
        *other,
        *_near_ties(margin),
    )


def _near_ties(margin: Fraction | None) -> tuple[str, ...]:
    """What positional logits that nearly coincide do to the margin, and what to do about it."""
    if margin is None or margin > NEAR:
        return ()
    return (
        f"two positional logits (or one and 1) differ by only {float(margin):.3g}: the limit is reached too slowly to "
        "help at any length in sight; make them equal (lengthwise.limit.quantities.snap_positions) and bound that model",
    )
