"""In-context k-grams: what came after the last k tokens before? Two layers solve it, in two ways.

A string draws its own law of the next token given k tokens, so nothing can be learnt but to look it up.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, SupportsInt

import numpy as np
from jaxtyping import Int

from lengthwise.errors import WrongInput
from lengthwise.exact import Ball, power_sum
from lengthwise.limit.constructions import kgram_add, kgram_and
from lengthwise.limit.model import LimitTransformer
from lengthwise.tasks.protocol import Known

_ONE_BY_ONE = 100  # terms of the dilution summed exactly before the power sum takes over


@dataclass(frozen=True)
class KGramTask:
    """The law of the next token among the places whose k predecessors equal the string's last k tokens.

    Regularised by the law of all tokens, so that it exists without a match: over matches M = {j > k : x_{j-t} =
    x_{T-t+1}, t = 1..k} the target is (sum_{j in M} e_{x_j} + backoff sum_j e_{x_j}) / (|M| + backoff T).

        symbols=2, order=1, backoff=0.1:  0 1 1 0 1 0 0 1  ->  after 1 came 1, 0, 0: (2.4, 1.4) / 3.8

    Data: S^k rows drawn from Dirichlet(concentration), the first k tokens uniform. Source: Izzo, Nichani, Lee (2025),
    Definition 5.4 (hard target); two-layer notes, section 9 (regularised target and data, our choice).
    """

    symbols: int = 2
    order: int = 1
    backoff: float = 0.05
    concentration: float = 1.0
    name: ClassVar[str] = "kgram"
    period: ClassVar[int] = 1

    @property
    def locality(self) -> int:
        """The last k tokens are read at their places."""
        return self.order

    @property
    def shortest(self) -> int:
        """A string must have its last k tokens."""
        return self.order

    def hard_target(self, string: Iterable[SupportsInt]) -> tuple[Fraction, ...] | None:
        """The law of the tokens after a match, exactly; None without a match."""
        tokens = self._tokens(string)
        followers = [tokens[j] for j in self._matches(tokens)]
        if not followers:
            return None
        return tuple(Fraction(followers.count(symbol), len(followers)) for symbol in range(self.symbols))

    def target(self, string: Iterable[SupportsInt]) -> tuple[Fraction, ...]:
        """The regularised law, exactly, with the backoff as the rational that its float stores."""
        tokens, weight = self._tokens(string), Fraction(self.backoff)
        followers = [tokens[j] for j in self._matches(tokens)]
        mass = len(followers) + weight * len(tokens)
        return tuple((followers.count(s) + weight * tokens.count(s)) / mass for s in range(self.symbols))

    def match_rate(self, string: Iterable[SupportsInt]) -> Fraction:
        """Pi, the share of positions that follow a match."""
        tokens = self._tokens(string)
        return Fraction(len(self._matches(tokens)), len(tokens))

    def strings(self, generator: np.random.Generator, length: int, count: int) -> Int[np.ndarray, "count length"]:
        """Strings of one length, each with its own kernel."""
        contexts = self.symbols**self.order
        kernels = generator.dirichlet(np.full(self.symbols, self.concentration), size=(count, contexts))
        steps = np.cumsum(kernels, axis=2)[..., :-1]
        tokens = np.empty((count, length), np.int64)
        tokens[:, : self.order] = generator.integers(0, self.symbols, (count, min(self.order, length)))
        code = np.zeros(count, np.int64)
        for position in range(self.order):
            code = code * self.symbols + tokens[:, position]
        rows = np.arange(count)
        for position in range(self.order, length):
            drawn = (generator.random((count, 1)) > steps[rows, code]).sum(axis=1)
            tokens[:, position] = drawn
            code = (code * self.symbols + drawn) % contexts
        return tokens

    def known(self) -> Known:
        """Two layers: no sensitivity or logit margin as one-layer models have them."""
        return Known(None, None, 1, "two-layer notes, section 9")

    def construction(self) -> LimitTransformer:
        """The conjunction, which is the target in the limit."""
        return kgram_and(self.symbols, self.order, self.backoff)

    def _tokens(self, string: Iterable[SupportsInt]) -> list[int]:
        tokens = [int(token) for token in string]
        if len(tokens) < self.order:
            raise WrongInput(f"at least {self.order} tokens", f"{len(tokens)}", "give a longer string", "string")
        return tokens

    def _matches(self, tokens: list[int]) -> list[int]:
        """The places (from 0) whose k predecessors are the last k tokens."""
        k, last = self.order, tokens[len(tokens) - self.order :]
        return [j for j in range(k, len(tokens)) if tokens[j - k : j] == last]


def dilution(dominance: float, length: int) -> tuple[float, float]:
    """H_T and eta_T, rounded up: how much of a lag's attention goes elsewhere, on average and at the last position.

        eta_j = (j - 1) / (j^Gamma + j - 1) <= j^(1 - Gamma),     H_T = (1/T) sum_{j <= T} eta_j

    Source: two-layer notes, section 9.2.
    """
    if not dominance > 1 or length < 1:
        raise WrongInput("a dominance above 1 and a length of at least 1", f"{dominance}, {length}", "change them")

    def eta(position: int) -> Ball:
        others = Ball.of(position - 1)
        return others / (Ball.of(position).power(dominance) + others)

    near = min(length, _ONE_BY_ONE)
    total = Ball.of(0)
    for position in range(2, near + 1):
        total = total + eta(position)
    total = total + power_sum(near + 1, length, Fraction(dominance) - 1)
    return (total / length).upper(), eta(length).upper() if length > 1 else 0.0


def conjunction_error(task: KGramTask, length: int, dominance: float = 3.0) -> float:
    """How far the conjunction can be from the regularised target on strings of a length, in total variation.

        TV <= b e^b [k H_T + (k - 1) eta_T + k/T],   e^b = 1 + 1/backoff,   T >= k, Gamma > 1

    Source: two-layer notes, Proposition F' (Proposition F has the same shape, four times the constant).
    """
    mean, last = dilution(dominance, length)
    gain, k = math.log1p(1 / task.backoff), task.order
    bound = gain * (1 + 1 / task.backoff) * (k * mean + (k - 1) * last + k / length)
    return min(1.0, bound * (1 + 1e-12))


def addition_error(
    task: KGramTask, sharpness: float, match_rate: Fraction, length: int, dominance: float = 3.0
) -> float:
    """How far the sum of matching lags can be from the hard target on strings with a match rate, in total variation.

        TV <= e^-b (1 - pi)/pi + e^(kb) b k [H_T + eta_T + k/T]

    Source: two-layer notes, section 9.3.
    """
    if not 0 < match_rate <= 1:
        raise WrongInput("a match rate above 0", f"{match_rate}", "the hard target needs a match", "match_rate")
    mean, last = dilution(dominance, length)
    k, rate = task.order, float(match_rate)
    elsewhere = math.exp(-sharpness) * (1 - rate) / rate
    bound = elsewhere + math.exp(k * sharpness) * sharpness * k * (mean + last + k / length)
    return min(1.0, bound * (1 + 1e-12))


def constructions_for(task: KGramTask, error: float) -> tuple[LimitTransformer, LimitTransformer]:
    """The sum and the conjunction, sharp enough for an error where all transitions have probability >= the error.

    Then a context has a match rate of about pi_0 = eps^k. The sum needs e^b = 1/(eps pi_0) and its logits go up to
    k b, so its complexity is eps^-(k (k + 1)) times a polynomial; the conjunction needs backoff = eps pi_0, and has
    logits up to b: eps^-(k + 1). Source: two-layer notes, sections 9.3 and 9.4, their accountings.
    """
    sharpness = (task.order + 1) * math.log(1 / error)
    return kgram_add(task.symbols, task.order, sharpness), kgram_and(task.symbols, task.order, math.exp(-sharpness))
