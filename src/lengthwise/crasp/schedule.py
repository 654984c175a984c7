"""In which layer a subject can first be read, and which sums of coordinates say that a condition holds.

    sum      read by the attention of layer 1 + (the last layer that makes one of its atoms), tested by that layer's MLP
    before   the same; the MLP of the layer may read it as it comes from attention, `raw`
    recent   tested by the first MLP after its atoms
    both     tested by the first MLP after its members, or, where one member is a half-line of a sum and the others are
             seen as coordinates that are 0 when they hold, in one unit with that sum (units.py): `fused`

So a layer is spent only where a count is taken of what an earlier layer decided, or where `and` joins two sums.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from lengthwise.crasp.conditions import (
    TRUE,
    Atom,
    Cells,
    Condition,
    Cuts,
    Member,
    Subject,
    Subjects,
    apart,
    complement,
    pieces,
)
from lengthwise.crasp.plan import Coordinate

ANY = -1  # in the place of a symbol: the atom that is always 1
MOST_PARTS = 64  # of an `or` whose parts are compared pairwise


@dataclass
class Schedule:
    """Layers, for one program. `fuse` is the pass of that name; `invariant`: residues are known after layer 1."""

    subjects: Subjects
    fuse: bool = True
    invariant: bool = False
    _ready: dict[Subject, int] = field(default_factory=dict)
    _fused: dict[Condition, Member | None] = field(default_factory=dict)
    _indicators: dict[Condition, dict[Atom, int]] = field(default_factory=dict)

    def read(self, subject: Subject) -> int:
        """The layer whose attention reads a sum, or a condition some positions before."""
        atoms: Iterable[Atom] = (atom for atom, _ in subject.terms)
        if subject.kind == "before" and subject.inside is not None:
            atoms = self.indicator(subject.inside)
        return 1 + max((self.ready(atom[0]) for atom in atoms), default=0)

    def ready(self, subject: Subject) -> int:
        """The layer after whose MLP the atoms of a subject are coordinates of the residual stream."""
        if subject not in self._ready:
            self._ready[subject] = self._find(subject)
        return self._ready[subject]

    def _find(self, subject: Subject) -> int:
        if subject.kind == "symbol":
            return 0
        if subject.kind == "residue":
            return int(self.invariant)
        if subject.kind in ("sum", "before"):
            return self.read(subject)
        if subject.kind == "recent":
            return max((self.after(atom[0]) for atom, _ in subject.terms), default=1)
        assert subject.inside is not None
        if self.in_pieces(subject):
            return max((self.ready(atom[0]) for atom in self.indicator(subject.inside)), default=1)
        fused = self.fused(subject.inside)
        return self._fused_layer(subject.inside, fused) if fused is not None else self._plain_layer(subject.inside)

    def after(self, subject: Subject) -> int:
        """The first layer whose MLP can read a subject: its own, raw, for what attention looked up, else the next."""
        return self.ready(subject) if subject.kind == "before" else self.ready(subject) + 1

    def fused(self, condition: Condition) -> Member | None:
        """The member that is tested in one unit with all the others, if that is no later than testing it apart."""
        if condition not in self._fused:
            self._fused[condition] = self._fuse(condition) if self.fuse else None
        return self._fused[condition]

    def _fuse(self, condition: Condition) -> Member | None:
        layers = {
            member: self._fused_layer(condition, member)
            for member in condition.sorted
            if member[0].kind == "sum" and all(self.gate(other) is not None for other in condition.members - {member})
        }
        if not layers:
            return None
        best = min(layers, key=layers.__getitem__)
        return best if layers[best] <= self._plain_layer(condition) else None

    def _plain_layer(self, condition: Condition) -> int:
        return max(self.after(subject) for subject, _ in condition.members)

    def _fused_layer(self, condition: Condition, fused: Member) -> int:
        others = [self.ready(subject) + 1 for subject, _ in condition.members - {fused}]
        return max(self.read(fused[0]), *others)

    def in_pieces(self, subject: Subject) -> bool:
        """Whether the truth of several members is a sum of units: one for each cut of the sum they are fused with."""
        fused = self.fused(subject.inside) if subject.kind == "both" and subject.inside is not None else None
        return fused is not None and isinstance(fused[1], Cuts) and len(fused[1].cuts) > 1

    def gate(self, member: Member) -> list[Coordinate] | None:
        """Coordinates that are all 0 where the member holds, one of them 1 where it does not; None if there are none."""
        subject, values = member
        outside = complement(values)
        if isinstance(outside, Cells):
            return [("is", subject, cell) for cell in sorted(outside.chosen)]
        if self.in_pieces(subject):
            return None
        match outside.start, len(outside.cuts):
            case True, 1:
                return [("not", subject, outside.cuts[0])]
            case False, 1:
                return [("is", subject, outside.cuts[0])]
            case True, 2:
                return [("not", subject, outside.cuts[0]), ("is", subject, outside.cuts[1])]
        return None

    def indicator(self, condition: Condition) -> dict[Atom, int]:
        """Integer multiples of atoms whose sum is 1 where the condition holds and 0 elsewhere; ANY stands for 1."""
        if condition not in self._indicators:
            found = _without_zeros(self._indicate(condition))
            self._indicators[condition] = found
        return self._indicators[condition]

    def _indicate(self, condition: Condition) -> dict[Atom, int]:
        opposite = self.subjects.opposite(condition)
        if not condition.holds:
            parts = [self.subjects.where(subject, complement(values)) for subject, values in opposite.sorted]
            if 1 < len(parts) <= MOST_PARTS and all(apart(p, q) for i, p in enumerate(parts) for q in parts[:i]):
                return combined((1, self.indicator(part)) for part in parts)
            return combined([(1, self.one()), (-1, self.indicator(opposite))])
        if condition == TRUE:
            return self.one()
        if len(condition.members) == 1:
            ((subject, values),) = condition.members
            return self._of_set(subject, values)
        whole = self.subjects.both(condition.members)
        fused = self.fused(condition)
        if fused is None or not self.in_pieces(whole):
            return {(whole, 1): 1}
        subject, values = fused
        rest = condition.members - {fused}
        assert isinstance(values, Cuts)
        sums = [(1, self.indicator(self._all(rest)))] if values.start else []
        for sign, cut in pieces(values):
            sums.append((sign, self.indicator(Condition(rest | {(subject, Cuts(False, (cut,)))}))))
        return combined(sums)

    def _all(self, members: frozenset[Member]) -> Condition:
        return self.subjects.all_of(self.subjects.where(*member) for member in members)

    def _of_set(self, subject: Subject, values: Cells | Cuts) -> dict[Atom, int]:
        if isinstance(values, Cells):
            return {(subject, cell): 1 for cell in sorted(values.chosen)}
        sums = [(1, self.one())] if values.start else []
        return combined([*sums, *((sign, {(subject, cut): 1}) for sign, cut in pieces(values))])

    def one(self) -> dict[Atom, int]:
        """The constant 1, as an atom: the symbol is any cell."""
        return {(self.subjects.symbol(), ANY): 1}


def combined(sums: Iterable[tuple[int, Mapping[Atom, int]]]) -> dict[Atom, int]:
    """The sum of integer multiples of sums."""
    result: dict[Atom, int] = {}
    for factor, terms in sums:
        for atom, coefficient in terms.items():
            result[atom] = result.get(atom, 0) + factor * coefficient
    return _without_zeros(result)


def _without_zeros(terms: dict[Atom, int]) -> dict[Atom, int]:
    return {atom: coefficient for atom, coefficient in terms.items() if coefficient}


def atom_at_start(atom: Atom) -> int:
    """The value of an atom at the begin symbol."""
    subject, value = atom
    if subject.kind in ("symbol", "residue"):
        return int(value in (subject.at_start, ANY))
    return int(subject.at_start >= value)


def spelled_out(terms: Mapping[Atom, int]) -> dict[Atom, int]:
    """The same sum with the constant as a sum over all symbols, the begin symbol among them."""
    result: dict[Atom, int] = {}
    for (subject, value), coefficient in terms.items():
        any_symbol = subject.kind == "symbol" and value == ANY
        for cell in range(subject.cells) if any_symbol else (value,):
            result[subject, cell] = result.get((subject, cell), 0) + coefficient
    return _without_zeros(result)
