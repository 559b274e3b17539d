"""Outlines, passages, exports, pictures and queries over a served house."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from xml.etree import ElementTree

import httpx2
import pytest

from cases import for_each
from database import connect
from fabula.operations.passages import find_above
from fabula.server import Address
from fabula.service import state
from offline import offline_app
from served import Served, served
from stories import LIGHTHOUSE, WINTER

BASE = "/api/v1"
SHELF = f"{BASE}/collections/novels"


@pytest.fixture(scope="module")
def it(address: Address) -> Iterator[Served]:
    with offline_app(address, **{"aspects.cluster_size": 3}) as app:
        novels = app.collection("novels")
        novels.ingest_text(WINTER, source="winter.txt", title="Winter", author="Nobody")
        text = LIGHTHOUSE.partition("\n\n")[2]
        app.collection("diaries").ingest_text(text, source="diary.txt", title="A Diary")
        with served(app) as it:
            yield it


@pytest.fixture(scope="module")
def winter(client: httpx2.Client) -> str:
    [one] = client.get(f"{SHELF}/documents").json()["rows"]
    return f"{SHELF}/documents/{one['id']}"


@pytest.mark.journey
def test_an_outline_has_every_summary_once_below_one_that_rests_on_it(
    client: httpx2.Client, winter: str
) -> None:
    body = client.get(f"{winter}/outline", params={"members": True}).json()
    layers = client.get(winter).json()["layers"]
    counts = [layer["passages"] for layer in layers if layer["kind"] == "summary"]
    assert body["total"] == len(body["rows"]) == sum(counts)
    levels = [row["level"] for row in body["rows"]]
    assert levels == sorted(levels, reverse=True)
    by_id = {row["id"]: row for row in body["rows"]}
    below = [row for row in body["rows"] if row["above"]]
    assert below
    for one in below:
        above = by_id[one["above"]]
        assert above["aspect"] == one["aspect"]
        assert one["id"] in {member["id"] for member in above["members"]}
    high = client.get(f"{winter}/outline", params={"level": levels[0]}).json()["rows"]
    assert {one["level"] for one in high} == {levels[0]}
    assert {(*one["members"],) for one in high} == {()}
    name = body["rows"][0]["aspect"]
    plot = client.get(f"{winter}/outline", params={"aspect": name}).json()["rows"]
    assert {one["aspect"] for one in plot} == {name}


@pytest.mark.journey
def test_a_recap_tells_nothing_after_the_place(
    it: Served, client: httpx2.Client, winter: str
) -> None:
    path = f"{winter}/recap"
    missing = client.get(path)
    assert missing.status_code == 404
    assert "has no episodes yet" in missing.json()["detail"]
    it.state.app.collection("novels").build("episodes")
    length = client.get(f"{winter}/text").json()["length"]
    whole = client.get(path).json()
    assert whole["until"] == whole["rows"][-1]["end"] == length
    half = client.get(path, params={"until": "50%", "by": "chapter"}).json()
    assert half["until"] == length // 2
    assert half["title"] == "Winter"
    for recap in (whole, half):
        ends = [0, *(part["end"] for part in recap["rows"])]
        assert [part["start"] for part in recap["rows"]] == ends[:-1]
        assert ends[-1] <= recap["until"]
        assert all(part["by"] == "rules" and part["text"] for part in recap["rows"])
    short = client.get(path, params={"tokens": 20}).json()
    assert sum(part["tokens"] for part in short["rows"]) <= 20
    for bad in ({"by": "scene"}, {"level": -1}, {"tokens": "many"}):
        assert client.get(path, params=bad).status_code == 422, bad
    nowhere = client.get(path, params={"until": "CHAPTER XC"})
    assert nowhere.status_code == 404
    assert client.get(path.replace("novels", "diaries")).status_code == 404


def test_a_passage_is_told_with_what_is_around_it(client: httpx2.Client, winter: str) -> None:
    def near(id: str, direction: str) -> list[dict[str, Any]]:
        request = {"direction": direction}
        rows = client.get(f"{SHELF}/passages/{id}/neighbours", params=request).json()["rows"]
        return list(rows)

    summaries = client.get(f"{winter}/outline", params={"members": True}).json()["rows"]
    node = summaries[0]
    path = f"{SHELF}/passages/{node['id']}"
    body = client.get(path).json()
    assert (body["passage"]["kind"], body["passage"]["text"]) == ("summary", node["text"])
    assert {source["start"] for source in body["sources"]} >= {node["start"]}
    weights = {one["id"]: one["weight"] for one in near(node["id"], "down")}
    assert weights == {member["id"]: member["weight"] for member in node["members"]}
    assert node["id"] in {one["id"] for one in near(node["members"][0]["id"], "up")}
    chunk = body["sources"][1]
    beside = near(chunk["id"], "beside")
    assert {one["end"] for one in beside} & {chunk["start"]}
    assert {one["start"] for one in beside} & {chunk["end"]}
    for summary in summaries:
        around = near(summary["id"], "beside")
        assert all(
            (at["aspect"], at["level"]) == (summary["aspect"], summary["level"]) for at in around
        )


@pytest.mark.journey
@for_each(
    ("title", "disposition"),
    [
        ("../../etc/passwd", "attachment; filename*=utf-8''etc%20passwd.jsonl"),
        ("../passwd", 'attachment; filename="passwd.jsonl"'),
        ('b"; x', "attachment; filename*=utf-8''b%20%3B%20x.jsonl"),
        ("Зима", "attachment; filename*=utf-8''%D0%97%D0%B8%D0%BC%D0%B0.jsonl"),
    ],
)
def test_a_file_is_named_by_a_title_that_says_no_path(
    title: str, disposition: str, client: httpx2.Client, address: Address, winter: str
) -> None:
    with connect(address) as store:
        [entry] = store.find_named("novels", winter.rpartition("/")[2], 1)
        try:
            store.set_metadata(entry, {"title": title})
            sent = client.get(f"{SHELF}/export", params={"document": entry.id})
        finally:
            store.set_metadata(entry, {"title": "Winter"})
    assert sent.headers["content-disposition"] == disposition
    assert sent.headers["content-type"] == "application/x-ndjson"


@pytest.mark.whole
@pytest.mark.journey
def test_a_document_is_drawn_and_its_page_is_kept_apart(client: httpx2.Client, winter: str) -> None:
    page = client.get(f"{winter}/plot.html", params={"question": "Where did Anna walk?"})
    assert page.text.startswith("<!DOCTYPE html>")
    assert "sandbox" in page.headers["content-security-policy"]
    assert "allow-same-origin" not in page.headers["content-security-policy"]
    picture = client.get(f"{winter}/plot.svg")
    assert ElementTree.fromstring(picture.content).tag.endswith("svg")
    assert client.get(f"{winter}/plot.pdf").status_code == 422
    missing = client.get(f"{winter}/plot.svg", params={"drawn": "network"})
    assert missing.status_code == 404
    assert "build that graph first" in missing.json()["detail"]


def test_an_admins_own_cypher_reads_and_is_bounded(client: httpx2.Client) -> None:
    def put(statement: str, *, seconds: float = 30, **parameters: Any) -> httpx2.Response:
        body = {"statement": statement, "parameters": parameters, "seconds": seconds}
        return client.post(f"{BASE}/cypher", json=body)

    told = put("UNWIND range(1, $n) AS x RETURN x", n=3).json()
    rows = [{"x": 1}, {"x": 2}, {"x": 3}]
    assert told.pop("reach").startswith("the whole graph: ")
    assert told == {"columns": ["x"], "total": 3, "rows": rows, "cut_by": None, "why": ""}
    many = put("UNWIND range(1, 5000) AS x RETURN x").json()
    assert (len(many["rows"]), many["cut_by"]) == (1000, "rows")
    for statement in (
        "CREATE (n:Document) RETURN n",
        "MATCH (n) DETACH DELETE n",
        "LOAD CSV FROM 'file:///etc/passwd' AS line RETURN line",
        "CALL dbms.listConfig() YIELD name RETURN name",
        "SHOW USERS",
        "RETURN",
        "PROFILE MATCH (n) RETURN n",
    ):
        refused = put(statement)
        assert refused.status_code == 400, statement
        assert "--write" not in refused.json()["detail"]
    assert put("RETURN $x").status_code == 400
    assert put("RETURN 1 AS x", seconds=31).status_code == 422
    slow = put("UNWIND range(1, 1000000000) AS x WITH x WHERE x % 7 = 8 RETURN x", seconds=0.3)
    assert slow.status_code == 400
    assert "took longer" in slow.json()["detail"]


def test_who_asks_too_many_queries_at_once_comes_again(
    it: Served, client: httpx2.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(state, "QUERY_WAIT_SECONDS", 0.05)
    for _ in range(it.state.serving.queries_at_once):
        assert it.state.query_slots.acquire(blocking=False)
    try:
        busy = client.post(f"{SHELF}/queries/library", json={})
    finally:
        for _ in range(it.state.serving.queries_at_once):
            it.state.query_slots.release()
    assert (busy.status_code, busy.headers["retry-after"]) == (429, "1")


def test_a_summary_is_below_the_one_in_which_it_weighs_most() -> None:
    def row(id: str, members: dict[str, float]) -> dict[str, Any]:
        rests = [{"id": one, "weight": weight} for one, weight in members.items()]
        return {"id": id, "members": rests}

    high = [row("c", {"a": 0.9, "b": 0.3}), row("d", {"b": 0.7, "e": 0.5}), row("f", {"e": 0.5})]
    assert find_above(high) == {"a": "c", "b": "d", "e": "d"}
