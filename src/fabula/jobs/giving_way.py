"""Jobs give way to questions: they pause between the slices of what they read and write."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from fabula.models.stop import Stop

MIN_SLICE_SECONDS = 0.05
PAUSE_SHARE = 0.5
"""Of the time since the last pause: where questions are asked all the while, writing takes half as
long again."""
MAX_PAUSE_SECONDS = 1.0


class GivingWay(Stop):
    """Stops a job, and pauses it while questions are answered, wherever it may be stopped.

    Neo4j gives all statements equal shares of the processors, and a job sends its own without a
    break.

    Args:
        is_asked: Returns whether a question is being answered now.
    """

    def __init__(self, is_asked: Callable[[], bool]) -> None:
        super().__init__()
        self._is_asked = is_asked
        self._slice_began = time.monotonic()
        self._slices = threading.Lock()

    def check(self) -> None:
        """Raise Stopped if the flag is set; pause in proportion to the last slice."""
        super().check()
        with self._slices:
            seconds = time.monotonic() - self._slice_began
            is_due = seconds >= MIN_SLICE_SECONDS and self._is_asked()
            pause = min(PAUSE_SHARE * seconds, MAX_PAUSE_SECONDS) if is_due else 0.0
            if seconds >= MIN_SLICE_SECONDS:
                self._slice_began = time.monotonic() + pause
        time.sleep(pause)
        super().check()
