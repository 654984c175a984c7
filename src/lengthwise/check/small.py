"""Rule 2 of kind `worst`: short strings, one by one."""

from collections.abc import Iterator
from fractions import Fraction
from itertools import chain, combinations, pairwise, product

from . import weights
from .claim import Case
from .corner import Scene
from .leaf import enclosure
from .network import Network
from .reader import Refused
from .weights import Frame
from .words import decimal

Ending = tuple[int, ...]


def check_small(case: Case, network: Network) -> int:
    """Every ending and every table of a string shorter than `small`; how many meet the conditions."""
    found, plain = 0, dict[tuple[Ending, int], Scene]()
    most = case.error * (1 << network.digits)
    for length in range(case.shortest, case.small):
        for ending in product(range(case.model.symbols), repeat=min(length, case.reach + 1)):
            frame = Frame.of(case, list(ending), length % case.period, apart=True)
            scenes = _Scenes(case, network, frame, length)
            if case.model.attention == "plain":
                key = ending, length % case.period
                scenes.plain = plain[key] = plain.get(key) or scenes.made(())
            for table in tables(case, length - len(ending)):
                counts = table + [1] * len(ending)
                scene = scenes.of(counts)
                if not scene.meets(counts):
                    continue
                found += 1
                ends = enclosure(scene, [scene.at(counts, alone=True)])
                if ends is None or max(-ends[0], ends[1]) > most:
                    raise Refused(
                        f"on a string of {length} tokens that ends with {list(ending)[-20:]} the error may be "
                        f"{decimal(Fraction(max(-ends[0], ends[1]), 1 << network.digits), True) if ends else 'anything'}"
                    )
    return found


class _Scenes:
    """The scenes of one ending and length: one for plain attention, else one for every list of largest logits."""

    def __init__(self, case: Case, network: Network, frame: Frame, length: int) -> None:
        self.case, self.network, self.frame, self.length = case, network, frame, length
        self.logits = frame.logits(case)
        self.plain: Scene | None = None
        self.known: dict[tuple[int | None, ...], Scene] = {}

    def of(self, counts: list[int]) -> Scene:
        """The scene in which a string with these numbers of entries has its weights."""
        if self.plain is not None:
            return self.plain
        tops = tuple(
            max((v for v, count in zip(values, counts, strict=True) if count and v is not None), default=None)
            for values in self.logits
        )
        if tops not in self.known:
            self.known[tops] = self.made(tops)
        return self.known[tops]

    def made(self, tops: tuple[int | None, ...]) -> Scene:
        """A scene anew."""
        if self.case.model.attention == "plain":
            pair = weights.plain(self.case, self.logits)
        else:
            pair = weights.soft(self.case, self.logits, list(tops), self.length)
        return Scene(self.case, self.network, self.frame, *pair)


def sizes(case: Case, prefix: int) -> list[int]:
    """How many positions of a prefix have each residue."""
    return [prefix // case.period + (1 <= r <= prefix % case.period) for r in range(case.period)]


def tables(case: Case, prefix: int) -> Iterator[list[int]]:
    """Every table of counts of a prefix, by index of the type."""
    for rows in product(*(list(_sums(size, case.model.symbols)) for size in sizes(case, prefix))):
        yield list(chain.from_iterable(rows))


def _sums(total: int, parts: int) -> Iterator[list[int]]:
    """All lists of `parts` naturals with this sum: bars among stars."""
    for bars in combinations(range(total + parts - 1), parts - 1):
        ends = (-1, *bars, total + parts - 1)
        yield [b - a - 1 for a, b in pairwise(ends)]


def how_many(case: Case, limit: int) -> int:
    """The number of pairs of ending and table, or some number above the limit."""
    total, tokens = 0, case.model.symbols
    if tokens == 1 or case.small - case.shortest > limit:
        return case.small - case.shortest
    for length in range(case.shortest, case.small):
        near = min(length, case.reach + 1)
        here: int = tokens ** min(near, limit.bit_length())
        for size in sizes(case, length - near):
            for part in range(1, tokens):
                here = here * (size + part) // part
                if here > limit:
                    return here
        total += here
        if total > limit:
            break
    return total
