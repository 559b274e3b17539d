"""Each request has an id, a line in the log, a count and a span; pure ASGI, as streams pass it."""

from __future__ import annotations

import codecs
import json
import logging
import re
import secrets
import time
from contextvars import ContextVar
from typing import Any

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from fabula import tracing
from fabula.service.observe.metrics import Metrics

LOG = logging.getLogger("fabula.service")
ID = "X-Request-Id"
REQUEST: ContextVar[str] = ContextVar("request", default="")
"""The id of the request that is worked on, in all its threads.

It is always made here, so that no two requests share one in the log or the audit. The caller's
trace stands beside it, in the log alone."""
ESCAPE = codecs.getencoder("unicode_escape")
"""Looked up now: it is a module of its own, which can't be read once no file can be opened."""
TRACED = re.compile(r"[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}")


class Watch:
    """Gives each request an id, and tells of its end."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app, self._metrics = app, metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes it on, and looks at what comes back."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began = time.perf_counter()
        headers = Headers(scope=scope)
        traced = TRACED.fullmatch(headers.get("traceparent", ""))
        trace = traced[1] if traced else ""
        id = secrets.token_hex(16)
        scope.setdefault("state", {})["request_id"] = id
        REQUEST.set(id)
        status = 500

        async def send_on(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                MutableHeaders(scope=message)[ID] = id
            await send(message)

        method = scope["method"]
        with tracing.request(method, dict(headers)) as span:
            try:
                await self._app(scope, receive, send_on)
            finally:
                route = _pattern(scope)
                seconds = time.perf_counter() - began
                span.tell({"http.route": route, "http.response.status_code": status})
                self._metrics.answered(method, route, status, seconds)
                _log(scope, method, status, seconds, id, trace)


class AsText(logging.Formatter):
    """A line of text a record: what a stranger's path or a title says begins none of its own."""

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802
        """The line."""
        return "".join(
            one if one.isprintable() else ESCAPE(one)[0].decode("ascii")
            for one in super().formatMessage(record)
        )


class AsJson(logging.Formatter):
    """A line of JSON a record; what a record is told `extra` stands beside its message."""

    def format(self, record: logging.LogRecord) -> str:
        """The line."""
        line: dict[str, Any] = {
            "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(record.created)),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
        }
        line |= getattr(record, "told", {})
        if record.exc_info:
            line["trace"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=False)


def _pattern(scope: Scope) -> str:
    """The route's pattern, '' for what has none: a path would make a counter of each book."""
    return str(getattr(scope.get("route"), "path", ""))


def _log(scope: Scope, method: str, status: int, seconds: float, id: str, trace: str) -> None:
    caller = scope["state"].get("caller")
    told = {
        "method": method,
        # No query: it holds what people ask, and one-time tokens.
        "path": scope["path"],
        "status": status,
        "seconds": round(seconds, 4),
        "caller": caller.id if caller else "",
        "request_id": id,
        "trace_id": trace,
    }
    LOG.info("%s %s %s", method, scope["path"], status, extra={"told": told})
