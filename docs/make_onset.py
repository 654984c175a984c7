"""Measures from where attention is a hardmax, and writes docs/onset/: tables in CSV and Markdown, and the figure.

The models are three explicit ones and those of results/onset, which `results/make_onset.py` trains. Trained logits hardly
ever tie, so every trained model is rounded to a declared grid of logits first, and gets 24 bits, those of a float32.
"""

import csv
import io
import json
import math
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

import numpy as np

import lengthwise as lw
from lengthwise.limit.constructions import mod_p_task, simple_task
from lengthwise.limit.model import LimitTransformer
from lengthwise.limit.onset import worst_onset
from lengthwise.limit.quantities import logit_margin, round_to_grid
from lengthwise.limit.worst_distance import worst_distance
from lengthwise.study.drawing import METADATA, STYLE
from lengthwise.study.hardmax_onset import law_distances, law_onset
from lengthwise.study.profile_by_length import focus
from lengthwise.tasks.protocol import RegressionTask
from lengthwise.tasks.regression import ModPTask, SimpleTask

HERE, TRAINED = Path(__file__).with_name("onset"), Path(__file__).parents[1] / "results" / "onset"
BITS = 24
GRIDS = (2, 4)  # logits in multiples of 2^-2 and 2^-4
DISTANCES = (0.1, 0.01, 0.001)
SAMPLES = 8192
LENGTHS = tuple(1 << k for k in range(3, 49, 3))
COLOURS = [f"C{i}" for i in range(10)]
LEAST = 1e-9  # below it nothing is drawn
PROFILED = (20, 80, 320, 1280, 10_000, 1_000_000)


@dataclass(frozen=True)
class Case:
    """A model whose onset is measured. grid: None for explicit weights; change: the largest change of a logit."""

    name: str
    task: RegressionTask
    model: LimitTransformer
    grid: int | None
    change: float
    loss: float | None


def scaled(model: LimitTransformer, factor: float) -> LimitTransformer:
    """The same weights with all logits times a factor."""
    layer = model.layers[0]
    heads = tuple(replace(head, key=np.asarray(head.key) * factor) for head in layer.heads)
    return replace(model, layers=(replace(layer, heads=heads),))


def members() -> list[dict[str, object]]:
    """The trained models' records."""
    found: list[dict[str, object]] = json.loads((TRAINED / "index.json").read_text(encoding="utf-8"))["members"]
    return found


def cases() -> list[Case]:
    """Explicit weights with margins 1/2, 1 and 2, then the trained models on each grid."""
    simple, modp = SimpleTask(2.0), ModPTask(3, 1)
    found = [
        Case(f"explicit simple, margin {factor:g}", simple, scaled(simple_task(2.0, bits=BITS), factor), None, 0, None)
        for factor in (0.5, 1, 2)
    ]
    found.append(Case("explicit modp:period=3, margin 1", modp, mod_p_task(3, 1, bits=BITS), None, 0, None))
    found.append(Case("explicit simple, plain", simple, simple_task(2.0, attention="plain"), None, 0, None))
    for one in members():
        trained = lw.load(TRAINED / str(one["file"]))
        bits = BITS if trained.attention == "log-length" else None
        for grid in GRIDS:
            rounded = round_to_grid(trained, grid)
            model = replace(rounded.model, bits=bits)
            name = str(one["file"]).removesuffix(".safetensors")
            loss = float(one["training_loss"])  # type: ignore[arg-type]
            found.append(Case(name, lw.task(str(one["task"])), model, grid, float(rounded.logit_change), loss))
    return found


COLUMNS = (
    *("model", "attention", "training_loss", "grid", "logit_change", "margin", "log2_threshold"),
    *(f"mean_{distance:g}" for distance in DISTANCES),
    *("share99_0.01", "worst_0.01_at_least", "worst_0.01_at_most", "mean_distance_at_10^6"),
)


def onset_row(case: Case) -> list[object]:
    """One line of the table; an onset that is not reached by 2^50 is empty."""
    margin = logit_margin(case.model)
    threshold = None if case.model.bits is None else Fraction(0) if margin == math.inf else BITS / Fraction(margin)
    worst = worst_onset(case.model, Fraction(1, 100))
    means = [law_onset(case.model, case.task, distance, samples=SAMPLES) for distance in DISTANCES]
    most = law_onset(case.model, case.task, 0.01, 0.99, samples=SAMPLES)
    plateau = max(law_distances(case.model, case.task, n, SAMPLES).mean for n in around(case, 10**6))
    return [
        *(case.name, case.model.attention, "" if case.loss is None else f"{case.loss:.2g}"),
        *("" if case.grid is None else f"2^-{case.grid}", f"{case.change:.2g}", f"{float(margin):g}"),
        *("" if threshold is None else f"{float(threshold):.4g}", *("" if one is None else one for one in means)),
        *("" if most is None else most, worst.at_least, "" if worst.at_most is None else worst.at_most),
        f"{plateau:.3g}",
    ]


def around(case: Case, length: int) -> range:
    """So many lengths that the last position has every residue."""
    return range(length, length + case.model.period)


def distance_rows(every: list[Case]) -> list[list[object]]:
    """For each model on the coarse grid and about each length: the largest mean, its standard error, the worst string."""
    found = []
    for case in every:
        if case.grid in (None, GRIDS[0]):
            for length in LENGTHS:
                laws = [law_distances(case.model, case.task, n, SAMPLES) for n in around(case, length)]
                law = max(laws, key=lambda one: one.mean)
                worst = max(worst_distance(case.model, n).distance for n in around(case, length))
                row = [case.name, length, f"{law.mean:.6g}", f"{law.standard_error:.2g}", f"{worst:.6g}"]
                found.append(row)
    return found


def profile_rows() -> list[list[object]]:
    """Figure 3 by length: period 5, both rules, trained weights as they are."""
    found = []
    for member in members():
        task = lw.task(str(member["task"]))
        if not isinstance(task, ModPTask) or task.period != 5:
            continue
        model = lw.load(TRAINED / str(member["file"]))
        for length in PROFILED:
            one = focus([model], task, length)
            numbers = (one.mean_on, one.deviation_on, one.mean_off, one.deviation_off)
            found.append([_short(str(member["file"])), length, *(f"{number:.5g}" for number in numbers)])
    return found


def _short(name: str) -> str:
    """A member's name without what all have in common: plain, seed 0."""
    return name.removesuffix(".safetensors").replace("modp-period5-", "").replace("-seed", ", seed ")


def power(exponent: str) -> str:
    """A threshold as a power of two; 1 for uniform attention."""
    return "none" if not exponent else f"2^{float(exponent):.4g}" if float(exponent) else "1"


def said(value: object) -> str:
    """A length in the table; large ones as powers of two."""
    if value == "":
        return "not reached"
    length = int(str(value))
    return f"{length:,}" if length < 10**7 else f"2^{math.log2(length):.4g}"


def table(rows: list[list[object]]) -> str:
    """The table of the page."""
    lines = [
        "| model | training loss | logits moved by | margin | threshold | mean ≤ 0.1 | mean ≤ 0.01 "
        "| 99 of 100 strings ≤ 0.01 | every string ≤ 0.01 | mean at 10^6 |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        one = dict(zip(COLUMNS, row, strict=True))
        if one["grid"] not in ("", f"2^-{GRIDS[0]}"):
            continue
        least, most = one["worst_0.01_at_least"], one["worst_0.01_at_most"]
        ends = [said(least), said(most)] if most != "" else ["never"]
        cells = [
            *(
                one["model"],
                one["training_loss"],
                one["logit_change"],
                one["margin"],
                power(str(one["log2_threshold"])),
            ),
            *(said(one[name]) for name in ("mean_0.1", "mean_0.01", "share99_0.01")),
            *(" to ".join(dict.fromkeys(ends)), one["mean_distance_at_10^6"]),
        ]
        lines.append(f"| {' | '.join(map(str, cells))} |")
    return "\n".join(lines) + "\n"


KINDS = {"SimpleTask, log-length": ("simple", False), "ModPTask, log-length": ("modp", False), "plain": ("", True)}


def draw(curves: list[list[object]], profiles: list[list[object]]) -> bytes:
    """Mean and worst distances against the length, and Figure 3 by length, as an SVG; the same bytes every time."""
    import matplotlib
    from matplotlib.figure import Figure

    stream = io.BytesIO()
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(STYLE)
        figure = Figure(figsize=(9.4, 7.6), layout="constrained")
        axes = figure.subplots(3, 3)
        for column, (title, (task, plain)) in enumerate(KINDS.items()):
            names = dict.fromkeys(str(row[0]) for row in curves)
            chosen = [name for name in names if task in name and ("plain" in name) == plain]
            for row, (place, what) in enumerate(((2, "mean over the task's law"), (4, "worst string"))):
                for colour, name in zip(COLOURS, chosen, strict=False):
                    points = [(float(str(r[1])), float(str(r[place]))) for r in curves if r[0] == name]
                    above = [(x, y) for x, y in points if y > LEAST]
                    axes[row, column].plot(
                        *zip(*above, strict=True), ".-", color=colour, label=_label(name), markersize=3
                    )
                axes[row, column].set(xscale="log", yscale="log", ylim=(LEAST, 2), title=f"{title}: {what}")
                if not plain:
                    axes[row, column].axvline(2.0**BITS, color="0.5", linestyle="--", linewidth=0.8)
            axes[1, column].legend(frameon=False, fontsize=5.5, loc="center right")
        for column, (mean, what) in enumerate(((2, "on the residue"), (4, "elsewhere"))):
            names = dict.fromkeys(str(row[0]) for row in profiles)
            for colour, name in zip(COLOURS, names, strict=False):
                mine = [row for row in profiles if row[0] == name]
                x, y, deviation = (np.array([float(str(r[i])) for r in mine]) for i in (1, mean, mean + 1))
                axes[2, column].plot(x, y, "o-", color=colour, label=name, markersize=3)
                axes[2, column].fill_between(x, np.maximum(y - deviation, 0), y + deviation, color=colour, alpha=0.15)
            axes[2, column].set(xscale="log", title=f"Figure 3 by length: {what}")
        axes[2, 2].legend(*axes[2, 0].get_legend_handles_labels(), frameon=False, loc="upper left")
        axes[2, 2].text(0.02, 0.2, f"dashed: $2^{{{BITS}}}$, the threshold\nof margin 1 at {BITS} bits")
        axes[2, 2].set_axis_off()
        for row, label in enumerate(["total variation from the hardmax"] * 2 + ["attention × positions on it"]):
            axes[row, 0].set_ylabel(label)
            for one in axes[row]:
                one.set_xlabel("length")
                one.grid(color="0.92", linewidth=0.4)
        figure.savefig(stream, format="svg", metadata=METADATA["svg"])
    return stream.getvalue()


def _label(name: str) -> str:
    """A model's name without what its panel says."""
    return name.replace("-log-length", "").replace("-plain", "").replace("explicit simple, ", "explicit, ")


def write(name: str, head: tuple[str, ...], rows: list[list[object]]) -> None:
    """A CSV file."""
    with (HERE / name).open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows([head, *rows])


def main() -> None:
    """Measure, write, draw."""
    HERE.mkdir(exist_ok=True)
    every = cases()
    onsets = [onset_row(case) for case in every]
    write("onset.csv", COLUMNS, onsets)
    (HERE / "table.md").write_text(table(onsets), encoding="utf-8")
    curves, profiles = distance_rows(every), profile_rows()
    write("distance.csv", ("model", "length", "mean", "standard_error", "worst"), curves)
    write("profile.csv", ("attention", "length", "mean_on", "deviation_on", "mean_off", "deviation_off"), profiles)
    (HERE / "figure.svg").write_bytes(draw(curves, profiles))


if __name__ == "__main__":
    main()
