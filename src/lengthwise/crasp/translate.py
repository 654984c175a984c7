"""From the operations of a program to conditions on subjects: what each operation says, one after the other."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from lengthwise.crasp.conditions import FALSE, TRUE, Cells, Condition, Cuts, Subjects, contains
from lengthwise.crasp.operations import (
    AllOf,
    AnyOf,
    AtLeastZero,
    Constant,
    InResidues,
    Operation,
    Operations,
    Opposite,
    RecentTally,
    SymbolIs,
    Tally,
)
from lengthwise.crasp.passes import Passes
from lengthwise.crasp.schedule import ANY, Schedule, atom_at_start, combined, spelled_out
from lengthwise.errors import WrongInput, shown

MOST_TOGETHER = 64  # residues modulo several periods are one subject up to this common period
MOST_CASES = 256  # values of recent counts that one comparison may mix with counts
LARGEST = 2**50  # of a coefficient or constant: above this a float64 weight would be another number
FARTHEST = 10_000  # of an offset
LONGEST_PERIOD = 100_000
LONGEST_RELATIVE = 500  # where residues are read from the begin symbol, by as many units for each set of them

Bit = tuple[int, Condition]


@dataclass
class Translation:
    """The conditions of a program's operations, by index."""

    operations: Operations
    passes: Passes
    schedule: Schedule
    period: int | None
    conditions: dict[int, Condition] = field(default_factory=dict)

    @property
    def subjects(self) -> Subjects:
        """The subjects made so far."""
        return self.schedule.subjects

    @classmethod
    def of(cls, operations: Operations, roots: Iterable[int], passes: Passes, invariant: bool) -> "Translation":
        """All operations that the roots need, translated in order."""
        subjects = Subjects(len(operations.alphabet) + 1, passes.join, passes.merge)
        schedule = Schedule(subjects, passes.fuse, invariant)
        result = cls(operations, passes, schedule, _common_period(operations, invariant))
        for index in operations.needed(roots):
            found = result.condition(operations.list[index])
            if found is not None:
                result.conditions[index] = found
                for subject, _ in found.members:
                    schedule.ready(subject)  # now, so that no later call has far to go
        return result

    def condition(self, operation: Operation) -> Condition | None:
        """What a Boolean operation says; None for a count, which says nothing by itself."""
        subjects = self.subjects
        match operation:
            case Constant(value):
                return TRUE if value else FALSE
            case SymbolIs(symbol):
                return subjects.where(subjects.symbol(), Cells(frozenset({symbol + 1}), subjects.symbols))
            case InResidues(period, residues):
                total = self.period or period
                chosen = frozenset(cell for cell in range(total) if cell % period in residues)
                return subjects.where(subjects.residue(total), Cells(chosen, total))
            case Opposite(one):
                return subjects.opposite(self.conditions[one])
            case AllOf(several):
                return subjects.all_of(self.conditions[one] for one in several)
            case AnyOf(several):
                return subjects.any_of(self.conditions[one] for one in several)
            case AtLeastZero(_, _):
                return self.comparison(operation)
        return None

    def comparison(self, operation: AtLeastZero) -> Condition:
        """A comparison of counts, of recent counts, or of both: then by the values that the recent ones can have."""
        counts: list[Bit] = []
        bits: list[Bit] = []
        for coefficient, index in operation.terms:
            match self.operations.list[index]:
                case Tally(one):
                    counts.append((coefficient, self.conditions[one]))
                case RecentTally(one, offsets):
                    bits += [(coefficient, self.before(self.conditions[one], offset)) for offset in offsets]
        bits = _merged(bits)
        if not bits:
            return self.count_at_least(counts, -operation.constant)
        if not counts:
            return self.recent_within(bits, Cuts(False, (-operation.constant,)))
        values = sorted(_sums(bits))
        cases = [
            (self.recent_within(bits, Cuts(False, (v, v + 1))), self.count_at_least(counts, -operation.constant - v))
            for v in values
        ]
        return self.subjects.any_of(self.subjects.all_of(case) for case in cases)

    def count_at_least(self, counts: Sequence[Bit], bound: int) -> Condition:
        """Whether coefficients times counts of conditions sum up to at least a bound."""
        schedule, subjects = self.schedule, self.subjects
        signs = {coefficient > 0 for coefficient, _ in counts}
        if self.passes.split and len(signs) == 1 and bound == int(signs == {True}):
            # Counts are >= 0, so the sum is >= 1 (or its negative >= 0) exactly if some counted condition held once
            # (or none ever did): any sum of counts that is positive at the same positions says the same.
            sign = 1 if bound else -1
            counts = [(sign, part) for part in _parts(subjects, [one for _, one in counts])]
        terms = spelled_out(combined((k, schedule.indicator(one)) for k, one in counts))
        terms.pop((subjects.symbol(), 0), None)  # the begin symbol is not counted
        _check_size(terms.values(), bound)
        if not terms:
            return TRUE if bound <= 0 else FALSE
        sign = 1
        ordered = sorted(terms.items(), key=lambda term: (term[0][0].number, term[0][1]))
        if self.passes.merge:
            factor = math.gcd(*terms.values())
            sign = -1 if ordered[0][1] < 0 else 1
            ordered = [(atom, sign * k // factor) for atom, k in ordered]
            bound = -(-bound // factor)  # Sum >= b exactly if Sum / factor >= ceil(b / factor)
        lowest = 0 if all(k > 0 for _, k in ordered) else None
        subject = subjects.make("sum", fresh=not subjects.merge, terms=tuple(ordered), lowest=lowest)
        schedule.ready(subject)
        # With the sign turned, Sum >= b is -Sum <= -b, that is not (-Sum >= 1 - b).
        return subjects.where(subject, Cuts(False, (bound,)) if sign > 0 else Cuts(True, (1 - bound,)))

    def before(self, condition: Condition, offset: int) -> Condition:
        """Whether the condition held `offset` positions before, at a position of the word."""
        subjects = self.subjects
        if offset == 0:
            start = holds_at_start(condition)
            return subjects.all_of([condition, self._in_word()]) if start else condition
        if offset > FARTHEST:
            raise WrongInput(f"offsets up to {FARTHEST}", shown(offset), "look back less far", "a local count")
        if condition == FALSE:
            return FALSE
        inner = next(iter(condition.members))[0] if len(condition.members) == 1 and condition.holds else None
        if inner is not None and inner.kind == "before" and contains(next(iter(condition.members))[1], 1):
            assert inner.inside is not None  # s back of t back is s + t back
            return self.before(inner.inside, inner.offset + offset)
        subject = subjects.make("before", inside=condition, offset=offset, lowest=0, highest=1)
        self.schedule.ready(subject)
        return subjects.at_least(subject, 1)

    def _in_word(self) -> Condition:
        symbol = self.subjects.symbol()
        return self.subjects.where(symbol, Cells(frozenset(range(1, symbol.cells)), symbol.cells))

    def recent_within(self, bits: Sequence[Bit], values: Cuts) -> Condition:
        """Whether coefficients times the truth of conditions at this position sum up to a value in the set."""
        subjects, schedule = self.subjects, self.schedule
        low = sum(min(k, 0) for k, _ in bits)
        high = sum(max(k, 0) for k, _ in bits)
        most = [one if k > 0 else subjects.opposite(one) for k, one in bits]
        least = [subjects.opposite(one) for one in most]
        if len(bits) == 1:
            return subjects.any_of(one for one, v in ((most[0], high), (least[0], low)) if contains(values, v))
        if self.passes.join and values == Cuts(False, (high,)):
            return subjects.all_of(most)
        if self.passes.join and values == Cuts(False, (low + 1,)):
            return subjects.opposite(subjects.all_of(least))
        terms = combined((k, schedule.indicator(one)) for k, one in bits)
        _check_size(terms.values(), max(values.cuts))
        shift = terms.pop((subjects.symbol(), ANY), 0)
        start = sum(k * atom_at_start(atom) for atom, k in terms.items())
        subject = subjects.make(
            "recent", terms=tuple(terms.items()), lowest=low - shift, highest=high - shift, at_start=start
        )
        schedule.ready(subject)
        return subjects.where(subject, Cuts(values.start, tuple(cut - shift for cut in values.cuts)))


def holds_at_start(condition: Condition) -> bool:
    """Whether a condition holds at the begin symbol."""
    return condition.holds == all(contains(values, subject.at_start) for subject, values in condition.members)


def _check_size(coefficients: Iterable[int], bound: int) -> None:
    """Refuses what floating-point weights cannot hold exactly: they may be any partial sum, and halves."""
    if sum(map(abs, coefficients)) + abs(bound) > LARGEST:
        wanted, got = "comparisons whose integers sum up to at most 2^50", "larger ones"
        raise WrongInput(wanted, got, "no weight can hold them; scale the comparison down", "a comparison")


def _parts(subjects: Subjects, conditions: Iterable[Condition]) -> list[Condition]:
    """Conditions of which one holds exactly if one of the given ones does: every `or` taken apart."""
    found: dict[Condition, None] = {}
    ahead = list(conditions)[::-1]
    while ahead:
        condition = ahead.pop()
        if condition.holds or len(condition.members) < 2:
            found[condition] = None
        else:
            ahead += [subjects.opposite(subjects.where(*member)) for member in condition.sorted[::-1]]
    return list(found)


def _merged(bits: Iterable[Bit]) -> list[Bit]:
    """One coefficient a condition; what is always false is left out."""
    found: dict[Condition, int] = {}
    for coefficient, condition in bits:
        found[condition] = found.get(condition, 0) + coefficient
    return [(k, condition) for condition, k in found.items() if k and condition != FALSE]


def _sums(bits: Iterable[Bit]) -> set[int]:
    """All sums of some of the coefficients."""
    sums = {0}
    for coefficient, _ in bits:
        sums |= {one + coefficient for one in sums}
        if len(sums) > MOST_CASES:
            remedy = "compare recent counts and counts separately"
            raise WrongInput(
                f"local counts of at most {MOST_CASES} values beside counts", "more", remedy, "a comparison"
            )
    return sums


def _common_period(operations: Operations, invariant: bool) -> int | None:
    """The common period of all residues, where it is small: then residues of different periods are one subject."""
    periods = [one.period for one in operations.list if isinstance(one, InResidues)]
    common = math.lcm(*periods) if periods else 1
    longest = LONGEST_RELATIVE if invariant else LONGEST_PERIOD
    if common > longest:
        whose = "periods with a common multiple" + (" for any first position" if invariant else "")
        raise WrongInput(f"{whose} up to {longest}", shown(common), "use shorter periods", "pos %")
    return common if common <= MOST_TOGETHER else None
