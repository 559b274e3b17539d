"""A log handler that counts repeated lines instead of writing them, so that no disk fills up."""

from __future__ import annotations

import logging
import threading
from collections import Counter
from typing import TextIO

WINDOW_SECONDS = 60.0
MAX_LINES = 1
"""How often the same warning or error is written in a window; further ones are counted."""
MAX_STRANGERS_LINES = 200
"""How many requests without a valid key are written in a window, for each status."""
MAX_KEYS = 1000
"""How many different warnings are counted separately in a window."""


class RepeatsCounted(logging.StreamHandler[TextIO]):
    """Writes a warning or error once in a minute, and then how often it was repeated."""

    def __init__(self, stream: TextIO, window_seconds: float = WINDOW_SECONDS) -> None:
        super().__init__(stream)
        self._window_seconds = window_seconds
        self._counts: Counter[tuple[str, ...]] = Counter()
        self._repeated: dict[tuple[str, ...], logging.LogRecord] = {}
        """The first record of each line that was not written."""
        self._timer: threading.Timer | None = None

    def emit(self, record: logging.LogRecord) -> None:
        """Write a record, or count it if the same line was written in this window."""
        key, limit = _key(record)
        if key is not None and self._is_repeated(key, limit, record):
            return
        super().emit(record)

    def flush_counts(self) -> None:
        """Write how often lines were repeated, and begin a new window."""
        self.acquire()
        try:
            repeated, self._repeated = self._repeated, {}
            counts, self._counts = self._counts, Counter()
            self._timer = None
            for key, record in repeated.items():
                count = counts[key] - _key(record)[1]
                prefix = f"{count:,} more in the last {self._window_seconds:.0f} s"
                summary = logging.makeLogRecord(
                    {
                        "name": record.name,
                        "levelno": record.levelno,
                        "levelname": record.levelname,
                        "msg": f"{prefix}, such as: %s",
                        "args": (record.getMessage(),),
                    }
                )
                super().emit(summary)
        finally:
            self.release()

    def _is_repeated(self, key: tuple[str, ...], limit: int, record: logging.LogRecord) -> bool:
        # logging holds the lock of the handler here.
        if key not in self._counts and len(self._counts) >= MAX_KEYS:
            key = ("others",)
        self._counts[key] += 1
        if self._timer is None:
            self._timer = threading.Timer(self._window_seconds, self.flush_counts)
            self._timer.daemon = True
            self._timer.start()
        if self._counts[key] <= limit:
            return False
        self._repeated.setdefault(key, record)
        return True


def _key(record: logging.LogRecord) -> tuple[tuple[str, ...] | None, int]:
    """Return the key that equal lines share, and how often they are written; None is always."""
    fields = getattr(record, "fields", {})
    if fields.get("status") and not fields.get("caller"):
        return ("stranger", str(fields["status"])), MAX_STRANGERS_LINES
    if record.levelno < logging.WARNING:
        return None, 0
    error = record.exc_info[0].__name__ if record.exc_info and record.exc_info[0] else ""
    return (record.name, str(record.levelno), record.getMessage(), error), MAX_LINES
