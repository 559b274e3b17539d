"""The HTTP client of an endpoint: it sends requests once, and reads answers and streams.

What an endpoint answers with an error is raised as an `ErrorResponse`; what breaks off or can't be
read, as one of `BROKEN`, or as an `UnusableAnswer`. Whether to try again is decided elsewhere.
"""

from __future__ import annotations

import html
import re
import ssl
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import replace
from typing import IO, Any, Literal

import httpx2

from fabula.errors import BadReply, ModelError
from fabula.models.endpoint.address import EndpointAddress, redact_url
from fabula.models.endpoint.errors import KINDS, EndpointError, ErrorResponse, NamedModel
from fabula.models.endpoint.payload import Json, object_or_empty, reported_error
from fabula.models.endpoint.transport import (
    MAX_ANSWER_BYTES,
    MAX_BYTES_PER_TEXT,
    PIECE_BYTES,
    TIMEOUTS_PER_CALL,
    Bounds,
    EndpointTransport,
    EventStream,
    UnusableAnswer,
)
from fabula.models.stop import Stop

CONNECT_SECONDS = 10.0
FILE_TIMEOUTS = 20
"""The longest time of an upload or a download, as a multiple of FABULA_TIMEOUT."""
TOKEN = "eyJ"
"""How a token of Microsoft Entra begins. It is a JWT, and is sent as a Bearer also at Azure."""
BROKEN = (httpx2.RequestError, ssl.SSLError)
"""Errors of a connection or an answer that ends too early; not all of TLS are httpx's."""
Method = Literal["GET", "POST", "DELETE"]


class EndpointClient:
    """The connections to one endpoint, shared by all threads."""

    def __init__(self, address: EndpointAddress, key: str, timeout: float) -> None:
        """Prepare a client; nothing is called yet.

        Args:
            address: The endpoint's checked address.
            key: The checked key.
            timeout: The longest time without a byte, in seconds.
        """
        self.url: str = redact_url(address.url)
        self.transport = EndpointTransport(address.url, key)
        """Cleans what the endpoint sends."""
        self._address, self._timeout = address, timeout
        limits = httpx2.Timeout(timeout, connect=min(timeout, CONNECT_SECONDS))
        # Azure takes a key that is sent as a Bearer for a token.
        has_api_key = address.has_api_key_header and not key.startswith(TOKEN)
        own = {"api-key": key} if has_api_key else {"Authorization": f"Bearer {key}"}
        self._client = self.transport.client(
            base_url=address.base, params=address.query, headers=own, timeout=limits
        )
        self._closing = threading.Lock()
        self._under_way, self._is_closed = 0, False

    def path(self, path: str, role: NamedModel) -> str:
        """Return the path of a call: at Azure it may have the name of the model in it."""
        return self._address.path(path, role.model, is_main=role.setting == "FABULA_MODEL")

    @property
    def has_deployments(self) -> bool:
        """Whether the URL names deployments of Azure, below which there are no files."""
        return self._address.deployment is not None

    @contextmanager
    def keep_open(self) -> Iterator[None]:
        """Keep the connections open during a call, even if the client is closed meanwhile.

        The connection pool closes only what it knows: a connection that another thread is just
        opening would stay open for ever. So the last call under way closes the pool.
        """
        with self._closing:
            if self._is_closed:
                raise ModelError("Model calls were stopped.")
            self._under_way += 1
        try:
            yield
        finally:
            with self._closing:
                self._under_way -= 1
                if self._is_closed and not self._under_way:
                    self._client.close()

    def close(self) -> None:
        """Close the connections, at once or after the last call under way."""
        with self._closing:
            self._is_closed = True
            if not self._under_way:
                self._client.close()

    def post(self, path: str, request: Json, cut: Stop | None) -> httpx2.Response:
        """Send a request once.

        Args:
            path: The path below the endpoint's URL.
            request: The body.
            cut: Ends the call, if it is set before the answer is there.

        Returns:
            The answer with its headers; `transport.answer` reads it. It may be an error
            (`reported_error`): some servers send theirs with the status of a good answer.
        """
        bounds = self._bounds(request, cut)
        with self._calling(bounds):
            return self._send("POST", path, bounds, json=request)

    def open_stream(self, path: str, request: Json, cut: Stop | None) -> AnswerEvents:
        """Send a request whose answer is a stream; arguments are those of `post`."""
        bounds = self._bounds(request, cut)
        with self._calling(bounds):
            response = self._send("POST", path, bounds, is_stream=True, json=request)
        return AnswerEvents(self, response, bounds)

    def _bounds(self, request: Json, cut: Stop | None) -> Bounds:
        texts = len(request.get("input") or ())
        end = time.monotonic() + TIMEOUTS_PER_CALL * self._timeout
        return Bounds(end, MAX_ANSWER_BYTES + MAX_BYTES_PER_TEXT * texts, cut)

    def _send(
        self, method: Method, path: str, bounds: Bounds, *, is_stream: bool = False, **sent: Any
    ) -> httpx2.Response:
        """Return the answer to a request, read unless it is a stream, within the bounds.

        Raises:
            ErrorResponse: Its status is that of an error.
        """
        with bounds.hold():
            request = self._client.build_request(method, path, **sent)
            response = self._client.send(request, stream=is_stream)
            if not response.is_success:
                with closing(response):
                    response.read()
                raise self._error_response(response)
            return response

    @contextmanager
    def _calling(self, bounds: Bounds) -> Iterator[None]:
        """Raise BadReply if the time of a model's call was up."""
        try:
            yield
        except httpx2.TimeoutException as error:
            self.end_at_deadline(bounds, error)
            raise

    def fetch(self, path: str, seconds: float) -> Any:
        """Return the value of the answer to a GET request, which is about no model.

        Args:
            path: The path below the endpoint's URL.
            seconds: How long the whole answer may take.
        """
        timeout = httpx2.Timeout(seconds, connect=min(seconds, CONNECT_SECONDS))
        bounds = Bounds(time.monotonic() + seconds)
        return self.transport.answer(self._send("GET", path, bounds, timeout=timeout))

    def transfer(
        self,
        method: Method,
        path: str,
        body: Json | None = None,
        query: Mapping[str, str] | None = None,
        max_bytes: int = MAX_ANSWER_BYTES,
    ) -> bytes:
        """Return the bytes of an answer, as of a file; `max_bytes` bounds them."""
        bounds = Bounds(self._file_deadline(), max_bytes)
        return self._send(method, path, bounds, json=body, params=query).content

    def upload(self, name: str, file: IO[bytes]) -> bytes:
        """Upload a file of a batch's requests from its beginning; return the answer's bytes."""
        file.seek(0)
        files = {"file": (name, file, "application/jsonl")}
        purpose, bounds = {"purpose": "batch"}, Bounds(self._file_deadline())
        return self._send("POST", "/files", bounds, files=files, data=purpose).content

    def _file_deadline(self) -> float:
        return time.monotonic() + FILE_TIMEOUTS * self._timeout

    def error_within(self, body: object, headers: Mapping[str, str]) -> ErrorResponse:
        """Return the error in an answer whose status is that of a good one."""
        reported = EndpointError.of(500, body)
        error = object_or_empty(object_or_empty(body).get("error"))
        named = (reported.code, error.get("status_code"), error.get("http_status_code"))
        status = next((int(n) for n in map(str, named) if re.fullmatch(r"[45]\d\d", n)), None)
        status = status or KINDS.get(reported.code) or KINDS.get(reported.kind)
        if status is not None:
            reported = replace(reported, status=status)
        return ErrorResponse(reported, headers, in_body=True)

    def _error_response(self, response: httpx2.Response) -> ErrorResponse:
        body: Any
        try:
            body = self.transport.json(response.content)
        except UnusableAnswer:
            body = self.transport.line(_page_title(response.text)) or response.reason_phrase
        return ErrorResponse(EndpointError.of(response.status_code, body), response.headers)

    def end_at_deadline(self, bounds: Bounds, error: Exception) -> None:
        """Raise BadReply if the call had its whole time, rather than a byte that came too late."""
        if bounds.over:
            seconds = TIMEOUTS_PER_CALL * self._timeout
            raise BadReply(
                f"{self.url} did not finish its answer within {seconds:g} s, {TIMEOUTS_PER_CALL} "
                "times FABULA_TIMEOUT."
            ) from error


def _page_title(text: str) -> str:
    """The title of a web page, as proxies answer with; any other text as it is."""
    if not text.lstrip().startswith("<"):
        return text
    title = re.search(r"<title[^<>]*>(.{1,300}?)</title>", text[:PIECE_BYTES], re.I | re.S)
    return html.unescape(title[1]) if title else text


class AnswerEvents:
    """A stream that an endpoint has begun to answer with."""

    def __init__(self, client: EndpointClient, response: httpx2.Response, bounds: Bounds) -> None:
        self._client, self._response, self._bounds = client, response, bounds
        self._stream = EventStream(response.iter_bytes())
        self.headers: Mapping[str, str] = response.headers

    def close(self) -> None:
        """Close its connection."""
        self._response.close()

    @property
    def is_done(self) -> bool:
        """Whether the stream has said that it ends, by [DONE]."""
        return self._stream.is_done

    def events(self) -> Iterator[Json]:
        """Yield the events. Raises UnusableAnswer for a stream that can't be read."""
        transport = self._client.transport
        try:
            for data in self._stream:
                value = object_or_empty(transport.event(data))
                if reported := reported_error(value):
                    raise self._client.error_within(reported, self.headers)
                yield value
        except httpx2.TimeoutException as error:
            self._client.end_at_deadline(self._bounds, error)
            raise
        finally:
            self.close()
