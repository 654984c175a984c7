"""Every long string is in a root: section 8 of the format, Roots."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import prod
from typing import Any

from . import weights
from .cells import Cell, Walk, whole_root
from .claim import Case
from .corner import Scene
from .network import Network
from .reader import MOST_WORK, Refused, Unreadable, fields, items, natural
from .weights import Frame, Values

Key = tuple[tuple[int, ...], int, tuple[int, ...]]  # ending, residue, levels


@dataclass(frozen=True)
class Root:
    """A root that has strings, or may have: its largest logits by head, and the allowed tokens by residue."""

    key: Key
    frame: Frame
    logits: list[Values]
    tops: list[int]
    allowed: list[list[int]]


def read_roots(value: Any, case: Case) -> dict[Key, tuple[list[Any], str]]:
    """The trees by key, each with its place; a key twice is refused."""
    found: dict[Key, tuple[list[Any], str]] = {}
    for index, entry in enumerate(items(value, "roots")):
        where = f"roots[{index}]"
        suffix, residue, levels, tree = fields(entry, where, "suffix", "residue", "levels", "tree")
        ending = tuple(natural(token, f"{where}, suffix") for token in items(suffix, f"{where}, suffix"))
        at = tuple(natural(level, f"{where}, levels") for level in items(levels, f"{where}, levels"))
        key = ending, natural(residue, f"{where}, residue"), at
        if key in found:
            raise Refused(f"{where}: this root is listed twice")
        found[key] = items(tree, f"{where}, tree"), where
    return found


def every_root(case: Case) -> Iterator[Root]:
    """All roots that may have strings, in a fixed order."""
    tokens = range(case.model.symbols)
    for ending in product(tokens, repeat=max(case.apart, 1)):
        for residue in range(case.period):
            frame = Frame.of(case, list(ending), residue, bool(case.apart))
            logits = frame.logits(case)
            if case.model.attention == "plain":
                yield Root((ending, residue, ()), frame, logits, [], [list(tokens)] * case.period)
                continue
            choices, least = _levels(case, frame, logits)
            if prod(map(len, choices)) * len(logits) > MOST_WORK // (10 * len(logits[0])):
                raise Unreadable(f"levels that {MOST_WORK} steps suffice to go through", "more")
            for levels in product(*map(range, map(len, choices))):
                tops = [values[level] for values, level in zip(choices, levels, strict=True)]
                root = _with_tops(case, (ending, residue, levels), frame, logits, tops, least)
                if root is not None:
                    yield root


def _levels(case: Case, frame: Frame, logits: list[Values]) -> tuple[list[list[int]], list[int | None]]:
    """D_a in decreasing order, and b_a (None: the whole suffix is masked) by head."""
    size = len(case.types)
    choices: list[list[int]] = []
    least: list[int | None] = []
    for values, head in zip(logits, case.logits, strict=True):
        own = head.content[frame.query[0], frame.query[1] % case.model.period]
        near = [v for v in values[size:] if v is not None]
        if not frame.near:
            near = [own[frame.query[0], frame.query[1] % case.model.period]]
        b = max(near, default=None)
        far = {v for v in values[:size] if v is not None and (b is None or v >= b)}
        choices.append(sorted(far.union(() if b is None else (b,)), reverse=True))
        least.append(b)
    return choices, least


def _with_tops(
    case: Case, key: Key, frame: Frame, logits: list[Values], tops: list[int], least: list[int | None]
) -> Root | None:
    """The root with these largest logits; None if a residue has no allowed token or a head cannot find its logit."""
    symbols = case.model.symbols
    fits = [
        all((v := values[index]) is not None and v <= top for values, top in zip(logits, tops, strict=True))
        for index in range(len(case.types))
    ]
    allowed = [[s for s in range(symbols) if fits[r * symbols + s]] for r in range(case.period)]
    for values, top, b in zip(logits, tops, least, strict=True):
        if top != b and not any(fit and v == top for fit, v in zip(fits, values, strict=False)):
            return None
    return Root(key, frame, logits, tops, allowed) if all(allowed) else None


def check_roots(case: Case, network: Network, listed: dict[Key, tuple[list[Any], str]]) -> None:
    """Rules 5 and 6: every root once, then every tree."""
    rest = dict(listed)
    for root in every_root(case):
        if rest.pop(root.key, None) is None:
            ending, residue, levels = root.key
            said = f"residue {residue}, levels {list(levels)[:20]}"
            raise Refused(f"no root is about the strings that end with {list(ending)[-20:]}, {said}")
    for _, where in rest.values():
        raise Refused(f"{where}: there is no such root, or no string is in it")
    for root in every_root(case):
        tree, where = listed[root.key]
        walk, cell = started(case, network, root)
        walk.check(cell, tree, where)


def started(case: Case, network: Network, root: Root) -> tuple[Walk, Cell]:
    """A root's cell, and what walks its tree."""
    if case.model.attention == "plain":
        scene = Scene(case, network, root.frame, *weights.plain(case, root.logits))
    else:
        scene = Scene(case, network, root.frame, weights.hard(root.logits, root.tops))
    left = (root.key[1] - case.apart) % case.period
    one_more = [int(1 <= r <= left) for r in range(case.period)]
    flat = not case.apart and not left
    high = Fraction(0) if flat else Fraction(1, (case.small - case.apart) // case.period)
    return Walk(scene, one_more), whole_root(case.model.symbols, root.allowed, high)
