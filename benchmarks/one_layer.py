"""What one layer's bounds and stand-ins cost, in one run on one machine: `python benchmarks/one_layer.py [--write]`.

Nobody else shortens strings or bounds lengths, so the rival is what is done instead: running both models on a long
string, as fast as this package can (`linear`), at a length that still fits into memory.
"""

import argparse
import tempfile
import time
from pathlib import Path

import numpy as np
from _stored import store

import lengthwise as lw
from lengthwise.limit.model import MLP, Head, Layer, LimitTransformer

SYMBOLS, PERIOD, LOCALITY, LENGTH = 5, 4, 1, 10**12


def pair(attention="log-length", bits=4, units=32, trained=False, heads=2, width=8, symbols=SYMBOLS):
    """Two models of period 4: integer logits with ties, or weights as training leaves them."""

    def model(seed):
        rng = np.random.default_rng(seed)

        def logits(*shape):
            return rng.normal(size=shape) if trained else rng.integers(-1, 2, size=shape).astype(float)

        def head():
            value = rng.normal(size=(width, width)) / 10
            return Head(logits(3, width), logits(3, width), value, phi=[0.0] * LOCALITY + [1.0])

        inner, outer = rng.normal(size=(units, width)), rng.normal(size=(width, units)) / units
        return LimitTransformer(
            embedding=logits(symbols, width),
            positions=logits(PERIOD, width),
            layers=[Layer([head() for _ in range(heads)], MLP(inner, rng.normal(size=units), outer))],
            unembedding=rng.normal(size=(2, width)),
            attention=attention,
            bits=bits,
        )

    return model(1), model(2)


def long_counts():
    """Counts of a string of 10^12 tokens: every type occurs, none evenly."""
    rng = np.random.default_rng(0)
    prefix = LENGTH - LOCALITY - 1
    columns = []
    for residue in range(PERIOD):
        size = prefix // PERIOD + (1 <= residue <= prefix % PERIOD)
        shares = [int(share) for share in rng.integers(1, size // SYMBOLS, size=SYMBOLS - 1)]
        columns.append([*shares, size - sum(shares)])
    return lw.Counts([1, 2], [[column[token] for column in columns] for token in range(SYMBOLS)])


def seconds(function, repeats=5):
    """The best of several runs, after one to warm up."""
    function()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return min(times)


def stand_ins():
    """Shortening, for each regime; beside it both models run on a million tokens."""
    counts = long_counts()
    string = np.random.default_rng(1).integers(0, SYMBOLS, size=10**6)
    kinds = {
        "hardmax, 32 units": (pair(), "< 0.05"),
        "hardmax, 256 units, width 16": (pair(units=256, width=16), ""),
        "plain, 32 units": (pair("plain", None, trained=True), ""),
        "plain, 256 units, width 16": (pair("plain", None, units=256, width=16, trained=True), ""),
    }
    rows = []
    for kind, ((f, g), wanted) in kinds.items():
        ours = seconds(lambda f=f, g=g: lw.shorten(f, g, counts, 0.1))
        rival = seconds(lambda f=f, g=g: [lw.evaluate(model, string, "linear") for model in (f, g)], 1)
        found = lw.shorten(f, g, counts, 0.1)
        what = f"shorten, 10^12 tokens to {found.length:,}, 5 tokens, period 4, {kind}"
        row = {"what": what, "ours": ours, "unit": "s", "wanted": wanted, "rival_name": "both models on 10^6 tokens"}
        rows.append(row | {"rival": rival, "ratio": rival / ours})
    return rows


def programs():
    """The shortest string by integer programs, beside the construction alone."""
    counts, rows = long_counts(), []
    for kind, (f, g) in {"hardmax": pair(), "plain": pair("plain", None, trained=True)}.items():
        ours = seconds(lambda f=f, g=g: lw.shorten(f, g, counts, 0.1, shortest=True), 1)
        rival = seconds(lambda f=f, g=g: lw.shorten(f, g, counts, 0.1), 1)
        found, built = (lw.shorten(f, g, counts, 0.1, shortest=which).length for which in (True, False))
        what = f"shorten --shortest, 20 types, {kind}, {found:,} tokens where the construction gives {built:,}"
        row = {"what": what, "ours": ours, "unit": "s", "wanted": "< 5", "rival_name": "without --shortest"}
        rows.append(row | {"rival": rival, "ratio": rival / ours})
    return rows


def bounds():
    """The training length of the same pairs."""
    kinds = {
        "20 types, log-length": pair(),
        "20 types, plain": pair("plain", None, trained=True),
        "26 tokens, 104 types, log-length": pair(units=256, width=16, symbols=26),
        "26 tokens, 104 types, plain": pair("plain", None, units=256, width=16, trained=True, symbols=26),
    }
    rows = []
    for kind, (f, g) in kinds.items():
        ours = seconds(lambda f=f, g=g: lw.bound(f, g, error=0.1))
        rows.append({"what": f"bound, {kind}", "ours": ours, "unit": "s", "wanted": "< 1"})
    return rows


def checks():
    """The independent checker on certificates of 20 types; the writer beside it."""
    from lengthwise.check import check

    rows = []
    for kind, (f, g) in {"hardmax": pair(), "plain": pair("plain", None, trained=True)}.items():
        found = lw.shorten(f, g, long_counts(), 0.1)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "c.json")
            found.certificate(path)
            assert check(path).valid
            ours = seconds(lambda path=path: check(path), 3)
            what = f"check, a certificate of 20 types, {kind}, {path.stat().st_size // 1000} kB"
        rows.append({"what": what, "ours": ours, "unit": "s", "wanted": "< 1"})
    return rows


def main():
    """Runs all rows, prints them, and with --write stores them for the docs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="store the rows in benchmarks/results/one_layer.json")
    write = parser.parse_args().write
    rows = stand_ins() + programs() + bounds() + checks()
    for row in rows:
        beside = f"   {row['rival_name']}: {row['rival']:.3g} s, ratio {row['ratio']:.1f}" if "rival" in row else ""
        wanted = f" (wanted {row['wanted']})" if row["wanted"] else ""
        print(f"{row['what']}: {row['ours']:.3g} {row['unit']}{wanted}{beside}", flush=True)
    if write:
        store("one_layer", "one_layer", rows)


if __name__ == "__main__":
    main()
