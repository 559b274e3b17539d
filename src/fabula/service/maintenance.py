"""A planned pause of Neo4j: why it is not available just now, and for about how long."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Outage:
    """Why Neo4j can't be asked now, in a sentence that names no collection, and for how long.

    `retry_after` is in seconds, as the header Retry-After tells it.
    """

    reason: str
    retry_after: int


class Maintenance:
    """A flag that says that Neo4j is stopped on purpose. Safe to share between threads.

    While it is set, requests that need Neo4j are answered with 503, the reason and Retry-After, and
    the supervisor doesn't start the private server.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._reason = ""
        self._until = 0.0

    @contextmanager
    def announce(self, reason: str, expected_seconds: float) -> Iterator[None]:
        """Set the flag while the block runs. `reason` is a whole sentence that clients are told."""
        with self._lock:
            self._reason, self._until = reason, time.monotonic() + expected_seconds
        try:
            yield
        finally:
            with self._lock:
                self._reason = ""

    def current(self) -> Outage | None:
        """Return what is announced now, with the seconds that are left of what was expected."""
        with self._lock:
            if not self._reason:
                return None
            return Outage(self._reason, max(1, round(self._until - time.monotonic())))
