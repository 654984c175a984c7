"""Two layers of log-suffix attention: how long training strings must be, and which theorem says so."""

import math
from fractions import Fraction

from lengthwise.errors import WrongInput
from lengthwise.limit.model import LimitTransformer
from lengthwise.theory.answer import Bound, Length, NoBound, Other, Term
from lengthwise.theory.sampling_rates import Sampler
from lengthwise.theory.simulation import Pair, sampler_name, simulated_pair
from lengthwise.theory.two_layer_forms import (
    NOTE,
    cubic_form,
    least_margin,
    lower_bounds,
    published_forms,
    quadratic_form,
)
from lengthwise.theory.window_solver import Windows, least_windows

PARTS = (
    ("sampling", "Lambda sum D_2 e^spread_2 * a_bulk", "smaller layer-2 logits or values"),
    ("histogram", "Lambda L_1 {...} with a_histogram, a_end", "smaller layer-1 logits, or heads decided by position"),
    ("limit", "2 Delta_lim", "a larger position margin, or a smaller spread of layer-1 logits"),
)
Candidate = tuple[Length, str, str]


def two_layer_bound(*models: LimitTransformer, error: Fraction) -> Bound | NoBound:
    """The training length for one or two two-layer models: the least that any of our theorems gives.

        |x| > N:   ||f(x) - f(z)|| + ||g(x) - g(z)|| <= error for some z with |z| <= N, a subsequence of x

    so agreement within delta on *all* strings up to N gives delta + error everywhere (2-norm of the outputs).
    Source: two-layer note, Theorems A and B: exact solutions for both window samplers with the printed and with the
    smoothed margin, and both closed forms. One model alone: the statement about f(x) - f(z).
    """
    _check(models)
    pairs = {smoothed: simulated_pair(*models, smoothed=smoothed) for smoothed in (True, False)}
    solved = [
        (found, smoothed)
        for smoothed, pair in pairs.items()
        for sampler in ("windows", "balanced")
        if (found := least_windows(pair, error, sampler)) is not None
    ]
    candidates = [_exact(found, smoothed) for found, smoothed in solved]
    candidates.append((cubic_form(pairs[False], error), "Theorem B.2", "closed form, stratified windows (S1)"))
    candidates.append((quadratic_form(pairs[False], error), "Theorem B.3", "closed form, balanced windows (S2)"))
    length, theorem, how = min(candidates, key=lambda candidate: candidate[0].log2)
    if not math.isfinite(length.log2):
        return NoBound(
            "the constants of the model are too large to be represented, even as powers of two",
            "scale the layer-2 logits down, or ask for a measured short string with `shorten`",
            models[0].attention,
        )
    others = [candidate for candidate in candidates if candidate[2] != how]
    return Bound(
        length=length,
        error=error,
        window=0,
        terms=_terms(pairs[True], error, solved),
        theorem=f"{theorem}, {how}",
        source=f"{NOTE}, section 6",
        attention=models[0].attention,
        hypotheses=_hypotheses(pairs[True]),
        lower_bounds=lower_bounds(pairs[False], error),
        others=(
            *(Other(f"{t}, {h}", n, "a valid bound too", f"{NOTE}, section 6") for n, t, h in others),
            *_chain(pairs[True], error),
            *published_forms(pairs[False], error),
        ),
    )


def _exact(found: Windows, smoothed: bool) -> Candidate:
    margin = "smoothed margin" if smoothed else "printed margin"
    searched = "" if found.searched == "every window" else ", on a grid of windows"
    return Length.of(found.length), "Theorem B.1", f"{sampler_name(found.sampler)}, {margin}{searched}"


def _chain(pair: Pair, error: Fraction) -> tuple[Other, ...]:
    found = least_windows(pair, error, "chain")
    if found is None:
        return ()
    statement = "the published sampler with our constants and the smoothed margin"
    return (Other("Markov chain (M)", Length.of(found.length), statement, f"{NOTE}, Theorem A"),)


def _terms(pair: Pair, error: Fraction, solved: list[tuple[Windows, bool]]) -> tuple[Term, ...]:
    """Each term by the length that it alone would need, with the sampler of the shortest solution."""
    sampler: Sampler = min(solved, key=lambda s: s[0].length)[0].sampler if solved else "windows"
    result = []
    for kind, (name, formula, remedy) in enumerate(PARTS):
        alone = least_windows(pair, error, sampler, only=(kind,))
        length = Length.of(alone.length) if alone else Length(None, math.inf)
        result.append(Term(name, length, formula, remedy))
    return tuple(result)


def _hypotheses(pair: Pair) -> tuple[str, ...]:
    margin = least_margin(pair)
    return (
        "two layers of log-suffix attention, infinite precision, output at the last position",
        "activations with slopes of at most 1",
        f"position margin {'infinite' if margin is None else margin}",
        "agreement is assumed on all strings up to the training length; errors are Euclidean norms",
    )


def _check(models: tuple[LimitTransformer, ...]) -> None:
    for index, model in enumerate(models):
        if model.attention != "log-suffix":
            raise WrongInput(
                "log-suffix attention", model.attention, "both models need the same rule", f"model {index}"
            )
        if model.symbols != models[0].symbols:
            raise WrongInput(
                f"{models[0].symbols} symbols in both models", f"{model.symbols}", "compare models of one vocabulary"
            )
        if len(model.unembedding) != len(models[0].unembedding):
            raise WrongInput(
                f"{len(models[0].unembedding)} outputs in both models",
                f"{len(model.unembedding)}",
                "compare like with like",
            )
