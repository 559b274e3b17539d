"""How work shows itself as it goes on: bars on a terminal, lines elsewhere."""

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

from fabula.cli.shared.screen import console, counted, echo, lacking, spent
from fabula.models.progress import Pace
from fabula.models.usage import Usage

if TYPE_CHECKING:
    from fabula.build.outcome import Outcome

RETRY = "`fabula ingest --retry`"
"""What fills gaps."""
EVERY = 10.0
"""Seconds between two lines of one piece of work, where there is no terminal."""


def outcome_line(outcome: Outcome) -> str:
    """What became of a source, in one line."""
    name = PurePath(outcome.source).name
    if outcome.error:
        return f"failed     {outcome.error}"
    if outcome.status == "unchanged":
        return f"unchanged  {name}: {outcome.title} is in the graph as it is now"
    made = ", ".join(counted(number, kind) for kind, number in outcome.counts.items())
    said = [made, spent(outcome.usage), f"{outcome.seconds:.1f} s", *outcome.notes]
    if outcome.gaps:
        said += [lacking(outcome.gaps), f"{RETRY} asks again"]
    return f"{outcome.status:<9}  {outcome.title}: {'; '.join(filter(None, said))}"


class Watching:
    """Hears how documents are made, or whatever else has steps; to be used with `with`.

    Steps that are done go from the screen, unless they are to `stay`.
    """

    def __init__(self, *, stay: bool = False) -> None:
        screen = console()
        self.stay, self.is_live = stay, screen.is_terminal
        self.bars = Progress(
            TextColumn("{task.description}", style="bold", markup=False),
            BarColumn(24),
            MofNCompleteColumn(),
            TimeRemainingColumn(compact=True),
            TextColumn("{task.fields[spent]}", style="dim"),
            console=screen,
            transient=not stay,
            disable=not self.is_live,
        )
        self._all: TaskID | None = None
        self._begun: dict[str, Steps] = {}
        self._ended = 0
        self._counting = threading.Lock()

    def __enter__(self) -> Self:
        self.bars.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self.is_live:
            self.bars.stop()

    def expect(self, sources: int) -> None:
        """How many documents there are, unless there is only one."""
        if sources > 1:
            self._all = self.bars.add_task("documents", total=sources, spent="")
            if not self.is_live:
                echo(f"{sources} documents")

    def begin(self, source: str) -> Steps:
        """A document is being made, or something else."""
        steps = Steps(self, source)
        with self._counting:
            self._begun[source] = steps
        return steps

    def end(self, outcome: Outcome) -> None:
        """A line that stays, in the place of the document's bars."""
        with self._counting:
            self._ended += 1
            steps = self._begun.get(outcome.source)
        if steps is not None:
            steps.remove()
        if self._all is not None:
            self.bars.update(self._all, advance=1)
        echo(outcome_line(outcome))

    def so_far(self) -> str:
        """Documents that are done and under way, and the replies that came, in words."""
        done, under_way = self._ended, len(self._begun) - self._ended
        replies = sum(steps.calls for steps in self._begun.values())
        return (
            f"{done} document{' is' if done == 1 else 's are'} done, {under_way} "
            f"{'was' if under_way == 1 else 'were'} under way; {replies:,} model "
            f"{'reply was' if replies == 1 else 'replies were'} paid for"
        )


class Steps:
    """One document's steps, by how much is known and done of each: `models.progress.Progress`."""

    def __init__(self, watching: Watching, source: str) -> None:
        self.calls = 0
        self._watching, self._bars = watching, watching.bars
        self._name = PurePath(source).name
        self._tasks: dict[str, TaskID] = {}
        self._pace = Pace()
        self._spoke = time.monotonic()
        self._counting = threading.Lock()

    def expect(self, step: str, count: int) -> None:
        """More work of a step: its bar grows. A step with nothing to do has no bar."""
        if not count:
            return
        with self._counting:
            self._pace.expect(step, count)
            if step not in self._tasks:
                self._tasks[step] = self._bars.add_task(f"{self._name}: {step}", spent="")
            self._bars.update(self._tasks[step], total=self._pace.expected[step], visible=True)

    def done(self, step: str, usage: Usage) -> None:
        """One piece done: its bar moves; without bars, a line says so after some seconds."""
        with self._counting:
            self.calls = usage.calls
            self._pace.done(step)
            stays = self._watching.stay
            done, expected = self._pace.made[step], self._pace.expected[step]
            is_over = done == expected
            self._bars.update(
                self._tasks[step],
                completed=done,
                visible=stays or not is_over,
                spent=spent(usage) if usage.calls else "",
            )
            now = time.monotonic()
            if self._watching.is_live or not ((stays and is_over) or now - self._spoke >= EVERY):
                return
            self._spoke = now
            line = self._line(usage)
        echo(line)

    def remove(self) -> None:
        """Its bars go."""
        with self._counting:
            while self._tasks:
                self._bars.remove_task(self._tasks.popitem()[1])

    def _line(self, usage: Usage) -> str:
        """What is done of each step, was spent, and is left, once there is enough to tell by."""
        pace = self._pace
        steps = [f"{step} {pace.made[step]}/{count}" for step, count in pace.expected.items()]
        said = [", ".join(steps)]
        if usage.calls or usage.saved:
            said.append(spent(usage))
        left = pace.left()
        if left is not None:
            said.append(f"about {left:.0f} s left of these")
        return f"{self._name}: {'; '.join(said)}"
