"""A later layer at every position in linear time, where its keys take few values.

Heads that only average (content logits 0), that read positions, or that look for a marker have few distinct keys
although the values they average are many. Equal keys get equal weights, so for each distinct key two running sums are
enough: how many positions carry it, and the sum of their values. Compiled programs are made of such heads; most rows of
their value matrices are 0, and nothing is summed for those.
"""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from lengthwise.errors import WrongInput
from lengthwise.limit.attention import add_mlp, exponent, mean_of, power, shift_of
from lengthwise.limit.model import Head, Layer, LimitTransformer

MOST_KEYS = 64
SUMS = 1 << 17  # running sums in one array at most, so that it stays in the processor's cache


class TooManyKeys(WrongInput):
    """A later layer whose keys take too many values for running sums."""


def grouped_layer(
    model: LimitTransformer, layer: Layer, blocks: Iterator[Float[Any, "width block"]], length: int
) -> Iterator[Float[np.ndarray, "width block"]]:
    """One later layer at every position: column i attends to the columns 1..i. NumPy only: keys are compared as bits."""
    heads = [_RunningHead(model, head, length) for head in layer.heads]
    start = 1
    for columns in blocks:
        if not isinstance(columns, np.ndarray):
            raise TooManyKeys("weights that NumPy can compare", "traced or device arrays", "use method='dense'")
        after = columns
        for head in heads:
            after = after + head.attend(columns, start)
        start += columns.shape[1]
        yield add_mlp(layer, after)


class _RunningHead:
    """One head's running sums: positions enter them when they leave the suffix of offsets 0..locality."""

    def __init__(self, model: LimitTransformer, head: Head, length: int) -> None:
        self.model, self.head, self.log2_length = model, head, math.log2(length)
        self.averages = not (np.any(head.key) and np.any(head.query))
        self.near = head.locality + 1
        inside = head.key.shape[0]
        self.rows = np.flatnonzero(np.any(head.value != 0, axis=1))
        self.known: dict[bytes, int] = {}
        self.keys = np.zeros((inside, 0))
        self.count = np.zeros((0, 1))
        self.sums = np.zeros((len(self.rows), 0, 1))
        self.group = np.zeros(0, dtype=np.int64)  # of the last `near` positions
        self.values = np.zeros((len(self.rows), 0))

    def attend(self, columns: Float[np.ndarray, "width block"], start: int) -> Float[np.ndarray, "width block"]:
        """The weighted means at the positions of the block, which starts at position `start`."""
        group = self._group_of(columns)
        size = max(1, SUMS // max(1, len(self.known) * len(self.rows)))
        values = self.head.value[self.rows] @ columns
        result = np.zeros(columns.shape, dtype=np.result_type(values.dtype, self.sums.dtype))
        for first in range(0, columns.shape[1], size):
            here = slice(first, first + size)
            result[self.rows, here] = self._attend(columns[:, here], group[here], values[:, here], start + first)
        return result

    def _attend(self, columns: Any, group: Any, values: Any, start: int) -> Any:
        """The rows that are not 0 of the means, for some columns with the groups of their keys and their values."""
        size = columns.shape[1]
        group = np.concatenate([self.group, group])
        values = np.concatenate([self.values, values], axis=1)
        missing = size + self.near - group.shape[0]  # positions before the first one
        group = np.concatenate([np.full(missing, -1), group])
        values = np.concatenate([np.zeros((values.shape[0], missing)), values], axis=1)
        entering = (group[:size][None, :] == np.arange(len(self.known))[:, None]).astype(values.dtype)
        count = self.count + np.cumsum(entering, axis=1)
        sums = self.sums + np.cumsum(values[:, None, :size] * entering[None], axis=2)
        result = self._means(columns, group, values, count, sums, start)
        self.count, self.sums = count[:, -1:].copy(), sums[:, :, -1:].copy()
        self.group, self.values = group[size:].copy(), values[:, size:].copy()
        return result

    def _means(self, columns: Any, group: Any, values: Any, count: Any, sums: Any, start: int) -> Any:
        rule, bits, size = self.model.attention, self.model.bits, columns.shape[1]
        table = self.keys.T @ (self.head.query @ columns)  # (distinct keys, block)
        log_position = np.log(np.arange(start, start + size, dtype=np.float64))
        bulk = np.where(count > 0, exponent(rule, table, None, log_position, self.log2_length), -np.inf)
        near = []
        for offset in range(self.near):
            at = group[self.near - offset : self.near - offset + size]
            content = np.take_along_axis(table, np.maximum(at, 0)[None, :], axis=0)[0]
            phi = self.head.phi[offset] if offset < len(self.head.phi) else None
            near.append(np.where(at < 0, -np.inf, exponent(rule, content, phi, log_position, self.log2_length)))
        shift = shift_of(np.max(np.concatenate([bulk, np.stack(near)]), axis=0))
        weights = power(rule, bulk - shift, bits)
        mass = np.sum(weights * count, axis=0)
        total = np.sum(weights[None] * sums, axis=1)
        for offset, logit in enumerate(near):
            weight = power(rule, logit - shift, bits)
            mass = mass + weight
            total = total + weight * values[:, self.near - offset : self.near - offset + size]
        return mean_of(total, mass)

    def _group_of(self, columns: Float[np.ndarray, "width block"]) -> Int[np.ndarray, " block"]:
        """The number of each position's key among the distinct keys seen so far; new ones are added."""
        keys = np.zeros((columns.shape[1], self.keys.shape[0])) if self.averages else (self.head.key @ columns).T + 0.0
        distinct, inverse = np.unique(keys, axis=0, return_inverse=True)
        if len(self.known) + len(distinct) > 2 * MOST_KEYS:
            raise self._too_many()
        for row in distinct:
            if row.tobytes() not in self.known:
                self.known[row.tobytes()] = len(self.known)
                self.keys = np.concatenate([self.keys, row[:, None]], axis=1)
        if len(self.known) > MOST_KEYS:
            raise self._too_many()
        grown = len(self.known) - self.count.shape[0]
        self.count = np.concatenate([self.count, np.zeros((grown, 1))])
        self.sums = np.concatenate([self.sums, np.zeros((self.sums.shape[0], grown, 1))], axis=1)
        number = np.asarray([self.known[row.tobytes()] for row in distinct], dtype=np.int64)
        return number[inverse.reshape(-1)]

    def _too_many(self) -> TooManyKeys:
        return TooManyKeys(
            f"a later layer with at most {MOST_KEYS} distinct keys",
            "more",
            "use method='dense', which is quadratic in the length",
        )
