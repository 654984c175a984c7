"""A C-RASP program for a regular language, from the potentials that tell its states apart.

The annotated automaton is taken in parts that are left once and for all. There are several ways to do so; each that
tells apart what must be told apart gives a right program (`writing`), and the shortest is kept.
"""

from collections.abc import Iterator

from lengthwise.crasp.annotated import Annotated, Part, joined, part_of, parts_by
from lengthwise.crasp.syntax import Program
from lengthwise.crasp.writing import Writer, settled_states

MOST_JOINED = 400


def program(product: Annotated, name: str = "decided") -> Program | None:
    """A program for the language of an annotated automaton; None where its states cannot all be told apart.

    Written for several ways to take the automaton in parts, and the shortest text is kept.
    """
    written = [Writer(product, parts).program(name) for parts in _ways(product)]
    return min(written, key=lambda one: len(str(one)), default=None)


def _ways(product: Annotated) -> Iterator[list[Part]]:
    """Ways to take the automaton in parts whose states can be told apart.

    Parts are not followed where every word, or none, is accepted from now on.
    """
    settled, seen = settled_states(product), set[tuple[tuple[int, ...], ...]]()
    for grain in ("states", "phases", "places"):
        groups = [
            places
            for places in parts_by(product, grain)
            if not all(product.places[place].state in settled for place in places)
        ]
        if any(part_of(product, places).confused for places in groups):
            continue
        ways = [groups] if len(product.places) > MOST_JOINED else [groups, joined(product, groups)]
        for way in ways:
            if (key := tuple(map(tuple, way))) not in seen:
                seen.add(key)
                yield [part_of(product, places) for places in way]
        if len(product.places) > MOST_JOINED:
            return
