"""How an ingest shows itself: bars on a terminal, lines elsewhere."""

from __future__ import annotations

import threading
import time
from pathlib import PurePath
from types import TracebackType
from typing import TYPE_CHECKING, Self

import click
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
)

from fabula.cli.screen import console, counted, spent
from fabula.model import Usage

if TYPE_CHECKING:
    from fabula.ingest import Outcome

EVERY = 10.0
"""Seconds between two lines of one document, where there is no terminal."""
ENOUGH = 20
"""A part in so many must be done before the time left is told."""


def outcome_line(outcome: Outcome) -> str:
    """What became of a source, in one line."""
    name = PurePath(outcome.source).name
    if outcome.error:
        return f"failed     {outcome.error}"
    if outcome.status == "unchanged":
        return f"unchanged  {name}: {outcome.title} is in the graph as it is now"
    made = ", ".join(counted(number, kind) for kind, number in outcome.counts.items())
    said = (made, spent(outcome.usage), f"{outcome.seconds:.1f} s", *outcome.notes)
    return f"{outcome.status:<9}  {outcome.title}: {'; '.join(filter(None, said))}"


class Tally:
    """Counts how far an ingest is, for whoever stops it."""

    def __init__(self) -> None:
        self._begun = self._ended = 0
        self._calls: dict[DocumentBars | DocumentLines, int] = {}
        self._counting = threading.Lock()

    def so_far(self) -> str:
        """Documents that are done and under way, and the replies that came, in words."""
        done, under_way = self._ended, self._begun - self._ended
        replies = sum(self._calls.values())
        return (
            f"{done} document{' is' if done == 1 else 's are'} done, {under_way} "
            f"{'was' if under_way == 1 else 'were'} under way; {replies:,} model "
            f"{'reply was' if replies == 1 else 'replies were'} paid for"
        )

    def begun(self) -> None:
        """A document is being made."""
        with self._counting:
            self._begun += 1

    def asked(self, document: DocumentBars | DocumentLines, calls: int) -> None:
        """What one document has asked of models until now."""
        self._calls[document] = calls

    def ended(self) -> None:
        """A document is done with."""
        with self._counting:
            self._ended += 1


class Bars:
    """A bar for each step of each document that is being made, on a terminal."""

    def __init__(self, screen: Console) -> None:
        self.tally = Tally()
        self._all: TaskID | None = None
        self._progress = Progress(
            TextColumn("{task.description}", style="bold", markup=False),
            BarColumn(24),
            MofNCompleteColumn(),
            TimeRemainingColumn(compact=True),
            TextColumn("{task.fields[spent]}", style="dim"),
            console=screen,
            transient=True,
        )

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._progress.stop()

    def expect(self, sources: int) -> None:
        """A bar over all documents, unless there is only one."""
        if sources > 1:
            self._all = self._progress.add_task("documents", total=sources, spent="", source="")

    def begin(self, source: str) -> DocumentBars:
        """The bars of one document."""
        self.tally.begun()
        return DocumentBars(self._progress, source, self.tally)

    def end(self, outcome: Outcome) -> None:
        """A line that stays, in the place of the document's bars."""
        self.tally.ended()
        for task in list(self._progress.tasks):
            if task.fields["source"] == outcome.source:
                self._progress.remove_task(task.id)
        if self._all is not None:
            self._progress.update(self._all, advance=1)
        self._progress.console.print(outcome_line(outcome))


class DocumentBars:
    """One document's bars: one a step, gone when the step is done."""

    def __init__(self, progress: Progress, source: str, tally: Tally) -> None:
        self._tally = tally
        self._progress = progress
        self._source = source
        self._name = PurePath(source).name
        self._tasks: dict[str, TaskID] = {}
        self._adding = threading.Lock()

    def expect(self, step: str, count: int) -> None:
        """More work of a step: its bar grows."""
        with self._adding:
            if step not in self._tasks:
                self._tasks[step] = self._progress.add_task(
                    f"{self._name}: {step}", total=0, spent="", source=self._source
                )
            task = self._tasks[step]
            self._progress.update(task, total=self._total(task) + count, visible=True)

    def done(self, step: str, usage: Usage) -> None:
        """One piece done: its bar moves."""
        self._tally.asked(self, usage.calls)
        task = self._tasks[step]
        self._progress.update(task, advance=1, spent=spent(usage) if usage.calls else "")
        if self._progress.tasks and self._finished(task):
            self._progress.update(task, visible=False)

    def _total(self, task: TaskID) -> float:
        return next(one.total or 0 for one in self._progress.tasks if one.id == task)

    def _finished(self, task: TaskID) -> bool:
        return any(one.finished for one in self._progress.tasks if one.id == task)


class Lines:
    """A line now and then for each document, where there is no terminal."""

    def __init__(self) -> None:
        self.tally = Tally()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        pass

    def expect(self, sources: int) -> None:
        """How many documents there are, unless there is only one."""
        if sources > 1:
            click.echo(f"{sources} documents")

    def begin(self, source: str) -> DocumentLines:
        """The lines of one document."""
        self.tally.begun()
        return DocumentLines(PurePath(source).name, self.tally)

    def end(self, outcome: Outcome) -> None:
        """What became of a document."""
        self.tally.ended()
        click.echo(outcome_line(outcome))


class DocumentLines:
    """One document's lines: what is done of each step, and the time that it needs still."""

    def __init__(self, name: str, tally: Tally) -> None:
        self._name = name
        self._tally = tally
        self._expected: dict[str, int] = {}
        self._done: dict[str, int] = {}
        self._began = self._spoke = time.monotonic()
        self._counting = threading.Lock()

    def expect(self, step: str, count: int) -> None:
        """More work of a step."""
        with self._counting:
            self._expected[step] = self._expected.get(step, 0) + count

    def done(self, step: str, usage: Usage) -> None:
        """One piece done; says so when a step ends, or after some seconds."""
        self._tally.asked(self, usage.calls)
        with self._counting:
            self._done[step] = self._done.get(step, 0) + 1
            now = time.monotonic()
            if now - self._spoke < EVERY:
                return
            self._spoke = now
            steps = ", ".join(
                f"{step} {self._done.get(step, 0)}/{count}"
                for step, count in self._expected.items()
            )
            left = self._left(now)
        click.echo(f"{self._name}: {steps}; {spent(usage)}{left}")

    def _left(self, now: float) -> str:
        """Time left, once enough is done to tell by."""
        done, expected = sum(self._done.values()), sum(self._expected.values())
        if done < expected / ENOUGH:
            return ""
        return f"; about {(now - self._began) * (expected - done) / done:.0f} s left of these"


def watching() -> Bars | Lines:
    """Bars on a terminal, lines elsewhere; to be used with `with`."""
    screen = console()
    return Bars(screen) if screen.is_terminal else Lines()
