"""How far long work is, on standard error: a bar on a terminal, now and then a line elsewhere."""

import math
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Protocol

import click

SECONDS_BETWEEN_LINES = 5.0


class Teller(Protocol):
    """What long work is given to report to."""

    def progress(self, told: Any) -> None:
        """Takes a train.ensemble.Progress, or anything with done, total and a note."""

    def say(self, message: str) -> None:
        """Prints a line that has to be read."""


@contextmanager
def teller(what: str) -> Iterator[Teller]:
    """Reports while the body runs; `what` is what is counted."""
    if not sys.stderr.isatty():
        yield Lines(what)
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    columns = (TextColumn(what), BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[speed]}"))
    with Progress(*columns, console=Console(stderr=True)) as bar:
        yield _Bar(bar, bar.add_task(what, total=None, speed=""))


class Lines:
    """A line every few seconds."""

    def __init__(self, what: str, between: float = SECONDS_BETWEEN_LINES) -> None:
        self.what, self.between, self.last = what, between, time.monotonic()

    def progress(self, told: Any) -> None:
        """A line, unless the last one is recent."""
        if time.monotonic() - self.last >= self.between:
            self.last = time.monotonic()
            self.say(f"{told.done} of {told.total} {self.what}, {speed(told)}")

    def say(self, message: str) -> None:
        """The line itself."""
        click.echo(message, err=True)


class _Bar:
    """A bar of rich."""

    def __init__(self, bar: Any, task: Any) -> None:
        self.bar, self.task = bar, task

    def progress(self, told: Any) -> None:
        """Moves the bar."""
        self.bar.update(self.task, completed=told.done, total=told.total, speed=speed(told))

    def say(self, message: str) -> None:
        """A line above the bar."""
        self.bar.console.print(message, markup=False, highlight=False, soft_wrap=True)


def speed(told: Any) -> str:
    """What the work says of itself; else steps a second, and the time that is left."""
    if hasattr(told, "note"):
        return str(told.note)
    left = told.seconds_left
    return f"{told.steps_per_second:,.0f} steps/s, {clock(left)} left" if math.isfinite(left) else "starting"


def clock(seconds: float) -> str:
    """A duration as people say it."""
    whole = round(max(0.0, seconds))
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    return f"{minutes} min {rest:02d} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02d} min"
