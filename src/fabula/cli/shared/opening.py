"""What a command needs to be ready: a collection, and the private server shown as it starts."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from fabula.config.connect import private_server
from fabula.server import IDLE, Address, Progress, Report

if TYPE_CHECKING:
    from rich.console import Console

    from fabula.app import Fabula
    from fabula.config.settings import Settings

PAUSE = 5.0
"""Seconds between two plain lines about one thing."""


@contextmanager
def opened(settings: Settings) -> Iterator[Fabula]:
    """The settings' collection; should it have to start the private server, that is shown."""
    from fabula.app import Fabula

    with shown() as report, Fabula(settings, report=report) as fabula:
        yield fabula


@contextmanager
def meant(settings: Settings) -> Iterator[Fabula]:
    """The collection to look at, which is named on standard error where nobody named it."""
    with opened(settings) as fabula:
        name = fabula.app.meant().name
        if name != fabula.name:
            click.echo(
                f"In collection {name}, as {fabula.name} is empty and none was named.", err=True
            )
            fabula.name = name
        yield fabula


def started(settings: Settings) -> Address:
    """The address of the private server, started if need be; progress goes to standard error."""
    with shown() as report:
        return private_server(settings).start(report)


@contextmanager
def shown() -> Iterator[Report]:
    """A report that shows bars on a terminal and plain lines elsewhere; silent until called."""
    screen = Screen()
    try:
        yield screen.show
    finally:
        screen.close()


class Screen:
    """Shows progress on standard error; rich is imported once there is something to show."""

    def __init__(self) -> None:
        self._view: Bars | Lines | None = None

    def show(self, progress: Progress) -> None:
        """Shows `progress`; what comes after `IDLE` is a new beginning."""
        if progress == IDLE:
            self.close()
            return
        if self._view is None:
            from rich.console import Console

            console = Console(stderr=True)
            self._view = Bars(console) if console.is_terminal else Lines(console)
        self._view.show(progress)

    def close(self) -> None:
        """Leaves the terminal as it was found."""
        if self._view is not None:
            self._view.close()
            self._view = None


class Bars:
    """One live line: a bar with sizes while fetching, a spinner otherwise."""

    def __init__(self, console: Console) -> None:
        from rich import progress as parts

        columns = (
            parts.SpinnerColumn(),
            parts.TextColumn("{task.description}"),
            parts.BarColumn(),
            parts.DownloadColumn(),
            parts.TransferSpeedColumn(),
            parts.TimeRemainingColumn(),
        )
        self._sized = parts.Progress(*columns, console=console, transient=True)
        self._open = parts.Progress(
            parts.SpinnerColumn(),
            parts.TextColumn("{task.description}"),
            parts.TimeElapsedColumn(),
            console=console,
            transient=True,
        )
        self._live: parts.Progress | None = None
        self._doing = ""

    def show(self, progress: Progress) -> None:
        """Shows `progress`."""
        bar = self._sized if progress.total else self._open
        if bar is not self._live:
            self.close()
            bar.start()
            self._live = bar
        if progress.doing != self._doing:
            for task in bar.task_ids:
                bar.remove_task(task)
            bar.add_task(progress.doing, total=progress.total or None)
            self._doing = progress.doing
        bar.update(bar.task_ids[-1], completed=progress.done)

    def close(self) -> None:
        """Clears the line."""
        if self._live is not None:
            self._live.stop()
            self._live = None


class Lines:
    """A line when something begins, and every few seconds while something is fetched."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._doing = ""
        self._shown_at = 0.0

    def show(self, progress: Progress) -> None:
        """Prints a line, if it is time for one."""
        begins = progress.doing != self._doing
        ends = progress.total > 0 and progress.done == progress.total
        now = time.monotonic()
        if not begins and not (progress.total and (ends or now - self._shown_at >= PAUSE)):
            return
        sizes = f": {progress.done / 1e6:.0f} of {progress.total / 1e6:.0f} MB"
        self._console.print(f"{progress.doing}{sizes if progress.total else ''}", highlight=False)
        self._doing, self._shown_at = progress.doing, now

    def close(self) -> None:
        """Nothing is left open."""
