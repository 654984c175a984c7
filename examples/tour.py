"""A first tour with real numbers: build a model, run it at any length, weigh it. `make tour` runs this file."""

import math
import time

import numpy as np

import lengthwise as lw
from lengthwise.limit.constructions import kgram_and, simple_task
from lengthwise.limit.quantities import complexity, hardmax_threshold, limit_error, logit_margin, sensitivity


def one_layer() -> None:
    """A model that compares how often 0 and 1 occur, on strings anyone can read and on one nobody could write down."""
    model = simple_task(omega=4, bits=8)
    print("1. One layer: sin(4 (zeros - ones) / (zeros + ones)), as explicit weights")
    for method in ("dense", "linear", "counts"):
        print(f"   outputs on 0010210201, {method + ':':8} {lw.evaluate(model, '0010210201', method)[0]:.12f}")

    counts = lw.Counts(suffix=[0], table=[[499_999_999_999_999], [300_000_000_000_000], [200_000_000_000_000]])
    started = time.perf_counter()
    output = lw.evaluate_counts(model, counts)[0]
    milliseconds = 1000 * (time.perf_counter() - started)
    print(f"   on {counts.length:,} tokens, in the same proportions: {output:.12f}  [{milliseconds:.1f} ms]")
    print(f"   logit margin {logit_margin(model)}, sensitivity {sensitivity(model)[0]}")
    print(
        f"   from length {hardmax_threshold(model).length} on its attention is a hardmax: sin(1) = {math.sin(1):.12f}"
    )
    print()


def two_layers() -> None:
    """An in-context bigram model: the law of what followed the last token so far."""
    model = kgram_and(symbols=3, order=1, backoff=0.25)
    law = np.array([[0.7, 0.2, 0.1], [0.1, 0.6, 0.3], [0.4, 0.1, 0.5]])
    rng = np.random.default_rng(1)
    print("2. Two layers: what followed the last token so far, in context; a Markov chain as input")
    chain = [0]
    for uniform in rng.random(99_999):
        chain.append(int(np.searchsorted(np.cumsum(law[chain[-1]])[:2], uniform)))
    for length in (100, 10_000, 100_000):
        started = time.perf_counter()
        output = lw.evaluate(model, chain[:length], method="linear")
        took = time.perf_counter() - started
        print(f"   after {length:>7,} tokens, the last one {chain[length - 1]}: {np.round(output, 4)}  [{took:.2f} s]")
    weighed = complexity(model)
    print(f"   complexity {weighed.complexity:.4g}, position margin {weighed.margin}")
    for exponent in (4, 8, 12):
        print(f"   proven distance from its limit at length 10^{exponent}: {limit_error(weighed, 10**exponent):.3g}")
    print()


if __name__ == "__main__":
    one_layer()
    two_layers()
    print("Next: lengthwise --help, and docs/index.md")
