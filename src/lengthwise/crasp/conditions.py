"""Conditions as the compiler sees them: each says in which set one *subject* lies, or joins several such with `and`.

A subject has one value at each position: the symbol (`$` at the begin symbol), the residue of the position, an integer
sum of counts, an integer sum over recent positions, or the truth (0 or 1) of another condition. Over one subject every
Boolean combination is again a set, so `h < 0 or h > 2`, `'a' or 'b'` or `pos % 4 in {1} and not pos % 2 in {0}` each
cost one test of one subject, and what contradicts itself is found out. Conditions are built by `all_of` and `opposite`
alone and are equal exactly if they are built of the same sets.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple


class Cells(NamedTuple):
    """A set of symbols or residues: the chosen ones of `total`."""

    chosen: frozenset[int]
    total: int


class Cuts(NamedTuple):
    """A set of integers that changes sides at each cut: x lies in it if `start` xor (an odd number of cuts is <= x)."""

    start: bool
    cuts: tuple[int, ...]


Values = Cells | Cuts
Atom = tuple["Subject", int]  # 1 where the subject is at this cell, or where its value is >= this cut; else 0
Terms = tuple[tuple[Atom, int], ...]


@dataclass(frozen=True, eq=False)
class Subject:
    """What a condition speaks about. Subjects are equal only if they are the same object: `Subjects` makes each once.

    kind      symbol, residue: cells. sum: coefficients times counts of atoms over the positions 1..i.
              recent: coefficients times atoms at i. before: whether `inside` held `offset` positions ago (false there
              is no such position). both: whether all members of `inside` hold.
    lowest, highest: bounds of an integer subject, None where there is none. at_start: its value at the begin symbol.
    """

    number: int
    kind: str
    terms: Terms = ()
    inside: "Condition | None" = None
    offset: int = 0
    lowest: int | None = None
    highest: int | None = None
    at_start: int = 0
    cells: int = 0


Member = tuple[Subject, Values]


@dataclass(frozen=True)
class Condition:
    """All members hold, or (holds False) not all of them. No members: always true, or always false."""

    members: frozenset[Member]
    holds: bool = True

    @property
    def sorted(self) -> list[Member]:
        """The members in the order in which their subjects were made."""
        return sorted(self.members, key=lambda member: (member[0].number, repr(member[1][1])))


TRUE, FALSE = Condition(frozenset(), True), Condition(frozenset(), False)


@dataclass
class Subjects:
    """The subjects of one program, each made once; `join` and `merge` are the passes of that name (passes.py)."""

    symbols: int  # with the begin symbol, which is cell 0
    join: bool = True
    merge: bool = True
    _made: dict[tuple[object, ...], Subject] = field(default_factory=dict)

    def symbol(self) -> Subject:
        """The symbol at the position: cell 0 is the begin symbol."""
        return self.make("symbol", cells=self.symbols)

    def residue(self, period: int) -> Subject:
        """The position modulo a period; the begin symbol stands at position 0."""
        return self.make("residue", cells=period)

    def make(self, kind: str, fresh: bool = False, **parts: object) -> Subject:
        """The subject with these parts, the same object each time unless a fresh one is asked for."""
        key = (kind, *parts.items(), len(self._made) if fresh else None)
        if key not in self._made:
            self._made[key] = Subject(len(self._made), kind, **parts)  # type: ignore[arg-type]
        return self._made[key]

    def where(self, subject: Subject, values: Values) -> Condition:
        """The condition that the subject lies in the set."""
        values = _within(values, subject)
        if is_empty(values):
            return FALSE
        if is_empty(complement(values)):
            return TRUE
        if subject.kind == "both" and subject.inside is not None:
            return Condition(subject.inside.members, contains(values, 1))
        return Condition(frozenset({(subject, values)}))

    def at_least(self, subject: Subject, cut: int) -> Condition:
        """The condition that an integer subject is at least `cut`."""
        return self.where(subject, Cuts(False, (cut,)))

    def opposite(self, condition: Condition) -> Condition:
        """Whether the condition is false."""
        if len(condition.members) == 1 and condition.holds:
            ((subject, values),) = condition.members
            return self.where(subject, complement(values))
        return Condition(condition.members, not condition.holds)

    def any_of(self, conditions: Iterable[Condition]) -> Condition:
        """Whether some condition holds."""
        return self.opposite(self.all_of(map(self.opposite, conditions)))

    def all_of(self, conditions: Iterable[Condition]) -> Condition:
        """Whether all conditions hold: one set a subject, and a `not all of` inside as a subject of its own."""
        found: list[Member] = []
        clauses: list[Condition] = []
        for condition in conditions:
            if condition == FALSE:
                return FALSE
            if condition.holds:
                found += condition.sorted
            else:
                clauses.append(condition)
        sets = _joined(found) if self.join else frozenset(found)
        while sets is not None and self.join:  # a clause that is down to one subject may shorten the others
            clauses = [_shortened(clause, dict(sets)) for clause in clauses]
            single = [clause for clause in clauses if clause.holds and clause.members]
            clauses = [clause for clause in clauses if not clause.holds]
            if FALSE in clauses:
                return FALSE
            if not single:
                break
            sets = _joined([*sets, *(member for clause in single for member in clause.members)])
        if sets is None:
            return FALSE
        sets = sets | {(self.both(clause.members), Cuts(True, (1,))) for clause in clauses}
        if len(sets) == 1:
            ((subject, values),) = sets
            return self.where(subject, values)
        return Condition(sets)

    def both(self, members: frozenset[Member]) -> Subject:
        """The truth of several members together, as a subject with the values 0 and 1."""
        start = int(all(contains(values, subject.at_start) for subject, values in members))
        return self.make("both", inside=Condition(members), lowest=0, highest=1, at_start=start)


def _joined(members: Iterable[Member]) -> frozenset[Member] | None:
    """One set a subject; None where some set is empty."""
    sets: dict[Subject, Values] = {}
    for subject, values in members:
        sets[subject] = intersection(sets[subject], values) if subject in sets else values
        sets[subject] = _within(sets[subject], subject)
        if is_empty(sets[subject]):
            return None
    return frozenset(sets.items())


def _shortened(condition: Condition, sets: dict[Subject, Values]) -> Condition:
    """What `not all of` says where the sets are known to hold: members that hold are left out.

    A member that cannot hold makes the condition true. If one member is left, it is a set of its own.
    """
    left = []
    for subject, values in condition.sorted:
        known = sets.get(subject)
        if known is None:
            left.append((subject, values))
            continue
        if is_empty(intersection(known, values)):
            return TRUE
        if not is_empty(intersection(known, complement(values))):
            left.append((subject, values))
    if len(left) == 1:
        subject, values = left[0]
        return Condition(frozenset({(subject, _within(complement(values), subject))}))
    return Condition(frozenset(left), False)


def apart(one: Condition, other: Condition) -> bool:
    """Whether two conditions are seen to exclude each other: some subject would have to lie in two disjoint sets."""
    if not (one.holds and other.holds):
        return False
    sets = dict(one.members)
    return any(s in sets and is_empty(intersection(sets[s], values)) for s, values in other.members)


def complement(values: Values) -> Values:
    """All other values."""
    if isinstance(values, Cuts):
        return Cuts(not values.start, values.cuts)
    return Cells(frozenset(range(values.total)) - values.chosen, values.total)


def is_empty(values: Values) -> bool:
    """Whether no value lies in the set."""
    return not (values.start or values.cuts) if isinstance(values, Cuts) else not values.chosen


def contains(values: Values, value: int) -> bool:
    """Whether one value lies in the set."""
    if isinstance(values, Cuts):
        return values.start ^ (sum(cut <= value for cut in values.cuts) % 2 == 1)
    return value in values.chosen


def intersection(one: Values, other: Values) -> Values:
    """The values in both sets."""
    if isinstance(one, Cells):
        assert isinstance(other, Cells)
        return Cells(one.chosen & other.chosen, one.total)
    assert isinstance(other, Cuts)
    start = one.start and other.start
    cuts, inside = [], start
    for cut in sorted({*one.cuts, *other.cuts}):
        now = contains(one, cut) and contains(other, cut)
        if now != inside:
            cuts.append(cut)
        inside = now
    return Cuts(start, tuple(cuts))


def _within(values: Values, subject: Subject) -> Values:
    """The same set among the values the subject can take: cuts outside its bounds say nothing."""
    if not isinstance(values, Cuts):
        return values
    low, high = subject.lowest, subject.highest
    if low is None and high is None:
        return values
    below = [cut for cut in values.cuts if low is not None and cut <= low]
    inside = tuple(cut for cut in values.cuts[len(below) :] if high is None or cut <= high)
    return Cuts(values.start ^ (len(below) % 2 == 1), inside)


def pieces(values: Cuts) -> Iterator[tuple[int, int]]:
    """The set as a sum of half-lines, after 1 where it has no lower end: (+1 or -1, cut) stands for [x >= cut]."""
    sign = -1 if values.start else 1
    for cut in values.cuts:
        yield sign, cut
        sign = -sign
