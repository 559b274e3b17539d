"""Questions to several collections at once: by the API, MCP, OpenAI's interface and the library."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from database import empty
from endpoint import Endpoint
from fabula import App
from fabula.config.settings import STATIC
from fabula.errors import BudgetSpent, NotFound, SettingsError, SpaceError, StoreError
from fabula.jobs.callers import Caller, Quotas
from fabula.server import Address
from fabula.service.core.errors import describe_failure
from mcp_calls import called
from served import Served, events, served, server_of
from stories import harbour_story

BASE = "/api/v1"
ASKED = {"question": "Who was at the harbour?"}
NAMES = ["first", "second"]
OFFLINE: dict[str, Any] = {"model": "offline", "embedding_model": STATIC, "chunk_tokens": 40}


@pytest.fixture(scope="module")
def it(address: Address) -> Iterator[Served]:
    """Two collections with one book each, and a third one that is secret."""
    empty(address)
    with App(**server_of(address), **OFFLINE) as app:
        for name, word in (("first", "slept"), ("second", "danced"), ("third", "hid")):
            text = harbour_story(word, chapters=2)
            app.collection(name).ingest_text(text, source=f"{name}.txt", title=f"{name} book")
        with served(app) as it:
            yield it


def collections_of(passages: list[dict[str, Any]]) -> set[str]:
    return {passage["collection"] for passage in passages}


@pytest.mark.journey
def test_an_answer_names_the_collection_of_each_passage(it: Served) -> None:
    client = it.client("read", NAMES)
    # Without names: all that the key may see, and nothing of the third.
    for body in (ASKED, ASKED | {"collections": NAMES}):
        answer = client.post(f"{BASE}/ask", json=body).json()
        assert answer["collections"] == NAMES
        assert answer["left_out"] == {}
        assert collections_of(answer["context"]) == set(NAMES)
        assert collections_of(answer["quotes"]) == set(NAMES)
        assert "slept" in answer["answer"]
        assert "danced" in answer["answer"]
        assert "hid" not in answer["answer"]
        numbers = {passage["number"] for passage in answer["context"]}
        assert set(answer["cited"]) <= numbers
        found = client.post(f"{BASE}/search", json=body).json()
        assert collections_of(found["rows"]) == set(NAMES)
        scores = [hit["score"] for hit in found["rows"]]
        assert scores == sorted(scores, reverse=True)


def test_an_answer_over_collections_comes_as_events(it: Served) -> None:
    client = it.client("read", NAMES)
    headers = {"Accept": "text/event-stream"}
    sent = dict(events(client.post(f"{BASE}/ask", json=ASKED, headers=headers)))
    assert sent["retrieval"]["collections"] == NAMES
    assert collections_of(sent["passages"]["context"]) == set(NAMES)
    assert sent["answer"]["collections"] == NAMES


def test_the_words_that_are_cited_come_as_web_annotations(it: Served) -> None:
    client = it.client("read", NAMES)
    documents = {
        document["id"]
        for name in NAMES
        for document in client.get(f"{BASE}/collections/{name}/documents").json()["rows"]
    }
    headers = {"Accept": "application/ld+json"}
    reply = client.post(f"{BASE}/ask", json=ASKED, headers=headers)
    assert reply.headers["content-type"] == "application/ld+json"
    sources = {item["target"]["source"]["id"] for item in reply.json()["first"]["items"]}
    assert len(sources) == 2
    assert {source for source in sources if not any(id in source for id in documents)} == set()


def test_a_key_reaches_no_collection_that_it_may_not_see(it: Served) -> None:
    limited = it.client("read", ["first"])
    for path in ("ask", "search"):
        unknown = limited.post(f"{BASE}/{path}", json=ASKED | {"collections": ["first", "none"]})
        secret = limited.post(f"{BASE}/{path}", json=ASKED | {"collections": ["first", "third"]})
        assert (secret.status_code, unknown.status_code) == (404, 404)
        assert secret.json()["detail"].replace("third", "none") == unknown.json()["detail"]
        found = limited.post(f"{BASE}/{path}", json=ASKED).json()
        assert "third" not in json.dumps(found)
        passages = found["rows" if path == "search" else "hits"]
        assert collections_of(passages) == {"first"}


def test_what_belongs_to_one_collection_is_refused(it: Served) -> None:
    client = it.client("read", NAMES)
    refused = client.post(f"{BASE}/ask", json=ASKED | {"until": "50%"})
    assert (refused.status_code, "one" in refused.json()["detail"]) == (400, True)
    refused = client.post(f"{BASE}/ask", json=ASKED | {"conversation": "new"})
    assert (refused.status_code, "conversation" in refused.json()["detail"]) == (422, True)


def test_what_cannot_be_searched_is_left_out_and_said(it: Served) -> None:
    client = it.client()
    answer = client.post(f"{BASE}/ask", json=ASKED | {"collections": ["first", "empty"]}).json()
    assert answer["collections"] == ["first"]
    assert list(answer["left_out"]) == ["empty"]
    none = client.post(f"{BASE}/ask", json=ASKED | {"collections": ["empty"]})
    assert none.status_code == 404


def test_several_collections_share_what_is_left_of_a_quota(it: Served) -> None:
    quotas = Quotas(tokens_a_day=1000)
    first, second = it.state.collections(NAMES, Caller("eve", "Eve", "read", quotas=quotas))
    with (
        first.models.budgets.call(600),
        second.models.budgets.call(400),
        pytest.raises(BudgetSpent),
        second.models.budgets.call(1),
    ):
        pass


def test_why_a_collection_is_left_out_is_said_without_addresses() -> None:
    failures = {
        "other": SpaceError("It needs the model m."),
        "down": StoreError("No Neo4j answers at bolt://10.0.0.2:7687."),
        "none": NotFound("There is no such place."),
    }
    assert {name: describe_failure(error) for name, error in failures.items()} == {
        "other": "It needs the model m.",
        "down": "Its Neo4j server does not answer.",
        "none": "There is no such place.",
    }


def test_an_assistant_asks_several_collections(it: Served) -> None:
    caller = Caller("ada", "Ada", "read", frozenset(NAMES))
    # Without names: all that the caller may see.
    asked: tuple[list[str], ...] = (NAMES, [])
    for names in asked:
        answer = called(it, "ask_across", caller, **ASKED, collections=names)
        assert collections_of(answer["context"]) == set(NAMES)
    found = called(it, "search_across", caller, **ASKED, collections=NAMES)
    assert collections_of(found["rows"]) == set(NAMES)
    refused = called(it, "ask_across", caller, **ASKED, collections=[*NAMES, "third"])
    assert "There is no collection 'third'" in refused


def test_a_model_name_may_be_of_several_collections(it: Served) -> None:
    client = it.client("read", NAMES)
    messages = [{"role": "user", "content": ASKED["question"]}]
    body = {"model": "fabula/first,second", "messages": messages}
    [choice] = client.post("/v1/chat/completions", json=body).json()["choices"]
    text = choice["message"]["content"]
    for name in NAMES:
        assert f"/c/{name}/d/" in text
        assert f"{name} · {name} book" in text
    refused = client.post("/v1/chat/completions", json=body | {"model": "fabula/first,third"})
    assert refused.status_code == 404
    # A client's own task, as the title of a chat, is one for the same model; here there is none.
    task = {"messages": [{"role": "user", "content": "### Task:\nGenerate a title."}]}
    refused = client.post("/v1/chat/completions", json=body | task)
    assert "has no chat model" in refused.json()["error"]["message"]


@pytest.mark.usefixtures("online")
def test_a_model_answers_from_the_passages_of_several_collections(endpoint: Endpoint) -> None:
    with App(embedding_model=STATIC, cache=False, graphs="") as app:
        for name, word in (("first", "slept"), ("second", "danced")):
            text = harbour_story(word, chapters=2)
            app.collection(name).ingest_text(text, source=f"{name}.txt", title=f"{name} book")
        calls_before = len(endpoint.bodies)
        across = app.stream("Who was at the harbour?", NAMES)
        answer = across.stream.answer
        assert across.collections == ("first", "second")
        assert {passage.hit.collection for passage in answer.context} == set(NAMES)
        [prompt] = [
            str(body["messages"]) for body in endpoint.bodies[calls_before:] if "messages" in body
        ]
        assert "first · first book" in prompt
        assert "second · second book" in prompt
        assert answer.text
        assert set(answer.cited) <= {passage.number for passage in answer.context}
        # The passages are those of each collection alone, merged by rank.
        found = app.retrieve("Who was at the harbour?", NAMES)
        best = {name: app.collection(name).retrieve("Who was at the harbour?")[0] for name in NAMES}
        assert {hit.id for hit in found.hits[:2]} == {hit.id for hit in best.values()}
        with pytest.raises(SettingsError, match="one of a single text"):
            app.stream("Who was at the harbour?", NAMES, until="50%")
