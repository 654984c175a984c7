"""The published claims of Figures 1, 2 and 3, each judged on measured curves: it holds, it fails, or why nobody can say.

Source of every claim: "Quantitative Bounds for Length Generalization in Transformers", the workshop version's Figures
1 to 3 and the panels of the ICLR version. Limits that turn words like "nearly" into numbers are ours and stand here.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lengthwise.study.attention_profile import Profile
from lengthwise.study.curves import Series
from lengthwise.study.measure import overlap, plateaus, required_length
from lengthwise.study.scaling import fit
from lengthwise.study.steps import STEP, FallingStep, judged, steps, whole_way
from lengthwise.tasks.regression import SimpleTask

LOSS = 1e-2  # the published threshold
TRAINED = 1e-4  # training loss from which on "rises with omega" is judged
STRAIGHT = 0.95  # least R^2 of a line
NEARLY = 3.0  # largest over smallest plateau, median over the grid, of curves that nearly overlap
CLOSE = 0.1  # relative distance of an attention probability from 1/16 that is still close; and of the others from 0
STOPPED = (
    2.0  # times the loss at which training stops: the order of plateaus up to here is the stop rule's, not the task's
)
SUFFICES = 1e-3  # plateau at which a training length suffices for Figure 3


@dataclass(frozen=True)
class Claim:
    """One claim: what was published, what was measured, whether it holds (None: cannot be judged, see reason)."""

    figure: str
    claim: str
    published: str
    measured: str
    holds: bool | None
    required: bool
    reason: str = ""
    data: tuple[dict[str, Any], ...] = ()


Verdict = tuple[str, bool | None, str, tuple[dict[str, Any], ...]]


def settles(lines: Sequence[Series]) -> Verdict:
    """The loss changes by less than 10 % a decade between test lengths 10^4 and 10^6, up to the seeds' interval."""
    found = [(line, one) for line in lines for one in plateaus(line)]
    unknown = [one.reason for _, one in found if one.settled is None]
    if unknown:
        return "", None, f"{len(unknown)} of {len(found)} curves: {unknown[0]}", ()
    moving = [(line, one) for line, one in found if one.settled is False]
    certain = [(line, one) for line, one in moving if one.certainly_moving]
    infinite = [(line, one) for line, one in found if not np.isfinite(one.median)]
    line, worst = max(found, key=lambda pair: abs(pair[1].change or 0.0))
    change = "infinite" if worst.change is None else f"{worst.change:+.1%}"
    over_line, over = max(found, key=lambda pair: pair[1].overshoot)
    measured = (
        f"{len(found) - len(moving)} of {len(found)} curves change by less than 10 % a decade; the largest change is "
        f"{change} ({line.name}, N = {worst.longest}); the largest overshoot is x{over.overshoot:.2f} at "
        f"length {over.peak_length} ({over_line.name}, N = {over.longest})"
    )
    rows: tuple[dict[str, Any], ...] = tuple(
        {**line.setting, "training_length": one.longest, "change": one.change, "certain": one.certainly_moving}
        for line, one in moving
    )
    doubtful = [one for _, one in moving if not one.certainly_moving]
    reason = f"{len(doubtful)} more move within the seeds' interval" if doubtful else ""
    return measured, not certain and not infinite, reason, rows


def falls(lines: Sequence[Series]) -> Verdict:
    """From each training length to the next at least 1.5 times as long the median plateau falls."""
    told = [(line.lengths, line.medians, line.draws, line.name, line.resampled, floor([line])) for line in lines]
    found = [one for each in told for one in steps(*each)]
    if not found:
        return "", None, f"no two training lengths are {STEP:g} times apart", ()
    ways = [whole_way(*each) for each in told]
    totals = [float(line.medians[0] / line.medians[-1]) for line in lines if 0 < line.medians[-1] < np.inf]
    least, most = min(totals, default=1.0), max(totals, default=1.0)
    spread = f"; from the shortest to the longest by a factor of {least:.3g} to {most:.3g}"
    holds, reason, count = judged(found, ways)
    return f"{count} fall{spread if totals else ''}", holds, reason, _rows(found)


def rises(lines: Sequence[Series], parameter: str) -> Verdict:
    """At each training length from the first where every setting's training loss is 1e-4, the plateau rises.

    Compared: each value of the parameter with the next at least 1.5 times as large. Below that length the comparison
    is data, not a verdict: what has not learned its target has a loss of the size of the target's own mean square,
    which stands beside the plateaus and does not rise with omega.
    """
    lengths = sorted(set.intersection(*(set(line.lengths) for line in lines)))
    if len(lines) < 2 or not lengths:
        return "", None, f"fewer than two values of {parameter} at one training length", ()
    trained = {n: max(_training_loss(line, n) for line in lines) for n in lengths}
    start = next((n for n in lengths if trained[n] <= TRAINED), None)
    values = [float(line.setting[parameter]) for line in lines]
    found: list[FallingStep] = []
    ways: list[FallingStep] = []
    rows: list[dict[str, Any]] = []
    sizes = {"target_mean_squares": [SimpleTask(x).mean_square() for x in values]} if parameter == "omega" else {}
    for n in lengths:
        columns = [line.lengths.index(n) for line in lines]
        medians = np.asarray([-line.medians[c] for line, c in zip(lines, columns, strict=True)])
        draws = np.stack([-line.draws[:, c] for line, c in zip(lines, columns, strict=True)], axis=1)
        resampled = all(line.resampled for line in lines)
        told = (values, medians, draws, f"N = {n}", resampled, floor(lines))
        here = steps(*told)
        judged_here = start is not None and n >= start
        if judged_here:
            found += here
            ways.append(whole_way(*told))
        wrong = [f"{one.start:g} above {one.end:g}" for one in here if not one.falls and not one.level]
        rows.append(
            {
                "training_length": n,
                "judged": judged_here,
                "largest_training_loss": trained[n],
                "plateaus": [float(-m) for m in medians],
                "out_of_order": wrong,
                **sizes,
            }
        )
    if start is None:
        return "", None, f"no training length brings every training loss to {TRAINED:g}", tuple(rows)
    if not found:
        return "", None, f"no two values of {parameter} are {STEP:g} times apart", tuple(rows)
    holds, reason, count = judged(found, ways, "rise")
    below = sum(bool(row["out_of_order"]) for row in rows if not row["judged"])
    unjudged = sum(not row["judged"] for row in rows)
    aside = f"; out of order at {below} of the {unjudged} lengths below" if unjudged else ""
    return f"from N = {start} on {count} rise with {parameter}{aside}", holds, reason, tuple(rows)


def grows_linearly(lines: Sequence[Series], parameter: str, values: Sequence[float]) -> Verdict:
    """N(loss 1e-2) against the parameter: a straight line with R^2 >= 0.95 whose slope is above 0."""
    if not all(parameter in line.setting for line in lines):
        return "", None, f"one value of {parameter} only", ()
    chosen = [line for line in lines if float(line.setting[parameter]) in values]
    needed = [required_length(line, LOSS) for line in chosen]
    x = [float(line.setting[parameter]) for line in chosen]
    rows = tuple(
        {parameter: a, "required_length": n.length, "interval": [n.lower, n.upper], "in_words": n.sentence}
        for a, n in zip(x, needed, strict=True)
    )
    if sum(need.length is not None for need in needed) < 3:
        words = "; ".join(f"{parameter} {a:g}: {n.sentence}" for a, n in zip(x, needed, strict=True))
        return words, None, "a line needs three known lengths", rows
    found = fit(parameter, {}, x, needed, all(line.resampled for line in chosen))
    assert found.slope is not None
    assert found.r_squared is not None
    lowest = found.slope if found.slope_lower is None else found.slope_lower
    aside = "; left out: " + "; ".join(f"{a:g}: {why}" for a, why in found.left_out) if found.left_out else ""
    return found.sentence + aside, found.r_squared >= STRAIGHT and lowest > 0, "", rows


def overlaps(lines: Sequence[Series]) -> Verdict:
    """Plateaus as a function of N / period lie on nearly one curve: at most a factor 3 apart in the middle.

    And nearer than as functions of N, or the rescaling would explain nothing.
    """
    if not all("period" in line.setting for line in lines):
        return "", None, "one period only", ()
    periods = [float(line.setting["period"]) for line in lines]
    scaled = overlap({p: (np.asarray(s.lengths) / p, s.medians) for p, s in zip(periods, lines, strict=True)})
    plain = overlap({p: (np.asarray(s.lengths), s.medians) for p, s in zip(periods, lines, strict=True)})
    if scaled is None or plain is None:
        return "", None, "the curves share no stretch of N / period", ()
    measured = (
        f"largest / smallest plateau over N / p from {scaled.grid[0]:.3g} to {scaled.grid[-1]:.3g}: median "
        f"{scaled.median:.2f}, largest {scaled.largest:.2f}; over N itself: median {plain.median:.2f}, largest "
        f"{plain.largest:.2f}"
    )
    rows = tuple(
        {"length_over_period": float(a), "ratio": float(b)} for a, b in zip(scaled.grid, scaled.ratio, strict=True)
    )
    return measured, scaled.median <= NEARLY and scaled.median < plain.median, "", rows


def focuses(profiles: Sequence[Profile]) -> Verdict:
    """Attention at positions of the residue is within 10 % of 1/count, elsewhere below 10 % of it, where N suffices."""
    enough = [one for one in profiles if one.plateau <= SUFFICES]
    rows = tuple(one.row() for one in profiles)
    if not enough:
        return "", None, f"no training length brings the plateau to {SUFFICES:g}", rows
    good = [one for one in enough if one.farthest_on <= CLOSE and one.largest_off <= CLOSE]
    last = enough[-1]
    measured = (
        f"{len(good)} of {len(enough)} training lengths that suffice; at N = {last.longest}: on the residue "
        f"{last.mean_on:.4f} +- {last.deviation_on:.4f} (1/{last.count} = {1 / last.count:.4f}), elsewhere "
        f"{last.mean_off:.5f} +- {last.deviation_off:.5f}"
    )
    bad = [f"N = {one.longest}" for one in enough if one not in good]
    return measured, not bad, f"not close: {', '.join(bad)}" if bad else "", rows


def claims(figure: str, lines: Sequence[Series], profiles: Sequence[Profile] = (), whole: bool = True) -> list[Claim]:
    """Every claim of a published figure, for each attention rule; those for plain attention are required.

    whole False: runs are missing, so nothing is judged.
    """
    found = []
    for attention in sorted({str(line.setting["attention"]) for line in lines}, key=lambda name: name != "plain"):
        mine = [line for line in lines if line.setting["attention"] == attention]
        shown = [one for one in profiles if one.attention == attention]
        for name, published, judge in _of(figure, mine, shown):
            measured, holds, reason, data = judge() if whole else ("", None, "runs are missing: see --resume", ())
            found.append(
                Claim(figure, f"{name} [{attention}]", published, measured, holds, attention == "plain", reason, data)
            )
    return found


def _of(
    figure: str, lines: Sequence[Series], profiles: Sequence[Profile]
) -> list[tuple[str, str, Callable[[], Verdict]]]:
    plateau = (
        "(a) the test loss settles at a finite value",
        "for a fixed training length the test loss plateaus at a finite value as the test length grows",
        lambda: settles(lines),
    )
    decrease = (
        "(b) the plateau falls with the training length",
        "the plateau falls monotonically with the training length",
        lambda: falls(lines),
    )
    if figure == "figure1":
        omegas = (2, 4, 6, 8, 10, 12)
        linear = (
            "(c) the needed length is linear in omega",
            "the training length needed for loss 1e-2 grows linearly with omega",
            lambda: grows_linearly(lines, "omega", omegas),
        )
        published = (
            "plateau against training length, one line per omega: falling with training length, rising with omega"
        )
        rise = ("ICLR, right: the plateau rises with omega", published, lambda: rises(lines, "omega"))
        return [plateau, decrease, linear, rise]
    if figure == "figure2":
        published = "the limiting test loss as a function of N/p nearly overlaps for different p"
        near = ("(c) plateaus overlap in N/p", published, lambda: overlaps(lines))
        periods = sorted({float(line.setting.get("period", 0)) for line in lines})
        linear = (
            "(c) the needed length is linear in p",
            "the needed length is linear in p",
            lambda: grows_linearly(lines, "period", periods),
        )
        rise = (
            "ICLR, right: the plateau rises with the period",
            "plateau against training length, one line per period: falling with training length, rising with the period",
            lambda: rises(lines, "period"),
        )
        return [plateau, decrease, near, linear, rise]
    if figure == "figure3":
        published = "at positions of the residue close to 1/16, elsewhere close to 0, for training lengths that suffice"
        return [("attention finds the residue", published, lambda: focuses(profiles))]
    return []


def floor(lines: Sequence[Series]) -> float:
    """The largest plateau that the stop rule of the training alone can make."""
    return STOPPED * max(one.stop for line in lines for group in line.members.values() for one in group)


def _training_loss(line: Series, length: int) -> float:
    return float(np.median([one.training_loss for one in line.members[length]]))


def _rows(found: Sequence[FallingStep]) -> tuple[dict[str, Any], ...]:
    return tuple(
        {"where": one.where, "from": one.start, "to": one.end, "ratio": one.ratio, "certain": one.rises}
        for one in found
        if not one.falls and not one.level
    )
