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

import looseness_page
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
SETTINGS = {
    "bits": BITS,
    "strings": STRINGS,
    "seeds": SEEDS,
    "steps": STEPS,
    "longest": LENGTHS[-1],
    "draws": DRAWS,
    "all_tables": ALL_TABLES,
}  # told on the page


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
        "settings": SETTINGS,
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


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--measure", action="store_true", help="compute everything anew")
    if parser.parse_args().measure:
        measure()
    kept = json.loads(KEPT.read_text(encoding="utf-8"))
    PAGE.write_text(looseness_page.page(kept), encoding="utf-8")
    looseness_page.figure(kept, FIGURE)
