"""One page that says what a study has shown: figures, claims, plateaus, required lengths, exponents, and its settings."""

import os
import re
from collections.abc import Callable
from dataclasses import asdict, dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from lengthwise.limit.storage import write_aside
from lengthwise.study import claims as published_claims
from lengthwise.study.claims import LOSS, Claim
from lengthwise.study.curves import named
from lengthwise.study.dependence import dependences
from lengthwise.study.figures import Drawn, caption, draw, rows_of
from lengthwise.study.focus import LENGTH, STRINGS, profiles_of, rows_of_profiles
from lengthwise.study.guarantee import beside_the_measured
from lengthwise.study.guarantee import words as guarantee_words
from lengthwise.study.measurement import Measurement
from lengthwise.study.published import FIGURES, figure_of
from lengthwise.study.reading import Directory, read
from lengthwise.study.store import Store

VERDICTS = {True: "holds", False: "fails", None: "cannot be judged"}


@dataclass(frozen=True)
class Report:
    """A study's page and figures, the claims it was held against, and what they rest on."""

    page: Path
    figures: tuple[Drawn, ...]
    claims: tuple[Claim, ...]
    directory: Directory
    measurement: Measurement

    @property
    def files(self) -> list[Path]:
        """All files of all figures."""
        return [path for figure in self.figures for path in figure.files]

    @property
    def failed(self) -> list[Claim]:
        """The required claims that are false."""
        return [claim for claim in self.claims if claim.required and claim.holds is False]

    def fields(self) -> dict[str, Any]:
        """What `lengthwise report --json` prints; `lengthwise reproduce --json` adds the claims."""
        return {"report": str(self.page), "figures": [str(path) for path in self.files]} | self.directory.origin()

    def claim_fields(self) -> list[dict[str, Any]]:
        """The claims as JSON has them."""
        return [asdict(claim) | {"data": list(claim.data)} for claim in self.claims]

    def __str__(self) -> str:
        """The report in a sentence."""
        count = len(self.figures)
        return f"{self.page}: {count} figure{'s' if count > 1 else ''} of {self.directory.study.name}"


def report(path: str | os.PathLike[str], say: Callable[[str], None] | None = None) -> Report:
    """Draws a study directory's figures into `figures/` and writes its page, `report.html`."""
    found = read(path, say)
    measurement = found.measurement()
    figure = figure_of(found.study)
    name = figure or "study"
    reasons: list[str] = []
    rows = rows_of(
        measurement.series, beside_the_measured(found.measurement("error").series, Store(found.path), reasons)
    )
    bounded = any(panel.name == "worst" for _, panels in rows for panel in panels)
    said = [caption(measurement.series), *([guarantee_words()] if bounded else []), *dict.fromkeys(reasons)]
    words = " ".join(said)
    folder = found.path / "figures"
    profiles = []
    figures = []
    if figure == "figure3":
        profiles = profiles_of(found)
        seen = (
            f"Attention of the last position on {STRINGS} strings of length {LENGTH}. Left and middle: mean and standard "
            "deviation over the strings and all seeds, by position. Right: over positions too, times the number of "
            "positions of the residue, so that 1 and 0 are what the task needs."
        )
        figures.append(draw(name, rows_of_profiles(profiles), seen, folder))
        name = f"{name}-loss"
    figures.append(draw(name, rows, words, folder))
    judged = []
    if figure:
        judged = published_claims.claims(figure, measurement.series, profiles, found.whole)
        judged += dependences(figure, measurement.series) if found.whole else []
    page = found.path / "report.html"
    result = Report(page, tuple(figures), tuple(judged), found, measurement)
    write_aside(page, rendered(result, figure).encode())
    return result


def rendered(result: Report, figure: str | None) -> str:
    """The page: everything in one file, nothing fetched from anywhere."""
    from jinja2 import Environment, StrictUndefined
    from markupsafe import Markup

    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.filters |= {"number": number, "percent": percent, "setting": named}
    text = resources.files("lengthwise.study").joinpath("templates", "report.html").read_text(encoding="utf-8")
    lines = result.measurement.series
    needed = result.measurement.required_lengths(LOSS)
    members = result.measurement.members
    return environment.from_string(text).render(
        study=result.directory.study,
        what=FIGURES[figure] if figure else "",
        directory=result.directory,
        claims=[(claim, VERDICTS[claim.holds]) for claim in result.claims],
        figures=[(one, Markup(inlined(one.svg, f"f{place}-"))) for place, one in enumerate(result.figures)],
        loss=LOSS,
        answers=list(zip(lines, needed, result.measurement.plateaus(), strict=True)),
        exponents=result.measurement.exponents(LOSS),
        diverged=[one for one in members if one.ended == "diverged"],
        hours=clock(result.directory.seconds),
        toml=result.directory.study.toml(),
    )


def inlined(svg: str, prefix: str) -> str:
    """An SVG to stand inside a page: without its XML heading, and with ids that no other figure has."""
    body = svg[svg.index("<svg") :]
    body = re.sub(r'\bid="', f'id="{prefix}', body)
    body = re.sub(r'(href="#|url\(#)', rf"\g<1>{prefix}", body)
    return re.sub(
        r'<svg\b([^>]*?) width="[^"]*"',
        r"<svg\1",
        re.sub(r'<svg\b([^>]*?) height="[^"]*"', r"<svg\1", body, count=1),
        count=1,
    )


def number(value: float | None) -> str:
    """A number as tables have it."""
    if value is None:
        return "—"
    if value in (float("inf"), float("-inf")):
        return "∞" if value > 0 else "−∞"
    return f"{value:.3g}"


def percent(value: float | None) -> str:
    """A relative change as tables have it."""
    return "—" if value is None else f"{value:+.1%}".replace("-", "−")


def clock(seconds: float) -> str:
    """A duration in words."""
    minutes = seconds / 60
    return (
        f"{seconds:.0f} seconds"
        if seconds < 120
        else f"{minutes:.0f} minutes"
        if minutes < 120
        else f"{minutes / 60:.1f} hours"
    )
