"""The API over a served house: collections, documents, their text, and questions."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import httpx2
import pytest

from fabula.server import Address
from offline import offline_app
from served import Served, events, served
from stories import LIGHTHOUSE, WINTER

BASE = "/api/v1"
SHELF = f"{BASE}/collections/novels"


@pytest.fixture(scope="module")
def it(address: Address) -> Iterator[Served]:
    with offline_app(address) as app:
        novels = app.collection("novels")
        novels.ingest_text(WINTER, source="winter.txt", title="Winter", author="Nobody")
        text = LIGHTHOUSE.partition("\n\n")[2]
        novels.ingest_text(text, source="lighthouse.txt", title="The Lighthouse", author="Jane Doe")
        app.collection("diaries").ingest_text(text, source="diary.txt", title="A Diary")
        with served(app) as it:
            yield it


def ids(client: httpx2.Client) -> dict[str, str]:
    return {row["title"]: row["id"] for row in client.get(f"{SHELF}/documents").json()["rows"]}


def test_collections_are_listed_page_by_page(client: httpx2.Client) -> None:
    first = client.get(f"{BASE}/collections", params={"limit": 1}).json()
    assert (first["total"], [row["name"] for row in first["rows"]]) == (2, ["diaries"])
    last = client.get(f"{BASE}/collections", params={"limit": 1, "first": 1}).json()
    assert [(row["name"], row["documents"]) for row in last["rows"]] == [("novels", 2)]
    wrong = client.get(f"{BASE}/collections", params={"first": "nonsense"})
    assert wrong.status_code == 422
    assert wrong.headers["content-type"] == "application/problem+json"


@pytest.mark.journey
def test_documents_are_listed_by_title_and_told_of_with_an_etag(client: httpx2.Client) -> None:
    first = client.get(f"{SHELF}/documents", params={"limit": 1}).json()
    assert (first["total"], first["rows"][0]["title"]) == (2, "The Lighthouse")
    last = client.get(f"{SHELF}/documents", params={"limit": 1, "first": 1}).json()
    assert (last["total"], [row["title"] for row in last["rows"]]) == (2, ["Winter"])
    named = client.get(f"{SHELF}/documents", params={"words": "nobody", "order": "length"}).json()
    assert "Winter" in [row["title"] for row in named["rows"]]
    response = client.get(f"{SHELF}/documents/{last['rows'][0]['id']}")
    assert response.json()["author"] == "Nobody"
    assert {each["kind"] for each in response.json()["layers"]} >= {"chunk"}
    again = client.get(response.request.url, headers={"If-None-Match": response.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")


def test_the_whole_text_comes_back_as_it_was_taken_in(client: httpx2.Client) -> None:
    path = f"{SHELF}/documents/{ids(client)['Winter']}/text"
    body = client.get(path).json()
    assert body["text"] == WINTER
    assert body["length"] == len(WINTER)
    assert [section["title"] for section in body["sections"]] == [
        f"CHAPTER {number}" for number in ("I", "II", "III", "IV", "V")
    ]
    ends = [0, *(chunk["end"] for chunk in body["chunks"])]
    assert [chunk["start"] for chunk in body["chunks"]] == ends[:-1]
    assert ends[-1] == len(WINTER)
    part = client.get(path, params={"start": 100, "end": 250}).json()
    assert part["text"] == WINTER[100:250]
    beyond = client.get(path, params={"start": len(WINTER) + 5, "end": 10**8}).json()
    assert (beyond["text"], beyond["start"]) == ("", len(WINTER))
    plain = client.get(path, headers={"Accept": "text/plain"})
    assert plain.headers["content-type"] == "text/plain; charset=utf-8"
    assert plain.text == WINTER
    assert plain.headers["etag"] != client.get(path).headers["etag"]


def test_a_document_is_called_otherwise_until_its_file_says_something_else(
    it: Served, client: httpx2.Client
) -> None:
    shelf = it.state.app.collection("diaries")
    [diary] = client.get(f"{BASE}/collections/diaries/documents").json()["rows"]
    path = f"{BASE}/collections/diaries/documents/{diary['id']}"
    was = client.get(path).headers["etag"]
    changed = client.patch(path, json={"title": "Elias' Log", "author": "Elias"})
    assert (changed.json()["title"], changed.json()["author"]) == ("Elias' Log", "Elias")
    assert client.get(path, headers={"If-None-Match": was}).status_code == 200
    assert shelf.document("elias' log").id == diary["id"]
    text = LIGHTHOUSE.partition("\n\n")[2]
    same = shelf.ingest_text(text, source="diary.txt", title="A Diary")
    assert same.status == "unchanged"
    assert client.get(path).json()["title"] == "Elias' Log"
    shelf.ingest_text(f"{text} The end.", source="diary.txt", title="A Diary")
    assert client.get(path).json()["title"] == "A Diary"
    assert not shelf.check().violations
    assert client.patch(path, json={"title": " "}).status_code == 400
    assert client.patch(path, json={"title": "x" * 501}).status_code == 422


def test_a_document_is_removed(it: Served, client: httpx2.Client) -> None:
    made = it.state.app.collection("gone").ingest_text(WINTER, source="gone.txt", title="Gone")
    path = f"{BASE}/collections/gone/documents/{made.document}"
    answer = client.delete(path)
    assert (answer.status_code, answer.json()["title"]) == (200, "Gone")
    assert client.get(path).status_code == 404
    assert client.get(f"{BASE}/collections/gone/documents").status_code == 404


@pytest.mark.journey
def test_passages_are_found_and_how(client: httpx2.Client) -> None:
    request = {"question": "Where did Anna walk?", "k": 3, "mode": "hybrid", "kinds": ["chunk"]}
    found = client.post(f"{SHELF}/search", json=request).json()
    assert [row["kind"] for row in found["rows"]] == ["chunk"] * 3
    assert found["path"][0]["step"] == "retrieve"
    assert (found["usage"], found["money"]) == ({}, 0.0)


@pytest.mark.journey
def test_a_question_without_a_model_is_answered_by_the_book(client: httpx2.Client) -> None:
    answer = client.post(f"{SHELF}/ask", json={"question": "What did Elias light?"}).json()
    assert answer["offline"]
    assert "Elias lit the lamp" in answer["answer"]
    assert answer["cited"]
    [quote, *_] = answer["quotes"]
    assert quote["title"] == "The Lighthouse"


def test_an_answer_is_given_to_read_no_more_than_is_shown_without_fill(
    client: httpx2.Client,
) -> None:
    question = {"question": "What did Elias light?", "mode": "hybrid", "k": 2}
    filled = client.post(f"{SHELF}/ask", json=question).json()
    shown = client.post(f"{SHELF}/ask", json={**question, "fill": False}).json()
    assert len(shown["context"]) <= 2 < len(filled["context"])


def test_what_can_not_be_asked_is_refused_before_anything_streams(client: httpx2.Client) -> None:
    for wrong, status in (
        ({"question": "  "}, 400),
        ({"question": ""}, 422),
        ({"question": "Who?", "mode": "magic"}, 400),
        ({"question": "Who?", "document": "Nothing of the kind"}, 404),
        ({"question": "Who?", "kinds": ["dragon"]}, 404),
        ({"question": "Who?", "levels": [3, 1]}, 400),
        ({"question": "Who?", "unheard": 1}, 422),
        ({"question": "Who?", "mode": "hippo"}, 404),
    ):
        for accept in ("application/json", "text/event-stream"):
            answer = client.post(f"{SHELF}/ask", json=wrong, headers={"Accept": accept})
            assert answer.status_code == status, wrong
            assert answer.headers["content-type"] == "application/problem+json"


@pytest.mark.journey
def test_an_answer_streams_in_its_order_and_ends_whole(client: httpx2.Client) -> None:
    request = {"question": "What did Elias light?"}
    answer = client.post(f"{SHELF}/ask", json=request, headers={"Accept": "text/event-stream"})
    assert answer.headers["content-type"].startswith("text/event-stream")
    received = events(answer)
    assert [name for name, _ in received[:2]] == ["retrieval", "passages"]
    assert {name for name, _ in received[2:-1]} == {"token"}
    name, whole = received[-1]
    assert name == "answer"
    assert whole["answer"] == "".join(data["text"] for name, data in received if name == "token")
    assert whole["context"] == received[1][1]["context"]


def test_an_answer_without_a_model_costs_nothing(client: httpx2.Client) -> None:
    expected = client.post(f"{SHELF}/ask/cost", json={"question": "What did Elias light?"}).json()
    assert expected["question"] == "What did Elias light?"
    assert "answer" not in expected["usage"]
    unknown = {"question": "What did Elias light?", "mode": "nonsense"}
    assert client.post(f"{SHELF}/ask/cost", json=unknown).status_code == 400


def test_what_can_be_chosen_is_told_and_nothing_secret(it: Served, client: httpx2.Client) -> None:
    by_name = {row["name"]: row for row in client.get(f"{SHELF}/modes").json()["rows"]}
    assert by_name["naive"]["ready"]
    assert by_name["naive"]["documents"] == 2
    assert not by_name["hippo"]["ready"]
    assert by_name["hippo"]["graph"] == "entities"
    aspects = client.get(f"{SHELF}/aspects").json()["rows"]
    assert {"plot", "theme"} <= {aspect["name"] for aspect in aspects}
    settings = client.get(f"{BASE}/settings")
    named = {row["name"]: row["value"] for row in settings.json()["rows"]}
    assert named["model"] == "offline"
    assert not named.keys() & {"api_key", "neo4j_password"}
    of_a_reader = it.client("read").get(f"{BASE}/settings").json()["rows"]
    machine = ("neo4j", "home", "serve.")
    assert not [row for row in of_a_reader if row["name"].startswith(machine)]
    assert it.state.app.settings.neo4j_password.get_secret_value() not in settings.text


def test_eight_at_once_are_answered_each_as_it_is_alone(client: httpx2.Client) -> None:
    request = {"question": "What did Elias light?"}
    alone = client.post(f"{SHELF}/ask", json=request).json()["answer"]
    answers: list[str] = []

    def ask() -> None:
        response = client.post(f"{SHELF}/ask", json=request)
        answers.append(response.json()["answer"])

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == [alone] * 8
