"""One streamed call for all threads that ask the same thing at the same time.

The first thread begins the call and pays for it. A thread receives the pieces, and each reader
reads them at its own pace. The call goes on as long as anybody reads.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Iterator
from contextlib import closing, contextmanager
from contextvars import copy_context

from fabula.models import Reply
from fabula.models.stop import Stop

StreamCall = Callable[[Stop], Generator[Reply]]
"""Begins a streamed call that ends soon after its stop is set."""
LEAVE_SECONDS = 2.0
"""How long the last reader waits for the call to end, so that its tokens are counted by then."""


class SharedStream:
    """The pieces of one streamed call; `SharedStreams.join` begins it and counts its readers."""

    def __init__(self) -> None:
        self.stop = Stop()
        """Ends the call."""
        self.readers = 0
        self._pieces: list[Reply] = []
        self._failure: BaseException | None = None
        self._is_over = False
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None

    def begin(self, call: StreamCall, end: Callable[[], None]) -> None:
        """Receive the pieces of a call in a new thread; `end` is called after the last."""
        self._thread = threading.Thread(
            target=copy_context().run,
            args=(self._receive, call, end),
            name="fabula-shared-stream",
            daemon=True,
        )
        self._thread.start()

    def read(self, stop: Stop) -> Iterator[Reply]:
        """Yield all pieces, including those that came before.

        Raises:
            Stopped: `stop` was set.
            FabulaError: The call failed; all readers raise its error.
        """
        read_count = 0
        while True:
            with stop.calling(self._wake), self._changed:
                while not (stop.is_set() or self._is_over or len(self._pieces) > read_count):
                    # No time limit: the call has one, and its end wakes all readers.
                    self._changed.wait()
                stop.check()
                new, is_over = self._pieces[read_count:], self._is_over
            read_count += len(new)
            # Outside the lock: the reader may take any time with a piece, and the call must go on.
            yield from new
            if is_over:
                if self._failure is not None:
                    raise self._failure
                return

    def wait(self) -> None:
        """Wait until the call has ended, at most LEAVE_SECONDS."""
        if self._thread is not None:
            self._thread.join(LEAVE_SECONDS)

    def _receive(self, call: StreamCall, end: Callable[[], None]) -> None:
        try:
            with closing(call(self.stop)) as pieces:
                for piece in pieces:
                    with self._changed:
                        self._pieces.append(piece)
                        self._changed.notify_all()
                    self.stop.check()
        except BaseException as error:  # noqa: BLE001  all readers raise it
            self._failure = error
        # First nobody can join any more, then it is over. The other way round a thread could join a
        # call that has failed, and get its error in the place of a call of its own.
        end()
        with self._changed:
            self._is_over = True
            self._changed.notify_all()

    def _wake(self) -> None:
        with self._changed:
            self._changed.notify_all()


class SharedStreams:
    """The streamed calls of one process that are under way, by the key of what they ask."""

    def __init__(self) -> None:
        self._streams: dict[bytes, SharedStream] = {}
        self._lock = threading.Lock()

    @contextmanager
    def join(self, key: bytes, call: StreamCall) -> Iterator[tuple[SharedStream, bool]]:
        """Read the call of a key that is under way, or begin one.

        The last reader who leaves ends the call, if it has not ended.

        Yields:
            The stream, and whether this thread has begun it.
        """
        with self._lock:
            stream = self._streams.get(key)
            is_first = stream is None
            if stream is None:
                stream = self._streams[key] = SharedStream()
            stream.readers += 1
        if is_first:
            stream.begin(call, lambda: self._forget(key, stream))
        try:
            yield stream, is_first
        finally:
            with self._lock:
                stream.readers -= 1
                is_last = not stream.readers
                # Another call may have begun under the same key since this one was forgotten.
                if is_last and self._streams.get(key) is stream:
                    del self._streams[key]
            if is_last:
                stream.stop.set()
                stream.wait()

    def _forget(self, key: bytes, stream: SharedStream) -> None:
        """Let nobody join a call that has ended: its reply is cached by now, or it failed."""
        with self._lock:
            if self._streams.get(key) is stream:
                del self._streams[key]
