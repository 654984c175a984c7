"""Four tasks with a real-valued target, each with samplers that cost the same at every length.

The samplers rest on two closed forms. If q is uniform on the simplex and the tokens are drawn from q, the vector of
token counts is uniform over all compositions of the length, which "stars and bars" draws directly; and given the
counts all orders are equally likely, so the last tokens are drawn from the counts without replacement.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, SupportsInt

import numpy as np
from jaxtyping import Float, Int

from lengthwise.limit.attention import namespace
from lengthwise.limit.constructions import mod_p_task, simple_task, tail_task
from lengthwise.limit.model import LimitTransformer
from lengthwise.tasks.compositions import composition, take_one, take_one_kind
from lengthwise.tasks.corners import either_end, near_corner
from lengthwise.tasks.protocol import Draw, Known, Statistics
from lengthwise.theory.frequency_target import FrequencyTarget, table_of


@dataclass(frozen=True)
class SimpleTask:
    """sin(omega (c_0 - c_1) / (c_0 + c_1)), c_s the number of tokens s; 0 if there is no 0 and no 1.

    Data: q uniform on the simplex, tokens drawn from q. More than three symbols add distractors, which change how
    many strings there are and nothing else.

        0 1 2 0 0 2   ->   sin(omega (3 - 1) / (3 + 1)) = sin(omega / 2)

    Source: the workshop version of "Quantitative Bounds for Length Generalization in Transformers"; the argument for
    c_0 + c_1 = 0 and the distractors are ours.
    """

    omega: float | Float[Any, ""] = 2.0  # an array of no axes while it is traced
    symbols: int = 3
    name: ClassVar[str] = "simple"
    traced: ClassVar[tuple[str, ...]] = ("omega",)
    period: ClassVar[int] = 1
    locality: ClassVar[int] = 0
    shortest: ClassVar[int] = 1

    def target(self, string: Iterable[SupportsInt]) -> float:
        """The definition."""
        tokens = [int(token) for token in string]
        zeros, ones = tokens.count(0), tokens.count(1)
        return math.sin(self.omega * (zeros - ones) / (zeros + ones)) if zeros + ones else 0.0

    def strings(self, generator: np.random.Generator, length: int, count: int) -> Int[np.ndarray, "count length"]:
        """Tokens drawn independently from one q a string, q uniform on the simplex."""
        law = generator.dirichlet(np.ones(self.symbols), size=count)
        choice = generator.random((count, length, 1)) > np.cumsum(law, axis=1)[:, None, :-1]
        return np.asarray(choice.sum(axis=2))

    def statistics(self, length: Int[Any, " batch"], draw: Draw) -> Statistics:
        """Counts uniform over the compositions of the length; the last token drawn from them."""
        counts = composition(length, self.symbols, draw)
        last, prefix = take_one(counts, length, draw)
        return Statistics(length, prefix, last[None])

    def corners(self, length: Int[Any, " batch"], draw: Draw) -> Statistics:
        """Counts with all tokens but one rare; the last token any of those that occur, with equal odds."""
        counts = near_corner(length, self.symbols, draw)
        last, prefix = take_one_kind(counts, draw)
        return Statistics(length, prefix, last[None])

    def target_of(self, statistics: Statistics) -> Float[Any, " batch"]:
        """The definition on the counts of the whole string."""
        xp = namespace(statistics.prefix)
        counts = [statistics.prefix[s] + (statistics.suffix[0] == s) for s in (0, 1)]
        both = counts[0] + counts[1]
        return xp.sin(self.omega * ((counts[0] - counts[1]) / xp.where(both == 0, 1, both)))

    def mean_square(self) -> float:
        """Of the target on long strings, so the loss of an output that is always 0: E sin^2(omega u), u uniform on [-1, 1].

            1/2 - sin(2 omega) / (4 omega)

        It is no monotone function of omega: 0.60 at 2, 0.44 at 4. Proof of the law: given c_2 all splits of the other
        n - c_2 tokens into c_0 and c_1 are equally likely, so u = (c_0 - c_1) / (c_0 + c_1) becomes uniform.
        """
        return 0.5 - math.sin(2 * self.omega) / (4 * self.omega)

    def known(self) -> Known:
        """The construction's constants."""
        return Known(2 * self.omega, 1.0, 1, "one-layer notes, section 11")

    def frequency_target(self) -> FrequencyTarget:
        """Over: c_0 - c_1; under: c_0 + c_1."""
        over, under = (table_of(self.symbols, 1, {(0, 0): 1, (1, 0): sign}) for sign in (-1, 1))
        words = f"sin({float(self.omega):g} (c0 - c1) / (c0 + c1))"
        return FrequencyTarget("sin", Fraction(float(self.omega)), over, under, words=words)

    def construction(self) -> LimitTransformer:
        """Hardmax over the 0s and 1s, then one sin unit."""
        return simple_task(self.omega, symbols=self.symbols)


@dataclass(frozen=True)
class ModPTask:
    """The mean of the tokens at positions i (from 1) with i mod period == residue.

    Data: one share of ones for each residue, uniform on [0, 1]; tokens drawn independently. Lengths start at the
    period, so that the class is never empty.

        period 3, residue 1:   1 0 1 0 1 1 1   ->   (1 + 0 + 1) / 3, positions 1, 4, 7

    Source: the workshop version of "Quantitative Bounds for Length Generalization in Transformers".
    """

    period: int = 3
    residue: int = 1
    name: ClassVar[str] = "modp"
    traced: ClassVar[tuple[str, ...]] = ()
    symbols: ClassVar[int] = 2
    locality: ClassVar[int] = 0

    @property
    def shortest(self) -> int:
        """The class of the residue is not empty from here on."""
        return self.period

    def target(self, string: Iterable[SupportsInt]) -> float:
        """The definition."""
        chosen = [int(token) for i, token in enumerate(string, start=1) if i % self.period == self.residue]
        return sum(chosen) / len(chosen)

    def strings(self, generator: np.random.Generator, length: int, count: int) -> Int[np.ndarray, "count length"]:
        """Independent coins, one bias for each residue of each string."""
        share = generator.random((count, self.period))[:, np.arange(1, length + 1) % self.period]
        return (generator.random((count, length)) < share).astype(np.int64)

    def statistics(self, length: Int[Any, " batch"], draw: Draw) -> Statistics:
        """In each class of n_r positions the number of ones is uniform on 0..n_r; the last token is one of its class."""
        xp = namespace(length)
        size, mine = self._classes(length)
        ones = draw(size + 1)
        last = draw(xp.sum(size * mine, axis=0)) < xp.sum(ones * mine, axis=0)
        return self._statistics(length, ones, xp.asarray(last, dtype=ones.dtype))

    def corners(self, length: Int[Any, " batch"], draw: Draw) -> Statistics:
        """In each class ones or zeros are rare; the last token is either one that its class has, with equal odds."""
        xp = namespace(length)
        size, mine = self._classes(length)
        ones = either_end(size, draw)
        last, _ = take_one_kind(xp.stack([xp.sum((size - ones) * mine, axis=0), xp.sum(ones * mine, axis=0)]), draw)
        return self._statistics(length, ones, last)

    def _classes(self, length: Int[Any, " batch"]) -> tuple[Int[Any, "period batch"], Any]:
        """How many positions have each residue, and which residue the last one has."""
        residues = np.arange(self.period)[:, None]
        size = length // self.period + ((residues >= 1) & (residues <= length % self.period))
        return size, residues == length % self.period

    def _statistics(
        self, length: Int[Any, " batch"], ones: Int[Any, "period batch"], last: Int[Any, " batch"]
    ) -> Statistics:
        """From the ones of each class and the last token, which is taken out of its class."""
        size, mine = self._classes(length)
        rows = [size - ones - mine * (1 - last), ones - mine * last]  # row token * period + residue
        suffix = last * self.period + length % self.period
        return Statistics(length, namespace(length).concat(rows, axis=0), suffix[None])

    def target_of(self, statistics: Statistics) -> Float[Any, " batch"]:
        """The definition on the counts of the whole string."""
        here = statistics.suffix[0]
        ones = statistics.prefix[self.period + self.residue] + (here == self.period + self.residue)
        zeros = statistics.prefix[self.residue] + (here == self.residue)
        return ones / (ones + zeros)

    def known(self) -> Known:
        """The construction's constants."""
        return Known(1.0, 1.0, self.period, "one-layer notes, section 11")

    def frequency_target(self) -> FrequencyTarget:
        """Over: the ones of the residue; under: all tokens of it."""
        r = self.residue
        over = table_of(2, self.period, {(1, r): 1})
        under = table_of(2, self.period, {(0, r): 1, (1, r): 1})
        words = f"the mean of the tokens at positions i with i mod {self.period} = {r}"
        return FrequencyTarget("identity", Fraction(1), over, under, words=words)

    def construction(self) -> LimitTransformer:
        """Hardmax over the positions of the residue."""
        return mod_p_task(self.period, self.residue)


@dataclass(frozen=True)
class TailTask:
    """The mean of all tokens plus the mean of the last `tail` tokens, minus 1.

    Data: the last `tail` tokens are fair coins, the others coins of one bias, uniform on [0, 1]. A head must find
    the last `tail` positions whatever the length, so the locality of the solution is tail - 1. Ours.

        tail 2:   1 1 0 1 0   ->   3/5 + 1/2 - 1
    """

    tail: int = 2
    name: ClassVar[str] = "tail"
    traced: ClassVar[tuple[str, ...]] = ()
    symbols: ClassVar[int] = 2
    period: ClassVar[int] = 1

    @property
    def locality(self) -> int:
        """The last `tail` tokens are the offsets 0..tail - 1."""
        return self.tail - 1

    @property
    def shortest(self) -> int:
        """All of the last tokens exist."""
        return self.tail

    def target(self, string: Iterable[SupportsInt]) -> float:
        """The definition."""
        tokens = [int(token) for token in string]
        return sum(tokens) / len(tokens) + sum(tokens[-self.tail :]) / self.tail - 1

    def strings(self, generator: np.random.Generator, length: int, count: int) -> Int[np.ndarray, "count length"]:
        """Coins of one bias a string, then fair coins."""
        share = np.where(np.arange(length) < length - self.tail, generator.random((count, 1)), 0.5)
        return (generator.random((count, length)) < share).astype(np.int64)

    def statistics(self, length: Int[Any, " batch"], draw: Draw) -> Statistics:
        """The number of ones before the tail is uniform; the tail is drawn coin by coin."""
        xp = namespace(length)
        before = length - self.tail
        ones = draw(before + 1)
        coins = draw(xp.zeros((self.tail, 1), dtype=length.dtype) + xp.zeros_like(length) + 2)
        return Statistics(length, xp.stack([before - ones, ones]), coins)

    def corners(self, length: Int[Any, " batch"], draw: Draw) -> Statistics:
        """Before the tail ones or zeros are rare; the tail is a block of one token before a block of the other."""
        xp = namespace(length)
        before = length - self.tail
        ones = either_end(before, draw)
        block, first = draw(xp.zeros_like(length) + self.tail + 1), draw(xp.zeros_like(length) + 2)
        coins = xp.where(np.arange(self.tail)[:, None] < block, first, 1 - first)
        return Statistics(length, xp.stack([before - ones, ones]), coins)

    def target_of(self, statistics: Statistics) -> Float[Any, " batch"]:
        """The definition on counts and tail."""
        tail = namespace(statistics.prefix).sum(statistics.suffix[: self.tail], axis=0)
        return (statistics.prefix[1] + tail) / statistics.length + tail / self.tail - 1

    def known(self) -> Known:
        """The construction's constants: two heads of sensitivity 1."""
        return Known(2.0, 1.0, 1, "ours: one head averages, one attends the last positions")

    def frequency_target(self) -> FrequencyTarget:
        """Over: all ones; under: everything; each of the last tokens adds its share, less 1 in all."""
        share = Fraction(1, self.tail)
        over, under = table_of(2, 1, {(1, 0): 1}), table_of(2, 1, {(0, 0): 1, (1, 0): 1})
        words = f"the mean of all tokens plus that of the last {self.tail}, minus 1"
        return FrequencyTarget("identity", Fraction(1), over, under, ((-share, Fraction(0)),) * self.tail, words)

    def construction(self) -> LimitTransformer:
        """One head averages everything, one has phi = 1 on the last positions."""
        return tail_task(self.tail)
