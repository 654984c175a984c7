"""From conditions to a plan: starting at the outputs, every coordinate that something reads is made once."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from lengthwise.crasp.conditions import Condition, Subject
from lengthwise.crasp.describe import Words
from lengthwise.crasp.plan import Coordinate, Plan, Unit, Weights
from lengthwise.crasp.schedule import Schedule
from lengthwise.crasp.units import (
    constant,
    failures,
    fused_unit,
    integer_unit,
    look_row,
    mean_row,
    mean_unit,
    raw_atoms,
    read_out,
    residue_units,
    sharpness,
)


def plan(schedule: Schedule, words: Words, outputs: dict[str, Condition], fold: bool, drop: bool) -> Plan:
    """The plan of a model with these outputs; what no output needs is never made."""
    builder = _Builder(schedule, words)
    for name, condition in outputs.items():
        builder.plan.outputs[name] = read_out(schedule, condition, fold)
        builder.want(builder.plan.outputs[name])
    builder.finish(drop)
    return builder.plan


@dataclass
class _Builder:
    schedule: Schedule
    words: Words
    plan: Plan = field(default_factory=Plan)
    ahead: list[Coordinate] = field(default_factory=list)
    seen: dict[Coordinate, None] = field(default_factory=dict)

    @property
    def begin(self) -> Coordinate:
        return ("is", self.schedule.subjects.symbol(), 0)

    def want(self, weights: Weights) -> None:
        new = [coordinate for coordinate in weights if coordinate not in self.seen]
        self.seen.update(dict.fromkeys(new))
        self.ahead += new

    def finish(self, drop: bool) -> None:
        while self.ahead:
            coordinate = self.ahead.pop()
            kind, subject, _ = coordinate
            if kind == "mean":
                self._mean(coordinate)
            elif kind == "raw":
                self._look(coordinate)
            elif subject.kind not in ("symbol", "residue"):
                self._add(self._unit(coordinate))
        residues = list(dict.fromkeys(one for kind, one, _ in self.seen if one.kind == "residue"))
        self._share(drop, "is", [self.schedule.subjects.symbol(), *residues])
        if self.schedule.invariant:
            for subject in residues:
                self._relative(subject)
            self._share(drop, "here", residues)
        looked_up = max((threshold.looked_up for threshold in self.plan.thresholds()), default=0)
        self.plan.sharpness = sharpness(looked_up)

    def _mean(self, coordinate: Coordinate) -> None:
        _, subject, cut = coordinate
        row = mean_row(self.begin, subject, cut)
        self.plan.means.setdefault(self.schedule.read(subject), {})[coordinate] = row
        self.want(row)

    def _look(self, coordinate: Coordinate) -> None:
        subject = coordinate[1]
        row = look_row(self.begin, self.schedule, subject)
        self.plan.looks.setdefault((self.schedule.read(subject), subject.offset), {})[coordinate] = row
        self.want(row)

    def _add(self, unit: Unit) -> None:
        self.plan.units.setdefault(unit.threshold.layer, []).append(unit)
        self.want(unit.weights)

    def _unit(self, coordinate: Coordinate) -> Unit:
        kind, subject, cut = coordinate
        schedule, positive = self.schedule, kind == "is"
        layer, name = schedule.ready(subject), self.words.condition(coordinate)
        if subject.kind == "sum":
            return mean_unit(self.begin, positive, subject, cut, layer, name)
        if subject.kind == "before":
            return integer_unit({("raw", subject, 1): 1}, 1, positive, (coordinate,), layer, name)
        if subject.kind == "recent":
            return integer_unit(raw_atoms(dict(subject.terms)), cut, positive, (coordinate,), layer, name)
        assert subject.inside is not None
        fused = schedule.fused(subject.inside)
        if fused is not None:
            gates = [gate for other in subject.inside.sorted if other != fused for gate in schedule.gate(other) or ()]
            return fused_unit(self.begin, positive, subject, fused, gates, layer, name)
        fail = {atom: -count for atom, count in failures(schedule, subject.inside).items()}
        return integer_unit(raw_atoms(fail), -constant(fail), positive, (coordinate,), layer, name)

    def _share(self, drop: bool, kind: str, subjects: Iterable[Subject]) -> None:
        """With `drop`, cells that all weights read alike become one coordinate, and cells that nothing reads none."""
        readers: dict[Coordinate, list[tuple[int, float]]] = {
            (kind, subject, cell): [] for subject in subjects for cell in range(subject.cells)
        }
        for number, weights in enumerate(self.plan.functionals()):
            for coordinate, weight in weights.items():
                if coordinate in readers:
                    readers[coordinate].append((number, weight))
        if self.plan.looks or self.schedule.invariant:  # heads whose query is the sum of all symbols
            for coordinate, read in readers.items():
                if coordinate[1].kind == "symbol":
                    read.append((-1, int(coordinate == self.begin)))
        first: dict[object, Coordinate] = {}
        for coordinate, read in readers.items():
            if read or not drop:
                key = (coordinate[1], tuple(read)) if drop else coordinate
                self.plan.shared[coordinate] = first.setdefault(key, coordinate)

    def _relative(self, subject: Subject) -> None:
        """The residue relative to the begin symbol, for residue coordinates that something reads."""
        groups: dict[Coordinate, list[int]] = {}
        for cell in range(subject.cells):
            if ("is", subject, cell) in self.plan.shared:
                groups.setdefault(self.plan.shared["is", subject, cell], []).append(cell)
        for write, cells in groups.items():
            self.plan.units.setdefault(1, []).extend(residue_units(subject, frozenset(cells), write))
        for cell in range(subject.cells):
            self.plan.starts["raw", subject, cell] = {("here", subject, cell): 1}
