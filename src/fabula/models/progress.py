"""How far a document is: what steps tell, whoever listens, and how long the rest will take."""

from __future__ import annotations

import time
from collections import Counter
from typing import Protocol

from fabula.models.usage import Usage

ENOUGH = 20
"""A part in so many must be done before the time left is told."""


class Progress(Protocol):
    """Listens to the making of one document; called from several threads."""

    def expect(self, step: str, count: int) -> None:
        """`count` more pieces of work of `step` have become known."""
        ...

    def done(self, step: str, usage: Usage) -> None:
        """One piece of work of `step` is done; `usage` is what all steps asked of models so far."""
        ...


class Pace:
    """How much of each step is known and done, and how long the rest will take at this pace."""

    def __init__(self) -> None:
        self.expected, self.made = Counter[str](), Counter[str]()
        self._began, self._before = time.monotonic(), 0

    def expect(self, step: str, count: int) -> None:
        """More work of a step has become known."""
        if self.made == self.expected:
            # What comes now, as writing after calls, has a pace of its own.
            self._began, self._before = time.monotonic(), self.made.total()
        self.expected[step] += count

    def done(self, step: str) -> None:
        """One piece of a step's work is done."""
        self.made[step] += 1

    def left(self) -> float | None:
        """Seconds until what is known is done; None before there is enough to tell by."""
        done, expected = (one.total() - self._before for one in (self.made, self.expected))
        if not expected / ENOUGH <= done < expected:
            return None
        return (time.monotonic() - self._began) * (expected - done) / done
