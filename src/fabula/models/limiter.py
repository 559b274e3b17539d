"""Decide for all threads when each model call may start, and how long to wait."""

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

MAX_SLEEP_SECONDS = 60.0
"""A lock can't wait for infinity."""
RESERVED_SHARE = 8
"""One slot in this many is reserved for questions. Without it, a question that comes while builds
have all slots has to wait until a call of a build ends, which may take long."""
RESERVED_SECONDS = 60.0
"""How long after a question slots are reserved: without questions, builds have all of them."""


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How long to wait for an endpoint, and how often to try.

    Attributes:
        timeout: The seconds without a byte after which a try fails.
        attempts: The tries of a call. A refusal for calling too often (429) does not count as one.
        first_wait: The seconds before the second try, unless the endpoint says how long; before
            each further one, twice as many.
        refusals: The seconds of nothing but refusals after which a call fails.
    """

    timeout: float = 120.0
    attempts: int = 6
    first_wait: float = 0.5
    refusals: float = 600.0


class Limiter:
    """Lets as many calls start as the endpoint allows, those of questions first.

    It is thread-safe; waiting threads sleep. `close` ends every wait with a ModelError, so that an
    interrupted program does not have to wait for a long Retry-After.
    """

    def __init__(self, most: int) -> None:
        """Begin without knowing the endpoint's limits.

        Args:
            most: The most calls at once.
        """
        self.rate_limit = RateLimit(most)
        self._urgent_waiting = 0
        """The questions' calls that wait; calls of builds wait until there are none."""
        self._urgent_at = -math.inf
        self._builds = 0
        """The calls of builds that are under way."""
        self._answered_at = time.monotonic()
        self._changed = threading.Condition()
        self._is_closed = False

    @property
    def silent_for(self) -> float:
        """The seconds since a call was last answered, or since the beginning."""
        return time.monotonic() - self._answered_at

    @property
    def is_serial(self) -> bool:
        """Whether the endpoint seems to work on one call at a time."""
        return self.rate_limit.is_serial

    @contextmanager
    def slot(self, purpose: Purpose = BUILD) -> Iterator[Call]:
        """Wait until a call may start; leaving without an error counts as an answer.

        Args:
            purpose: What the call is for; its stop ends the wait.

        Raises:
            ModelError: The limiter was closed.
            Stopped: The purpose was stopped.
        """
        call = self._enter(purpose)
        is_answered = False
        try:
            yield call
            is_answered = True
        finally:
            # Also on GeneratorExit: a reader who leaves a stream has to give the slot back.
            with self._changed:
                now = time.monotonic()
                self._builds -= not purpose.urgent
                if is_answered:
                    self._answered_at = now
                    self.rate_limit.end_answered(now, call)
                else:
                    self.rate_limit.end_call(now, call)
                self._changed.notify_all()

    def report_refusal(self, call: Call, after: float | None) -> None:
        """Report that the endpoint refused a call as one too many.

        Args:
            call: The call.
            after: The seconds that the endpoint asks to wait, if it says so.
        """
        with self._changed:
            self.rate_limit.end_refused(time.monotonic(), call, after)

    def allowance(self, call: Call, left: float, reset: float) -> None:
        """Report what an answer's headers say is `left`, until `reset` seconds from its start."""
        with self._changed:
            self.rate_limit.allowance(call, left, reset)

    def report_lateness(self, call: Call) -> None:
        """Report that the endpoint did not answer in time."""
        with self._changed:
            self.rate_limit.end_late(time.monotonic(), call)

    def limits(self) -> dict[str, float]:
        """Return the most calls at once, the calls under way, and the seconds between starts."""
        with self._changed:
            limit = self.rate_limit
            return {
                "at_once": float(limit.ceiling),
                "under_way": float(limit.under_way),
                "seconds_apart": limit.interval,
            }

    def pause(self, seconds: float, purpose: Purpose = BUILD) -> None:
        """Sleep without a slot, until the purpose is stopped or the limiter is closed at most."""
        end = time.monotonic() + seconds
        with purpose.stop.calling(self._wake), self._changed:
            while (remaining := end - time.monotonic()) > 0:
                self._check_stopped(purpose)
                self._changed.wait(min(remaining, MAX_SLEEP_SECONDS))
            self._check_stopped(purpose)

    def close(self) -> None:
        """End all waiting, now and later."""
        with self._changed:
            self._is_closed = True
            self._changed.notify_all()

    def _wake(self) -> None:
        with self._changed:
            self._changed.notify_all()

    def _check_stopped(self, purpose: Purpose) -> None:
        if self._is_closed:
            raise ModelError("Model calls were stopped.")
        purpose.stop.check()

    def _enter(self, purpose: Purpose) -> Call:
        # The stop is entered before the lock: it calls `_wake`, which needs the lock, from another
        # thread. The other way round both threads would wait for ever.
        with purpose.stop.calling(self._wake), self._changed:
            self._wait_for_turn(purpose)
            return self._start(purpose)

    def _wait_for_turn(self, purpose: Purpose) -> None:
        self._urgent_waiting += purpose.urgent
        try:
            while True:
                self._check_stopped(purpose)
                wait = self._seconds_to_wait(purpose)
                if wait <= 0:
                    return
                self._changed.wait(min(wait, MAX_SLEEP_SECONDS))
        finally:
            if purpose.urgent:
                # Builds wait until no question waits.
                self._urgent_waiting -= 1
                self._changed.notify_all()

    def _seconds_to_wait(self, purpose: Purpose) -> float:
        """The seconds until a call may start; infinity until something else has changed."""
        now = time.monotonic()
        if purpose.urgent:
            self._urgent_at = now
        else:
            ceiling = self.rate_limit.ceiling
            reserved = 0
            if now - self._urgent_at < RESERVED_SECONDS:
                # If the endpoint allows only one call at once, builds have to use that one.
                reserved = min(max(1, ceiling // RESERVED_SHARE), ceiling - 1)
            if self._urgent_waiting or self._builds >= ceiling - reserved:
                return math.inf
        return self.rate_limit.wait(now)

    def _start(self, purpose: Purpose) -> Call:
        self._builds += not purpose.urgent
        return self.rate_limit.start(time.monotonic())
