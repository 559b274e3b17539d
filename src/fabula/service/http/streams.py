"""Server-sent events from synchronous code that calls models.

When the reader disconnects, the source of the events is closed at once, from another thread, so
that no model call goes on that nobody reads. Two alternatives do not do this:

- A plain generator in a route, which FastAPI's own SSE uses too: measured with FastAPI 0.165, the
  generator stays open after the reader has left, and the model's stream behind it is paid for.
- sse-starlette 3.7: it iterates synchronous code in the shared pool of threads, where a cancelled
  stream waits for the model's next piece; it notices a shutdown by patching uvicorn and polling,
  not by the grace of `ServiceState.stop`; and it cancels a stream at the end of its grace where
  this module sends a last event. Threads, the queue and that event would still be ours.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextvars import copy_context
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from anyio import CancelScope, CapacityLimiter
from anyio.to_thread import run_sync
from starlette.requests import Request
from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from fabula.errors import FabulaError
from fabula.operations.shown_answer import to_json
from fabula.service.core.errors import Unavailable, UnexpectedError, describe_problem
from fabula.service.http.errors import RETRY_AFTER_SECONDS

if TYPE_CHECKING:
    from fabula.service.state import ServiceState

Result = TypeVar("Result")
PING_SECONDS = 15.0
"""After how long a silence a comment is sent, as proxies close silent connections."""
MAX_QUEUED_EVENTS = 32
"""How many events may wait for a slow reader; after that the source of events waits."""
DISCONNECT_POLL_SECONDS = 0.1
"""How often it is checked whether the reader is still connected."""
MEDIA_TYPE = "text/event-stream"
LAST_EVENT_SECONDS = 1.0
"""How long before the end of the grace a stream that is still going on is cut off."""
STOPPED = "The service was stopped before this was complete: ask again in a moment."
LOG = logging.getLogger("fabula.service")


def error_event(error: FabulaError) -> tuple[str, Mapping[str, Any]]:
    """Return the event for an error; its data is the problem's description."""
    return "error", describe_problem(error)


async def run_while_connected(
    request: Request | None,
    work: Callable[[], Result],
    cancel: Callable[[], None],
    limiter: CapacityLimiter,
) -> Result:
    """Run work in a thread, and cancel it if the reader disconnects.

    Args:
        request: Whose connection is watched; None for a caller that is not over HTTP, whose task is
            cancelled instead.
        work: Is run in a thread.
        cancel: Makes `work` return soon. It is called from the event loop.
        limiter: How many threads may do such work at the same time.

    Returns:
        What `work` returns.
    """

    async def watch(request: Request) -> None:
        while not await request.is_disconnected():
            await asyncio.sleep(DISCONNECT_POLL_SECONDS)
        cancel()

    watcher = asyncio.create_task(watch(request)) if request else None
    task = asyncio.create_task(run_sync(work, limiter=limiter))
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        cancel()
        # Wait for the thread: whoever sees the cancellation may rely on the work having ended.
        with CancelScope(shield=True), contextlib.suppress(Exception):
            await task
        raise
    finally:
        if watcher:
            watcher.cancel()


class EventSource(Protocol):
    """What an `EventStream` reads from."""

    def events(self) -> Iterator[tuple[str, Any]]:
        """Yield the events in order, as a name and data for JSON, some of it in dataclasses."""
        ...

    def close(self) -> None:
        """End the events. It may be called from any thread, and more than once."""
        ...


class EventStream(StreamingResponse):
    """A streamed response of events that a thread of its own reads from a source.

    Args:
        source: Where the events come from. It is closed when the response ends, however it ends.
        make_id: Returns the id of an event, by which a reader who reconnects says what it has
            received; '' for none.
        format: Returns an event as the text that is sent; by default in the format of SSE.
        make_error: Returns the last event of a stream that an error ended.
    """

    def __init__(
        self,
        source: EventSource,
        make_id: Callable[[str, Any], str] = lambda name, data: "",
        format: Callable[[str, Any, str], str] | None = None,
        make_error: Callable[[FabulaError], tuple[str, Mapping[str, Any]]] = error_event,
    ) -> None:
        self._source, self._make_id = source, make_id
        self._format, self._make_error = format or format_event, make_error
        self._state: ServiceState | None = None
        self._request_id = ""
        headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        super().__init__(self._lines(), media_type=MEDIA_TYPE, headers=headers)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the response, and close the source in the end."""
        self._state = scope["app"].state.service_state
        self._request_id = scope.get("state", {}).get("request_id", "")
        try:
            await super().__call__(scope, receive, send)
        finally:
            # Not awaited: this task may be cancelled, and closing may wait for a connection.
            threading.Thread(target=self._source.close, name="close-stream", daemon=True).start()

    async def _lines(self) -> AsyncIterator[str]:
        queue = _Queue()
        run = partial(copy_context().run, self._run, queue)
        threading.Thread(target=run, name="stream", daemon=True).start()
        try:
            with self._cut_at_stop(queue):
                while True:
                    try:
                        item = await queue.get(PING_SECONDS)
                    except TimeoutError:
                        yield ": ping\n\n"
                        continue
                    if item is None:
                        return
                    yield self._format(*item, self._make_id(*item))
        finally:
            queue.is_abandoned.set()

    @contextlib.contextmanager
    def _cut_at_stop(self, queue: _Queue) -> Iterator[None]:
        """While the block runs, end the stream shortly before the grace of a shutdown is over."""
        assert self._state
        state, loop = self._state, asyncio.get_running_loop()
        last = self._make_error(Unavailable(STOPPED, RETRY_AFTER_SECONDS))

        def cut_later() -> None:
            seconds = max(0.0, state.seconds_left - LAST_EVENT_SECONDS)
            # The loop may be closed already.
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(loop.call_later, seconds, queue.cut, last)

        with state.stopping.calling(cut_later):
            yield

    def _run(self, queue: _Queue) -> None:
        try:
            for item in self._source.events():
                if queue.is_abandoned.is_set():
                    break
                queue.put(item)
        except FabulaError as error:
            LOG.warning(
                "The stream of request %s ended: %s",
                self._request_id,
                error,
                extra=self._log_fields(),
            )
            queue.put(self._make_error(error))
        except Exception:
            LOG.exception(
                "The stream of request %s ended with an unexpected error.",
                self._request_id,
                extra=self._log_fields(),
            )
            queue.put(self._make_error(UnexpectedError(self._request_id)))
        finally:
            queue.put(None)

    def _log_fields(self) -> dict[str, Any]:
        """Return the fields of a log record beside its message."""
        return {"fields": {"request_id": self._request_id}}


class _Queue:
    """Events on their way from a thread to the event loop; None marks the end."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._items: asyncio.Queue[tuple[str, Any] | None] = asyncio.Queue()
        self._room = threading.Semaphore(MAX_QUEUED_EVENTS)
        self.is_abandoned = threading.Event()
        """Set once nobody takes events out any more."""

    def put(self, item: tuple[str, Any] | None) -> None:
        """Add an event, from the thread; wait while the queue is full."""
        while not self._room.acquire(timeout=0.2):
            if self.is_abandoned.is_set():
                return
        try:
            self._loop.call_soon_threadsafe(self._items.put_nowait, item)
        except RuntimeError:
            # The event loop is closed: the service has stopped meanwhile.
            self.is_abandoned.set()

    def cut(self, last: tuple[str, Mapping[str, Any]]) -> None:
        """Add a last event and the end, from the event loop."""
        self._items.put_nowait(last)
        self._items.put_nowait(None)

    async def get(self, seconds: float) -> tuple[str, Any] | None:
        """Return the next event, in the event loop. Raises TimeoutError if none comes in time."""
        item = await asyncio.wait_for(self._items.get(), seconds)
        self._room.release()
        return item


def format_event(name: str, data: Any, id: str) -> str:
    """Return an event in the format of SSE. JSON on one line has no line breaks to escape."""
    id_line = f"id: {id}\n" if id else ""
    text = json.dumps(data, ensure_ascii=False, default=to_json)
    return f"{id_line}event: {name}\ndata: {text}\n\n"


def accepts(accept: str, kind: str) -> bool:
    """Return whether an Accept header names a media type, and does not rank it below JSON."""
    ranks: dict[str, float] = {}
    for media_range in accept.lower().split(","):
        name, *parameters = (part.strip() for part in media_range.split(";"))
        rank = next((part[2:] for part in parameters if part.startswith("q=")), "1")
        with contextlib.suppress(ValueError):
            ranks[name] = float(rank)
    return ranks.get(kind, 0.0) > 0 and ranks[kind] >= ranks.get("application/json", 0.0)
