"""The transition semigroup of an automaton: what words do to its states; star-free, dot-depth one, the stable part.

An element is the tuple of the states that each state is led to. The semigroup of the minimal automaton, over nonempty
words, is the syntactic semigroup of the language. It can be much larger than the automaton, so all of this has a limit,
beyond which the answer is None: not computed.
"""

from dataclasses import dataclass

from lengthwise.crasp.automata import Automaton

MOST_ELEMENTS = 3_000
MOST_PRODUCTS = 500_000

Element = tuple[int, ...]


@dataclass(frozen=True)
class Semigroup:
    """The elements, each with a shortest word (indices) that acts so."""

    words: dict[Element, tuple[int, ...]]

    @property
    def elements(self) -> list[Element]:
        """The elements in the order in which words first give them."""
        return list(self.words)

    @property
    def idempotents(self) -> list[Element]:
        """The elements e with e e = e."""
        return [x for x in self.words if all(x[state] == state for state in x)]


def product(first: Element, second: Element) -> Element:
    """First one, then the other."""
    return tuple([second[state] for state in first])


def power(element: Element) -> Element:
    """The idempotent power of an element, x^omega."""
    here = element
    while any(here[state] != state for state in here):
        here = tuple([element[state] for state in here])
    return here


def letters(machine: Automaton) -> list[Element]:
    """What each symbol does."""
    return [tuple(row[symbol] for row in machine.table) for symbol in range(len(machine.alphabet))]


def semigroup(machine: Automaton, most: int = MOST_ELEMENTS) -> Semigroup | None:
    """The transition semigroup; None where it has more than `most` elements."""
    actions = letters(machine)
    words: dict[Element, tuple[int, ...]] = {}
    for symbol, action in enumerate(actions):
        words.setdefault(action, (symbol,))
    ahead = list(words)
    for element in ahead:
        for symbol, action in enumerate(actions):
            longer = tuple([action[state] for state in element])
            if longer not in words:
                if len(words) == most:
                    return None
                words[longer] = (*words[element], symbol)
                ahead.append(longer)
    return Semigroup(words)


def star_free(machine: Automaton, most: int = MOST_ELEMENTS) -> bool | None:
    """Whether the language is star-free: no word permutes states in a cycle, x^(n+1) = x^n for large n.

    Source: Schützenberger 1965; the automaton must be minimal. None: more than `most` elements, not computed.
    """
    found = semigroup(machine, most)
    if found is None:
        return None
    return all(product(power(element), element) == power(element) for element in found.elements)


def dot_depth_one(machine: Automaton, most: int = MOST_ELEMENTS, products: int = MOST_PRODUCTS) -> bool | None:
    """Whether the language has dot-depth at most one.

        (e x f y)^w e x f t e (z f t e)^w  =  (e x f y)^w e (z f t e)^w     for idempotents e, f and all x, y, z, t

    With a = e x f, b = f y e, c = e z f, d = f t e both sides are (a b)^w a d (c d)^w and (a b)^w (c d)^w, so it is
    enough to go through the different pairs ((a b)^w, a) and (d, (c d)^w).

    Source: Knast 1983; the automaton must be minimal, and the semigroup is that of nonempty words. None: not computed.
    """
    found = semigroup(machine, most)
    if found is None:
        return None
    idempotents, work = found.idempotents, 0
    products //= 1 + machine.states // 16  # a product takes time in proportion to the states
    if len(idempotents) * len(found.words) > products:
        return None
    after = {e: {tuple([x[q] for q in e]) for x in found.words} for e in idempotents}  # e S
    for e in idempotents:
        for f in idempotents:
            there = {tuple([f[q] for q in x]) for x in after[e]}
            back = {tuple([e[q] for q in y]) for y in after[f]}
            work += len(after[e]) + len(after[f]) + 5 * len(there) * len(back)
            if work > products:
                return None
            lefts, rights = set[tuple[Element, Element]](), set[tuple[Element, Element]]()
            for a in there:
                for b in back:
                    loop = power(product(a, b))
                    lefts.add((loop, product(loop, a)))
                    rights.add((loop, product(b, loop)))
            work += 2 * len(lefts) * len(rights)
            if work > products:
                return None
            for before, with_a in lefts:
                for end, with_d in rights:
                    if [with_d[q] for q in with_a] != [end[q] for q in before]:
                        return False
    return True


def stable_part(machine: Automaton, most: int = MOST_ELEMENTS) -> tuple[int, Semigroup] | None:
    """What the words of length s do, for the least s >= 1 with  {words of length s} = {words of length 2 s}  as actions.

    Then the words of length k s do the same for every k >= 1, and these elements are a semigroup: whatever a position
    modulo some period tells, each of its elements is the action of words of every multiple of s.

    Source: Chaubard, Pin and Straubing 2006, the stability index and the stable semigroup.
    """
    actions = letters(machine)
    here: dict[Element, tuple[int, ...]] = {}
    for symbol, action in enumerate(actions):
        here.setdefault(action, (symbol,))
    seen: dict[frozenset[Element], int] = {}
    layers: list[dict[Element, tuple[int, ...]]] = []
    total = 0
    while (key := frozenset(here)) not in seen:
        total += len(here)
        if total > 10 * most or len(here) > most:  # the layers may be many
            return None
        seen[key] = len(layers)
        layers.append(here)
        longer: dict[Element, tuple[int, ...]] = {}
        for element, word in here.items():
            for symbol, action in enumerate(actions):
                longer.setdefault(tuple([action[state] for state in element]), (*word, symbol))
        here = longer
    first, cycle = seen[key] + 1, len(layers) - seen[key]  # layer i has the words of length i + 1
    length = -(-first // cycle) * cycle
    at = length - 1 if length <= len(layers) else seen[key] + (length - 1 - seen[key]) % cycle
    return length, Semigroup(layers[at])
