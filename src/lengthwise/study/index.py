"""The runs of a study as an SQLite file, for questions in SQL. Derived from the run files and never read by us."""

import json
import os
import sqlite3
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

from lengthwise.study.runfile import Finished
from lengthwise.tasks.registry import parsed

SCHEMA = """
CREATE TABLE runs (
    id TEXT PRIMARY KEY, task TEXT, parameters TEXT, longest INTEGER, seed INTEGER, attention TEXT, width INTEGER,
    units INTEGER, heads INTEGER, offsets INTEGER, rate REAL, steps INTEGER, training_loss REAL, ended TEXT,
    seconds REAL, device TEXT, date TEXT, checksum TEXT
);
CREATE TABLE curves (id TEXT REFERENCES runs (id), length INTEGER, loss REAL, worst REAL, PRIMARY KEY (id, length));
"""


def write_index(path: Path, results: Iterable[Finished]) -> None:
    """Writes the index anew, aside, and renames it into place. A loss that is not finite is NULL, or Inf."""
    aside = path.with_name(f".{path.name}.{os.getpid()}")
    aside.unlink(missing_ok=True)
    try:
        with closing(sqlite3.connect(aside)) as database:
            database.executescript(SCHEMA)
            for one in results:
                name, parameters = parsed(one.run.task)
                model, made = one.run.model, one.made
                row = (
                    *(one.run.id, name, json.dumps(parameters), one.run.longest, one.run.seed, model.attention),
                    *(model.width, model.units, model.heads, model.offsets, one.run.training.rate, one.steps),
                    *(one.training_loss, one.ended, made.get("seconds"), made.get("device"), made.get("date")),
                    one.checksum,
                )
                database.execute(f"INSERT INTO runs VALUES ({', '.join('?' * len(row))})", row)
                database.executemany(
                    "INSERT INTO curves VALUES (?, ?, ?, ?)", [(one.run.id, *point) for point in one.curve]
                )
            database.commit()
        aside.replace(path)
    finally:
        aside.unlink(missing_ok=True)
