"""What coordinates are called: short, without blanks, and readable beside the program."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from lengthwise.crasp.conditions import Atom, Cells, Condition, Subject, Values
from lengthwise.crasp.plan import Coordinate

LONGEST = 60
MOST = 6  # parts of a sum or a conjunction that are written out


@dataclass
class Words:
    """Names of coordinates; subjects with more than a symbol in them are called s1, s2, ... inside others."""

    symbols: tuple[str, ...]  # the begin symbol first
    numbers: dict[Subject, int] = field(default_factory=dict)
    _said: dict[Coordinate, str] = field(default_factory=dict)

    def name(self, coordinates: Iterable[Coordinate]) -> str:
        """The name of a coordinate, or of several cells that share one."""
        several = list(coordinates)
        kind, subject, _ = several[0]
        cells = sorted(value for _, _, value in several)
        if subject.kind == "symbol":
            return _cut("|".join(self.symbols[cell] for cell in cells))
        if subject.kind == "residue":
            residues = _cut("|".join(map(str, cells)))
            return f"{'begin' if kind == 'raw' else kind if kind == 'here' else 'pos'}%{subject.cells}={residues}"
        text = self.condition(several[0]).replace(" ", "")
        return f"{kind}:{text}" if kind in ("mean", "raw") else text

    def condition(self, coordinate: Coordinate) -> str:
        """What a coordinate says."""
        kind, subject, cut = coordinate
        coordinate = ("not" if kind == "not" else "is", subject, cut)
        if coordinate not in self._said:
            self._said[coordinate] = self._say(*coordinate)
        return self._said[coordinate]

    def _say(self, kind: str, subject: Subject, cut: int) -> str:
        number = self.numbers.setdefault(subject, len(self.numbers) + 1)
        if subject.kind in ("sum", "recent"):
            count = "#" if subject.kind == "sum" else ""
            shown = [f"{'' if k == 1 else f'{k}*'}{count}{self.atom(atom)}" for atom, k in subject.terms[:MOST]]
            terms = " + ".join([*shown, "…"] if len(subject.terms) > MOST else shown)
            sign = "<" if kind == "not" else ">="
            return f"s{number}: {_cut(terms)} {sign} {cut}".replace("+ -1*", "- ").replace("+ -", "- ")
        assert subject.inside is not None
        text = self._members(subject.inside)
        if subject.kind == "before":
            text = f"back {subject.offset} {text}"
        return f"s{number}: {'not ' if kind == 'not' else ''}{_cut(text)}"

    def _members(self, condition: Condition) -> str:
        shown = [self._member(subject, values) for subject, values in condition.sorted[:MOST]]
        text = " & ".join([*shown, "…"] if len(condition.members) > MOST else shown)
        return f"({text})" if condition.holds else f"not({text})"

    def _member(self, subject: Subject, values: Values) -> str:
        if isinstance(values, Cells):
            shown = [self.atom((subject, cell)) for cell in sorted(values.chosen)[:MOST]]
            return " | ".join([*shown, "…"] if len(values.chosen) > MOST else shown)
        start, cuts = values
        number = self.numbers.setdefault(subject, len(self.numbers) + 1)
        if subject.lowest == 0 and subject.highest == 1:
            return f"not s{number}" if start else f"s{number}"
        return f"s{number} in {'<' if start else ''}{','.join(map(str, cuts))}"

    def atom(self, atom: Atom) -> str:
        """What an atom says, in a word."""
        subject, value = atom
        if subject.kind == "symbol":
            return self.symbols[value]
        if subject.kind == "residue":
            return f"pos%{subject.cells}={value}"
        number = self.numbers.setdefault(subject, len(self.numbers) + 1)
        return f"s{number}" if subject.highest == 1 else f"(s{number}>={value})"


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
