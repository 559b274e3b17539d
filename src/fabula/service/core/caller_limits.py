"""Limits by caller: requests in a minute, and requests at the same time."""

from __future__ import annotations

import threading
import time
from collections import defaultdict, deque
from collections.abc import Iterator
from contextlib import contextmanager

from fabula.service.core.errors import TooManyRequests

WINDOW_SECONDS = 60.0


class RequestLimit:
    """At most `maximum` requests of each name in any minute. Safe to share between threads."""

    def __init__(self, maximum: int) -> None:
        self._maximum = maximum
        self._times: dict[str, deque[float]] = {}
        self._swept = time.monotonic()
        self._lock = threading.Lock()

    def take(self, name: str) -> None:
        """Count a request. Raises TooManyRequests, which says when the next one is allowed."""
        with self._lock:
            wait = self._wait(name)
            if wait > 0:
                raise TooManyRequests(
                    f"At most {self._maximum} a minute: try again in {wait:.0f} s.", wait
                )
            self._times.setdefault(name, deque()).append(time.monotonic())

    def _wait(self, name: str) -> float:
        """Return how many seconds must pass before the next request."""
        now = time.monotonic()
        if now - self._swept > WINDOW_SECONDS:
            # Names without a request for a minute are dropped: they may be addresses of strangers.
            self._times = {
                name: times
                for name, times in self._times.items()
                if now - times[-1] < WINDOW_SECONDS
            }
            self._swept = now
        times = self._times.get(name)
        while times and now - times[0] >= WINDOW_SECONDS:
            times.popleft()
        if not times or len(times) < self._maximum:
            return 0.0
        return WINDOW_SECONDS - (now - times[0])


class ConcurrencyLimit:
    """At most `maximum` requests of each name at the same time. Safe to share between threads.

    Args:
        maximum: How many.
        what: What is limited, as a plural for messages.
    """

    def __init__(self, maximum: int, what: str) -> None:
        self._maximum, self._what = maximum, what
        self._under_way: defaultdict[str, list[str]] = defaultdict(list)
        self._lock = threading.Lock()

    @contextmanager
    def hold(self, name: str, task: str = "") -> Iterator[None]:
        """Count a request while the block runs.

        Args:
            name: Who sent it.
            task: What it does, for the message to one that is refused meanwhile.

        Raises:
            TooManyRequests: There are too many.
        """
        with self._lock:
            if len(under_way := self._under_way[name]) >= self._maximum:
                tasks = ", ".join(filter(None, under_way))
                raise TooManyRequests(
                    f"At most {self._maximum} {self._what} of one key at once."
                    + (f" Under way: {tasks}." if tasks else ""),
                    1,
                )
            under_way.append(task)
        try:
            yield
        finally:
            with self._lock:
                self._under_way[name].remove(task)
                if not self._under_way[name]:
                    del self._under_way[name]

    def is_held(self) -> bool:
        """Return whether a request is under way."""
        return bool(self._under_way)
