"""Words far beyond the constants of a program: they show whether it means what it says, or only counts to what it saw."""

import random

from lengthwise.crasp.fragment import fragment
from lengthwise.crasp.syntax import Program
from lengthwise.verdict.machine import Word

CONSECUTIVE, MOST_FAR = 40, 2_500


def far_words(symbols: int, repeats: int) -> list[Word]:
    """Words x y^t z, x and z of at most one symbol and y of one or two, for 40 values of t from `repeats` on.

    A program that says by constants what it cannot say, as count('a') == 9 or count('a') == 18 for a number divisible
    by 9, is wrong on one of them, if the constants are smaller than the repeats and the number is at most 40.
    """
    letters = [(symbol,) for symbol in range(symbols)]
    ends: list[Word] = [(), *letters]
    middles: list[Word] = [*letters, *((*one, *two) for one in letters for two in letters)]
    times = range(repeats, repeats + CONSECUTIVE)
    alone = [y * t for y in letters for t in times]
    inside = [x + y * t + z for x in ends for y in middles for z in ends for t in times]
    return inside if len(inside) <= MOST_FAR else [*alone, *random.Random(0).sample(inside, MOST_FAR)]


def reach_of(program: Program) -> int:
    """The largest constant, period or offset of a program: words must be longer to show that it means them."""
    needs = fragment(program)
    return max(needs.largest_constant, needs.period, *needs.offsets, 0)
