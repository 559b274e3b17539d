"""Read a streamed call in a thread of its own, so that it never waits for its reader."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from contextvars import copy_context
from queue import SimpleQueue

from fabula.models import Reply
from fabula.models.stop import Stop

StreamCall = Callable[[Stop], Generator[Reply]]
"""Begins a streamed call that ends soon after its stop is set."""
LEAVE_SECONDS = 2.0
"""How long a reader who leaves waits for the call to end, so that its tokens are counted by then.
"""


def read_ahead(call: StreamCall, stop: Stop) -> Iterator[Reply]:
    """Yield the pieces of a call, at the pace of the reader; who leaves ends the call.

    Raises:
        Stopped: `stop` was set.
        FabulaError: The call failed.
    """
    end = Stop()
    pieces: SimpleQueue[Reply | BaseException | None] = SimpleQueue()

    def receive() -> None:
        try:
            with closing(call(end)) as received:
                for piece in received:
                    pieces.put(piece)
                    end.check()
            pieces.put(None)
        except BaseException as error:  # noqa: BLE001  the reader raises it
            pieces.put(error)

    thread = threading.Thread(
        target=copy_context().run, args=(receive,), name="fabula-read-ahead", daemon=True
    )
    thread.start()
    try:
        with stop.calling(lambda: pieces.put(None)):
            while (piece := pieces.get()) is not None:
                stop.check()
                if isinstance(piece, BaseException):
                    raise piece
                yield piece
            stop.check()
    finally:
        end.set()
        thread.join(LEAVE_SECONDS)
