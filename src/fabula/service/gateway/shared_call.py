"""One call to the endpoint for all clients that ask the same thing at the same time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from typing import Any

from fabula.service.gateway.upstream import UpstreamAnswer
from fabula.text.document import Vector


class SharedCall:
    """A call, its events if it is streamed, and its answer; the last client who leaves ends it.

    Attributes:
        is_stream: Whether the endpoint is asked for a stream.
        is_sent: Whether the call has left the queue.
        runs_on: Whether it is completed without clients once it is sent: a build's call is paid for
            in any case, and its reply is cached for the next try.
        is_answered: Whether the last of its answer has come. Clients leave then, as they have all
            of it, while it is still being saved: it goes on, and may be joined until it is.
        is_abandoned: Whether its last client has left and it is being ended: nobody may join it.
        rows: The vectors of its texts, by the cache's keys, for calls of texts.

    """

    def __init__(self, *, is_stream: bool) -> None:
        self.is_stream = is_stream
        self.is_sent = self.runs_on = False
        self.is_answered = self.is_abandoned = False
        self.rows: dict[bytes, Vector] = {}
        self._clients = 0
        self._events: list[tuple[bytes, bool]] = []
        self._is_over = False
        self._answer: UpstreamAnswer | None = None
        self._news: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._task: asyncio.Task[None] | None = None

    @property
    def has_events(self) -> bool:
        """Whether the first event has come."""
        return bool(self._events)

    def begin(self, work: Coroutine[Any, Any, None]) -> None:
        """Begin the call; `work` adds its events, and ends it."""
        self._task = asyncio.create_task(work)

    def add_event(self, event: bytes, *, is_usage: bool) -> None:
        """Add an event; one of token counts is for those clients that asked for it."""
        self._events.append((event, is_usage))
        self._wake()

    def end(self, answer: UpstreamAnswer | None) -> None:
        """End the call with its answer; None if it was cancelled."""
        self._answer, self._is_over = answer, True
        self._wake()

    @asynccontextmanager
    async def join(self, *, runs_on: bool) -> AsyncIterator[None]:
        """Count a client while the block runs."""
        self._clients += 1
        self.runs_on = self.runs_on or runs_on
        try:
            yield
        finally:
            self._clients -= 1
            is_wanted = self._clients or (self.runs_on and self.is_sent)
            if not (is_wanted or self.is_answered or self._is_over) and self._task is not None:
                self.is_abandoned = True
                self._task.cancel()

    async def answer(self) -> UpstreamAnswer | None:
        """Wait for the whole answer; None if the call was cancelled with its last client."""
        while not self._is_over:
            await self._wait()
        return self._answer

    async def opened(self) -> UpstreamAnswer | None:
        """Wait for the first event, and return None; or for an answer that has no events."""
        while not (self._events or self._is_over):
            await self._wait()
        return None if self._events else self._answer

    async def events(self, *, with_usage: bool) -> AsyncIterator[bytes]:
        """Yield all events, including those that came before."""
        read = 0
        while True:
            while read < len(self._events):
                event, is_usage = self._events[read]
                read += 1
                if with_usage or not is_usage:
                    yield event
            if self._is_over:
                return
            await self._wait()

    async def _wait(self) -> None:
        # Shielded: a client that leaves must not cancel the future that others wait for.
        await asyncio.shield(self._news)

    def _wake(self) -> None:
        news, self._news = self._news, asyncio.get_running_loop().create_future()
        if not news.done():
            news.set_result(None)
