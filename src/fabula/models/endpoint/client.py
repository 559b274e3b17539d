"""The HTTP client of an endpoint: it sends requests once, and reads answers and streams.

What an endpoint answers with an error is raised as an `ErrorResponse`; what breaks off, as
`httpx2.HTTPError`; what can't be read, as an `UnusableAnswer`. Whether to try again is decided
elsewhere.
"""

from __future__ import annotations

import html
import re
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import IO, Any, Literal

import httpx2

from fabula.errors import BadReply, ModelError
from fabula.models.endpoint.address import EndpointAddress, redact_url
from fabula.models.endpoint.errors import KINDS, EndpointError, ErrorResponse, NamedModel
from fabula.models.endpoint.payload import Json, object_or_empty, reported_error
from fabula.models.endpoint.transport import (
    DONE,
    MAX_ANSWER_BYTES,
    MAX_BYTES_PER_TEXT,
    PIECE_BYTES,
    TIMEOUTS_PER_CALL,
    Bounds,
    EndpointTransport,
    UnusableAnswer,
    bound_response,
    read_stream,
    time_connections,
)
from fabula.models.stop import Stop
from fabula.version import __version__

CONNECT_SECONDS = 10.0
FILE_TIMEOUTS = 20
"""The longest time of an upload or a download, as a multiple of FABULA_TIMEOUT."""
TOKEN = "eyJ"
"""How a token of Microsoft Entra begins. It is a JWT, and is sent as a Bearer also at Azure."""
CONNECTIONS = httpx2.Limits(max_connections=1000, max_keepalive_connections=100)
"""More than calls at once; which these are is decided by `fabula.models.limiter`."""
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
        has_api_key = address.has_api_key_header and not key.startswith(TOKEN)
        self._client = time_connections(
            httpx2.Client(
                base_url=address.base,
                params=address.query,
                headers={
                    # Azure takes a key that is sent as a Bearer for a token.
                    **({"api-key": key} if has_api_key else {"Authorization": f"Bearer {key}"}),
                    "Accept": "application/json",
                    "Accept-Encoding": "gzip",
                    "User-Agent": f"fabula/{__version__}",
                },
                timeout=httpx2.Timeout(timeout, connect=min(timeout, CONNECT_SECONDS)),
                limits=CONNECTIONS,
                follow_redirects=True,
                event_hooks={"response": [bound_response]},
            )
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
        with self._calling(self._bounds(request, cut)):
            return self._send("POST", path, json=request)

    def open_stream(self, path: str, request: Json, cut: Stop | None) -> AnswerEvents:
        """Send a request whose answer is a stream; arguments are those of `post`."""
        bounds = self._bounds(request, cut)
        with self._calling(bounds):
            response = self._send("POST", path, json=request, stream=True)
        return AnswerEvents(self, response, bounds)

    def _send(
        self, method: Method, path: str, *, stream: bool = False, **content: Any
    ) -> httpx2.Response:
        """Send a request once. Raises ErrorResponse for an error's status."""
        request = self._client.build_request(method, path, **content)
        response = self._client.send(request, stream=stream)
        if response.is_success:
            return response
        response.read()
        body: Any
        try:
            body = self.transport.json(response.content)
        except UnusableAnswer:
            body = self.transport.line(_page_title(response.text)) or response.reason_phrase
        raise ErrorResponse(EndpointError.of(response.status_code, body), response.headers)

    def _bounds(self, request: Json, cut: Stop | None) -> Bounds:
        texts = len(request.get("input") or ())
        end = time.monotonic() + TIMEOUTS_PER_CALL * self._timeout
        return Bounds(end, MAX_ANSWER_BYTES + MAX_BYTES_PER_TEXT * texts, cut)

    @contextmanager
    def _calling(self, bounds: Bounds) -> Iterator[None]:
        """Hold the bounds of a call, and raise BadReply if its whole time was up."""
        try:
            with bounds.hold():
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
        with Bounds(time.monotonic() + seconds).hold():
            return self.transport.answer(self._send("GET", path, timeout=timeout))

    def transfer(
        self,
        method: Method,
        path: str,
        body: Json | None = None,
        query: Mapping[str, str] | None = None,
        max_bytes: int = MAX_ANSWER_BYTES,
    ) -> bytes:
        """Return the bytes of an answer, as of a file; `max_bytes` bounds them."""
        with Bounds(self._file_deadline(), max_bytes).hold():
            return self._send(method, path, json=body, params=query).content

    def upload(self, name: str, file: IO[bytes]) -> bytes:
        """Upload a file of a batch's requests from its beginning; return the answer's bytes."""
        file.seek(0)
        files = {"file": (name, file, "application/jsonl")}
        with Bounds(self._file_deadline()).hold():
            return self._send("POST", "/files", data={"purpose": "batch"}, files=files).content

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
        self.headers: Mapping[str, str] = response.headers
        self.is_done = False
        """Whether the stream has said that it ends, by [DONE]."""

    def close(self) -> None:
        """Close its connection."""
        self._response.close()

    def events(self) -> Iterator[Json]:
        """Yield the events. Raises UnusableAnswer for a stream that can't be read."""
        transport = self._client.transport
        try:
            for data in read_stream(self._response.iter_bytes()):
                if data == DONE:
                    self.is_done = True
                    return
                value = object_or_empty(transport.event(data))
                if reported := reported_error(value):
                    raise self._client.error_within(reported, self.headers)
                yield value
        except httpx2.TimeoutException as error:
            self._client.end_at_deadline(self._bounds, error)
            raise
