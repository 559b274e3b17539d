"""A service whose jobs are done by the workers of a Dask scheduler."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from dask_cluster import dask_cluster
from database import empty
from fabula.config.serving import Serving
from fabula.library import App
from fabula.server import Address
from served import served, server_of
from stories import LIGHTHOUSE, WINTER

pytestmark = [pytest.mark.long, pytest.mark.slow]

BASE = "/api/v1"
GRAPHS = ["aspects", "entities", "text"]
SECONDS = 240.0
"""For what takes a few: a machine may have other work to do."""


@pytest.fixture
def client(address: Address, tmp_path: Path) -> Iterator[httpx2.Client]:
    """A client of a service that has a scheduler, which is not there yet."""
    empty(address)
    settings: dict[str, Any] = {
        "model": "offline",
        "embedding_model": "wordllama-256",
        "chunk_tokens": 100,
    }
    with dask_cluster(tmp_path / "dask") as scheduler:
        table: dict[str, Any] = {"serve.scheduler": scheduler}
        with (
            App(home=tmp_path, **server_of(address), **settings, **table) as app,
            served(app) as service,
        ):
            yield service.client()


def run(client: httpx2.Client, method: str, path: str, **request: Any) -> dict[str, Any]:
    """The job that a request starts, once it is over."""
    begun = client.request(method, f"{BASE}/collections/books/{path}", **request)
    assert begun.status_code == 202, begun.text
    late = time.monotonic() + SECONDS
    while True:
        job: dict[str, Any] = client.get(f"{BASE}/jobs/{begun.json()['id']}").json()
        if job["state"] in ("succeeded", "failed", "cancelled", "paused"):
            return job
        assert time.monotonic() < late, job
        time.sleep(0.2)


def test_jobs_are_done_by_workers(client: httpx2.Client) -> None:
    files = [
        ("files", ("winter.txt", WINTER.encode())),
        ("files", ("bad.epub", b"PK\x03\x04 no book at all")),
    ]
    job = run(client, "POST", "documents", files=files)
    items = {item["source"].rpartition("/")[2]: item for item in job["items"]}
    assert job["state"] == "failed"
    assert items["winter.txt"]["state"] == "succeeded"
    assert "bad.epub" in items["bad.epub"]["error"]
    text = {"text": LIGHTHOUSE, "source": "notes/lighthouse"}
    assert run(client, "POST", "documents", json=text)["state"] == "succeeded"
    assert run(client, "POST", "build", json={"graph": "entities"})["state"] == "succeeded"
    documents = client.get(f"{BASE}/collections/books/documents").json()["rows"]
    assert [document["graphs"] for document in documents] == [GRAPHS[:-1]] * 2


def test_a_service_has_no_cluster_unless_one_is_set() -> None:
    assert Serving().scheduler is None
