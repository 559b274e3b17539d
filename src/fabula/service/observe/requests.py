"""Give each request an id, a line in the log, a count in the metrics and a span.

The middleware is pure ASGI, as Starlette's BaseHTTPMiddleware would hold up streams.
"""

from __future__ import annotations

import codecs
import json
import logging
import re
import secrets
import time
from typing import Any

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from fabula import tracing
from fabula.jobs.audit import REQUEST
from fabula.service.observe.metrics import Metrics

LOG = logging.getLogger("fabula.service")
ID = "X-Request-Id"
ESCAPE = codecs.getencoder("unicode_escape")
"""Looked up at import: the codec is a module, which can't be loaded once the process has run out of
file descriptors."""
TRACEPARENT = re.compile(r"[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}")


class RequestLog:
    """Middleware that gives each request an id, and logs and counts its end."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app, self._metrics = app, metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and record its status and its time."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began = time.perf_counter()
        headers = Headers(scope=scope)
        traced = TRACEPARENT.fullmatch(headers.get("traceparent", ""))
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
                # The pattern: the path itself would make a counter of each document.
                route = str(getattr(scope.get("route"), "path", ""))
                seconds = time.perf_counter() - began
                span.record({"http.route": route, "http.response.status_code": status})
                self._metrics.count_request(method, route, status, seconds)
                _log(scope, method, status, seconds, id, trace)


class TextFormatter(logging.Formatter):
    """Format a record as one line of text: line breaks in a path or a title are escaped."""

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802
        """Return the line."""
        return "".join(
            letter if letter.isprintable() else ESCAPE(letter)[0].decode("ascii")
            for letter in super().formatMessage(record)
        )


class JsonFormatter(logging.Formatter):
    """Format a record as one line of JSON, with the record's `fields` beside its message."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        line: dict[str, Any] = {
            "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(record.created)),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
        }
        line |= getattr(record, "fields", {})
        if record.exc_info:
            line["trace"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=False)


def _log(scope: Scope, method: str, status: int, seconds: float, id: str, trace: str) -> None:
    caller = scope["state"].get("caller")
    fields = {
        "method": method,
        # Without the query, which holds questions and one-time tokens.
        "path": scope["path"],
        "status": status,
        "seconds": round(seconds, 4),
        "caller": caller.id if caller else "",
        "request_id": id,
        "trace_id": trace,
    }
    LOG.info("%s %s %s", method, scope["path"], status, extra={"fields": fields})
