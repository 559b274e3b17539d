"""Show how the private server is fetched and started."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from fabula.server import IDLE, ProgressReport, ServerProgress

if TYPE_CHECKING:
    from rich.console import Console

LINE_SECONDS = 5.0
"""How often a plain line tells how far a download is."""


@contextmanager
def show_server_progress() -> Iterator[ProgressReport]:
    """Yield a report that shows bars on a terminal, and plain lines elsewhere."""
    view = ServerProgressView()
    try:
        yield view.show
    finally:
        view.close()


class ServerProgressView:
    """Shows progress on standard error. It imports rich only when there is something to show."""

    def __init__(self) -> None:
        self._view: ProgressBars | ProgressLines | None = None

    def show(self, progress: ServerProgress) -> None:
        """Show the progress; `IDLE` ends what is shown."""
        if progress == IDLE:
            self.close()
            return
        if self._view is None:
            from rich.console import Console

            console = Console(stderr=True)
            self._view = ProgressBars(console) if console.is_terminal else ProgressLines(console)
        self._view.show(progress)

    def close(self) -> None:
        """Remove the bars from the terminal."""
        if self._view is not None:
            self._view.close()
            self._view = None


class ProgressBars:
    """One live line: a bar with sizes during a download, otherwise a spinner."""

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
        self._with_size = parts.Progress(*columns, console=console, transient=True)
        self._without_size = parts.Progress(
            parts.SpinnerColumn(),
            parts.TextColumn("{task.description}"),
            parts.TimeElapsedColumn(),
            console=console,
            transient=True,
        )
        self._live: parts.Progress | None = None
        self._doing = ""

    def show(self, progress: ServerProgress) -> None:
        """Show the progress."""
        bar = self._with_size if progress.total else self._without_size
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
        """Clear the line."""
        if self._live is not None:
            self._live.stop()
            self._live = None


class ProgressLines:
    """A line when a step begins, and one every few seconds during a download."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._doing = ""
        self._shown_at = 0.0

    def show(self, progress: ServerProgress) -> None:
        """Print a line if it is time for one."""
        begins = progress.doing != self._doing
        ends = progress.total > 0 and progress.done == progress.total
        now = time.monotonic()
        is_due = ends or now - self._shown_at >= LINE_SECONDS
        if not begins and not (progress.total and is_due):
            return
        sizes = f": {progress.done / 1e6:.0f} of {progress.total / 1e6:.0f} MB"
        self._console.print(f"{progress.doing}{sizes if progress.total else ''}", highlight=False)
        self._doing, self._shown_at = progress.doing, now

    def close(self) -> None:
        """Do nothing: lines leave nothing open."""
