"""The progress of a start of the private server, for callers to show."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ServerProgress:
    """What is being done; while jars are fetched, also the bytes `done` of `total`, or else 0."""

    doing: str
    done: int = 0
    total: int = 0


IDLE = ServerProgress("")
"""The last report of a start or a stop, whether it succeeded or not."""

ProgressReport = Callable[[ServerProgress], None]
"""Called in the caller's thread, a few times a second while jars are fetched."""


def ignore_progress(progress: ServerProgress) -> None:
    """Ignore a report."""
