"""What a training loss of 1e-5 hides: writes docs/what-a-loss-hides.md: `python docs/make_hides.py [--measure]`.

With --measure the models of results/hides are attacked, certified and checked anew (minutes) and the numbers kept in
docs/hides/results.json; without, only the page and its figure are written from what is kept there.
"""

import argparse
import json
import math
import os
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path

import lengthwise as lw
from lengthwise.study.machine import versions
from lengthwise.tasks.registry import parsed

HERE = Path(__file__).parent
MODELS = HERE.parent / "results" / "hides"
KEPT, FIGURE, PAGE = HERE / "hides" / "results.json", HERE / "hides" / "figure.svg", HERE / "what-a-loss-hides.md"
CUT, ERROR = "c0 + c1 >= 0.05 n", 0.1
INTRODUCTION = f"""# What a loss of 1e-5 hides

A training loss is a mean over random strings. These models were trained until theirs was below 1e-5, on strings of up to 48
(SimpleTask) or 24 tokens (ModPTask); they are one layer of [plain attention](limit-transformers.md), 16 wide with 256
units, as in the published experiments. Each has a twin of which a quarter of every batch was drawn [at the
corners](studies.md): few kinds of tokens, rare ones. The models are in `results/hides`; this page is written by
`docs/make_hides.py`.

* **Mean** is the root of the mean squared error over random strings of a million tokens: an error, like the other columns.
* **Sampled** is the largest error among 32,768 random strings of a million tokens, of whatever kind.
* **Attacked** is the largest error that [a search](attack.md) finds, at lengths up to a million.
* **Certified** brackets the largest error over *all* strings of *all* lengths ([certify](certify.md)). The lower end is
  attained by a string; the upper end is proved, and a [certificate](certificate.md) of it was accepted by the independent
  checker, a program that needs nothing but Python.
* **Theorem P**: a training length that [the theorem](one-layer.md) proves to be enough: this model and any one with no worse
  constants, once they agree on all strings of that length, differ by at most {ERROR} on longer ones. It is about two
  models that agree, not about how well this one was trained.

![Mean, sampled, attacked and certified errors of every model](hides/figure.svg)
"""
SIMPLE = """## SimpleTask

The target $\\sin(\\omega\\, (c_0 - c_1)/(c_0 + c_1))$ jumps where nearly all tokens are 2: one 0 or one 1 more decides it. Plain attention is
continuous there, so *no* training makes its worst error small; the bracket is above 1 for every model. So *attacked*
and *certified* are about the strings with $c_0 + c_1 \\ge n/20$ (`--where "c0 + c1 >= 0.05 n"`), and the last column about all.
*Mean* and *sampled* are about all strings as well: the sampled ones come near the jump, so a sampled error can be above the
certified one beside it, though never above that of the last column.
"""
MODP = """## ModPTask

The mean of the tokens at one residue. Nothing jumps, so there is nothing to leave out.
"""
READING = """## What to read from it

{reading}
* A certificate says more than an attack only where the attack could have missed something: here every attack found at least
  {least_attack} of the certified lower end. It is the *upper* end that no search can give.
* Proving took {seconds} s a model at the most, and {cells} cells; checking {checked} s ({device}).

A model of your own: `lengthwise sweep` leaves one for every member of a study;

```sh
lengthwise certify member.safetensors --task simple:omega=4 --where "{cut}" --certificate c.json
lengthwise check c.json
```
"""


def measured(entry):
    """One model: attack, certify and check, with and without the cut; Theorem P."""
    model, task = lw.load(MODELS / entry["file"]), lw.task(entry["task"])
    last = max(entry["loss"], key=int)
    row = {
        "file": entry["file"],
        "task": entry["task"],
        "share": entry["adversarial"],
        "training_loss": entry["training_loss"],
        "mean": math.sqrt(entry["loss"][last]),
        "sampled": entry["worst_error"][last],
        "theorem_p": lw.bound(model, error=ERROR).training_length,
    }
    for name, where in {"all": None, **({"cut": CUT} if task.name == "simple" else {})}.items():
        begun = time.perf_counter()
        found = lw.certify(model, task, where=where)
        proved = time.perf_counter() - begun
        with tempfile.TemporaryDirectory() as folder:
            path = found.certificate(Path(folder, "c.json"))
            begun = time.perf_counter()
            checked = lw.check(path)
            row[name] = {
                "attacked": lw.attack(model, task, where=where, length=(task.shortest, 10**6)).worst_error,
                "lower": found.lower,
                "upper": found.upper,
                "length": found.witness.counts.length,
                "cells": found.cells,
                "seconds": round(proved, 2),
                "checked": checked.valid,
                "check_seconds": round(time.perf_counter() - begun, 2),
                "bytes": path.stat().st_size,
            }
    print(row["file"], row[name], flush=True)
    return row


def kind(row):
    """Simple or modp."""
    return parsed(row["task"])[0]


def shown(row):
    """A model as the table calls it."""
    _, given = parsed(row["task"])
    if kind(row) == "modp":
        return f"period {given['period']}, residue {given['residue']}"
    return f"omega {given['omega']:g}" + (f", {given['symbols']} tokens" if given["symbols"] > 3 else "")


def table(rows, simple):
    """One line a model."""
    heads = ["model", "corners", "training loss", "mean", "sampled", "attacked", "certified", "Theorem P"]
    heads += ["all strings"] if simple else []
    lines = ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)]
    for row in rows:
        here = row["cut" if simple else "all"]
        cells = [
            shown(row),
            f"{row['share']:g}",
            f"{row['training_loss']:.1e}",
            f"{row['mean']:.4f}",
            f"{row['sampled']:.3f}",
            f"{here['attacked']:.4f}",
            f"{here['lower']:.4f} .. {here['upper']:.4f}",
            f"{row['theorem_p']:.2g}".replace("e+0", "e"),
        ]
        cells += [f"{row['all']['lower']:.3f} .. {row['all']['upper']:.3f}"] if simple else []
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def reading(kept):
    """What the numbers say."""
    rows = kept["rows"]
    brackets = [row[name] for row in rows for name in ("all", "cut") if name in row]
    simple = [row for row in rows if kind(row) == "simple"]
    own = [row for row in simple if not row["share"]]
    ratio = [row["cut"]["lower"] / row["mean"] for row in own]
    modp = [row["all"]["lower"] / row["mean"] for row in rows if kind(row) == "modp" and not row["share"]]
    twins = [
        (row, next(t for t in rows if t["task"] == row["task"] and t["share"])) for row in rows if not row["share"]
    ]
    better = sum(twin[cut]["upper"] < row[cut]["lower"] for row, twin in twins for cut in [_cut(row)])
    text = (
        f"* SimpleTask, away from the jump: the worst error is {min(ratio):.0f} to {max(ratio):.0f} times the mean error of the "
        f"same model, trained without corners; ModPTask {min(modp):.0f} to {max(modp):.0f} times.\n"
        f"* Training at the corners provably lowers the worst error of {better} of {len(twins)} models. "
        "It cannot help at the jump."
    )
    return text, {
        "least_attack": f"{100 * min(one['attacked'] / one['lower'] for one in brackets):.1f} %",
        "seconds": f"{max(one['seconds'] for one in brackets):.1f}",
        "cells": f"{max(one['cells'] for one in brackets):,}",
        "checked": f"{max(one['check_seconds'] for one in brackets):.1f}",
        "device": kept["made"]["device"],
    }


def _cut(row):
    return "cut" if "cut" in row else "all"


def page(kept):
    """The page as it should be."""
    simple, modp = ([row for row in kept["rows"] if kind(row) == name] for name in ("simple", "modp"))
    text, numbers = reading(kept)
    parts = [INTRODUCTION, SIMPLE, table(simple, True), MODP, table(modp, False)]
    return "\n".join([*parts, READING.format(reading=text, cut=CUT, **numbers)])


def draw(kept, path):
    """Four errors a model, side by side, twins in neighbouring columns."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    plt.rcParams["svg.hashsalt"] = "lengthwise"
    figure, axes = plt.subplots(1, 2, figsize=(12, 4.6), sharey=True, constrained_layout=True)
    titles = {"simple": f"SimpleTask, {CUT}", "modp": "ModPTask"}
    for axis, name in zip(axes, titles, strict=True):
        rows = [row for row in kept["rows"] if kind(row) == name]
        places = range(len(rows))
        for label, marker, value in (
            ("mean", "_", lambda row: row["mean"]),
            ("sampled (32,768 of all strings)", "o", lambda row: row["sampled"]),
            ("attacked", "x", lambda row: row[_cut(row)]["attacked"]),
            ("certified upper end", "v", lambda row: row[_cut(row)]["upper"]),
        ):
            axis.plot(places, [value(row) for row in rows], marker, label=label, markersize=8)
        axis.set_yscale("log")
        axis.set_xticks(
            list(places), [shown(row) + (" *" if row["share"] else "") for row in rows], rotation=60, ha="right"
        )
        axis.set_title(titles[name])
        axis.grid(axis="y", alpha=0.3)
    axes[0].set_ylabel("error; * trained with corners")
    axes[1].legend(loc="upper right", fontsize=8)
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)


def main():
    """Measure if asked, then write page and figure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--measure", action="store_true", help="measure everything anew")
    if parser.parse_args().measure:
        members = json.loads((MODELS / "index.json").read_text(encoding="utf-8"))["members"]
        order = {"simple": 0, "modp": 1}
        members.sort(key=lambda one: (order[parsed(one["task"])[0]], one["task"], one["adversarial"]))
        made = {
            "device": f"{os.cpu_count()} cores",
            "date": datetime.now(UTC).date().isoformat(),
            "versions": versions(),
        }
        KEPT.parent.mkdir(exist_ok=True)
        rows = ",\n".join("  " + json.dumps(measured(one)) for one in members)
        KEPT.write_text(f'{{\n "made": {json.dumps(made)},\n "rows": [\n{rows}\n ]\n}}\n', encoding="utf-8")
    kept = json.loads(KEPT.read_text(encoding="utf-8"))
    draw(kept, FIGURE)
    PAGE.write_text(page(kept), encoding="utf-8")


if __name__ == "__main__":
    main()
