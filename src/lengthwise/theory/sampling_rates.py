"""How well a sampled short string keeps the (suffix, histogram) statistics of a long one: the three a-tables."""

from dataclasses import dataclass
from typing import Literal

from lengthwise.errors import WrongInput
from lengthwise.limit.arithmetic import Number, Numbers

Sampler = Literal["windows", "balanced", "chain"]  # S1, S2 and M of the two-layer note


@dataclass(frozen=True)
class Shape:
    """What the rates depend on: S, tau, Delta and D_tot (how many statistics the balanced sampler balances)."""

    symbols: int
    locality: int
    period: int
    statistics: int

    @property
    def tail(self) -> int:
        """2 tau + Delta: no more positions than these are kept unsampled at the end."""
        return 2 * self.locality + self.period


@dataclass(frozen=True)
class Rates:
    """A statistic with values of norm G and histogram slope L errs by at most G a_G + L a_2 on average.

    bulk is a_G, histogram a_2 (the histogram inside the string), end a_3 (the histogram at its last positions).
    """

    bulk: Number
    histogram: Number
    end: Number


def window_rates(shape: Shape, blocks: int, window: int, numbers: Numbers, balanced: bool) -> Rates:
    """The rates of stratified windows (S1), or of balanced ones (S2): K blocks, of each a window of B positions.

        a_G = 2 [tau (2K+1) + 2q]/(KB) + Delta/(2B) + 1/sqrt K
        a_2 = (2 + Delta/B) H/K + Delta/(4B) + q/(KB) + sqrt((S-1)/K),    H = 1 + log K,  q = 2 tau + Delta
        a_3 = 2q/(KB) + Delta/(4B) + sqrt((S-1)/K)/2
        balanced: 1/sqrt K -> 2 D/K,  sqrt((S-1)/K) -> D H/K,  its half -> D/K

    Source: two-layer note, Lemma 6.
    """
    k, b, q = numbers.upto(float(blocks)), numbers.upto(float(window)), shape.tail
    kept, tau, delta, count = k * b, shape.locality, shape.period, shape.statistics
    harmonic = 1 + numbers.log(k)
    if balanced:
        bulk, inside, last = 2 * count / k, count * harmonic / k, count / k
    else:
        spread = numbers.root((shape.symbols - 1) / k)
        bulk, inside, last = 1 / numbers.root(k), spread, spread / 2
    return Rates(
        bulk=2 * (tau * (2 * k + 1) + 2 * q) / kept + delta / (2 * b) + bulk,
        histogram=(2 + delta / b) * harmonic / k + delta / (4 * b) + q / kept + inside,
        end=2 * q / kept + delta / (4 * b) + last,
    )


def chain_rates(shape: Shape, kept: int, run: int, numbers: Numbers) -> Rates:
    """The rates of a two-state Markov chain (M) that keeps about n positions in runs of about l.

        pi = 1 - 8 l/n      a_G = [4 tau (1/l + 2/n) + 8q/n + 2 sqrt(2 l/n)] / pi
        a_2 = [4 sqrt(2 l S/n) + 2 (1 + sqrt(2S)) (l/n)(1 + log(n/l)) + 2q/n] / pi
        a_3 = sqrt(2 l S/n) / pi + 4q/n

    Source: two-layer note, Lemma 6; the published idea, our constants. Needs l >= 2 Delta and n > 8 l.
    """
    if run < 2 * shape.period or kept <= 8 * run:
        raise WrongInput(
            f"runs of at least {2 * shape.period} positions and more than 8 of them",
            f"runs of {run}, {kept} positions",
            "keep more positions or make shorter runs",
            "sampler",
        )
    n, length, q, s = (
        numbers.upto(float(kept)),
        numbers.upto(float(run)),
        shape.tail,
        numbers.upto(float(shape.symbols)),
    )
    share = 1 - 8 * length / n
    noise = numbers.root(2 * length * s / n)
    ends = (1 + numbers.root(2 * s)) * (length / n) * (1 + numbers.log(n / length))
    bulk = 4 * shape.locality * (1 / length + 2 / n) + 8 * q / n + 2 * numbers.root(2 * length / n)
    return Rates(bulk / share, (4 * noise + 2 * ends + 2 * q / n) / share, noise / share + 4 * q / n)
