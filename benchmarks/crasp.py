"""The interpreter of C-RASP in one run on one machine: `python benchmarks/crasp.py [--write]`.

The rival is the definition as a NumPy user would write it for that program and batch: one running sum of 64-bit integers
a count over a ready (words, length) array. Beside it stands a plain Python loop over one word, which is how the public
interpreter of the older syntax works (it is measured elsewhere: 1.96 million tokens a second on dyck1 at 5,000 symbols,
6.5 thousand with a local predicate, where it is quadratic).
"""

import argparse
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
from _stored import store

from lengthwise.crasp.interpret import run
from lengthwise.crasp.library import library
from lengthwise.crasp.words import Words

TOKENS = 24_000_000


def seconds(function, repeats=5):
    """The best of several runs, after one to warm up."""
    function()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return min(times)


def batch(program, length):
    """Uniform random words of one length, some 24 million symbols in all, as bytes."""
    count = TOKENS // length
    tokens = np.random.default_rng(0).integers(0, len(program.alphabet), count * length).astype(np.uint8)
    return Words(tokens, np.full(count, length))


def dyck1_in_numpy(tokens):
    """What a careful user writes for dyck1 over an array with one word a row."""
    height = np.cumsum(np.where(tokens == 0, 1, -1), axis=1)
    return (height[:, -1] == 0) & (height.min(axis=1) >= 0)


def tomita4_in_numpy(tokens):
    """What a careful user writes for tomita4: no three zeros in a row."""
    zero = tokens == 0
    return ~(zero[:, 2:] & zero[:, 1:-1] & zero[:, :-2]).any(axis=1)


def dyck1_in_python(word):
    """The same for one word, symbol by symbol."""
    height = lowest = 0
    for letter in word:
        height += 1 if letter == 0 else -1
        lowest = min(lowest, height)
    return height == 0 and lowest == 0


def throughput():
    """Millions of tokens a second, on all cores and on one, for several lengths: the rate does not fall with the length."""
    rows = []
    wanted = {"dyck1": ">= 200", "tomita4": ">= 50", "slt_mix": ">= 50"}
    rivals = {"dyck1": dyck1_in_numpy, "tomita4": tomita4_in_numpy}
    for name in ("dyck1", "tomita4", "slt_mix", "D_12", "sort5", "even_a_blocks"):
        program = library()[name]
        for length in (150, 5_000, 1_000_000):
            words = batch(program, length)
            ours = TOKENS / 1e6 / seconds(lambda words=words, program=program: run(program, words))
            row = {"what": f"{name}, words of length {length}", "ours": ours, "unit": "million tokens/s"}
            row["wanted"] = wanted.get(name, "")
            if name in rivals and length < 1_000_000:
                table = words.tokens.reshape(-1, length)
                assert (rivals[name](table) == run(program, words).accepts).all()
                rival = TOKENS / 1e6 / seconds(lambda name=name, table=table: rivals[name](table), 2)
                row |= {"rival_name": "NumPy, by hand", "rival": rival, "ratio": ours / rival}
            rows.append(row)
    words = batch(library()["dyck1"], 5_000)
    text = ["".join("()"[token] for token in words.tokens[part].tolist()) for part in words.slices()[:400]]
    ours = 2 / seconds(lambda: run(library()["dyck1"], text))
    rows.append({"what": "dyck1, from 400 texts of length 5000", "ours": ours, "unit": "million tokens/s"})
    listed = words.tokens[:1_000_000].tolist()
    rival = 1 / seconds(lambda: dyck1_in_python(listed), 2)
    rows[0] |= {"rival_2_name": "Python, symbol by symbol", "rival_2": rival, "ratio_2": rows[0]["ours"] / rival}
    return rows


def on_one_core():
    """The same on one core, in a process of its own."""
    code = (
        "import os, sys; os.cpu_count = lambda: 1; sys.path.insert(0, 'benchmarks'); import crasp as b\n"
        "for name in ('dyck1', 'tomita4'):\n"
        "    words = b.batch(b.library()[name], 5000)\n"
        "    print(b.TOKENS / 1e6 / b.seconds(lambda: b.run(b.library()[name], words)))\n"
    )
    rates = subprocess.check_output([sys.executable, "-c", code], text=True).split()
    return [
        {"what": f"{name}, words of length 5000, one core", "ours": float(rate), "unit": "million tokens/s"}
        for name, rate in zip(("dyck1", "tomita4"), rates, strict=True)
    ]


def lint_starts():
    """Seconds of `lengthwise crasp lint` from a cold start."""
    command = [str(Path(sys.executable).parent / "lengthwise"), "crasp", "lint", "crasp:dyck1"]
    run_ = lambda arguments: subprocess.run(arguments, check=True, capture_output=True)  # noqa: E731
    ours, rival = seconds(lambda: run_(command), 10), seconds(lambda: run_([sys.executable, "-c", "pass"]), 10)
    row = {"what": "lengthwise crasp lint crasp:dyck1", "ours": ours, "unit": "s", "wanted": "< 0.3"}
    return [row | {"rival_name": "python -c pass", "rival": rival, "ratio": rival / ours}]


def main():
    """Runs all rows, prints them, and with --write stores them for the docs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="store the rows in benchmarks/results/crasp.json")
    write = parser.parse_args().write
    rows = lint_starts() + throughput() + on_one_core()
    for row in rows:
        beside = f"   {row['rival_name']}: {row['rival']:.3g}, ratio {row['ratio']:.2g}" if "rival" in row else ""
        print(f"{row['what']}: {row['ours']:.3g} {row['unit']} (wanted {row.get('wanted') or 'nothing'}){beside}")
    if write:
        store("crasp", "crasp", rows)


if __name__ == "__main__":
    main()
