"""How fast short strings get better with their length: `python benchmarks/two_layer.py [--write] [--quick]`.

Fits the exponent of ||f(x) - f(z)|| + ||g(x) - g(z)|| in |z| for the three samplers and four kinds of first-layer
heads: the median over eight families of strings, then over pairs of random models. The published sampler (M) is the
rival. Then the time of a search at a million tokens. With --write also draws docs/two-layer-decay.svg.

An earlier prototype's exponents (two-layer note, section 10) stand beside them: of its random models and of its five
families of strings only the margins are known. Read here: phi sits at the second of two offsets as in section 11, which
gives these margins; embeddings have norm 1 as there, and then errors at a million tokens are of the sizes that section 10
reports; strings are all eight families that it names for those.
"""

import argparse
import itertools
import json
import time
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from _stored import store

from lengthwise.limit.evaluate import evaluate
from lengthwise.limit.model import MLP, Head, Layer, LimitTransformer
from lengthwise.theory.balanced_windows import balanced_offsets
from lengthwise.theory.measured_search import measured_error, measured_search, shape_of
from lengthwise.theory.samplers import chain_positions, drawn_offsets, kept_windows, tail_length

HERE = Path(__file__).parent
KINDS = {  # phi; what is proved for M and S1, and for S2; what an earlier prototype saw with three pairs (M, S1, S2)
    "decided by tokens, phi = 0": (
        [0.0, 0.0],
        -1 / 3,
        -1 / 2,
        ((-0.36, -0.46, -0.43), (-0.63, -0.62, -0.54), (-0.69, -0.98, -0.88)),
    ),
    "decided by position, phi = 2.5": (
        [0.0, 2.5],
        -1 / 3,
        -1 / 2,
        ((-0.38, -0.42, -0.32), (-0.49, -0.48, -0.59), (-0.72, -0.90, -0.85)),
    ),
    "balanced, phi = 1": (
        [0.0, 1.0],
        -1 / 3,
        -1 / 2,
        ((-0.48, -0.55, -0.45), (-0.54, -0.73, -0.69), (-0.82, -0.73, -0.97)),
    ),
    "decided by tokens, phi = 0.7": (
        [0.0, 0.7],
        -0.3,
        -0.3,
        ((-0.35, -0.35, -0.36), (-0.41, -0.38, -0.40), (-0.43, -0.34, -0.41)),
    ),
}
SHORTEST = 2**7  # of the short strings
SEEN_SIZES = {10**3: "8e-4 to 1e-1", 10**5: "3e-5 to 8e-3"}  # of an earlier prototype, mean errors
SAMPLERS = ("chain (M)", "stratified windows (S1)", "balanced windows (S2)")


def random_model(rng, phi, symbols=3, width=4, units=8):
    """One head a layer; every matrix is random with rows or columns of norm about 1."""

    def head(term):
        return Head(*(rng.normal(size=(width, width)) / np.sqrt(width) for _ in range(3)), term)

    def mlp():
        inner, outer = rng.normal(size=(units, width)) / 2, rng.normal(size=(width, units)) / np.sqrt(units)
        return MLP(inner, rng.normal(size=units) / 2, outer)

    return LimitTransformer(
        embedding=rng.normal(size=(symbols, width)) / np.sqrt(width),
        layers=(Layer((head(phi),), mlp()), Layer((head([]),), mlp())),
        unembedding=rng.normal(size=(2, width)) / np.sqrt(width),
        attention="log-suffix",
    )


def families(rng, symbols, length):
    """The eight kinds of long strings that the note names in section 10; rare: once in the shortest of the short."""
    places = np.arange(length)
    return {
        "half": (places >= length // 2).astype(np.int64),
        "rare": (rng.random(length) < 1 / SHORTEST).astype(np.int64),
        "periodic": places % symbols,
        "blocks": places * symbols // length,
        "geometric": np.log2(places + 1).astype(np.int64) % symbols,
        "iid": rng.integers(0, symbols, length),
        "rare at the end": np.where(places >= length - 5, symbols - 1, 0),
        "burst": np.where((places > length * 0.9) & (places < length * 0.95), 1, 0),
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


def pair_errors(phi, seed, setting):
    """For one pair of random models the errors by family and sampler; a stream of random numbers for each family."""
    rng = np.random.default_rng(seed)
    pair = [random_model(rng, phi, setting.symbols, setting.width) for _ in range(2)]
    strings = families(rng, setting.symbols, setting.length)
    return {
        name: errors_by_length(np.random.default_rng([seed, number]), pair, x, setting.sizes, setting.draws)
        for number, (name, x) in enumerate(strings.items())
    }


@dataclass(frozen=True)
class Setting:
    """How large everything is: the first two are the models', the rest the experiment's."""

    symbols: int = 3
    width: int = 4
    length: int = 2**17
    sizes: tuple[int, ...] = tuple(SHORTEST * 2**k for k in range(7))
    pairs: int = 9
    draws: int = 12


QUICK = Setting(length=2**13, sizes=tuple(SHORTEST * 2**k for k in range(4)), pairs=1, draws=3)


def decay(setting):
    """The rows of exponents, the median errors behind them for the figure, and the exponents family by family."""
    rows, curves, by_family = [], {}, []
    for kind, (phi, guaranteed, balanced, before) in KINDS.items():
        found = [pair_errors(phi, seed, setting) for seed in range(setting.pairs)]
        names = list(found[0])
        table = np.array([[[pair[name][s] for s in SAMPLERS] for name in names] for pair in found])
        table = np.maximum(table, 1e-15)  # pairs, families, samplers, sizes
        slopes = np.apply_along_axis(lambda e: np.polyfit(np.log(setting.sizes), np.log(e), 1)[0], 3, table)
        curves[kind] = dict(zip(SAMPLERS, np.median(np.median(table, axis=1), axis=0).tolist(), strict=True))
        exponents = np.median(slopes, axis=1)
        rival = float(np.median(exponents[:, 0]))
        for number, (sampler, earlier) in enumerate(zip(SAMPLERS, before, strict=True)):
            low, middle, high = np.quantile(exponents[:, number], (0.25, 0.5, 0.75))
            promised = balanced if sampler == SAMPLERS[2] else guaranteed
            rows.append(
                {
                    "what": f"{kind}: exponent of {sampler}",
                    "ours": round(float(middle), 2),
                    "wanted": f"<= {promised:.2f}, as proved",
                    "quartiles": f"{low:.2f} to {high:.2f}",
                    "seen before": ", ".join(f"{one:.2f}" for one in earlier),
                    "from its median": round(float(middle) - float(np.median(earlier)), 2) + 0.0,
                    "rival_name": SAMPLERS[0],
                    "rival": round(rival, 2),
                    "ratio": round(float(middle) / rival, 2),
                    "unit": "",
                }
            )
            for place, name in enumerate(names):
                quartiles = np.quantile(slopes[:, place, number], (0.25, 0.5, 0.75))
                by_family.append((kind, sampler, name, *quartiles.tolist()))
    return rows, curves, by_family


def sizes_of_errors(pairs=2, length=10**6):
    """How large errors are at a million tokens, so that models may be compared with the earlier prototype's."""
    found = {size: [] for size in SEEN_SIZES}
    for (phi, *_), seed in itertools.product(KINDS.values(), range(pairs)):
        rng = np.random.default_rng([seed, 1])
        pair = [random_model(rng, phi) for _ in range(2)]
        shape = shape_of(pair)
        for string in families(rng, 3, length).values():
            wanted = [evaluate(model, string) for model in pair]
            for size, errors in found.items():
                window = round(size ** (1 / 3))
                offsets = [drawn_offsets(rng, length, size // window, window, shape) for _ in range(3)]
                drawn = [string[kept_windows(length, window, one, shape)] for one in offsets]
                errors.append(
                    np.mean(
                        [
                            sum(measured_error(w, evaluate(m, z)) for w, m in zip(wanted, pair, strict=True))
                            for z in drawn
                        ]
                    )
                )
    return [
        {
            "what": f"a million tokens to {size:,} (S1): mean errors, the middle four fifths of strings and models",
            "ours": "{:.1g} to {:.1g}".format(*np.quantile(errors, (0.1, 0.9))),
            "wanted": f"of the size seen before, {SEEN_SIZES[size]}",
            "unit": "",
        }
        for size, errors in found.items()
    ]


def search(length=10**6, size=10**4):
    """Seconds of the search at a million tokens."""
    rng = np.random.default_rng(0)
    pair = (random_model(rng, [0.25, 0.5]), random_model(rng, [0.25, 1.5]))
    string = rng.integers(0, 3, length)
    rows = []
    for what, balanced, wanted in (("S1, 16 draws", False, "< 20"), ("S1 and S2, 16 draws", True, "< 60")):
        start = time.perf_counter()
        measured_search(pair, string, size, draws=16, balanced=balanced)
        taken = time.perf_counter() - start
        what = f"shorten {length:,} to {size:,} tokens, {what}"
        rows.append({"what": what, "ours": round(taken, 2), "unit": "s", "wanted": wanted})
    return rows


def draw(curves, sizes, path):
    """Error against the length of the short string, with the guaranteed rates."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    plt.rcParams["svg.hashsalt"] = "lengthwise"
    figure, axes = plt.subplots(1, len(curves), figsize=(13, 3.8), sharey=True, layout="constrained")
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
    axes[0].set_ylabel("error, f and g together")
    named = {label: line for axis in axes for line, label in zip(*axis.get_legend_handles_labels(), strict=True)}
    figure.legend(named.values(), named, loc="outside lower center", ncols=4, fontsize=7)
    figure.savefig(path, metadata={"Date": None})


def write(rows, part, curves, by_family):
    """The rows among the results, those of the other part as they were, and the tables and the figure of the decay."""
    docs, path = HERE.parent / "docs", HERE / "results" / "two_layer.json"
    if part:
        kept = json.loads(path.read_text(encoding="utf-8"))["rows"]
        others = [row for row in kept if row["what"].startswith("shorten") == (part == "decay")]
        rows = rows + others if part == "decay" else others + rows
    if part != "search":
        sizes = Setting().sizes
        with (docs / "two-layer-decay.csv").open("w", encoding="utf-8") as file:
            file.write("heads,sampler,length,error\n")
            for kind, found in curves.items():
                for sampler in SAMPLERS:
                    pairs = zip(sizes, found[sampler], strict=True)
                    file.writelines(f'"{kind}",{sampler},{size},{error:.6g}\n' for size, error in pairs)
        with (docs / "two-layer-exponents.csv").open("w", encoding="utf-8") as file:
            file.write("heads,sampler,strings,lower_quartile,median,upper_quartile\n")
            file.writelines(
                f'"{kind}",{s},{name},{q[0]:.2f},{q[1]:.2f},{q[2]:.2f}\n' for kind, s, name, *q in by_family
            )
        draw(curves, sizes, docs / "two-layer-decay.svg")
    store("two_layer", "two_layer", rows)


def main():
    """Runs all rows, prints them, and with --write stores them for the docs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="store the rows and the figure")
    parser.add_argument("--quick", action="store_true", help="one pair of models, short strings; nothing is stored")
    parser.add_argument("--part", choices=("decay", "search"), help="one half of the benchmark")
    parser.add_argument("--symbols", type=int, default=3, help="of the random models; nothing is stored unless 3")
    parser.add_argument("--width", type=int, default=4, help="of the random models; nothing is stored unless 4")
    chosen = parser.parse_args()
    setting = replace(QUICK if chosen.quick else Setting(), symbols=chosen.symbols, width=chosen.width)
    rows, curves, by_family = decay(setting) if chosen.part != "search" else ([], {}, [])
    if chosen.part != "search" and not chosen.quick:
        rows += sizes_of_errors()
    if chosen.part != "decay":
        rows += search(10**5, 10**3) if chosen.quick else search()
    for row in rows:
        spread = f", quartiles {row['quartiles']}" if "quartiles" in row else ""
        print(f"{row['what']}: {row['ours']} {row['unit']}{spread} (wanted {row['wanted']})")
    if chosen.write and setting == Setting():
        write(rows, chosen.part, curves, by_family)


if __name__ == "__main__":
    main()
