"""The shortest prefix that keeps every head's attention, by integer programs; each proposal is checked exactly."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from lengthwise.exact import ceil_power_of_two, power_reaches
from lengthwise.theory.budgets import HeadOf
from lengthwise.theory.conditions import Curve, keep_box, keep_presence, keep_slopes, keep_variation
from lengthwise.theory.errors import Reading
from lengthwise.theory.integer_program import Program
from lengthwise.theory.mixtures import Mixture, Unit
from lengthwise.theory.realise import by_type
from lengthwise.type_counts import Counts

Mode = Literal["variation", "slopes", "box"]
Support = Literal["same", "any"]
Table = tuple[int, ...]
Split = tuple[Fraction, ...]
TIGHTENINGS = (Fraction(0), Fraction(1, 10**9), Fraction(1, 10**7), Fraction(1, 10**5))
SHARES = 8  # two units split the error as k : 8 - k
RAISES = 8  # of the length floor, where a proposal is too short for rounding to leave a hardmax


@dataclass(frozen=True)
class Allowance:
    """How far one head may go: its sensitivity L and its budget eta, so L eta of the error; under `mode` box or slopes
    the products of all heads are split anew.
    """

    sensitivity: Fraction
    budget: Fraction


@dataclass(frozen=True)
class Wanted:
    """A long string, the models' readings, the heads that must be kept, and the one question about a short prefix.

    least: the length floor n0 that hardmax needs. plain: whether attention is plain, with weights instead of maximisers.
    """

    readings: tuple[Reading, ...]
    original: Counts
    heads: Mapping[HeadOf, Allowance]
    least: int
    fits: Callable[[Table], bool]

    @property
    def table(self) -> Table:
        """The long prefix by type."""
        return by_type(self.original)

    def mixture(self, head: HeadOf, allowed: Sequence[int]) -> Mixture:
        """What a head averages."""
        reading = self.readings[head[0]]
        return Mixture.of(reading.views[head[1]], reading.model.attention == "plain", self.table, allowed)

    def allowed(self, support: Support) -> list[int]:
        """The types of the long prefix; or every type whose logit is nowhere above what the long string attends to."""
        present = [t for t, count in enumerate(self.table) if count]
        if support == "same":
            return present
        views = [self.readings[model].views[head] for model, head in self.heads]
        tops = [
            max([view.prefix[t] for t in present] + [logit for logit in view.suffix if logit is not None])
            for view in views
        ]
        plain = self.readings[0].model.attention == "plain"
        return [
            t
            for t in range(len(self.table))
            if plain or all(view.prefix[t] <= top for view, top in zip(views, tops, strict=True))
        ]

    def sizes(self, least: int, largest: int | None) -> tuple[int, int]:
        """The class sizes to choose from: Z0 = ceil((n0 - tau - 1 - rem)/Delta) or 0, up to C or a size known to do."""
        period, prefix = self.original.period, self.original.prefix_length
        smallest = max(0, -((len(self.original.suffix) + prefix % period - least) // period))
        return smallest, min(prefix // period, prefix // period if largest is None else largest)


@dataclass(frozen=True)
class Shortest:
    """The shortest prefix found, and the class size below which the solver says there is none (numerical).

    split: what part of the error each unit of heads had; the bound is for this split.
    """

    table: Table
    bound: int
    finished: bool
    split: Split


def shortest_prefix(
    wanted: Wanted,
    mode: Mode,
    support: Support = "same",
    largest: int | None = None,
    splits: Iterable[Split] | None = None,
) -> Shortest | None:
    """The shortest prefix that an integer program finds for a mode, checked by `wanted.fits`; None where none was found.

    largest: a class size to beat or to meet. splits: what parts of the error the units may have.
    Source: one-layer note, section 9. Ours: heads of one model with the same mixture are one unit, so their joint move
    is bounded at once; two units try eight splits of the error. A proposal that fails the exact check by the solver's
    tolerance is asked for again with a slightly smaller error.
    """
    allowed, best = wanted.allowed(support), None
    for split in _splits(wanted, mode, allowed) if splits is None else splits:
        bar = largest if best is None else sum(best.table) // wanted.original.period - 1
        found = _solved(wanted, mode, allowed, split, bar)
        best = found or best
    return best


def _solved(wanted: Wanted, mode: Mode, allowed: list[int], split: Split, largest: int | None) -> Shortest | None:
    least = wanted.least
    for _ in range(RAISES):
        smallest, top = wanted.sizes(least, largest)
        raised = None
        for tightening in TIGHTENINGS:
            if smallest > top:
                return None
            proposal = _program(wanted, mode, allowed, split, (smallest, top), 1 - tightening).solve()
            if proposal.table is None:
                return None
            if wanted.fits(proposal.table):
                asked = not tightening and least == wanted.least  # otherwise only the floor is known of what was asked
                bound = proposal.bound if asked else wanted.sizes(wanted.least, None)[0]
                return Shortest(proposal.table, bound, proposal.finished, split)
            raised = hardmax_floor(wanted, proposal.table)
            if raised is not None:
                break
        if raised is None or raised <= least:
            return None
        least = raised
    return None


def hardmax_floor(wanted: Wanted, table: Table) -> int | None:
    """The length at which every kept head is a hardmax on a prefix with these types; None where it is one already.

    A short string may lack the long one's runner-up, or have a closer one. Source: one-layer note, section 2.
    """
    length, floors = sum(table) + len(wanted.original.suffix), []
    for model, head in wanted.heads:
        reading = wanted.readings[model]
        gap, bits = reading.views[head].attended(table).gap, reading.model.bits
        if bits is not None and gap != math.inf and not power_reaches(length, Fraction(gap), bits):
            floors.append(ceil_power_of_two(min(bits / Fraction(gap), Fraction(4096))))
    return max(floors, default=None)


def _program(
    wanted: Wanted,
    mode: Mode,
    allowed: list[int],
    split: Split,
    sizes: tuple[int, int],
    factor: Fraction,
) -> Program:
    """The program of a mode. Every mode keeps the attended level of every head that must be kept."""
    program = Program(wanted.table, wanted.original.period, allowed, *sizes)
    for mixture in dict.fromkeys(wanted.mixture(head, allowed) for head in wanted.heads):
        keep_presence(program, mixture)
    if mode == "variation":
        budgets: dict[Mixture, Fraction] = {}
        for head, allowance in wanted.heads.items():
            mixture = wanted.mixture(head, allowed)
            budgets[mixture] = min(budgets.get(mixture, Fraction(1)), allowance.budget)
        for mixture, budget in budgets.items():
            keep_variation(program, mixture, budget * factor)
        return program
    for (unit, _), share in zip(units(wanted, allowed), split, strict=True):
        curve = Curve.of(unit, wanted.table) if mode == "box" and len(unit.heads) == len(unit.reading.views) else None
        if curve is not None:
            keep_box(program, unit, curve, float(share * factor))
        else:
            keep_slopes(program, unit, share * factor)
    return program


def units(wanted: Wanted, allowed: list[int]) -> list[tuple[Unit, Fraction]]:
    """The units of heads of one model with one mixture, each with the sum of its heads' L eta."""
    members: dict[tuple[int, Mixture], list[HeadOf]] = {}
    for head in wanted.heads:
        members.setdefault((head[0], wanted.mixture(head, allowed)), []).append(head)
    return [
        (
            Unit.of(wanted.readings[model], [number for _, number in heads], mixture),
            sum((wanted.heads[head].sensitivity * wanted.heads[head].budget for head in heads), Fraction(0)),
        )
        for (model, mixture), heads in members.items()
    ]


def _splits(wanted: Wanted, mode: Mode, allowed: list[int]) -> Iterator[Split]:
    """The error of every unit: the products L eta first; then, for two units, the other eighths of their sum."""
    shares = tuple(share for _, share in units(wanted, allowed)) if mode != "variation" else ()
    yield shares
    if len(shares) == 2:
        total = sum(shares, Fraction(0))
        for part in (3, 5, 2, 6, 1, 7, 4):
            if shares[0] != total * part / SHARES:
                yield total * part / SHARES, total * (SHARES - part) / SHARES
