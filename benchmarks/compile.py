"""What compiled programs cost and up to where they are right, in one run: `python benchmarks/compile.py [--write]`.

The rival is tracr, the best-known compiler of programs to transformers. It is on no package index and is not run here:
its figures were measured beforehand on another two-core CPU (tracr at 9ce2b8c8, JAX 0.10.2, defaults) and are labelled so;
their ratio to ours is between two machines. Its models are made for one largest length, which the row names; ours are
not, so the same row says what ours needs at every length and up to which the ledger promises float32 to be right.
"""

import argparse
import statistics
import time

import numpy as np
from _stored import store

import lengthwise as lw
from lengthwise.crasp.compiled import compile
from lengthwise.crasp.ledger import EVALUATORS
from lengthwise.crasp.library import library
from lengthwise.crasp.parse import parse

LENGTH = "program length alphabet 'a' 'b' accept count(true) == 11 output more := count(true) > 11"
TRACR = [  # what, our program, tracr's: seconds, weights, first wrong length (measured beforehand)
    ("length, tracr made for 10", LENGTH, 3.0, None, 11),
    ("length, tracr made for 80", LENGTH, 2.2, None, 11),
    ("histogram, tracr made for 40", "histogram3", None, None, 40),
    ("shuffle-Dyck of two brackets, tracr made for 20", "shuffle_dyck2", 3.4, 5_270_000, None),
    ("most frequent of 4 letters", "majority4", None, None, None),
    ("most frequent of 26 letters", "majority26", None, None, None),
]


def seconds(function, repeats=5):
    """The best of several runs, after one to warm up."""
    function()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return min(times)


def weights(compiled):
    return compiled.to_json()["weights"]


def against_tracr():
    rows = []
    for what, source, rival, rival_weights, rival_wrong in TRACR:
        program = parse(source) if source.startswith("program") else library()[source]
        compiled = compile(program)
        ours = seconds(lambda program=program: compile(program))
        row = {
            "what": f"compile {what}",
            "ours": ours,
            "unit": "s",
            "wanted": "< 0.05",
            "our weights": weights(compiled),
        }
        row["ours right up to, float32"] = compiled.ledger.length(24)
        if (rival, rival_weights, rival_wrong) != (None, None, None):
            row |= {"rival_name": "tracr, measured beforehand", "rival": rival, "rival weights": rival_weights}
            row["rival first wrong at"] = rival_wrong
        if rival is not None:
            row["ratio"] = rival / ours
        rows.append(row)
    return rows


def whole_library():
    """Compiling every library program; the size of a model does not depend on a length."""
    times = {name: seconds(lambda name=name: compile(library()[name]), 3) for name in library()}
    slowest = max(times, key=times.__getitem__)
    return [
        {"what": f"compile, the slowest of {len(times)} library programs ({slowest})", "ours": times[slowest], "unit": "s", "wanted": "< 0.05"},
        {"what": "compile, the median library program", "ours": statistics.median(times.values()), "unit": "s", "wanted": "< 0.05"},
    ]  # fmt: skip


def a_million_symbols():
    """Running compiled models, all outputs at the last position; ten times the length costs ten times the time."""
    rows = []
    for name in ("majority", "dyck1", "tomita4", "three_blocks", "copy_unique5"):
        program = library()[name]
        model = compile(program).model
        rng = np.random.default_rng(0)
        tokens = np.concatenate([[0], rng.integers(1, model.symbols, size=10**6)])
        ours = seconds(lambda model=model, tokens=tokens: lw.evaluate(model, tokens, "linear"), 2)
        tenth = seconds(lambda model=model, tokens=tokens: lw.evaluate(model, tokens[: 10**5], "linear"), 3)
        layers = f"{model.depth} layer{'s' * (model.depth > 1)}, width {model.width}"
        row = {"what": f"run {name} ({layers}) on 10^6 symbols", "ours": ours, "unit": "s", "wanted": "linear"}
        rows.append(row | {"rival_name": "the same on 10^5 symbols", "rival": tenth, "ratio": tenth / ours})
    return rows


def sequential():
    """The ledger's lengths for the whole library, in float32."""
    once, sums = (
        [compile(library()[name]).ledger.length(24, error) for name in library()]
        for error in (None, EVALUATORS["sequential_sums"])
    )
    shortest = [min(length for length in lengths if length is not None) for lengths in (once, sums)]
    what = "float32 is right up to, the worst library program"
    return [
        {"what": f"{what}, exact sums", "ours": shortest[0], "unit": "symbols", "wanted": ""},
        {"what": f"{what}, sequential sums", "ours": shortest[1], "unit": "symbols", "wanted": ""},
    ]


def main():
    """Runs all rows, prints them, and with --write stores them for the docs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="store the rows in benchmarks/results/compile.json")
    write = parser.parse_args().write
    rows = whole_library() + against_tracr() + a_million_symbols() + sequential()
    for row in rows:
        rest = ", ".join(
            f"{name} {value:.3g}" if isinstance(value, float) else f"{name} {value}"
            for name, value in row.items()
            if name not in ("what", "ours", "unit") and value not in (None, "")
        )
        print(f"{row['what']}: {row['ours']:.3g} {row['unit']}; {rest}", flush=True)
    if write:
        store("compile", "compile", rows)


if __name__ == "__main__":
    main()
