"""How a run asks models by batches, and what it reports meanwhile."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class BatchProgress:
    """How the batches of a run stand: reported after each look at them.

    Attributes:
        batches: The batches that have not ended.
        lines: The number of their calls.
        done: How many of these the endpoint has answered.
        numbers: The batches' numbers in the file of batches.
        cancelled: The batches that somebody has cancelled. The run ends then, and does not send
            their calls again by itself.
    """

    batches: int
    lines: int
    done: int
    numbers: tuple[int, ...] = ()
    cancelled: int = 0


def _ignore(progress: BatchProgress) -> None:
    """Do nothing."""


@dataclass(frozen=True, slots=True)
class BatchOptions:
    """How a run asks models by batches.

    Attributes:
        wait: Whether the run waits for its batches. If not, it ends with documents that wait, and
            the same run goes on once their batches have ended.
        poll_seconds: Poll interval of a run that waits for its batches.
        report: Called with their state.
        owner: Whose budget the calls are of: the id of a service's caller; '' for nobody's.
    """

    wait: bool = False
    poll_seconds: float = 60.0
    report: Callable[[BatchProgress], None] = _ignore
    owner: str = ""
