"""How far the attention of a plain head is expected to stray from its limit law: whatever law the proportions have."""

from dataclasses import dataclass
from fractions import Fraction

from lengthwise.enclosures import clipped
from lengthwise.exact import Ball


@dataclass(frozen=True)
class PlainStraying:
    """What decides the expected total variation of one plain head for one query type, beside the class size.

    types: S; period: Delta; spread: omega, the range of its content logits over types; shifts: phi by suffix offset,
    masked ones left out.
    """

    types: int
    period: int
    spread: Fraction
    shifts: tuple[Fraction, ...]

    def expected(self, size: int) -> Ball:
        """Psi(C), a bound of the expected total variation at class size C.

            Psi = min{ 1,  kap e^(omega/2) / sqrt(Delta C)  +  e^omega Phi / (Delta C)  +  [Delta > 1]/C }
            kap = (sqrt S + 1)/2 sqrt(1 + [Delta > 1]/C),   Phi = sum over suffix offsets of e^phi

        Ours: Theorem 3 for plain attention, proved on the page of the average case. It holds for all proportions q, so
        it asks nothing of their law.
        """
        places, larger = self.period * size, Fraction(int(self.period > 1), size)
        kappa = (Ball.of(self.types).apply("sqrt") + 1) / 2
        root = kappa * (_exp(self.spread) * (1 + larger) / places).apply("sqrt")
        near = sum((_exp(shift) for shift in self.shifts), Ball.of(0))
        return clipped(root + _exp(self.spread) * near / places + larger)

    def closed_form(self, size: int) -> Ball:
        """Psi(C) itself, which has no integrals."""
        return self.expected(size)

    @property
    def exponent(self) -> Fraction:
        """Psi(C) falls like C^-1/2."""
        return Fraction(1, 2)


def _exp(value: Fraction) -> Ball:
    return Ball.of(value).apply("exp")
