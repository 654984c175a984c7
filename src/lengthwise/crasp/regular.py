"""Is a regular language in C-RASP[periodic, local], and by which program?

    yes      a program, right by construction, and read against the automaton on all words up to a stated length
    no       two states that no program of any period and window tells apart (`obstruction`), with words for them
    unknown  no program up to the period and window that were tried, and no proof that there is none

Plain programs (period 1, window 0) come first, then pairs of period m and window t with fewest annotations m k^t, k
letters; of equal ones the smaller period.

Source: Huang et al. 2025, definition 8 (the class); Yang et al. 2026, arXiv 2608.13433, and its public code (plain
programs, read at an end marker). Ours: the rest, with proofs in docs/decide.md.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from lengthwise.crasp.agreement import affordable_length, disagreement, disagreement_on_long
from lengthwise.crasp.annotated import Annotated, all_told_apart, annotated
from lengthwise.crasp.automata import Automaton, automaton, minimal
from lengthwise.crasp.fragment import fragment
from lengthwise.crasp.languages import difference, shortest_words
from lengthwise.crasp.obstruction import Search, obstruction
from lengthwise.crasp.semigroup import dot_depth_one, star_free
from lengthwise.crasp.syntax import Program
from lengthwise.crasp.synthesis import program
from lengthwise.errors import WrongInput, shown
from lengthwise.jsonform import to_json

MOST_DECIDED = 300
MOST_CHECKED = 30_000
LONG, LONG_WORDS = 120, 200
END = "$"

PLAIN_SOURCE = "proved in docs/decide.md; for an end marker also Yang et al. 2026, arXiv 2608.13433"

Certainty = Literal["decided", "unknown"]


@dataclass(frozen=True)
class Tried:
    """One period and window, and what came of it: "told apart", "not told apart" or "too large"."""

    period: int
    window: int
    outcome: str


@dataclass(frozen=True)
class Witness:
    """Two words that lead to states which no program tells apart, and how they differ.

    `loop` leads each of the two states back to itself; `then` is accepted from one of them only. For every program there
    are two words, built from these by going round, between which the language tells and the program does not:
    docs/decide.md.
    """

    first: str
    second: str
    loop: str
    then: str


@dataclass(frozen=True)
class Decision:
    """The answer for one language; it prints as a sentence."""

    language: str
    alphabet: tuple[str, ...]
    states: int
    member: bool | None
    certainty: Certainty
    plain: bool
    period: int | None
    window: int | None
    depth: int | None
    program: Program | None
    checked_to: int | None
    witness: Witness | None
    tried: tuple[Tried, ...]
    star_free: bool | None
    dot_depth_one: bool | None
    reason: str
    source: str

    def fields(self) -> dict[str, Any]:
        """The fields that `lengthwise crasp decide --json` prints."""
        found = dict(vars(self))
        witness = self.witness and vars(self.witness)
        return found | {
            "alphabet": list(self.alphabet),
            "program": None if self.program is None else str(self.program),
            "witness": witness and dict(witness),
            "tried": [dict(vars(one)) for one in self.tried],
        }

    def to_json(self) -> str:
        """The fields as one JSON object."""
        return to_json(self.fields())

    def __str__(self) -> str:
        """The answer as a sentence."""
        if self.member:
            kind = _kind(self.period or 1, self.window or 0)
            return f"{self.language} is in C-RASP: {kind}; checked on all words up to length {self.checked_to}."
        if self.member is None:
            return f"{self.language}: not known. {self.reason}"
        return f"{self.language} is not in C-RASP[periodic, local]: {self.reason}"


def decide(
    language: Any,
    alphabet: Any = None,
    *,
    max_period: Any = 6,
    max_window: Any = 3,
    end_marker: bool = False,
    name: str = "decided",
) -> Decision:
    """Decides whether a C-RASP[periodic, local] program accepts a regular language, and writes one.

    language: a regular expression (how it is written: `crasp/regex.py`) or an automaton. A word is accepted by what
    holds at its last symbol; with end_marker a symbol $ comes after the word and acceptance is read there.
    """
    _check_limits(max_period, max_window)
    machine = minimal(language) if isinstance(language, Automaton) else automaton(language, alphabet)
    text = _title(language)
    if end_marker:
        machine, text = marked(machine), f"{text} with an end marker"
    if machine.states > MOST_DECIDED:
        remedy = "decide a part of the language"
        raise WrongInput(f"a minimal automaton of at most {MOST_DECIDED} states", f"{machine.states}", remedy)
    given = _Given(text, machine)
    tried: list[Tried] = []
    search: Search | None = None
    for period, window in annotations(max_period, max_window, len(machine.alphabet)):
        if (period, window) != (1, 0) and search is None:
            search = obstruction(machine)
            if search.found is not None:
                return given.no(search, tried)
        product = annotated(machine, period, window)
        outcome = "too large" if product is None else "told apart" if all_told_apart(product) else "not told apart"
        tried.append(Tried(period, window, outcome))
        if product is not None and outcome == "told apart":
            return given.yes(product, tried, name)
    search = search or obstruction(machine)
    return given.no(search, tried) if search.found is not None else given.unknown(search, tried)


def annotations(max_period: int, max_window: int, letters: int) -> Iterator[tuple[int, int]]:
    """The periods and windows in the order in which they are tried."""
    pairs = [(period, window) for period in range(1, max_period + 1) for window in range(max_window + 1)]
    yield from sorted(pairs, key=lambda pair: (pair[0] * letters ** pair[1], pair))


def marked(machine: Automaton) -> Automaton:
    """The minimal automaton of the words followed by an end marker $."""
    if END in machine.alphabet:
        raise WrongInput(f"an alphabet without the end marker {END}", shown(machine.alphabet), "rename the symbol")
    dead, end = machine.states, machine.states + 1
    rows = [(*row, end if state in machine.accepting else dead) for state, row in enumerate(machine.table)]
    rows += [(dead,) * (len(machine.alphabet) + 1)] * 2
    return minimal(Automaton((*machine.alphabet, END), tuple(rows), machine.start, frozenset([end])))


def _kind(period: int, window: int) -> str:
    parts = [f"period {period}"] * (period > 1) + [f"window {window}"] * (window > 0)
    return "a plain program" if not parts else f"a program with {' and '.join(parts)}"


def _title(language: Any) -> str:
    if isinstance(language, Automaton):
        return f"the language of an automaton with {language.states} states"
    return language if isinstance(language, str) else str(language.text)


def _check_limits(max_period: Any, max_window: Any) -> None:
    for value, least, name in ((max_period, 1, "max_period"), (max_window, 0, "max_window")):
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= 64:
            raise WrongInput(f"a whole number {name} from {least} to 64", shown(value), "give such a number")


def _loop(machine: Automaton, p: int, q: int) -> tuple[int, ...]:
    """A shortest nonempty word that leads each of two states back to itself."""
    came: dict[tuple[int, int], tuple[int, ...]] = {}
    ahead: list[tuple[tuple[int, int], tuple[int, ...]]] = [((p, q), ())]
    for (one, two), word in ahead:
        for symbol, pair in enumerate(zip(machine.table[one], machine.table[two], strict=True)):
            if pair not in came:
                came[pair] = (*word, symbol)
                ahead.append((pair, came[pair]))
    return came[p, q]


@dataclass(frozen=True)
class _Given:
    """A language under decision, and its answers."""

    text: str
    machine: Automaton

    def _decision(self, tried: Sequence[Tried], **answer: Any) -> Decision:
        empty: dict[str, Any] = {
            "period": None,
            "window": None,
            "depth": None,
            "program": None,
            "checked_to": None,
            "witness": None,
        }
        return Decision(
            **empty
            | {
                "language": self.text,
                "alphabet": self.machine.alphabet,
                "states": self.machine.states,
                "plain": any((one.period, one.window, one.outcome) == (1, 0, "told apart") for one in tried),
                "tried": tuple(tried),
                "star_free": star_free(self.machine),
                "dot_depth_one": dot_depth_one(self.machine),
            }
            | answer
        )

    def yes(self, product: Annotated, tried: Sequence[Tried], name: str) -> Decision:
        """There is a program: it is written, and read against the automaton."""
        written = program(product, name)
        assert written is not None, "states that are told apart have a program"
        longest = affordable_length(len(self.machine.alphabet), MOST_CHECKED)
        wrong = disagreement(written, self.machine, longest)
        if wrong is None:
            wrong = disagreement_on_long(written, self.machine, LONG, LONG_WORDS, seed=0)
        assert wrong is None, f"the program and the automaton differ on {wrong}"
        reason = f"the states are told apart by {_kind(product.period, product.window)}"
        return self._decision(
            tried,
            member=True,
            certainty="decided",
            period=product.period,
            window=product.window,
            depth=fragment(written).depth,
            program=written,
            checked_to=longest,
            reason=reason,
            source="the program itself",
        )

    def no(self, search: Search, tried: Sequence[Tried]) -> Decision:
        """No program, with two states that none can tell apart."""
        found, machine = search.found, self.machine
        assert found is not None
        p, q = found.states
        starts = [machine.table[state][found.letter] for state in (p, q)]
        rest = difference(*(replace(machine, start=start) for start in starts))
        assert rest is not None, "states of a minimal automaton differ"
        words = shortest_words(machine)
        loop, then = _loop(machine, p, q), [found.letter, *machine.indices(rest)]
        witness = Witness(*(machine.text(word) for word in (words[p], words[q], loop, then)))
        said = [part or "the empty word" for part in (witness.first, witness.second)]
        reason = (
            f"no program of any period and window tells the states after {said[0]} and after {said[1]} apart, "
            f"and {witness.then} is accepted from one of them only."
        )
        return self._decision(
            tried, member=False, certainty="decided", witness=witness, reason=reason, source=PLAIN_SOURCE
        )

    def unknown(self, search: Search, tried: Sequence[Tried]) -> Decision:
        """Neither a program nor a proof that there is none."""
        large = max(one.period for one in tried), max(one.window for one in tried)
        reason = f"No program with a period up to {large[0]} and a window up to {large[1]}"
        if any(one.outcome == "too large" for one in tried):
            reason += " (the largest were not tried)"
        if search.complete:
            length = search.length or 1
            reason += (
                f"; nothing excludes one with a larger window or period (worth trying: periods that divide {length})."
            )
        else:
            reason += "; whether a larger period or window helps was too large to compute."
        return self._decision(tried, member=None, certainty="unknown", reason=reason, source="the search itself")
