"""How long training strings must be for two models that agree on them to agree on all longer ones."""

import math
from fractions import Fraction

from lengthwise.errors import WrongInput
from lengthwise.limit.model import LimitTransformer
from lengthwise.limit.sensitivity import sensitivity
from lengthwise.theory.answer import Bound, NoBound
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
) -> Bound | NoBound:
    """A training length for two models, for one against every model that is no worse, or for all within constants.

    If two models agree within delta on all strings of the lengths in its window, they differ by at most delta + error
    on every longer one. One layer: Theorem 2 for log-length attention with bits, Theorem P for plain attention. Two
    layers of log-suffix attention: the two-layer theorems. For anything else the answer says why. same_attention, for one model: the other one is known to attend like it.
    """
    if isinstance(first, Constants):
        if second is not None or same_attention:
            raise WrongInput("constants alone", "constants and more", "same_attention is one of the constants")
        return constants_bound(first, error)
    other = first if second is None else second
    check_pair(first, other)
    allowed = allowed_error(error)
    if same_attention and second is not None:
        raise WrongInput(
            "same attention only where one model is unknown", "two models", "their attention is compared; leave it out"
        )
    if second is not None and all(model.depth == 2 and model.attention == "log-suffix" for model in (first, second)):
        return two_layer_bound(first, second, error=allowed)
    obstacle = no_bound(first, other)
    if obstacle is not None:
        return obstacle
    total = sum((Fraction(slope) for model in (first, other) for slope in sensitivity(model)), Fraction(0))
    if 0 < total <= allowed:
        raise trivial_error(allowed, total)
    if first.attention == "plain":
        return plain_class_bound(first, allowed) if second is None else plain_pair_bound(first, other, allowed)
    return class_bound(first, allowed, same_attention) if second is None else pair_bound(first, other, allowed)


def no_bound(first: LimitTransformer, second: LimitTransformer) -> NoBound | None:
    """Why the theorems of one layer say nothing about two models, or None where one of them does."""
    rules = list(dict.fromkeys((first.attention, second.attention)))
    attention = " and ".join(rules)
    depth = max(first.depth, second.depth)
    if depth > 1 or "log-suffix" in rules:
        what = f"{depth} layers" if depth > 1 else "log-suffix attention"
        return NoBound(
            f"the theorems of one layer do not speak of {what}",
            "the two-layer theorems take two models, each of two log-suffix layers",
            attention,
        )
    if len(rules) > 1:
        return NoBound(
            f"no theorem compares {rules[0]} with {rules[1]} attention",
            "compare models with one attention rule",
            attention,
        )
    if rules == ["log-length"] and None in (first.bits, second.bits):
        return NoBound(
            "log-length attention without bits changes its weights with the length, and no theorem covers it",
            "give the precision (--bits, or bits= in the model)",
            attention,
        )
    infinite = [model for model in (first, second) if math.inf in sensitivity(model)]
    if infinite:
        return NoBound(
            "a head feeds a Heaviside step, so its sensitivity is infinite",
            "replace the step by a steep ReLU ramp",
            attention,
        )
    return None
