"""Deciding regular languages: `python benchmarks/decide.py [--write]`.

The rival of the linear systems is the definition, as the public decider computes it: all simple cycles of a component,
each an equation. The cycles alone are listed here, which is what its time goes into.
"""

import argparse
import time

import numpy as np
from _stored import store

from lengthwise.crasp.automata import Automaton, automaton
from lengthwise.crasp.languages import combined
from lengthwise.crasp.regular import decide
from lengthwise.crasp.separation import levels


def seconds(function, repeats=5):
    """The best of several runs, after one to warm up."""
    function()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return min(times)


def cycles(moves, count):
    """How many simple cycles there are, each found from its least state."""
    after = [[t for s, _, t in moves if s == state] for state in range(count)]

    def from_(start, here, seen):
        found = 0
        for t in after[here]:
            if t == start:
                found += 1
            elif t > start and t not in seen:
                found += from_(start, t, seen | {t})
        return found

    return sum(from_(start, start, frozenset([start])) for start in range(count))


def against_cycles(count):
    """One component: forward by a, back by b, two forward by c; all on a ring."""
    moves = [(s, letter, (s + step) % count) for s in range(count) for letter, step in enumerate((1, -1, 2))]
    ours = seconds(lambda: levels([0] * count, moves))
    start = time.perf_counter()
    listed = cycles(moves, count)
    return {
        "what": f"classes of a ring of {count} states, 3 letters",
        "ours_seconds": ours,
        "simple cycles": listed,
        "listing_seconds": (rival := time.perf_counter() - start),
        "ratio": rival / ours,
    }


def whole_decisions():
    """Decisions from the expression or automaton to the checked program."""
    twelve = combined(automaton("(1|01|001)*(0|00)?"), automaton("(....)*", "01"), lambda a, b: a and b)
    depth = "".join("(a" for _ in range(12)) + "".join("b)*" for _ in range(12))
    rng = np.random.default_rng(3)
    table = tuple(tuple(int(t) for t in rng.integers(0, 12, 2)) for _ in range(12))
    cases = {
        "no 000 and length a multiple of 4: 12 live states, period 4, window 2": twelve,
        "(aa|b)*: period 2": "(aa|b)*",
        "brackets of depth 12: plain": depth,
        "[012]*02*: no": "[012]*02*",
        "a random automaton of 12 states": Automaton(("a", "b"), table, 0, frozenset(range(0, 12, 2))),
    }
    for what, language in cases.items():
        decision = decide(language)
        said = {True: "yes", False: "no", None: "not known"}[decision.member]
        yield {"what": what, "ours_seconds": seconds(lambda language=language: decide(language), 3), "answer": said}


def main():
    """Prints the rows; with --write also keeps them."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--write", action="store_true", help="keep the results for the page of benchmarks")
    write = arguments.parse_args().write
    rows = []
    for row in [*whole_decisions(), *(against_cycles(count) for count in (8, 12, 16, 20))]:
        print(
            "  ".join(
                f"{name} {value:.3g}" if isinstance(value, float) else f"{name} {value}" for name, value in row.items()
            )
        )
        rows.append(row)
    if write:
        store("decide", "deciding regular languages", rows)


if __name__ == "__main__":
    main()
