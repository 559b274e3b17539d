"""How often and how much at once: a window of a minute, and questions under way, by caller."""

from __future__ import annotations

import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from fabula.service.core.errors import TooMany

MINUTE = 60.0


class Window:
    """At most `most` a minute of each name; safe to share between threads."""

    def __init__(self, most: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._most, self._clock = most, clock
        self._times: dict[str, deque[float]] = {}
        self._swept = clock()
        self._lock = threading.Lock()

    def take(self, name: str) -> None:
        """Counts one. Raises TooMany, which says when there is room again."""
        with self._lock:
            wait = self._wait(name)
            if wait > 0:
                raise TooMany(f"At most {self._most} a minute: try again in {wait:.0f} s.", wait)
            self._times.setdefault(name, deque()).append(self._clock())

    def _wait(self, name: str) -> float:
        """Seconds until there is room."""
        now = self._clock()
        if now - self._swept > MINUTE:
            # Who was not here for a minute is forgotten: names may be a stranger's addresses.
            self._times = {
                one: times for one, times in self._times.items() if now - times[-1] < MINUTE
            }
            self._swept = now
        times = self._times.get(name)
        while times and now - times[0] >= MINUTE:
            times.popleft()
        if not times or len(times) < self._most:
            return 0.0
        return MINUTE - (now - times[0])


class AtOnce:
    """At most `most` under way of each name, which are `what`; safe to share between threads."""

    def __init__(self, most: int, what: str) -> None:
        self._most, self._what = most, what
        self._under_way: Counter[str] = Counter()
        self._lock = threading.Lock()

    @contextmanager
    def one(self, name: str) -> Iterator[None]:
        """One more, as long as it lasts. Raises TooMany."""
        with self._lock:
            if self._under_way[name] >= self._most:
                raise TooMany(f"At most {self._most} {self._what} of one key at once.", 1)
            self._under_way[name] += 1
        try:
            yield
        finally:
            with self._lock:
                self._under_way[name] -= 1
                if not self._under_way[name]:
                    del self._under_way[name]
