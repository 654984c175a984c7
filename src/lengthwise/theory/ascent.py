"""Up the slope of the error over relaxed frequencies: counts that need not be whole."""

from collections.abc import Callable

import numpy as np
from jaxtyping import Float

from lengthwise.theory.count_space import CHUNK, CountSpace, select
from lengthwise.theory.effort import Tally
from lengthwise.theory.feasible import Inside
from lengthwise.type_counts import Statistics

DIFFERENCE = 1e-3  # of a logarithm
STEPS = 4.0 ** np.arange(1.0, -5.0, -1.0)  # tried at once, in units of the current reach
LEAST_REACH = 1e-7
ROUNDS = 30

Errors = Callable[[Statistics], Float[np.ndarray, " batch"]]


def climbed(
    errors: Errors,
    space: CountSpace,
    inside: Inside,
    starts: Statistics,
    centres: Float[np.ndarray, "types batch"],
    tally: Tally,
    allowed: int,
) -> Statistics:
    """Relaxed tables uphill of some starts, lengths and endings kept.

    The variables are logarithms of the counts, so that rare tokens move as easily as common ones; a count is its class's
    size times a softmax. Slopes are central differences, which need no derivative of the model and cost two
    evaluations a type; then steps of several sizes are tried at once and the best is taken, moved into the condition.
    """
    types, reach = len(starts.prefix), np.ones(len(starts.length))
    cost = len(starts.length) * (2 * types + len(STEPS))
    here = Statistics(starts.length, _filled(space, starts), starts.suffix)
    here = inside.within(here, centres)
    value = errors(here)
    for _ in range(min(ROUNDS, allowed // max(1, cost))):
        if not tally.left or reach.max() < LEAST_REACH:
            break
        logs = np.log(np.maximum(here.prefix, 1e-9))
        slope = _slopes(errors, space, here, logs)
        slope /= np.maximum(np.abs(slope).max(axis=0), 1e-300)
        best, better = here.prefix, value
        for step in STEPS:
            tried = Statistics(here.length, _counts(space, here, logs + step * reach * slope), here.suffix)
            tried = inside.within(tried, centres)
            found = errors(tried)
            up = found > better
            best, better = np.where(up, tried.prefix, best), np.where(up, found, better)
        reach = np.where(better > value, np.minimum(reach * 2, 4.0), reach / 8)
        here, value = Statistics(here.length, best, here.suffix), better
        tally.spend(cost)
    return here


def _filled(space: CountSpace, tables: Statistics) -> Float[np.ndarray, "types batch"]:
    """The counts with a hundredth of a token of every type, so that all logarithms exist; sums stay."""
    return _counts(space, tables, np.log(tables.prefix + 0.01))


def _counts(
    space: CountSpace, tables: Statistics, logs: Float[np.ndarray, "types batch"]
) -> Float[np.ndarray, "types batch"]:
    """Class sizes times the softmax over the tokens of each class."""
    cut = logs.reshape(space.symbols, space.period, -1)
    weights = np.exp(cut - cut.max(axis=0))
    return np.asarray((weights / weights.sum(axis=0) * space.sizes(tables.length)).reshape(logs.shape))


def _slopes(
    errors: Errors, space: CountSpace, here: Statistics, logs: Float[np.ndarray, "types batch"]
) -> Float[np.ndarray, "types batch"]:
    """Central differences of the error by the logarithm of each count."""
    types, batch = logs.shape
    moves = DIFFERENCE * np.eye(types)[:, :, None]
    both = np.stack([logs + sign * move for move in moves for sign in (1, -1)], axis=1).reshape(types, -1)
    places = np.tile(np.arange(batch), 2 * types)
    wide = select(here, places)
    found = np.concatenate(
        [
            errors(
                Statistics(wide.length[part], _counts(space, select(wide, part), both[:, part]), wide.suffix[:, part])
            )
            for part in (np.arange(k, min(k + CHUNK, len(places))) for k in range(0, len(places), CHUNK))
        ]
    ).reshape(types, 2, batch)
    return np.asarray(found[:, 0] - found[:, 1])
