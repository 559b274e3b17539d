"""Jobs that ask by batches: they wait, go on by themselves, and survive the service."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import httpx2
import pytest

from database import empty
from endpoint import Endpoint
from fabula.library import App
from fabula.server import Address
from jobs_over_http import BASE, POLL_SECONDS, until
from served import served, server_of
from stories import harbour_story

SCREEN = "/c/books/documents"
pytestmark = pytest.mark.long


@pytest.fixture
def options(address: Address, endpoint: Endpoint, tmp_path: Path) -> dict[str, Any]:
    empty(address)
    return {
        **server_of(address),
        "home": tmp_path / "home",
        "cache": True,
        "cache_folder": tmp_path / "cache",
        "base_url": endpoint.url,
        "api_key": "sk-test",
        "chunk_tokens": 40,
        "batch_min_tokens": 0,
        "serve.batch_poll": 0.2,
    }


def send(client: httpx2.Client, **query: str) -> dict[str, Any]:
    files = [("files", ("harbour.txt", harbour_story("slept", 4).encode()))]
    answer = client.post(f"{BASE}/collections/books/documents", files=files, params=query)
    assert answer.status_code == 202, answer.text
    job: dict[str, Any] = answer.json()
    return job


def test_a_job_waits_for_its_batches_and_goes_on_by_itself(
    options: dict[str, Any], endpoint: Endpoint
) -> None:
    endpoint.batches.looks = 1000
    with App(**options) as app, served(app) as service:
        client = service.client("write")
        job = send(client, batch="true")
        waiting = until(client, job["id"], "waiting")
        assert waiting["problem"].startswith("It waits for 1 batch with ")
        assert waiting["counts"] == {"queued": 1}
        # Now and then it runs for a moment, to look at its batches, and is not listed as waiting.
        deadline = time.monotonic() + 240
        while not (
            listed := client.get(f"{BASE}/jobs", params={"state": "waiting"}).json()["rows"]
        ):
            assert time.monotonic() < deadline
            time.sleep(POLL_SECONDS)
        assert [one["id"] for one in listed] == [job["id"]]
        for batch in endpoint.batches.batches.values():
            batch["looks"] = 0
        endpoint.batches.looks = 0
        done = until(client, job["id"], "succeeded", "failed", "paused", "cancelled")
        assert (done["state"], done["counts"], done["problem"]) == (
            "succeeded",
            {"succeeded": 1},
            "",
        )
        usage = done["usage"].values()
        assert sum(step["batch_prompt_tokens"] for step in usage) > 0
        assert max(endpoint.batches.paid.values()) == 1
        # The ledger has what was paid, each reply once.
        spent = client.get(f"{BASE}/usage", params={"by": "collection"}).json()
        [row] = [each for each in spent["rows"] if each["what"] == "books"]
        assert row["tokens"] == endpoint.paid_tokens


def test_a_job_that_waits_goes_on_in_the_next_process(
    options: dict[str, Any], endpoint: Endpoint
) -> None:
    endpoint.batches.looks = 1000
    with App(**options) as app, served(app) as service:
        client = service.client("write")
        id = send(client, batch="true")["id"]
        until(client, id, "waiting")
    for batch in endpoint.batches.batches.values():
        batch["looks"] = 0
    endpoint.batches.looks = 0
    with App(**options) as app, served(app) as service:
        done = until(service.client("write"), id, "succeeded", "failed", "paused")
    assert done["state"] == "succeeded"
    assert max(endpoint.batches.paid.values()) == 1


def test_a_job_waits_while_its_batches_cannot_be_asked_about(
    options: dict[str, Any], endpoint: Endpoint
) -> None:
    endpoint.batches.looks = 1000
    with App(**options, attempts=1) as app, served(app) as service:
        client = service.client("write")
        id = send(client, batch="true")["id"]
        until(client, id, "waiting")
        endpoint.batches.after = lambda name: 503 if name.startswith("GET /batches/") else None
        deadline = time.monotonic() + 240
        while "refused" not in (job := client.get(f"{BASE}/jobs/{id}").json())["problem"]:
            assert time.monotonic() < deadline, job
            time.sleep(POLL_SECONDS)
        assert job["state"] in ("waiting", "running")
        for batch in endpoint.batches.batches.values():
            batch["looks"] = 0
        endpoint.batches.looks = 0
        endpoint.batches.after = lambda _: None
        done = until(client, id, "succeeded", "failed", "paused", "cancelled")
    assert done["state"] == "succeeded"
    assert max(endpoint.batches.paid.values()) == 1


def test_a_waiting_job_is_cancelled(options: dict[str, Any], endpoint: Endpoint) -> None:
    endpoint.batches.looks = 1000
    with App(**options) as app, served(app) as service:
        client = service.client("write")
        id = send(client, batch="true")["id"]
        until(client, id, "waiting")
        assert client.post(f"{BASE}/jobs/{id}/cancel").status_code == 202
        assert until(client, id, "cancelled")["counts"] == {"cancelled": 1}


def test_an_estimate_by_batches_is_half(options: dict[str, Any], tmp_path: Path) -> None:
    with App(**options) as app, served(app) as service:
        client = service.client("write")
        prices = tmp_path / "prices.toml"
        names = {app.settings.model, app.settings.embedding_model}
        prices.write_text("".join(f'["{name}"]\nprompt = 1\ncompletion = 4\n' for name in names))
    with App(**options, prices=prices) as app, served(app) as service:
        client = service.client("write")
        files = [("files", ("harbour.txt", harbour_story("slept", 4).encode()))]
        whole, half = (
            client.post(f"{BASE}/collections/books/documents", files=files, params=query).json()
            for query in ({"dry_run": "true"}, {"dry_run": "true", "batch": "true"})
        )
    assert half["money"] == pytest.approx(whole["money"] / 2)


def test_batches_are_refused_where_there_are_none(options: dict[str, Any]) -> None:
    with App(**{**options, "cache": False}) as app, served(app) as service:
        client = service.client("write")
        files = [("files", ("harbour.txt", b"A story of the harbour."))]
        query = {"batch": "true"}
        answer = client.post(f"{BASE}/collections/books/documents", files=files, params=query)
        app.collection("books").ingest_text("A story of the harbour.", source="harbour.txt")
        again = client.post(f"{BASE}/collections/books/renew", json={"batch": True})
    for refused in (answer, again):
        assert refused.status_code == 400
        assert "response cache" in refused.json()["detail"]


def test_the_page_offers_batches_for_their_price(
    options: dict[str, Any], endpoint: Endpoint, tmp_path: Path
) -> None:
    endpoint.batches.looks = 1000
    prices = tmp_path / "prices.toml"
    with App(**options) as app:
        names = {app.settings.model, app.settings.embedding_model}
    prices.write_text("".join(f'["{name}"]\nprompt = 1000\ncompletion = 4000\n' for name in names))
    with App(**options, prices=prices) as app, served(app) as service:
        client = service.client("write")
        files = [("files", ("harbour.txt", harbour_story("slept", 4).encode()))]
        accept = {"Accept": "application/json"}
        to = client.post("/c/books/add", files=files, headers=accept).json()["to"]
        page = client.get(to).text
        assert 'name="by_batch"' in page
        batch = to.partition("batch=")[2]
        form = {"batch": batch, "graphs": "aspects", "estimated": "aspects", "by_batch": "true"}
        begun = client.post("/c/books/add/begin", data=form)
        assert begun.status_code == 303, begun.text
        job = until(client, begun.headers["location"].rpartition("/")[2], "waiting")
        assert job["state"] == "waiting"
        # Now and then it runs for a moment, to look at its batches.
        deadline = time.monotonic() + 240
        while "It waits for 1 batch with" not in (
            shown := client.get(begun.headers["location"]).text
        ):
            assert time.monotonic() < deadline, shown
            time.sleep(POLL_SECONDS)
        assert "Cancel" in shown


def test_the_page_offers_batches_where_no_price_is_known(
    options: dict[str, Any], endpoint: Endpoint
) -> None:
    endpoint.batches.looks = 1000
    unknown: dict[str, Any] = {"model": "mine", "embedding_model": "mine-too"}
    with App(**options, **unknown) as app, served(app) as service:
        client = service.client("write")
        files = [("files", ("harbour.txt", harbour_story("slept", 4).encode()))]
        accept = {"Accept": "application/json"}
        to = client.post("/c/books/add", files=files, headers=accept).json()["to"]
        assert "By batches, at half the price" in client.get(to).text


def test_gaps_are_filled_by_batches_from_the_page(
    options: dict[str, Any], endpoint: Endpoint
) -> None:
    endpoint.batches.looks = 0
    # A detail's passage, whether it is asked for alone or among others.
    place = "harbour on day 3,"
    endpoint.withheld = {("Below are", place): "nonsense", ("<passage>\n", place): "nonsense"}
    with App(**options) as app, served(app) as service:
        books = app.collection("books")
        gaps = books.ingest_text(harbour_story("slept", 12), source="harbour.txt").gaps
        assert gaps
        endpoint.withheld = {}
        client = service.client("write")
        assert 'name="by_batch"' in client.get(f"{SCREEN}?tool=renew&run=true").text
        begun = client.post(SCREEN, data={"tool": "renew", "run": "true", "by_batch": "true"})
        assert begun.status_code == 303, begun.text
        job = until(client, begun.headers["location"].rpartition("/")[2], "succeeded", "failed")
        assert job["state"] == "succeeded"
        assert endpoint.batches.paid.total() >= len(gaps)
        [entry] = books.documents()
        assert entry.gaps == 0
        # Now there is nothing to ask, and so nothing to choose.
        assert 'name="by_batch"' not in client.get(f"{SCREEN}?tool=renew&run=true").text
