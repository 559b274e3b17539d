"""What a service spends is what the endpoint answered: to the call and to the token."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from endpoint import Endpoint
from fabula.library import App
from fabula.server import Address
from fabula.store import Store
from jobs_over_http import BASE, begin, until
from served import Served, served, server_of
from stories import WINTER, winter_story

pytestmark = pytest.mark.long


@pytest.fixture
def it(address: Address, store: Store, tmp_path: Path, endpoint: Endpoint) -> Iterator[Served]:
    """A service over an empty graph, with a cache and a model."""
    settings: dict[str, Any] = server_of(address) | {"cache": True, "concurrency": 4}
    model: dict[str, Any] = {"base_url": endpoint.url, "api_key": "sk-test", "chunk_tokens": 48}
    with (
        App(home=tmp_path, cache_folder=tmp_path / "cache", **settings, **model) as app,
        served(app) as made,
    ):
        yield made


def spent(it: Served) -> tuple[int, int]:
    """Calls and tokens of all keys, as the ledger has them."""
    rows = it.state.ledger.usage("day")
    return sum(row.calls for row in rows), sum(row.tokens for row in rows)


def refuse_difference(it: Served, endpoint: Endpoint, when: str) -> None:
    """Fails unless the ledger has exactly what the endpoint answered."""
    until = time.monotonic() + 120
    # The endpoint counts a reply after it was sent, which whoever reads it may come before.
    while (found := spent(it)) != (endpoint.paid_calls, endpoint.paid_tokens):
        told = (endpoint.paid_calls, endpoint.paid_tokens)
        assert time.monotonic() < until, f"{when}: the ledger has {found}, the endpoint {told}"
        time.sleep(0.1)


def begin_many(it: Served, endpoint: Endpoint, count: int) -> None:
    """Runs so many jobs, and compares the ledger with the endpoint after each two."""
    client = it.client("admin")
    for number in range(0, count, 2):
        names = [f"{number} {half}" for half in ("one", "two")]
        query = "?graphs=aspects&graphs=entities"
        begun = [
            client.post(
                f"{BASE}/collections/money/documents{query}",
                files=[("files", (f"{name}.txt", winter_story(name).encode()))],
            ).json()["id"]
            for name in names
        ]
        ended = [until(client, id) for id in begun]
        assert [one["state"] for one in ended] == ["succeeded"] * 2, ended
        refuse_difference(it, endpoint, f"after {number + 2} jobs")


def test_the_cost_of_an_answer_is_told_and_nothing_is_paid(it: Served, endpoint: Endpoint) -> None:
    begin_many(it, endpoint, 1)
    before, asked = spent(it), {"question": "Who went to the mill?"}
    reader = it.client("read")
    expected = reader.post(f"{BASE}/collections/money/ask/cost", json=asked).json()
    assert spent(it) == before
    assert expected["usage"]["answer"]["calls"] == 1
    assert expected["money"] > 0
    answer = reader.post(f"{BASE}/collections/money/ask", json=asked).json()
    steps = {step for step, usage in answer["usage"].items() if usage["calls"]}
    assert steps <= set(expected["usage"])


@pytest.mark.journey
def test_the_ledger_has_what_the_endpoint_answered(it: Served, endpoint: Endpoint) -> None:
    endpoint.delay = 0.02
    begin_many(it, endpoint, 20)
    response = it.client("read").post(
        f"{BASE}/collections/money/ask", json={"question": "Who went to the mill?", "rerank": True}
    )
    assert response.status_code == 200, response.text
    refuse_difference(it, endpoint, "after a question")
    [mine] = [row for row in it.state.ledger.usage("collection") if row.what == "money"]
    assert mine.money > 0


@pytest.mark.nightly
def test_a_hundred_jobs_are_billed_exactly(it: Served, endpoint: Endpoint) -> None:
    endpoint.delay = 0.02
    begin_many(it, endpoint, 100)


def test_a_spent_quota_says_how_much_of_what_and_when_it_renews(
    it: Served, endpoint: Endpoint
) -> None:
    client = it.client("admin")
    assert until(client, begin(client, "money", {"winter.txt": WINTER}))["state"] == "succeeded"
    made = client.post(f"{BASE}/keys", json={"name": "Ann", "role": "read", "tokens_a_day": 300})
    headers = {"Authorization": f"Bearer {made.json()['key']}"}
    question = {"question": "Who walked to the harbour?"}
    refused = client.post(f"{BASE}/collections/money/ask", json=question, headers=headers)
    assert refused.status_code == 402
    body = refused.json()["detail"]
    assert "the key 'Ann' has spent " in body
    assert " of the 300 tokens that it may spend a day" in body
    assert "renews at midnight UTC" in body
