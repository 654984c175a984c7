"""Functions on words as machines that read one symbol at a time: equal states have equal futures."""

import math
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from lengthwise.crasp.automata import Automaton
from lengthwise.crasp.operations import (
    AllOf,
    AnyOf,
    AtLeastZero,
    Constant,
    InResidues,
    Operations,
    Opposite,
    RecentTally,
    SymbolIs,
    Tally,
    operations,
)
from lengthwise.crasp.syntax import Program
from lengthwise.errors import WrongInput, shown
from lengthwise.verdict.forms import Test, forms_of, lookback_of

State = Hashable
Output = Hashable
Word = tuple[int, ...]


@runtime_checkable  # isinstance: for the shape checks of the tests
class Machine(Protocol):
    """A function on words, read symbol by symbol; symbols are indices into the alphabet."""

    @property
    def alphabet(self) -> tuple[str, ...]:
        """The symbols."""

    def start(self) -> State:
        """The state before the first symbol."""

    def step(self, state: State, symbol: int) -> State:
        """The state after one more symbol."""

    def output(self, state: State) -> Output:
        """The function's value on the word that was read."""


@dataclass(frozen=True)
class AutomatonMachine:
    """An automaton; the value is whether the word is accepted."""

    automaton: Automaton

    @property
    def alphabet(self) -> tuple[str, ...]:
        """The symbols."""
        return self.automaton.alphabet

    def start(self) -> State:
        """The start state."""
        return self.automaton.start

    def step(self, state: State, symbol: int) -> State:
        """One row of the table."""
        return self.automaton.table[state][symbol]  # type: ignore[call-overload,no-any-return]

    def output(self, state: State) -> Output:
        """Whether the state accepts."""
        return state in self.automaton.accepting


@dataclass(frozen=True)
class OracleMachine:
    """Any function on words; nothing is known of it, so its states are the words themselves."""

    alphabet: tuple[str, ...]
    function: Callable[[str | list[str]], Any]

    def start(self) -> State:
        """The empty word."""
        return ()

    def step(self, state: State, symbol: int) -> State:
        """The longer word."""
        return (*state, symbol)  # type: ignore[misc]

    def output(self, state: State) -> Output:
        """The function's value; what goes wrong in it is told with the word."""
        word = self.word(state)  # type: ignore[arg-type]
        try:
            value = self.function(word)
            hash(value)
        except (Exception, SystemExit) as error:
            got = f"{type(error).__name__}: {error}"
            raise WrongInput(
                "a function of words that answers", got, "mend the function", f"word {shown(word)}"
            ) from None
        if value is None or value != value:  # a number that is not itself would differ at every word
            raise WrongInput("an answer", str(value), "return True, False or an output", f"word {shown(word)}")
        return value  # type: ignore[no-any-return]

    def word(self, symbols: Iterable[int]) -> str | list[str]:
        """The word as the function takes it: text where all symbols are single characters."""
        spelt = [self.alphabet[symbol] for symbol in symbols]
        return "".join(spelt) if all(len(symbol) == 1 for symbol in self.alphabet) else spelt


class ProgramMachine:
    """A C-RASP program. A state is the values of its forms, the bits it looks back at, and the position's residue.

    Forms, not tallies, are kept, and forms that never decrease only up to their cap, so that as many words as possible
    share a state. Source: programs note, sections 3.1 and 4.1.
    """

    def __init__(self, program: Program, everything: bool = False) -> None:
        """The value is whether the word is accepted; with `everything`, or without `accept`, all Boolean outputs too."""
        self.program = program
        self.operations: Operations = operations(program)
        accept, outputs = self.operations.accept, tuple(self.operations.outputs.values())
        self.roots = outputs if accept is None else (accept, *outputs) if everything else (accept,)
        if not self.roots:
            raise WrongInput(
                "a program with a Boolean that is shown", "none", "add `accept` or an `output`", program.name
            )
        self.needed = self.operations.needed(self.roots)
        self.forms, self.tests = forms_of(self.operations, self.needed)
        self.lookback = lookback_of(self.operations, self.needed)
        listed = self.operations.list
        self.modulus = math.lcm(1, *(op.period for i in self.needed if isinstance(op := listed[i], InResidues)))
        self._cache: dict[tuple[State, int], State] = {}

    @property
    def alphabet(self) -> tuple[str, ...]:
        """The symbols."""
        return self.operations.alphabet

    def start(self) -> State:
        """Position 0: no symbol, all counts 0."""
        values = [0] * len(self.forms)
        bits: list[tuple[bool, ...]] = [(False,) * reach for _, reach in self.lookback]
        truth = self._truth(None, 0, values, bits)
        return (tuple(values), tuple(bits), 0, self._labels(truth))

    def step(self, state: State, symbol: int) -> State:
        """One more symbol; a step that was made before is looked up."""
        if (state, symbol) not in self._cache:
            self._cache[state, symbol] = self._stepped(state, symbol)
        return self._cache[state, symbol]

    def output(self, state: State) -> Output:
        """A truth value; of several, accept first and then the outputs in their order."""
        labels = state[3]  # type: ignore[index]
        return labels if len(labels) > 1 else labels[0]  # type: ignore[no-any-return]

    def _stepped(self, state: Any, symbol: int) -> State:
        values, bits, position, _ = state
        values = list(values)
        truth = self._truth(symbol, position + 1, values, bits)
        after = tuple(
            (truth[index], *old[: reach - 1]) if reach else ()
            for (index, reach), old in zip(self.lookback, bits, strict=True)
        )
        kept = tuple(v if form.cap is None else min(v, form.cap) for v, form in zip(values, self.forms, strict=True))
        return (kept, after, (position + 1) % self.modulus, self._labels(truth))

    def _labels(self, truth: dict[int, bool]) -> tuple[bool, ...]:
        return tuple(truth[root] for root in self.roots)

    def _truth(
        self, symbol: int | None, position: int, values: list[int], bits: Iterable[tuple[bool, ...]]
    ) -> dict[int, bool]:
        """All Booleans at a new position; `values` are brought up to date on the way, as tests ask for them."""
        found: dict[int, bool] = {}
        before = {index: old for (index, _), old in zip(self.lookback, bits, strict=True)}
        updated: set[int] = set()
        for index in self.needed:
            match self.operations.list[index]:
                case SymbolIs(wanted):
                    found[index] = symbol == wanted
                case InResidues(period, residues):
                    found[index] = position % period in residues
                case Constant(value):
                    found[index] = value
                case Opposite(one):
                    found[index] = not found[one]
                case AllOf(several):
                    found[index] = all(found[one] for one in several)
                case AnyOf(several):
                    found[index] = any(found[one] for one in several)
                case AtLeastZero():
                    found[index] = self._holds(self.tests[index], symbol, values, updated, found, before)
                case Tally() | RecentTally():
                    pass
        if symbol is not None:
            for number in range(len(self.forms)):
                self._update(number, values, updated, found)
        return found

    def _holds(
        self,
        test: Test,
        symbol: int | None,
        values: list[int],
        updated: set[int],
        found: dict[int, bool],
        before: dict[int, tuple[bool, ...]],
    ) -> bool:
        total = test.constant
        if test.form is not None:
            if symbol is not None:
                self._update(test.form, values, updated, found)
            total += test.factor * values[test.form]
        for coefficient, index in test.recent:
            recent = self.operations.list[index]
            assert isinstance(recent, RecentTally)
            old = before.get(recent.input, ())
            held = (
                found[recent.input] and symbol is not None if not offset else old[offset - 1]
                for offset in recent.offsets
            )
            total += coefficient * sum(held)
        return total >= 0

    def _update(self, number: int, values: list[int], updated: set[int], found: dict[int, bool]) -> None:
        """Adds what this position adds to a form, once."""
        if number not in updated:
            updated.add(number)
            values[number] += sum(coefficient for coefficient, index in self.forms[number].terms if found[index])


def machine_of(what: Program | Automaton | Machine, everything: bool = False) -> Machine:
    """The machine of a program or an automaton; a machine is its own."""
    if isinstance(what, Program):
        return ProgramMachine(what, everything)
    return AutomatonMachine(what) if isinstance(what, Automaton) else what
