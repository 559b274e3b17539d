"""How patiently models are called: how many calls at once over all threads, how long to wait."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from fabula.errors import ModelError


@dataclass(frozen=True, slots=True)
class Patience:
    """How long to wait: `timeout` seconds without a byte, `attempts` tries for a call.

    Before the second try, `first_wait` seconds, before each further one twice as long, unless
    the endpoint says how long.
    """

    timeout: float = 120.0
    attempts: int = 6
    first_wait: float = 0.5


class Limiter:
    """At most `limit` calls at once: halved by a 429, grown back one by one (AIMD).

    Thread-safe; waiting threads sleep. `close` ends every wait with a ModelError, so that an
    interrupted program need not sit out a long Retry-After.
    """

    def __init__(self, limit: int) -> None:
        self._most = limit
        self._limit = limit
        self._under_way = 0
        self._answered = 0
        self._lowered = 0
        self._open_at = 0.0
        self._changed = threading.Condition()
        self._closed = threading.Event()

    @property
    def limit(self) -> int:
        """The calls allowed at once now."""
        return self._limit

    @contextmanager
    def slot(self) -> Iterator[int]:
        """Waits for a turn and holds it; gives the turn's mark, for `slow_down`.

        Leaving without an error counts as a call answered. Raises ModelError once closed.
        """
        mark = self._enter()
        answered = False
        try:
            yield mark
            answered = True
        finally:
            self._leave(mark if answered else None)

    def slow_down(self, seconds: float, mark: int) -> None:
        """No new call for `seconds`; half as many at once from now on, but at least one.

        A burst of refusals halves once: calls that were under way when the limit was lowered
        (their `mark` tells) do not lower it again.
        """
        with self._changed:
            self._open_at = max(self._open_at, time.monotonic() + seconds)
            if mark == self._lowered:
                self._lowered += 1
                self._answered = 0
                self._limit = max(1, self._limit // 2)

    def pause(self, seconds: float) -> None:
        """Sleeps, holding no turn; `close` ends it."""
        if self._closed.wait(seconds):
            raise ModelError("Model calls were stopped.")

    def close(self) -> None:
        """Ends all waiting, now and later."""
        with self._changed:
            self._closed.set()
            self._changed.notify_all()

    def _enter(self) -> int:
        with self._changed:
            while True:
                if self._closed.is_set():
                    raise ModelError("Model calls were stopped.")
                held = self._open_at - time.monotonic()
                if held <= 0 and self._under_way < self._limit:
                    self._under_way += 1
                    return self._lowered
                self._changed.wait(held if held > 0 else None)

    def _leave(self, mark: int | None) -> None:
        """Give the turn back; `mark` is None for a call that failed."""
        with self._changed:
            self._under_way -= 1
            if mark == self._lowered:
                self._answered += 1
            if self._answered >= self._limit and self._limit < self._most:
                self._limit += 1
                self._answered = 0
                self._changed.notify()
            self._changed.notify()
