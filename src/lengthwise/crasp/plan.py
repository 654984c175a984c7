"""What a compiled model will hold, before it is matrices: which coordinates, rows of values, units and read-outs.

A coordinate is a word, a subject (conditions.py) and a cell or cut of it:

    is, not   1 where the subject is at the cell, or >= the cut (or: is not); of symbols and residues from the embedding
    mean      units.py, `mean_row`: positive where a sum is >= the cut
    raw       units.py, `look_row`: about 1 where a condition held some positions before; of a residue: where it is that
              of the begin symbol
    here      the residue of this position, where positions may start anywhere
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from lengthwise.crasp.conditions import Subject

Coordinate = tuple[str, Subject, int]
Weights = Mapping[Coordinate, float]


@dataclass(frozen=True)
class Threshold:
    """What a unit must tell apart, as the ledger needs it (ledger.py).

    kind     average: the mean of values of size <= slope at the word's positions and of size `start` at the begin
             symbol, whose sum is an integer plus 1/2. lookup: an integer plus 1/2, up to `looked_up` times the error of
             one looked-up value. exact: an integer plus 1/2; here slope + start bounds what is added up.
    terms    how many products the unit adds up.
    weights  the absolute values of all weights it rests on.
    """

    name: str
    layer: int
    kind: str
    slope: int
    start: float
    looked_up: int
    terms: int
    weights: frozenset[float]


@dataclass(frozen=True)
class Unit:
    """One unit of an MLP: adds heaviside(weights @ y + bias) to each coordinate that it writes."""

    weights: Weights
    bias: float
    writes: tuple[Coordinate, ...]
    threshold: Threshold


@dataclass
class Plan:
    """Everything by layer: rows of the averaging head, rows of the heads that look back, units; and the read-outs."""

    means: dict[int, dict[Coordinate, Weights]] = field(default_factory=dict)
    looks: dict[tuple[int, int], dict[Coordinate, Weights]] = field(default_factory=dict)  # (layer, offset)
    starts: dict[Coordinate, Weights] = field(default_factory=dict)  # layer 1 looks at the begin symbol
    units: dict[int, list[Unit]] = field(default_factory=dict)
    outputs: dict[str, Weights] = field(default_factory=dict)
    shared: dict[Coordinate, Coordinate] = field(default_factory=dict)  # cells, and which of them stands for them
    sharpness: int = 4

    @property
    def depth(self) -> int:
        """Number of layers; a model has at least one."""
        return max(1, 1, *self.means, *(layer for layer, _ in self.looks), *self.units)

    @property
    def looks_at_begin(self) -> bool:
        """Whether some head has a key for the begin symbol."""
        return bool(self.looks or self.starts)

    def functionals(self) -> list[Weights]:
        """Everything that reads the residual stream, but the keys and queries of heads."""
        rows = [row for layer in (*self.means.values(), *self.looks.values(), self.starts) for row in layer.values()]
        return [*rows, *(unit.weights for units in self.units.values() for unit in units), *self.outputs.values()]

    def thresholds(self) -> list[Threshold]:
        """What every unit must tell apart, layer by layer; then every output, whose sign is read."""
        found = [unit.threshold for layer in sorted(self.units) for unit in self.units[layer]]
        for name, row in self.outputs.items():
            weights = frozenset(map(abs, row.values()))
            size = sum(map(abs, row.values()))
            found.append(Threshold(f"output {name}", self.depth, "exact", 0, size, 0, len(row), weights))
        return found
