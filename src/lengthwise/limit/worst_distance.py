"""The string of a length whose attention is furthest from its hardmax, found exactly and in constant time."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from lengthwise.errors import WrongInput, shown
from lengthwise.exact import Ball
from lengthwise.limit.hardmax_distance import weight
from lengthwise.limit.model import LimitTransformer
from lengthwise.limit.tables import LogitTable, Slots, logit_tables, slots
from lengthwise.type_counts import Counts, class_size


@dataclass(frozen=True)
class WorstDistance:
    """The largest distance of a head from its hardmax over all strings of a length (rounded up), and where it is."""

    distance: float
    head: int
    counts: Counts


@dataclass(frozen=True)
class _Slot:
    """Positions with the same options: `size` of them; place is a residue of the prefix, or minus an offset."""

    values: tuple[int | None, ...]  # by token; None: no option
    size: int
    place: tuple[str, int]

    @property
    def options(self) -> list[int]:
        """The logits that can stand here."""
        return [value for value in self.values if value is not None]

    def at(self, token: int) -> int:
        """The logit of a token that can stand here."""
        value = self.values[token]
        assert value is not None
        return value

    def best(self, below: int) -> int | None:
        """The token of the largest option under a level."""
        known = [(value, token) for token, value in enumerate(self.values) if value is not None and value < below]
        return max(known)[1] if known else None


def worst_distance(model: LimitTransformer, length: int) -> WorstDistance:
    """The largest distance from the hardmax over all strings of one length, exactly, in constant time.

    For a query, let mu be the largest logit of the string; it is at least beta, the largest of the slots' least options.
    Each position either has logit mu or less. With B positions at mu and weight S elsewhere the distance is S / (B + S),
    so it grows when a position at mu is exchanged for its best option below mu: S grows and B falls. Hence, given mu,

        B = the number of positions whose slot has no option below mu, or 1 if there is none such, at the slot with mu
            whose best option below has the least weight;      S = sum of the best weights below mu of all others

    and the worst is the largest S / (B + S) over heads, last tokens and mu. With one class and locality 0 it is
    (n - 1) n^-gamma / (1 + (n - 1) n^-gamma) for a gap gamma below the last token's logit. Ours.
    """
    if isinstance(length, bool) or not isinstance(length, int) or length <= model.locality:
        raise WrongInput(f"a length of at least {model.locality + 1}", shown(length), "take a longer one", "length")
    worst: WorstDistance | None = None
    for head, table in enumerate(logit_tables(model)):
        for token in range(model.symbols):
            options = slots(table, token, length % model.period)
            known = _slots(model, options, table, token, length)
            for distance, chosen in _by_level(model, options, known, length):
                if worst is None or distance > worst.distance:
                    worst = WorstDistance(distance, head, _counts(model, known, chosen, token, length))
    assert worst is not None
    return worst


def _slots(model: LimitTransformer, options: Slots, table: LogitTable, token: int, length: int) -> list[_Slot]:
    """The slots that a string of this length has, masked offsets left out."""
    before = length - table.locality - 1
    classes = [(residue, class_size(before, residue, model.period)) for residue in range(model.period)]
    found = [_Slot(options.prefix[r :: model.period], size, ("class", r)) for r, size in classes if size]
    for offset, values in enumerate(options.suffix):
        if values:
            own = tuple(values[0] if s == token else None for s in range(model.symbols)) if offset == 0 else values
            found.append(_Slot(own, 1, ("offset", offset)))
    return found


class _Choice(NamedTuple):
    """What stands in a slot: one token everywhere, but for one place if there is an exception."""

    token: int
    exception: int | None = None


def _by_level(
    model: LimitTransformer, options: Slots, known: Sequence[_Slot], length: int
) -> Iterator[tuple[float, list[_Choice]]]:
    """For each possible largest logit the distance, and what stands in each slot."""
    if not known:
        yield 0.0, []  # every position is masked
        return
    floor = max(min(slot.options) for slot in known)
    for top in sorted({value for slot in known for value in slot.options if value >= floor}):
        chosen = [_Choice(slot.values.index(top) if (s := slot.best(top)) is None else s) for slot in known]
        forced = sum(slot.size for slot, choice in zip(known, chosen, strict=True) if slot.at(choice.token) == top)
        if not forced:
            may = [place for place, slot in enumerate(known) if top in slot.values]
            place = min(may, key=lambda place: known[place].at(chosen[place].token))
            chosen[place] = _Choice(chosen[place].token, known[place].values.index(top))
        elsewhere = Ball.of(0)
        for slot, (token, exception) in zip(known, chosen, strict=True):
            if slot.at(token) < top:
                size = slot.size - (exception is not None)
                elsewhere = elsewhere + weight(model, options.exact(top - slot.at(token)), length) * size
        yield (elsewhere / (elsewhere + max(forced, 1))).upper(), chosen


def _counts(
    model: LimitTransformer,
    known: Sequence[_Slot],
    chosen: Sequence[_Choice],
    last: int,
    length: int,
) -> Counts:
    """The counts of the string in which every slot has its token, but for the exceptions."""
    table = [[0] * model.period for _ in range(model.symbols)]
    suffix = [last] + [0] * model.locality
    for slot, (token, exception) in zip(known, chosen, strict=True):
        kind, place = slot.place
        if kind == "offset":
            suffix[place] = token if exception is None else exception
            continue
        table[token][place] += slot.size - (exception is not None)
        if exception is not None:
            table[exception][place] += 1
    return Counts(tuple(reversed(suffix)), tuple(map(tuple, table)))
