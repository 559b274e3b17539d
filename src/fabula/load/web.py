"""A document at an https address: fetched within bounds of bytes and time.

Whoever writes a page that is fetched may send on to any address: it is followed to public ones
alone, so that nothing behind a firewall is asked on a stranger's word.
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
from fabula.models.transport import Bounds, TimedBackend

SECONDS = 120.0
"""That a document may take, from the first name that is looked up to the last byte."""
_REDIRECTS = 5
_SILENCE = 30.0
"""Seconds that a server may say nothing."""
_MOVED = (301, 302, 303, 307, 308)
_HEADERS: dict[bytes | str, bytes | str] = {
    "User-Agent": "fabula",
    "Accept": "*/*",
    "Accept-Encoding": "identity",
}
_TIMEOUTS = dict.fromkeys(("connect", "read", "write", "pool"), _SILENCE)


class _Refused(Exception):
    """Why an address is not asked, or what it sent is not taken."""


def address(given: str) -> str:
    """An address as it is known by: without a fragment. LoadError if it is none to fetch."""
    try:
        url = _checked(httpx2.URL(given))
    except (_Refused, httpx2.InvalidURL) as error:
        shown = re.sub("//[^/]*@", "//***@", printable(given))
        raise LoadError(f"{shown} can't be fetched: {error}.") from error
    return str(url)


def fetch(url: str, most: int, seconds: float = SECONDS) -> bytes:
    """What is at an https address. LoadError, naming it, if it can't be had within the bounds."""
    network = _Careful()
    try:
        with (
            Bounds(time.monotonic() + seconds).hold(),
            httpcore2.ConnectionPool(network_backend=TimedBackend(network)) as pool,
        ):
            return _followed(pool, url, most)
    except (_Refused, httpx2.InvalidURL) as error:
        raise LoadError(f"{url} can't be fetched: {error}.") from error
    except httpcore2.TimeoutException as error:
        raise LoadError(
            f"{url} can't be fetched: it takes more than {seconds:.0f} seconds, or is silent."
        ) from error
    except (httpcore2.NetworkError, httpcore2.ProtocolError, OSError) as error:
        raise LoadError(f"{url} can't be fetched: {printable(str(error))}.") from error


def _followed(pool: httpcore2.ConnectionPool, url: str, most: int) -> bytes:
    place = httpx2.URL(url)
    for _ in range(_REDIRECTS + 1):
        target = httpcore2.URL(
            scheme=place.raw_scheme, host=place.raw_host, port=place.port, target=place.raw_path
        )
        with pool.stream(
            "GET", target, headers=_HEADERS, extensions={"timeout": _TIMEOUTS}
        ) as response:
            headers = {
                name.lower().decode("latin-1"): value.decode("latin-1")
                for name, value in response.headers
            }
            if response.status in _MOVED:
                place = _checked(place.join(headers.get("location", "")))
                continue
            if response.status != 200:
                raise _Refused(f"the server answers {response.status}")
            if headers.get("content-encoding", "identity").lower() not in ("identity", ""):
                raise _Refused("it is packed in a way that was not asked for")
            return _body(response.iter_stream(), url, most)
    raise _Refused(f"it sends on more than {_REDIRECTS} times")


def _body(pieces: Iterable[bytes], url: str, most: int) -> bytes:
    body = bytearray()
    for piece in pieces:
        body += piece
        if len(body) > most:
            raise too_large(url, len(body), most)
    return bytes(body)


def _checked(url: httpx2.URL) -> httpx2.URL:
    if url.scheme != "https":
        raise _Refused("only https addresses are")
    if not url.host:
        raise _Refused("it names no host")
    if url.userinfo:
        raise _Refused("an address with a password in it would be kept in the graph")
    return url.copy_with(fragment=None)


class _Careful(httpcore2.NetworkBackend):
    """Connects to the first server that is asked for, and from there on to public addresses alone.

    The address that was checked is the one that is connected to, whatever the name means a moment
    later.
    """

    def __init__(self) -> None:
        self._network = httpcore2.SyncBackend()
        self._named: set[tuple[str, int]] = set()
        """The addresses and the port of the server that the user named."""

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.NetworkStream:
        """A connection to one of a host's addresses. Raises _Refused where none may be asked."""
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        addresses = list(dict.fromkeys(str(one[4][0]) for one in found))
        self._named = self._named or {(one, port) for one in addresses}
        allowed = [one for one in addresses if (one, port) in self._named or is_public(one)]
        if not allowed:
            raise _Refused(f"it sends on to {host!r}, whose address is a private one")
        for last, one in enumerate(allowed, start=1 - len(allowed)):
            try:
                return self._network.connect_tcp(one, port, timeout, local_address, socket_options)
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout):
                if not last:
                    raise
        raise AssertionError("one of the addresses was tried last")


def is_public(address: str) -> bool:
    """Whether an IP address is anybody's to ask: of no network of one's own, and no group."""
    ip = ipaddress.ip_address(address.partition("%")[0])
    ip = getattr(ip, "ipv4_mapped", None) or ip
    return ip.is_global and not ip.is_multicast
