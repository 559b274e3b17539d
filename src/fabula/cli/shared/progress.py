"""Show the progress of builds: bars on a terminal, lines elsewhere."""

from __future__ import annotations

import threading
import time
from pathlib import PurePath
from typing import TYPE_CHECKING, Self

from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
)

from fabula.cli.shared.screen import describe_gaps, echo
from fabula.cli.shared.tables import console
from fabula.load.left_out import describe as describe_left_out
from fabula.models.progress import Pace
from fabula.models.usage import Usage, describe_usage
from fabula.text.nouns import count_noun

if TYPE_CHECKING:
    from fabula.build.outcome import Outcome

RETRY_COMMAND = "`fabula renew`"
"""The command that fills gaps."""
INDENT = " " * 11
"""What stands before more lines on an outcome."""
LINE_SECONDS = 10.0
"""How often a document's progress is printed where there is no terminal."""


def outcome_line(outcome: Outcome) -> str:
    """Return the outcome of a document in one line."""
    name = PurePath(outcome.source).name
    if outcome.error:
        return f"failed     {outcome.error}"
    if outcome.status == "unchanged":
        same = f"{outcome.title} is up to date"
        return f"unchanged  {name}: {'; '.join([same, *outcome.notes])}"
    if outcome.status == "waiting":
        return f"waiting    {name}: for batches of model calls"
    if outcome.status == "removed":
        return f"removed    {describe_subject(outcome)}"
    parts = [
        describe_counts(outcome),
        describe_usage(outcome.usage),
        f"{outcome.seconds:.1f} s",
        *outcome.notes,
    ]
    if outcome.gaps:
        parts += [describe_gaps(outcome.gaps), f"{RETRY_COMMAND} asks again"]
    return f"{outcome.status:<9}  {outcome.title}: {'; '.join(filter(None, parts))}"


def describe_counts(outcome: Outcome) -> str:
    """Return in words how many nodes of each kind were made, or are concerned."""
    return ", ".join(count_noun(number, kind) for kind, number in outcome.counts.items())


def describe_subject(outcome: Outcome) -> str:
    """Return the collection that work is about, and what it has."""
    return f"collection {outcome.title!r}: {describe_counts(outcome)}"


def show_reading(outcome: Outcome) -> None:
    """Print what the file's reader left out of the text, and its warnings, in yellow."""
    if outcome.left_out:
        echo(f"{INDENT}left out: {describe_left_out(outcome.left_out)}")
    for warning in outcome.warnings:
        console().print(f"{INDENT}warning: {warning}", style="yellow")


class BuildProgress:
    """Shows how documents, or other work with steps, are made; a context manager.

    With `keep_steps`, steps that are done stay on the screen.
    """

    def __init__(self, *, keep_steps: bool = False) -> None:
        screen = console()
        self.keep_steps, self.is_live = keep_steps, screen.is_terminal
        self.bars = Progress(
            TextColumn("{task.description}", style="bold", markup=False),
            BarColumn(24),
            MofNCompleteColumn(),
            TimeRemainingColumn(compact=True),
            TextColumn("{task.fields[spent]}", style="dim"),
            console=screen,
            transient=not keep_steps,
            disable=not self.is_live,
        )
        self._documents: TaskID | None = None
        self._begun: dict[str, DocumentProgress] = {}
        self._ended = 0
        self._lock = threading.Lock()

    def __enter__(self) -> Self:
        self.bars.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self.is_live:
            self.bars.stop()

    def expect(self, sources: int) -> None:
        """Show how many documents there are, if there are several."""
        if sources > 1:
            self._documents = self.bars.add_task("documents", total=sources, spent="")
            if not self.is_live:
                echo(f"{sources} documents")

    def begin(self, source: str) -> DocumentProgress:
        """Begin to show a document, or other work."""
        steps = DocumentProgress(self, source)
        with self._lock:
            self._begun[source] = steps
        return steps

    def end(self, outcome: Outcome) -> None:
        """Replace the bars of a document by a line with its outcome."""
        with self._lock:
            self._ended += 1
            steps = self._begun.get(outcome.source)
        if steps is not None:
            steps.remove()
        if self._documents is not None:
            self.bars.update(self._documents, advance=1)
        echo(outcome_line(outcome))
        if outcome.status != "unchanged":
            show_reading(outcome)

    def so_far(self) -> str:
        """Return in words how many documents are done and under way, and how many replies came."""
        done, under_way = self._ended, len(self._begun) - self._ended
        replies = sum(steps.calls for steps in self._begun.values())
        return (
            f"{done} document{' is' if done == 1 else 's are'} done, {under_way} "
            f"{'was' if under_way == 1 else 'were'} under way; {replies:,} model "
            f"{'reply was' if replies == 1 else 'replies were'} paid for"
        )


class DocumentProgress:
    """The steps of one document; implements `models.progress.Progress`."""

    def __init__(self, progress: BuildProgress, source: str) -> None:
        self.calls = 0
        self._progress, self._bars = progress, progress.bars
        self._name = PurePath(source).name
        self._tasks: dict[str, TaskID] = {}
        self._pace = Pace()
        self._printed_at = time.monotonic()
        self._lock = threading.Lock()

    def expect(self, step: str, count: int) -> None:
        """Add expected work to a step; a step without work has no bar."""
        if not count:
            return
        with self._lock:
            self._pace.expect(step, count)
            if step not in self._tasks:
                self._tasks[step] = self._bars.add_task(f"{self._name}: {step}", spent="")
            self._bars.update(self._tasks[step], total=self._pace.expected[step], visible=True)

    def done(self, step: str, usage: Usage) -> None:
        """Count one piece of a step as done; without bars, print a line every few seconds."""
        with self._lock:
            self.calls = usage.calls
            self._pace.done(step)
            keeps = self._progress.keep_steps
            done, expected = self._pace.completed[step], self._pace.expected[step]
            is_over = done == expected
            self._bars.update(
                self._tasks[step],
                completed=done,
                visible=keeps or not is_over,
                spent=describe_usage(usage) if usage.calls else "",
            )
            now = time.monotonic()
            is_due = (keeps and is_over) or now - self._printed_at >= LINE_SECONDS
            if self._progress.is_live or not is_due:
                return
            self._printed_at = now
            line = self._line(usage)
        echo(line, err=True)

    def remove(self) -> None:
        """Remove its bars."""
        with self._lock:
            while self._tasks:
                self._bars.remove_task(self._tasks.popitem()[1])

    def _line(self, usage: Usage) -> str:
        """Return how much of each step is done, the usage, and, once it is known, the time left."""
        pace = self._pace
        steps = [f"{step} {pace.completed[step]}/{count}" for step, count in pace.expected.items()]
        parts = [", ".join(steps)]
        if usage.calls or usage.saved:
            parts.append(describe_usage(usage))
        left = pace.seconds_left()
        if left is not None:
            parts.append(f"about {left:.0f} s left of these")
        return f"{self._name}: {'; '.join(parts)}"
