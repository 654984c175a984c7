"""How the numbers of a bound are written for people."""

from collections.abc import Iterable
from fractions import Fraction
from math import inf

LONGEST = 10_000  # denominators of rationals that a person wants to see


def number(value: Fraction | float) -> str:
    """A rational as it is where it is short, else six digits; infinity in words."""
    if value == inf:
        return "infinite"
    rational = Fraction(value)
    if rational.denominator < LONGEST:
        return f"{rational}"
    try:
        return f"{float(rational):.6g}"
    except OverflowError:
        return f"about 2^{abs(rational.numerator).bit_length() - rational.denominator.bit_length()}"


def numbers(values: Iterable[Fraction]) -> str:
    """Several numbers, equal ones counted."""
    written: dict[str, int] = {}
    for value in values:
        written[number(value)] = written.get(number(value), 0) + 1
    return ", ".join(text if count == 1 else f"{text} ({count} times)" for text, count in written.items()) or "none"


def head_name(head: tuple[int, int]) -> str:
    """A head (model, head) in words."""
    return f"head {head[1] + 1} of the {('first', 'second')[head[0]]} model"
