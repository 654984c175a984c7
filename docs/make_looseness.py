"""Measures how loose the one-layer bounds are, and writes docs/how-loose.md: `python docs/make_looseness.py [--measure]`.

With --measure everything is computed anew (minutes) and kept in docs/looseness/; without, only the page and the figure
are written from what is kept there.
"""

import argparse
import itertools
import json
import math
import os
import tempfile
from dataclasses import replace
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path

import numpy as np

import lengthwise as lw
from lengthwise.limit.constructions import mod_p_task, simple_task
from lengthwise.study.machine import versions
from lengthwise.study.store import Store
from lengthwise.tasks.protocol import Statistics
from lengthwise.tasks.registry import task
from lengthwise.theory.budgets import query_budget
from lengthwise.theory.build import Group
from lengthwise.theory.errors import Reading
from lengthwise.theory.monte_carlo import draw_counts, outputs_of_counts
from lengthwise.theory.stand_ins import attempt, hardmax_length, realised_groups
from lengthwise.type_counts import class_size

HERE = Path(__file__).parent
KEPT, FIGURE, PAGE = HERE / "looseness" / "results.json", HERE / "looseness" / "figure.svg", HERE / "how-loose.md"
ERROR = Fraction(1, 10)
BITS, STRINGS = 4, 30
CELLS = {"same attention": 60_000, "other attention": 600}  # of the covering
TARGETS = ["simple:omega=1", "simple:omega=2", "simple:omega=4", "modp:period=2", "modp:period=3", "modp:period=5"]
LENGTHS, SEEDS, STEPS, DRAWS = [4, 8, 12, 16, 24, 32, 48], 3, 2000, 20_000
FAR = [100, 1000, 10_000, 1_000_000]
ALL_TABLES = 20_000


def uniform(model):
    """The same values and read-out, all logits equal."""
    layer = model.layers[0]
    heads = tuple(replace(head, key=np.zeros_like(head.key)) for head in layer.heads)
    return replace(model, layers=(lw.Layer(heads, layer.mlp),))


def pairs(target):
    """The construction beside itself, and beside a model that attends elsewhere."""
    asked = task(target)
    if asked.name == "simple":
        model = simple_task(asked.omega, bits=BITS)
        return {"same attention": (model, model), "other attention": (model, uniform(model))}
    model = mod_p_task(asked.period, 1, bits=BITS)
    return {"same attention": (model, model), "other attention": (model, mod_p_task(asked.period, 0, bits=BITS))}


def long_strings(model, seed):
    """Long strings whose types are anything from one position to nearly all of them."""
    rng = np.random.default_rng(seed)
    for _ in range(STRINGS):
        n = int(10 ** rng.uniform(3, 9))
        rows = np.zeros((model.symbols, model.period), dtype=object)
        for residue in range(model.period):
            size, left = class_size(n - 1, residue, model.period), list(rng.permutation(model.symbols))
            for token in left[:-1]:
                rows[token, residue] = min(size, int(np.exp(rng.uniform(0, math.log(size)))))
                size -= rows[token, residue]
            rows[left[-1], residue] = size
        yield lw.Counts((int(rng.integers(model.symbols)),), rows.tolist())


def constructed(f, g, counts):
    """The length of what the proof constructs, with its own constant."""
    readings = tuple(Reading.of(model, counts) for model in (f, g))
    budget = query_budget(f, g, ERROR, counts.suffix[-1], counts.length)
    heads = [head for group in budget.acting for head in group.heads]
    groups: list[Group] = realised_groups(readings, counts, {one.heads[0]: one.budget for one in budget.acting})
    least = hardmax_length(readings, counts, heads)
    table = None if least is None else attempt(counts, groups, least)
    return counts.length if table is None else sum(table) + len(counts.suffix)


def stand_ins(f, g, seed):
    """Over the long strings, the longest of each kind of stand-in."""
    rows = [
        (constructed(f, g, x), lw.shorten(f, g, x, ERROR).length, lw.shortest(f, g, x, ERROR).length)
        for x in long_strings(f if f.period >= g.period else g, seed)
    ]
    return dict(zip(("constructed", "tuned", "shortest"), map(max, zip(*rows, strict=True)), strict=True))


def proved(target):
    """What is proved of the explicit models."""
    found = {}
    for kind, (f, g) in pairs(target).items():
        worst = lw.worst_case(f, g, ERROR, cells=CELLS[kind])
        found[kind] = {
            "bound": lw.bound(f, g, error=ERROR).training_length,
            "average": lw.bound(f, g, error=ERROR, average=1).training_length,
            **stand_ins(f, g, 1),
            "worst_at_least": worst.at_least,
            "worst_at_most": worst.at_most,
        }
        print(target, kind, found[kind], flush=True)
    return found


def all_tables(asked, length):
    """Every count table of a length with every query, or None where there are too many."""
    sizes = [class_size(length - 1, residue, asked.period) for residue in range(asked.period)]
    number = math.prod(math.comb(size + asked.symbols - 1, asked.symbols - 1) for size in sizes)
    if number * asked.symbols > ALL_TABLES:
        return None
    ways = []
    for size in sizes:
        splits = itertools.combinations(range(size + asked.symbols - 1), asked.symbols - 1)
        ways.append([np.diff([-1, *bars, size + asked.symbols - 1]) - 1 for bars in splits])
    tables = np.array([np.stack(parts, axis=1).ravel() for parts in itertools.product(*ways)]).T
    return np.tile(tables, asked.symbols), np.repeat(np.arange(asked.symbols), tables.shape[1])[None]


def some_tables(asked, length, rng):
    """Random tables: even, uneven, and with single tokens in a class."""
    parts = []
    for weight in (0.02, 0.2, 1.0, 5.0):
        columns = np.empty((asked.symbols, asked.period, 3000), dtype=np.int64)
        for residue in range(asked.period):
            size = class_size(length - 1, residue, asked.period)
            columns[:, residue] = rng.multinomial(size, rng.dirichlet([weight] * asked.symbols, size=3000)).T
        parts.append(columns.reshape(asked.symbols * asked.period, -1))
    tables = np.concatenate(parts, axis=1)
    return tables, rng.integers(0, asked.symbols, size=(1, tables.shape[1]))


def errors(model, asked, tables, query, length):
    """|model - target| on count tables."""
    place = query * asked.period + length % asked.period
    target = asked.target_of(Statistics(np.full(tables.shape[1], length), tables, place))
    return np.abs(outputs_of_counts(model, tables, query, length)[0] - target)


def worst_error(model, asked, longest, rng):
    """The largest error that a search finds at longer lengths: all tables where that is possible, random ones beyond."""
    found = 0.0
    for length in sorted({longest + 1, longest + 2, 2 * longest, 4 * longest, *FAR}):
        tables = all_tables(asked, length) or some_tables(asked, length, rng)
        found = max(found, float(errors(model, asked, *tables, length).max()))
    return found


def mean_error(model, asked, longest, rng):
    """The largest over longer lengths of the mean error, tokens drawn from a flat Dirichlet law."""
    found = 0.0
    for length in sorted({longest + 1, 2 * longest, 4 * longest, *FAR}):
        shares = rng.dirichlet([1.0] * asked.symbols, size=DRAWS)
        query = (rng.random((DRAWS, 1)) > np.cumsum(shares, axis=1)).sum(axis=1).clip(max=asked.symbols - 1)[None]
        tables = draw_counts(rng, shares, length - 1, asked.period)
        found = max(found, float(errors(model, asked, tables, query, length).mean()))
    return found


def trained(target, attention):
    """Members trained by the engine: mean and worst errors at longer lengths by training length, and their theory."""
    asked = task(target)
    lengths = [length for length in LENGTHS if length >= asked.shortest]
    study = lw.Study.parse(
        f'task = "{target}"\nlengths = {lengths}\nseeds = {SEEDS}\n[model]\nwidth = 16\nunits = 64\n'
        f'attention = "{attention}"\n'
        f"[training]\nbatch = 256\nsteps = {STEPS}\n[testing]\nlengths = [1000]\nsamples = 256\n",
        "loose",
    )
    rows = {length: {"mean": [], "worst": [], "bound": [], "average": []} for length in lengths}
    with tempfile.TemporaryDirectory() as folder:
        swept = lw.sweep(study, Path(folder) / "study", say=lambda text: None)
        store = Store(swept.directory)
        for run, one in store.finished(study.runs()).items():
            model, longest, rng = store.model(run), one.run.longest, np.random.default_rng(one.run.seed)
            row = rows[longest]
            row["mean"].append(mean_error(model, asked, longest, rng))
            row["worst"].append(worst_error(model, asked, longest, rng))
            if attention == "plain":
                row["bound"].append(lw.bound(model, error=ERROR).log2_training_length)
                row["average"].append(lw.bound(model, model, error=ERROR, average=1).log2_training_length)
    medians = {
        length: {name: float(np.median(values)) for name, values in row.items() if values}
        for length, row in rows.items()
    }
    print(target, attention, medians, flush=True)
    return {"medians": medians, **{f"required_{name}": required(medians, name) for name in ("mean", "worst")}}


def required(medians, name):
    """The first training length from which on the median error stays at most ERROR, for all longer ones trained too."""
    good = None
    for length in sorted(medians, reverse=True):
        if medians[length][name] > ERROR:
            break
        good = length
    return good


def measure():
    """Everything, into docs/looseness/results.json."""
    results = {
        "error": str(ERROR),
        "date": datetime.now(UTC).date().isoformat(),
        "device": f"CPU, {os.cpu_count()} cores",
        "versions": versions(),
        "targets": {
            target: {"proved": proved(target)} | {rule: trained(target, rule) for rule in ("plain", "log-length")}
            for target in TARGETS
        },
    }
    KEPT.parent.mkdir(exist_ok=True)
    KEPT.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")


INTRODUCTION = """# How loose is the theorem

A proved training length is an upper bound. This page sets it beside what its own proof constructs, what a search finds, a
lower end that no better proof of the kind could pass, and what trained models need. Everything is about an error of
{error}; the numbers are written by `docs/make_looseness.py`.

Two things are never mixed: a **worst** error is about all strings, a **mean** error about random ones.

![Training lengths for six tasks, worst case on the left, average case on the right](looseness/figure.svg)
"""
WORST = """## Worst against worst

Explicit models with {bits} bits, SimpleTask and ModPTask as weights, each paired with a model that attends in the same way
and with one that attends elsewhere (to all positions alike, or to another residue).

* **N**: the training length of [Theorem 2](one-layer.md).
* **constructed, tuned, shortest**: the longest stand-in of {strings} long strings (10^3 to 10^9 tokens, counts from one to
  nearly all) as the proof constructs it, as `lengthwise shorten` sharpens it, and as integer programs find it
  (`--shortest`, box mode). The last two ask for the output errors themselves, which are checked exactly, the first for the
  total variations of the proof.
* **worst string**: how long the shortest stand-in in total variation is for the worst string there is, by a covering of
  all count vectors (`lw.worst_case`). Both ends are proved; where the covering was stopped the upper end is that of
  Theorem 1. No proof that keeps these total variations can give less than the lower end.
"""
MEASURED = """
**Trained.** The measured worst error (a search) is the shortest training length from which on the median over {seeds} seeds of the
largest error at longer lengths stays at most {error}. The search takes all count tables of a length where there are at most
{all_tables:,} of them (just beyond the training length, and at two and four times it) and random ones at 100 to 1,000,000 tokens;
so it is a lower bound of the worst case. Members: one layer of width 16 with 64 units, {steps:,} steps of 256 strings, `plain`
attention, or `log-length` attention without bits. Beside them Theorem P for the plain weights themselves, each model against
itself (median over seeds, as a power of two); no theorem covers log-length attention without bits.
"""
AFTER = """*Not reached*, with training lengths up to {longest}, has two reasons. SimpleTask asks for a hardmax: a single 0 among a
million 2s decides the target, and with plain attention it has hardly any weight, at whatever length one trains. And log-length
attention trains unevenly at this scale, so one of the longer training lengths is above {error} for two of its three seeds.
"""
AVERAGE = """## Average against average

Tokens are drawn by a flat Dirichlet law. **N** is the training length of [Theorem 3](average-case.md) for the explicit models, and
the median over seeds of its form for plain attention on the trained weights themselves (each model beside itself). **Measured
mean error** is the shortest training length from which on the median over {seeds} seeds of the mean error, at each longer
length that was tested (up to 1,000,000 tokens, {draws:,} draws each), stays at most {error}; members with `plain` attention, otherwise
like those above.
"""
READING = """## What to read from it

* With the same attention, and for SimpleTask beside uniform attention, the construction uses nearly all of N. (Two residues of
  ModPTask share no types, so their scales are not chained.) What is lost, is lost before: `tuned` shows how much.
* With the same attention the worst string needs, in all six tasks, exactly 1/eta - 1 positions a class, eta the error over the sum of
  the sensitivities; the theorem gives c/eta + S/2. So it is loose by the constant c and by nothing else: a better proof of this kind
  could save a factor of 2.5 for SimpleTask, and of 4, 6 and 10 for ModPTask of period 2, 3 and 5.
* With different attention the covering was stopped early and the ends are far apart: what the worst string needs there is open
  between them. `shortest` can be below `worst string` because it asks for outputs, not for total variations.
* N for means is above N for the worst case. They start from different hypotheses: agreement on *every* string of the window, against
  a small *mean* there. Means are compared through independent draws of both strings, which costs (L/error)^2 even where
  attention is the same.
* Where training reaches the error, it does at lengths far below N. The theorems are about every pair of models with these
  constants, and training finds one that also does well between its training strings; no smaller constant will close that gap.

{device}; {date}; {versions}. A run takes about ten minutes on two cores.
"""


def cell(value):
    """A number as a table shows it."""
    return "not reached" if value is None else f"{value:,}"


def table(columns, rows):
    """A Markdown table."""
    lines = ["", f"| {' | '.join(columns)} |", f"|{'---|' * len(columns)}"]
    return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in rows), "", ""])


def bracket(row):
    """The worst string, between two ends."""
    low, high = row["worst_at_least"], row["worst_at_most"]
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def page(results):
    """docs/how-loose.md from the kept numbers."""
    targets = results["targets"]
    worst = [
        [f"`{target}`", kind, cell(row["bound"]), cell(row["constructed"]), cell(row["tuned"]), cell(row["shortest"])]
        + [bracket(row)]
        for target, found in targets.items()
        for kind, row in found["proved"].items()
    ]
    trained_worst = [
        [f"`{target}`", cell(found["plain"]["required_worst"]), trained_bound(found["plain"], "bound", "worst")]
        + [cell(found["log-length"]["required_worst"])]
        for target, found in targets.items()
    ]
    average = [
        [f"`{target}`", cell(found["proved"]["same attention"]["average"])]
        + [cell(found["proved"]["other attention"]["average"]), trained_bound(found["plain"], "average", "mean")]
        + [cell(found["plain"]["required_mean"])]
        for target, found in targets.items()
    ]
    words = {
        "error": float(Fraction(results["error"])),
        "bits": BITS,
        "strings": STRINGS,
        "seeds": SEEDS,
        "steps": STEPS,
        "longest": LENGTHS[-1],
        "draws": DRAWS,
        "all_tables": ALL_TABLES,
        "device": results["device"],
        "date": results["date"],
        "versions": ", ".join(f"{name} {version}" for name, version in results["versions"].items()),
    }
    heads = ["task", "pair", "N", "constructed", "tuned", "shortest", "worst string"]
    rules = ["task", "measured worst, plain", "Theorem P, its weights", "measured worst, log-length"]
    means = ["task", "N, same attention", "N, other attention", "N, trained weights", "measured mean error"]
    parts = [INTRODUCTION, WORST, table(heads, worst), MEASURED, table(rules, trained_worst), AFTER]
    parts += [AVERAGE, table(means, average), READING]
    return "\n".join(part.strip("\n") + "\n" for part in (part.format(**words) for part in parts))


def trained_bound(found, name, kind):
    """The median bound at the first training length that suffices, or at the longest: a power of two."""
    length = found[f"required_{kind}"] or max(map(int, found["medians"]))
    return f"2^{found['medians'][str(length)][name]:.1f}"


def figure(results):
    """Two panels that share nothing: worst errors, mean errors."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams |= {"svg.hashsalt": "lengthwise", "font.size": 8}
    import matplotlib.pyplot as plt

    targets = results["targets"]
    drawn, (left, right) = plt.subplots(1, 2, figsize=(9, 4.8), layout="constrained", sharey=False)
    places = np.arange(len(targets))
    for kind, shift, face in (("same attention", -0.18, "full"), ("other attention", 0.18, "none")):
        rows = [found["proved"][kind] for found in targets.values()]
        for name, words, marker, colour in (
            ("bound", "N", "_", "black"),
            ("constructed", "constructed", "v", "tab:red"),
            ("tuned", "tuned", "s", "tab:orange"),
            ("shortest", "shortest", "o", "tab:green"),
        ):
            left.plot(
                places + shift,
                [row[name] for row in rows],
                marker,
                color=colour,
                fillstyle=face,
                label=f"{words}, {kind}",
            )
        ends = [(row["worst_at_least"], row["worst_at_most"]) for row in rows]
        left.vlines(places + shift + 0.08, *zip(*ends, strict=True), color="tab:blue", lw=2 if face == "full" else 1)
        left.plot(places + shift + 0.08, [low for low, _ in ends], "_", color="tab:blue", label=f"worst string, {kind}")
    measured = [found["log-length"]["required_worst"] for found in targets.values()]
    left.plot(
        places,
        [np.nan if v is None else v for v in measured],
        "*",
        color="tab:purple",
        label="measured worst (a search)",
    )
    left.set(title="worst error", ylabel="training length (tokens)")
    for kind, marker in (("same attention", "_"), ("other attention", "x")):
        right.plot(
            places, [f["proved"][kind]["average"] for f in targets.values()], marker, color="black", label=f"N, {kind}"
        )
    weights = [2.0 ** float(trained_bound(f["plain"], "average", "mean")[2:]) for f in targets.values()]
    right.plot(places, weights, "^", color="tab:red", label="N, trained weights")
    means = [found["plain"]["required_mean"] for found in targets.values()]
    right.plot(places, [np.nan if v is None else v for v in means], "*", color="tab:purple", label="measured mean")
    right.set(title="mean error", ylabel="training length (tokens)")
    for axis in (left, right):
        axis.set_yscale("log")
        axis.set_xticks(places, [target.replace(":", "\n") for target in targets], fontsize=7)
        axis.legend(fontsize=6, ncols=2, loc="upper center", bbox_to_anchor=(0.5, -0.14))
        axis.grid(axis="y", lw=0.3)
    drawn.savefig(FIGURE, metadata={"Date": None})


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--measure", action="store_true", help="compute everything anew")
    if parser.parse_args().measure:
        measure()
    kept = json.loads(KEPT.read_text(encoding="utf-8"))
    PAGE.write_text(page(kept), encoding="utf-8")
    figure(kept)
