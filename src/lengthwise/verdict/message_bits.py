"""How many bits the message of a compiled program takes, and how many different messages there are.

The message (protocol.py) is told in integers. A row is told by its token and by the coordinates that units wrote, which
are 0 or 1; what heads wrote is read by units of the same layer only and is left out. The begin symbol is the same in all
strings, so it is not told, and all other positions carry one key: their number is known and their values are added up.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import log2

import numpy as np
from jaxtyping import Bool, Float

from lengthwise.crasp.compiled import Compiled
from lengthwise.limit.attention import type_codes
from lengthwise.limit.model import Head, LimitTransformer
from lengthwise.verdict.protocol import Sent, message


@dataclass(frozen=True)
class Cost:
    """Bits of the message of N symbols: a fixed part for the last positions, and sums that range over N spread + 1 values.

        bits(N) = fixed + sum of ceil(log2(N spread + 1))  <=  start + C log2 N,
        C = number of sums,   start = fixed + sum of (1 + log2 spread)

    since ceil(log2(m + 1)) = floor(log2 m) + 1 for an integer m >= 1.
    """

    fixed: int
    spreads: tuple[int, ...]

    def bits(self, half: int) -> int:
        """Of a half of so many symbols, exactly."""
        return self.fixed + sum((half * spread).bit_length() for spread in self.spreads)

    @property
    def start(self) -> float:
        """Where the line begins that the bits stay under."""
        return self.fixed + sum(1 + log2(spread) for spread in self.spreads)

    def line(self, half: int) -> float:
        """The line at so many symbols."""
        return self.start + len(self.spreads) * log2(half)


def cost(compiled: Compiled) -> Cost:
    """What the message costs: for each of locality + 1 positions the token and a bit a coordinate, and the sums.

    Coordinates that only the units of the last layer write are of no use to later positions and are not sent.
    """
    model, told = compiled.model, _told(compiled.model)
    tokens = len(np.unique(model.embedding[1:], axis=0))
    units = [layer.mlp.outer for layer in model.layers[:-1] if layer.mlp is not None]
    written = np.any(np.concatenate([np.zeros((model.width, 1)), *units], axis=1), axis=1) & told
    fixed = (model.locality + 1) * ((tokens - 1).bit_length() + int(written.sum()))
    heads = [head for layer in model.layers for head in layer.heads]
    spreads = [_spread(model, row, written) for head in heads for row in head.value if np.any(row)]
    return Cost(fixed, tuple(spread for spread in spreads if spread))


def _told(model: LimitTransformer) -> Bool[np.ndarray, " width"]:
    """The coordinates that no head writes."""
    heads = [head.value for layer in model.layers for head in layer.heads]
    return np.asarray(~np.any(np.concatenate([np.zeros((model.width, 1)), *heads], axis=1), axis=1))


def _spread(model: LimitTransformer, row: Float[np.ndarray, " width"], written: Bool[np.ndarray, " width"]) -> int:
    """The largest minus the least that one position can add to a sum: integers, the begin symbol left out.

    A token with its residue adds one of a few numbers, each coordinate of a unit its weight or nothing.
    """
    types = row @ type_codes(model.embedding[1:], model.positions)
    return int(types.max() - types.min() + np.abs(row[written]).sum())


def code(compiled: Compiled, sent: Sequence[Sent]) -> tuple[int, ...]:
    """The message as integers: sums are doubled, for the begin symbol's value may be half an integer."""
    told = _told(compiled.model)
    parts = []
    for layer, known in zip(compiled.model.layers, sent, strict=True):
        parts.append(known.window[:, told].ravel())
        parts += [2 * far.sums.sum(axis=0)[_rows(head)] for head, far in zip(layer.heads, known.heads, strict=True)]
    numbers = np.concatenate(parts)
    assert not np.any(numbers % 1)  # sums of integers and one half below 2^51: floats hold them exactly
    return tuple(map(int, numbers))


def _rows(head: Head) -> Bool[np.ndarray, " width"]:
    return np.asarray(np.any(head.value, axis=1))


def message_counts(compiled: Compiled, longest: int, window: int | None = None, most: int = 100_000) -> tuple[int, ...]:
    """How many different messages there are for N = 1, 2, ..., longest; less far where they are more than `most`.

    Of all words with one message a single one is kept and lengthened: the message decides every later activation (that
    is Theorem 12), so words with equal messages have equal messages after the same next symbol.
    """
    found: dict[tuple[int, ...], tuple[int, ...]] = {(): (0,)}
    counts = []
    for half in range(1, longest + 1):
        longer: dict[tuple[int, ...], tuple[int, ...]] = {}
        for word in found.values():
            for symbol in range(1, compiled.model.symbols):
                tokens = (*word, symbol)
                sent = message(compiled.model, tokens, 2 * half + 1, window)
                longer.setdefault(code(compiled, sent), tokens)
        if len(longer) > most:
            break
        counts.append(len(longer))
        found = longer
    return tuple(counts)
