"""Regular languages a second time: expressions as trees, derivatives, minimal sizes and random automata, by definition."""

import itertools
import random

from lengthwise.crasp.automata import Automaton, automaton, minimal

# A tree is ("none",), ("empty",), ("symbol", a), ("then", x, y), ("or", x, y), ("star", x).


def random_tree(rng, symbols, size):
    if size <= 1:
        return ("symbol", rng.choice(symbols)) if rng.random() < 0.9 else ("empty",)
    kind = rng.choice(["then", "then", "or", "or", "star"])
    if kind == "star":
        return ("star", random_tree(rng, symbols, size - 1))
    left = rng.randint(1, size - 1)
    return (kind, random_tree(rng, symbols, left), random_tree(rng, symbols, size - left))


def text(tree):
    match tree:
        case ("empty",):
            return "()"
        case ("symbol", a):
            return a
        case ("then", x, y):
            return f"({text(x)})({text(y)})"
        case ("or", x, y):
            return f"({text(x)}|{text(y)})"
        case ("star", x):
            return f"({text(x)})*"
    raise ValueError(tree)


def nullable(tree):
    match tree:
        case ("empty",) | ("star", _):
            return True
        case ("then", x, y):
            return nullable(x) and nullable(y)
        case ("union", parts):
            return any(map(nullable, parts))
        case ("or", x, y):
            return nullable(x) or nullable(y)
    return False


def union(*trees):
    """Unions up to order and repetition, so that there are finitely many derivatives."""
    parts = set()
    for tree in trees:
        if tree[0] == "union":
            parts |= tree[1]
        elif tree != ("none",):
            parts.add(tree)
    if not parts:
        return ("none",)
    return next(iter(parts)) if len(parts) == 1 else ("union", frozenset(parts))


def then(x, y):
    if ("none",) in (x, y):
        return ("none",)
    return y if x == ("empty",) else x if y == ("empty",) else ("then", x, y)


def derivative(tree, a):
    match tree:
        case ("symbol", b):
            return ("empty",) if a == b else ("none",)
        case ("then", x, y):
            first = then(derivative(x, a), y)
            return union(first, derivative(y, a)) if nullable(x) else first
        case ("or", x, y):
            return union(derivative(x, a), derivative(y, a))
        case ("union", parts):
            return union(*(derivative(part, a) for part in parts))
        case ("star", x):
            return then(derivative(x, a), tree)
    return ("none",)


def derivative_automaton(tree, alphabet, most=500):
    """Brzozowski's automaton: states are derivatives. None where there are too many."""
    numbers, table, ahead = {tree: 0}, [], [tree]
    for here in ahead:
        row = []
        for a in alphabet:
            after = derivative(here, a)
            if after not in numbers:
                if len(numbers) == most:
                    return None
                numbers[after] = len(numbers)
                ahead.append(after)
            row.append(numbers[after])
        table.append(tuple(row))
    good = frozenset(number for here, number in numbers.items() if nullable(here))
    return Automaton(tuple(alphabet), tuple(table), 0, good)


def classes(machine):
    """How many states of a reachable automaton differ: Moore's refinement, naively, over reachable states."""
    reached, ahead = {machine.start}, [machine.start]
    for state in ahead:
        for target in machine.table[state]:
            if target not in reached:
                reached.add(target)
                ahead.append(target)
    label = {state: state in machine.accepting for state in reached}
    while True:
        finer = {state: (label[state], *(label[t] for t in machine.table[state])) for state in reached}
        if len(set(finer.values())) == len(set(label.values())):
            return len(set(label.values()))
        label = finer


def all_words(alphabet, longest):
    for length in range(longest + 1):
        yield from itertools.product(alphabet, repeat=length)


def random_automaton(seed, states=(2, 4), symbols="ab"):
    rng = random.Random(seed)
    count = rng.randint(*states)
    table = tuple(tuple(rng.randrange(count) for _ in symbols) for _ in range(count))
    return Automaton(tuple(symbols), table, 0, frozenset(q for q in range(count) if rng.random() < 0.5))


def bounded_depth(depth):
    """(a D_(n-1) b)*, nested: D_n of Huang et al. 2025."""
    inside = ""
    for _ in range(depth):
        inside = f"(a{inside}b)*"
    return inside


def tomita3(word):
    """No odd run of 0 directly after an odd run of 1."""
    runs = [(symbol, len(list(run))) for symbol, run in itertools.groupby(word)]
    return not any(a == ("1", n) and n % 2 and m % 2 for a, (_, m) in itertools.pairwise(runs) for n in [a[1]])


TOMITA3 = Automaton(("0", "1"), ((4, 1), (2, 0), (3, 5), (2, 1), (4, 1), (5, 5)), 0, frozenset([0, 1, 3, 4]))
TOMITA5 = Automaton(("0", "1"), ((1, 2), (0, 3), (3, 0), (2, 1)), 0, frozenset([0]))
TOMITA6 = Automaton(("0", "1"), ((1, 2), (2, 0), (0, 1)), 0, frozenset([0]))

# The 17 formal languages of Huang et al. 2025, and Parity: the language, its alphabet, and whether a plain program and
# whether a periodic and local one does it, as the paper's tables say.
SUITE = {
    "tomita1": ("1*", "01", True, True),
    "tomita2": ("(10)*", "01", True, True),
    "tomita3": (TOMITA3, "01", False, False),
    "tomita4": ("(1|01|001)*(0|00)?", "01", False, True),
    "tomita5": (TOMITA5, "01", False, False),
    "tomita6": (TOMITA6, "01", False, False),
    "tomita7": ("0*1*0*1*", "01", True, True),
    "D_2": (bounded_depth(2), "ab", True, True),
    "D_3": (bounded_depth(3), "ab", True, True),
    "D_4": (bounded_depth(4), "ab", True, True),
    "D_12": (bounded_depth(12), "ab", True, True),
    "(aa)*": ("(aa)*", "a", False, True),
    "(aaaa)*": ("(aaaa)*", "a", False, True),
    "(abab)*": ("(abab)*", "ab", False, True),
    "aa*bb*cc*dd*ee*": ("aa*bb*cc*dd*ee*", "abcde", True, True),
    "{a,b}*d{b,c}*": ("[ab]*d[bc]*", "abcd", True, True),
    "{0,1,2}*02*": ("[012]*02*", "012", False, False),
    "parity": ("(0*10*1)*0*", "01", False, False),
}


def suite_automaton(name):
    language, alphabet, _, _ = SUITE[name]
    return minimal(language) if isinstance(language, Automaton) else automaton(language, alphabet)
