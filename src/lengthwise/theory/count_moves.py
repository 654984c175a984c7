"""Whole steps between count tables: the neighbours of a table."""

import numpy as np
from jaxtyping import Int

from lengthwise.theory.count_space import CountSpace, joined, select
from lengthwise.type_counts import Statistics


def neighbours(space: CountSpace, table: Statistics, generator: np.random.Generator, most: int) -> Statistics:
    """Tables one step from a table, within the space; of more than `most` of them, some drawn at random.

    A step turns 1, 2, 4, ... or all tokens of one type into another token of that residue; or changes one token of the
    ending; or adds or takes 1, 2, 4, ... whole periods of one token.
    """
    found = joined([_turned(space, table), _endings(space, table), _lengthened(space, table)])
    if len(found.length) > most:
        found = select(found, np.sort(generator.choice(len(found.length), most, replace=False)))
    return space.meeting(found)


def _turned(space: CountSpace, table: Statistics) -> Statistics:
    """Some tokens of one type turned into another token of that residue."""
    counts, period = table.prefix[:, 0], space.period
    steps = [
        (give, token * period + give % period, amount)
        for give in np.flatnonzero(counts).tolist()
        for token in range(space.symbols)
        if token != give // period
        for amount in _amounts(int(counts[give]))
    ]
    prefix = np.repeat(table.prefix, len(steps), axis=1)
    if steps:
        give, take, amount = np.asarray(steps, dtype=np.int64).T
        columns = np.arange(len(steps))
        prefix[give, columns] -= amount
        prefix[take, columns] += amount
    chosen = select(table, np.zeros(len(steps), dtype=int))
    return Statistics(chosen.length, prefix, chosen.suffix)


def _endings(space: CountSpace, table: Statistics) -> Statistics:
    """One token of the ending changed."""
    near = np.flatnonzero(table.suffix[:, 0] >= 0)
    changes = [(offset, token) for offset in near.tolist() for token in range(space.symbols)]
    suffix = np.repeat(table.suffix, len(changes), axis=1)
    for column, (offset, token) in enumerate(changes):
        suffix[offset, column] = token * space.period + suffix[offset, column] % space.period
    chosen = select(table, np.zeros(len(changes), dtype=int))
    return Statistics(chosen.length, chosen.prefix, suffix)


def _lengthened(space: CountSpace, table: Statistics) -> Statistics:
    """Whole periods of one token more, or fewer; residues stay."""
    length, period = int(table.length[0]), space.period
    columns: list[Int[np.ndarray, " types"]] = []
    lengths: list[int] = []
    if length > space.offsets:
        rows = table.prefix[:, 0].reshape(space.symbols, period)
        for token in range(space.symbols):
            room = (space.longest - length) // period
            spare = min(int(rows[token].min()), (length - max(space.shortest, space.offsets)) // period)
            for amount in (*_amounts(room), *(-less for less in _amounts(spare))):
                moved = rows.copy()
                moved[token] += amount
                columns.append(moved.reshape(-1))
                lengths.append(length + amount * period)
    prefix = np.stack(columns, axis=1) if columns else table.prefix[:, :0]
    chosen = select(table, np.zeros(len(columns), dtype=int))
    return Statistics(np.asarray(lengths, dtype=np.int64), prefix, chosen.suffix)


def _amounts(most: int) -> list[int]:
    """1, 2, 4, ... up to a number, and the number itself."""
    return [] if most <= 0 else sorted({*(1 << k for k in range(most.bit_length()) if 1 << k <= most), most})
