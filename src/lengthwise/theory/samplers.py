"""Which positions of a long string a short one keeps: pieces of the prefix, and the last positions as they are.

Pieces are left out in multiples of the period only, so every kept position keeps its residue.
"""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Int

from lengthwise.errors import WrongInput
from lengthwise.theory.sampling_rates import Shape

Positions = Int[np.ndarray, " kept"]  # from 0, increasing


def tail_length(length: int, shape: Shape) -> int:
    """Q = min { q >= 2 tau + 1 : T - q = 0 mod Delta }, at most 2 tau + Delta. Source: two-layer note, section 5."""
    least = 2 * shape.locality + 1
    return least + (length - least) % shape.period


def boundaries(length: int, blocks: int, shape: Shape) -> Int[np.ndarray, " ends"]:
    """s_l = Delta floor(l (T'/Delta) / K) for l = 0..K: the super-blocks of the prefix, T' = T - q."""
    cells = (length - tail_length(length, shape)) // shape.period
    return shape.period * (np.arange(blocks + 1) * cells // blocks)


def check_windows(length: int, blocks: int, window: int, shape: Shape) -> None:
    """T' >= K B, B a multiple of Delta."""
    if window % shape.period or window < 1 or blocks < 1:
        raise WrongInput(f"windows that are multiples of {shape.period}", f"{blocks} of {window}", "choose others")
    if length - tail_length(length, shape) < blocks * window:
        raise WrongInput(
            f"a string of at least {blocks * window + tail_length(length, shape)} tokens",
            f"{length}",
            "take fewer or shorter windows",
        )


def kept_windows(length: int, window: int, offsets: Sequence[int] | Int[np.ndarray, " K"], shape: Shape) -> Positions:
    """The positions of one circular window a super-block, at the given offsets, and the tail.

        block l keeps  s_l + ((o_l .. o_l + B - 1) mod m_l),   m_l its length;   then the last q positions

    Source: two-layer note, sections 5 and 8.2.
    """
    blocks = len(offsets)
    check_windows(length, blocks, window, shape)
    ends = boundaries(length, blocks, shape)
    sizes = np.diff(ends)[:, None]
    inside = (np.asarray(offsets)[:, None] + np.arange(window)) % sizes
    tail = np.arange(length - tail_length(length, shape), length)
    return np.concatenate([(np.sort(inside, axis=1) + ends[:-1, None]).ravel(), tail])


def drawn_offsets(
    generator: np.random.Generator, length: int, blocks: int, window: int, shape: Shape
) -> Int[np.ndarray, " K"]:
    """Stratified windows (S1): every block's offset uniform in {0, Delta, ..., m_l - Delta}."""
    check_windows(length, blocks, window, shape)
    return shape.period * generator.integers(0, np.diff(boundaries(length, blocks, shape)) // shape.period)


def chain_positions(
    generator: np.random.Generator, length: int, kept: int, run: int, shape: Shape, tries: int = 100
) -> Positions:
    """A two-state Markov chain over cells of Delta tokens (M): about n positions in runs of about l, and the tail.

        P(1) = p = n/T',   1 -> 0 with probability Delta/l,   0 -> 1 with probability (Delta/l) p/(1 - p)

    conditioned on between n/2 and 3n/2 kept positions, by drawing again. Source: two-layer note, section 5, sampler M.
    """
    prefix = length - tail_length(length, shape)
    if prefix < 2 * kept or run < 2 * shape.period or kept <= 8 * run:
        raise WrongInput(
            f"n kept positions of at least {2 * kept} before the tail, in runs l >= {2 * shape.period} with n > 8 l",
            f"{prefix} positions, n = {kept}, l = {run}",
            "keep fewer or use shorter runs",
        )
    share, stop = kept / prefix, shape.period / run
    start = stop * share / (1 - share)
    for _ in range(tries):
        cells = _runs(generator, prefix // shape.period, share, stop, start)
        chosen = len(cells) * shape.period
        if kept / 2 <= chosen <= 3 * kept / 2:
            positions = (cells[:, None] * shape.period + np.arange(shape.period)).ravel()
            return np.concatenate([positions, np.arange(prefix, length)])
    raise AssertionError("the chain missed its length a hundred times; its probability is below 8 l/n each")


def _runs(generator: np.random.Generator, cells: int, share: float, stop: float, start: float) -> Int[np.ndarray, " k"]:
    """The cells in state 1: runs of geometric lengths, the first one's state drawn from the stationary law."""
    on = bool(generator.random() < share)
    at, pieces = 0, []
    while at < cells:
        many = max(16, int(cells * min(start, stop)))
        ons, offs = generator.geometric(stop, many), generator.geometric(start, many)
        for one, none in zip(ons.tolist(), offs.tolist(), strict=True):
            if on:
                pieces.append(np.arange(at, min(at + one, cells)))
                at += one
            at += none
            on = True
            if at >= cells:
                break
    return np.concatenate(pieces) if pieces else np.zeros(0, np.int64)
