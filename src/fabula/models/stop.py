"""End one run or one answer early, from any thread."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from fabula.errors import Stopped


class Stop:
    """A flag that ends a run or an answer; once set, it stays set.

    Unlike a `threading.Event` it calls back those who wait for something else: a slot, a reply or
    the next piece of a stream.
    """

    def __init__(self) -> None:
        self._is_set = False
        self._listeners: dict[object, Callable[[], None]] = {}
        # Held during the callbacks, so that none is called after its `calling` has been left.
        # Reentrant, as a signal handler may set the flag while its own thread holds the lock.
        self._lock = threading.RLock()

    def __repr__(self) -> str:
        return f"<Stop{': set' if self._is_set else ''}>"

    def set(self) -> None:
        """Set the flag and call all callbacks, which only wake threads."""
        with self._lock:
            if self._is_set:
                return
            self._is_set = True
            for listener in [*self._listeners.values()]:
                listener()

    def is_set(self) -> bool:
        """Return whether the flag is set."""
        return self._is_set

    def check(self) -> None:
        """Raise Stopped if the flag is set."""
        if self._is_set:
            raise Stopped

    @contextmanager
    def calling(self, listener: Callable[[], None]) -> Iterator[None]:
        """Call `listener` when the flag is set meanwhile, or at once if it is set already.

        It is called in the thread that sets the flag, and must not wait for this thread.
        """
        key = object()
        with self._lock:
            self._listeners[key] = listener
            is_set = self._is_set
        try:
            if is_set:
                listener()
            yield
        finally:
            with self._lock:
                self._listeners.pop(key, None)
