"""How fast a head of a log-suffix model approaches its limit: the printed rate, and the same difference kept exact."""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from lengthwise.exact import Ball
from lengthwise.limit.arithmetic import Number, Numbers, floats
from lengthwise.limit.model import Head, LimitTransformer
from lengthwise.limit.regimes import Regime, regimes
from lengthwise.limit.tables import exact_phi

FARTHEST = 1 << 200  # a maximum beyond this length is left to the printed rate


@dataclass(frozen=True)
class Term:
    """weight * (i^-slow - i^-fast), or weight * i^-slow; before `settled` its largest value stands for it."""

    weight: int
    slow: Fraction
    fast: Fraction | None = None
    settled: int = 1
    largest: float = math.inf

    def at(self, position: int, numbers: Numbers) -> Number:
        """An upper bound for this and every later position."""
        if position < self.settled:
            return numbers.upto(self.largest)
        value = numbers.power(position, -self.slow)
        if self.fast is not None:
            value = value - numbers.power(position, -self.fast)
        return value * self.weight

    def between(self, first: int, last: int, numbers: Numbers) -> Number:
        """The sum over the positions first..last, all of them settled."""
        value = numbers.power_sum(first, last, self.slow)
        if self.fast is not None:
            value = value - numbers.power_sum(first, last, self.fast)
        return value * self.weight


@dataclass(frozen=True)
class Decay:
    """A non-increasing upper bound d(i) of the weight by which a head's law differs from its limit at position i.

    The head's output is then within D min(1, e^omega d(i)) of its limit (omega the spread of its content logits, D
    the diameter of its values), and the sum of terms is what Lemma 1 of the two-layer note bounds by printed terms.
    """

    terms: tuple[Term, ...]
    early: int = 0

    @property
    def settled(self) -> int:
        """From here on every term is its formula."""
        return max([self.early + 1, *(term.settled for term in self.terms)])

    def at(self, position: int, numbers: Numbers) -> Number:
        """d(i); infinite at the first `early` positions, where nothing is claimed."""
        if position <= self.early:
            return numbers.upto(math.inf)
        return numbers.total(term.at(position, numbers) for term in self.terms)

    def mean(self, ratio: Number, length: int, numbers: Numbers) -> Number:
        """(1/n) sum_{i <= n} min(1, ratio d(i)), from above: any split point gives a bound, this one a good one."""
        last = min(self._turn(float(ratio)), length)
        head = numbers.least(ratio * self.at(1, numbers), numbers.upto(1.0)) * last
        tail = numbers.total(term.between(last + 1, length, numbers) for term in self.terms)
        return (head + ratio * tail) / length

    @cached_property
    def _turns(self) -> dict[float, int]:
        """Turns that were found: a solver asks for the same one thousands of times."""
        return {}

    def _turn(self, ratio: float) -> int:
        """About where ratio d(i) falls below 1, never before the terms have settled."""
        if ratio not in self._turns:
            self._turns[ratio] = self._found_turn(ratio)
        return self._turns[ratio]

    def _found_turn(self, ratio: float) -> int:
        numbers, low = floats(), self.settled - 1
        if not self.terms or ratio * self.at(max(low, 1), numbers) <= 1:
            return low
        step = 1
        while ratio * self.at(low + step, numbers) > 1:
            step *= 2
            if step > FARTHEST:
                return low + step
        high = low + step
        low += step // 2
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if ratio * self.at(middle, numbers) > 1 else (low, middle)
        return low


def printed_decay(regime: Regime, locality: int) -> Decay:
    """(tau + 1) i^-eta, eta = min(gamma_h, 1). Source: two-layer note, Lemma 1."""
    return Decay((Term(locality + 1, regime.rate),))


def smoothed_decay(head: Head, regime: Regime, locality: int) -> Decay:
    """The differences of Lemma 1's proof themselves: what is 0 stays 0, and near margins cost what they cost.

        phi* <= 1:  sum_{t not in T*} |i^(phi(t) - 1) - i^-1|  +  |T*| i^-1
        phi* > 1:   i^(1 - phi*)  +  sum_{t not in T*} i^(phi(t) - phi*)

    Source: two-layer note, proof of Lemma 1 and section 13 (4), its smoothed margin. Ours: |i^(phi-1) - i^-1| rises
    up to i* = (1 - phi)^(-1/phi) and falls from there on, so before i* its value there is taken, and the bound stays
    non-increasing; a masked offset has i^phi = 0; and where the limit has atoms, nothing is claimed at positions
    i <= tau, whose atoms the limit takes at position 1.
    """
    phi = exact_phi(head, locality)
    if regime.domination == "position":
        top = regime.largest
        assert top is not None
        behind = [top - value for value in phi if value is not None and value != top]
        return _gathered([Term(1, top - 1), *(Term(1, gap) for gap in behind)], early=locality)
    terms = [Term(len(regime.offsets), Fraction(1))] if regime.offsets else []
    for offset, value in enumerate(phi):
        if offset in regime.offsets or value == 0:
            continue
        terms.append(Term(1, Fraction(1)) if value is None else _hump(value))
    return _gathered(terms, early=locality if regime.offsets else 0)


def _hump(phi: Fraction) -> Term:
    """|i^(phi - 1) - i^-1| for phi < 1, phi != 0: largest at i* = u^(1/phi), u = 1/(1 - phi), where it is |u - 1|/i*."""
    u = 1 / (1 - phi)
    place = Ball.of(u).power(1 / phi)
    slow, fast = (1 - phi, Fraction(1)) if phi > 0 else (Fraction(1), 1 - phi)
    end = place.upper()
    settled = math.ceil(end) if end < FARTHEST else FARTHEST
    return Term(1, slow, fast, settled, (abs(u - 1) / place).upper())


def _gathered(terms: list[Term], early: int) -> Decay:
    """Equal terms once, with their number."""
    kinds: dict[tuple[Fraction, Fraction | None], list[Term]] = {}
    for term in terms:
        kinds.setdefault((term.slow, term.fast), []).append(term)
    return Decay(
        tuple(
            Term(sum(t.weight for t in same), slow, fast, same[0].settled, math.fsum(t.largest for t in same))
            for (slow, fast), same in kinds.items()
        ),
        early,
    )


def decays(model: LimitTransformer, locality: int, smoothed: bool) -> tuple[tuple[Decay, ...], ...]:
    """The decay of every head, layer by layer, with phi padded by 0 to the locality."""
    return tuple(
        tuple(
            smoothed_decay(head, regime, locality) if smoothed else printed_decay(regime, locality)
            for head, regime in zip(layer.heads, found, strict=True)
        )
        for layer, found in zip(model.layers, regimes(model, locality), strict=True)
    )
