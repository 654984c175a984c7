"""All strings of a length one by one, by their endings and their tables of counts: what cells are too coarse for."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from math import comb

import numpy as np
from jaxtyping import Float, Int, Shaped

from lengthwise.theory.forms import FormMaker, Forms, activated
from lengthwise.type_counts import Counts, class_size

AT_ONCE = 1 << 22  # numbers of one array


@dataclass(frozen=True)
class Seen:
    """A string that was looked at: f - T in floating point, and its counts."""

    apart: float
    counts: Counts


def apart_at(
    forms: Forms, tables: Shaped[np.ndarray, "tables period symbols"], suffixes: float = 1.0
) -> Float[np.ndarray, " tables"]:
    """F - T on strings whose prefixes (whole strings where no token is set apart) have these counts.

    Source: docs/certificate.md, section 8, with the forms of one ending.
    """
    values = np.einsum("nrs,frs->nf", tables, forms.types) + suffixes * forms.own
    units = len(forms.unit)
    blocks = values[:, : forms.heads * (2 + units)].reshape(len(values), forms.heads, 2 + units)
    with np.errstate(divide="ignore", invalid="ignore"):
        brought = np.where(blocks[..., :1] > 0, blocks[..., 1:] / blocks[..., :1], 0.0).sum(1)
    inputs, output = forms.unit + brought[:, 1:], forms.start + brought[:, 0]
    output = output + activated(forms.kinds, inputs) @ forms.readout
    over, under = values[:, -2 - forms.conditions], values[:, -1 - forms.conditions]
    ratio = np.where(under > 0, over / np.where(under > 0, under, 1.0), 0.0)
    result: Float[np.ndarray, " tables"] = output - forms.target.curve(ratio) - forms.tail
    return result


def looked_at(
    maker: FormMaker,
    shortest: int,
    below: int,
    holds: Callable[[Counts], bool] | None,
    report: Callable[[int], None] = lambda done: None,
) -> Iterator[Seen]:
    """The worst string of every length and ending from `shortest` to below `below`, among those that meet the conditions."""
    done = 0
    for length in range(shortest, below):
        for suffix in product(range(maker.target.symbols), repeat=min(length, maker.locality + 1)):
            best: Seen | None = None
            for tables in _tables(maker.target.symbols, maker.target.period, length - len(suffix), maker.numbers):
                done += len(tables)
                best = _worst(best, _apart(maker, suffix, length, tables), tables, suffix, holds)
            report(done)
            if best is not None:
                yield best


def _apart(
    maker: FormMaker, suffix: tuple[int, ...], length: int, tables: Int[np.ndarray, "tables period symbols"]
) -> Float[np.ndarray, " tables"]:
    """What f - T is; with bits, tables are taken together in which every head finds the same largest logit."""
    if maker.model.bits is None:
        return apart_at(maker.at_length(suffix, length), tables)
    found = np.zeros(len(tables))
    places = maker.tops(suffix, length, tables)
    for kind in np.unique(places, axis=0):
        mine = (places == kind).all(1)
        logits = maker.logits(suffix, length % maker.target.period)
        tops = tuple(maker.listed(p, w)[place] for (p, w, _), place in zip(logits, kind, strict=True))
        found[mine] = apart_at(maker.at_length(suffix, length, tops), tables[mine])
    return found


def _worst(
    best: Seen | None,
    apart: Float[np.ndarray, " tables"],
    tables: Int[np.ndarray, "tables period symbols"],
    suffix: tuple[int, ...],
    holds: Callable[[Counts], bool] | None,
) -> Seen | None:
    """The worse of the best so far and the worst of these that meets the conditions."""
    for place in np.argsort(-np.abs(apart), kind="stable"):
        if best is not None and abs(apart[place]) <= abs(best.apart):
            return best
        counts = Counts(suffix, tuple(zip(*tables[place].tolist(), strict=True)))
        if holds is None or holds(counts):
            return Seen(float(apart[place]), counts)
    return best


def number_of_tables(symbols: int, period: int, locality: int, shortest: int, below: int, most: int) -> int:
    """How many (ending, table) there are at the lengths from `shortest` to below `below`; any number above `most` if more."""
    total = 0
    if below - shortest > most:
        return most + 1
    for length in range(shortest, below):
        if total > most:
            break
        ending = min(length, locality + 1)
        tables = symbols**ending
        for residue in range(period):
            tables *= comb(class_size(length - ending, residue, period) + symbols - 1, symbols - 1)
        total += tables
    return total


def _tables(symbols: int, period: int, prefix: int, forms: int) -> Iterator[Int[np.ndarray, "tables period symbols"]]:
    """All tables of a prefix of this length, in blocks."""
    classes = [compositions(class_size(prefix, residue, period), symbols) for residue in range(period)]
    sizes = [len(listed) for listed in classes]
    total, step = int(np.prod(sizes)), max(1, AT_ONCE // (forms + symbols * period))
    for start in range(0, total, step):
        places = np.unravel_index(np.arange(start, min(total, start + step)), sizes)
        yield np.stack([listed[place] for listed, place in zip(classes, places, strict=True)], axis=1)


@cache
def compositions(total: int, parts: int) -> Int[np.ndarray, "ways parts"]:
    """All ways to write a total as an ordered sum of naturals."""
    if parts == 1:
        return np.asarray([[total]])
    rows = [
        np.concatenate([np.full((len(rest), 1), first), rest], axis=1)
        for first in range(total + 1)
        for rest in [compositions(total - first, parts - 1)]
    ]
    return np.concatenate(rows)


def counts_from(suffix: Sequence[int], tables: Sequence[Sequence[int]], apart: int, residue: int) -> Counts | None:
    """The counts of a string from the table of what is counted, tables[residue][token]; None if no last token is in it."""
    whole = [list(column) for column in zip(*tables, strict=True)]
    if not apart:
        whole[suffix[-1]][residue] -= 1
        if whole[suffix[-1]][residue] < 0:
            return None
    return Counts(tuple(suffix), tuple(map(tuple, whole)))
