"""Server-sent events out of synchronous work: when a reader leaves, the work is closed at once.

A plain generator in a route is not: measured with FastAPI 0.165, it stays open, and the model's
stream behind it is paid for, though nobody reads. FastAPI's own SSE is made of generators, too.
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
from fabula.service.core.errors import Unavailable, Unexpected, describe_problem
from fabula.service.http.errors import RETRY_AFTER_SECONDS

if TYPE_CHECKING:
    from fabula.service.state import House

Result = TypeVar("Result")
PING = 15.0
"""Seconds of silence after which a comment is sent, as proxies close what is silent."""
AHEAD = 32
"""Events that wait for a slow reader; then the work waits, too."""
WATCH = 0.1
"""Seconds after which it is looked again whether a reader has gone."""
KIND = "text/event-stream"
LAST_SECONDS = 1.0
"""How long before the end of the grace an answer that is still being written is cut off."""
STOPPED = "The service was stopped before this was complete: ask again in a moment."
UNEXPECTED = "An unexpected error ended this; the log of the service has it under the request's id."
LOG = logging.getLogger("fabula.service")


def error_event(error: FabulaError) -> tuple[str, Mapping[str, Any]]:
    """Return the event that tells of an error, as `application/problem+json` has it."""
    return "error", describe_problem(error)


async def attended(
    request: Request | None,
    do: Callable[[], Result],
    leave: Callable[[], None],
    limiter: CapacityLimiter,
) -> Result:
    """What `do` returns, done in a thread; `leave` is called if the reader goes away meanwhile, or
    this is cancelled, as a program's request that came otherwise than over HTTP is.

    `limiter` says how many threads do such things at once.
    """

    async def watch(request: Request) -> None:
        while not await request.is_disconnected():
            await asyncio.sleep(WATCH)
        leave()

    watching = asyncio.create_task(watch(request)) if request else None
    doing = asyncio.create_task(run_sync(do, limiter=limiter))
    try:
        return await asyncio.shield(doing)
    except asyncio.CancelledError:
        leave()
        # Whoever is told that it ended may count on that.
        with CancelScope(shield=True), contextlib.suppress(Exception):
            await doing
        raise
    finally:
        if watching:
            watching.cancel()


class Work(Protocol):
    """What is streamed: events by name and data, which JSON holds; `close` ends it from outside."""

    def events(self) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """The events, in order."""
        ...

    def close(self) -> None:
        """Ends it; it may be called from any thread, and more than once."""
        ...


class EventStream(StreamingResponse):
    """A response of the events of some work, which runs in a thread of its own.

    `name_event` may give an event the id by which a reader who comes back says what it has had;
    `write` says how an event goes over the wire, where that is not its name and its data.
    """

    def __init__(
        self,
        work: Work,
        name_event: Callable[[str, Mapping[str, Any]], str] = lambda name, data: "",
        write: Callable[[str, Mapping[str, Any], str], str] | None = None,
        ping: float = PING,
        name_error: Callable[[FabulaError], tuple[str, Mapping[str, Any]]] = error_event,
    ) -> None:
        self._work, self._name_event, self._ping = work, name_event, ping
        self._write, self._name_error = write or event, name_error
        self._house: House | None = None
        self._request_id = ""
        headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        super().__init__(self._lines(), media_type=KIND, headers=headers)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Sends it; however that ends, the work is closed."""
        self._house = scope["app"].state.house
        self._request_id = scope.get("state", {}).get("request_id", "")
        try:
            await super().__call__(scope, receive, send)
        finally:
            # Not awaited: the task may be cancelled, and closing may wait for a connection.
            threading.Thread(target=self._work.close, name="close-stream", daemon=True).start()

    async def _lines(self) -> AsyncIterator[str]:
        queue = _Queue()
        run = partial(copy_context().run, self._run, queue)
        threading.Thread(target=run, name="stream", daemon=True).start()
        try:
            with self._cut_at_stop(queue):
                while True:
                    try:
                        item = await queue.get(self._ping)
                    except TimeoutError:
                        yield ": ping\n\n"
                        continue
                    if item is None:
                        return
                    yield self._write(*item, self._name_event(*item))
        finally:
            queue.is_left.set()

    @contextlib.contextmanager
    def _cut_at_stop(self, queue: _Queue) -> Iterator[None]:
        """Meanwhile end the stream with an event shortly before the grace of a stop is over."""
        assert self._house
        house, loop = self._house, asyncio.get_running_loop()
        last = self._name_error(Unavailable(STOPPED, RETRY_AFTER_SECONDS))

        def cut_later() -> None:
            seconds = max(0.0, house.seconds_left - LAST_SECONDS)
            # The loop may be closed already.
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(loop.call_later, seconds, queue.cut, last)

        with house.stopping.telling(cut_later):
            yield

    def _run(self, queue: _Queue) -> None:
        try:
            for item in self._work.events():
                if queue.is_left.is_set():
                    break
                queue.put(item)
        except FabulaError as error:
            LOG.warning(
                "The stream of request %s ended: %s", self._request_id, error, extra=self._told()
            )
            queue.put(self._name_error(error))
        except Exception:
            LOG.exception(
                "The stream of request %s ended by an unexpected error.",
                self._request_id,
                extra=self._told(),
            )
            queue.put(self._name_error(Unexpected(UNEXPECTED, request_id=self._request_id)))
        finally:
            queue.put(None)

    def _told(self) -> dict[str, Any]:
        """What the log tells beside the message."""
        return {"told": {"request_id": self._request_id}}


class _Queue:
    """Events on their way from a thread to the loop that makes it; None is the end."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._items: asyncio.Queue[tuple[str, Mapping[str, Any]] | None] = asyncio.Queue()
        self._room = threading.Semaphore(AHEAD)
        self.is_left = threading.Event()
        """Nobody gets any more of them."""

    def put(self, item: tuple[str, Mapping[str, Any]] | None) -> None:
        """From the thread; waits while there is no room."""
        while not self._room.acquire(timeout=0.2):
            if self.is_left.is_set():
                return
        try:
            self._loop.call_soon_threadsafe(self._items.put_nowait, item)
        except RuntimeError:
            # The loop is gone, as the service was stopped meanwhile.
            self.is_left.set()

    def cut(self, last: tuple[str, Mapping[str, Any]]) -> None:
        """From the loop: hand over a last event, and the end."""
        self._items.put_nowait(last)
        self._items.put_nowait(None)

    async def get(self, seconds: float) -> tuple[str, Mapping[str, Any]] | None:
        """The next, in the loop. Raises TimeoutError where none comes so long."""
        item = await asyncio.wait_for(self._items.get(), seconds)
        self._room.release()
        return item


def event(name: str, data: Mapping[str, Any], id: str = "") -> str:
    """An event as it goes over the wire; JSON has no line breaks of its own."""
    numbered = f"id: {id}\n" if id else ""
    return f"{numbered}event: {name}\ndata: {json.dumps(data, ensure_ascii=False)}\n\n"


def wants(accept: str, kind: str) -> bool:
    """Whether a header Accept names a media type itself, and does not rank it below JSON."""
    ranks: dict[str, float] = {}
    for one in accept.lower().split(","):
        name, *parameters = (part.strip() for part in one.split(";"))
        rank = next((part[2:] for part in parameters if part.startswith("q=")), "1")
        with contextlib.suppress(ValueError):
            ranks[name] = float(rank)
    return ranks.get(kind, 0.0) > 0 and ranks[kind] >= ranks.get("application/json", 0.0)
