"""Whether two programs are equal, the shortest word on which they differ, and how that is known.

Source: programs note, sections 3.5, 4.1 and 4.2.
"""

from dataclasses import dataclass
from typing import Any

from lengthwise.crasp.interpret import run
from lengthwise.crasp.syntax import Program
from lengthwise.errors import WrongInput, shown
from lengthwise.jsonform import to_json
from lengthwise.verdict.equality import MOST_STATES, Found, search_pair
from lengthwise.verdict.fragments import PairFragment, pair_fragment
from lengthwise.verdict.machine import Word
from lengthwise.verdict.pair import Pair, pair

LONGEST_SHOWN = 60
FIRST_STATES = 20_000  # a search that is cheap enough to come before integer programs


@dataclass(frozen=True)
class Comparison:
    """What is known of two programs.

    equal       True, False, or None where it is open
    word        a shortest word on which they differ, as the programs read it; None where there is none, none is known, or
                it has more than ten million symbols
    length      its length
    exactness   proved; solver: that no word is shorter, or that there is none at all, rests on a solver in floating
                point; searched: nothing but that they agree up to agrees_up_to
    agrees_up_to  for an open pair, or one that the solver decides: no disagreement up to this length, proved
    about       the fragment of the pair and the bound of its theorem
    """

    first: str
    second: str
    equal: bool | None
    word: str | None
    length: int | None
    exactness: str
    agrees_up_to: int | None
    about: PairFragment

    def fields(self) -> dict[str, Any]:
        """What the verb prints with --json."""
        return {
            "sentence": str(self),
            "equal": self.equal,
            "word": self.word,
            "length": self.length,
            "exactness": self.exactness,
            "agrees_up_to": self.agrees_up_to,
        } | self.about.fields()

    def to_json(self) -> str:
        """The fields as a JSON object."""
        return to_json(self.fields())

    def __str__(self) -> str:
        """The answer as a sentence."""
        names = f"{self.first} and {self.second}"
        bound = self.about.bound
        theorem = f"unequal programs of this kind differ within {bound} symbols, {self.about.source}"
        if self.equal:
            how = "proved" if self.exactness == "proved" else "a solver found no disagreement"
            return f"{names} are equal ({how})." if bound is None else f"{names} are equal ({how}; {theorem})."
        if self.equal is False:
            word = "the empty word" if self.word == "" else "a word" if self.word is None else _cut(self.word)
            least = "no shorter word does" if self.exactness == "proved" else "by a solver, no shorter word does"
            return f"{names} differ on {word} ({self.length} symbols; {least})."
        seen = f"{names} agree on all words up to length {self.agrees_up_to}; whether they are equal is open"
        if self.about.culprit is not None:
            return f"{seen}: no theorem covers {self.about.culprit.comparison} (in {self.about.culprit.program})."
        return f"{seen}." if bound is None else f"{seen}; {theorem}."


def compare(first: Program, second: Program, outputs: bool = False, most_states: int = MOST_STATES) -> Comparison:
    """Whether two programs accept the same words, and if not a shortest word on which they differ.

    With `outputs`, or without accept, Boolean outputs of the same name must agree too, at the last position. The search
    keeps at most `most_states` states; linear-top programs that it leaves open go to integer programs.
    """
    for one in (first, second):
        if not isinstance(one, Program):
            raise WrongInput("a program", shown(one), "make one with lengthwise.crasp.parse(text)")
    if most_states < 1:
        raise WrongInput("at least one state", str(most_states), "give a larger number", "most_states")
    both = pair(first, second, outputs)
    about = pair_fragment(both)
    budget = min(FIRST_STATES, most_states) if about.guards is not None else most_states
    found = search_pair(both, budget, about.bound, about.highest)
    if about.guards is not None and not _decided(found, about):
        return _by_programs(both, about, found, most_states)
    return _answer(both, about, found)


def _decided(found: Found, about: PairFragment) -> bool:
    """Whether a search came to its end, or to the bound."""
    return found.decided or (about.bound is not None and found.agrees is not None and found.agrees >= about.bound)


def _answer(both: Pair, about: PairFragment, found: Found) -> Comparison:
    """The answer of a search alone."""
    names = both.first.name, both.second.name
    if found.word is not None:
        return Comparison(*names, False, text(both, found.word), len(found.word), "proved", None, about)
    if _decided(found, about):
        return Comparison(*names, True, None, None, "proved", None, about)
    return Comparison(*names, None, None, None, "searched", found.agrees, about)


def _by_programs(both: Pair, about: PairFragment, found: Found, most_states: int) -> Comparison:
    """The answer of integer programs, proved where a longer search confirms that no word is shorter."""
    from lengthwise.verdict.flows import shortest_disagreement
    from lengthwise.verdict.vectors import agree_up_to

    assert about.guards is not None
    solved = shortest_disagreement(about.guards)
    if solved is None:
        return _answer(both, about, search_pair(both, most_states, about.bound))
    names = both.first.name, both.second.name
    if solved.length is None and solved.programs == 0:
        return Comparison(*names, True, None, None, "proved", None, about)
    if solved.word is not None and not differ(both, solved.word):
        raise AssertionError(f"the flow of {text(both, solved.word)} is no disagreement")
    longest = about.bound if solved.length is None else solved.length - 1
    proved = (
        longest is not None
        and found.agrees is not None
        and (found.agrees >= longest or agree_up_to(about.guards, longest))
    )
    if not proved:
        found = search_pair(both, most_states, longest)
        if found.decided:
            return _answer(both, about, found)
        proved = longest is not None and found.agrees is not None and found.agrees >= longest
    exactness = "proved" if proved else "solver"
    agrees = None if proved else found.agrees
    if solved.length is None:
        return Comparison(*names, True, None, None, exactness, agrees, about)
    word = None if solved.word is None else text(both, solved.word)
    return Comparison(*names, False, word, solved.length, exactness, agrees, about)


def differ(both: Pair, word: Word) -> bool:
    """Whether the two programs, run on a word, say different things."""
    values = run(both.joint, [[both.alphabet[symbol] for symbol in word]]).values
    return any(bool(values[left][0]) != bool(values[right][0]) for left, right in both.compared)


def _cut(word: str) -> str:
    """A word as it fits into a sentence."""
    return word if len(word) <= LONGEST_SHOWN else f"{word[:LONGEST_SHOWN]}…"


def text(both: Pair, word: Word) -> str:
    """A word as the programs read it."""
    glue = "" if all(len(symbol) == 1 for symbol in both.alphabet) else " "
    return glue.join(both.alphabet[symbol] for symbol in word)
