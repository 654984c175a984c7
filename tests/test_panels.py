"""What panels say, against the definitions on curves made to order; what is drawn, and the CSV behind it."""

import csv
import io
import math
import re
import statistics

import numpy as np
import pytest

from lengthwise.study import drawing
from lengthwise.study.curves import series
from lengthwise.study.drawing import FORMATS, MARKERS, drawn, shades
from lengthwise.study.figures import caption, csv_tables, draw, rows_of
from lengthwise.study.panels import (
    loss_panel,
    parameter_of,
    plateau_panel,
    required_panel,
    scaled_panel,
    spread_out,
)
from study_helpers import member

LENGTHS, TESTS = (4, 8, 16, 32), (6, 10, 20, 100, 10_000, 1_000_000)


def members(parameter="omega", values=(2, 4, 8), seeds=3, **others):
    """Plateaus (N / 2x)^-2 / 100, seeds a tenth apart, reached like 1 - 1/T."""
    return [
        member(
            [0.01 * (n / (2 * x)) ** -2.0 * (1 + seed / 10) * (1 - 1 / t) for t in TESTS],
            TESTS,
            longest=n,
            seed=seed,
            **{parameter: x},
            **others,
        )
        for x in values
        for n in LENGTHS
        for seed in range(seeds)
    ]


def lines(*arguments, **options):
    return series(members(*arguments, **options))


def test_the_loss_panel_starts_at_the_training_length_and_shows_medians():
    line = lines()[1]
    panel = loss_panel(line, "omega")
    assert [one.label for one in panel.lines] == ["4", "8", "16", "32"]
    for one, n in zip(panel.lines, LENGTHS, strict=True):
        wanted = [t for t in TESTS if t >= n]
        assert one.x.tolist() == wanted
        for t, value, low, high in zip(wanted, one.y, one.lower, one.upper, strict=True):
            seeds = [m.loss[TESTS.index(t)] for m in line.members[n]]
            assert value == pytest.approx(statistics.median(seeds))
            assert min(seeds) * (1 - 1e-12) <= low <= value <= high <= max(seeds) * (1 + 1e-12)


def test_one_seed_has_no_interval():
    panel = loss_panel(lines(seeds=1)[0], "omega")
    assert all(one.lower is None and one.upper is None for one in panel.lines)
    assert all(one.lower is None for one in plateau_panel(lines(seeds=1), "omega", 0.01).lines)


def test_the_plateau_is_the_loss_at_the_longest_test_length():
    panel = plateau_panel(lines(), "omega", 0.01)
    assert panel.threshold == 0.01
    assert "$10^{6}$" in panel.y_label
    for one, x in zip(panel.lines, (2, 4, 8), strict=True):
        assert one.label == str(x)
        wanted = [0.01 * (n / (2 * x)) ** -2.0 * 1.1 * (1 - 1e-6) for n in LENGTHS]
        assert one.y.tolist() == pytest.approx(wanted)


def test_plateaus_over_length_per_period_coincide_where_only_the_ratio_counts():
    panel = scaled_panel(lines("period", (2, 4)), "period", 0.01)
    two, four = panel.lines
    assert two.x.tolist() == [n / 2 for n in LENGTHS]
    for n, m in ((4, 8), (8, 16), (16, 32)):  # 4 / 2 = 8 / 4
        assert two.y[LENGTHS.index(n)] == pytest.approx(four.y[LENGTHS.index(m)])


def test_required_lengths_with_their_intervals_and_arrows_where_they_are_censored():
    panel = required_panel(lines(values=(1, 2, 4, 8, 64)), "omega", 0.01)
    kinds = {one.kind: one for one in panel.lines}
    measured = kinds["points"]
    assert measured.x.tolist() == [2, 4, 8]
    assert measured.y.tolist() == pytest.approx([2 * x * math.sqrt(1.1) for x in (2, 4, 8)], rel=1e-3)
    assert np.all(measured.lower <= measured.y)
    assert np.all(measured.y <= measured.upper)
    assert (kinds["at most"].x.tolist(), kinds["at most"].y.tolist()) == ([1], [4])
    assert (kinds["not reached"].x.tolist(), kinds["not reached"].y.tolist()) == ([64], [32])
    slope, intercept = np.polyfit(measured.x, measured.y, 1)
    assert kinds["reference"].y.tolist() == pytest.approx((intercept + slope * measured.x).tolist())
    assert f"{slope:.2g} ω" in kinds["reference"].label
    assert not panel.log_x


def test_a_slope_is_called_a_slope_and_has_exponent_1():
    panel = required_panel(lines("symbols", (4, 8, 12)), "symbols", 0.01, slope="the theory")
    reference = next(one for one in panel.lines if one.kind == "reference")
    assert reference.label == "slope 1: the theory"
    exponents = np.diff(np.log(reference.y)) / np.diff(np.log(reference.x))
    assert exponents.tolist() == pytest.approx([1.0, 1.0])
    assert panel.log_x
    assert panel.log_y


@pytest.mark.parametrize("most", [2, 3, 7])
def test_lengths_are_thinned_out_evenly_and_keep_their_ends(most):
    values = list(range(3, 25)) + list(range(28, 113, 4))
    chosen = spread_out(values, most)
    assert (chosen[0], chosen[-1]) == (3, 112)
    assert len(chosen) <= most
    assert set(chosen) <= set(values)
    assert max(np.diff(np.log(chosen))) < 2.0 * math.log(112 / 3) / (most - 1)
    assert spread_out([5, 6], most) == [5, 6]


def test_the_parameter_is_the_task_s_before_the_model_s():
    assert parameter_of(lines()) == "omega"
    assert parameter_of(lines(values=(2,))) is None
    both = series(member(1.0, longest=4, omega=omega, width=width) for omega in (1, 2) for width in (4, 8))
    assert parameter_of(both) == "omega"
    assert len(rows_of(both)) == 2  # one row a width


def rows():
    plain, scaled = lines("period", (2, 4)), lines("period", (2, 4), attention="log-length")
    return rows_of([*plain, *scaled])


@pytest.fixture(scope="module")
def picture():
    return drawn(rows())


def test_attention_rules_stand_beside_each_other_plain_first():
    assert [heading for heading, _ in rows()] == ["plain attention", "log-length attention"]
    assert [panel.name for panel in rows()[0][1]] == ["loss", "plateau", "scaled", "required"]


def test_a_setting_beside_the_grid_has_its_value_in_the_titles_and_no_dependence():
    beside = members("period", (4,), attention="log-length")
    known = dict(rows_of(series([*members("period", (2, 4)), *beside])))
    assert [panel.name for panel in known["log-length attention"]] == ["loss", "plateau"]
    assert all("p = 4" in panel.title for panel in known["log-length attention"])


def test_the_csv_holds_every_point_that_is_drawn():
    known = rows()
    tables = csv_tables(known)
    for name, text in tables.items():
        table = list(csv.DictReader(io.StringIO(text)))
        wanted = [
            (heading, line.label, line.kind, float(x), float(y))
            for heading, panels in known
            for panel in panels
            if panel.name == name
            for line in panel.lines
            for x, y in zip(line.x, line.y, strict=True)
        ]
        columns = list(table[0])
        assert columns[4:] == [*next(p for p in known[0][1] if p.name == name).columns, "lower", "upper"]
        found = [(r["row"], r[columns[2]], r["kind"], float(r[columns[4]]), float(r[columns[5]])) for r in table]
        assert found == wanted


def test_files_are_the_same_every_time_whatever_the_user_s_settings(picture):
    import matplotlib

    first = picture
    with matplotlib.rc_context({"font.size": 20, "axes.facecolor": "red", "svg.hashsalt": "x"}):
        assert drawn(rows()) == first
        assert matplotlib.rcParams["font.size"] == 20
    assert set(first) == set(FORMATS)
    assert first["pdf"].startswith(b"%PDF")
    assert first["png"].startswith(b"\x89PNG")
    assert b"<svg" in first["svg"][:1000]
    assert not re.search(rb"20\d\d-\d\d-\d\d|CreationDate", first["svg"] + first["pdf"] + first["png"])


def test_everything_that_has_a_name_is_named_in_the_picture(picture):
    known = rows()
    said = set(re.findall(r"<!-- (.*?) -->", picture["svg"].decode(), re.DOTALL))
    for heading, panels in known:
        assert heading in said
        for panel in panels:
            assert panel.title in said
            assert panel.x_label in said
            assert {part for part in panel.y_label.split("\n") if "$" not in part} <= said
            assert {line.label for line in panel.lines if line.kind == "line"} <= said
            assert not panel.legend or panel.legend in said


@pytest.mark.parametrize("count", [2, 4, 7])
def test_lines_can_be_told_apart_in_grey_and_by_marker(count):
    grey = [0.2126 * r + 0.7152 * g + 0.0722 * b for r, g, b, _ in shades(count)]
    assert np.all(np.diff(grey) > 0.05)
    assert grey[-1] < 0.85  # white paper is 1
    assert len(set(MARKERS[:count])) == count


def test_no_global_figure_is_left_behind(tmp_path):
    import sys

    before = "matplotlib.pyplot" in sys.modules
    found = draw("some", rows_of(lines()), caption(lines()), tmp_path)
    assert ("matplotlib.pyplot" in sys.modules) == before
    names = {path.name for path in found.files}
    assert names == {path.name for path in tmp_path.iterdir()}
    assert names >= {"some.pdf", "some.svg", "some.png", "some-loss.csv", "some-required.csv"}
    assert "median over 3 seeds" in found.caption


def test_infinite_losses_are_left_out_of_the_picture_without_a_warning():
    broken = series(
        member([math.inf] * 3, longest=n, omega=x, seed=s)
        if (n, x) == (8, 2)
        else member(1 / n, longest=n, omega=x, seed=s)
        for n in (4, 8)
        for x in (2, 4)
        for s in range(2)
    )
    assert drawn(rows_of(broken))["png"]


def test_a_date_would_be_noticed(monkeypatch):
    monkeypatch.setattr(drawing, "METADATA", {kind: {} for kind in FORMATS})
    assert b"CreationDate" in drawn(rows_of(lines()))["pdf"]
