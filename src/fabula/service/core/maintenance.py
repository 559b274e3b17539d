"""Planned pauses of Neo4j, as for a dump: why it can't be asked, and for about how long."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from fabula.service.core.errors import Unavailable

MIN_RETRY_SECONDS = 2


@dataclass(frozen=True, slots=True)
class Outage:
    """Why Neo4j can't be asked now, in a sentence that names no collection, and for how long.

    `retry_after` is in seconds, as in the header Retry-After.
    """

    reason: str
    retry_after: int


class Maintenance:
    """Whether Neo4j is stopped on purpose. Safe to share between threads.

    While it is, requests that need Neo4j are answered with 503, the reason and Retry-After, and the
    supervisor doesn't start the private server: whoever stopped it starts it again.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._reason = ""
        self._until = 0.0
        self._requests = 0

    def current(self) -> Outage | None:
        """Return the pause that goes on now, with the seconds left of what was expected."""
        with self._changed:
            if not self._reason:
                return None
            seconds = max(MIN_RETRY_SECONDS, round(self._until - time.monotonic()))
            return Outage(f"{self._reason} The service is back in about {seconds} s.", seconds)

    @contextmanager
    def begin(self, reason: str, expected_seconds: float) -> Iterator[None]:
        """Answer no new requests while the block runs. `reason` is a whole sentence for clients."""
        with self._changed:
            self._reason, self._until = reason, time.monotonic() + expected_seconds
        try:
            yield
        finally:
            with self._changed:
                self._reason = ""

    def wait_for_requests(self, seconds: float) -> bool:
        """Wait until no request is under way any more; return whether that came to pass."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._requests, seconds)

    @contextmanager
    def count_request(self) -> Iterator[None]:
        """Count a request as under way while the block runs.

        Raises:
            Unavailable: Neo4j is stopped on purpose.
        """
        with self._changed:
            if outage := self.current():
                raise Unavailable(outage.reason, outage.retry_after)
            self._requests += 1
        try:
            yield
        finally:
            with self._changed:
                self._requests -= 1
                self._changed.notify_all()
