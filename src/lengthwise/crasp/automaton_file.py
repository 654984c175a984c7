"""Automata in files: a JSON object with four entries.

    {"alphabet": ["a", "b"], "start": 0, "accepting": [0], "table": [[1, 0], [0, 2], [2, 2]]}

table has a row for each state, and in it the next state for each symbol, in the order of the alphabet. States are the
numbers of their rows, from 0. Every state needs all its entries: give a word that is lost a state of its own.
"""

import json
from typing import Any

from lengthwise.crasp.automata import Automaton
from lengthwise.crasp.syntax import check_alphabet
from lengthwise.errors import WrongInput, shown

KEYS = {"alphabet", "start", "accepting", "table"}


def read_automaton(text: bytes, source: str) -> Automaton:
    """The automaton in a JSON text."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise WrongInput("JSON", shown(str(error)), "fix the text", source) from None
    try:
        if not isinstance(found, dict) or set(found) != KEYS:
            raise WrongInput(f"an object with the keys {', '.join(sorted(KEYS))}", shown(found), "give these four")
        alphabet = check_alphabet(found["alphabet"])
        table = tuple(tuple(_listed(row, "table")) for row in _listed(found["table"], "table"))
        accepting = _listed(found["accepting"], "accepting")
        if not all(isinstance(state, int) for state in accepting):
            raise WrongInput("a list of states", shown(accepting), "states are whole numbers", "accepting")
        return Automaton(alphabet, table, found["start"], frozenset(accepting))
    except WrongInput as error:
        raise error.at(source) from None


def _listed(value: Any, where: str) -> list[Any]:
    if not isinstance(value, list):
        raise WrongInput("a list", shown(value), "write [ ... ]", where)
    return value
