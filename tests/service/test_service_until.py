"""A reader's place over HTTP, MCP, OpenAI's interface and on the page: nothing later is told."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import httpx2
import pytest

from fabula.server import Address
from offline import offline_app
from served import Served, served
from stories import CONVICT

BASE = "/api/v1/collections/novels"
ASKED: dict[str, Any] = {"question": "Who is Provis?", "document": "The Convict", "k": 20}
PLACE = {"until": "Part One"}


@pytest.fixture(scope="module")
def it(address: Address) -> Iterator[Served]:
    with offline_app(address, graphs=("aspects", "entities")) as app:
        app.collection("novels").ingest_text(CONVICT, source="convict.txt", title="The Convict")
        with served(app) as it:
            yield it


def shown(reply: Any) -> str:
    return json.dumps(reply, ensure_ascii=False).replace(ASKED["question"], "")


@pytest.mark.journey
def test_an_answer_and_a_search_stay_before_the_place(client: httpx2.Client) -> None:
    for way in ("ask", "search"):
        assert "Provis" in shown(client.post(f"{BASE}/{way}", json=ASKED).json())
        reply = client.post(f"{BASE}/{way}", json=ASKED | PLACE)
        assert reply.status_code == 200
        assert "Provis" not in shown(reply.json())
        assert "SECRET" not in shown(reply.json())
    missing = client.post(f"{BASE}/ask", json=ASKED | {"until": "Chapter Ninety"})
    assert missing.status_code == 404
    [document] = client.get(f"{BASE}/documents").json()["rows"]
    story = f"{BASE}/documents/{document['id']}"
    page = f"/c/novels/d/{document['id']}/entities"
    for blank in (" ", "\t", "-1%", "101%", "２"):
        for way in ("ask", "search"):
            refused = client.post(f"{BASE}/{way}", json=ASKED | {"until": blank})
            assert refused.status_code == 422
            assert "Provis" not in refused.text
        assert client.get(f"{story}/text?until={quote(blank)}").status_code == 422
        assert client.get(f"{page}?until={quote(blank)}").status_code == 422
    long = client.post(f"{BASE}/ask", json=ASKED | {"until": "x" * 2001})
    assert long.status_code == 422


def test_a_chat_completion_takes_a_place(client: httpx2.Client) -> None:
    body: dict[str, Any] = {
        "model": "fabula/novels",
        "messages": [{"role": "user", "content": ASKED["question"]}],
        "document": "The Convict",
        "fabula": True,
    }
    assert "Provis" in shown(client.post("/v1/chat/completions", json=body).json())
    reply = client.post("/v1/chat/completions", json=body | PLACE)
    assert reply.status_code == 200
    assert "Provis" not in shown(reply.json())


def test_the_page_asks_and_shows_the_margin_before_the_place(
    it: Served, client: httpx2.Client
) -> None:
    page = client.get("/c/novels/ask", params={"q": ASKED["question"], "plain": "1", **PLACE})
    assert page.status_code == 200
    answer = page.text.partition('id="result"')[2].partition("</form>")[0]
    asked = ("Who is Provis?", "Who+is+Provis%3F")  # as it is printed, and in links
    assert "Provis" not in answer.replace(asked[0], "").replace(asked[1], "")
    assert 'name="until" value="Part One"' in page.text
    story = it.state.app.collection("novels")
    entry = story.document("The Convict")
    read = client.get(f"/c/novels/d/{entry.id}").text
    assert 'id="set-bookmark"' in read
    end = story.reading_place("Part One").end
    margin = client.get(f"/c/novels/d/{entry.id}/margin", params={"at": 0, "until": end}).text
    assert "Provis" not in margin


def test_the_text_its_passages_and_an_export_end_at_the_place(client: httpx2.Client) -> None:
    [entry] = client.get(f"{BASE}/documents").json()["rows"]
    story = f"{BASE}/documents/{entry['id']}"
    whole = client.get(f"{story}/text").json()
    assert "Provis" in shown(whole)
    text = client.get(f"{story}/text", params=PLACE)
    assert text.status_code == 200
    read = text.json()
    assert "Provis" not in shown(read)
    assert "SECRET" not in shown(read)
    assert read["text"] == whole["text"][: read["length"]]
    assert (read["end"], read["chunks"][-1]["end"]) == (read["length"], read["length"])
    plain = client.get(f"{story}/text", params=PLACE, headers={"Accept": "text/plain"})
    assert plain.text == read["text"]
    hits = client.post(f"{BASE}/search", json=ASKED).json()["rows"]
    later = next(hit["id"] for hit in hits if hit["start"] >= read["end"])
    first, last = read["chunks"][0]["id"], read["chunks"][-1]["id"]
    assert client.get(f"{BASE}/passages/{later}").status_code == 200
    missing = client.get(f"{BASE}/passages/{later}", params=PLACE)
    assert missing.status_code == 404
    assert "Provis" not in missing.text
    found = client.get(f"{BASE}/passages/{first}", params=PLACE).json()
    assert found["passage"]["id"] == first
    for id in (first, last):
        for direction in ("up", "beside"):
            at = PLACE | {"direction": direction}
            around = client.get(f"{BASE}/passages/{id}/neighbours", params=at)
            assert around.status_code == 200
            assert "Provis" not in shown(around.json())
    book = {"document": story.rpartition("/")[2]}
    exported = client.get(f"{BASE}/export", params=PLACE | book)
    assert "Pip" in exported.text
    assert "Provis" not in exported.text
    assert "Provis" in client.get(f"{BASE}/export", params=book).text
