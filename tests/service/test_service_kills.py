"""A service that is killed at any moment and started again: no job is lost, and none paid twice."""

from __future__ import annotations

import os
import random
import socket
import threading
import time
from collections import Counter
from typing import Any

import httpx2
import pytest
import uvicorn
from starlette.types import Receive, Scope, Send

from endpoint import Endpoint
from fabula.config.serving import Serving
from fabula.graph.installed import graphs
from fabula.service.http.connections import make_limits, make_protocol
from fabula.service.process import _listen
from fabula.store import Store
from fabula.store.integrity import check
from jobs_over_http import BASE, begin, until
from killed_service import AT_ONCE, PATIENCE, Killed, endpoint, killed
from quoted import CAROL, quote_many
from stories import winter_story

__all__ = ["endpoint", "killed"]

pytestmark = pytest.mark.long

SEED = 17
KILLS, NIGHTLY_KILLS = 1, 9
"""Of one run: a job whose process ends ten times before it got anywhere is given up."""
NIGHTLY_RUNS = 12
FIRST_SEED = NIGHTLY_RUNS * int(os.environ.get("NIGHTLY_SEED", "100"))
"""Each night has seeds of its own: `scripts/run_tests.py` gives the day's number."""
LATEST = 2.5
"""Seconds into its work at which a service is killed at the latest."""
RIGHT = 120.0
"""Seconds after which the state of a job is right again."""


@pytest.mark.kill
def test_a_killed_service_loses_no_job_and_pays_none_twice(
    killed: Killed, store: Store, endpoint: Endpoint
) -> None:
    survive(killed, store, endpoint, SEED, KILLS)


def test_an_import_of_annotations_goes_on_after_a_kill(killed: Killed, store: Store) -> None:
    text = CAROL.read_text(encoding="utf-8")
    with killed.up() as client:
        query = {"graphs": "annotations"}
        until(client, begin(client, "marked", {"carol.txt": text}, params=query), "succeeded")
        [document] = client.get(f"{BASE}/collections/marked/documents").json()["rows"]
        path = f"{BASE}/collections/marked/documents/{document['id']}/annotations"
        content = quote_many(text, 3_000)
        reply = client.post(f"{path}/import", params={"layer": "many"}, content=content)
        assert reply.status_code == 202, reply.text
        id = reply.json()["id"]
        late = time.monotonic() + PATIENCE
        while "annotations" not in client.get(f"{BASE}/jobs/{id}").json()["steps"]:
            assert time.monotonic() < late
            time.sleep(0.1)
    with killed.up() as client:
        [item] = until(client, id, "succeeded")["items"]
        assert item["result"]["annotations"] == 3_000
        [layer] = client.get(f"{BASE}/collections/marked/annotations").json()["rows"]
        assert (layer["layer"], layer["annotations"]) == ("many", 3_000)
    assert check(store, graphs().values()).violations == ()


def test_a_service_of_its_own_process_sends_its_answers_at_once() -> None:
    # With Nagle's algorithm on its sockets each answer waits 40 ms for the client to speak.
    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 204, "headers": []})
        await send({"type": "http.response.body"})

    config = uvicorn.Config(
        answer, log_config=None, lifespan="off", http=make_protocol(make_limits())
    )
    server, listener = uvicorn.Server(config), _listen(Serving(port=0))
    thread = threading.Thread(target=server.run, args=([listener],))
    thread.start()
    try:
        with httpx2.Client(timeout=PATIENCE) as client:
            assert client.get(f"http://127.0.0.1:{listener.getsockname()[1]}/").status_code == 204
            [connection] = server.server_state.connections
            own = connection.transport.get_extra_info("socket")
            assert own.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) == 1
    finally:
        server.should_exit = True
        thread.join(PATIENCE)


@pytest.mark.nightly
@pytest.mark.parametrize("seed", range(FIRST_SEED, FIRST_SEED + NIGHTLY_RUNS))
def test_a_service_that_is_killed_at_any_moment_loses_no_job(
    killed: Killed, store: Store, endpoint: Endpoint, seed: int
) -> None:
    survive(killed, store, endpoint, seed, NIGHTLY_KILLS)


def survive(killed: Killed, store: Store, endpoint: Endpoint, seed: int, kills: int) -> None:
    draw = random.Random(seed)
    jobs: list[str] = []
    for number in range(kills):
        with killed.up() as client:
            goes_on(client, jobs, seed)
            # Accepted, and then at once or later the end.
            if number % 3 == 0:
                name = f"{seed} {number}"
                jobs.append(begin(client, "killed", {f"{name}.txt": f"{winter_story(name)}"}))
            time.sleep(draw.choice((0.0, draw.uniform(0.0, LATEST))))
    with killed.up() as client:
        goes_on(client, jobs, seed)
        ended = [until(client, id, seconds=240) for id in jobs]
        rows = client.get(f"{BASE}/usage").json()["rows"]
    assert [one["state"] for one in ended] == ["succeeded"] * len(jobs), f"seed {seed}: {ended}"
    sources = {document.source for document in store.documents("killed")}
    assert sources == {one["items"][0]["source"] for one in ended}, f"seed {seed}"
    assert check(store, graphs().values()).violations == (), f"seed {seed}"
    assert endpoint.notes is not None
    answered = Counter(line.split()[1] for line in endpoint.notes.read_text().splitlines())
    repeated = sum(count - 1 for count in answered.values())
    # What was on its way at a kill had been answered, but never arrived.
    assert repeated <= AT_ONCE * kills, f"seed {seed}: {repeated} calls were paid twice"
    # The ledger has all that ever arrived, and nothing that did not.
    billed = sum(row["calls"] for row in rows)
    unbilled = endpoint.paid_calls - billed
    assert 0 <= unbilled <= AT_ONCE * kills, f"seed {seed}: {unbilled} calls are in no ledger"


def goes_on(client: httpx2.Client, jobs: list[str], seed: int) -> None:
    """Whatever was under way is taken up again by itself, and soon."""
    began = time.monotonic()
    while True:
        found: list[dict[str, Any]] = [client.get(f"{BASE}/jobs/{id}").json() for id in jobs]
        # Two at once are worked on, and the others wait in their turn.
        going = [one for one in found if one["state"] not in ("queued", "succeeded")]
        if going or all(one["state"] == "succeeded" for one in found):
            assert all(one["state"] == "running" for one in going), f"seed {seed}: {found}"
            return
        assert time.monotonic() - began < RIGHT, f"seed {seed}: {found}"
        time.sleep(0.5)
