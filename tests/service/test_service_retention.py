"""Records older than `serve.keep_days` are deleted, and nothing else is."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import httpx2
import pytest

from database import cypher, empty
from fabula import App
from fabula.server import Address
from fabula.service.core.retention import delete_old_records
from jobs_over_http import until
from served import Served, served, server_of
from stories import WINTER

SHELF = "/api/v1/collections/novels"
AGE = {
    "ServiceJob": "n.updated = n.updated - $days * 86400000",
    "ServiceConversation": "n.updated_at = n.updated_at - duration({days: $days})",
    "ServiceAct": "n.at = n.at - duration({days: $days})",
    "ServiceSpend": "n.day = n.day - duration({days: $days})",
    "ServiceRecipe": "n.seen = n.seen - $days * 86400000",
}


@pytest.fixture
def it(address: Address) -> Iterator[Served]:
    empty(address)
    with App(**server_of(address), chunk_tokens=40) as app, served(app) as it:
        yield it


def fill(client: httpx2.Client, name: str) -> tuple[str, str]:
    """Have a job done and a question asked in a conversation; the places of both."""
    sent = client.post(f"{SHELF}/documents", files={"files": (name, f"{WINTER} {name}".encode())})
    job = sent.headers["location"]
    assert until(client, sent.json()["id"])["state"] == "succeeded"
    conversation = client.post(f"{SHELF}/conversations", json={"title": name}).json()["id"]
    request = {"question": "Where did Anna walk?", "conversation": conversation}
    assert client.post(f"{SHELF}/ask", json=request).status_code == 200
    return job, f"{SHELF}/conversations/{conversation}"


def age(it: Served, days: int) -> None:
    """Let all that the service keeps be older by so many days."""
    it.state.ledger.flush()
    for label, change in AGE.items():
        cypher(it.state.app.connect(), f"MATCH (n:{label}) SET {change}", days=days)


def counts(it: Served) -> dict[str, int]:
    rows = cypher(
        it.state.app.connect(),
        "MATCH (n:ServiceJob|ServiceItem|ServiceConversation|ServiceTurn|ServiceAct|ServiceSpend) "
        "RETURN labels(n)[0] AS label, count(*) AS nodes",
    )
    return {row["label"]: row["nodes"] for row in rows}


def test_what_is_old_is_deleted_and_the_rest_stays(
    it: Served, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "fabula.service")
    client = it.client("write")
    old = fill(client, "old.txt")
    first = counts(it)
    assert {"ServiceJob", "ServiceItem", "ServiceConversation", "ServiceTurn"} <= first.keys()
    age(it, 70)
    young = fill(client, "young.txt")
    store = it.state.app.connect()
    assert not any(delete_old_records(store, 100).values()), "nothing is as old as that"
    deleted = delete_old_records(store, 60)
    assert (deleted["jobs"], deleted["conversations"]) == (1, 1)
    assert deleted["acts"] > 0
    assert [client.get(path).status_code for path in young] == [200, 200]
    assert client.get(old[0]).status_code == 404
    assert counts(it)["ServiceItem"] == counts(it)["ServiceTurn"] == 1
    assert "Deleted records older than serve.keep_days (60): 1 jobs" in caplog.text
    assert not any(delete_old_records(store, 60).values()), "all of it is deleted"


def test_jobs_that_have_not_ended_their_recipes_and_the_spending_of_this_month_stay(
    it: Served,
) -> None:
    fill(it.client("write"), "old.txt")
    store = it.state.app.connect()
    recipes = "MATCH (n:ServiceRecipe) RETURN n.id AS id"
    begun = cypher(store, recipes)
    age(it, 70)
    cypher(store, "MATCH (n:ServiceJob) SET n.state = 'paused'")
    spend = "CREATE (:ServiceSpend {id: $id, key: 'k', day: date() - duration({days: $days})})"
    for days in (0, 40, 70):
        cypher(store, spend, id=str(days), days=days)
    assert delete_old_records(store, 1)["recipes"] == 0
    assert cypher(store, recipes) == begun
    assert counts(it)["ServiceJob"] == counts(it)["ServiceItem"] == 1
    kept = cypher(store, "MATCH (n:ServiceSpend {key: 'k'}) RETURN n.id AS id")
    assert [row["id"] for row in kept] == ["0"]
    cypher(store, "MATCH (n:ServiceJob) SET n.state = 'succeeded', n.updated = 0")
    assert delete_old_records(store, 30)["recipes"] == len(begun) == 1
