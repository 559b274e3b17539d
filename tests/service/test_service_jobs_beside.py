"""Jobs that a model is asked for, and services beside each other: counted, cancelled, done once."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any

import pytest

from database import cypher
from endpoint import Endpoint
from fabula.library import App
from fabula.operations.keys import list_keys
from fabula.server import Address
from fabula.store import Store
from jobs_over_http import BASE, POLL_SECONDS, begin, books, until
from served import served, server_of
from stories import WINTER

pytestmark = pytest.mark.long

DELAY = 0.3
"""Seconds that a model's call takes."""
SLOW = 1.0
"""The same where a job has to last until its runner, which looks each second, has seen it."""


@pytest.fixture
def folder(store: Store, tmp_path: Path) -> Path:
    """The home of services over an empty graph."""
    return tmp_path


def test_a_job_that_a_model_is_asked_for_is_counted_cancelled_and_done_again(
    address: Address, folder: Path
) -> None:
    # A few calls are answered, and the others when the test has done what it does meanwhile.
    go, answered = threading.Event(), 6

    def hold(number: int, _: dict[str, Any]) -> None:
        if number > answered:
            go.wait(120)

    with Endpoint(delay=DELAY, raw=hold) as endpoint:
        model: dict[str, Any] = {"base_url": endpoint.url, "api_key": "sk-test", "chunk_tokens": 48}
        settings: dict[str, Any] = server_of(address) | {
            "cache": True,
            "cache_folder": folder / "cache",
        }
        with App(home=folder, **settings, **model, concurrency=2) as app, served(app) as it:
            client = it.client("write")
            id = begin(client, "asked", {"winter.txt": WINTER})
            deadline = time.monotonic() + 120
            while not (job := client.get(f"{BASE}/jobs/{id}").json())["items"][0]["usage"]:
                assert time.monotonic() < deadline
                time.sleep(POLL_SECONDS)
            assert job["state"] == "running"
            assert job["money"] is not None
            assert any(value["done"] for value in job["items"][0]["steps"].values())
            began = time.monotonic()
            assert client.post(f"{BASE}/jobs/{id}/cancel").json()["cancelling"]
            assert time.monotonic() - began < 30, "it waits for no call"
            # It is seen within a second, and ends with the calls under way.
            endpoint.delay = SLOW
            go.set()
            ended = until(client, id)
            assert (ended["state"], ended["counts"]) == ("cancelled", {"cancelled": 1})
            assert books(client, "asked") == {}
            calls = endpoint.calls
            time.sleep(3 * DELAY)
            assert endpoint.calls == calls
            endpoint.delay = 0
            assert client.post(f"{BASE}/jobs/{id}/retry").status_code == 202
            done = until(client, id)
            assert done["state"] == "succeeded", done
            paid = [body for body in endpoint.bodies if "messages" in body]
            assert len({str(one) for one in paid}) == len(paid), "a call was paid twice"
            counted = sum(
                one["calls"] for step, one in done["usage"].items() if step != "embeddings"
            )
            assert counted == len(paid)
            assert done["money"] > 0

            # Who loses the key has no more done: not what runs, not what waits.
            key, admin = list_keys(it.asker).rows[-1], it.client()
            endpoint.delay = DELAY
            go.clear()
            answered = endpoint.calls + 6
            runs = begin(client, "revoked", {"winter.txt": f"Otherwise.\n\n{WINTER}"})
            waits = begin(client, "revoked", {"winter.txt": f"Once more.\n\n{WINTER}"})
            deadline = time.monotonic() + 120
            while not admin.get(f"{BASE}/jobs/{runs}").json()["items"][0]["usage"]:
                assert time.monotonic() < deadline
                time.sleep(POLL_SECONDS)
            assert admin.delete(f"{BASE}/keys/{key.id}").status_code == 204
            endpoint.delay = SLOW
            go.set()
            ends = [until(admin, one) for one in (runs, waits)]
            assert [end["counts"] for end in ends] == [{"cancelled": 1}] * 2
            assert "is revoked" in ends[1]["problem"]
            assert books(admin, "revoked") == {}


def test_a_spent_budget_pauses_and_resuming_goes_on(address: Address, folder: Path) -> None:
    with Endpoint() as endpoint:
        model: dict[str, Any] = {"base_url": endpoint.url, "api_key": "sk-test", "chunk_tokens": 48}
        # Each call that is under way at the limit may exceed it by its reply.
        model["concurrency"] = 1
        with App(home=folder, **server_of(address), **model) as app, served(app) as it:
            client = it.client("write")
            key = list_keys(it.asker).rows[-1]
            cypher(
                app.connect(),
                "MATCH (key:ServiceKey {id: $id}) SET key.tokens_a_day = 1500",
                id=key.id,
            )
            id = begin(client, "budget", {"winter.txt": WINTER})
            paused = until(client, id)
            assert paused["state"] == "paused", paused
            assert "of the 1,500 tokens that it may spend a day" in paused["problem"]
            assert paused["counts"] == {"queued": 1}

            # Who has it go on pays for it: no call begins that would exceed the money.
            other = it.client("write")
            payer = list_keys(it.asker).rows[-1]
            set_money = "MATCH (key:ServiceKey {id: $id}) SET key.money_a_day = $money"
            cypher(app.connect(), set_money, id=payer.id, money=0.000001)
            calls_before = endpoint.calls
            assert other.post(f"{BASE}/jobs/{id}/resume").status_code == 202
            paused = until(client, id)
            assert (paused["state"], paused["created_by"]) == ("paused", payer.id)
            assert "that it may spend a day" in paused["problem"]
            assert endpoint.calls == calls_before
            paid = {row.what: row.tokens for row in it.state.ledger.usage("key")}
            assert paid.get(payer.id, 0) == 0
            assert paid.get(key.id, 0) <= 1500
            cypher(app.connect(), set_money, id=payer.id, money=100.0)
            assert other.post(f"{BASE}/jobs/{id}/resume").status_code == 202
            assert until(client, id)["state"] == "succeeded"
            paid = {row.what: row.tokens for row in it.state.ledger.usage("key")}
            assert paid[payer.id] > 0
            assert paid.get(key.id, 0) <= 1500


def test_two_services_over_one_graph_do_each_job_once(address: Address, folder: Path) -> None:
    offline: dict[str, Any] = {
        "model": "offline",
        "embedding_model": "wordllama-256",
        "chunk_tokens": 100,
    }
    files = {f"{number}.txt": f"{WINTER}\n\n{number}" for number in range(3)}
    with (
        App(home=folder, **server_of(address), **offline) as app,
        App(home=folder, **server_of(address), **offline) as other,
        served(app) as left,
        served(other) as right,
    ):
        clients = [left.client("write"), right.client("write")]
        ids: list[str] = []
        sending = [
            threading.Thread(
                target=lambda name, text, client: ids.append(begin(client, "both", {name: text})),
                args=(name, text, clients[number % 2]),
            )
            for number, (name, text) in enumerate(files.items())
        ]
        for thread in sending:
            thread.start()
        for thread in sending:
            thread.join()
        for id in ids:
            job = until(clients[0], id)
            assert (job["state"], job["counts"]) == ("succeeded", {"succeeded": 1}), job
            [row] = cypher(
                app.connect(), "MATCH (job:ServiceJob {id: $id}) RETURN job.attempts AS n", id=id
            )
            assert row["n"] == 0
