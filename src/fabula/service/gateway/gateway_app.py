"""The HTTP interface of a gateway: OpenAI's, and some routes of its own."""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import json
import logging
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import quote, urlsplit

from starlette.requests import Request
from starlette.types import Message, Receive, Scope, Send

from fabula.config.gateway import GatewaySettings
from fabula.errors import SettingsError
from fabula.models.gateway_protocol import (
    ANSWER,
    BUILD,
    CACHE_HEADER,
    FRESH_HEADER,
    INFO_PATH,
    KEY_HEADER,
    KEY_PATTERN,
    PRIORITY_HEADER,
    READINGS,
    READS_HEADER,
    REPLIES_PATH,
    VERSION,
    VERSION_HEADER,
)
from fabula.models.payload import Json
from fabula.service.gateway.call_queue import CallQueue
from fabula.service.gateway.gateway_calls import (
    CHAT_PATH,
    EMBEDDINGS_PATH,
    RERANK_PATH,
    CallReply,
    CallRequest,
    GatewayCalls,
)
from fabula.service.gateway.gateway_keys import PREFIX, GatewayKeys
from fabula.service.gateway.spending import Spending
from fabula.service.gateway.upstream import STREAM_TYPE, Upstream, UpstreamAnswer, error_answer
from fabula.service.http.admission import LOOPBACK, host_of, is_loopback
from fabula.service.observe.gateway_metrics import GatewayMetrics

LOG = logging.getLogger("fabula.service")
CALL_PATHS = (CHAT_PATH, EMBEDDINGS_PATH, RERANK_PATH)
MAX_BODY_BYTES = 64 * 2**20
"""The largest request: images and long lists of texts are some MB."""
NO_KEY = "this machine"
"""The client's name in metrics where no key is needed."""
FORWARDED = ("forwarded", "x-forwarded-for", "x-real-ip", "via")
"""Headers of a proxy: what comes through one is not from this machine, whatever its address."""
METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8"
HEADERS = {
    VERSION_HEADER: VERSION,
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
}


class _Refused(Exception):
    """A request that is answered with an error."""

    def __init__(
        self, status: int, message: str, code: str, headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(message)
        self.answer = error_answer(status, message, code, headers)


class GatewayApp:
    """The ASGI application of a gateway.

    Args:
        settings: Where it listens, and who needs a key.
        keys: The keys of its clients.
        upstream: The endpoint.
        queue: The queue of calls, for metrics.
        spending: What was spent, for metrics.
        calls: Answers calls.
        metrics: Is shown at /metrics.
        is_mounted: Whether a service is around it, which has checked the host name. Each client
            then needs a key, as with all of the service: behind a proxy that adds no header,
            everybody would be a program of this machine.

    """

    def __init__(
        self,
        settings: GatewaySettings,
        keys: GatewayKeys,
        upstream: Upstream,
        queue: CallQueue,
        spending: Spending,
        calls: GatewayCalls,
        metrics: GatewayMetrics,
        *,
        is_mounted: bool = False,
    ) -> None:
        self._settings, self._keys, self._upstream = settings, keys, upstream
        self._queue, self._spending, self._calls = queue, spending, calls
        self._metrics, self._is_mounted = metrics, is_mounted
        self._hosts = {host.lower() for host in (*settings.hosts, settings.host)}
        if is_loopback(settings.host):
            self._hosts |= LOOPBACK
        metrics.watch("state", self._gauges)

    def _gauges(self) -> Mapping[str, Mapping[str, float]]:
        limits = self._queue.limits() | {"waiting": float(self._queue.waiting)}
        left = (
            {"fabula_gateway_budget_left": self._spending.remaining()}
            if self._spending.limits
            else {}
        )
        return {"fabula_gateway_limits": limits} | left

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] == "lifespan":
            await self._live(receive, send)
            return
        if scope["type"] != "http":
            return
        request = Request(scope)
        try:
            await self._route(request, receive, send)
        except _Refused as refusal:
            await _send_answer(send, refusal.answer)

    async def close(self) -> None:
        """Let calls under way end, and close what is open."""
        await self._calls.close(self._settings.grace)
        await self._upstream.close()

    async def _live(self, receive: Receive, send: Send) -> None:
        while True:
            message = await receive()
            if message["type"] == "lifespan.startup":
                await send({"type": "lifespan.startup.complete"})
            elif message["type"] == "lifespan.shutdown":
                await self.close()
                await send({"type": "lifespan.shutdown.complete"})
                return

    async def _route(self, request: Request, receive: Receive, send: Send) -> None:
        scope = request.scope
        path = scope["path"].removeprefix(scope.get("root_path", "")).rstrip("/")
        self._refuse_host(request)
        if path == "/health" and request.method in ("GET", "HEAD"):
            await _send_answer(send, UpstreamAnswer(200, b'{"status": "ok"}'))
            return
        _refuse_cross_site(request)
        client = self._client(request)
        name = path.removeprefix("/v1")
        method = request.method
        if method == "POST" and name in CALL_PATHS:
            await self._answer_call(request, name, client, receive, send)
        elif method == "GET" and path == "/metrics":
            text = self._metrics.text()
            await _send_answer(send, UpstreamAnswer(200, text, content_type=METRICS_TYPE))
        elif method == "GET" and (name == "/models" or name.startswith("/models/")):
            model = quote(name.removeprefix("/models").strip("/"), safe="/:")
            if {".", ".."} & {*model.split("/")}:
                # It would be another path of the endpoint, asked with the gateway's key.
                raise _Refused(404, "There is no such model.", "not_found")
            await _send_answer(send, await self._upstream.models(model))
        elif method == "GET" and name == INFO_PATH:
            info = {"version": VERSION, "endpoint": self._upstream.address}
            await _send_answer(send, UpstreamAnswer(200, json.dumps(info).encode()))
        elif method == "DELETE" and name.startswith(f"{REPLIES_PATH}/"):
            key = name.removeprefix(f"{REPLIES_PATH}/")
            if not KEY_PATTERN.fullmatch(key):
                raise _Refused(400, "A reply's key has 64 hexadecimal digits.", "bad_key")
            self._calls.forget(bytes.fromhex(key))
            await _send_answer(send, UpstreamAnswer(200, b'{"deleted": true}'))
        else:
            raise _Refused(
                404,
                f"The gateway has no {method} {path[:100] or '/'}: it has /v1/chat/completions, "
                "/v1/embeddings, /v1/rerank, /v1/models, /health and /metrics.",
                "not_found",
            )

    def _refuse_host(self, request: Request) -> None:
        """Refuse a host name that is not ours: another site's may resolve to this machine."""
        if self._is_mounted:
            return
        host = host_of(request.headers.get("host", ""))
        if host in self._hosts:
            return
        try:
            ipaddress.ip_address(host)
            is_known = not is_loopback(self._settings.host)
        except ValueError:
            is_known = False
        if not is_known:
            raise _Refused(
                421,
                "The gateway does not answer to that host name: add it to gateway.hosts.",
                "misdirected",
            )

    def _client(self, request: Request) -> str:
        """Return the name of the client's key. Raises _Refused for one that is not valid."""
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        token = token.strip()
        if scheme.lower() == "bearer" and token.startswith(PREFIX):
            try:
                name = self._keys.find(token)
            except SettingsError as error:
                LOG.error("%s", error)
                message = "The gateway's list of keys can't be read: see its log."
                raise _Refused(500, message, "unexpected") from error
            if name is None:
                raise _Refused(
                    401,
                    "That key of the gateway is not valid: it is unknown or revoked. "
                    "`fabula gateway keys make NAME` makes one, FABULA_GATEWAY_KEY is where "
                    "Fabula takes it from.",
                    "invalid_gateway_key",
                    {"WWW-Authenticate": 'Bearer error="invalid_token"'},
                )
            return name
        if self._settings.require_key or self._is_mounted or not _is_local(request):
            raise _Refused(
                401,
                "The gateway needs one of its own keys, fgw_...: `fabula gateway keys make NAME` "
                "makes one, FABULA_GATEWAY_KEY is where Fabula takes it from.",
                "missing_gateway_key",
                {"WWW-Authenticate": "Bearer"},
            )
        return NO_KEY

    async def _answer_call(
        self, request: Request, path: str, client: str, receive: Receive, send: Send
    ) -> None:
        """Answer a call; if its client disconnects meanwhile, the call is given up."""
        call = _read_call(request, path, await _read_body(request, receive), client)
        work = asyncio.ensure_future(
            self._calls.reply(call, lambda reply: _send_reply(send, reply))
        )
        left = asyncio.ensure_future(_wait_for_disconnect(receive))
        try:
            await asyncio.wait({work, left}, return_when=asyncio.FIRST_COMPLETED)
            if work.done():
                await work
                return
            self._metrics.count_call(client, call.model, "cancelled")
        finally:
            left.cancel()
            work.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await work


def _read_call(request: Request, path: str, body: bytes, client: str) -> CallRequest:
    """Return a request as a call. Raises _Refused for one that is none."""
    try:
        value: Json = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise _Refused(400, "The request's body is not valid JSON.", "invalid_json") from error
    if not isinstance(value, dict):
        raise _Refused(400, "The request's body has to be a JSON object.", "invalid_json")
    if value.get("model") in (".", ".."):
        # Where a path has the model's name, it would be another path of the endpoint.
        raise _Refused(404, "There is no such model.", "not_found")
    headers = request.headers
    key, priority = headers.get(KEY_HEADER, ""), headers.get(PRIORITY_HEADER, "")
    reads = {name.strip() for name in headers.get(READS_HEADER, "").split(",")}
    name, no_store = FRESH_HEADER
    control = headers.get(name, "").lower()
    return CallRequest(
        path,
        value,
        client,
        bytes.fromhex(key) if path == CHAT_PATH and KEY_PATTERN.fullmatch(key) else b"",
        frozenset(reads.intersection(READINGS)),
        urgent=priority == ANSWER,
        runs_on=priority == BUILD,
        fresh=no_store in control or "no-cache" in control,
    )


async def _read_body(request: Request, receive: Receive) -> bytes:
    length = request.headers.get("content-length", "0")
    if not length.isdecimal() or int(length) > MAX_BODY_BYTES:
        raise _too_large()
    pieces, count = [], 0
    while True:
        message = await receive()
        if message["type"] != "http.request":
            raise _Refused(400, "The request ended early.", "incomplete")
        pieces.append(message.get("body", b""))
        count += len(pieces[-1])
        if count > MAX_BODY_BYTES:
            raise _too_large()
        if not message.get("more_body"):
            return b"".join(pieces)


def _too_large() -> _Refused:
    message = f"A request may have {MAX_BODY_BYTES // 2**20} MB at most."
    return _Refused(413, message, "too_large", {"Connection": "close"})


async def _wait_for_disconnect(receive: Receive) -> None:
    message: Message = {"type": ""}
    while message["type"] != "http.disconnect":
        message = await receive()


def _is_local(request: Request) -> bool:
    """Return whether a request is from a program of this machine, and not through a proxy."""
    address = request.client.host if request.client else ""
    return is_loopback(address) and not any(name in request.headers for name in FORWARDED)


def _refuse_cross_site(request: Request) -> None:
    """Refuse what a page of another site made a browser send: it would spend our money."""
    site, origin = request.headers.get("sec-fetch-site"), request.headers.get("origin")
    if site is not None:
        is_own = site in ("same-origin", "none")
    elif origin is not None:
        is_own = urlsplit(origin).netloc == request.headers.get("host", "")
    else:
        is_own = True
    if not is_own:
        raise _Refused(403, "This request came from a page of another site.", "forbidden")


async def _send_reply(send: Send, reply: CallReply) -> None:
    headers = {CACHE_HEADER: reply.how}
    if reply.answer is not None:
        await _send_answer(send, reply.answer, headers)
        return
    assert reply.events is not None
    headers |= {"Content-Type": STREAM_TYPE, "X-Accel-Buffering": "no"}
    await send(_start(200, HEADERS | headers))
    async for event in reply.events:
        await send({"type": "http.response.body", "body": event, "more_body": True})
    await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _send_answer(
    send: Send, answer: UpstreamAnswer, headers: Mapping[str, str] | None = None
) -> None:
    all_headers = {
        **HEADERS,
        **(headers or {}),
        **answer.headers,
        "Content-Type": answer.content_type,
        "Content-Length": str(len(answer.body)),
    }
    await send(_start(answer.status, all_headers))
    await send({"type": "http.response.body", "body": answer.body})


def _start(status: int, headers: Mapping[str, Any]) -> Message:
    pairs: Iterable[tuple[bytes, bytes]] = [
        (name.lower().encode("ascii"), str(value).encode("latin-1", "replace"))
        for name, value in headers.items()
    ]
    return {"type": "http.response.start", "status": status, "headers": pairs}
