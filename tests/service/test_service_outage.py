"""A service whose Neo4j dies, is stopped or paused: clients are told at once, and it comes back."""

from __future__ import annotations

import os
import re
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import psutil
import pytest

from database import connect, server_variables
from fabula import StoreError
from fabula.library import App
from fabula.server import Address
from fabula.server.private import PrivateServer
from fabula.service.core.readiness import BUSY_SECONDS
from fabula.service.page.rendering import asset
from forked import Forked
from graphs import DIMENSIONS, MODEL
from served import admin_key, served, server_of
from stories import WINTER

pytestmark = [pytest.mark.long, pytest.mark.own_server]

COLLECTIONS = "/api/v1/collections"
PATIENCE = 300.0
"""Seconds for a start of Neo4j on a busy machine."""
SOON = 25.0
"""Seconds for what takes one or two, and took 31 to 54 before there was a supervisor."""


def wait_for(condition: Callable[[], Any], seconds: float, what: str) -> float:
    """Wait until a condition holds, and return how many seconds that took."""
    began = time.monotonic()
    while not condition():
        assert time.monotonic() - began < seconds, f"not within {seconds:.0f} s: {what}"
        time.sleep(0.25)  # a key has 600 requests a minute
    return time.monotonic() - began


class Serving:
    """A `fabula serve` of its own process, and a client of it with a key."""

    def __init__(self, process: Forked, client: httpx2.Client) -> None:
        self.process, self.client = process, client

    def status(self, path: str) -> int:
        return self.client.get(path).status_code


@contextmanager
def serving(folder: Path, key: str, **environment: str) -> Iterator[Serving]:
    """A service in a process of its own."""
    own = {name: value for name, value in os.environ.items() if "FABULA" not in name}
    path = folder / f"said {time.monotonic()}"
    given = own | {"FABULA_MODEL": "offline", "FABULA_DUMPS": "false"} | environment
    process = Forked(path, "serve", "--port", "0", environment=given)
    try:
        wait_for(
            lambda: process.poll() is not None or "/enter" in process.output, PATIENCE, "it serves"
        )
        found = re.search(r"(http://[\d.]+:\d+)/enter\?token=(\S+)", process.output)
        assert found, process.output
        headers = {"Authorization": f"Bearer {key}"}
        with httpx2.Client(base_url=found[1], headers=headers, timeout=120) as client:
            yield Serving(process, client)
    finally:
        process.interrupt(signal.SIGTERM)
        process.wait(PATIENCE)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("outage") / "home"


@pytest.fixture(scope="module")
def server(home: Path) -> Iterator[PrivateServer]:
    server = PrivateServer(home, "512m", "128m")
    yield server
    server.destroy(programs=True)


@pytest.fixture(scope="module")
def key(server: PrivateServer) -> str:
    return admin_key(server.start(), "outage")


@pytest.fixture(scope="module")
def private(home: Path, key: str) -> Iterator[Serving]:
    """A service over its own, private Neo4j."""
    with serving(
        home.parent,
        key,
        FABULA_HOME=str(home),
        FABULA_NEO4J_HEAP="512m",
        FABULA_NEO4J_PAGE_CACHE="128m",
        FABULA_CACHE_FOLDER=str(home.parent / "cache"),
    ) as it:
        yield it


@pytest.fixture
def browser(private: Serving, key: str) -> Iterator[httpx2.Client]:
    """A browser that is signed in."""
    with httpx2.Client(base_url=private.client.base_url, timeout=120) as client:
        assert client.post("/api/v1/session", json={"key": key}).status_code == 204
        yield client


def kill(server: PrivateServer) -> None:
    os.kill(server.status().pid, signal.SIGKILL)


def test_a_neo4j_that_is_not_ours_is_not_started_and_clients_are_told_at_once(
    server: PrivateServer, key: str, tmp_path: Path
) -> None:
    address = server.start()
    other = {
        "FABULA_HOME": str(tmp_path / "home"),
        "FABULA_CACHE_FOLDER": str(tmp_path / "cache"),
        **server_variables(address),
    }
    with serving(tmp_path, key, **other) as it:
        assert it.status(COLLECTIONS) == 200
        kill(server)
        wait_for(lambda: it.status("/readyz") == 503, SOON, "/readyz says no")
        wait_for(lambda: "can't be reached at 127.0.0.1" in it.process.output, SOON, "it is logged")
        began = time.monotonic()
        refused = it.client.get(COLLECTIONS)
        assert (refused.status_code, refused.json()["detail"]) == (503, "Neo4j can't be reached.")
        assert int(refused.headers["retry-after"]) > 0
        assert time.monotonic() - began < SOON
        assert server.state() == "ended", "nobody has started it"
        server.start()
        wait_for(lambda: it.status(COLLECTIONS) == 200, PATIENCE, "it answers again")
        assert "Neo4j is back after" in it.process.output


@pytest.mark.kill
def test_a_private_neo4j_that_is_killed_is_started_again_and_nothing_is_lost(
    private: Serving, server: PrivateServer, browser: httpx2.Client
) -> None:
    client = private.client
    sent = [("files", (f"{n}.txt", f"{WINTER}\n\nThe end of {n}.".encode())) for n in range(2)]
    begun = client.post(f"{COLLECTIONS}/books/documents", files=sent)
    assert begun.status_code == 202
    kill(server)
    response = wait_for(lambda: private.status("/readyz") == 503, SOON, "/readyz says no")
    began = time.monotonic()
    refused = client.get(COLLECTIONS)
    assert refused.status_code == 503
    assert time.monotonic() - began < SOON, f"/readyz after {response} s"
    assert 0 < int(refused.headers["retry-after"]) <= 60
    # On a busy machine a request may meet the lost connection before the supervisor does.
    wait_for(
        lambda: "is being started again" in client.get(COLLECTIONS).text, SOON, "who asks is told"
    )
    # What needs no graph is there, also for who has a key or a session.
    assert private.status("/livez") == 200
    assert browser.get(asset("fabula.css")).status_code == 200
    assert browser.get("/signin").status_code == 200
    page = browser.get("/c/books")
    assert page.status_code == 503
    assert "being started again" in page.text
    assert "text/html" in page.headers["content-type"]
    wait_for(lambda: private.status("/readyz") == 200, PATIENCE, "/readyz says yes")
    job = client.get(begun.headers["location"])
    assert job.status_code == 200
    wait_for(
        lambda: client.get(begun.headers["location"]).json()["state"] == "succeeded",
        PATIENCE,
        "the job goes on by itself",
    )
    documents = client.get(f"{COLLECTIONS}/books/documents").json()["rows"]
    assert len(documents) == 2
    output = private.process.output
    assert output.count("has ended unexpectedly; it is being started again") == 1
    assert len(re.findall(r"Neo4j is back after \d+ s\.", output)) == 1
    assert "Run the command again" not in output
    assert "Traceback" not in output, output


def test_a_private_neo4j_whose_database_stopped_at_an_error_is_started_anew(
    private: Serving, server: PrivateServer
) -> None:
    before = private.process.output.count("Neo4j is back after")
    # A term that Lucene refuses, written past the store, which would not take it.
    panics = (
        f"CYPHER 25 CREATE (n:Passage{DIMENSIONS} {{collection: 'x', document: 'd', kind: 'chunk', "
        "aspect: $long, level: 0}) WITH n CALL db.create.setNodeVectorProperty(n, 'embedding', "
        "$vector)"
    )
    with connect(server.start()) as store:
        store.prepare("x", MODEL, DIMENSIONS)
        with pytest.raises(StoreError, match="apply the transaction"):
            store.run(panics, long="a" * 40_000, vector=[1.0] + [0.0] * (DIMENSIONS - 1))
    wait_for(
        lambda: private.process.output.count("Neo4j is back after") > before,
        PATIENCE,
        "the database is started anew",
    )
    # A Neo4j that has just started plans each statement anew: that takes a busy machine a while.
    wait_for(lambda: private.status(COLLECTIONS) == 200, PATIENCE, "it answers again")
    assert "Neo4j's database stopped at an error; Neo4j is being started" in private.process.output
    with connect(server.start()) as store:
        store.run(f"MATCH (n:Passage{DIMENSIONS}) WHERE size(n.aspect) = 40000 DELETE n")


def test_a_neo4j_that_is_silent_for_a_moment_is_busy_and_then_it_counts_as_away(
    private: Serving, server: PrivateServer
) -> None:
    wait_for(lambda: private.status("/readyz") == 200, PATIENCE, "/readyz says yes")
    neo4j = psutil.Process(server.status().pid)

    def is_slow() -> bool:
        began = time.monotonic()
        assert private.status("/readyz") == 200
        return time.monotonic() - began > 0.5

    silent_since = time.monotonic()
    neo4j.suspend()
    try:
        wait_for(is_slow, PATIENCE, "what was found holds no more: it is asked, and is silent")
        wait_for(lambda: private.status("/readyz") == 503, PATIENCE, "/readyz says no")
        assert time.monotonic() - silent_since > 0.5 * BUSY_SECONDS
    finally:
        neo4j.resume()
    wait_for(lambda: private.status("/readyz") == 200, PATIENCE, "/readyz says yes again")


def test_a_private_neo4j_that_a_command_stopped_is_left_alone_until_it_is_started(
    private: Serving, server: PrivateServer
) -> None:
    server.stop()
    wait_for(lambda: private.status("/readyz") == 503, SOON, "/readyz says no")
    for _ in range(5):
        wait_for(
            lambda: private.client.get(COLLECTIONS).json()["detail"] == "Neo4j is stopped.",
            SOON,
            "it is told that a command stopped it",
        )
        assert server.state() == "stopped"
        time.sleep(0.5)
    server.start()
    wait_for(lambda: private.status(COLLECTIONS) == 200, PATIENCE, "it answers again")


def test_a_planned_pause_is_told_with_its_reason(address: Address) -> None:
    with App(**server_of(address)) as app, served(app) as it:
        client = it.client()
        with it.state.maintenance.begin("The daily dump is being made.", 30):
            refused = client.get(COLLECTIONS)
            assert (refused.status_code, refused.headers["retry-after"]) == (503, "30")
            text = "The daily dump is being made. The service is back in about 30 s."
            assert refused.json()["detail"] == text
            ready = client.get("/readyz")
            assert ready.status_code == 503
            assert ready.json()["why"].startswith("The daily dump is being made.")
            assert client.get("/livez").status_code == 200
        assert client.get(COLLECTIONS).status_code == 200
