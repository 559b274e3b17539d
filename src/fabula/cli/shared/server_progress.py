"""Show how the private server is fetched and started."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from fabula.server import IDLE, ProgressReport, ServerProgress

if TYPE_CHECKING:
    from rich.progress import Progress

LINE_SECONDS = 5.0
"""How often a plain line tells how far a download is."""


@contextmanager
def show_server_progress() -> Iterator[ProgressReport]:
    """Yield a report that shows a bar on a terminal, and plain lines elsewhere."""
    view = ServerProgressView()
    try:
        yield view.show
    finally:
        view.close()


class ServerProgressView:
    """Shows progress on standard error. It imports rich only when there is something to show."""

    def __init__(self) -> None:
        self._live: Progress | None = None
        self._step = ("", False)
        """What is shown, and whether it has a size."""
        self._printed_at = 0.0

    def show(self, progress: ServerProgress) -> None:
        """Show the progress; `IDLE` ends what is shown."""
        if progress == IDLE:
            self.close()
            return
        step = (progress.doing, progress.total > 0)
        begins, self._step = step != self._step, step
        if sys.stderr.isatty():
            self._show_bar(progress, begins=begins)
        else:
            self._print_line(progress, begins=begins)

    def close(self) -> None:
        """Remove the bar from the terminal."""
        if self._live is not None:
            self._live.stop()
        self._live, self._step = None, ("", False)

    def _show_bar(self, progress: ServerProgress, *, begins: bool) -> None:
        """Show one live line: a bar with sizes during a download, otherwise a spinner."""
        from rich import progress as parts
        from rich.console import Console

        if self._live is None or begins:
            if self._live is not None:
                self._live.stop()
            sizes = (
                parts.BarColumn(),
                parts.DownloadColumn(),
                parts.TransferSpeedColumn(),
                parts.TimeRemainingColumn(),
            )
            self._live = parts.Progress(
                parts.SpinnerColumn(),
                parts.TextColumn("{task.description}"),
                *(sizes if progress.total else (parts.TimeElapsedColumn(),)),
                console=Console(stderr=True),
                transient=True,
            )
            self._live.add_task(progress.doing, total=progress.total or None)
            self._live.start()
        self._live.update(self._live.task_ids[0], completed=progress.done)

    def _print_line(self, progress: ServerProgress, *, begins: bool) -> None:
        """Print a line when a step begins, and one every few seconds during a download."""
        now = time.monotonic()
        is_late = now - self._printed_at >= LINE_SECONDS or progress.done == progress.total
        if begins or (progress.total and is_late):
            sizes = f": {progress.done / 1e6:.0f} of {progress.total / 1e6:.0f} MB"
            click.echo(f"{progress.doing}{sizes if progress.total else ''}", err=True)
            self._printed_at = now
