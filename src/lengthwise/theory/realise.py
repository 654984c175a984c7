"""Between strings and what one layer sees of them: a string's counts as two models need them, and a string for counts."""

from typing import Any

import numpy as np
from jaxtyping import Int

from lengthwise.errors import WrongInput
from lengthwise.type_counts import Counts


def lifted(counts: Counts, period: int, locality: int) -> Counts:
    """The counts of the same strings at a divisor of their period, with a suffix of exactly locality + 1 tokens.

    Tokens of a longer suffix move to the table: their positions are known. A shorter suffix is the whole string.
    """
    if counts.period % period:
        raise WrongInput(
            f"one column for each of {period} residues (the models' common period) or a multiple",
            f"{counts.period}",
            "count by residue",
            "table",
        )
    if counts.prefix_length and len(counts.suffix) <= locality:
        raise WrongInput(
            f"a suffix of at least {locality + 1} tokens (locality {locality})",
            f"{len(counts.suffix)}",
            "move the last tokens from the table to the suffix",
            "suffix",
        )
    table = [[sum(row[residue::period]) for residue in range(period)] for row in counts.table]
    cut = max(0, len(counts.suffix) - locality - 1)
    for position, token in enumerate(counts.suffix[:cut], start=counts.prefix_length + 1):
        table[token][position % period] += 1
    return Counts(counts.suffix[cut:], tuple(map(tuple, table)))


def with_prefix(counts: Counts, table: tuple[int, ...]) -> Counts:
    """The counts with the same ending and another prefix, given by type code token * period + residue."""
    period = counts.period
    rows = tuple(table[start : start + period] for start in range(0, len(table), period))
    return Counts(counts.suffix, rows)


def by_type(counts: Counts) -> tuple[int, ...]:
    """The counts of the prefix by type code token * period + residue."""
    return tuple(count for row in counts.table for count in row)


def spelled(counts: Counts) -> Int[np.ndarray, " n"]:
    """A string with these counts: at the positions of each residue the tokens stand in the order of the vocabulary.

    Source: one-layer note, Lemma 0: any order within a residue class will do.
    """
    prefix = np.empty(counts.prefix_length, dtype=np.int64)
    tokens = np.arange(counts.symbols)
    for residue in range(counts.period):
        first = (residue - 1) % counts.period  # positions are counted from 1
        prefix[first :: counts.period] = np.repeat(tokens, [row[residue] for row in counts.table])
    return np.concatenate([prefix, np.asarray(counts.suffix, dtype=np.int64)])


def as_counts(string_or_counts: Any, names: tuple[str, ...], period: int, locality: int) -> Counts:
    """The counts of anything that names a string: counts, text, token names, token indices."""
    from lengthwise.strings import encode

    if isinstance(string_or_counts, Counts):
        if string_or_counts.symbols != len(names):
            got = f"{string_or_counts.symbols}"
            raise WrongInput(f"a table of {len(names)} tokens", got, "give one row a token", "table")
        return lifted(string_or_counts, period, locality)
    return Counts.of(encode(string_or_counts, names), len(names), period, locality)
