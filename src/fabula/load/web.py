"""Fetch a document from an https URL, within limits of size and time.

A page may redirect to any address. Only redirects to public addresses are followed, so that no
stranger can make us call a server behind a firewall.
"""

from __future__ import annotations

import ipaddress
import re
import socket
import time
from collections.abc import Iterable
from typing import Any

import httpcore2
import httpx2

from fabula.errors import LoadError
from fabula.load.files import printable, too_large
from fabula.models.endpoint.transport import Bounds, TimedBackend

MAX_SECONDS = 120.0
"""The longest time to fetch a document, from the first DNS lookup to the last byte."""
_MAX_REDIRECTS = 5
_SILENCE_SECONDS = 30.0
"""The longest time without a byte."""
_MOVED = (301, 302, 303, 307, 308)
_HEADERS: dict[bytes | str, bytes | str] = {
    "User-Agent": "fabula",
    "Accept": "*/*",
    "Accept-Encoding": "identity",
}
_TIMEOUTS = dict.fromkeys(("connect", "read", "write", "pool"), _SILENCE_SECONDS)


class _Refused(Exception):
    """Why a URL is not fetched, or its answer not used, as a clause."""


def address(text: str) -> str:
    """Return a URL without its fragment, as documents are known by it.

    Raises:
        LoadError: It is not an https URL without a password.
    """
    try:
        url = _check(httpx2.URL(text))
    except (_Refused, httpx2.InvalidURL) as error:
        redacted = re.sub("//[^/]*@", "//***@", printable(text))
        raise LoadError(f"{redacted} can't be fetched: {error}.") from error
    return str(url)


def fetch(url: str, max_bytes: int, seconds: float = MAX_SECONDS) -> bytes:
    """Return the content at an https URL. Raises LoadError if that fails within the limits."""
    network = _GuardedBackend()
    try:
        with (
            Bounds(time.monotonic() + seconds).hold(),
            httpcore2.ConnectionPool(network_backend=TimedBackend(network)) as pool,
        ):
            return _follow(pool, url, max_bytes)
    except (_Refused, httpx2.InvalidURL) as error:
        raise LoadError(f"{url} can't be fetched: {error}.") from error
    except httpcore2.TimeoutException as error:
        raise LoadError(
            f"{url} can't be fetched: it takes more than {seconds:.0f} seconds, or sends nothing."
        ) from error
    except (httpcore2.NetworkError, httpcore2.ProtocolError, OSError) as error:
        raise LoadError(f"{url} can't be fetched: {printable(str(error))}.") from error


def _follow(pool: httpcore2.ConnectionPool, url: str, max_bytes: int) -> bytes:
    current = httpx2.URL(url)
    for _ in range(_MAX_REDIRECTS + 1):
        target = httpcore2.URL(
            scheme=current.raw_scheme,
            host=current.raw_host,
            port=current.port,
            target=current.raw_path,
        )
        with pool.stream(
            "GET", target, headers=_HEADERS, extensions={"timeout": _TIMEOUTS}
        ) as response:
            headers = {
                name.lower().decode("latin-1"): value.decode("latin-1")
                for name, value in response.headers
            }
            if response.status in _MOVED:
                current = _check(current.join(headers.get("location", "")))
                continue
            if response.status != 200:
                raise _Refused(f"the server answers {response.status}")
            if headers.get("content-encoding", "identity").lower() not in ("identity", ""):
                raise _Refused("it is packed in a way that was not asked for")
            return _body(response.iter_stream(), url, max_bytes)
    raise _Refused(f"it redirects more than {_MAX_REDIRECTS} times")


def _body(pieces: Iterable[bytes], url: str, max_bytes: int) -> bytes:
    body = bytearray()
    for piece in pieces:
        body += piece
        if len(body) > max_bytes:
            raise too_large(url, len(body), max_bytes)
    return bytes(body)


def _check(url: httpx2.URL) -> httpx2.URL:
    if url.scheme != "https":
        raise _Refused("only https addresses are allowed")
    if not url.host:
        raise _Refused("it has no host")
    if url.userinfo:
        raise _Refused("its password would be stored in the graph")
    return url.copy_with(fragment=None)


class _GuardedBackend(httpcore2.NetworkBackend):
    """Connects to the server of the first URL, and after it only to public addresses.

    It connects to the address that was checked, whatever the host name resolves to a moment later.
    """

    def __init__(self) -> None:
        self._network = httpcore2.SyncBackend()
        self._trusted: set[tuple[str, int]] = set()
        """The addresses and the port of the server in the user's URL."""

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.NetworkStream:
        """Connect to one of a host's addresses. Raises _Refused if none is allowed."""
        infos = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        addresses = list(dict.fromkeys(str(info[4][0]) for info in infos))
        self._trusted = self._trusted or {(ip, port) for ip in addresses}
        allowed = [ip for ip in addresses if (ip, port) in self._trusted or is_public(ip)]
        if not allowed:
            raise _Refused(f"it redirects to {host!r}, whose address is a private one")
        for tries_left, ip in enumerate(allowed, start=1 - len(allowed)):
            try:
                return self._network.connect_tcp(ip, port, timeout, local_address, socket_options)
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout):
                if not tries_left:
                    raise
        raise AssertionError("the last address returns or raises")


def is_public(address: str) -> bool:
    """Return whether an IP address is public: not of a private network, and not multicast."""
    ip = ipaddress.ip_address(address.partition("%")[0])
    ip = getattr(ip, "ipv4_mapped", None) or ip
    return ip.is_global and not ip.is_multicast
