"""Kind `length`: a training length that suffices for all strings. Section 6 of the format, rule by rule."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain, product
from math import ceil
from typing import Any

from .enclose import Enclosure, exp, reaches
from .model import Model
from .reader import Refused, about, fields, items, natural, number, numbers, upward
from .weigh import Logits, check_work, counting_bound, margin, ranks, sensitivities, ties

FIELDS = {
    "2": ("theorem", "locality", "sensitivities", "length", "margins", "threshold", "queries"),
    "P": ("theorem", "locality", "sensitivities", "length", "queries"),
}

_ZERO = Fraction(0)

Pair = tuple[int, int]  # (model, head), or a query type (token, residue)


@dataclass(frozen=True)
class Case:
    """What both theorems speak of; L and logits of every (model, head)."""

    models: list[Model]
    period: int
    locality: int
    error: Fraction
    length: int
    slopes: dict[Pair, Fraction]
    logits: dict[Pair, Logits]

    @property
    def types(self) -> int:
        """S, the number of (token, residue) types."""
        return self.models[0].symbols * self.period


def check(claim: list[Any], models: list[Model], period: int, error: Fraction) -> str:
    """What the certificate says, in words, once every rule of its theorem holds; Refused or Unreadable otherwise."""
    theorem, reach, claimed, length, *rest = claim
    locality, n = natural(reach, "locality"), natural(length, "length")
    if not error:
        raise Refused("the error is 0, and every bound divides by it")
    if locality < max(model.locality for model in models):
        raise Refused(f"the locality is {about(locality)}, less than that of a model")
    check_work(models, period, locality)
    slopes = _by_head(claimed, "sensitivities", models)
    recomputed = [sensitivities(model) for model in models]
    for (m, h), L in slopes.items():
        if recomputed[m][h] > L:
            raise Refused(f"head {h} of model {m} has the sensitivity {upward(recomputed[m][h])}, more than is claimed")
    logits = {(m, h): Logits.of(models[m], models[m].heads[h], locality) for m, h in slopes}
    case = Case(models, period, locality, error, n, slopes, logits)
    if theorem == "2":
        _theorem_2(case, *rest)
    else:
        _theorem_p(case, *rest)
    eps, window = upward(error), about(n) if period == 1 else f"{about(n - period + 1)} to {about(n)}"
    if len(models) == 1:
        return (
            f"For every string of more than {about(n)} tokens there is one of {window} tokens on which the output of the "
            f"model differs by at most {eps} (Theorem {theorem})."
        )
    return (
        f"If the two models differ by at most d on all strings of {window} tokens, they differ by at most d + {eps} on "
        f"every string of more than {about(n)} tokens (Theorem {theorem})."
    )


def _theorem_2(case: Case, margins: Any, threshold: Any, queries: Any) -> None:
    """Rules 1 to 8. Free heads need nothing but their share of the error: any change of attention has TV <= 1."""
    n0, period = natural(threshold, "threshold"), case.period
    gammas = [None if v is None else number(v, "margins") for v in items(margins, "margins", len(case.models))]
    if any(model.attention != "log-length" or model.bits is None for model in case.models):
        raise Refused("Theorem 2 needs log-length attention with bits")
    least = max(n0 + period - 1, case.locality + period)
    names = ("groups", "free", "ties", "count")
    for where, kinds, (grouped, free, most, said) in _entries(case, queries, names):
        groups = [fields(group, f"{where}, groups", "heads", "budget") for group in items(grouped, where)]
        members = [[_pair(head, where) for head in items(heads, where)] for heads, _ in groups]
        etas = [number(budget, f"{where}, budget") for _, budget in groups]
        _check_budgets(case, where, members, etas, [_pair(head, where) for head in items(free, where)])
        bbar, count = natural(most, f"{where}, ties"), number(said, f"{where}, count")
        for kind, heads in product(kinds, members):
            _check_group(case, f"{where}, query type {list(kind)}", kind, heads, bbar, gammas)
        if count < counting_bound(etas, case.types, period, bbar):
            raise Refused(f"{where}: the count is less than the budgets and ties give")
        least = max(least, case.locality + period + period * ceil(count))
    if n0 < case.locality + 1 + period:
        raise Refused(f"the threshold is below locality + 1 + period = {case.locality + 1 + period}")
    for index, (model, gamma) in enumerate(zip(case.models, gammas, strict=True)):
        if gamma is not None and (gamma <= 0 or not reaches(n0, gamma, model.bits or 1)):
            raise Refused(f"at the threshold a gap of the margin of model {index} does not make a hardmax")
    if case.length < least:
        raise Refused(f"the length is below {about(least)}")


def _check_budgets(case: Case, where: str, members: list[list[Pair]], etas: list[Fraction], free: list[Pair]) -> None:
    """Rules 1 and 3: every head once; 0 < eta < 1 and sum L eta + sum of the free L <= eps."""
    if not all(members) or sorted([*chain(*members), *free]) != sorted(case.slopes):
        raise Refused(f"{where}: a group is empty, or the groups and the free heads are not every head once")
    if any(not 0 < eta < 1 for eta in etas):
        raise Refused(f"{where}: a budget is not between 0 and 1")
    spent = sum(eta * case.slopes[a] for eta, heads in zip(etas, members, strict=True) for a in heads)
    if spent + sum(case.slopes[a] for a in free) > case.error:
        raise Refused(f"{where}: the sensitivities, weighted with their budgets, exceed the error")


def _check_group(
    case: Case, where: str, kind: Pair, heads: list[Pair], bbar: int, gammas: list[Fraction | None]
) -> None:
    """Rules 2, 6 and 4 for one query type: heads compare alike, ties with the prefix, margins."""
    slots = {a: case.logits[a].slots(kind, case.period) for a in heads}
    if any(ranks(options) != ranks(slots[heads[0]]) for options in slots.values()):
        raise Refused(f"{where}: the heads of a group compare differently")
    for (m, h), options in slots.items():
        if ties(options, case.period) > bbar:
            raise Refused(f"{where}: more suffix positions can tie with the prefix than is claimed")
        gap, claimed = margin(options, case.period), gammas[m]
        if gap is not None and (claimed is None or claimed > Fraction(gap, case.logits[m, h].denominator)):
            raise Refused(f"{where}: head {h} of model {m} has a smaller margin than is claimed")


def _theorem_p(case: Case, queries: Any) -> None:
    """Rules 1 to 4: B >= sum over acting heads of L e^omega (S/4 + Delta - 1 + sum e^phi) / (Delta (eps - free L))."""
    if any(model.attention != "plain" for model in case.models):
        raise Refused("Theorem P needs plain attention")
    near, least = {a: _suffix_mass(case, a) for a in case.slopes}, case.locality + case.period
    for where, kinds, (acting, free, said) in _entries(case, queries, ("acting", "free", "count")):
        listed = [fields(entry, f"{where}, acting", "head", "spread") for entry in items(acting, where)]
        omegas = [(_pair(head, where), number(spread, f"{where}, spread")) for head, spread in listed]
        spare = [_pair(head, where) for head in items(free, where)]
        if sorted([*(a for a, _ in omegas), *spare]) != sorted(case.slopes):
            raise Refused(f"{where}: the acting and the free heads are not every head once")
        for (a, omega), kind in product(omegas, kinds):
            if omega < case.logits[a].spread(kind):
                raise Refused(
                    f"{where}: head {a[1]} of model {a[0]} has a larger spread at the query type {list(kind)}"
                )
        rest, count = case.error - sum(case.slopes[a] for a in spare), number(said, f"{where}, count")
        if rest <= 0:
            raise Refused(f"{where}: the sensitivities of the free heads leave nothing of the error")
        wide = Fraction(case.types, 4) + case.period - 1
        needed = sum((case.slopes[a] * exp(Enclosure.of(omega)).high * (wide + near[a]) for a, omega in omegas), _ZERO)
        if count < needed / (case.period * rest):
            raise Refused(f"{where}: the count is below {upward(needed / (case.period * rest))}")
        least = max(least, case.locality + case.period + case.period * ceil(count))
    if case.length < least:
        raise Refused(f"the length is below {about(least)}")


def _suffix_mass(case: Case, a: Pair) -> Fraction:
    """An upper end of the sum of e^phi(k) over the offsets k = 0..tau that are not masked."""
    model = case.models[a[0]]
    shifts = [model.heads[a[1]].shift(offset) for offset in range(case.locality + 1)]
    exact = [Enclosure.of(Fraction(phi, model.below)) for phi in shifts if phi is not None]
    return sum((exp(phi).high for phi in exact), _ZERO)


def _entries(case: Case, queries: Any, names: tuple[str, ...]) -> Iterator[tuple[str, list[Pair], list[Any]]]:
    """The entries with their query types and other fields, one after the other; every query type occurs once in all."""
    seen = set[Pair]()
    for index, entry in enumerate(items(queries, "queries")):
        where = f"queries[{index}]"
        listed, *rest = fields(entry, where, "types", *names)
        kinds = [_pair(kind, f"{where}, types") for kind in items(listed, f"{where}, types")]
        for kind in kinds:
            if kind in seen or kind[0] >= case.models[0].symbols or kind[1] >= case.period:
                raise Refused(f"{where}: the query type {list(kind)} occurs twice or does not exist")
            seen.add(kind)
        yield where, kinds, rest
    if len(seen) != case.types:
        raise Refused(f"{len(seen)} of the {case.types} query types occur")


def _by_head(value: Any, where: str, models: list[Model]) -> dict[Pair, Fraction]:
    """One list a model with one number a head."""
    lists = zip(items(value, where, len(models)), models, strict=True)
    return {
        (m, h): L for m, (own, model) in enumerate(lists) for h, L in enumerate(numbers(own, where, len(model.heads)))
    }


def _pair(value: Any, where: str) -> Pair:
    first, second = items(value, where, 2)
    return natural(first, where), natural(second, where)
