"""Limits on connections: how many there are, and how long one may keep the service waiting.

uvicorn bounds none of this: a stranger who opens a thousand connections and sends half a request on
each would use up the process's file descriptors, and nobody else could connect.
"""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass
from typing import ClassVar, Literal

from uvicorn.protocols.http.h11_impl import H11Protocol

LOG = logging.getLogger("fabula.service")
BACKLOG = 128
"""Connections that the system accepts ahead. asyncio accepts as many at once before it looks at any
of them, so it must not be more than the file descriptors that are kept free."""
MAX_CONNECTIONS = 4096
MIN_CONNECTIONS = 64
RESERVED_DESCRIPTORS = 512
"""File descriptors for everything else: BACKLOG, connections to Neo4j (100) and models, files."""
CHECK_SECONDS = 1.0
REQUEST_TIMEOUT = b"HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"

Wait = Literal["head", "body", "reader"]
"""What the service waits for: a request's head, its body, or the reader of the response."""


@dataclass(frozen=True, slots=True)
class ConnectionLimits:
    """How many connections there may be, and how long each may keep the service waiting.

    The head of a request must arrive within `head_seconds`. Of a body, and of an answer that does
    not fit into the buffers, `progress_bytes` must pass in each `progress_seconds`: a slow line is
    fine, and so is a client that waits for the next event of a stream.
    """

    connections: int
    head_seconds: float = 15.0
    progress_seconds: float = 60.0
    progress_bytes: int = 1000


def make_limits() -> ConnectionLimits:
    """Return the limits that suit how many files this process may open."""
    try:
        import resource
    except ModuleNotFoundError:  # Windows
        return ConnectionLimits(MAX_CONNECTIONS)
    most, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if most == resource.RLIM_INFINITY:
        return ConnectionLimits(MAX_CONNECTIONS)
    return ConnectionLimits(min(MAX_CONNECTIONS, max(MIN_CONNECTIONS, most - RESERVED_DESCRIPTORS)))


def make_protocol(limits: ConnectionLimits) -> type[H11Protocol]:
    """Return uvicorn's protocol for HTTP, held to these limits."""
    return type("LimitedProtocol", (LimitedProtocol,), {"limits": limits})


class LimitedProtocol(H11Protocol):
    """One connection, which is closed when its client exceeds the limits.

    Once there are too many connections, the one is closed that has been without a whole request for
    longest: who has a request sends it at once, and only half requests are left to close.
    """

    limits: ClassVar[ConnectionLimits]
    _arrived = 0
    """Bytes that the client has sent."""
    _idle_since = 0.0
    """When the connection was made, or its last answer was complete."""
    _mark: tuple[Wait, int, float] | None = None
    """What the service has been waiting for, how many bytes had passed, and since when."""
    _check: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Count the connection, and begin to look at its progress."""
        super().connection_made(transport)
        self._idle_since = self.loop.time()
        self._check = self.loop.call_later(CHECK_SECONDS, self._look)
        if len(self.connections) > self.limits.connections:
            self._make_room()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop looking."""
        if self._check is not None:
            self._check.cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Count what arrives."""
        self._arrived += len(data)
        super().data_received(data)

    def on_response_complete(self) -> None:
        """Note that the next request's head is waited for."""
        self._idle_since = self.loop.time()
        super().on_response_complete()

    def resume_writing(self) -> None:
        """Note that the client has read what there was: that is progress."""
        self._mark = None
        super().resume_writing()

    @property
    def holds_request(self) -> bool:
        """Whether a request has arrived that is not answered yet."""
        return self.cycle is not None and not self.cycle.response_complete

    def _make_room(self) -> None:
        """Close the connection that has been without a request for longest."""
        idle = [
            connection
            for connection in self.connections
            if isinstance(connection, LimitedProtocol)
            and not connection.holds_request
            and connection is not self
        ]
        oldest = min(idle, key=lambda connection: connection._idle_since, default=self)
        # Removed at once, so that it is not chosen again before the loop has closed it.
        self.connections.discard(oldest)
        oldest.transport.abort()
        LOG.warning("There are %d connections: one is closed.", self.limits.connections)

    def _look(self) -> None:
        """Close the connection if its client has kept the service waiting for too long."""
        self._check = self.loop.call_later(CHECK_SECONDS, self._look)
        now = self.loop.time()
        wait = self._wait()
        if wait is None:
            self._mark = None
            return
        if wait == "head":
            if now - self._idle_since > self.limits.head_seconds:
                self._close_late()
            return
        passed = self._arrived if wait == "body" else -self.transport.get_write_buffer_size()
        if (
            self._mark is None
            or self._mark[0] != wait
            or passed - self._mark[1] >= self.limits.progress_bytes
        ):
            self._mark = (wait, passed, now)
        elif now - self._mark[2] > self.limits.progress_seconds:
            LOG.warning(
                "A connection is closed: its client %s less than %d bytes in %.0f s.",
                "sent" if wait == "body" else "read",
                self.limits.progress_bytes,
                self.limits.progress_seconds,
            )
            self.transport.abort()

    def _wait(self) -> Wait | None:
        """Return what the client is to do now, or None where the service has to do something."""
        closing = self.transport.is_closing()
        if self.flow.write_paused or (closing and self.transport.get_write_buffer_size()):
            return "reader"
        if closing:
            return None
        if not self.holds_request:
            return "head"
        sends = self.cycle.more_body and not self.cycle.waiting_for_100_continue
        return "body" if sends and not self.flow.read_paused else None

    def _close_late(self) -> None:
        LOG.warning(
            "A connection is closed: no whole request arrived within %.0f s.",
            self.limits.head_seconds,
        )
        if self.cycle is None:
            self.transport.write(REQUEST_TIMEOUT)
        self.transport.close()
