"""Which heads attend to the same positions on every string: for a bound they count as one."""

import math
from dataclasses import dataclass
from fractions import Fraction

from lengthwise.limit.margins import table_margin
from lengthwise.limit.model import LimitTransformer
from lengthwise.limit.sensitivity import sensitivity
from lengthwise.limit.tables import LogitTable, Slots, logit_tables, slots


@dataclass(frozen=True)
class Pattern:
    """Equivalent heads (model, head) for one query type, with the sum of their sensitivities and one head's slots."""

    heads: tuple[tuple[int, int], ...]
    sensitivity: Fraction | float
    slots: Slots


def ranks(options: Slots) -> tuple[tuple[int, ...], ...]:
    """The place of every option among the distinct values, slot by slot: all comparisons, and nothing else."""
    values = sorted(set(options.prefix).union(*options.suffix))
    place = {value: index for index, value in enumerate(values)}
    return tuple(tuple(place[value] for value in slot) for slot in (options.prefix, *options.suffix))


def equivalent(first: Slots, second: Slots) -> bool:
    """Whether all comparisons (<, =, >) between slot options agree; then the attended sets agree on every string.

    Source: one-layer note, section 3 (iii). Both need the same period and locality (lift them). A masked offset is
    equivalent to a masked one only.
    """
    return first.period == second.period and ranks(first) == ranks(second)


class Comparison:
    """The heads of several models over one vocabulary, lifted to a common period and locality."""

    def __init__(self, *models: LimitTransformer) -> None:
        self.models = models
        self.symbols = models[0].symbols
        self.period = math.lcm(*(model.period for model in models))
        self.locality = max(model.locality for model in models)
        self.types = self.symbols * self.period
        self.sensitivities: dict[tuple[int, int], Fraction | float] = {}
        self._tables: dict[tuple[int, int], LogitTable] = {}
        for index, model in enumerate(models):
            if models.index(model) < index:  # the same object once more: records compare by identity
                alike = [(head, table) for head, table in self._tables.items() if head[0] == models.index(model)]
                for (first, number), table in alike:
                    self._tables[index, number] = table
                    self.sensitivities[index, number] = self.sensitivities[first, number]
                continue
            for number, (table, slope) in enumerate(zip(logit_tables(model), sensitivity(model), strict=True)):
                self._tables[index, number], self.sensitivities[index, number] = table, slope

    def slopes(self, index: int) -> tuple[Fraction | float, ...]:
        """The sensitivities of one model's heads."""
        return tuple(slope for head, slope in self.sensitivities.items() if head[0] == index)

    def margins(self, index: int) -> tuple[Fraction | float, ...]:
        """The logit margins gamma# of one model's heads; a common period or locality does not change them."""
        return tuple(table_margin(table) for head, table in self._tables.items() if head[0] == index)

    def slots(self, head: tuple[int, int], token: int, residue: int) -> Slots:
        """The lifted slots of a head (model, head) for one query type."""
        return slots(self._tables[head], token, residue, self.period, self.locality)

    def shifts(self, head: tuple[int, int]) -> tuple[Fraction | None, ...]:
        """Phi of a head for the offsets 0..locality, None where masked."""
        table = self._tables[head]
        exact = tuple(None if shift is None else Fraction(shift, table.denominator) for shift in table.phi)
        return exact + (Fraction(0),) * (self.locality - table.locality)

    def patterns(self, token: int, residue: int) -> tuple[Pattern, ...]:
        """The groups of equivalent heads for one query type, constants merged: L_G = sum of L_a."""
        groups: dict[tuple[tuple[int, ...], ...], list[tuple[int, int]]] = {}
        kept: dict[tuple[tuple[int, ...], ...], Slots] = {}
        for head in self._tables:
            options = self.slots(head, token, residue)
            key = ranks(options)
            groups.setdefault(key, []).append(head)
            kept.setdefault(key, options)
        return tuple(
            Pattern(tuple(heads), sum((self.sensitivities[head] for head in heads), Fraction(0)), kept[key])
            for key, heads in groups.items()
        )


def patterns(*models: LimitTransformer, token: int, residue: int) -> tuple[Pattern, ...]:
    """The groups of equivalent heads of all models for one query type (build a Comparison to ask for many)."""
    return Comparison(*models).patterns(token, residue)
