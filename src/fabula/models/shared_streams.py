"""One streamed call for all who ask the same at the same time.

Whoever asks first begins the call, and pays for it. A thread of its own takes in the pieces, and
each reader follows them at its own pace. The call goes on as long as anybody reads.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Iterator
from contextlib import closing, contextmanager
from contextvars import copy_context

from fabula.models import Reply
from fabula.models.stop import Stop

Call = Callable[[Stop], Generator[Reply]]
"""Begins a streamed call, which ends soon after its stop is set."""
LEAVE_SECONDS = 2.0
"""How long the last reader who leaves waits for the call to end, so that it is counted by then."""


class SharedStream:
    """The pieces of one streamed call; begun by `SharedStreams.join`, which counts its readers."""

    def __init__(self) -> None:
        self.stop = Stop()
        """Ends the call."""
        self.readers = 0
        self._pieces: list[Reply] = []
        self._failure: BaseException | None = None
        self._is_over = False
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None

    def begin(self, call: Call, end: Callable[[], None]) -> None:
        """Take in the pieces of a call in a thread of its own; `end` is called after the last."""
        self._thread = threading.Thread(
            target=copy_context().run,
            args=(self._take_in, call, end),
            name="fabula-shared-stream",
            daemon=True,
        )
        self._thread.start()

    def read(self, stop: Stop) -> Iterator[Reply]:
        """Yield all pieces, those that came before as well. Raises what the call raised, and
        Stopped once `stop` is set.
        """
        heard = 0
        while True:
            with stop.telling(self._wake), self._changed:
                while not (stop.is_set() or self._is_over or len(self._pieces) > heard):
                    self._changed.wait()
                stop.check()
                fresh, is_over = self._pieces[heard:], self._is_over
            heard += len(fresh)
            yield from fresh
            if is_over:
                if self._failure is not None:
                    raise self._failure
                return

    def wait(self) -> None:
        """Wait until the call has ended, though not for long."""
        if self._thread is not None:
            self._thread.join(LEAVE_SECONDS)

    def _take_in(self, call: Call, end: Callable[[], None]) -> None:
        try:
            with closing(call(self.stop)) as pieces:
                for piece in pieces:
                    with self._changed:
                        self._pieces.append(piece)
                        self._changed.notify_all()
                    self.stop.check()
        except BaseException as error:  # noqa: BLE001  all who read it raise it
            self._failure = error
        end()
        with self._changed:
            self._is_over = True
            self._changed.notify_all()

    def _wake(self) -> None:
        with self._changed:
            self._changed.notify_all()


class SharedStreams:
    """The streamed calls of one process that are under way, by what they ask."""

    def __init__(self) -> None:
        self._open: dict[bytes, SharedStream] = {}
        self._lock = threading.Lock()

    @contextmanager
    def join(self, key: bytes, call: Call) -> Iterator[tuple[SharedStream, bool]]:
        """Read the call of that key that is under way, or else begin one; whether it was begun.

        Who leaves as the last ends the call, where it has not ended.
        """
        with self._lock:
            stream = self._open.get(key)
            is_first = stream is None
            if stream is None:
                stream = self._open[key] = SharedStream()
            stream.readers += 1
        if is_first:
            stream.begin(call, lambda: self._forget(key, stream))
        try:
            yield stream, is_first
        finally:
            with self._lock:
                stream.readers -= 1
                is_last = not stream.readers
                if is_last and self._open.get(key) is stream:
                    del self._open[key]
            if is_last:
                stream.stop.set()
                stream.wait()

    def _forget(self, key: bytes, stream: SharedStream) -> None:
        """Nobody else joins a call that has ended: its reply is kept by now, or it failed."""
        with self._lock:
            if self._open.get(key) is stream:
                del self._open[key]
