"""Ending one run or one answer before its time, from any thread."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from fabula.errors import Stopped


class Stop:
    """What a run or an answer is given so that it can be ended; it can be set once, for good.

    Unlike a `threading.Event` it tells those who wait for something else meanwhile: for a turn, a
    reply or the next piece of a stream.
    """

    def __init__(self) -> None:
        self._is_set = False
        self._told: dict[object, Callable[[], None]] = {}
        # Held while they are told, so that who has left `telling` is told no more; reentrant, as a
        # signal may set it in the middle of its own thread's work.
        self._telling = threading.RLock()

    def __repr__(self) -> str:
        return f"<Stop{': set' if self._is_set else ''}>"

    def set(self) -> None:
        """Ends what was given it, which takes no longer than telling so."""
        with self._telling:
            if self._is_set:
                return
            self._is_set = True
            for tell in [*self._told.values()]:
                tell()

    def is_set(self) -> bool:
        """Whether it was set."""
        return self._is_set

    def check(self) -> None:
        """Raises Stopped where it was set."""
        if self._is_set:
            raise Stopped

    @contextmanager
    def telling(self, tell: Callable[[], None]) -> Iterator[None]:
        """Meanwhile `tell` is called once it is set: at once where it is already.

        It is called in the thread that sets it, and must not wait for one that leaves here.
        """
        key = object()
        with self._telling:
            self._told[key] = tell
            is_set = self._is_set
        try:
            if is_set:
                tell()
            yield
        finally:
            with self._telling:
                self._told.pop(key, None)
