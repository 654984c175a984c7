"""The page and the figure of looseness, from the numbers that docs/make_looseness.py keeps."""

from fractions import Fraction

import numpy as np

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
        **results["settings"],
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


def figure(results, path):
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
    drawn.savefig(path, metadata={"Date": None})
