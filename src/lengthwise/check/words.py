"""Numbers, counts, targets and conditions as a verdict on worst errors says them."""

from fractions import Fraction
from math import ceil, floor

from .claim import Case, Target
from .reader import about

LONGEST = 60  # characters of a sum of counts that is written out


def decimal(value: Fraction, up: bool) -> str:
    """Nine decimal places, rounded in the direction that makes a statement weaker."""
    nine = (ceil if up else floor)(value * 10**9)
    whole, part = divmod(abs(nine), 10**9)
    return "-" * (nine < 0) + about(whole) + f".{part:09d}".rstrip("0").rstrip(".")


def target_in_words(target: Target, symbols: int) -> str:
    """Psi(scale over / under) and the tail."""
    ratio = "/".join(
        f"({said})" if " " in said else said for said in (_sum(row, symbols) for row in (target.over, target.under))
    )
    factor = "" if target.scale == 1 else f"{_short(target.scale)} "
    inner = factor + ratio
    said = f"sin({inner})" if target.activation == "sin" else inner
    return said + (f" plus a term of the last {len(target.tail)} tokens" if target.tail else "")


def conditions_in_words(case: Case) -> str:
    """The conditions as sums of counts that are at least 0."""
    said = [f"{_sum(row, case.model.symbols)} >= 0" for row in case.conditions]
    return (
        "" if not said else f" with {', '.join(said[:3])}" + f" and {len(said) - 3} more conditions" * (len(said) > 3)
    )


def _sum(row: list[int], symbols: int) -> str:
    """A sum of counts: c0 of a token, c0:1 of a token at a residue where these differ."""
    period = len(row) // symbols
    terms = []
    for token in range(symbols):
        own = [row[residue * symbols + token] for residue in range(period)]
        named = [(own[0], f"c{token}")] if len(set(own)) == 1 else [(v, f"c{token}:{r}") for r, v in enumerate(own)]
        terms += [(v, name) for v, name in named if v]
        if len(terms) > LONGEST:
            break
    said = "".join(f" {'-' if v < 0 else '+'} {'' if abs(v) == 1 else about(abs(v)) + ' '}{name}" for v, name in terms)
    said = said.removeprefix(" + ").replace(" - ", "-", 1) if said.startswith(" - ") else said.removeprefix(" + ")
    return (said or "0") if len(said) <= LONGEST else "a sum of counts"


def _short(value: Fraction) -> str:
    return str(value) if len(str(value)) < 20 else "a number times"
