"""Jobs that tests begin over HTTP, and wait for."""

from __future__ import annotations

import time
from typing import Any

import httpx2

BASE = "/api/v1"
OVER = ("succeeded", "failed", "cancelled", "paused")
POLL_SECONDS = 0.2
"""Poll interval of a job: a key has 600 requests a minute, and machines may be slow."""


def until(client: httpx2.Client, id: str, *states: str, seconds: float = 240.0) -> dict[str, Any]:
    """The job once it is in one of these states, or over."""
    deadline = time.monotonic() + seconds
    while True:
        job: dict[str, Any] = client.get(f"{BASE}/jobs/{id}").json()
        if job["state"] in (states or OVER):
            return job
        assert time.monotonic() < deadline, job
        time.sleep(POLL_SECONDS)


def send(client: httpx2.Client, collection: str, files: dict[str, str], **more: Any) -> Any:
    form = [("files", (name, text.encode())) for name, text in files.items()]
    return client.post(f"{BASE}/collections/{collection}/documents", files=form, **more)


def begin(client: httpx2.Client, collection: str, files: dict[str, str], **more: Any) -> str:
    begun = send(client, collection, files, **more)
    assert begun.status_code == 202, begun.text
    return str(begun.json()["id"])


def books(client: httpx2.Client, collection: str) -> dict[str, str]:
    """The titles of a collection's documents by their sources."""
    found = client.get(f"{BASE}/collections/{collection}/documents").json()
    return {row["source"]: row["title"] for row in found.get("rows", ())}
