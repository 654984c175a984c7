"""The figures of a study: which panels it has, and its files; each as PDF, SVG and PNG with the CSV behind each panel."""

import csv
import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lengthwise.limit.storage import write_aside
from lengthwise.study.claims import LOSS
from lengthwise.study.curves import Series, Value, named
from lengthwise.study.measure import by_parameter
from lengthwise.study.panels import Panel, loss_panel, parameter_of, plateau_panel, required_panel, scaled_panel

Row = tuple[str, list[Panel]]
THEORY = {
    "symbols": "Theorem P's worst case (no bound)",
    "tail": "Theorem P's worst case (no bound)",
}


@dataclass(frozen=True)
class Drawn:
    """A figure in its files. caption: what was averaged over what."""

    name: str
    caption: str
    files: tuple[Path, ...]
    svg: str


def rows_of(
    lines: Sequence[Series], beside: Callable[[Sequence[Series], str], Panel | None] = lambda group, parameter: None
) -> list[Row]:
    """The panels of a study: one row for each setting of what is not the figure's own parameter.

    beside: a further panel for a row, if there is one.
    """
    parameter = parameter_of(lines)
    if parameter is None:
        return [
            (heading(dict(line.setting)), [loss_panel(line, None), plateau_panel([line], None, LOSS)]) for line in lines
        ]
    found = []
    groups = by_parameter(lines, parameter)
    for rest in sorted(groups, key=lambda rest: (dict(rest).get("attention") != "plain", str(rest))):
        group = groups[rest]
        panels = [loss_panel(group[len(group) // 2], parameter), plateau_panel(group, parameter, LOSS)]
        if len(group) > 1 and parameter == "period":
            panels.append(scaled_panel(group, parameter, LOSS))
        further = beside(group, parameter)
        if len(group) > 1:  # one value of the parameter has no dependence to show
            panels.append(required_panel(group, parameter, LOSS, THEORY.get(parameter, "")))
            panels += [further] if further else []
        found.append((heading(dict(rest)), panels))
    return found


def heading(setting: dict[str, Value]) -> str:
    """What a row of panels has in common."""
    others = {name: value for name, value in setting.items() if name != "attention"}
    return ", ".join(part for part in (f"{setting['attention']} attention", named(others) if others else "") if part)


def caption(lines: Sequence[Series]) -> str:
    """What every panel averages over what."""
    seeds = sorted({len(group) for line in lines for group in line.members.values()})
    said = f"{seeds[0]}" if len(seeds) == 1 else f"{seeds[0]} to {seeds[-1]}"
    interval = "95 % bootstrap intervals over seeds" + (", which is their range" if seeds[-1] == 2 else "")
    shaded = f"shaded and barred: {interval}" if seeds[-1] > 1 else "one seed, no intervals"
    return (
        f"Each value is the median over {said} seed{'s' if seeds[-1] > 1 else ''} of the mean squared error over a "
        f"seed's own test strings; {shaded}."
    )


def draw(name: str, rows: Sequence[Row], words: str, folder: Path) -> Drawn:
    """Writes NAME.pdf, NAME.svg, NAME.png and, for each kind of panel, NAME-PANEL.csv."""
    from lengthwise.study.drawing import drawn

    images = drawn(rows)
    tables = {f"{name}-{panel}": text for panel, text in csv_tables(rows).items()}
    files = []
    for path, content in [
        *((folder / f"{name}.{kind}", image) for kind, image in images.items()),
        *((folder / f"{table}.csv", text.encode()) for table, text in tables.items()),
    ]:
        write_aside(path, content)
        files.append(path)
    return Drawn(name, words, tuple(files), images["svg"].decode())


def csv_tables(rows: Sequence[Row]) -> dict[str, str]:
    """The text of one CSV for each kind of panel: all its lines in all rows, point by point."""
    tables: dict[str, list[list[Any]]] = {}
    for heading, panels in rows:
        for panel in panels:
            table = tables.setdefault(
                panel.name, [["row", "panel", panel.legend or "line", "kind", *panel.columns, "lower", "upper"]]
            )
            for line in panel.lines:
                for index, (x, y) in enumerate(zip(line.x, line.y, strict=True)):
                    ends = ["" if end is None else repr(float(end[index])) for end in (line.lower, line.upper)]
                    table.append([heading, panel.title, line.label, line.kind, repr(float(x)), repr(float(y)), *ends])
    found = {}
    for name, table in tables.items():
        stream = io.StringIO()
        csv.writer(stream, lineterminator="\n").writerows(table)
        found[name] = stream.getvalue()
    return found
