"""The values of all operations at the virtual position 0, where the empty word is read."""

from collections.abc import Sequence

from lengthwise.crasp.operations import (
    AllOf,
    AnyOf,
    AtLeastZero,
    Cases,
    Constant,
    InResidues,
    Operations,
    Opposite,
    RecentTally,
    SymbolIs,
    Tally,
)


def at_zero(form: Operations) -> list[int]:
    """Every operation where no symbol stands: symbol tests are false, tallies 0, and the position is 0."""
    values: list[int] = []
    for operation in form.list:
        match operation:
            case SymbolIs() | Tally() | RecentTally():
                value = 0
            case InResidues(_, residues):
                value = 0 in residues
            case Constant(truth):
                value = truth
            case Opposite(one):
                value = not values[one]
            case AllOf(several):
                value = all(values[one] for one in several)
            case AnyOf(several):
                value = any(values[one] for one in several)
            case AtLeastZero(_, constant):
                value = constant >= 0
        values.append(value)
    return values


def quantity_at_zero(cases: Cases, values: Sequence[int]) -> int:
    """A quantity at position 0, given the operations there."""
    return next(case.constant for case in cases if case.guard is None or values[case.guard])
