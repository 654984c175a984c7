"""The minimal automaton of a function on words with finitely many states.

A positive program is such a function: its forms are clipped, so its states are finite, and agreement up to 2n - 2 pins
its language down among all automata with at most as many states n as its minimal one.

Source: programs note, section 2.
"""

from lengthwise.crasp.automata import Automaton, minimal
from lengthwise.verdict.machine import Machine, State

MOST_STATES = 20_000


def explored(machine: Machine, most_states: int = MOST_STATES) -> Automaton | None:
    """The minimal automaton of the words on which a machine's value is true; None where it has too many states."""
    start = machine.start()
    numbers: dict[State, int] = {start: 0}
    order, table = [start], list[tuple[int, ...]]()
    for state in order:
        row = []
        for symbol in range(len(machine.alphabet)):
            after = machine.step(state, symbol)
            if after not in numbers:
                if len(numbers) == most_states:
                    return None
                numbers[after] = len(numbers)
                order.append(after)
            row.append(numbers[after])
        table.append(tuple(row))
    accepting = frozenset(number for state, number in numbers.items() if machine.output(state))
    return minimal(Automaton(machine.alphabet, tuple(table), 0, accepting))
