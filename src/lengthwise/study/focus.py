"""Figure 3: attention profiles of a study's trained models, and their panels."""

from collections.abc import Sequence

import numpy as np

from lengthwise.study.attention_profile import Profile, profile
from lengthwise.study.claims import SUFFICES
from lengthwise.study.curves import member, series
from lengthwise.study.panels import Line, Panel
from lengthwise.study.reading import Directory
from lengthwise.study.store import Store
from lengthwise.tasks.registry import made, parsed
from lengthwise.tasks.regression import ModPTask

LENGTH = 80  # of the published test strings
STRINGS = 256
SEED = 3
SHOWN_POSITIONS = "position in the string"


def profiles_of(found: Directory) -> list[Profile]:
    """The attention of every training length's models on one batch of strings of length 80 from the task's law."""
    name, given = parsed(found.study.task)
    task = made(name, given)
    assert isinstance(task, ModPTask)
    strings = task.strings(np.random.default_rng(SEED), LENGTH, STRINGS)
    store = Store(found.path)
    known = []
    for line in series(member(one) for one in found.finished.values()):
        for longest, plateau in zip(line.lengths, line.medians, strict=True):
            models = [store.model(one.run) for one in line.members[longest] if one.ended != "diverged"]
            if models:
                known.append(profile(models, strings, task.residue, task.period, longest, float(plateau)))
    return known


def rows_of_profiles(known: Sequence[Profile]) -> list[tuple[str, list[Panel]]]:
    """For each attention rule: where the shortest and the longest trained models look, and all lengths in numbers."""
    rows = []
    for attention in sorted({one.attention for one in known}, key=lambda name: name != "plain"):
        mine = [one for one in known if one.attention == attention]
        panels = [attention_panel(one) for one in (mine[0], mine[-1])]
        rows.append((f"{attention} attention", [*panels, focus_panel(mine)]))
    return rows


def attention_panel(one: Profile) -> Panel:
    """Attention of the last position by position: mean and one standard deviation over strings and seeds."""
    places = np.arange(1, len(one.mean) + 1, dtype=np.float64)
    drawn = [
        Line(
            label,
            places[mine],
            one.mean[mine],
            (one.mean - one.deviation)[mine],
            (one.mean + one.deviation)[mine],
            "points",
        )
        for label, mine in (("on the residue", one.on), ("elsewhere", ~one.on))
    ]
    drawn.append(Line(f"1/{one.count}", places[[0, -1]], np.full(2, 1 / one.count), kind="reference"))
    enough = "suffices" if one.plateau <= SUFFICES else "does not suffice"
    return Panel(
        "attention",
        f"Trained up to {one.longest} ({enough})",
        SHOWN_POSITIONS,
        "attention probability\n(mean ± deviation)",
        tuple(drawn),
        ("position", "attention"),
        log_x=False,
        log_y=False,
    )


def focus_panel(known: Sequence[Profile]) -> Panel:
    """Mean attention on and off the residue against the training length, relative to 1 / count."""
    x = np.asarray([one.longest for one in known], float)
    drawn = []
    for label, mean, deviation in (
        ("on the residue", "mean_on", "deviation_on"),
        ("elsewhere", "mean_off", "deviation_off"),
    ):
        scale = np.asarray([one.count for one in known])
        middle = scale * [getattr(one, mean) for one in known]
        around = scale * [getattr(one, deviation) for one in known]
        drawn.append(Line(label, x, middle, middle - around, middle + around))
    return Panel(
        "focus",
        "All training lengths",
        "training length",
        f"attention probability × {known[0].count}\n(mean ± deviation)",
        tuple(drawn),
        ("training_length", "attention_times_count"),
        log_y=False,
    )
