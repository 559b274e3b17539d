"""What holds for a request is decided by its route, whatever names its path has."""

from __future__ import annotations

import logging
import re
import socket
from collections.abc import Iterator
from http.client import HTTPConnection
from time import monotonic, sleep
from typing import Any
from urllib.parse import urlsplit

import pytest
from fastapi.routing import iter_route_contexts

from fabula.operations.kit import MAX_BODY_BYTES
from fabula.operations.queries import MAX_QUERY_BODY_BYTES
from fabula.server import Address
from fabula.service.http.admission import MAX_STRANGER_BODY_BYTES
from fabula.service.http.route_rules import ATTRIBUTE, RouteRules, RouteTable
from served import Served, served
from shared_library import shared_library

pytestmark = [pytest.mark.journey, pytest.mark.shared_library]

API = "/api/v1/collections/{collection}"
UPLOADS = {
    ("POST", f"{API}/documents"),
    ("POST", f"{API}/documents/{{document}}/annotations/import"),
    ("POST", f"{API}/documents/{{document}}/append"),
    ("POST", "/c/{collection}/add"),
}
"""The routes whose body may be as large as a file."""
QUERIES = {("POST", "/api/v1/cypher"), ("POST", f"{API}/queries/{{query}}")}
"""The routes whose body has a limit of its own."""
QUESTIONS = {
    *(("POST", f"{API}{end}") for end in ("/ask", "/ask/cost", "/search", "/compare")),
    *(("POST", path) for path in ("/api/v1/ask", "/api/v1/search", "/v1/chat/completions")),
    *(("GET", f"/c/{{collection}}{end}") for end in ("/ask", "/compare")),
    *(("POST", f"/c/{{collection}}{end}") for end in ("/ask", "/ask/stream", "/compare/stream")),
}
"""The routes that count as a question."""
NAMES = ("add", "estimate", "documents", "import", "ask", "search", "a/annotations/import")
"""Names of a collection, a document, a query or anything else that is called as a route is."""
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
WAIT_SECONDS = 120.0
"""How long a line of the log is waited for, on a machine that is busy with other things."""


@pytest.fixture(scope="module")
def it(address: Address, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    home = tmp_path_factory.mktemp("home")
    many: dict[str, Any] = {"serve.requests_a_minute": 1_000_000}
    with shared_library(address, "default", home=home, **many) as app, served(app) as it:
        yield it


def routes(it: Served) -> Iterator[tuple[str, str]]:
    """The methods and templates of all routes that admission sees, and those of no route."""
    for route in iter_route_contexts(it.service.routes):
        path = str(route.path)
        if not path.startswith(("/static", "/livez", "/readyz")):
            for method in METHODS:
                if (method, path) != ("GET", "/signin"):
                    yield method, path
    unknown = ("/{a}", "/v1/{a}", "/api/v1/{a}", "/c/a/{b}/c/{d}")
    yield from (("POST", path) for path in unknown)


def declare(it: Served) -> set[tuple[str, str]]:
    """The methods and templates that the service answers; to the others it says no."""
    found = iter_route_contexts(it.service.routes)
    return {(method, str(route.path)) for route in found for method in route.methods or ()}


def fill(path: str, name: str) -> str:
    return re.sub(r"{[^}]*}", name, path)


def open_request(it: Served, method: str, path: str, headers: dict[str, str]) -> HTTPConnection:
    """A connection on which a request has begun."""
    connection = HTTPConnection(urlsplit(it.url).netloc, timeout=WAIT_SECONDS)
    connection.putrequest(method, path)
    for name, value in headers.items():
        connection.putheader(name, value)
    connection.endheaders()
    return connection


def test_the_size_of_a_body_is_limited_by_the_route(it: Served) -> None:
    too_large = {"Authorization": f"Bearer {it.key()}", "Content-Length": str(10**12)}
    limits = {
        "upload": f"{it.state.serving.upload_bytes / 1e6:,.0f} MB",
        "small": f"{MAX_BODY_BYTES:,} bytes",
        "query": f"{MAX_QUERY_BODY_BYTES:,} bytes",
        "stranger": f"{MAX_STRANGER_BODY_BYTES:,} bytes",
    }
    wrong, asked, declared = [], 0, declare(it)
    for method, path in routes(it):
        kind = "upload" if (method, path) in UPLOADS else "small"
        kind = "query" if (method, path) in QUERIES else kind
        expected = limits["stranger" if path == "/signin" else kind]
        names = NAMES if "{" in path and (method, path) in declared else NAMES[:1]
        for name in names:
            connection = open_request(it, method, fill(path, name), too_large)
            reply = connection.getresponse()
            match = re.search(r"may have ([\d,]+ (?:MB|bytes))", reply.read().decode())
            connection.close()
            asked += 1
            # A name with slashes makes it another path, whose limit is never the larger one.
            if "/" in name and match and match[1] == limits["small"]:
                continue
            if reply.status != 413 or not match or match[1] != expected:
                wrong.append((method, fill(path, name), reply.status, match and match[1]))
    assert not wrong
    assert asked > 1_000


def test_every_route_has_the_rules_that_it_declares(it: Served) -> None:
    table = RouteTable(it.service)
    declared: dict[str, set[tuple[str, str]]] = {"takes_files": set(), "is_question": set()}
    for route in iter_route_contexts(it.service.routes):
        for method in route.methods or ():
            path = str(route.path)
            rules = getattr(route.endpoint, ATTRIBUTE, RouteRules())
            for name in declared:
                if getattr(rules, name):
                    declared[name].add((method, path))
            for name in NAMES[:-1]:
                scope = {"type": "http", "method": method, "path": fill(path, name), "headers": []}
                found, collection = table.find(scope)
                assert found == rules, (method, scope["path"])
                assert collection == (name if "{collection}" in path else ""), path
    assert declared == {"takes_files": UPLOADS, "is_question": QUESTIONS}


@pytest.mark.parametrize(
    "path", [f"{API}/queries/add", f"{API}/conversations/estimate", "/v1/chat/completions"]
)
def test_json_that_is_nested_deep_is_refused_by_any_route_that_parses_it(
    it: Served, path: str
) -> None:
    client = it.client("read")
    reply = client.post(fill(path, "default"), content=b"[" * 100_000)
    assert reply.status_code == 400
    assert "nested more than 50 levels" in reply.json()["detail"]


def test_a_client_that_leaves_while_it_sends_is_one_line_of_the_log(
    it: Served, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "fabula.service")
    client = it.client()
    documents = fill(f"{API}/documents", "default")
    [document] = client.get(documents).json()["rows"]
    # An answer is in the log after it was sent, and that of an earlier test's request may come now.
    while f"GET {documents} 200" not in caplog.messages:
        sleep(0.005)
    key, address = client.headers["Authorization"], urlsplit(it.url)
    form = "multipart/form-data; boundary=x", b'--x\r\nContent-Disposition: form-data; name="a'
    for method, template in sorted(declare(it).intersection(routes(it))):
        path = template.replace("{collection}", "default").replace("{document}", document["id"])
        path = fill(path, "add")
        query = "?layer=a" if path.endswith("/import") else ""
        for kind, body in (form, ("application/json", b'{"text": "a')):
            if template.endswith("/add") and kind == "application/json":
                continue  # The form of the page is no JSON, and is refused before it is read.
            caplog.clear()
            with socket.create_connection((address.hostname, address.port)) as connection:
                head = f"{method} {path}{query} HTTP/1.1\r\nHost: {address.netloc}\r\n"
                head += f"Authorization: {key}\r\nContent-Type: {kind}\r\nContent-Length: 1000"
                connection.sendall(f"{head}\r\n\r\n".encode() + body)
            until = monotonic() + WAIT_SECONDS
            while not caplog.messages and monotonic() < until:
                sleep(0.005)
            assert caplog.messages == [f"{method} {path} 499"], kind
