"""Why no C-RASP[periodic, local] program accepts a language, whatever its period and window.

Take the stable part T of the transition semigroup: every element of T is the action of some word of length k s, for every k.
Let e, f be idempotents of T and t = e t f. For every period (it may be taken as a multiple of s) and every window there
is a word for e, of a length that is a multiple of the period, longer than the window; so *arrows* (e, t, f) have words
that begin and end alike and keep the position modulo the period. On words made of arrows, periodic and local predicates
see at each position only which arrow it is in and where. What remains is a plain program whose letters are arrows, and
for these the classes of `separation` are the limit of what counts can see. If two states p = p e, q = q e of one class are led to
different states by some letter, two words can be built that no program tells apart though the language does.

Source: ours, with proof in docs/decide.md; in the manner of the delay theorem (Straubing 1985, Tilson 1987).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from lengthwise.crasp.arrows import Arrow, Budget, Spent, component_of, confused
from lengthwise.crasp.automata import Automaton
from lengthwise.crasp.semigroup import Element, Semigroup, letters, power, product, stable_part

MOST_ELEMENTS = 20_000
MOST_ENTRIES = 400_000  # elements times states
MOST_WORK = 1_000_000  # products of elements, and moves of arrows: a second or two
SAMPLE = 500  # actions of short words
DESCENTS = 20


@dataclass(frozen=True)
class Obstruction:
    """Two states that no program tells apart after some words, a word that leads each of them back to itself, a letter.

    The letter leads the two to different states.
    """

    states: tuple[int, int]
    loop: tuple[int, ...]
    letter: int


@dataclass(frozen=True)
class Search:
    """What came out of looking for an obstruction, and whether all arrows were looked at.

    `length` is the stability index, by whose multiples it is enough to look at positions; None if it was not found.
    """

    found: Obstruction | None
    complete: bool
    length: int | None


def obstruction(machine: Automaton, most: int = MOST_ELEMENTS, work: int = MOST_WORK) -> Search:
    """Looks for two states that no program tells apart, in a minimal automaton.

    First at some idempotents alone, on the arrows of short words, which is mostly enough. Then at each idempotent, those
    with few states first, and with the arrows between idempotents, one for each class of those that arrows join to and
    fro: what all that leaves together does not exist.
    """
    found = _glimpsed(machine, Budget(work))
    if found is not None:
        return Search(found, False, None)
    stable = stable_part(machine, min(most, MOST_ENTRIES // machine.states))
    if stable is None:
        return Search(None, False, None)
    length, part = stable
    budget, component = Budget(work), component_of(machine)
    idempotents = sorted((e for e in part.idempotents if len(set(e)) > 1), key=lambda e: (len(set(e)), part.words[e]))
    try:
        for e in idempotents:
            alone = [(0, 0, t) for t in _between(e, e, part, budget)]
            if pair := confused(machine, component, [e], alone, budget):
                return Search(_told(machine, part.words[e], pair), False, length)
        chosen = _representatives(idempotents, part, budget)
        pair = None
        if len(chosen) > 1:
            arrows: list[Arrow] = [
                (i, j, t)
                for i, e in enumerate(chosen)
                for j, f in enumerate(chosen)
                for t in _between(e, f, part, budget)
            ]
            pair = confused(machine, component, chosen, arrows, budget)
    except Spent:
        return Search(None, False, length)
    return Search(_told(machine, part.words[chosen[pair[0]]], pair) if pair else None, True, length)


def _told(machine: Automaton, loop: tuple[int, ...], pair: tuple[int, int, int]) -> Obstruction:
    _, p, q = pair
    letter = next(a for a in range(len(machine.alphabet)) if machine.table[p][a] != machine.table[q][a])
    return Obstruction((p, q), loop, letter)


def _between(e: Element, f: Element, part: Semigroup, budget: Budget) -> set[Element]:
    """The elements  e t f."""
    budget.spend(len(part.words))
    return {tuple([f[t[state]] for state in e]) for t in part.words}


def _representatives(idempotents: Sequence[Element], part: Semigroup, budget: Budget) -> list[Element]:
    """One idempotent for each class of  e ~ f: s t = e and t s = f for some s in e T f, t in f T e."""
    chosen: list[Element] = []
    for e in idempotents:
        if not any(_joined(e, f, part, budget) for f in chosen):
            chosen.append(e)
    return chosen


def _joined(e: Element, f: Element, part: Semigroup, budget: Budget) -> bool:
    if len(set(e)) != len(set(f)):
        return False
    there, back = _between(e, f, part, budget), _between(f, e, part, budget)
    budget.spend(len(there) * len(back))
    return any(product(s, t) == e and product(t, s) == f for s in there for t in back)


def _glimpsed(machine: Automaton, budget: Budget) -> Obstruction | None:
    """An obstruction at a single idempotent, from the actions of the first words only.

    Let g be the greatest common divisor of the lengths of the known words for e. Words for e of every large multiple of
    g exist, so an element e x e is an arrow if g divides the length of x: x can be padded to a multiple of any period.
    """
    component = component_of(machine)
    sample = _first_words(machine)
    tried = set[Element]()
    for start in list(sample)[:DESCENTS]:
        e, word = power(start), sample[start]
        times, here = 1, start
        while here != e:
            here, times = product(here, start), times + 1
        word = word * times
        while len(set(e)) > 1 and e not in tried:
            tried.add(e)
            try:
                found = _alone(machine, component, e, word, sample, budget)
            except Spent:
                return None
            if isinstance(found, Obstruction):
                return found
            e, word = found
    return None


def _alone(
    machine: Automaton,
    component: Sequence[int],
    e: Element,
    word: tuple[int, ...],
    sample: dict[Element, tuple[int, ...]],
    budget: Budget,
) -> Obstruction | tuple[Element, tuple[int, ...]]:
    """An obstruction at an idempotent; else the idempotent with fewest states, but two, of the form (e x e)^w."""
    budget.spend(4 * len(sample))
    sandwiched = [(tuple([e[x[state]] for state in e]), x) for x in sample]
    divisor = math.gcd(len(word), *(len(sample[x]) for t, x in sandwiched if t == e))
    arrows = {t for t, x in sandwiched if len(sample[x]) % divisor == 0}
    pair = confused(machine, component, [e], [(0, 0, t) for t in sorted(arrows)], budget)
    if pair:
        return _told(machine, word, pair)
    best, longer = e, word
    for t, x in sandwiched:
        f = power(t)
        if 1 < len(set(f)) < len(set(best)):
            times, here = 1, t
            while here != f:
                here, times = product(here, t), times + 1
            best, longer = f, (word + sample[x] + word) * times
    return best, longer


def _first_words(machine: Automaton) -> dict[Element, tuple[int, ...]]:
    """The actions of the first words, shortest first, each with its first word."""
    actions = letters(machine)
    words: dict[Element, tuple[int, ...]] = {}
    for symbol, action in enumerate(actions):
        words.setdefault(action, (symbol,))
    ahead = list(words)
    for element in ahead:
        for symbol, action in enumerate(actions):
            longer = product(element, action)
            if longer not in words and len(words) < SAMPLE:
                words[longer] = (*words[element], symbol)
                ahead.append(longer)
    return words
