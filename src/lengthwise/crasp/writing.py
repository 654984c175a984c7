"""The definitions of a program that follows an automaton from part to part.

In each part the program keeps one quantity per level, a potential: the value of the state it is in. From the letter, what
periodic and local predicates see, and these values it reads whether the letter leaves the part, whereto, and whether the
word is accepted.

    since    the part was entered at an earlier position (nothing to ask in the first part)
    leave    since, and this letter leads out if the part was not left before; it may also hold later, so the part is
             left exactly where  leave and count(leave) == 1
    to       the position at which a part is entered, as seen from the part before

Why this is right: up to the first true `leave` every quantity equals the potential of the state, by induction on the
position and the level; so the first `leave` is true exactly when the part is left, and until then the acceptance that
is read is that of the state.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from lengthwise.crasp.annotated import Annotated, Part
from lengthwise.crasp.cover import Box, Point, Space, contains, cover
from lengthwise.crasp.languages import live_states
from lengthwise.crasp.potentials import potential, weights
from lengthwise.crasp.syntax import (
    Boolean,
    BoolName,
    Count,
    CountName,
    Definition,
    Number,
    Program,
    Quantity,
    Truth,
    nodes,
)
from lengthwise.crasp.wording import all_of, any_of, choice, test, total


def settled_states(product: Annotated) -> dict[int, bool]:
    """The states from which nothing is open, with whether all words are accepted."""
    machine, live = product.machine, live_states(product.machine)
    dead = {state: False for state in range(machine.states) if state not in live}
    full = {q: True for q, row in enumerate(machine.table) if q in machine.accepting and set(row) == {q}}
    return dead | full


@dataclass(frozen=True)
class _Entry:
    """How a part is entered: the position at which, what stays true from there on, and with which potentials.

    `accepted` is whether the word is accepted right there, where what is read does not tell; else None.
    """

    event: Boolean
    entered: Boolean
    key: tuple[int, ...]
    accepted: bool | None


class Writer:
    """Writes the definitions, part by part."""

    def __init__(self, product: Annotated, parts: Sequence[Part]) -> None:
        self.product, self.parts = product, list(parts)
        self.machine = product.machine
        self.settled = settled_states(product)
        self.home = {place: index for index, part in enumerate(self.parts) for place in part.places}
        self.definitions: list[Definition] = []
        self.entries: list[list[_Entry]] = [[] for _ in self.parts]
        self.accepting: list[Boolean] = []  # one of these accepts
        self.always: list[bool] = []  # per part, whether all its states accept
        self.refusing: list[Boolean] = []  # where no word is accepted any more: these events
        letters = len(self.machine.alphabet)
        self.sizes = (letters + 1, product.period, *[letters + 1] * product.window)
        self.values = [self._values(part) for part in self.parts]
        self.arrivals = [self._arrivals(index) for index in range(len(self.parts))]
        self.mixed = [bool(found[True] & found[False]) for found in self.arrivals]

    def program(self, name: str) -> Program:
        for index in range(len(self.parts)):
            self._write(index)
        accept = any_of(self.accepting)
        if not self.parts:
            accept = Truth(self.settled[self.machine.start])
        elif all(self.always):
            accept = all_of(Count(event).eq(0) for event in self.refusing)
        return Program(name, self.machine.alphabet, _used(self.definitions, accept), accept)

    def _values(self, part: Part) -> list[list[int]]:
        """Per level the potential of each place of a part; 0 at the first place, which is where the first part starts."""
        rows = [self.machine.table[self.product.places[place].state] for place in part.places]
        found = []
        for number, level in enumerate(part.levels):
            apart: Sequence[object] = rows if number == len(part.levels) - 1 else level.after
            values = potential(level, part.moves, apart)
            found.append([value - values[0] for value in values])
        return found

    def _arrivals(self, index: int) -> dict[bool, set[Point]]:
        """What is read on entering a part, where the word is then accepted and where not."""
        found: dict[bool, set[Point]] = {True: set(), False: set()}
        for place, row in enumerate(self.product.table):
            for letter, target in enumerate(row):
                if self.home.get(target) == index and self.home.get(place) != index:
                    accepted = self.product.places[target].state in self.machine.accepting
                    found[accepted].add((*self._seen(place, letter), *self._key(target)))
        return found

    def _seen(self, place: int, letter: int) -> Point:
        """What predicates see of the position at which a letter is read: it, the remainder, the letters before."""
        _, residue, window = self.product.places[place]
        none = len(self.machine.alphabet)
        before = [window[-back] if back <= len(window) else none for back in range(1, self.product.window + 1)]
        return (letter, (residue + 1) % self.product.period, *before)

    def _write(self, index: int) -> None:
        part, alphabet = self.parts[index], self.machine.alphabet
        suffix = str(index + 1) if len(self.parts) > 1 else ""
        entered, since = self._entered(index, suffix)
        quantities: list[Quantity] = []
        reading = {
            (place, letter): self._seen(part.places[place], letter)
            for place in range(len(part.places))
            for letter in range(len(alphabet))
        }
        targets = {(s, letter): t for s, letter, t in part.moves}
        for number, level in enumerate(part.levels):
            values, space = self.values[index][number], Space(self.sizes, number)
            weight = weights(values, level.before, part.moves)
            terms = self._weighted({reading[s, a]: weight[level.before[s], a] for s, a in targets}, space)
            body = [(w, Count(all_of([since, test(boxes, space, alphabet, quantities)]))) for w, boxes in terms]
            for entry in self.entries[index]:
                if entry.key[number]:
                    body.append((entry.key[number], Count(entry.event)))
            nested = "" if len(part.levels) == 1 else f"_{number + 1}"
            quantities.append(self._quantity(f"height{suffix}{nested}", total(body)))
            for s, letter in reading:
                point = reading[s, letter]
                gained = sum(w for w, boxes in terms if any(contains(box, point) for box in boxes))
                assert (s, letter) not in targets or values[s] + gained == values[targets[s, letter]]
                reading[s, letter] = (*point, values[s] + gained)
        stays = [reading[key] for key in targets]
        leave = self._leaving(index, suffix, since, quantities, reading, stays)
        accept = self._acceptance(index, since, quantities, reading)
        inside = all_of([entered] if leave is None else [entered, Count(leave).eq(0)])
        self.always.append(accept == Truth(True))
        if accept is not None:
            self.accepting.append(all_of([accept, inside]))

    def _entered(self, index: int, suffix: str) -> tuple[Boolean, Boolean]:
        """That a part has been entered, and that it was entered at an earlier position."""
        if index == 0:
            return Truth(True), Truth(True)
        entries = self.entries[index]
        enter = any_of(entry.event for entry in entries)
        if len(entries) == 1:
            entered = entries[0].entered
        else:
            enter = self._name(f"enter{suffix}", enter)
            entered = Count(enter) >= 1
        return entered, self._name(f"since{suffix}", entered & ~enter)

    def _weighted(self, wanted: dict[Point, int], space: Space) -> list[tuple[int, list[Box]]]:
        """The weights that are not 0, each with a test for where it counts."""
        found = []
        for weight in sorted(set(wanted.values()) - {0}, key=lambda w: (-w, abs(w))):
            inside = [point for point, value in wanted.items() if value == weight]
            found.append((weight, cover(inside, [p for p, value in wanted.items() if value != weight], space)))
        return found

    def _leaving(
        self,
        index: int,
        suffix: str,
        since: Boolean,
        quantities: list[Quantity],
        reading: dict[tuple[int, int], Point],
        stays: list[Point],
    ) -> Boolean | None:
        """The test that the part is left, and the events of arriving elsewhere; None where it never is."""
        part, alphabet = self.parts[index], self.machine.alphabet
        space = Space(self.sizes, len(quantities))
        kept = {(s, letter) for s, letter, _ in part.moves}
        leaving: dict[object, list[Point]] = {}
        for (s, letter), point in reading.items():
            if (s, letter) not in kept:
                place = self.product.table[part.places[s]][letter]
                leaving.setdefault(self._where(place), []).append(point)
        if not leaving:
            return None
        out = [point for points in leaving.values() for point in points]
        title = ("bad" if set(leaving) == {False} else "leave") + suffix
        leave = self._name(title, all_of([since, choice(out, stays, space, alphabet, quantities)]))
        for where, points in leaving.items():
            others = [point for other, those in leaving.items() if other != where for point in those]
            self._arrive(index, where, leave, choice(points, others, space, alphabet, quantities))
        return leave

    def _acceptance(
        self,
        index: int,
        since: Boolean,
        quantities: list[Quantity],
        reading: dict[tuple[int, int], Point],
    ) -> Boolean | None:
        """When the part accepts, on entering it and later; None for never."""
        part, alphabet, accepting = self.parts[index], self.machine.alphabet, self.machine.accepting
        space = Space(self.sizes, len(quantities))
        later: dict[bool, set[Point]] = {True: set(), False: set()}
        for s, letter, t in part.moves:
            later[self.product.places[part.places[t]].state in accepting].add(reading[s, letter])
        if index == 0:
            none = len(alphabet)
            start = (none, 0, *[none] * self.product.window, *[0] * len(quantities))
            later[self.machine.start in accepting].add(start)
        first = self.arrivals[index]
        if (later[True] | first[True]) & (later[False] | first[False]):
            # The same is read on entering and later, with different answers, so we ask which it is.
            ways: list[tuple[Boolean, dict[bool, set[Point]]]] = [(since, later)]
            if not self.mixed[index]:
                ways.append((~since, first))
        else:
            ways = [(Truth(True), {good: later[good] | first[good] for good in (True, False)})]
        found = [
            all_of([when, choice(sorted(points[True]), sorted(points[False]), space, alphabet, quantities, exact=True)])
            for when, points in ways
            if points[True]
        ]
        found += [entry.event for entry in self.entries[index] if entry.accepted]
        return any_of(found) if found else None

    def _where(self, place: int) -> object:
        """What a program must know of where a letter leads out: the part and its potentials; or whether all is accepted."""
        if place in self.home:
            index = self.home[place]
            accepted = self.product.places[place].state in self.machine.accepting
            return index, self._key(place), accepted if self.mixed[index] else None
        return self.settled[self.product.places[place].state]

    def _key(self, place: int) -> tuple[int, ...]:
        index = self.home[place]
        at = self.parts[index].places.index(place)
        return tuple(values[at] for values in self.values[index])

    def _arrive(self, index: int, where: object, leave: Boolean, which: Boolean) -> None:
        """Notes the event of leaving a part for some place."""
        alone = which == Truth(True)
        event = all_of([leave, which, Count(leave).eq(1)])
        if where is False:
            self.refusing.append(leave if alone else event)
        elif where is True:
            self.accepting.append(Count(leave if alone else event) >= 1)
        else:
            assert isinstance(where, tuple)
            part, key, accepted = where
            count = sum(definition.name.startswith(f"to{part + 1}") for definition in self.definitions)
            event = self._name(f"to{part + 1}" + (f"_{count + 1}" if count else ""), event)
            self.entries[part].append(_Entry(event, Count(leave if alone else event) >= 1, key, accepted))

    def _name(self, name: str, body: Boolean) -> Boolean:
        if isinstance(body, (BoolName, Truth)):
            return body
        self.definitions.append(Definition("let", name, body))
        return BoolName(name)

    def _quantity(self, name: str, body: Quantity) -> Quantity:
        if isinstance(body, Number):
            return body
        self.definitions.append(Definition("let", name, body))
        return CountName(name)


def _used(definitions: Sequence[Definition], accept: Boolean) -> tuple[Definition, ...]:
    """The definitions that acceptance rests on."""
    wanted = {node.name for node in nodes(accept) if isinstance(node, (BoolName, CountName))}
    kept = []
    for definition in reversed(definitions):
        if definition.name in wanted:
            wanted |= {node.name for node in nodes(definition.body) if isinstance(node, (BoolName, CountName))}
            kept.append(definition)
    return tuple(reversed(kept))
