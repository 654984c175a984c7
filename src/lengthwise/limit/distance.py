"""How far a two-layer log-suffix model is from its limit, at every length."""

from dataclasses import dataclass

from lengthwise.errors import WrongInput, shown
from lengthwise.limit.arithmetic import Number, Numbers, balls
from lengthwise.limit.complexity import Complexity
from lengthwise.limit.decay import Decay, printed_decay


def layer_one_error(constants: Complexity, position: int) -> float:
    """How far layer 1 can be from its limit at a position (2-norm), rounded up.

        E_1(i) = lambda_1 sum_h D_h min(1, (tau + 1) e^omega_h i^-eta_h),   eta_h = min(gamma_h, 1)

    Source: two-layer note, section 2 and Lemma 1.
    """
    return LimitError.printed(constants).first_layer(_natural(position, "position"), balls()).upper()  # type: ignore[no-any-return]


def limit_error(constants: Complexity, length: int) -> float:
    """How far the whole network can be from its limit on strings of a length (2-norm), rounded up; any length.

        Delta_lim(n) = Lambda { E_1(n) (1 + sum kappa) + sum_h beta_h [e^omega_2 mean_{i <= n} E_1(i)
                       + at_h E_1(max(n - tau, 1))] + sum_h has_h D_2 min(1, (tau + 1) e^omega_2 n^-eta_2) }

    Source: two-layer note, section 2 and Lemma 4.
    """
    return LimitError.printed(constants).at(_natural(length, "length"), balls()).upper()  # type: ignore[no-any-return]


@dataclass(frozen=True)
class LimitError:
    """Delta_lim of a model whose heads approach their limits at the given decays, in any arithmetic."""

    constants: Complexity
    first: tuple[Decay, ...]
    second: tuple[Decay, ...]

    @classmethod
    def printed(cls, constants: Complexity) -> "LimitError":
        """With the decays of Lemma 1."""
        first, second = (
            tuple(printed_decay(head.regime, constants.locality) for head in layer)
            for layer in (constants.first, constants.second)
        )
        return cls(constants, first, second)

    def at(self, length: int, numbers: Numbers) -> Number:
        """Delta_lim(n), non-increasing in n."""
        known, one = self.constants, numbers.upto(1.0)
        here, mean = self.first_layer(length, numbers), self._mean(length, numbers)
        early = self.first_layer(max(length - known.locality, 1), numbers)
        result = here * (1 + numbers.total(numbers.upto(head.query_gain) for head in known.second))
        for head, decay in zip(known.second, self.second, strict=True):
            ratio = numbers.exp(numbers.upto(head.spread))
            result = result + numbers.upto(head.key_gain) * (ratio * mean + (early if head.atoms else 0))
            if head.has_suffix:
                far = numbers.least(ratio * decay.at(length, numbers), one)
                result = result + numbers.upto(head.diameter) * far
        return numbers.upto(known.readout_gain) * result

    def first_layer(self, position: int, numbers: Numbers) -> Number:
        """E_1(i)."""
        known, one = self.constants, numbers.upto(1.0)
        return numbers.upto(known.mlp_gain) * numbers.total(
            numbers.upto(head.diameter)
            * numbers.least(numbers.exp(numbers.upto(head.spread)) * decay.at(position, numbers), one)
            for head, decay in zip(known.first, self.first, strict=True)
        )

    def _mean(self, length: int, numbers: Numbers) -> Number:
        """(1/n) sum_{i <= n} E_1(i)."""
        known = self.constants
        return numbers.upto(known.mlp_gain) * numbers.total(
            numbers.upto(head.diameter) * decay.mean(numbers.exp(numbers.upto(head.spread)), length, numbers)
            for head, decay in zip(known.first, self.first, strict=True)
        )


def _natural(value: int, name: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise WrongInput("a whole number >= 1", shown(value), "positions and lengths start at 1", name)
    return value
