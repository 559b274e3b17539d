"""Answers as they are written, over a real model endpoint: failures, and readers who leave."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import anyio
import httpx2
import pytest
from anyio import to_thread
from fastapi import FastAPI
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from database import cypher, empty, wipe
from endless import begin_to_answer, think
from endpoint import Endpoint
from fabula.jobs.callers import PERSON
from fabula.library import App
from fabula.server import Address
from fabula.service.http.streams import EventStream, accepts
from fabula.service.mcp import make_mcp
from fabula.service.observe.requests import JsonFormatter
from served import Served, events, served, server_of
from stories import WINTER

SHELF = "/api/v1/collections/novels"
PATIENCE = 60.0
"""Seconds for what takes none: against what never ends."""


@pytest.fixture
def online(address: Address) -> Iterator[tuple[Served, Endpoint]]:
    empty(address)
    with Endpoint() as endpoint:
        settings = server_of(address) | {
            "base_url": endpoint.url,
            "api_key": "sk-test",
            "chunk_tokens": 40,
        }
        with App(**settings, levels=0, details=0, attempts=1) as app:
            app.collection("novels").ingest_text(WINTER, source="winter.txt", title="Winter")
            with served(app) as it:
                yield it, endpoint
    empty(address)


@pytest.mark.journey
def test_a_models_failure_is_told_at_the_end_of_a_stream(
    online: tuple[Served, Endpoint], caplog: pytest.LogCaptureFixture
) -> None:
    it, endpoint = online
    client = it.client()
    answer = client.post(f"{SHELF}/ask", json={"question": "Where did Anna walk?"}).json()
    assert answer["cited"]
    assert answer["usage"]["answer"]["calls"] == 1
    assert answer["money"] > 0
    endpoint.plan = lambda _: "error"
    request = {"question": "Where did Anna go?"}
    failed = client.post(f"{SHELF}/ask", json=request)
    assert failed.status_code == 502
    # Where the model is, and what it answered, is for the operator.
    assert "did not answer" in failed.json()["detail"]
    assert endpoint.url not in failed.text
    assert endpoint.url in caplog.text
    # What embeds the question must answer.
    endpoint.plan = lambda number: "cut" if "messages" in endpoint.bodies[-1] else None
    received = events(
        client.post(f"{SHELF}/ask", json=request, headers={"Accept": "text/event-stream"})
    )
    name, problem = received[-1]
    assert name == "error"
    assert problem["status"] == 502
    assert endpoint.url not in str(received)


class Broken:
    """Work that fails in a way that nobody expects, after its first event."""

    def events(self) -> Iterator[tuple[str, Mapping[str, Any]]]:
        yield "first", {"share": 1 / 1}
        yield "second", {"share": 1 / 0}

    def close(self) -> None:
        pass


def test_an_unexpected_error_ends_a_stream_with_an_event_and_one_line_of_the_log(
    address: Address, caplog: pytest.LogCaptureFixture
) -> None:
    def add(service: FastAPI) -> None:
        service.add_api_route("/static/broken", lambda: EventStream(Broken()), response_model=None)
        # Before the files of that path.
        service.router.routes.insert(0, service.router.routes.pop())

    with App(**server_of(address)) as app, served(app, add=add) as it:
        reply = httpx2.get(f"{it.url}/static/broken", timeout=120)
    (first, _), (last, problem) = events(reply)
    assert (first, last) == ("first", "error")
    id = reply.headers["x-request-id"]
    assert (problem["status"], problem["request_id"]) == (500, id)
    [line] = [
        json.loads(JsonFormatter().format(record))
        for record in caplog.records
        if record.levelname == "ERROR"
    ]
    assert line["request_id"] == id
    assert "ZeroDivisionError" in line["trace"]


def test_a_job_whose_neo4j_is_lost_ends_its_stream_with_an_event(address: Address) -> None:
    with App(**server_of(address)) as app, served(app) as it:
        wipe(app.connect())
        client = it.client()
        text = {"text": WINTER, "source": "winter"}
        job = client.post(f"{SHELF}/documents", json=text).json()["id"]
        late = time.monotonic() + 120
        while client.get(f"/api/v1/jobs/{job}").json()["state"] not in ("succeeded", "failed"):
            assert time.monotonic() < late
            time.sleep(0.2)
        # It waits for a time that does not come.
        waits = "MATCH (j:ServiceJob {id: $id}) SET j.state = 'queued', j.not_before = 9e15"
        cypher(app.connect(), waits, id=job)
        with client.stream("GET", f"/api/v1/jobs/{job}/events") as stream:
            lines = stream.iter_lines()
            assert any(line == "event: snapshot" for line in lines)
            app.connect().close()
            events = [*lines]
    assert "event: error" in events
    problem = json.loads(next(line[6:] for line in reversed(events) if line.startswith("data: ")))
    assert problem["status"] == 503


def has_ended(endpoint: Endpoint) -> bool:
    """Whether the endpoint's last call ends, which would go on as long as somebody listens."""
    late = time.monotonic() + PATIENCE
    while endpoint.in_flight and time.monotonic() < late:
        time.sleep(0.005)
    return not endpoint.in_flight


def is_asked(endpoint: Endpoint) -> bool:
    """Whether the chat model, and not the embedder, is being asked."""
    return endpoint.in_flight >= 1 and "messages" in endpoint.bodies[-1]


@pytest.mark.parametrize(
    ("path", "more", "event"),
    [
        (f"{SHELF}/ask", {}, "passages"),
        ("/c/novels/ask/stream", {}, "passages"),
        ("/c/novels/compare/stream", {"modes": ["naive", "hybrid"]}, "columns"),
    ],
)
@pytest.mark.parametrize("is_silent", [False, True])
def test_a_reader_that_leaves_closes_the_models_call(
    is_silent: bool, path: str, more: dict[str, Any], event: str, online: tuple[Served, Endpoint]
) -> None:
    it, endpoint = online
    client = it.client()
    endpoint.raw = think if is_silent else begin_to_answer
    request = {"question": "Where did Boris walk?"} | more
    headers = {"Accept": "text/event-stream"}
    with client.stream("POST", path, json=request, headers=headers) as answer:
        lines = answer.iter_lines()  # held, as a stream that nobody holds is closed
        assert any(line == f"event: {event}" for line in lines)
        began = time.monotonic()
        while not is_asked(endpoint):
            assert time.monotonic() - began < PATIENCE, "the model is asked"
            time.sleep(0.005)
    assert has_ended(endpoint)


def test_a_reader_of_the_whole_answer_that_leaves_closes_the_call_too(
    online: tuple[Served, Endpoint],
) -> None:
    it, endpoint = online
    endpoint.raw = think
    body = b'{"question": "Where did Boris walk?"}'
    place = it.url.removeprefix("http://")
    head = (
        f"POST {SHELF}/ask HTTP/1.1\r\nHost: {place}\r\nAuthorization: Bearer {it.key()}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    host, port = place.split(":")
    late = time.monotonic() + PATIENCE
    with socket.create_connection((host, int(port))) as impatient:
        impatient.sendall(head.encode() + body)
        while not is_asked(endpoint):
            assert time.monotonic() < late, "the model is asked"
            time.sleep(0.005)
    assert has_ended(endpoint)


def test_an_assistant_that_cancels_or_leaves_closes_the_call_too(
    online: tuple[Served, Endpoint],
) -> None:
    it, endpoint = online
    request = {"question": "Where did Boris walk?", "collection": "novels"}
    headers = {"Authorization": f"Bearer {it.key()}"}

    @asynccontextmanager
    async def reach(mode: Any) -> AsyncIterator[Client]:
        async with httpx2.AsyncClient(headers=headers, timeout=PATIENCE) as http:
            transport = streamable_http_client(f"{it.url}/mcp", http_client=http)
            async with Client(transport, mode=mode) as client:
                yield client

    async def cancel(reached: AbstractAsyncContextManager[Client], must_leave: bool) -> None:
        async with reached as client:
            async with anyio.create_task_group() as calls:
                calls.start_soon(client.call_tool, "ask", request)
                with anyio.fail_after(PATIENCE):
                    while not is_asked(endpoint):
                        await anyio.sleep(0.005)
                calls.cancel_scope.cancel()
            if not must_leave:
                assert await to_thread.run_sync(has_ended, endpoint)

    endpoint.raw = think
    anyio.run(cancel, Client(make_mcp(it.state, PERSON)), False)
    anyio.run(cancel, reach("auto"), False)
    # Of the older protocol what cancels is a request of its own, which says not whose it means.
    anyio.run(cancel, reach("legacy"), True)
    assert has_ended(endpoint)


def test_who_names_a_kind_is_sent_it() -> None:
    kind = "text/event-stream"
    assert accepts("text/event-stream", kind)
    assert accepts("application/json;q=0.5, TEXT/event-stream", kind)
    assert not accepts("*/*", kind)
    assert not accepts("application/json, text/event-stream;q=0.9", kind)
    assert not accepts("text/event-stream;q=0", kind)
    assert not accepts("text/event-stream;q=high", kind)
