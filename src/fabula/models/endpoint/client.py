"""The HTTP client of an endpoint: it sends requests once, and reads answers and streams.

What an endpoint answers with an error is raised as an `ErrorResponse`; what breaks off or can't be
read, as one of `BROKEN`, or as an `UnusableAnswer`. Whether to try again is decided elsewhere.
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
import openai

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
    event_data,
)
from fabula.models.stop import Stop

CONNECT_SECONDS = 10.0
FILE_TIMEOUTS = 20
"""The longest time of an upload or a download, as a multiple of FABULA_TIMEOUT."""
TOKEN = "eyJ"
"""How a token of Microsoft Entra begins. It is a JWT, and is sent as a Bearer also at Azure."""
BROKEN = (openai.APIError, httpx2.TransportError)
"""Errors of a connection or an answer that ends too early; not all are wrapped by the client."""
_EVENTS = openai.Stream[Any]
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
        limits = openai.Timeout(timeout, connect=min(timeout, CONNECT_SECONDS))
        has_api_key = address.has_api_key_header and not key.startswith(TOKEN)
        self._client = openai.OpenAI(
            base_url=address.base,
            default_query=address.query,
            default_headers={"api-key": key} if has_api_key else {},
            api_key=key,
            timeout=limits,
            http_client=self.transport.client(limits, bearer=not has_api_key),
            # The client would retry twice by itself; all retries are in `EndpointRetries`.
            max_retries=0,
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
            # `post` with plain dictionaries: the client's typed methods take 1.5 times the CPU.
            return self._client.post(path, body=request, cast_to=httpx2.Response)

    def open_stream(self, path: str, request: Json, cut: Stop | None) -> AnswerEvents:
        """Send a request whose answer is a stream; arguments are those of `post`."""
        bounds = self._bounds(request, cut)
        with self._calling(bounds):
            stream = self._client.post(
                path,
                body=request,
                cast_to=object,
                stream=True,
                stream_cls=_EVENTS,
            )
        return AnswerEvents(self, stream, bounds)

    def _bounds(self, request: Json, cut: Stop | None) -> Bounds:
        texts = len(request.get("input") or ())
        end = time.monotonic() + TIMEOUTS_PER_CALL * self._timeout
        max_bytes = MAX_ANSWER_BYTES + MAX_BYTES_PER_TEXT * texts
        return Bounds(end, max_bytes, cut)

    @contextmanager
    def _within(self, bounds: Bounds) -> Iterator[None]:
        """Hold the bounds of a call, and raise an ErrorResponse for an error's status."""
        try:
            with bounds.hold():
                yield
        except openai.APIStatusError as error:
            raise self._error_response(error.response) from error

    @contextmanager
    def _calling(self, bounds: Bounds) -> Iterator[None]:
        """Do as `_within` does, and raise BadReply if the time of a model's call was up."""
        try:
            with self._within(bounds):
                yield
        except openai.APITimeoutError as error:
            self.end_at_deadline(bounds, error)
            raise

    def fetch(self, path: str, seconds: float) -> Any:
        """Return the value of the answer to a GET request, which is about no model.

        Args:
            path: The path below the endpoint's URL.
            seconds: How long the whole answer may take.
        """
        options: Any = {"timeout": openai.Timeout(seconds, connect=min(seconds, CONNECT_SECONDS))}
        with self._within(Bounds(time.monotonic() + seconds)):
            response = self._client.get(path, cast_to=httpx2.Response, options=options)
        return self.transport.answer(response)

    def transfer(
        self,
        method: Method,
        path: str,
        body: Json | None = None,
        query: Mapping[str, str] | None = None,
        max_bytes: int = MAX_ANSWER_BYTES,
    ) -> bytes:
        """Return the bytes of an answer, as of a file; `max_bytes` bounds them."""
        with self._within(Bounds(self._file_deadline(), max_bytes)):
            if method == "POST":
                return self._client.post(path, body=body, cast_to=httpx2.Response).content
            options: Any = {"params": dict(query or {})}
            do = self._client.delete if method == "DELETE" else self._client.get
            return do(path, cast_to=httpx2.Response, options=options).content

    def upload(self, name: str, file: IO[bytes]) -> bytes:
        """Upload a file of a batch's requests from its beginning; return the answer's bytes."""
        file.seek(0)
        with self._within(Bounds(self._file_deadline())):
            return self._client.files.with_raw_response.create(
                file=(name, file, "application/jsonl"), purpose="batch"
            ).content

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
    """A stream that an endpoint has begun to answer with.

    Attributes:
        headers: The answer's headers.
        is_done: Whether the stream has said that it ends, by [DONE], or was one whole object.
    """

    def __init__(self, client: EndpointClient, stream: openai.Stream[Any], bounds: Bounds) -> None:
        self._client, self._stream, self._bounds = client, stream, bounds
        self.headers: Mapping[str, str] = stream.response.headers
        self.is_done = False

    def close(self) -> None:
        """Close its connection."""
        self._stream.close()

    def events(self) -> Iterator[Json]:
        """Yield the events. Raises UnusableAnswer for a stream that can't be read."""
        # Not by the client's own parser, which takes much of what servers send for broken JSON.
        request = self._stream.response.request
        try:
            for data in event_data(self._stream.response.iter_bytes()):
                self.is_done = self.is_done or data.startswith(DONE)
                if self.is_done:
                    continue
                value = self._read(data)
                if reported := reported_error(value):
                    raise self._client.error_within(reported, self.headers)
                yield value
        except httpx2.TimeoutException as error:
            self._client.end_at_deadline(self._bounds, error)
            raise openai.APITimeoutError(request) from error
        except httpx2.RequestError as error:
            raise openai.APIConnectionError(request=request) from error

    def _read(self, data: bytes) -> Json:
        transport = self._client.transport
        try:
            return object_or_empty(transport.json(data))
        except UnusableAnswer as error:
            # Some servers send their errors as plain text.
            text = transport.line(data.decode("utf-8", "replace"))
            raise UnusableAnswer(f"its stream has something else than JSON: {text}") from error
