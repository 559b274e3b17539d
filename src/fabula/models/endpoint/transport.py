"""The transport of an endpoint: all that it sends is bounded in time and size, and cleaned.

- *Time.* A call has a deadline, even if a byte arrives now and then: every read and write of its
  connection ends there. The deadline is enforced where the client opens its connections, because
  only there can headers be timed that arrive one byte a second.
- *Size.* Bytes are counted after decompression, piece by piece.
- *Redirects.* A redirect to another host is not followed: it would get the text and the key.
- *Texts.* They are valid Unicode without control characters, and never contain the key or the
  password that the endpoint was called with.
"""

from __future__ import annotations

import base64
import codecs
import itertools
import json
import re
import socket
import time
import zlib
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, unquote, urlsplit

import httpcore2
import httpx2
import openai

from fabula.models.clean import change_texts, clean_text
from fabula.models.endpoint.payload import join_events, object_or_empty

if TYPE_CHECKING:
    import ssl

    from fabula.models.stop import Stop

TIMEOUTS_PER_CALL = 5
"""The longest time of a whole call, as a multiple of the time without a byte (FABULA_TIMEOUT)."""
MAX_ANSWER_BYTES = 16 * 2**20
"""The largest answer, decompressed: thirty thousand streamed tokens."""
MAX_BYTES_PER_TEXT = 128 * 2**10
"""Added for each text to embed: 4,096 numbers in decimals are 90 KB."""
PIECE_BYTES = 2**16
BOM = codecs.BOM_UTF8
DONE = b"[DONE]"
"""What the last event of a stream says."""
LOSES_BODY = frozenset({301, 302, 303})
"""Statuses of redirects that make a GET of a POST."""
MIN_SECRET_LENGTH = 4
"""In characters; shorter secrets would be found inside ordinary words."""
SUSPICIOUS = re.compile(r"[\x7f-\x9f]|\\(?:[bf/]|u(?:00|[dD][89a-fA-F]))")
"""What JSON contains if a text in it may have to be cleaned, or may hide a secret by escapes."""


class UnusableAnswer(Exception):
    """What an endpoint sent can't be used; the message says why, as a clause."""


class RedirectRefused(UnusableAnswer):
    """The endpoint redirects to another address."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """The limits of one call.

    Attributes:
        end: When the call has to end, by `time.monotonic`.
        max_bytes: The most bytes of its answer.
        cut: Where it is set before the end, it ends the call, and all waiting for its bytes.
    """

    end: float
    max_bytes: int = MAX_ANSWER_BYTES
    cut: Stop | None = None

    @property
    def over(self) -> bool:
        """Whether the call's time is up."""
        return time.monotonic() >= self.end

    @contextmanager
    def hold(self) -> Iterator[None]:
        """Apply the limits to everything that this thread reads and writes meanwhile."""
        token = _bounds.set(self)
        try:
            yield
        finally:
            _bounds.reset(token)


_bounds: ContextVar[Bounds | None] = ContextVar("bounds", default=None)


def time_connections(client: httpx2.Client) -> httpx2.Client:
    """Make everything that a client reads and writes end at the `Bounds` that its thread holds.

    Returns:
        The same client.
    """
    # There is no public way to time a client's connections and keep its proxies.
    for transport in (client._transport, *client._mounts.values()):
        if isinstance(transport, httpx2.HTTPTransport):
            pool = transport._pool
            pool._network_backend = TimedBackend(pool._network_backend)
    return client


class EndpointTransport:
    """Makes the client for an endpoint, and cleans what the endpoint sends."""

    def __init__(self, url: str, key: str) -> None:
        """Keep the key, and the user and password of the URL, out of all texts."""
        parts = urlsplit(url)
        user, _, _ = parts.netloc.rpartition("@")
        password = parts.password or ""
        basic = base64.b64encode(unquote(user).encode()).decode() if user else ""
        secrets = {key, user, password, unquote(password), basic} - {"none"}
        # Some gateways take a key as a parameter.
        secrets |= {value for name, value in parse_qsl(parts.query) if name != "api-version"}
        longest_first = sorted(secrets, key=len, reverse=True)
        pattern = "|".join(re.escape(s) for s in longest_first if len(s) >= MIN_SECRET_LENGTH)
        self._secret = re.compile(pattern or r"(?!)", re.IGNORECASE)

    def client(self, timeout: openai.Timeout, *, bearer: bool = True) -> httpx2.Client:
        """Return a client that applies the bounds of each call to its connections and answers.

        Args:
            timeout: The longest time without a byte.
            bearer: Whether the key is sent as a Bearer. Azure takes such a key for a token.
        """
        requests = [] if bearer else [_drop_bearer]
        client = openai.DefaultHttpxClient(
            timeout=timeout,
            headers={"Accept-Encoding": "gzip"},
            event_hooks={"request": requests, "response": [_bound_response]},
        )
        return time_connections(client)

    def text(self, text: str) -> str:
        """Return `text` cleaned and without secrets."""
        return self._secret.sub("***", clean_text(text))

    def line(self, text: object) -> str:
        """Return the beginning of `text` on one line, for a message."""
        return " ".join(self.text(str(text)[:PIECE_BYTES]).split())[:300]

    def value(self, value: Any) -> Any:
        """Return a JSON value, its texts cleaned and without secrets. Raises UnusableAnswer."""
        try:
            return change_texts(value, self.text)
        except RecursionError as error:
            raise UnusableAnswer("its JSON is nested too deeply") from error

    def json(self, content: bytes) -> Any:
        """Return the JSON value of an answer. Raises UnusableAnswer."""
        try:
            text = content.decode(json.detect_encoding(content), "replace").lstrip("\ufeff")
            value = json.loads(text)
        except (ValueError, RecursionError) as error:
            is_deep = isinstance(error, RecursionError)
            why = "it is nested too deeply" if is_deep else self.line(error)
            raise UnusableAnswer(f"its answer is not JSON: {why}") from error
        return self.value(value) if SUSPICIOUS.search(text) or self._secret.search(text) else value

    def answer(self, response: httpx2.Response) -> Any:
        """Return the JSON value of a good answer; None if it is no JSON, as a web page.

        What counts is what was sent: some servers send JSON as text, or as nothing in particular.
        An endpoint that streams though that was not asked for has its events put together.

        Raises:
            UnusableAnswer: The answer calls itself JSON, and is broken.
        """
        kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
        content = response.content
        begin = content[:1000].removeprefix(BOM).lstrip()
        if kind.endswith("json") or begin[:1] in (b"{", b"["):
            return self.json(content)
        if kind == "text/event-stream" or begin.startswith((b"data:", b"event:", b": ", b"error:")):
            events = [self.json(data) for data in event_data([content]) if data != DONE]
            return join_events(list(map(object_or_empty, events)))
        return None


def _drop_bearer(request: httpx2.Request) -> None:
    request.headers.pop("Authorization", None)


def _bound_response(response: httpx2.Response) -> None:
    """Check the headers of an answer, and bound its body. Raises UnusableAnswer."""
    if response.has_redirect_location:
        _check_redirect(response)
    coding = response.headers.get("content-encoding", "identity").strip().lower()
    if coding not in ("identity", "gzip", ""):
        raise UnusableAnswer(
            f"its answer has the encoding {coding[:40]!r}, which was not asked for"
        )
    # The body is decompressed here: the client must not do it again, nor guess its encoding.
    response.headers.pop("content-encoding", None)
    response.encoding = "utf-8"
    bounds = _bounds.get()
    if bounds is not None and isinstance(response.stream, httpx2.SyncByteStream):
        response.stream = _Bounded(response.stream, bounds, packed=coding == "gzip")


def _check_redirect(response: httpx2.Response) -> None:
    here = response.url
    try:
        there = here.join(response.headers["location"])
    except (httpx2.InvalidURL, ValueError) as error:
        raise RedirectRefused("it redirects to an invalid address") from error
    same_port = (there.scheme, there.port) == (here.scheme, here.port)
    if there.host != here.host or not (same_port or there.scheme == "https"):
        raise RedirectRefused(
            f"it redirects to {clean_text(there.host)[:100]!r}, which was not followed. If you "
            "trust that host, set OPENAI_BASE_URL to its address"
        )
    if response.request.method == "POST" and response.status_code in LOSES_BODY:
        # As from http to https: the call would come there without its body.
        raise RedirectRefused(
            f"it redirects to {there.scheme}://{clean_text(there.host)[:100]} in a way that loses "
            "what is sent. Set OPENAI_BASE_URL to the address there, which often begins with https"
        )


class _Bounded(httpx2.SyncByteStream):
    """An answer's body, decompressed; it raises an error beyond the bounds of its call."""

    def __init__(self, body: httpx2.SyncByteStream, bounds: Bounds, *, packed: bool) -> None:
        self._body, self._bounds, self._packed = body, bounds, packed

    def __iter__(self) -> Iterator[bytes]:
        pieces, count = iter(self._body), 0
        unpack = _Gzip().unpack if self._packed else _pass_through
        while True:
            # A stream may be read on by another thread than the one that began the call.
            with self._bounds.hold():
                packed = next(pieces, None)
            if packed is None:
                return
            for piece in unpack(packed):
                count += len(piece)
                if count > self._bounds.max_bytes:
                    raise UnusableAnswer(
                        f"its answer is larger than {self._bounds.max_bytes / 2**20:.0f} MB"
                    )
                if self._bounds.over:
                    raise httpx2.ReadTimeout("The time of the call is over.")
                yield piece

    def close(self) -> None:
        self._body.close()


def event_data(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the data of each event of a stream, or of a JSON object that is sent in its place.

    The object becomes the only event. It is known by its first byte, as the content type says
    nothing that could be relied on: no line of a stream of events begins with a brace.

    Events without data are left out. Servers and proxies send them to keep the connection open, as
    comments after an `id`, as `retry: 3000` or as an empty `data:`.

    Raises:
        UnusableAnswer: It is a web page.
    """
    pieces, begin = iter(pieces), b""
    for piece in pieces:
        begin = (begin + piece).removeprefix(BOM)
        if begin.lstrip():
            break
    first = begin.lstrip()[:1]
    if first == b"<":
        raise UnusableAnswer("it sent a web page: check OPENAI_BASE_URL, which often ends with /v1")
    if first == b"{":
        yield begin + b"".join(pieces)
        yield DONE
        return
    data: list[bytes] = []
    for line in map(_error_as_data, _lines(itertools.chain([begin], pieces))):
        is_data = line.startswith(b"data:")
        # Some servers leave out the blank line between events, or behind the last one.
        if data and (not line or (is_data and _is_whole(data))):
            yield b"\n".join(data)
            data = []
        if is_data and (text := line.removeprefix(b"data:").strip()):
            data.append(text)
    # Of an event that the end of the stream has cut, nothing is used.
    if _is_whole(data):
        yield b"\n".join(data)


def _error_as_data(line: bytes) -> bytes:
    """A line with an error as llama.cpp sent it before September 2025, as data; others as it is."""
    if not line.startswith(b"error:"):
        return line
    return b'data: {"error": %s}' % _as_json(line.partition(b":")[2])


def _lines(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """The lines of a stream without their ends; the last one may not be whole."""
    line: list[bytes] = []
    ends_with_return = False
    for piece in pieces:
        # A line break of two bytes may come in two pieces.
        start, *others = _LINE_BREAK.split(piece.removeprefix(b"\n") if ends_with_return else piece)
        ends_with_return = piece.endswith(b"\r")
        line.append(start)
        for next_line in others:
            yield b"".join(line)
            line = [next_line]
    yield b"".join(line)


def _is_whole(data: list[bytes]) -> bool:
    """Return whether the data of an event is whole JSON, or says that the stream ends."""
    return data == [DONE] or (bool(data) and _is_json(b"\n".join(data)))


def _is_json(value: bytes) -> bool:
    try:
        json.loads(value)
    except (ValueError, RecursionError):
        return False
    return True


def _as_json(value: bytes) -> bytes:
    """A value of a stream's field as JSON; what is none becomes a text."""
    return (
        value if _is_json(value) else json.dumps(value.decode("utf-8", "replace").strip()).encode()
    )


_LINE_BREAK = re.compile(rb"\r\n|\n|\r")


def _pass_through(piece: bytes) -> list[bytes]:
    return [piece]


class _Gzip:
    """Decompresses in small pieces, as gzip may make a thousand bytes of one."""

    def __init__(self) -> None:
        self._unpacking = zlib.decompressobj(zlib.MAX_WBITS | 32)

    def unpack(self, packed: bytes) -> Iterator[bytes]:
        """Yield the decompressed data in pieces. Raises UnusableAnswer."""
        while packed:
            try:
                yield self._unpacking.decompress(packed, PIECE_BYTES)
            except zlib.error as error:
                raise UnusableAnswer("its answer is not valid gzip, as its header says") from error
            packed = self._unpacking.unconsumed_tail


class TimedBackend(httpcore2.NetworkBackend):
    """Opens connections on which all reads and writes are timed."""

    def __init__(self, backend: httpcore2.NetworkBackend) -> None:
        self._backend = backend

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.NetworkStream:
        """Open a timed connection to a host."""
        return _TimedStream(
            self._backend.connect_tcp(
                host, port, _remaining(timeout), local_address, socket_options
            )
        )


class _TimedStream(httpcore2.NetworkStream):
    """A connection on which no read or write lasts longer than the call that uses it."""

    def __init__(self, stream: httpcore2.NetworkStream) -> None:
        self._stream = stream

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        with self._cut_off():
            return self._stream.read(max_bytes, _remaining(timeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        with self._cut_off():
            for begin in range(0, len(buffer), PIECE_BYTES):
                self._stream.write(buffer[begin : begin + PIECE_BYTES], _remaining(timeout))

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore2.NetworkStream:
        with self._cut_off():
            secured = self._stream.start_tls(ssl_context, server_hostname, _remaining(timeout))
        return _TimedStream(secured)

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)

    def _cut_off(self) -> AbstractContextManager[None]:
        """Meanwhile, let the call's `cut` end the connection, and with it this thread's waiting."""
        bounds = _bounds.get()
        if bounds is None or bounds.cut is None:
            return nullcontext()
        return bounds.cut.calling(self._disconnect)

    def _disconnect(self) -> None:
        connection = self._stream.get_extra_info("socket")
        if isinstance(connection, socket.socket):
            # Closing the socket would not wake a thread that reads from it. The `shutdown` of an
            # SSLSocket also drops the TLS state that the reader is using, so the plain one is
            # called.
            with suppress(OSError):
                socket.socket.shutdown(connection, socket.SHUT_RDWR)


def _remaining(timeout: float | None) -> float | None:
    """The seconds that the next read or write may take. Raises ReadTimeout at the deadline."""
    bounds = _bounds.get()
    if bounds is None:
        return timeout
    seconds = bounds.end - time.monotonic()
    if seconds <= 0:
        raise httpcore2.ReadTimeout("The time of the call is over.")
    return seconds if timeout is None else min(timeout, seconds)
