"""Times at which the service answers no requests, because somebody has stopped Neo4j on purpose."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fastapi import FastAPI
from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from fabula.service.problems import Problem, respond

if TYPE_CHECKING:
    from fabula.service.house import House

ALWAYS_ANSWERED = ("/livez", "/static/")
"""Beginnings of paths that need no graph."""
MIN_RETRY_SECONDS = 2


class UnderMaintenance(Problem):
    """The service answers no requests for a while; `Retry-After` says how long about."""

    status, name = 503, "maintenance"

    def __init__(self, outage: Outage) -> None:
        seconds = outage.estimate_seconds_left()
        super().__init__(
            f"{outage.reason} The service is back in about {seconds} s.",
            headers={"Retry-After": str(seconds)},
        )


@dataclass(frozen=True, slots=True)
class Outage:
    """Why the service answers nothing, and until when about (by the monotonic clock)."""

    reason: str
    until: float

    def estimate_seconds_left(self) -> int:
        """Return after how many seconds it is worth asking again."""
        return max(MIN_RETRY_SECONDS, math.ceil(self.until - time.monotonic()))


class Maintenance:
    """Whether the service is out of order on purpose; safe to share between threads.

    Whoever would start a server again that does not answer looks at `outage` first: while there is
    one, the server is stopped on purpose, and whoever stopped it starts it again.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._outage: Outage | None = None
        self._requests = 0

    @property
    def outage(self) -> Outage | None:
        """The outage that goes on now, if there is one."""
        return self._outage

    @contextmanager
    def begin(self, reason: str, seconds: float) -> Iterator[None]:
        """Answer no new requests as long as the context lasts, which takes about `seconds`."""
        with self._changed:
            self._outage = Outage(reason, time.monotonic() + seconds)
        try:
            yield
        finally:
            with self._changed:
                self._outage = None

    def wait_for_requests(self, seconds: float) -> bool:
        """Wait until no request is under way any more; return whether that came to pass."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._requests, seconds)

    @contextmanager
    def count_request(self) -> Iterator[None]:
        """Count a request as under way.

        Raises:
            UnderMaintenance: There is an outage.

        """
        with self._changed:
            if self._outage is not None:
                raise UnderMaintenance(self._outage)
            self._requests += 1
        try:
            yield
        finally:
            with self._changed:
                self._requests -= 1
                self._changed.notify_all()


class Gate:
    """Pure ASGI middleware that refuses requests during an outage, before anybody is looked up."""

    def __init__(self, app: ASGIApp, maintenance: Maintenance) -> None:
        self._app, self._maintenance = app, maintenance

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] != "http" or scope["path"].startswith(ALWAYS_ANSWERED):
            await self._app(scope, receive, send)
            return
        try:
            with self._maintenance.count_request():
                await self._app(scope, receive, send)
        except UnderMaintenance as error:
            await respond(error, Request(scope))(scope, receive, send)


def add(service: FastAPI, house: House) -> None:
    """Have a service refuse requests during an outage."""
    service.add_middleware(Gate, maintenance=house.maintenance)
