"""What is kept of a study beside its figures: one line a member, and one line a claim."""

import csv
import gzip
import io
import json
from collections.abc import Sequence
from typing import Any

from lengthwise.study.curves import Member
from lengthwise.study.report import VERDICTS, Report
from lengthwise.study.runfile import Finished


def members_table(members: Sequence[Member]) -> bytes:
    """Every member with its test curve to five digits, as compressed CSV, the same bytes for the same members.

    loss@T: mean squared error over the strings of length T; worst@T: the largest absolute error over them.
    """
    known = sorted(members, key=lambda one: (one.task, sorted(one.settings.items(), key=str), one.longest, one.seed))
    settings = [name for name in known[0].settings if len({one.settings.get(name) for one in known}) > 1]
    lengths = known[0].lengths
    head = ["run", *settings, "longest", "seed", "ended", "training_loss"]
    stream = io.StringIO()
    table = csv.writer(stream, lineterminator="\n")
    table.writerow([*head, *(f"loss@{n}" for n in lengths), *(f"worst@{n}" for n in lengths)])
    for one in known:
        values = [one.training_loss, *one.values("loss"), *one.values("error")]
        row = [one.run, *(one.settings.get(name, "") for name in settings), one.longest, one.seed, one.ended]
        table.writerow([*row, *(f"{value:.5g}" for value in values)])
    return gzip.compress(stream.getvalue().encode(), mtime=0)


def claims_table(told: Sequence[tuple[str, Report]]) -> str:
    """The claims of several figures as a table in Markdown, with where and with what they were measured."""
    lines = ["| figure | claim | verdict | measured |", "|---|---|---|---|"]
    for name, found in told:
        for claim in found.claims:
            said = "; ".join(part for part in (claim.measured, claim.reason) if part)
            verdict = VERDICTS[claim.holds] + ("" if claim.required else " (not required)")
            lines.append(f"| {name} | {cell(claim.claim)} | {verdict} | {cell(said)} |")
    lines.append("")
    for name, found in told:
        origin = found.directory
        made = ", ".join(f"{library} {version}" for library, version in origin.versions.items())
        lines.append(
            f"* `{name}`: {len(origin.finished)} of {origin.study.members} members, {origin.study.seeds} seeds, "
            f"{origin.device}, {made}; {origin.seconds / 60:.1f} minutes of the machine."
        )
    return "\n".join(lines) + "\n"


def cell(text: str) -> str:
    """A text that stands in a cell of a table."""
    return text.replace("|", "\\|").replace("\n", " ")


def record_of(one: Finished, file: str) -> dict[str, Any]:
    """What an index of kept models says of one: how it was trained, and its losses."""
    return {
        "file": f"{file}.safetensors",
        "task": one.run.task,
        "attention": one.run.model.attention,
        "adversarial": one.run.training.corner_share,
        "longest": one.run.longest,
        "seed": one.run.seed,
        "id": one.run.id,
        "steps": one.steps,
        "ended": one.ended,
        "training_loss": one.training_loss,
        "loss": {str(length): loss for length, loss, _ in one.curve},
        "worst_error": {str(length): worst**0.5 for length, _, worst in one.curve},
    }


def index_text(entries: Sequence[dict[str, Any]], made: dict[str, Any]) -> str:
    """An index of kept models: what they were made with, and one line each."""
    lines = ",\n".join(f"  {json.dumps(one)}" for one in entries)
    return f'{{\n "made": {json.dumps(made)},\n "members": [\n{lines}\n ]\n}}\n'
