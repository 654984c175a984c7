"""The law of the average case: tokens drawn independently from proportions that are themselves Dirichlet-distributed."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from lengthwise.errors import WrongInput, shown
from lengthwise.exact import rational
from lengthwise.type_counts import as_list

LARGEST = 10**6  # sum of the parameters: beyond it the proportions are as good as fixed


@dataclass(frozen=True)
class DirichletLaw:
    """q ~ Dirichlet(alpha), then every token of a string independently from q, the same q for the whole string.

    alpha: one weight a token, as exact rationals; large equal weights make q nearly uniform, small ones let few tokens
    dominate. A weight of 0 means that the token never occurs.
    """

    alpha: tuple[Fraction, ...]

    @classmethod
    def of(cls, alpha: Any, symbols: int) -> "DirichletLaw":
        """The law with these weights, one a token; a single number stands for equal weights."""
        if isinstance(alpha, DirichletLaw):
            alpha = alpha.alpha
        if isinstance(alpha, (int, float, Fraction, str)):
            alpha = [alpha] * symbols
        listed = as_list(alpha, "one weight a token", "give as many numbers as tokens, or one for all", "alpha")
        weights = tuple(_weight(value, f"alpha[{index}]") for index, value in enumerate(listed))
        if len(weights) != symbols:
            got, remedy = f"{len(weights)}", "give one number a token, or one for all"
            raise WrongInput(f"{symbols} weights, one a token", got, remedy, "alpha")
        if not any(weights) or sum(weights) > LARGEST:
            wanted = f"weights that sum to more than 0 and at most {LARGEST}"
            raise WrongInput(wanted, f"a sum of {shown(float(sum(weights)))}", "scale them", "alpha")
        return cls(weights)

    @property
    def total(self) -> Fraction:
        """A = sum of alpha."""
        return sum(self.alpha, Fraction(0))

    @property
    def missing(self) -> tuple[int, ...]:
        """The tokens that never occur."""
        return tuple(token for token, weight in enumerate(self.alpha) if not weight)

    def after(self, token: int) -> "DirichletLaw":
        """The law of q once a token has been seen: alpha + e_y. The query token is evidence about q."""
        return DirichletLaw(tuple(weight + (index == token) for index, weight in enumerate(self.alpha)))

    def share(self, tokens: Sequence[int]) -> tuple[Fraction, Fraction]:
        """The parameters of the Beta law of q(tokens): the weight of the tokens, and that of all others."""
        own = sum((self.alpha[token] for token in set(tokens)), Fraction(0))
        return own, self.total - own


def _weight(value: Any, where: str) -> Fraction:
    try:
        weight = rational(repr(value) if isinstance(value, float) else value)
    except (ValueError, OverflowError, TypeError, ZeroDivisionError):
        weight = Fraction(-1)
    if weight < 0 or isinstance(value, bool):
        raise WrongInput("a weight >= 0", shown(value), "weights are plain numbers, as 0.5", where)
    return weight
