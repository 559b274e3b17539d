"""How patiently models are called, over all threads: when each call may start, how long to wait."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from fabula.errors import ModelError
from fabula.models.purpose import BUILD, Purpose
from fabula.models.rate_limit import Call, RateLimit

LONGEST_SLEEP = 60.0
"""Seconds; infinity is more than a lock can wait."""
RESERVE = 8
"""One of so many turns is kept from builds, so that a question finds one that is free. Without it,
a question that comes while all are taken waits for the first build's call to end, which may be a
long one."""
RESERVED = 60.0
"""Seconds after an urgent call for which that is so: a build that nobody asks questions beside has
all turns."""


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

    Urgent calls go first, whatever the others wait for: a turn, or the endpoint to open again.
    Thread-safe; waiting threads sleep. `close` ends every wait with a ModelError, so that an
    interrupted program need not sit out a long Retry-After.
    """

    def __init__(self, most: int) -> None:
        self.rate_limit = RateLimit(most)
        self._answered_at = time.monotonic()
        self._urgent_at = -math.inf
        self._urgent_waiting = self._builds = 0
        self._changed = threading.Condition()
        self._is_closed = False

    @property
    def silent_for(self) -> float:
        """Seconds since a call was last answered, or since the beginning."""
        return time.monotonic() - self._answered_at

    @contextmanager
    def slot(self, purpose: Purpose = BUILD) -> Iterator[Call]:
        """Waits for a turn and holds it; leaving without an error counts as a call answered.

        Raises ModelError once closed, and Stopped once the purpose was stopped.
        """
        call = self._enter(purpose)
        try:
            yield call
        except BaseException:
            with self._changed:
                self._builds -= not purpose.urgent
                self.rate_limit.failed(time.monotonic(), call)
                self._changed.notify_all()
            raise
        with self._changed:
            self._builds -= not purpose.urgent
            self._answered_at = time.monotonic()
            self.rate_limit.accepted(self._answered_at, call)
            self._changed.notify_all()

    def refused(self, call: Call, after: float | None) -> None:
        """The endpoint is called too often; `after`: seconds to wait, where it says so."""
        with self._changed:
            self.rate_limit.refused(time.monotonic(), call, after)

    def allowance(self, call: Call, left: float, reset: float) -> None:
        """An answer says how much the endpoint takes until `reset` seconds on."""
        with self._changed:
            self.rate_limit.allowance(call, left, reset)

    def late(self, call: Call) -> None:
        """The endpoint did not answer in time."""
        with self._changed:
            self.rate_limit.late(time.monotonic(), call)

    def limits(self) -> dict[str, float]:
        """How many calls may be under way at once, how many are, and seconds between two."""
        with self._changed:
            limit = self.rate_limit
            return {
                "at_once": float(limit.ceiling),
                "under_way": float(limit.under_way),
                "seconds_apart": limit.interval,
            }

    def pause(self, seconds: float, purpose: Purpose = BUILD) -> None:
        """Sleeps, holding no turn; `close` ends it, and the purpose's stop."""
        end = time.monotonic() + seconds
        with purpose.stop.telling(self._wake), self._changed:
            while (left := end - time.monotonic()) > 0:
                self._refuse_stopped(purpose)
                self._changed.wait(min(left, LONGEST_SLEEP))
            self._refuse_stopped(purpose)

    def close(self) -> None:
        """Ends all waiting, now and later."""
        with self._changed:
            self._is_closed = True
            self._changed.notify_all()

    def _wake(self) -> None:
        with self._changed:
            self._changed.notify_all()

    def _refuse_stopped(self, purpose: Purpose) -> None:
        if self._is_closed:
            raise ModelError("Model calls were stopped.")
        purpose.stop.check()

    def _enter(self, purpose: Purpose) -> Call:
        with purpose.stop.telling(self._wake), self._changed:
            self._urgent_waiting += purpose.urgent
            try:
                while True:
                    self._refuse_stopped(purpose)
                    now = time.monotonic()
                    if purpose.urgent:
                        self._urgent_at = now
                    wait = self._wait(now, purpose)
                    if wait <= 0:
                        self._builds += not purpose.urgent
                        return self.rate_limit.start(now)
                    self._changed.wait(min(wait, LONGEST_SLEEP))
            finally:
                if purpose.urgent:
                    # Builds have waited for this call to begin, not for a time.
                    self._urgent_waiting -= 1
                    self._changed.notify_all()

    def _wait(self, now: float, purpose: Purpose) -> float:
        """Seconds until a call of the purpose may start; infinity until another one has."""
        if not purpose.urgent:
            ceiling = self.rate_limit.ceiling
            kept = 0
            if now - self._urgent_at < RESERVED:
                # Where one call is all that the endpoint takes, there is nothing to keep.
                kept = min(max(1, ceiling // RESERVE), ceiling - 1)
            if self._urgent_waiting or self._builds >= ceiling - kept:
                return math.inf
        return self.rate_limit.wait(now)
