"""Random programs of every construct, nested, named and shared; small constants, so that comparisons go both ways."""

import random

from lengthwise.crasp.syntax import (
    And,
    Boolean,
    Compare,
    Count,
    Definition,
    If,
    Minus,
    Negative,
    Not,
    Number,
    Or,
    Phi,
    Plus,
    Program,
    Sym,
    Times,
    Truth,
)

RELATIONS = [">=", "<=", "<", ">", "==", "!="]


def random_program(seed, symbols="ab", lets=3, shown=2, depth=3, periodic=True, local=True, quantities=False, ifs=True):
    """A program with some lets and outputs and an accept; the same seed and sizes give the same program.

    Outputs are Boolean; with `quantities` some are not.
    """
    source = _Source(random.Random(f"{seed} {symbols}"), symbols, periodic, local, ifs)
    definitions = []
    for index in range(lets + shown):
        kind = "let" if index < lets else "output"
        counted = source.rng.random() < 0.5 and (kind == "let" or quantities)
        body = source.quantity(depth) if counted else source.boolean(depth)
        definitions.append(Definition(kind, f"x{index}", body))
        source.names.append(definitions[-1].reference)
    return Program(f"random{seed}", tuple(symbols), tuple(definitions), source.boolean(depth))


class _Source:
    """Draws expressions; `names` are the references they may use."""

    def __init__(self, rng, symbols, periodic, local, ifs):
        self.rng, self.symbols = rng, symbols
        self.periodic, self.local, self.ifs = periodic, local, ifs
        self.names = []

    def _name(self, kind):
        found = [name for name in self.names if isinstance(name, Boolean) == (kind is Boolean)]
        return self.rng.choice(found) if found else None

    def boolean(self, depth):
        """A random Boolean of at most that height."""
        rng = self.rng
        if depth <= 0 or rng.random() < 0.1:
            return self._leaf()
        kind = rng.choice(["and", "or", "not", "compare", "compare", "compare"])
        if kind == "and":
            return And(self.boolean(depth - 1), self.boolean(depth - 1))
        if kind == "or":
            return Or(self.boolean(depth - 1), self.boolean(depth - 1))
        if kind == "not":
            return Not(self.boolean(depth - 1))
        right = Number(rng.randint(-2, 3)) if rng.random() < 0.6 else self.quantity(depth - 1)
        return Compare(self.quantity(depth - 1), rng.choice(RELATIONS), right)

    def _leaf(self):
        rng = self.rng
        if self.periodic and rng.random() < 0.2:
            period = rng.randint(1, 4)
            return Phi(period, tuple(r for r in range(period) if rng.random() < 0.5))
        if rng.random() < 0.3 and self._name(Boolean) is not None:
            return self._name(Boolean)
        if rng.random() < 0.05:
            return Truth(rng.random() < 0.5)
        return Sym(rng.choice(self.symbols))

    def quantity(self, depth):
        """A random quantity of at most that height."""
        rng = self.rng
        if depth <= 0 or rng.random() < 0.3:
            named = self._name(int)
            if named is not None and rng.random() < 0.4:
                return named
            return Number(rng.randint(-3, 3)) if rng.random() < 0.2 else Count(self._leaf(), self._back())
        kind = rng.choice(["count", "count", "count", "plus", "minus", "times", "negative"] + ["if"] * self.ifs)
        if kind == "count":
            return Count(self.boolean(depth - 1), self._back())
        if kind == "plus":
            return Plus(self.quantity(depth - 1), self.quantity(depth - 1))
        if kind == "minus":
            return Minus(self.quantity(depth - 1), self.quantity(depth - 1))
        if kind == "times":
            return Times(rng.randint(-3, 3), self.quantity(depth - 1))
        if kind == "negative":
            return Negative(self.quantity(depth - 1))
        return If(self.boolean(depth - 1), self.quantity(depth - 1), self.quantity(depth - 1))

    def _back(self):
        if not self.local or self.rng.random() < 0.6:
            return None
        return tuple(sorted(self.rng.sample(range(4), self.rng.randint(1, 3))))
