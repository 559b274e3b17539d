"""How far a start of the private server is: what callers show to people."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Progress:
    """What is being done; while fetching also bytes `done` of `total`, which is 0 otherwise."""

    doing: str
    done: int = 0
    total: int = 0


IDLE = Progress("")
"""The last report of a start or a stop, whether it went well or not."""

Report = Callable[[Progress], None]
"""Called in the thread that asked, a few times a second while something is fetched."""


def quiet(progress: Progress) -> None:
    """Shows nothing."""
