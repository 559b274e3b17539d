"""The border of an endpoint: all that it sends comes in here, bounded in time and size, and clean.

- *Time.* A call has a deadline, whatever trickles in: each read and write of its connection ends
  there. That is set where the client opens its connections, as only there a header can be timed
  that comes a byte a second.
- *Size.* Bytes are counted after decompression, piece by piece.
- *Place.* A redirect to another host is not followed: the text and the key are not for it.
- *Encoding.* Texts are whole Unicode without control characters, and never hold the key or the
  password that the endpoint was called with.
"""

from __future__ import annotations

import base64
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
from urllib.parse import unquote, urlsplit

import httpcore2
import httpx2
import openai

from fabula.models.clean import clean_json, clean_text

if TYPE_CHECKING:
    import ssl

    from fabula.models.stop import Stop

WHOLE = 5
"""A call may last so many times the seconds that a byte may take to come (FABULA_TIMEOUT)."""
MOST_BYTES = 16 * 2**20
"""Of one answer, decompressed: thirty thousand streamed tokens."""
BYTES_A_TEXT = 128 * 2**10
"""More for each text to embed: 4,096 numbers in decimals are 90 KB."""
PIECE = 2**16
SHORTEST_SECRET = 4
"""Characters; shorter ones stand in words that have nothing to do with them."""
ODD = re.compile(r"[\x7f-\x9f]|\\(?:[bf/]|u(?:00|[dD][89a-fA-F]))")
"""What JSON must contain if a text in it has to be cleaned, or hides something by escapes."""


class Unfit(Exception):
    """What an endpoint sent can't be used; the message says why."""


class Elsewhere(Unfit):
    """It sends on to another address."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """Of one call: when it ends, by `time.monotonic`, and the bytes that its answer may have.

    `cut`, where it is set before, ends it then: whoever waits for a byte of it waits no more.
    """

    end: float
    most: int = MOST_BYTES
    cut: Stop | None = None

    @property
    def over(self) -> bool:
        """Whether the call's time is up."""
        return time.monotonic() >= self.end

    @contextmanager
    def hold(self) -> Iterator[None]:
        """All that this thread reads and writes meanwhile is within the bounds."""
        before = _bounds.set(self)
        try:
            yield
        finally:
            _bounds.reset(before)


_bounds: ContextVar[Bounds | None] = ContextVar("bounds", default=None)


def time_connections(client: httpx2.Client) -> httpx2.Client:
    """Have all that a client reads and writes end with the `Bounds` that its thread holds."""
    # Its own way of making connections is kept, with its proxies; there is no public one to time
    # them.
    for transport in (client._transport, *client._mounts.values()):
        if isinstance(transport, httpx2.HTTPTransport):
            pool = transport._pool
            pool._network_backend = TimedBackend(pool._network_backend)
    return client


class Border:
    """What comes from an endpoint that is called at `url` with `key`."""

    def __init__(self, url: str, key: str) -> None:
        parts = urlsplit(url)
        user, _, _ = parts.netloc.rpartition("@")
        password = parts.password or ""
        basic = base64.b64encode(unquote(user).encode()).decode() if user else ""
        known = {key, user, password, unquote(password), basic} - {"none"}
        secrets = sorted((one for one in known if len(one) >= SHORTEST_SECRET), key=len)
        known_by = "|".join(map(re.escape, reversed(secrets)))
        self._secret = re.compile(known_by or r"(?!)", re.IGNORECASE)

    def client(self, timeout: openai.Timeout) -> httpx2.Client:
        """A client whose connections and answers are held to the bounds of each call."""
        client = openai.DefaultHttpxClient(
            timeout=timeout,
            headers={"Accept-Encoding": "gzip"},
            event_hooks={"response": [_enter]},
        )
        return time_connections(client)

    def text(self, text: str) -> str:
        """`text` clean, and without secrets."""
        return self._secret.sub("***", clean_text(text))

    def line(self, text: object) -> str:
        """The beginning of `text` on one line, for a message."""
        return " ".join(self.text(str(text)[:PIECE]).split())[:300]

    def value(self, value: Any) -> Any:
        """A JSON value, its texts clean and without secrets. Raises Unfit."""
        try:
            return self._without_secrets(clean_json(value))
        except RecursionError as error:
            raise Unfit("its JSON is nested too deeply") from error

    def json(self, content: bytes) -> Any:
        """The value of an answer. Raises Unfit."""
        try:
            text = content.decode(json.detect_encoding(content), "replace")
            value = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise Unfit(f"its answer is no JSON: {self.line(error)}") from error
        return self.value(value) if ODD.search(text) or self._secret.search(text) else value

    def _without_secrets(self, value: Any) -> Any:
        if isinstance(value, str):
            return self._secret.sub("***", value)
        if isinstance(value, list):
            return [self._without_secrets(one) for one in value]
        if isinstance(value, dict):
            return {key: self._without_secrets(one) for key, one in value.items()}
        return value


def _enter(response: httpx2.Response) -> None:
    """An answer whose head has come: its body will be within the bounds. Raises Unfit."""
    if response.has_redirect_location:
        _check_redirect(response.url, response.headers["location"])
    coding = response.headers.get("content-encoding", "identity").strip().lower()
    if coding not in ("identity", "gzip", ""):
        raise Unfit(f"its answer is packed as {coding[:40]!r}, which was not asked for")
    # By this header the client would unpack it again, and by this one name its encoding.
    response.headers.pop("content-encoding", None)
    response.encoding = "utf-8"
    bounds = _bounds.get()
    if bounds is not None and isinstance(response.stream, httpx2.SyncByteStream):
        response.stream = _Bounded(response.stream, bounds, packed=coding == "gzip")


def _check_redirect(here: httpx2.URL, location: str) -> None:
    try:
        there = here.join(location)
    except (httpx2.InvalidURL, ValueError) as error:
        raise Elsewhere("it redirects to an address that is none") from error
    same = (there.scheme, there.port) == (here.scheme, here.port) or there.scheme == "https"
    if there.host != here.host or not same:
        raise Elsewhere(
            f"it redirects to {clean_text(there.host)[:100]!r}, which was not followed: "
            "set OPENAI_BASE_URL to where it has moved, if you trust that"
        )


class _Bounded(httpx2.SyncByteStream):
    """An answer's body, unpacked, that ends with an error beyond the bounds of its call."""

    def __init__(self, body: httpx2.SyncByteStream, bounds: Bounds, *, packed: bool) -> None:
        self._body, self._bounds, self._packed = body, bounds, packed

    def __iter__(self) -> Iterator[bytes]:
        pieces, count = iter(self._body), 0
        unpack = _Gzip().unpack if self._packed else _as_it_is
        while True:
            # Whoever reads on may be another thread than the one that began.
            with self._bounds.hold():
                packed = next(pieces, None)
            if packed is None:
                return
            for piece in unpack(packed):
                count += len(piece)
                if count > self._bounds.most:
                    raise Unfit(f"its answer is larger than {self._bounds.most / 2**20:.0f} MB")
                if self._bounds.over:
                    raise httpx2.ReadTimeout("The call's time is up.")
                yield piece

    def close(self) -> None:
        self._body.close()


def _as_it_is(piece: bytes) -> list[bytes]:
    return [piece]


class _Gzip:
    """Unpacks a little at a time: a thousandth of what it holds is enough for gzip."""

    def __init__(self) -> None:
        self._unpacking = zlib.decompressobj(zlib.MAX_WBITS | 32)

    def unpack(self, packed: bytes) -> Iterator[bytes]:
        """What `packed` holds, in pieces. Raises Unfit."""
        while packed:
            try:
                yield self._unpacking.decompress(packed, PIECE)
            except zlib.error as error:
                raise Unfit("its answer is not packed as it says") from error
            packed = self._unpacking.unconsumed_tail


class TimedBackend(httpcore2.NetworkBackend):
    """Makes connections that are timed."""

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
        """A timed connection to a host."""
        return _TimedStream(
            self._backend.connect_tcp(host, port, _left(timeout), local_address, socket_options)
        )

    def connect_unix_socket(
        self, path: str, timeout: float | None = None, socket_options: Iterable[Any] | None = None
    ) -> httpcore2.NetworkStream:
        """A timed connection to a socket."""
        return _TimedStream(self._backend.connect_unix_socket(path, _left(timeout), socket_options))

    def sleep(self, seconds: float) -> None:
        """Waits."""
        self._backend.sleep(seconds)


class _TimedStream(httpcore2.NetworkStream):
    """A connection on which nothing lasts longer than the call that uses it."""

    def __init__(self, stream: httpcore2.NetworkStream) -> None:
        self._stream = stream

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        with self._hanging_up():
            return self._stream.read(max_bytes, _left(timeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        with self._hanging_up():
            for begin in range(0, len(buffer), PIECE):
                self._stream.write(buffer[begin : begin + PIECE], _left(timeout))

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore2.NetworkStream:
        with self._hanging_up():
            secured = self._stream.start_tls(ssl_context, server_hostname, _left(timeout))
        return _TimedStream(secured)

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)

    def _hanging_up(self) -> AbstractContextManager[None]:
        """Meanwhile the call's `cut` ends the connection, on which another thread waits."""
        bounds = _bounds.get()
        if bounds is None or bounds.cut is None:
            return nullcontext()
        return bounds.cut.telling(self._hang_up)

    def _hang_up(self) -> None:
        connection = self._stream.get_extra_info("socket")
        if isinstance(connection, socket.socket):
            # To close it would not wake who reads. Not its own `shutdown`, by which one with TLS
            # forgets, too, what its reader is using.
            with suppress(OSError):
                socket.socket.shutdown(connection, socket.SHUT_RDWR)


def _left(timeout: float | None) -> float | None:
    """Seconds that the next read or write may take. Raises ReadTimeout when the time is up."""
    bounds = _bounds.get()
    if bounds is None:
        return timeout
    left = bounds.end - time.monotonic()
    if left <= 0:
        raise httpcore2.ReadTimeout("The call's time is up.")
    return left if timeout is None else min(timeout, left)
