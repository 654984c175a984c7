"""Panels on paper: matplotlib, without its global state, the same bytes every time.

Ordered parameters have colours of one scale from dark to light (cividis, which colour-blind readers and grey printers
see in the same order) and each line has a marker of its own.
"""

import io
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from lengthwise.study.panels import Line, Panel

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MARKERS = "osD^v<>Pp*Xh"
FORMATS = ("pdf", "svg", "png")
PANEL = (2.75, 2.55)  # inches
DOTS_PER_INCH = 220
STYLE: dict[str, Any] = {
    "font.family": "DejaVu Sans",
    "font.size": 8,
    "axes.titlesize": 8.5,
    "axes.labelsize": 8,
    "legend.fontsize": 7,
    "legend.title_fontsize": 7,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "axes.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "lines.linewidth": 1.2,
    "lines.markersize": 3.2,
    "svg.hashsalt": "lengthwise",
    "svg.fonttype": "path",
    "pdf.fonttype": 42,
}
METADATA: dict[str, dict[str, Any]] = {
    "pdf": {"Creator": "lengthwise", "Producer": None, "CreationDate": None},
    "svg": {"Creator": "lengthwise", "Date": None},
    "png": {"Software": "lengthwise"},
}


def drawn(rows: Sequence[tuple[str, Sequence[Panel]]]) -> dict[str, bytes]:
    """Rows of panels, each with its heading, as the bytes of a PDF, an SVG and a PNG."""
    import matplotlib
    from matplotlib.figure import Figure

    columns = max(len(panels) for _, panels in rows)
    size = (PANEL[0] * columns, (PANEL[1] + 0.25) * len(rows) + 0.45)
    found = {}
    with matplotlib.rc_context():
        matplotlib.rcdefaults()  # nobody's own settings change a published figure
        matplotlib.rcParams.update(STYLE)  # type: ignore[arg-type]
        figure = Figure(figsize=size, layout="constrained")
        parts = np.atleast_1d(np.asarray(figure.subfigures(len(rows), 1)))
        for part, (heading, panels) in zip(parts, rows, strict=True):
            if heading:
                part.suptitle(heading, x=0.01, ha="left", fontsize=9, fontweight="bold")
            places = part.subplots(1, columns, squeeze=False)[0]
            for axes, panel in zip(places, panels, strict=False):
                draw_panel(axes, panel)
            for axes in places[len(panels) :]:
                axes.set_axis_off()
        figure.draw_without_rendering()
        figure.set_layout_engine("none")  # the places are found once, for all formats
        for kind in FORMATS:
            stream = io.BytesIO()
            figure.savefig(stream, format=kind, dpi=DOTS_PER_INCH, metadata=METADATA[kind])
            found[kind] = stream.getvalue()
    return found


def draw_panel(axes: "Axes", panel: Panel) -> None:
    """One panel on its axes."""
    axes.set_title(panel.title, loc="left")
    axes.set_xlabel(panel.x_label)
    axes.set_ylabel(panel.y_label)
    _scale(axes.xaxis, panel.log_x, panel.columns[0] != "test_length")
    _scale(axes.yaxis, panel.log_y, panel.columns[1] == "required_length")
    axes.grid(visible=True, which="major", color="0.9", linewidth=0.5)
    axes.set_axisbelow(True)
    colours = shades(sum(line.kind == "line" for line in panel.lines))
    place = points = 0
    for line in panel.lines:
        if line.kind == "line":
            _curve(axes, line, colours[place], MARKERS[place % len(MARKERS)])
            place += 1
        else:
            _special(axes, line, points)
            points += line.kind == "points"
    if panel.threshold is not None:
        axes.axhline(panel.threshold, color="0.35", linewidth=0.8, linestyle=(0, (1, 1.5)))
        axes.annotate(
            f"loss {panel.threshold:g}",
            (1, panel.threshold),
            xycoords=("axes fraction", "data"),
            ha="right",
            va="bottom",
            fontsize=6.5,
            color="0.25",
        )
    if len(panel.lines) > 1 or panel.lines[0].kind != "line":
        _legend(axes, panel)


def _scale(axis: Any, logarithmic: bool, plain: bool) -> None:
    """A linear axis, or a logarithmic one; plain: with ticks at 1, 2, 5, 10, ... written out."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    if not logarithmic:
        return
    axis.axes.set(**{f"{axis.axis_name}scale": "log"})
    axis.set_minor_formatter(NullFormatter())
    if plain:
        axis.set_major_locator(LogLocator(10, subs=(1.0, 2.0, 5.0)))
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))


def shades(count: int) -> list[Any]:
    """Colours for ordered values, dark to light, the lightest still dark enough for white paper."""
    import matplotlib

    scale = matplotlib.colormaps["cividis"]
    return [scale(place) for place in np.linspace(0.0, 0.82, max(count, 1))]


def _curve(axes: "Axes", line: Line, colour: Any, marker: str) -> None:
    axes.plot(
        line.x, line.y, color=colour, marker=marker, label=line.label, markeredgecolor="white", markeredgewidth=0.3
    )
    if line.lower is not None and line.upper is not None:
        axes.fill_between(line.x, line.lower, line.upper, color=colour, alpha=0.18, linewidth=0)


def _special(axes: "Axes", line: Line, place: int) -> None:
    label = _label(line)
    if line.kind in ("points", "proved"):
        assert line.lower is not None
        assert line.upper is not None
        bars = np.stack([np.maximum(line.y - line.lower, 0), np.maximum(line.upper - line.y, 0)])
        look: dict[str, Any] = {"fmt": "o", "color": "0.1"} if not place else {"fmt": "s", "color": "0.55"}
        look |= {"markerfacecolor": "white"} if place else {}
        size = 2.2 if place else 4.0
        if line.kind == "proved":
            look, size = {"fmt": "s", "color": "#8a3324", "markerfacecolor": "white"}, 4.5
        axes.errorbar(line.x, line.y, bars, **look, capsize=1.5, elinewidth=0.7, label=label, markersize=size)
    elif line.kind == "reference":
        axes.plot(line.x, line.y, color="0.45", linestyle="--", linewidth=1.0, label=label)
    else:
        shape: dict[str, Any] = {
            "linestyle": "none",
            "markersize": 5,
            "markerfacecolor": "white",
            "markeredgecolor": "0.1",
        }
        axes.plot(line.x, line.y, marker="^" if line.kind == "not reached" else "v", label=label, **shape)


def _legend(axes: "Axes", panel: Panel) -> None:
    known = dict(zip(*reversed(axes.get_legend_handles_labels()), strict=True))
    labels = [label for label in map(_label, panel.lines) if label in known]
    curves = sum(line.kind == "line" for line in panel.lines)
    axes.legend(
        [known[label] for label in labels],
        labels,
        title=panel.legend or None,
        loc="upper center",
        bbox_to_anchor=(0.5, -0.24),
        ncols=min(curves, 4) or 1,
        frameon=False,
        handlelength=1.8,
        columnspacing=1.0,
        borderpad=0.1,
    )


def _label(line: Line) -> str:
    """A line's label in the legend."""
    return {"not reached": "not reached by there", "at most": "at most there"}.get(line.kind, line.label)
