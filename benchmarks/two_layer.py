"""How fast short strings get better with their length: `python benchmarks/two_layer.py [--write] [--quick]`.

Fits the exponent of ||f(x) - f(z)|| + ||g(x) - g(z)|| in |z| for the three samplers and four kinds of first-layer
heads: the median over five families of strings, then over pairs of random models. The published sampler (M) is the
rival. Then the time of a search at a million tokens. With --write also draws docs/two-layer-decay.svg.
"""

import argparse
import json
import os
import platform
import time
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

import lengthwise as lw
from lengthwise.limit.evaluate import evaluate
from lengthwise.limit.model import MLP, Head, Layer, LimitTransformer
from lengthwise.theory.balanced_windows import balanced_offsets
from lengthwise.theory.measured_search import measured_error, measured_search, shape_of
from lengthwise.theory.samplers import chain_positions, drawn_offsets, kept_windows, tail_length

HERE = Path(__file__).parent
KINDS = {  # phi; what is proved for M and S1, and for S2; what an earlier prototype saw (M, S1, S2)
    "decided by tokens, phi = 0": ([0.0, 0.0], -1 / 3, -1 / 2, (-0.43, -0.62, -0.88)),
    "decided by position, phi = 2.5": ([0.0, 2.5], -1 / 3, -1 / 2, (-0.38, -0.49, -0.85)),
    "balanced, phi = 1": ([0.0, 1.0], -1 / 3, -1 / 2, (-0.48, -0.69, -0.82)),
    "decided by tokens, phi = 0.7": ([0.0, 0.7], -0.3, -0.3, (-0.35, -0.40, -0.41)),
}
SAMPLERS = ("chain (M)", "stratified windows (S1)", "balanced windows (S2)")


def random_model(rng, phi, symbols=3, width=4, units=8):
    """One head a layer, weights of size 1 / sqrt(width)."""

    def head(term):
        return Head(*(rng.normal(size=(width, width)) / np.sqrt(width) for _ in range(3)), term)

    def mlp():
        inner, outer = rng.normal(size=(units, width)) / 2, rng.normal(size=(width, units)) / np.sqrt(units)
        return MLP(inner, rng.normal(size=units) / 2, outer)

    return LimitTransformer(
        embedding=rng.normal(size=(symbols, width)),
        layers=(Layer((head(phi),), mlp()), Layer((head([]),), mlp())),
        unembedding=rng.normal(size=(2, width)),
        attention="log-suffix",
    )


def families(rng, symbols, length):
    """Five kinds of long strings."""
    places = np.arange(length)
    kernel = np.cumsum(rng.dirichlet(np.ones(symbols), size=symbols), axis=1)[:, :-1]
    markov, uniform = np.zeros(length, np.int64), rng.random(length)
    for place in range(1, length):
        markov[place] = (uniform[place] > kernel[markov[place - 1]]).sum()
    return {
        "iid": rng.choice(symbols, length, p=rng.dirichlet(np.ones(symbols))),
        "half": (places >= length // 2).astype(np.int64),
        "markov": markov,
        "blocks": np.log2(places + 1).astype(np.int64) % symbols,
        "drift": (rng.random(length) < places / length).astype(np.int64),
    }


def errors_by_length(rng, pair, string, sizes, draws):
    """Mean error of each sampler at each length of the short string."""
    shape, length = shape_of(pair), len(string)
    wanted = [evaluate(model, string) for model in pair]

    def error(positions):
        short = string[positions]
        return sum(measured_error(w, evaluate(m, short)) for w, m in zip(wanted, pair, strict=True))

    found = {sampler: [] for sampler in SAMPLERS}
    for size in sizes:
        kept = size - tail_length(length, shape)
        third, half = max(2, round(kept ** (1 / 3))), max(1, round(kept**0.5))
        chained = [chain_positions(rng, length, kept, third, shape) for _ in range(draws)]
        drawn = [drawn_offsets(rng, length, kept // third, third, shape) for _ in range(draws)]
        balanced = balanced_offsets(pair, string, kept // half, half, shape)
        found[SAMPLERS[0]].append(np.mean([error(positions) for positions in chained]))
        found[SAMPLERS[1]].append(np.mean([error(kept_windows(length, third, o, shape)) for o in drawn]))
        found[SAMPLERS[2]].append(error(kept_windows(length, half, balanced, shape)))
    return found


def decay(quick):
    """The rows of exponents, and the median errors behind them for the figure."""
    length, sizes, seeds, draws = (
        (2**13, [2**k for k in range(7, 11)], 1, 3) if quick else (2**17, [2**k for k in range(7, 14)], 5, 12)
    )
    rows, curves = [], {}
    for kind, (phi, guaranteed, balanced, before) in KINDS.items():
        slopes, medians = {s: [] for s in SAMPLERS}, {s: [] for s in SAMPLERS}
        for seed in range(seeds):
            rng = np.random.default_rng(seed)
            pair = (random_model(rng, phi), random_model(rng, phi))
            found = [errors_by_length(rng, pair, x, sizes, draws) for x in families(rng, 3, length).values()]
            for sampler in SAMPLERS:
                table = np.maximum([one[sampler] for one in found], 1e-15)
                fitted = np.polyfit(np.log(sizes), np.log(table).T, 1)[0]
                slopes[sampler].append(float(np.median(fitted)))
                medians[sampler].append(np.median(table, axis=0))
        curves[kind] = {s: np.median(medians[s], axis=0).tolist() for s in SAMPLERS}
        rival = float(np.median(slopes[SAMPLERS[0]]))
        for sampler, earlier in zip(SAMPLERS, before, strict=True):
            exponent = float(np.median(slopes[sampler]))
            promised = balanced if sampler == SAMPLERS[2] else guaranteed
            rows.append(
                {
                    "what": f"{kind}: exponent of {sampler}",
                    "ours": round(exponent, 2),
                    "wanted": f"<= {promised:.2f} (proved), {earlier} +- 0.15 (seen before)",
                    "rival_name": SAMPLERS[0],
                    "rival": round(rival, 2),
                    "ratio": round(exponent / rival, 2),
                    "unit": "",
                }
            )
    return rows, curves, sizes


def search(length=10**6, size=10**4):
    """Seconds of the search at a million tokens."""
    rng = np.random.default_rng(0)
    pair = (random_model(rng, [0.25, 0.5]), random_model(rng, [0.25, 1.5]))
    string = rng.integers(0, 3, length)
    rows = []
    for what, balanced, wanted in (("S1, 16 draws", False, "< 20"), ("S1 and S2, 16 draws", True, "< 60")):
        start = time.perf_counter()
        found = measured_search(pair, string, size, draws=16, balanced=balanced)
        taken = time.perf_counter() - start
        what = f"shorten {length:,} to {size:,} tokens, {what}: error {found.error:.2g}"
        rows.append({"what": what, "ours": round(taken, 2), "unit": "s", "wanted": wanted})
    return rows


def draw(curves, sizes, path):
    """Error against the length of the short string, with the guaranteed rates."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    plt.rcParams["svg.hashsalt"] = "lengthwise"
    figure, axes = plt.subplots(1, len(curves), figsize=(13, 3.4), sharey=True, constrained_layout=True)
    for axis, (kind, found) in zip(axes, curves.items(), strict=True):
        _, guaranteed, balanced, _ = KINDS[kind]
        for sampler, marker in zip(SAMPLERS, "os^", strict=True):
            axis.loglog(sizes, found[sampler], marker=marker, markersize=4, label=sampler)
        start = max(found[sampler][0] for sampler in SAMPLERS) * 1.5
        rates = (
            {guaranteed: ("--", "published; proved for M, S1"), balanced: (":", "proved for S2")}
            if balanced != guaranteed
            else {guaranteed: ("--", "proved, and no method beats it")}
        )
        for rate, (style, label) in rates.items():
            line = [start * (size / sizes[0]) ** rate for size in sizes]
            axis.loglog(sizes, line, color="grey", linestyle=style, label=f"slope {rate:.2f}, {label}")
        if balanced != guaranteed:
            lowest = [0.7 * found[SAMPLERS[2]][0] * (size / sizes[0]) ** -2.0 for size in sizes[:4]]
            axis.loglog(sizes[:4], lowest, color="firebrick", linestyle="-.", label="slope -2, no method beats it")
        axis.set_title(kind, fontsize=9)
        axis.set_xlabel("length of the short string")
        axis.legend(fontsize=6)
    axes[0].set_ylabel("error, f and g together")
    figure.savefig(path, metadata={"Date": None})


def main():
    """Runs all rows, prints them, and with --write stores them for the docs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="store the rows and the figure")
    parser.add_argument("--quick", action="store_true", help="one pair of models, short strings")
    chosen = parser.parse_args()
    rows, curves, sizes = decay(chosen.quick)
    rows += search(10**5, 10**3) if chosen.quick else search()
    for row in rows:
        print(f"{row['what']}: {row['ours']} {row['unit']} (wanted {row['wanted']})")
    if chosen.write:
        with (HERE.parent / "docs" / "two-layer-decay.csv").open("w", encoding="utf-8") as file:
            file.write("heads,sampler,length,error\n")
            for kind, found in curves.items():
                for sampler in SAMPLERS:
                    file.writelines(
                        f'"{kind}",{sampler},{size},{error:.6g}\n'
                        for size, error in zip(sizes, found[sampler], strict=True)
                    )
        draw(curves, sizes, HERE.parent / "docs" / "two-layer-decay.svg")
        result = {
            "benchmark": "two_layer",
            "date": datetime.now(UTC).date().isoformat(),
            "device": f"CPU, {os.cpu_count()} cores, {platform.machine()}",
            "versions": {"python": platform.python_version(), "numpy": np.__version__, "lengthwise": lw.__version__},
            "rows": rows,
        }
        (HERE / "results" / "two_layer.json").write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
