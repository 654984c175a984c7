"""Whether two models can be compared at all: one vocabulary, the same outputs, a common period of bearable size."""

import math
import re
from fractions import Fraction

from lengthwise.errors import WrongInput, shown
from lengthwise.exact import rational
from lengthwise.limit.model import LimitTransformer

MOST_TYPES = 4096  # tokens times common period: every table of logits has the square of it


def check_pair(first: LimitTransformer, second: LimitTransformer) -> None:
    """Refuses two models that read different strings or give different outputs.

    Different periods and localities are no obstacle: both models are read at the least common multiple of the periods
    and at the larger locality, which changes no attention and no margin. Only a common period too large is refused.
    """
    if first.symbols != second.symbols:
        got = f"{first.symbols} and {second.symbols} tokens"
        raise WrongInput("two models over one vocabulary", got, "compare models that read the same strings")
    if first.tokens and second.tokens and first.tokens != second.tokens:
        mine, other = next((a, b) for a, b in zip(first.tokens, second.tokens, strict=True) if a != b)
        got = f"{shown(mine)} in one where the other has {shown(other)}"
        raise WrongInput("the same tokens in the same order", got, "put the embeddings in one order")
    if len(first.unembedding) != len(second.unembedding):
        got = f"{len(first.unembedding)} and {len(second.unembedding)}"
        raise WrongInput("two models with as many outputs", got, "their difference must be defined")
    types = first.symbols * math.lcm(first.period, second.period)
    if types > MOST_TYPES:
        wanted = f"at most {MOST_TYPES} types (tokens times the least common multiple of the periods)"
        got = f"{first.symbols} tokens with periods {first.period} and {second.period}, so {types}"
        raise WrongInput(wanted, got, "compare models of fewer tokens or smaller periods", "positions")


def allowed_error(error: Fraction | float | str) -> Fraction:
    """An error as the exact rational that was written, 1/10 for the float 0.1; it must be above 0."""
    value = positive_rational(error)
    if value is None:
        raise WrongInput("a finite error above 0", shown(error), "say how far outputs may differ, as 0.1", "error")
    return value


def positive_rational(value: Fraction | float | str) -> Fraction | None:
    """The exact rational that a number is written as, or None where it is not a finite number above 0.

    A decimal exponent of more than five digits is refused: its power of ten would not end.
    """
    text = repr(value) if isinstance(value, float) else value
    if isinstance(text, bool) or (isinstance(text, str) and re.search(r"[eE][+-]?\d{5}", text.replace("_", ""))):
        return None
    try:
        found = rational(text)
    except (ValueError, OverflowError, TypeError, ZeroDivisionError):
        return None
    return found if found > 0 else None
