"""How far apart the logits of a one-layer model can come: the exact logit margin, and the length it makes hardmax.

Below that length a softmax is no hardmax; above it, the output depends on counts of attended types alone.
"""

import itertools
import math
from collections.abc import Container
from dataclasses import dataclass
from fractions import Fraction

from lengthwise.errors import WrongInput
from lengthwise.exact import ceil_power_of_two
from lengthwise.limit.model import LimitTransformer
from lengthwise.limit.tables import LogitTable, Slots, logit_tables, slots

Margin = Fraction | float  # a positive rational, or math.inf
_PREFIX = -1
_LARGEST_EXPONENT = 4096


def logit_margin(*models: LimitTransformer, skip: Container[tuple[int, int]] = ()) -> Margin:
    """The smallest gap between the largest logit and the next value that a long string can show, over all models.

        gamma# = min over models, heads, query types of  min { u - u' : options u > u', u >= beta, not both from the
                 same suffix slot },    beta = max over slots of their least option;    infinity for an empty set

    Source: one-layer note, section 2, Lemma 2. It is attained, so nothing larger holds for all strings. A common
    multiple of the periods or a larger locality changes no option set, so models are not lifted here.
    skip holds pairs (model, head) that need no hardmax: heads with sensitivity 0, and heads declared free.
    """
    margins = [
        margin
        for index, model in enumerate(models)
        for number, margin in enumerate(logit_margins(model))
        if (index, number) not in skip
    ]
    return min(margins, default=math.inf)


def logit_margins(model: LimitTransformer) -> tuple[Margin, ...]:
    """gamma# of every head: its minimum over the query types."""
    return tuple(table_margin(table) for table in logit_tables(model))


def table_margin(table: LogitTable) -> Margin:
    """gamma# of one head, from its exact table."""
    queries = [(token, residue) for token in range(table.symbols) for residue in range(table.period)]
    return min((slots_margin(slots(table, *query)) for query in queries), default=math.inf)


def slots_margin(options: Slots) -> Margin:
    """The margin of one query: min { u - u' : u > u', u >= beta, not both from the same suffix slot }, in one pass.

    The best partner of u is the largest smaller option; only if all options at that value come from u's own suffix
    slot is it the largest smaller option of another slot.
    """
    owners: dict[int, set[int]] = {value: {_PREFIX} for value in set(options.prefix)}
    for offset, values in enumerate(options.suffix):
        for value in set(values):
            owners.setdefault(value, set()).add(offset)
    beta, gap = options.floor, None
    below: int | None = None  # the largest smaller option
    only: int | None = None  # the suffix slot that has all options at `below`, if one has
    elsewhere: int | None = None  # the largest smaller option outside that slot
    for value in sorted(owners):
        if value >= beta:
            for owner in owners[value]:
                partner = elsewhere if owner == only else below
                if partner is not None and (gap is None or value - partner < gap):
                    gap = value - partner
        sole = next(iter(owners[value])) if len(owners[value]) == 1 else _PREFIX
        sole_slot = None if sole == _PREFIX else sole
        if sole_slot is None or sole_slot != only:
            elsewhere = below
        below, only = value, sole_slot
    return math.inf if gap is None else options.exact(gap)


def naive_logit_margin(model: LimitTransformer) -> Margin:
    """The margin as it is printed, for comparison only; it can be wrong in both directions.

        min over heads, query types of the smallest positive difference inside
        { content(t, query) + phi(k) : t any type, k = 0..locality }

    Ours: this is our reading of the printed text. Prefix keys carry no phi, so true gaps can be smaller: with all
    content 0, phi = (1/100) and locality 0 it is infinite where the true margin is 1/100.
    """
    return min((naive_table_margin(table) for table in logit_tables(model)), default=math.inf)


def naive_table_margin(table: LogitTable) -> Margin:
    """The printed margin of one head, from its exact table."""
    gap: int | None = None
    for row in table.content:
        values = sorted({key + shift for key in row for shift in table.phi if shift is not None})
        steps = [high - low for low, high in itertools.pairwise(values)]
        gap = min(steps + ([] if gap is None else [gap]), default=None)
    return math.inf if gap is None else Fraction(gap, table.denominator)


@dataclass(frozen=True)
class HardmaxThreshold:
    """From `length` on, rounding leaves the maximisers alone; length is None where it would not fit 4096 bits."""

    length: int | None
    log2_length: Fraction


def hardmax_threshold(model: LimitTransformer, margin: Margin | int | None = None) -> HardmaxThreshold:
    """The length from which every head of the model is a hardmax, as far as its logits decide: ceil(2^(bits / margin)).

    Source: one-layer note, Lemma 1. Strings must also have locality + 1 + period positions (Lemma 2).
    margin: that of the model where none is given.
    """
    if model.bits is None:
        raise WrongInput(
            "a model with bits", "none", "without rounding a softmax never becomes a hardmax; set bits", "bits"
        )
    return threshold(model.bits, logit_margin(model) if margin is None else margin)


def threshold(bits: int, margin: Margin | int) -> HardmaxThreshold:
    """ceil(2^(bits / margin)); 1 for an infinite margin."""
    return threshold_at(Fraction(0) if margin == math.inf else bits / Fraction(margin))


def threshold_at(exponent: Fraction) -> HardmaxThreshold:
    """ceil(2^exponent), the exponent being bits / margin."""
    return HardmaxThreshold(ceil_power_of_two(exponent) if exponent <= _LARGEST_EXPONENT else None, exponent)
