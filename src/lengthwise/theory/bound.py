"""How long training strings must be for two models that agree on them to agree on all longer ones."""

import math
from fractions import Fraction
from typing import Any

from lengthwise.errors import WrongInput
from lengthwise.limit.model import LimitTransformer
from lengthwise.limit.patterns import Comparison
from lengthwise.theory.answer import Bound, NoBound
from lengthwise.theory.average_bound import average_bound
from lengthwise.theory.from_constants import Constants, constants_bound, trivial_error
from lengthwise.theory.one_layer import pair_bound
from lengthwise.theory.one_model import class_bound
from lengthwise.theory.pair import allowed_error, check_pair
from lengthwise.theory.plain_bound import plain_class_bound, plain_pair_bound
from lengthwise.theory.two_layer import two_layer_bound


def bound(
    first: LimitTransformer | Constants,
    second: LimitTransformer | None = None,
    *,
    error: Fraction | float | str,
    same_attention: bool = False,
    average: Any = None,
) -> Bound | NoBound:
    """A training length for two models, for one against every model that is no worse, or for all within constants.

    If two models agree within delta on all strings of the lengths in its window, they differ by at most delta + error
    on every longer one. One layer of log-length attention with bits: Theorem 2; one of plain attention: Theorem P; one
    or two of log-suffix attention: Theorem B, about all lengths up to N. Anything else has no bound, and the answer says
    why.

    same_attention, for one model: the other one is known to attend like it. average: Dirichlet weights of the tokens,
    one number a token or one for all; then the error is an expected one (Theorem 3, and its form for plain attention).
    """
    if isinstance(first, Constants):
        if second is not None or same_attention or average is not None:
            raise WrongInput(
                "constants alone", "constants and more", "leave the rest out; same_attention is a constant"
            )
        return constants_bound(first, error)
    other = first if second is None else second
    check_pair(first, other)
    allowed = allowed_error(error)
    if same_attention and second is not None:
        raise WrongInput(
            "same attention only where one model is unknown", "two models", "their attention is compared; leave it out"
        )
    if same_attention and first.attention == "log-suffix":
        raise WrongInput("same attention for one layer of log-length attention", "log-suffix", "leave it out")
    obstacle = no_bound(first, other)
    if average is not None:
        return obstacle or _average(first, second, allowed, average)
    if obstacle is not None:
        return obstacle
    if first.attention == "log-suffix":
        return two_layer_bound(first, second, allowed)
    comparison = Comparison(first) if second is None else Comparison(first, second)
    obstacle = _checked(comparison, allowed, times=2 if second is None else 1)
    if obstacle is not None:
        return obstacle
    if first.attention == "plain":
        return plain_class_bound(first, allowed) if second is None else plain_pair_bound(comparison, allowed)
    return class_bound(comparison, allowed, same_attention) if second is None else pair_bound(comparison, allowed)


def _average(first: LimitTransformer, second: LimitTransformer | None, error: Fraction, alpha: Any) -> Bound | NoBound:
    if second is None:
        raise WrongInput("two models for an average", "one", "name the other model too")
    if first.attention == "log-suffix":
        reason = "the average case is proved for plain attention and for log-length attention with bits"
        return NoBound(reason, f"ask for the worst case, which has a bound for {first.attention}", first.attention)
    return _checked(Comparison(first, second), error) or average_bound(first, second, error, alpha)


def _checked(comparison: Comparison, error: Fraction, times: int = 1) -> NoBound | None:
    """Refuses an error that any two strings meet; says where there is no sensitivity to share it by."""
    total = times * sum(comparison.sensitivities.values(), Fraction(0))
    if total == math.inf:
        reason = "a head feeds a Heaviside step, so its sensitivity is infinite"
        return NoBound(reason, "replace the step by a steep ReLU ramp", comparison.models[0].attention)
    if 0 < total <= error:
        raise trivial_error(error, Fraction(total))
    return None


def no_bound(first: LimitTransformer, second: LimitTransformer) -> NoBound | None:
    """Why no theorem says anything about two models, or None where one does."""
    rules = list(dict.fromkeys((first.attention, second.attention)))
    attention = " and ".join(rules)
    if len(rules) > 1:
        return NoBound(
            f"no theorem compares {rules[0]} with {rules[1]} attention",
            "compare models with one attention rule",
            attention,
        )
    if rules == ["log-suffix"]:
        return _no_two_layer_bound(first, second)
    depth = max(first.depth, second.depth)
    if depth > 1:
        reason = f"no theorem speaks of {depth} layers of {attention} attention"
        return NoBound(
            reason, "two layers of log-suffix attention have bounds; `shorten` measures any model", attention
        )
    if rules == ["log-length"] and None in (first.bits, second.bits):
        return NoBound(
            "log-length attention without bits changes its weights with the length, and no theorem covers it",
            "give the precision (--bits, or bits= in the model)",
            attention,
        )
    return None


def _no_two_layer_bound(first: LimitTransformer, second: LimitTransformer) -> NoBound | None:
    """Theorem B wants at most two layers, and activations that never move more than their input."""
    depth = max(first.depth, second.depth)
    if depth > 2:
        reason = f"the theorems speak of at most two layers, and there are {depth}"
        return NoBound(reason, "`shorten` measures models of any depth", "log-suffix")
    layers = (layer for model in (first, second) for layer in model.layers)
    if any(layer.mlp is not None and "heaviside" in layer.mlp.activations for layer in layers):
        reason = "a Heaviside step moves its output by 1 however little its input moves"
        return NoBound(reason, "replace the step by a steep ReLU ramp", "log-suffix")
    return None
