"""The progress of a build: what its steps report, and how long the rest will take."""

from __future__ import annotations

import time
from collections import Counter
from typing import Protocol

from fabula.models.usage import Usage

MIN_SHARE_DONE = 1 / 20
"""The part of the known work that must be done before the time left is estimated."""
READ_FILE, WAIT, PLAN, BUILD = "read file", "wait for lock", "plan", "build"
READ_PREVIOUS = "read what is there"
"""Nodes of the former version, of which what is unchanged is used again."""
SEND_BATCHES, STORE, SWITCH, SWEEP = "send batches", "store", "switch", "sweep"
IMPORT = "import"
"""A file of annotations is read, its annotations are looked for in the text, and saved."""
PHASES = frozenset(
    {READ_FILE, WAIT, PLAN, READ_PREVIOUS, BUILD, SEND_BATCHES, STORE, SWITCH, SWEEP, IMPORT}
)
"""Steps that a document goes through one after the other, while the others count their calls and
passages. A phase is one piece of work of unknown length, so no time is estimated from it."""


class Progress(Protocol):
    """Receives the progress of building one document; called from several threads."""

    def expect(self, step: str, count: int) -> None:
        """Report that `count` more pieces of work of `step` have become known."""
        ...

    def done(self, step: str, usage: Usage) -> None:
        """Report that a piece of work of `step` is done; `usage` is that of all steps so far."""
        ...


class Pace:
    """Counts the known and the completed work of each step, and estimates the time left."""

    def __init__(self) -> None:
        self.expected, self.completed = Counter[str](), Counter[str]()
        self._began, self._before = time.monotonic(), 0

    def expect(self, step: str, count: int) -> None:
        """Add pieces of work of a step that have become known."""
        done, known = self.work()
        if done == known and step not in PHASES:
            # What comes now, as writing to the graph after calls of models, has its own pace.
            self._began, self._before = time.monotonic(), done
        self.expected[step] += count

    def done(self, step: str) -> None:
        """Count a piece of a step's work as completed."""
        self.completed[step] += 1

    def work(self) -> tuple[int, int]:
        """Return how many pieces are completed and how many are known, without the phases."""
        done, known = (
            sum(count for step, count in counts.items() if step not in PHASES)
            for counts in (self.completed, self.expected)
        )
        return done, known

    def seconds_left(self) -> float | None:
        """Return the seconds until all known work is done; None before that can be estimated."""
        done, expected = (count - self._before for count in self.work())
        if not expected * MIN_SHARE_DONE <= done < expected:
            return None
        return (time.monotonic() - self._began) * (expected - done) / done
