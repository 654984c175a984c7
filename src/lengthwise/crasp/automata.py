"""Finite automata: deterministic, complete, as a table; from regular expressions, and minimal.

States are numbered from 0. `minimal` numbers them in the order in which a breadth-first search from the start first
meets them, so two minimal automata over one alphabet accept the same words exactly when they are equal as records.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from lengthwise.crasp.regex import Expression, parse
from lengthwise.errors import WrongInput, nearest, shown
from lengthwise.strings import split_text

MOST_STATES = 5_000

Word = Any  # text, cut at blanks if it has any, or a list of symbols


@dataclass(frozen=True)
class Automaton:
    """A complete deterministic automaton: table[state][symbol] is the next state."""

    __no_type_check__ = True  # for the tests' type checker: __post_init__ checks, with errors for people

    alphabet: tuple[str, ...]
    table: tuple[tuple[int, ...], ...]
    start: int
    accepting: frozenset[int]

    def __post_init__(self) -> None:
        """Checks that every state has a next state for every symbol."""
        count, symbols = len(self.table), len(self.alphabet)
        if not count:
            raise WrongInput("at least one state", "an empty table", "write one row a state", "table")
        for state, row in enumerate(self.table):
            if len(row) != symbols:
                wanted = f"one next state for each of the {symbols} symbols"
                raise WrongInput(wanted, f"{len(row)}", "add or drop entries", f"table, row {state}")
            for target in row:
                _check_state(target, count, f"table, row {state}")
        _check_state(self.start, count, "start")
        for state in self.accepting:
            _check_state(state, count, "accepting")

    @property
    def states(self) -> int:
        """How many states there are."""
        return len(self.table)

    def after(self, word: Word, state: int | None = None) -> int:
        """The state after a word, from the start or from a given state."""
        here = self.start if state is None else state
        for symbol in self.indices(word):
            here = self.table[here][symbol]
        return here

    def accepts(self, word: Word) -> bool:
        """Whether a word is in the language."""
        return self.after(word) in self.accepting

    def indices(self, word: Word) -> list[int]:
        """A word as indices into the alphabet."""
        known = {symbol: index for index, symbol in enumerate(self.alphabet)}
        symbols = split_text(word, self.alphabet) if isinstance(word, str) else list(word)
        try:
            return [known[symbol] for symbol in symbols]
        except (KeyError, TypeError):
            at, bad = next((i, s) for i, s in enumerate(symbols, start=1) if not isinstance(s, str) or s not in known)
            near = " or ".join(map(repr, nearest(str(bad), list(known))))
            raise WrongInput("a symbol of the alphabet", shown(bad), f"nearest: {near}", f"position {at}") from None

    def text(self, word: Sequence[int]) -> str:
        """Indices as text that `indices` reads back; the empty word is the empty text."""
        glue = "" if all(len(symbol) == 1 for symbol in self.alphabet) else " "
        return glue.join(self.alphabet[symbol] for symbol in word)


def _check_state(state: object, count: int, where: str) -> None:
    if isinstance(state, bool) or not isinstance(state, int) or not 0 <= state < count:
        raise WrongInput(f"a state from 0 to {count - 1}", shown(state), "states are numbered by their rows", where)


def automaton(expression: Any, alphabet: Any = None) -> Automaton:
    """The minimal automaton of a regular expression; see `crasp/regex.py` for how one is written."""
    parsed = parse(expression, alphabet) if not isinstance(expression, Expression) else expression
    return minimal(_determinised(parsed))


def _determinised(expression: Expression) -> Automaton:
    """The automaton of an expression, by sets of positions.

    A position is an occurrence of a symbol. After a word the automaton knows the positions that its last symbol may be
    read at; position 0 stands for the start. Sets are bits of an integer.

    Source: Glushkov 1961; the subset construction of Rabin and Scott 1959.
    """
    symbol_of, follow, last, nullable = _positions(expression)
    readable = [0] * len(expression.alphabet)  # per symbol, the positions that read it
    for position, symbols in enumerate(symbol_of, start=1):
        for symbol in symbols:
            readable[symbol] |= 1 << position
    ends = last | int(nullable)  # bit 0: the empty word
    numbers, table = {1: 0}, list[tuple[int, ...]]()
    for here in (ahead := [1]):
        reach = 0
        for position in _bits(here):
            reach |= follow[position]
        row = []
        for positions in readable:
            target = reach & positions
            if target not in numbers:
                if len(numbers) == MOST_STATES:
                    wanted = f"an expression whose automaton has at most {MOST_STATES} states"
                    raise WrongInput(wanted, "more", "simplify it; (a|b){n} after a choice costs 2^n states")
                numbers[target] = len(numbers)
                ahead.append(target)
            row.append(numbers[target])
        table.append(tuple(row))
    accepting = frozenset(number for positions, number in numbers.items() if positions & ends)
    return Automaton(expression.alphabet, tuple(table), 0, accepting)


def _positions(expression: Expression) -> tuple[list[frozenset[int]], list[int], int, bool]:
    """Per position its symbols, per position (with 0) those that may follow, those that may end, and whether none may."""
    symbol_of: list[frozenset[int]] = []
    follow = [0]
    stack: list[tuple[bool, int, int]] = []  # nullable, first positions, last positions
    for step in expression.steps:
        if not isinstance(step, str):
            symbol_of.append(expression.chosen(step))
            follow.append(0)
            one = 1 << len(symbol_of)
            stack.append((False, one, one))
        elif step == "empty":
            stack.append((True, 0, 0))
        elif step in ("then", "or"):
            right, left = stack.pop(), stack.pop()
            if step == "then":
                for position in _bits(left[2]):
                    follow[position] |= right[1]
                first = left[1] | (right[1] if left[0] else 0)
                last = right[2] | (left[2] if right[0] else 0)
                stack.append((left[0] and right[0], first, last))
            else:
                stack.append((left[0] or right[0], left[1] | right[1], left[2] | right[2]))
        else:
            nullable, first, last = stack.pop()
            if step != "option":
                for position in _bits(last):
                    follow[position] |= first
            stack.append((nullable or step != "plus", first, last))
    nullable, first, last = stack.pop()
    follow[0] = first
    return symbol_of, follow, last, nullable


def _bits(number: int) -> Iterator[int]:
    while number:
        low = number & -number
        yield low.bit_length() - 1
        number ^= low


def minimal(machine: Automaton) -> Automaton:
    """The automaton with fewest states for the same language: unreachable states dropped, equal ones merged.

    Source: Hopcroft 1971, splitting by the smaller half.
    """
    machine = _renumbered(machine, list(range(machine.states)))
    count, symbols = machine.states, range(len(machine.alphabet))
    before: list[list[list[int]]] = [[[] for _ in range(count)] for _ in symbols]
    for state, row in enumerate(machine.table):
        for symbol, target in enumerate(row):
            before[symbol][target].append(state)
    inside = set(machine.accepting)
    blocks = [block for block in (inside, set(range(count)) - inside) if block]
    block_of = [0] * count
    for number, block in enumerate(blocks):
        for state in block:
            block_of[state] = number
    waiting = {(number, symbol) for number in range(len(blocks)) for symbol in symbols}
    while waiting:
        number, symbol = waiting.pop()
        touched: dict[int, set[int]] = {}
        for target in tuple(blocks[number]):
            for state in before[symbol][target]:
                touched.setdefault(block_of[state], set()).add(state)
        for split, part in touched.items():
            if len(part) == len(blocks[split]):
                continue
            blocks[split] -= part
            new = len(blocks)
            blocks.append(part)
            for state in part:
                block_of[state] = new
            for other in symbols:
                small = new if (split, other) in waiting or len(part) <= len(blocks[split]) else split
                waiting.add((small, other))
    return _renumbered(machine, block_of)


def _renumbered(machine: Automaton, block_of: list[int]) -> Automaton:
    """One state for each block of states that can be reached, in breadth-first order from the start."""
    order, table, found = [machine.start], list[tuple[int, ...]](), {block_of[machine.start]: 0}
    for state in order:
        row = []
        for target in machine.table[state]:
            if block_of[target] not in found:
                found[block_of[target]] = len(order)
                order.append(target)
            row.append(found[block_of[target]])
        table.append(tuple(row))
    accepting = frozenset(number for number, state in enumerate(order) if state in machine.accepting)
    return Automaton(machine.alphabet, tuple(table), 0, accepting)
