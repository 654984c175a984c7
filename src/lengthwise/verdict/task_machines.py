"""Tasks with long outputs as machines: the token that comes next, so that their communication can be counted."""

from dataclasses import dataclass
from typing import Any

from lengthwise.verdict.machine import Output, State

LOST = ("lost", "", "")


@dataclass(frozen=True)
class CopyRepeat:
    """The next token of `w S w E`, w over a and b with repeats; ? where a word has left the format.

    A state is what is still to come: the input so far, then what is left of it.
    """

    alphabet: tuple[str, ...] = ("a", "b", "S")

    def start(self) -> State:
        """Nothing was read."""
        return ("input", ())

    def step(self, state: Any, symbol: int) -> State:
        """One more symbol of the input, or of its copy."""
        phase, word = state
        if phase == "input":
            return ("copy", word) if symbol == 2 else ("input", (*word, symbol))
        if phase == "copy" and word and symbol == word[0]:
            return ("copy", word[1:])
        return ("lost", ())

    def output(self, state: Any) -> Output:
        """The token that comes next; nothing while the input is read."""
        phase, word = state
        if phase == "copy":
            return self.alphabet[word[0]] if word else "E"
        return "?" if phase == "lost" else ""


@dataclass(frozen=True)
class Addition:
    """The next token of `u+v=s E` in binary, most significant digit first; ? where a word has left the format.

    A state is the first operand, the second so far, then the digits that are left of the sum.
    """

    alphabet: tuple[str, ...] = ("0", "1", "+", "=")

    def start(self) -> State:
        """Nothing was read."""
        return ("first", "", "")

    def step(self, state: Any, symbol: int) -> State:
        """One more symbol of an operand, or of the sum."""
        phase, one, two = state
        token = self.alphabet[symbol]
        if phase == "first":
            return ("first", one + token, "") if symbol < 2 else ("second", one, "") if token == "+" and one else LOST
        if phase == "second":
            if symbol < 2:
                return ("second", one, two + token)
            return ("sum", format(int(one, 2) + int(two, 2), "b"), "") if token == "=" and two else LOST
        return ("sum", one[1:], "") if phase == "sum" and one and token == one[0] else LOST

    def output(self, state: Any) -> Output:
        """The token that comes next; nothing while the operands are read."""
        phase, one, _ = state
        if phase == "sum":
            return one[0] if one else "E"
        return "?" if phase == "lost" else ""
