"""Strangers who send half requests, slow bodies or floods keep nobody out and fill no disk."""

from __future__ import annotations

import asyncio
import contextlib
import io
import logging
import os
import re
import resource
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
import uvicorn
from starlette.types import Receive, Scope, Send

from database import empty, server_variables
from fabula.library import App
from fabula.server import Address
from fabula.service.http.connections import ConnectionLimits, make_protocol
from fabula.service.observe.repeats import RepeatsCounted
from served import Served, admin_key, served, server_of

pytestmark = [pytest.mark.long, pytest.mark.slow]

DESCRIPTORS = 1024
HALF = b"GET / HTTP/1.1\r\nX: "
PATIENCE = 120.0
FEW = 150
"""Requests that a caller may send a minute: so many that a busy machine answers them in one."""


@pytest.fixture(scope="module", autouse=True)
def many_descriptors() -> Iterator[None]:
    """This process holds as many connections as it opens, whatever the usual limit."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 8192), hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_half_requests_of_a_stranger_keep_no_key_out_and_fill_no_log(
    address: Address, tmp_path: Path
) -> None:
    key = admin_key(address, "strangers")
    log = tmp_path / "log"
    own = {
        **server_variables(address),
        "FABULA_MODEL": "offline",
    }
    limited = f'ulimit -n {DESCRIPTORS}; exec "$@"'
    serve = [sys.executable, "-m", "fabula", "serve", "--port", "0"]
    with log.open("w") as file:
        process = subprocess.Popen(
            ["bash", "-c", limited, "limited", *serve],
            stdout=file,
            stderr=file,
            env=os.environ | own,
        )
    try:
        late = time.monotonic() + PATIENCE
        while not (found := re.search(r"http://([\d.]+):(\d+)/enter", log.read_text())):
            assert process.poll() is None, log.read_text()
            assert time.monotonic() < late, log.read_text()
            time.sleep(0.1)
        place = (found[1], int(found[2]))
        url = f"http://{found[1]}:{found[2]}"
        headers = {"Authorization": f"Bearer {key}"}
        with contextlib.ExitStack() as stack:
            for _ in range(DESCRIPTORS + 76):
                connection = stack.enter_context(socket.create_connection(place, PATIENCE))
                connection.sendall(HALF)
            for _ in range(20):
                # A new connection each time, as clients that come meanwhile have.
                assert httpx2.get(f"{url}/livez", timeout=PATIENCE).status_code == 200
                kept = httpx2.get(f"{url}/api/v1/collections", headers=headers, timeout=PATIENCE)
                assert kept.status_code == 200
        text = log.read_text()
        assert "Too many open files" not in text
        assert len(text) < 30_000, text[:3000]
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(PATIENCE)


async def _read_all(receive: Receive) -> int:
    size, more = 0, True
    while more:
        message = await receive()
        size += len(message.get("body", b""))
        more = message.get("more_body", False)
    return size


async def _answer(scope: Scope, receive: Receive, send: Send) -> None:
    """Tells how long the body was; or at /wait an event only after a while; or 40 MB at /much."""
    size = await _read_all(receive)
    if scope["path"] == "/wait":
        await asyncio.sleep(5)
    body = bytes(40_000_000) if scope["path"] == "/much" else str(size).encode()
    length = [(b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": 200, "headers": length})
    await send({"type": "http.response.body", "body": body})


@pytest.fixture(scope="module")
def place() -> Iterator[tuple[str, int]]:
    """Where a service listens whose limits are short."""
    limits = ConnectionLimits(20, head_seconds=1, progress_seconds=4, progress_bytes=10)
    config = uvicorn.Config(
        _answer,
        port=0,
        log_config=None,
        lifespan="off",
        http=make_protocol(limits),
        ws="none",
        # Fewer than there may be connections, as the service has it.
        backlog=5,
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        late = time.monotonic() + PATIENCE
        while not server.started:
            assert time.monotonic() < late
            time.sleep(0.02)
        yield server.servers[0].sockets[0].getsockname()
    finally:
        server.should_exit = True
        thread.join(PATIENCE)


def told(connection: socket.socket) -> bytes:
    """All that is sent until the connection is closed."""
    connection.settimeout(PATIENCE)
    pieces = []
    with contextlib.suppress(ConnectionResetError):
        while piece := connection.recv(65536):
            pieces.append(piece)
    return b"".join(pieces)


def test_a_head_must_arrive_in_time(place: tuple[str, int]) -> None:
    with socket.create_connection(place) as slow:
        slow.sendall(HALF)
        assert told(slow).startswith(b"HTTP/1.1 408 ")


def test_a_second_head_on_the_same_connection_must_arrive_in_time(place: tuple[str, int]) -> None:
    with socket.create_connection(place) as slow:
        slow.sendall(b"GET /one HTTP/1.1\r\nHost: x\r\n\r\n" + HALF)
        assert told(slow).startswith(b"HTTP/1.1 200 ")


def test_a_body_that_does_not_get_on_ends_and_a_slow_one_that_does_goes_on(
    place: tuple[str, int],
) -> None:
    head = b"POST /body HTTP/1.1\r\nHost: x\r\nContent-Length: 200\r\nConnection: close\r\n\r\n"
    with (
        socket.create_connection(place) as stalled,
        socket.create_connection(place) as slow,
    ):
        stalled.sendall(head)
        slow.sendall(head)
        # Longer than a body may stand still, and longer in all than a head may take.
        for _ in range(10):
            slow.sendall(b"x" * 20)
            time.sleep(0.5)
        assert told(slow).endswith(b"200")
        assert told(stalled) == b""


def test_a_reader_that_does_not_read_is_let_go_and_one_that_waits_for_an_answer_is_not(
    place: tuple[str, int],
) -> None:
    with (
        socket.create_connection(place) as deaf,
        socket.create_connection(place) as waiting,
    ):
        deaf.sendall(b"GET /much HTTP/1.1\r\nHost: x\r\n\r\n")
        waiting.sendall(b"GET /wait HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        assert told(waiting).endswith(b"0"), "5 s without a byte, as an event stream may be"
        time.sleep(2)
        assert len(told(deaf)) < 40_000_000


def test_when_there_are_too_many_connections_those_without_a_request_are_closed(
    place: tuple[str, int],
) -> None:
    with contextlib.ExitStack() as stack:
        busy = stack.enter_context(socket.create_connection(place))
        busy.sendall(b"GET /wait HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        half = [stack.enter_context(socket.create_connection(place)) for _ in range(40)]
        for connection in half:
            with contextlib.suppress(OSError):
                connection.sendall(HALF)
        with httpx2.Client(base_url=f"http://{place[0]}:{place[1]}", timeout=PATIENCE) as client:
            assert client.get("/one").status_code == 200
        assert told(busy).endswith(b"0")


def test_what_repeats_in_the_log_is_one_line_and_a_count() -> None:
    written = io.StringIO()
    handler = RepeatsCounted(written, window_seconds=3600)
    log = logging.Logger("repeats")
    log.addHandler(handler)
    for _ in range(5000):
        log.warning("socket.accept() out of system resource")
        log.info("GET /x 401", extra={"fields": {"status": 401, "caller": ""}})
        log.info("GET /x 200", extra={"fields": {"status": 200, "caller": "ada"}})
    log.error("another")
    before = written.getvalue().splitlines()
    assert before.count("socket.accept() out of system resource") == 1
    assert before.count("GET /x 401") == 200
    assert before.count("GET /x 200") == 5000, "what a key did is always told"
    assert before.count("another") == 1
    handler.flush_counts()
    assert written.getvalue().splitlines()[len(before) :] == [
        "4,999 more in the last 3600 s, such as: socket.accept() out of system resource",
        "4,800 more in the last 3600 s, such as: GET /x 401",
    ]
    log.warning("socket.accept() out of system resource")
    assert written.getvalue().count("socket.accept()") == 3, "a new window has begun"
    handler.flush_counts()


@pytest.fixture(scope="module")
def it(address: Address) -> Iterator[Served]:
    empty(address)
    few: dict[str, Any] = {"serve.requests_a_minute": FEW}
    with App(**server_of(address), **few) as app, served(app) as it:
        yield it


def test_a_strangers_floods_and_slow_bodies_are_not_told_to_health_checks_nor_to_who_signs_in(
    it: Served,
) -> None:
    host, port = it.url.removeprefix("http://").split(":")
    slow = b"POST /signin HTTP/1.1\r\nHost: localhost\r\nContent-Length: 500\r\n\r\nkey="
    with contextlib.ExitStack() as stack:
        for _ in range(25):
            connection = stack.enter_context(socket.create_connection((host, int(port))))
            connection.sendall(slow)
        client = stack.enter_context(httpx2.Client(base_url=it.url, timeout=PATIENCE))
        assert {client.get("/livez").status_code for _ in range(2 * FEW)} == {200}
        assert {client.get("/readyz").status_code for _ in range(2 * FEW)} == {200}
        # The window of this address is full of failures.
        statuses = [client.get("/api/v1/keys").status_code for _ in range(FEW + 20)]
        assert (statuses[0], statuses[-1]) == (401, 429)
        assert client.get("/livez").status_code == 200
        assert client.get("/readyz").status_code == 200
        assert client.get("/signin").status_code == 200
        signed_in = client.post("/signin", data={"key": it.key("read"), "to": "/"})
        assert signed_in.status_code == 303


def test_health_checks_do_not_look_at_keys(it: Served) -> None:
    wrong = {"Authorization": "Bearer fab_0123456789_wrong"}
    for _ in range(30):
        assert httpx2.get(f"{it.url}/livez", headers=wrong, timeout=120).status_code == 200
    assert it.client().get("/api/v1/collections").status_code == 200


def test_a_request_with_two_lengths_is_refused_and_its_connection_closed(it: Served) -> None:
    host, port = it.url.removeprefix("http://").split(":")
    hidden = b"GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n"
    both = b"POST /livez HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n"
    both += b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + hidden
    with socket.create_connection((host, int(port))) as connection:
        connection.sendall(both)
        reply = told(connection)
    assert reply.startswith(b"HTTP/1.1 400 ")
    assert reply.count(b"HTTP/1.1 ") == 1, "what follows is no request"
