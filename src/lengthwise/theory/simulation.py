"""Theorem A: how far a sampled short string can move the output of a two-layer model, term by term."""

import math
from dataclasses import dataclass

from lengthwise.limit.arithmetic import Number, Numbers
from lengthwise.limit.complexity import Complexity, complexity
from lengthwise.limit.decay import decays
from lengthwise.limit.distance import LimitError
from lengthwise.limit.model import LimitTransformer
from lengthwise.limit.tables import exact
from lengthwise.theory.sampling_rates import Rates, Sampler, Shape, chain_rates, window_rates


@dataclass(frozen=True)
class Simulated:
    """A model as Theorem A sees it, and whether its limit error uses the printed margin or the smoothed one."""

    constants: Complexity
    limit: LimitError
    smoothed: bool

    def sampled(self, rates: Rates, numbers: Numbers) -> tuple[Number, Number]:
        """The two terms of the bound on E ||f(x) - f(z)|| that a sampler is responsible for.

            G a_G,     Lambda L_1 {a_3 (1 + sum kappa) + sum beta [e^omega_2 a_2 + at a_3]}

        The third is 2 Delta_lim, at the least length of a short string. Source: two-layer note, Theorem A.
        """
        known, upto = self.constants, numbers.upto
        inside = rates.end * (1 + numbers.total(upto(head.query_gain) for head in known.second))
        for head in known.second:
            ratio = numbers.exp(upto(head.spread))
            inside = inside + upto(head.key_gain) * (ratio * rates.histogram + (rates.end if head.atoms else 0))
        return upto(known.sampling_gain) * rates.bulk, upto(known.readout_gain) * upto(known.histogram_gain) * inside


@dataclass(frozen=True)
class Pair:
    """One model or two, over one vocabulary, lifted to a common period and locality."""

    models: tuple[Simulated, ...]
    shape: Shape

    @property
    def overflows(self) -> bool:
        """Whether floats are too small for its constants."""
        return any(
            math.isinf(value) or spread > 700
            for model in self.models
            for value, spread in (
                (model.constants.limit_gain, max((head.spread for head in model.constants.first), default=0.0)),
                (model.constants.complexity, max((head.spread for head in model.constants.second), default=0.0)),
            )
        )

    def rates(self, sampler: Sampler, blocks: int, window: int, numbers: Numbers) -> Rates:
        """The a-table of a sampler; for the chain, blocks is n and window is l."""
        if sampler == "chain":
            return chain_rates(self.shape, blocks, window, numbers)
        return window_rates(self.shape, blocks, window, numbers, sampler == "balanced")

    def sampled(self, rates: Rates, numbers: Numbers) -> tuple[Number, Number]:
        """The sampling and the histogram term, summed over the models."""
        found = [model.sampled(rates, numbers) for model in self.models]
        return numbers.total(term for term, _ in found), numbers.total(term for _, term in found)

    def limit(self, sampler: Sampler, blocks: int, window: int, numbers: Numbers) -> Number:
        """2 Delta_lim at the least length of a short string, summed over the models."""
        shortest = -(-blocks // 2) if sampler == "chain" else blocks * window + 2 * self.shape.locality + 1
        return 2 * numbers.total(model.limit.at(shortest, numbers) for model in self.models)

    def terms(self, sampler: Sampler, blocks: int, window: int, numbers: Numbers) -> tuple[Number, Number, Number]:
        """Sampling, histogram and limit: they sum to bound_X(f) + bound_X(g). Source: two-layer note, Theorem A."""
        sampling, histogram = self.sampled(self.rates(sampler, blocks, window, numbers), numbers)
        return sampling, histogram, self.limit(sampler, blocks, window, numbers)


def simulated_pair(*models: LimitTransformer, smoothed: bool, box: bool = True) -> Pair:
    """The models as Theorem A sees them; D_tot = (S - 1) Delta + the ranks of the value matrices of their layers 2."""
    period, locality = math.lcm(*(model.period for model in models)), max(model.locality for model in models)
    seen = []
    for model in models:
        constants = complexity(model, box=box, period=period, locality=locality)
        first, second = decays(model, locality, smoothed)
        seen.append(Simulated(constants, LimitError(constants, first, second), smoothed))
    ranks = sum(exact(head.value).rank() for model in models for head in model.layers[1].heads)
    symbols = models[0].symbols
    return Pair(tuple(seen), Shape(symbols, locality, period, (symbols - 1) * period + ranks))


def sampler_name(sampler: Sampler) -> str:
    """The sampler in words."""
    return {"windows": "stratified windows (S1)", "balanced": "balanced windows (S2)", "chain": "Markov chain (M)"}[
        sampler
    ]
