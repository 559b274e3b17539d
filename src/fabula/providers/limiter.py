"""How patiently models are called, over all threads: when each call may start, how long to wait."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from fabula.errors import ModelError
from fabula.providers.rate_limit import Call, RateLimit

LONGEST_SLEEP = 60.0
"""Seconds; infinity is more than a lock can wait."""


@dataclass(frozen=True, slots=True)
class Patience:
    """How long to wait: `timeout` seconds without a byte, `attempts` tries for a call.

    Before the second try, `first_wait` seconds, before each further one twice as long, unless
    the endpoint says how long. Refusals for calling too often are no tries: a call is given up
    when all calls were refused for `refusals` seconds.
    """

    timeout: float = 120.0
    attempts: int = 6
    first_wait: float = 0.5
    refusals: float = 600.0


class Limiter:
    """At most `most` calls at once, and no more than the endpoint is found to allow.

    Thread-safe; waiting threads sleep. `close` ends every wait with a ModelError, so that an
    interrupted program need not sit out a long Retry-After.
    """

    def __init__(self, most: int) -> None:
        self.rate_limit = RateLimit(most)
        self._answered_at = time.monotonic()
        self._changed = threading.Condition()
        self._closed = threading.Event()

    @property
    def silent_for(self) -> float:
        """Seconds since a call was last answered, or since the beginning."""
        return time.monotonic() - self._answered_at

    @contextmanager
    def slot(self) -> Iterator[Call]:
        """Waits for a turn and holds it; leaving without an error counts as a call answered.

        Raises ModelError once closed.
        """
        call = self._enter()
        try:
            yield call
        except BaseException:
            with self._changed:
                self.rate_limit.failed(time.monotonic(), call)
                self._changed.notify_all()
            raise
        with self._changed:
            self._answered_at = time.monotonic()
            self.rate_limit.accepted(self._answered_at, call)
            self._changed.notify_all()

    def refused(self, call: Call, after: float | None) -> None:
        """The endpoint is called too often; `after`: seconds to wait, where it says so."""
        with self._changed:
            self.rate_limit.refused(time.monotonic(), call, after)

    def told(self, call: Call, left: float, reset: float) -> None:
        """An answer says how much the endpoint takes until `reset` seconds on."""
        with self._changed:
            self.rate_limit.told(call, left, reset)

    def late(self, call: Call) -> None:
        """The endpoint did not answer in time."""
        with self._changed:
            self.rate_limit.late(time.monotonic(), call)

    def pause(self, seconds: float) -> None:
        """Sleeps, holding no turn; `close` ends it."""
        if self._closed.wait(seconds):
            raise ModelError("Model calls were stopped.")

    def close(self) -> None:
        """Ends all waiting, now and later."""
        with self._changed:
            self._closed.set()
            self._changed.notify_all()

    def _enter(self) -> Call:
        with self._changed:
            while True:
                if self._closed.is_set():
                    raise ModelError("Model calls were stopped.")
                now = time.monotonic()
                wait = self.rate_limit.wait(now)
                if wait <= 0:
                    return self.rate_limit.start(now)
                self._changed.wait(min(wait, LONGEST_SLEEP))
