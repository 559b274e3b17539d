"""A service that is killed at any moment and started again: no job is lost, and none paid twice."""

from __future__ import annotations

import os
import random
import re
import signal
import socket
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
import uvicorn
from starlette.types import Receive, Scope, Send
from test_service_jobs import BASE, begin, until

from endpoint import Endpoint
from fabula.config.serving import Serving
from fabula.graph.installed import graphs
from fabula.server import Address
from fabula.service.core.keys import Keys
from fabula.service.gateway import gateway_process
from fabula.service.http.connections import make_limits, make_protocol
from fabula.service.process import _listen
from fabula.service.state import make_schema
from fabula.store import Store
from fabula.store.integrity import check
from forked import Forked
from kills import story
from quoted import CAROL, quote_many

pytestmark = pytest.mark.long

SEED = 16
KILLS = 9
"""Of one run: a job whose process ends ten times before it got anywhere is given up."""
MORE = 112
"""Runs of a night: 1,008 kills."""
AT_ONCE = 4
LATEST = 2.5
"""Seconds into its work at which a service is killed at the latest."""
RIGHT = 120.0
"""Seconds after which the state of a job is right again."""
PATIENCE = 120.0
"""Seconds for what takes two: against what never ends."""


class Killed:
    """A service of its own process, over the tests' Neo4j and an endpoint that takes notes."""

    def __init__(self, folder: Path, address: Address, endpoint: Endpoint, secret: str) -> None:
        self.environment = {
            **{name: value for name, value in os.environ.items() if "FABULA" not in name},
            "FABULA_HOME": str(folder / "home"),
            "FABULA_CACHE_FOLDER": str(folder / "cache"),
            "FABULA_CHUNK_TOKENS": "48",
            "FABULA_CONCURRENCY": str(AT_ONCE),
            "NEO4J_URI": address.uri,
            "NEO4J_USERNAME": address.username,
            "NEO4J_PASSWORD": address.password,
            "OPENAI_BASE_URL": endpoint.url,
            "OPENAI_API_KEY": "sk-test",
        }
        self.folder, self.begun = folder, 0
        self.headers = {"Authorization": f"Bearer {secret}"}

    @contextmanager
    def up(self, end: int = signal.SIGKILL) -> Iterator[httpx2.Client]:
        """The service, until it is killed at the end, or ended by another signal."""
        self.begun += 1
        said = self.folder / f"said {self.begun}"
        process = Forked(said, "serve", "--port", "0", environment=self.environment)
        try:
            late = time.monotonic() + PATIENCE
            while not (found := re.search(r"(http://[\d.]+:\d+)/enter", process.said)):
                assert process.poll() is None, process.said
                assert time.monotonic() < late, process.said
                time.sleep(0.02)
            with httpx2.Client(base_url=found[1], headers=self.headers, timeout=120) as client:
                yield client
        finally:
            process.interrupt(end)
            process.wait(PATIENCE)


@pytest.fixture
def endpoint(tmp_path: Path) -> Iterator[Endpoint]:
    with Endpoint(delay=0.1, notes=tmp_path / "notes") as made:
        yield made


@pytest.fixture
def killed(tmp_path: Path, address: Address, store: Store, endpoint: Endpoint) -> Killed:
    make_schema(store)
    _, secret = Keys(store).make("kills", "admin")
    return Killed(tmp_path, address, endpoint, secret)


@pytest.mark.kill
def test_a_killed_service_loses_no_job_and_pays_none_twice(
    killed: Killed, store: Store, endpoint: Endpoint
) -> None:
    survive(killed, store, endpoint, SEED)


def test_an_import_of_annotations_goes_on_after_a_kill(killed: Killed, store: Store) -> None:
    text = CAROL.read_text(encoding="utf-8")
    with killed.up() as client:
        query = {"graphs": "annotations"}
        until(client, begin(client, "marked", {"carol.txt": text}, params=query), "succeeded")
        [document] = client.get(f"{BASE}/collections/marked/documents").json()["items"]
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
        [layer] = client.get(path).json()
        assert (layer["layer"], layer["annotations"]) == ("many", 3_000)
    assert check(store, graphs().values()).violations == ()


@pytest.mark.parametrize(
    "listen",
    [lambda: _listen(Serving(port=0)), lambda: gateway_process.listen("127.0.0.1", 0)],
    ids=["service", "gateway"],
)
def test_a_service_of_its_own_process_sends_its_answers_at_once(
    listen: Callable[[], socket.socket],
) -> None:
    # With Nagle's algorithm on its sockets each answer waits 40 ms for the client to speak.
    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 204, "headers": []})
        await send({"type": "http.response.body"})

    config = uvicorn.Config(
        answer, log_config=None, lifespan="off", http=make_protocol(make_limits())
    )
    server, listener = uvicorn.Server(config), listen()
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
@pytest.mark.parametrize("seed", range(1000, 1000 + MORE))
def test_a_service_that_is_killed_a_thousand_times_loses_no_job(
    killed: Killed, store: Store, endpoint: Endpoint, seed: int
) -> None:
    survive(killed, store, endpoint, seed)


def survive(killed: Killed, store: Store, endpoint: Endpoint, seed: int) -> None:
    draw = random.Random(seed)
    jobs: list[str] = []
    for number in range(KILLS):
        with killed.up() as client:
            goes_on(client, jobs, seed)
            # Accepted, and then at once or later the end.
            if number % 3 == 0:
                name = f"{seed} {number}"
                jobs.append(begin(client, "killed", {f"{name}.txt": f"{story(name)}"}))
            time.sleep(draw.choice((0.0, draw.uniform(0.0, LATEST))))
    with killed.up() as client:
        goes_on(client, jobs, seed)
        ended = [until(client, id, seconds=240) for id in jobs]
        rows = client.get(f"{BASE}/usage").json()["items"]
    assert [one["state"] for one in ended] == ["succeeded"] * len(jobs), f"seed {seed}: {ended}"
    sources = {one.source for one in store.documents("killed")}
    assert sources == {one["items"][0]["source"] for one in ended}, f"seed {seed}"
    assert check(store, graphs().values()).violations == (), f"seed {seed}"
    assert endpoint.notes is not None
    answered = Counter(line.split()[1] for line in endpoint.notes.read_text().splitlines())
    repeated = sum(count - 1 for count in answered.values())
    # What was on its way at a kill had been answered, but never arrived.
    assert repeated <= AT_ONCE * KILLS, f"seed {seed}: {repeated} calls were paid twice"
    # The ledger has all that ever arrived, and nothing that did not.
    billed = sum(one["calls"] for one in rows)
    unbilled = endpoint.paid_calls - billed
    assert 0 <= unbilled <= AT_ONCE * KILLS, f"seed {seed}: {unbilled} calls are in no ledger"


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
