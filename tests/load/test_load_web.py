"""Documents at https addresses: what is fetched, and what is not followed."""

from __future__ import annotations

import ssl
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from book_files import CHAPTERS, epub
from cases import for_each
from fabula.errors import LoadError
from fabula.load.sources import find_sources
from fabula.load.web import address, fetch, is_public

pytestmark = pytest.mark.waits

CERTIFICATE = Path(__file__).parents[1] / "data" / "localhost.pem"
"""Of nobody but these tests, with its key."""
STORY = "Once upon a time there was a keeper. He lit the lamp at six."
BOOK = epub(CHAPTERS)


class Pages(BaseHTTPRequestHandler):
    """A server of few pages; /to?X sends on to X."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        name, _, rest = self.path.partition("?")
        if name == "/to":
            self.send_response(302)
            self.send_header("Location", rest)
            self.send_header("Content-Length", "0")
            self.end_headers()
        elif name == "/slow":
            self.trickle(b"HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\n" + b"a" * 900)
        elif name == "/slow-head":
            self.trickle(b"HTTP/1.1 200 OK\r\n" + b"X-A: b\r\n" * 100)
        else:
            pages = {"/story": STORY.encode(), "/book": BOOK, "/large": b"word " * 10_000}
            self.send_response(200 if name in pages else 404)
            self.send_header("Content-Length", str(len(pages.get(name, b""))))
            if rest:
                self.send_header("Content-Encoding", rest)
            self.end_headers()
            self.wfile.write(pages.get(name, b""))

    def trickle(self, said: bytes) -> None:
        try:
            for byte in said:
                self.wfile.write(bytes([byte]))
                time.sleep(0.2)
        except OSError:
            self.close_connection = True

    def log_message(self, format: str, *args: object) -> None:
        pass


class Quiet(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        """Who hangs up is no error."""


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The address of a server on this machine, whose certificate is trusted meanwhile."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(CERTIFICATE)
    monkeypatch.setenv("SSL_CERT_FILE", str(CERTIFICATE))
    with Quiet(("127.0.0.1", 0), Pages) as server:
        server.socket = context.wrap_socket(server.socket, server_side=True)
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        yield f"https://localhost:{server.server_port}"
        server.shutdown()


def refusal(url: str, most: int = 10**6, seconds: float = 120) -> str:
    with pytest.raises(LoadError) as caught:
        fetch(url, most, seconds)
    assert url in str(caught.value)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_document_is_known_by_its_address_and_its_format_by_its_content(site: str) -> None:
    [story, book] = find_sources([f"{site}/story#part", f"{site}/book"], "default", 1).read
    assert story.read().text == STORY
    assert story.read().source == story.name == f"{site}/story"
    assert book.read().title == "Żółw"


def test_a_redirect_on_the_server_that_was_named_is_followed(site: str) -> None:
    assert fetch(f"{site}/to?/story", 1000).decode() == STORY
    assert fetch(f"{site}/to?/to?/story", 1000).decode() == STORY
    assert "more than 5 times" in refusal(f"{site}/to?" + "/to?" * 9 + "/story")


@for_each(
    "place",
    ["127.0.0.1:1", "2130706433", "[::1]", "10.1.2.3", "169.254.169.254", "[::ffff:192.168.0.1]"],
)
def test_a_redirect_to_a_private_address_is_refused(site: str, place: str) -> None:
    assert "whose address is a private one" in refusal(f"{site}/to?https://{place}/story")


@for_each("place", ["http://localhost/", "file:///etc/hosts", "ftp://a.b/c"])
def test_a_redirect_to_another_scheme_is_refused(site: str, place: str) -> None:
    assert "only https" in refusal(f"{site}/to?{place}")


@for_each(
    ("ip", "public"),
    [
        ("93.184.216.34", True),
        ("2606:2800:220:1::1", True),
        ("172.16.0.1", False),
        ("100.64.0.1", False),
        ("0.0.0.0", False),
        ("224.0.0.1", False),
        ("fe80::1%eth0", False),
        ("fd00::1", False),
        ("::ffff:127.0.0.1", False),
    ],
)
def test_an_address_of_a_network_of_ones_own_is_not_public(ip: str, public: bool) -> None:
    assert is_public(ip) is public


@pytest.mark.parametrize("page", ["/slow", "/slow-head"])
def test_a_server_that_trickles_is_given_up(site: str, page: str) -> None:
    began = time.monotonic()
    assert "more than 1 seconds" in refusal(f"{site}{page}", seconds=1)
    assert time.monotonic() - began < 40, "all of it takes three minutes"


def test_what_is_too_large_or_packed_or_not_there_is_refused(site: str) -> None:
    assert "FABULA_MAX_FILE_MB" in refusal(f"{site}/large", most=49_999)
    assert len(fetch(f"{site}/large", 50_000)) == 50_000
    assert "packed" in refusal(f"{site}/large?gzip")
    assert "answers 404" in refusal(f"{site}/nothing")


def test_a_server_that_nobody_vouches_for_is_refused(
    site: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SSL_CERT_FILE")
    assert "certificate" in refusal(f"{site}/story").lower()


@for_each(
    ("given", "message"),
    [
        ("http://a.b/c", "only https addresses are"),
        ("ftp://a.b/c", "only https addresses are"),
        ("https:///c", "has no host"),
        ("https://me:hunter2@a.b/c", "password"),
        ("https://a.b:port/c", "can't be fetched"),
    ],
)
def test_an_address_that_can_not_be_fetched_is_told_so(given: str, message: str) -> None:
    with pytest.raises(LoadError, match=message) as caught:
        address(given)
    assert "hunter2" not in str(caught.value)


def test_addresses_can_be_turned_off() -> None:
    [source] = find_sources(["https://example.org/story"], "default", 1, fetch=False).read
    with pytest.raises(LoadError, match=r"addresses are turned off \(FABULA_FETCH\)"):
        source.read()
