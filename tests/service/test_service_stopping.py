"""A service that is stopped ends within its grace, and tells whoever reads a stream of it."""

from __future__ import annotations

import json
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from endless import think
from endpoint import Endpoint
from fabula.server import Address
from fabula.store import Store
from jobs_over_http import BASE, begin, until
from killed_service import Killed
from served import admin_key
from stories import WINTER

pytestmark = pytest.mark.long

GRACE = 30.0
"""Seconds that a stop may take unless told otherwise; with a job's page open it took them all."""
PATIENCE = 120.0


@pytest.fixture
def endpoint(tmp_path: Path) -> Iterator[Endpoint]:
    with Endpoint() as made:
        yield made


@pytest.fixture
def service(tmp_path: Path, address: Address, store: Store, endpoint: Endpoint) -> Killed:
    return Killed(tmp_path, address, endpoint, admin_key(address, "stopping"))


class Reading(threading.Thread):
    """Reads a stream of events to its end, and keeps what was told."""

    def __init__(self, client: httpx2.Client, method: str, path: str, **more: Any) -> None:
        super().__init__()
        self._client = httpx2.Client(
            base_url=client.base_url, headers=client.headers, timeout=PATIENCE
        )
        self._asked = (method, path, more)
        self.events: list[tuple[str, Any]] = []
        self.failure: Exception | None = None
        self.start()

    def run(self) -> None:
        method, path, more = self._asked
        try:
            with self._client, self._client.stream(method, path, **more) as response:
                name = ""
                for line in response.iter_lines():
                    kind, _, told = line.partition(": ")
                    if kind == "event":
                        name = told
                    elif kind == "data":
                        self.events.append((name, json.loads(told)))
        except httpx2.HTTPError as error:
            self.failure = error

    def wait_for(self, name: str) -> None:
        late = time.monotonic() + PATIENCE
        while not any(event == name for event, _ in self.events):
            assert time.monotonic() < late, (name, self.events, self.failure)
            time.sleep(0.05)


def test_open_job_pages_do_not_hold_up_a_stop_and_are_told_of_it(
    service: Killed, endpoint: Endpoint
) -> None:
    # The job lasts as long as the pages need to open.
    endpoint.delay = 1.0
    all_are_open = threading.Event()

    def hold(*_: object) -> None:
        all_are_open.wait(PATIENCE)

    endpoint.raw = hold
    with service.up(end=signal.SIGINT) as client:
        id = begin(client, "stopped", {"winter.txt": WINTER})
        until(client, id, "running")
        pages = [Reading(client, "GET", f"{BASE}/jobs/{id}/events") for _ in range(5)]
        assistant = Reading(
            client,
            "GET",
            "/mcp",
            headers={"Accept": "text/event-stream", "MCP-Protocol-Version": "2025-06-18"},
        )
        for page in pages:
            page.wait_for("snapshot")
        all_are_open.set()
        began = time.monotonic()
    seconds = time.monotonic() - began
    assert seconds < GRACE - 5
    for page in pages:
        page.join(PATIENCE)
        assert page.failure is None
        assert page.events[-1][0] == "stopping"
    assistant.join(PATIENCE)
    # The next one goes on with it.
    endpoint.delay = 0.0
    with service.up() as client:
        assert until(client, id)["state"] == "succeeded"


def test_an_answer_that_is_not_done_within_the_grace_ends_with_an_event(
    service: Killed, endpoint: Endpoint
) -> None:
    service.environment["FABULA_SERVE__GRACE"] = "4"
    with service.up(end=signal.SIGTERM) as client:
        until(client, begin(client, "stopped", {"winter.txt": WINTER}))
        endpoint.raw = think
        answer = Reading(
            client,
            "POST",
            f"{BASE}/collections/stopped/ask",
            json={"question": "Where did Anna walk?"},
            headers={"Accept": "text/event-stream"},
        )
        answer.wait_for("passages")
        began = time.monotonic()
    seconds = time.monotonic() - began
    answer.join(PATIENCE)
    name, problem = answer.events[-1]
    assert (name, problem["status"]) == ("error", 503)
    assert "was stopped" in problem["detail"]
    assert 2 < seconds < GRACE - 5
