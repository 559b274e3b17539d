"""The endpoint behind a gateway: one client for all calls, whose answers are passed on as they are.

The calls of `models.endpoint` read an answer; these only carry it, so that any program may ask for
anything. Both keep the same bounds of time and size, and neither passes on a key.
"""

from __future__ import annotations

import asyncio
import json
import logging
import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx2

from fabula.config.settings import Settings
from fabula.errors import SettingsError
from fabula.models.address import EndpointAddress, redact_url, validate_key
from fabula.models.endpoint import LIST_SECONDS
from fabula.models.endpoint_client import CONNECT_SECONDS, TOKEN
from fabula.models.gateway_protocol import UNUSABLE_CODE
from fabula.models.payload import Json
from fabula.models.transport import (
    BOM,
    MAX_ANSWER_BYTES,
    MAX_BYTES_PER_TEXT,
    SUSPICIOUS,
    TIMEOUTS_PER_CALL,
    EndpointTransport,
    UnusableAnswer,
    is_whole_event,
)

LOG = logging.getLogger("fabula.service")
JSON_TYPE = "application/json"
STREAM_TYPE = "text/event-stream"
PASSED_HEADERS = ("retry-after", "retry-after-ms", "x-request-id")
"""Headers of the endpoint's answers that clients are sent. Those that tell what is left of its
limits are not among them: the gateway heeds them for all."""


_LINE_BREAK = re.compile(rb"\r\n|\n|\r")


def _begins_event(line: bytes, event: bytes) -> bool:
    """Whether a line begins an event, where a server leaves out the blank line behind the last."""
    return line.startswith(b"data:") and is_whole_event(event.splitlines())


@dataclass(frozen=True, slots=True)
class UpstreamAnswer:
    """An answer as a client is sent it.

    Attributes:
        status: The HTTP status.
        body: The whole body.
        headers: Headers beside the content's type and length.
        value: The body's JSON, for answers of status 200; None for others.
        content_type: The body's media type.

    """

    status: int
    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)
    value: Json | None = None
    content_type: str = JSON_TYPE

    @property
    def is_good(self) -> bool:
        """Whether the endpoint has answered the call."""
        return self.status == 200


def error_answer(
    status: int, message: str, code: str, headers: Mapping[str, str] | None = None
) -> UpstreamAnswer:
    """Return an error in the form of OpenAI's interface."""
    error = {"message": message, "type": code, "param": None, "code": code}
    return UpstreamAnswer(status, json.dumps({"error": error}).encode(), headers or {})


class OpenedStream:
    """A stream whose events are read one by one; `answer` is set in its place where there is none.

    Attributes:
        headers: The headers of the answer.
        answer: The answer, if the endpoint did not stream.

    """

    def __init__(
        self,
        headers: Mapping[str, str],
        events: AsyncIterator[bytes] | None,
        answer: UpstreamAnswer | None,
    ) -> None:
        self.headers, self._events, self.answer = headers, events, answer

    def events(self) -> AsyncIterator[bytes]:
        """Yield the events, each with the blank line at its end. Raises UpstreamBroken."""
        assert self._events is not None
        return self._events


class UpstreamBroken(Exception):
    """The endpoint can't be reached, was late, or broke off; `status` is what a client gets."""

    def __init__(
        self, message: str, status: int, *, late: bool = False, code: str = "endpoint_failed"
    ) -> None:
        super().__init__(message)
        self.status, self.late, self.code = status, late, code

    @property
    def answer(self) -> UpstreamAnswer:
        """What a client is answered."""
        return error_answer(self.status, str(self), self.code)


class Upstream:
    """Sends requests to the endpoint of the settings."""

    def __init__(self, settings: Settings) -> None:
        """Prepare a client; nothing is called yet.

        Raises:
            SettingsError: There is no endpoint, or its address or key can't be used.

        """
        if settings.gateway_url:
            raise SettingsError(
                "FABULA_GATEWAY_URL is set, but a gateway asks the endpoint itself: unset it where "
                "the gateway runs."
            )
        if not settings.has_endpoint:
            raise SettingsError(
                "A gateway needs the endpoint that it stands before: set OPENAI_API_KEY, or "
                "OPENAI_BASE_URL for another endpoint than OpenAI's."
            )
        self._address = EndpointAddress.of(settings.base_url)
        self._model = settings.model
        key = validate_key(settings.endpoint_key())
        self.address = redact_url(self._address.url)
        """The endpoint's address, without what is secret in it."""
        self.transport = EndpointTransport(self._address.url, key)
        self.timeout = settings.timeout
        by_header = self._address.has_api_key_header and not key.startswith(TOKEN)
        authorization = {"api-key": key} if by_header else {"Authorization": f"Bearer {key}"}
        self._client = httpx2.AsyncClient(
            headers={
                **authorization,
                "Accept-Encoding": "identity",
                "User-Agent": "fabula-gateway",
            },
            timeout=httpx2.Timeout(
                self.timeout, connect=min(self.timeout, CONNECT_SECONDS), pool=None
            ),
            # The queue decides how many there are.
            limits=httpx2.Limits(
                max_connections=None, max_keepalive_connections=settings.concurrency
            ),
        )

    async def close(self) -> None:
        """Close all connections."""
        await self._client.aclose()

    async def models(self, name: str = "") -> UpstreamAnswer:
        """Return the endpoint's list of models, or the model of a name."""
        path = f"/models/{name}" if name else "/models"
        try:
            async with asyncio.timeout(LIST_SECONDS):
                response = await self._client.get(
                    f"{self._address.base}{path}", params=self._params()
                )
        except (httpx2.TransportError, TimeoutError) as error:
            return self._broken(error).answer
        return self._finish(response, response.content)

    @asynccontextmanager
    async def ask(self, path: str, body: Json, *, stream: bool) -> AsyncIterator[OpenedStream]:
        """Send a request, and receive its answer while the block runs.

        Leaving the block closes the connection if the answer has not ended, which is how an
        endpoint learns that nobody waits for it any more.

        Raises:
            UpstreamBroken: The endpoint can't be reached, or did not answer in time.

        """
        model = body.get("model")
        name = model if isinstance(model, str) else ""
        path = self._address.path(path, name, is_main=name == self._model)
        texts = body.get("input")
        max_bytes = MAX_ANSWER_BYTES
        max_bytes += MAX_BYTES_PER_TEXT * (len(texts) if isinstance(texts, list) else 1)
        try:
            async with (
                asyncio.timeout(TIMEOUTS_PER_CALL * self.timeout),
                self._client.stream(
                    "POST",
                    f"{self._address.base}{path}",
                    params=self._params(),
                    content=json.dumps(body, ensure_ascii=False).encode("utf-8", "replace"),
                    headers={"Content-Type": JSON_TYPE},
                ) as response,
            ):
                kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
                if stream and response.status_code == 200 and kind == STREAM_TYPE:
                    yield OpenedStream(response.headers, self._events(response, max_bytes), None)
                else:
                    content = await self._read(response, max_bytes)
                    answer = self._finish(response, content)
                    yield OpenedStream(response.headers, None, answer)
        except (httpx2.TransportError, httpx2.StreamError, TimeoutError) as error:
            raise self._broken(error) from error

    def redact(self, text: str) -> str:
        """Return a text without keys and passwords."""
        return self.transport.redact(text)

    def _params(self) -> dict[str, str]:
        return dict(self._address.query)

    async def _read(self, response: httpx2.Response, max_bytes: int) -> bytes:
        pieces, count = [], 0
        async for piece in response.aiter_bytes():
            count += len(piece)
            if count > max_bytes:
                raise UpstreamBroken(self._line("its answer is too large"), 502, code=UNUSABLE_CODE)
            pieces.append(piece)
        return b"".join(pieces)

    async def _events(self, response: httpx2.Response, max_bytes: int) -> AsyncIterator[bytes]:
        """The events of a stream, without secrets."""
        event, rest, count = b"", b"", 0
        async for piece in response.aiter_bytes():
            count += len(piece)
            if count > max_bytes:
                raise UpstreamBroken(self._line("its answer is too large"), 502, code=UNUSABLE_CODE)
            begin = piece.removeprefix(BOM) if count == len(piece) else piece
            *lines, rest = _LINE_BREAK.split(rest + begin)
            for line in lines:
                if event and (not line or _begins_event(line, event)):
                    yield self._clean_event(event) + b"\n"
                    event = b""
                event += line + b"\n" if line else b""
        for last in (event, rest) if _begins_event(rest, event) else (event + rest,):
            if last.strip():
                yield self._clean_event(last) + b"\n\n"

    def _clean_event(self, event: bytes) -> bytes:
        text = event.decode("utf-8", "replace")
        return self.redact(text).encode() if self.transport.has_secret(text) else event

    def _finish(self, response: httpx2.Response, content: bytes) -> UpstreamAnswer:
        """The answer of a whole body: its JSON is read, and no secret is left in it."""
        status = response.status_code
        headers = {
            name: self.redact(response.headers[name])
            for name in PASSED_HEADERS
            if name in response.headers
        }
        if response.has_redirect_location:
            return error_answer(
                502, self._line("it redirects, which is not followed"), "endpoint_failed"
            )
        try:
            value = self.transport.answer(
                httpx2.Response(
                    200,
                    headers={"content-type": response.headers.get("content-type", "")},
                    content=content,
                )
            )
        except UnusableAnswer as error:
            value = None
            if status == 200:
                return error_answer(502, self._line(str(error)), UNUSABLE_CODE, headers)
        if status == 200:
            if not isinstance(value, dict):
                message = self._line("it does not answer as an OpenAI-compatible endpoint")
                return error_answer(502, message, UNUSABLE_CODE, headers)
            return UpstreamAnswer(status, self._same_bytes(content, value), headers, value)
        if status == 401:
            return error_answer(
                status,
                "The endpoint behind the gateway refused the gateway's own key "
                f"({status}): its OPENAI_API_KEY has to be changed where the gateway runs.",
                "gateway_key_refused",
                headers,
            )
        if value is None:
            text = self.transport.line(content.decode("utf-8", "replace")) or response.reason_phrase
            return error_answer(status, text, "endpoint_failed", headers)
        return UpstreamAnswer(status, json.dumps(value).encode(), headers)

    def _same_bytes(self, content: bytes, value: Any) -> bytes:
        """The body as it came, if nothing had to be cleaned out of it."""
        text = content.decode("utf-8", "replace")
        is_object = text.lstrip().startswith("{")
        if not is_object or SUSPICIOUS.search(text) or self.transport.has_secret(text):
            return json.dumps(value).encode()
        return content

    def _broken(self, error: Exception) -> UpstreamBroken:
        if isinstance(error, httpx2.ReadTimeout | httpx2.WriteTimeout | TimeoutError):
            message = self._line(f"it did not answer within {self.timeout:g} s")
            return UpstreamBroken(message, 504, late=True)
        why = self.transport.line(str(error) or type(error).__name__)
        message = self._line(f"it can't be reached, or closed the connection: {why}")
        return UpstreamBroken(message, 502)

    def _line(self, why: str) -> str:
        return f"The endpoint behind the gateway failed: {why.rstrip('.')}."
