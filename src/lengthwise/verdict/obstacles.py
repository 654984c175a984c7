"""Parity and the flip-flop inside a regular language: the two published reasons for being outside the class.

The class is closed under fixing how a word begins and ends, and under replacing each symbol by a word, all of one
length: positions then shift by a constant and are multiplied by the length, so predicates stay periodic and local, and
counts stay counts. So a language is outside if among words of one length of its minimal automaton there are

    counting    e, g: e leads each of r >= 2 states back to itself, g leads them round in a circle
    flip-flop   e, x, y: e leads states p and q back to themselves, x leads both to p, y leads both to q

for then it contains counting g modulo r (Parity for r = 2), or which of x and y came last.

Source: Huang et al. 2025 state both for Parity and for the words whose last symbol, up to neutral ones, is given.
That circles of other lengths and longer words are like these: ours.
"""

from dataclasses import dataclass

from lengthwise.crasp.automata import Automaton
from lengthwise.crasp.semigroup import Element, letters, product

SOURCE = (
    "Huang et al. 2025, the theorem on Parity and on the last symbol up to neutral ones; what holds one of them inside, and "
    "counting modulo other numbers: ours, docs/predict.md"
)
LONGEST = 4
MOST_ACTIONS = 400


@dataclass(frozen=True)
class Obstacle:
    """The language in it, the words that make it up, and how many states they move among.

    counting: words e and g;  flip-flop: words e, x and y.
    """

    kind: str
    words: tuple[str, ...]
    modulus: int

    def __str__(self) -> str:
        """What it contains, in words."""
        if self.kind == "counting":
            name = "Parity" if self.modulus == 2 else f"counting modulo {self.modulus}"
            return f"it contains {name}: {self.words[1]} counts, {self.words[0]} does not"
        return f"it contains the flip-flop: which came last, {self.words[1]} or {self.words[2]}, {self.words[0]} aside"


def obstacle(machine: Automaton) -> Obstacle | None:
    """Parity-like counting or a flip-flop among words of up to four symbols; the automaton must be minimal."""
    words: dict[Element, tuple[int, ...]] = {}
    for symbol, action in enumerate(letters(machine)):
        words.setdefault(action, (symbol,))
    ones = dict(words)
    for _ in range(LONGEST):
        found = _among(machine, words)
        if found is not None:
            return found
        longer: dict[Element, tuple[int, ...]] = {}
        for action, word in words.items():
            for letter, one in ones.items():
                longer.setdefault(product(action, letter), word + one)
        if len(longer) > MOST_ACTIONS:
            return None
        words = longer
    return None


def _among(machine: Automaton, words: dict[Element, tuple[int, ...]]) -> Obstacle | None:
    """The same among words of one length, given what they do."""
    for neutral, word in words.items():
        fixed = {state for state, after in enumerate(neutral) if after == state}
        for action, other in words.items():
            circle = _circle(action, fixed)
            if circle > 1:
                return Obstacle("counting", (machine.text(word), machine.text(other)), circle)
        for p in sorted(fixed):
            for q in sorted(fixed - {p}):
                first = next((w for a, w in words.items() if a[p] == a[q] == p), None)
                second = next((w for a, w in words.items() if a[p] == a[q] == q), None)
                if first is not None and second is not None:
                    return Obstacle("flip-flop", tuple(machine.text(w) for w in (word, first, second)), 2)
    return None


def _circle(action: Element, fixed: set[int]) -> int:
    """The length of a circle of at least two states, all among the fixed ones, that an action leads round; else 0."""
    for start in sorted(fixed):
        here, length = action[start], 1
        while here != start and here in fixed and length <= len(fixed):
            here, length = action[here], length + 1
        if here == start and length > 1:
            return length
    return 0
