"""How far a head's attention is expected to stray from its limit law, when tokens follow a Beta-distributed share."""

from dataclasses import dataclass
from fractions import Fraction

from lengthwise.enclosures import absence, beta_moment, beta_tail, clipped, lowered, middle
from lengthwise.exact import Ball, least

_HALF, _ONE = Fraction(1, 2), Fraction(1)


@dataclass(frozen=True)
class Straying:
    """What decides the expected total variation of one head for one query type, beside the class size.

    types: |T|, how many types have the largest logit. residues: k, the least number of residues that a token of T has
    there. ties: the suffix positions that may share that logit. attended, other: the parameters of the Beta law of u,
    the share of the attended tokens; other = 0 where every token is attended, and then u = 1. periodic: period > 1.
    """

    types: int
    residues: int
    ties: int
    attended: Fraction
    other: Fraction
    periodic: bool

    @property
    def single(self) -> bool:
        """Whether one type alone is attended: then attention strays only where that type is missing."""
        return self.types + self.ties == 1

    def expected(self, size: int) -> Ball:
        """Psi(C): encloses the bound on the expected total variation at class size C.

            kap = (sqrt|T| + 1)/2 sqrt(1 + [Delta > 1]/C)
            Psi = E min{1, kap/sqrt(k C u) + b/(k C u) + [Delta > 1]/C}     if |T| + b >= 2
                = E (1 - u)^C                                               if |T| = 1, b = 0

        with b = ties. Source: one-layer note, section 8. Ours: the note's maximum over b = 0..ties is the value at
        b = ties. The first line grows with b; and for |T| = 1 it exceeds the second one at every u, since
        (1 - u)^C <= e^-v <= min{1, v^-1/2} for v = C u, and kap >= 1.
        """
        if self.single:
            return absence(self.attended, self.other, size) if self.other else Ball.of(0)
        return expected_minimum(*self._parts(size), self.attended, self.other)

    def closed_form(self, size: int) -> Ball:
        """A bound of Psi(C) without integrals: sums of Gamma ratios with the exponents below, infinite where a' = 0.

            E min{1, v} <= E v^(2 th) for every th <= 1/2:   (kap^2/(k C))^th E u^-th + (b/(k C))^th E u^-th + [Delta>1]/C

        Source: one-layer note, section 8. Each E is taken at the best th of a grid below a' = alpha'(T).
        """
        if self.single or not self.other:
            return least(self.expected(size), Ball.of(1))
        root, inverse, constant = self._parts(size)
        best = Ball.of(1)
        for step in range(1, 9):
            for most in {_HALF, min(_HALF, self.attended)}:
                power = most * step / 8
                if power < self.attended:
                    moment = beta_moment(self.attended, self.other, power)
                    first = root.power(2 * power)
                    second = inverse.power(power) if self.ties else Ball.of(0)
                    best = least(best, (first + second) * moment + constant)
        return best

    @property
    def exponent(self) -> Fraction:
        """Psi(C) falls like C^-exponent, up to a logarithm where the two are equal: 1/2, or alpha'(T) if that is less.

        A single type is missing with a probability of order C^-alpha'(T).
        """
        if self.single:
            return self.attended
        return min(_HALF, self.attended) if self.other else _HALF

    def _parts(self, size: int) -> tuple[Ball, Ball, Ball]:
        """kap/sqrt(k C), b/(k C), [Delta > 1]/C."""
        kappa = (Ball.of(self.types).apply("sqrt") + 1) / 2
        places = self.residues * size
        spread = Ball.of(1 + Fraction(int(self.periodic), size)) / places
        return (
            kappa * spread.apply("sqrt"),
            Ball.of(Fraction(self.ties, places)),
            Ball.of(Fraction(self.periodic, size)),
        )


def expected_minimum(root: Ball, inverse: Ball, constant: Ball, attended: Fraction, other: Fraction) -> Ball:
    """Encloses E min{1, v(u)},  v(u) = r u^-1/2 + s u^-1 + t,  u ~ Beta(a, b); u = 1 where b = 0.

        = P(u < u0) + r E[u^-1/2; u >= u0] + s E[u^-1; u >= u0] + t P(u >= u0)        where v(u0) = 1

    Incomplete Beta functions in ball arithmetic (`beta_tail`), so no quadrature is needed. Any rational u0 gives an
    upper bound, since min{1, v} is below both of its parts. Between u0 and the exact root v is between v(u0) and 1, so
    what the bound exceeds the value by is at most |v(u0) - 1|, about 1e-38 here; the lower end accounts for it.
    """
    if not other:
        return clipped(root + inverse + constant)
    room = 1 - constant
    if not Ball.of(0).certainly_less(room):
        return Ball.of(1)
    # s w^2 + r w = 1 - t for w = u0^-1/2, solved without cancellation
    turn = 2 * room / (root + (root * root + 4 * inverse * room).apply("sqrt"))
    start = middle(1 / (turn * turn))
    if start >= 1:
        return Ball.of(1)
    w = 1 / Ball.of(start).apply("sqrt")
    excess = root * w + inverse * w * w + constant - 1
    above = beta_tail(attended, other, Fraction(0), start)
    value = 1 - above * room + root * beta_tail(attended, other, _HALF, start)
    value = value + inverse * beta_tail(attended, other, _ONE, start)
    return clipped(lowered(value, excess))
