"""What no training length can beat: lower bounds to print beside an upper bound, each with what it speaks of."""

from collections.abc import Iterable
from fractions import Fraction
from math import ceil, prod

from lengthwise.theory.answer import Length, Other
from lengthwise.theory.words import number, numbers

NOTE = "one-layer note, section 7"


def any_argument(sensitivities: Iterable[Fraction], error: Fraction) -> Other:
    """No training length below sum L / (4 error) is valid for all pairs of models with these sensitivities.

    Take tokens a, b, all logits 0, value 1 of a and 0 of b, and let every head feed a bump of its own, a triangle of
    slope s on (0, 1/N) made of three ReLUs. A fraction of a's with a denominator <= N is 0 or at least 1/N, so the
    outputs of such models are 0 on all strings up to N; on a string of length 2N with a single a a bump is s/(2N).
    Bumps up in one model and down in the other differ by sum s / (2N), which is at most the error only if
    N >= sum s / (2 error). The formula for the sensitivity gives L = 2 s here.

    Source: one-layer note, Proposition 2. Ours: summed over the heads of both models.
    """
    total = sum(sensitivities, Fraction(0))
    return Other(
        "any argument",
        Length.of(max(ceil(total / (4 * error)), 0)),
        f"no shorter training length is valid for all pairs of models whose sensitivities sum to {number(total)} "
        "(about all such pairs, not about these two models)",
        f"{NOTE}, Proposition 2",
    )


def one_string_for_all_heads(budgets: Iterable[Fraction], symbols: int) -> Other | None:
    """Chained heads need (1/(2 eta_K)) prod_{a<K} (1 - 2 eta_a)/(2 eta_a) tokens in any string that serves them all.

    Head a attends exactly the tokens a - 1 and a, K heads, tokens 0..K and a query token. Counts n_0, n_1, ... of a
    long string can be chosen with n_(a-1)/(n_(a-1) + n_a) slightly above eta_a. A string z within total variation
    eta_a of it has 0 < m_(a-1)/(m_(a-1) + m_a) < 2 eta_a or so: hence m_0 >= 1, m_a >= m_(a-1) (1 - 2 eta_a)/(2 eta_a)
    and m_(K-1) + m_K >= m_(K-1)/(2 eta_K).

    Source: one-layer note, Proposition 1. Ours: budgets may differ, the largest comes last, and the longest chain need
    not be the best one. None where no budget is below 1/2 or there are fewer than three tokens; of more budgets than
    tokens - 2 the smallest are taken.
    """
    chain = sorted(eta for eta in budgets if 2 * eta < 1)[: max(symbols - 2, 0)]
    if not chain:
        return None
    values = [
        prod(((1 - 2 * eta) / (2 * eta) for eta in chain[:last]), start=1 / (2 * chain[last]))
        for last in range(len(chain))
    ]
    value = max(values)
    heads = (
        "is one head with this attention budget"
        if len(chain) == 1
        else f"are {len(chain)} heads with these attention budgets"
    )
    return Other(
        "one short string for all heads",
        Length.of(ceil(value)),
        f"there {heads} ({numbers(chain)}) and long strings for which no shorter string keeps every head within its "
        "budget (about the method, not about these two models)",
        f"{NOTE}, Proposition 1",
    )
