"""Evaluators against the definition, in one run on one machine: `python benchmarks/evaluate.py [--write]`.

The rival of `linear` is the definition as its best user would write it: blocks of 1024 queries, matrix products, only
the last query in the last layer. Its weaker form (every query in both layers) is printed beside it.
"""

import argparse
import resource
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
from _stored import store

import lengthwise as lw
from lengthwise.limit.evaluate import evaluate
from lengthwise.limit.model import MLP, Head, Layer, LimitTransformer


def two_layers(symbols, width, offsets, heads, units):
    """A random two-layer log-suffix model of the stated sizes."""
    rng = np.random.default_rng(0)

    def layer(offsets):
        def head():
            matrices = rng.normal(size=(3, width, width)) / np.sqrt(width)
            return Head(*matrices, phi=rng.normal(size=offsets))

        mlp = MLP(rng.normal(size=(units, width)), rng.normal(size=units), rng.normal(size=(width, units)) / units)
        return Layer([head() for _ in range(heads)], mlp)

    return LimitTransformer(
        embedding=rng.normal(size=(symbols, width)),
        layers=[layer(offsets), layer(0)],
        unembedding=rng.normal(size=(2, width)),
        attention="log-suffix",
    )


def seconds(function, repeats):
    """The best of several runs, after one to warm up."""
    function()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return min(times)


def against_the_definition(length=16_384):
    model = two_layers(symbols=4, width=16, offsets=4, heads=1, units=32)
    string = np.random.default_rng(1).integers(0, 4, size=length)
    ours = seconds(lambda: evaluate(model, string, "linear"), 5)
    last = seconds(lambda: evaluate(model, string, "dense"), 1)
    every = seconds(lambda: evaluate(model, string, "dense", "all"), 1)
    gap = np.max(np.abs(evaluate(model, string, "linear") - evaluate(model, string, "dense")))
    assert gap < 1e-10, gap
    what = f"linear, n = {length}, 2 layers, width 16"
    rows = [
        (what, "definition in blocks, last query in layer 2", last),
        (what, "definition in blocks, all queries", every),
    ]
    return [
        {"what": w, "ours": ours, "rival_name": r, "rival": t, "ratio": t / ours, "unit": "s", "wanted": ">= 200"}
        for w, r, t in rows
    ]


def a_million_tokens():
    """Seconds and peak memory in a fresh process, whose peak counts the interpreter and NumPy too."""
    code = (
        "import sys, resource, time, numpy as np; sys.path.insert(0, 'benchmarks'); import evaluate as b\n"
        "model = b.two_layers(symbols=4, width=4, offsets=4, heads=2, units=4)\n"
        "string = np.random.default_rng(1).integers(0, 4, size=10**6)\n"
        "print(b.seconds(lambda: b.evaluate(model, string, 'linear'), 5))\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)\n"
    )
    took, peak = map(float, subprocess.check_output([sys.executable, "-c", code], text=True).split())
    what = "linear, n = 10^6, 4 symbols, width 4, locality 3, 2 + 2 heads"
    return [
        {"what": what, "ours": took, "unit": "s", "wanted": "< 0.8"},
        {"what": f"{what}: peak memory of the process", "ours": peak, "unit": "MB", "wanted": "< 150"},
    ]


def counts_of_any_length():
    from lengthwise.limit.constructions import mod_p_task

    model = mod_p_task(3, 1, bits=8)
    third = 10**15 // 3
    counts = lw.Counts([1], [[third // 2] * 3, [third - third // 2] * 3])
    ours = seconds(lambda: [lw.evaluate_counts(model, counts) for _ in range(100)], 5) / 100
    string = np.random.default_rng(1).integers(0, 2, size=10**6)
    rival = seconds(lambda: evaluate(model, string, "linear"), 3)
    return [
        {"what": "counts, n = 10^15, one layer, 6 types", "ours": ours, "unit": "s", "wanted": "< 0.001",
             "rival_name": "linear at n = 10^6", "rival": rival, "ratio": rival / ours}
    ]  # fmt: skip


def help_starts():
    command = [str(Path(sys.executable).parent / "lengthwise"), "--help"]
    run = lambda args: subprocess.run(args, check=True, capture_output=True)  # noqa: E731
    ours, rival = seconds(lambda: run(command), 10), seconds(lambda: run([sys.executable, "-c", "pass"]), 10)
    return [
        {
            "what": "lengthwise --help",
            "ours": ours,
            "unit": "s",
            "wanted": "< 0.15",
            "rival_name": "python -c pass",
            "rival": rival,
            "ratio": rival / ours,
        }
    ]


def main():
    """Runs all rows, prints them, and with --write stores them for the docs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="store the rows in benchmarks/results/evaluate.json")
    write = parser.parse_args().write
    rows = a_million_tokens()  # first: a child process inherits the peak of its parent
    rows += against_the_definition() + counts_of_any_length() + help_starts()
    for row in rows:
        beside = (
            f"   {row['rival_name']}: {row['rival']:.3g} {row['unit']}, ratio {row['ratio']:.0f}"
            if "rival" in row
            else ""
        )
        print(f"{row['what']}: {row['ours']:.3g} {row['unit']} (wanted {row['wanted']}){beside}")
    print(f"peak memory of this process {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024} MB")
    if write:
        store("evaluate", "evaluate", rows)


if __name__ == "__main__":
    main()
