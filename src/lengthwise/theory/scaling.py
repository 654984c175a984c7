"""A short string with the proportions of a long one: what plain attention needs, whatever the model."""

from collections.abc import Sequence

from lengthwise.theory.build import apportion
from lengthwise.type_counts import class_size


def scale(table: Sequence[int], period: int, size: int) -> tuple[int, ...]:
    """The counts by type of a prefix of class size Z with the proportions of a long one, class by class.

    In class r the types share C_r - (C - Z) places in proportion to n, by largest remainders. The result does not
    depend on any model. Source: one-layer note, section 6b, construction of Theorem P.
    """
    prefix = sum(table)
    short = [0] * len(table)
    for residue in range(period):
        members = [t for t in range(residue, len(table), period) if table[t]]
        places = size + class_size(prefix, residue, period) - prefix // period
        if members:
            for t, share in zip(members, apportion(places, [table[t] for t in members]), strict=True):
                short[t] = share
    return tuple(short)


def window_size(prefix: int, suffix: int, period: int, length: int) -> int:
    """The class size Z with length - period < |z| <= length, for a string with the same residue.

    |z| = tau + 1 + rem + Delta Z with rem = M mod Delta, so Z = floor((length - tau - 1 - rem) / Delta).
    """
    return (length - suffix - prefix % period) // period
