"""The progress of a start of the private server, for callers to show."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Progress:
    """What is being done; while jars are fetched, also the bytes `done` of `total`, or else 0."""

    doing: str
    done: int = 0
    total: int = 0


IDLE = Progress("")
"""The last report of a start or a stop, whether it succeeded or not."""

Report = Callable[[Progress], None]
"""Called in the caller's thread, a few times a second while jars are fetched."""


def quiet(progress: Progress) -> None:
    """Ignore a report."""
