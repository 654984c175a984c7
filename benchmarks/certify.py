"""Certified worst errors of trained models: `python benchmarks/certify.py [--write] [--quick]`.

For the models of results/hides: seconds and cells until the bracket is 1e-3 wide, how long the independent checker takes,
the largest error over all tables of counts up to 200 tokens as a share of the upper end (never above 1), and how many
cells the same search needs when it encloses them by interval arithmetic (the rival; stopped at 100,000).
"""

import argparse
import json
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
from _stored import store

import lengthwise as lw
from lengthwise.theory import certify as search
from lengthwise.theory.cell_corners import corners_of
from lengthwise.theory.certify import Limits
from lengthwise.theory.leaf import enclosed

HERE = Path(__file__).parent
MODELS = HERE.parent / "results" / "hides"
CUT, LONGEST, MOST = "c0 + c1 >= 0.05 n", 200, 100_000
sys.path.insert(0, str(HERE.parent / "results"))


def by_intervals(forms, cells, timed):
    """The enclosure of interval arithmetic: every unit and the target on their own ranges over the cell."""
    found = enclosed(forms, cells, timed)
    values = corners_of(forms, cells, timed).values
    units, inside = len(forms.unit), found.conditions
    counted = np.ones(values.shape[:2], bool) if not inside.shape[2] else _counted(found.face, inside)
    mean = values[..., 1 : 2 + units] / values[..., :1]  # one head

    def ends(array):
        known = counted.reshape(*counted.shape, *(1,) * (array.ndim - 2))
        return np.where(known, array, np.inf).min(1), np.where(known, array, -np.inf).max(1)

    low, high = ends(forms.start + mean[..., 0])
    bottom, top = (np.maximum(forms.unit + end, 0.0) for end in ends(mean[..., 1:]))
    rise, fall = np.maximum(forms.readout, 0.0), np.maximum(-forms.readout, 0.0)
    low, high = low + bottom @ rise - top @ fall, high + top @ rise - bottom @ fall
    over, under = values[..., -2 - forms.conditions], values[..., -1 - forms.conditions]
    ratio = np.where(under > 0, over / np.where(under > 0, under, 1), 0.0)
    least, most = ends(forms.target.curve(ratio))
    bent = (float(forms.target.scale) * np.subtract(*reversed(ends(ratio)))) ** 2 / 8
    bent = bent if forms.target.activation == "sin" else 0.0
    return replace(found, low=low - most - bent - forms.tail, high=high - least + bent - forms.tail)


def _counted(face, conditions):
    there = np.take_along_axis(conditions, np.maximum(face, 0)[:, None, None], axis=2)[..., 0]
    return (face < 0)[:, None] | (np.abs(there) <= 1e-12)


def row(entry, quick):
    """One model."""
    from count_scan import scan

    model, task = lw.load(MODELS / entry["file"]), lw.task(entry["task"])
    where = CUT if task.name == "simple" else None
    begun = time.perf_counter()
    found = lw.certify(model, task, where=where)
    seconds = time.perf_counter() - begun
    with tempfile.TemporaryDirectory() as folder:
        path = found.certificate(Path(folder, "c.json"))
        begun = time.perf_counter()
        assert lw.check(path).valid
        checked = time.perf_counter() - begun
    search.enclosed = by_intervals
    try:
        rival = lw.certify(model, task, where=where, small=found.small, limits=Limits(most_cells=MOST))
    finally:
        search.enclosed = enclosed
    keep = (lambda counts, n: 20 * (counts[0] + counts[1]) >= n) if where else None
    longest = 40 if quick else LONGEST  # minutes for a period of 3
    worst = scan(model, task, range(task.shortest, longest + 1), every=True, keep=keep) if task.symbols < 4 else None
    return {
        "what": entry["file"].removesuffix(".safetensors"),
        "ours": round(seconds, 2),
        "unit": "s to a bracket of 1e-3",
        "wanted": "< 300, bracket 5e-3",
        "cells": found.cells,
        "check": f"{checked:.2f} s",
        "upper end": found.upper,
        "largest by brute force / upper end": None if worst is None else worst.error / found.upper,
        "brute force to length": longest if worst is not None else None,
        "rival_name": "cells of interval arithmetic",
        "rival": rival.cells,
        "rival's bracket": rival.upper - rival.lower,
        "ratio": rival.cells / found.cells,
    }


def main():
    """Runs all rows, prints them, and with --write stores them for the docs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="store the rows in benchmarks/results/certify.json")
    parser.add_argument("--quick", action="store_true", help="brute force to length 40 only")
    given = parser.parse_args()
    members = json.loads((MODELS / "index.json").read_text())["members"]
    rows = []
    for entry in members:
        if not entry["adversarial"]:
            rows.append(row(entry, given.quick))
            print(rows[-1], flush=True)
    if given.write:
        store("certify", "certified worst errors of trained models", rows)


if __name__ == "__main__":
    main()
