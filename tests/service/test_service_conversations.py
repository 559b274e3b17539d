"""Conversations over a served house: whose they are, what they keep, and turns asked twice."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import httpx2
import pytest

from database import connect, cypher, empty
from endless import begin_to_answer
from endpoint import Endpoint
from fabula.ask.scope import EVERYTHING
from fabula.errors import NotFound
from fabula.jobs.callers import Caller
from fabula.library import App
from fabula.operations.building import remove_collection
from fabula.operations.keys import list_keys
from fabula.server import Address
from served import Served, events, served, server_of
from stories import WINTER

SHELF = "/api/v1/collections/novels"
STREAMED = {"Accept": "text/event-stream"}
PATIENCE = 120.0
"""Seconds for what takes one: against what never ends."""


@pytest.fixture(scope="module")
def made(address: Address) -> Iterator[tuple[Served, Endpoint]]:
    empty(address)
    with Endpoint() as endpoint:
        settings = server_of(address) | {"base_url": endpoint.url, "api_key": "sk-test"}
        with App(**settings, chunk_tokens=40, levels=0, details=0, attempts=1) as app:
            for name in ("novels", "diaries"):
                app.collection(name).ingest_text(WINTER, source=f"{name}.txt", title=name)
            with served(app) as it:
                yield it, endpoint


@pytest.fixture
def it(made: tuple[Served, Endpoint]) -> Served:
    return made[0]


@pytest.fixture
def endpoint(made: tuple[Served, Endpoint]) -> Endpoint:
    _, endpoint = made
    endpoint.plan, endpoint.between, endpoint.raw = (lambda _: None), 0.0, lambda *_: None
    return endpoint


@pytest.fixture
def client(it: Served) -> httpx2.Client:
    return it.client()


def owner(it: Served) -> str:
    """The id of the key that was made last."""
    return list_keys(it.asker).rows[-1].id


def begin(client: httpx2.Client, title: str = "") -> str:
    made = client.post(f"{SHELF}/conversations", json={"title": title})
    assert made.status_code == 201
    return str(made.json()["id"])


def ask(client: httpx2.Client, conversation: str, question: str, **more: Any) -> httpx2.Response:
    body = {"question": question, "conversation": conversation} | more.pop("body", {})
    return client.post(f"{SHELF}/ask", json=body, **more)


def turns(client: httpx2.Client, conversation: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = client.get(f"{SHELF}/conversations/{conversation}").json()[
        "turns"
    ]
    return found


@pytest.mark.journey
def test_a_question_leans_on_those_before_it_and_all_is_kept(
    client: httpx2.Client, endpoint: Endpoint
) -> None:
    id = begin(client)
    first = ask(client, id, "Where did Anna walk?", body={"note": "mine", "mode": "naive"}).json()
    calls_before = len(endpoint.bodies)
    second = events(ask(client, id, "And what did she do?", headers=STREAMED))
    assert any("Word this question" in str(body) for body in endpoint.bodies[calls_before:])
    assert second[0][1]["sought"] != "And what did she do?"
    kept = turns(client, id)
    assert [one["question"] for one in kept] == ["Where did Anna walk?", "And what did she do?"]
    assert [one["number"] for one in kept] == [1, 2]
    assert kept[0]["answer"] == first
    assert kept[0]["asked"] == {"mode": "naive"}
    assert kept[0]["note"] == "mine"
    assert kept[1]["answer"] == second[-1][1]
    assert second[0][1]["turn"] == kept[1]["id"]
    listed = client.get(f"{SHELF}/conversations", params={"limit": 1}).json()["rows"]
    assert [(one["title"], one["turns"]) for one in listed] == [("Where did Anna walk?", 2)]


def test_a_question_reads_of_the_turns_before_it_what_was_said_and_of_what(
    client: httpx2.Client, it: Served
) -> None:
    """Not what was shown: 62 KB of each earlier turn were read for each question."""
    id, [document] = begin(client), client.get(f"{SHELF}/documents").json()["rows"]
    views = [
        ask(client, id, f"Who is Nobody {number}?", body=body).json()
        for number, body in enumerate([{}, {"document": document["id"], "until": "30 %"}])
    ]
    [row] = it.state.app.connect().rows(
        "service/find_history", id=id, collection="novels", caller=owner(it), before=None
    )
    for turn, view in zip(row["turns"], views, strict=True):
        assert len(json.dumps(turn)) < len(view["answer"]) + 500 < len(json.dumps(view)) / 2
    caller = Caller(owner(it), "a test", "admin")
    whole, limited = it.state.conversations.history(caller, "novels", id)
    assert (whole.turn.answer, whole.scope) == (views[0]["answer"], EVERYTHING)
    assert limited.scope.document == document["id"]
    assert limited.scope.until == views[1]["place"]["until"]
    assert limited.documents == (document["id"],)
    assert it.state.conversations.history(caller, "novels", id, before=2) == [whole]
    with pytest.raises(NotFound):
        it.state.conversations.history(caller, "diaries", id)


def test_modes_are_asked_side_by_side(client: httpx2.Client, endpoint: Endpoint) -> None:
    """One after the other, a comparison of four took as long as four answers."""
    together = threading.Barrier(2, timeout=PATIENCE)

    def meet(_: int, body: dict[str, Any]) -> None:
        if "messages" in body:
            together.wait()

    endpoint.raw = meet
    request = {"question": "Who is Clara?", "modes": ["naive", "hybrid"]}
    compared = client.post(f"{SHELF}/compare", json=request).json()
    endpoint.raw = lambda *_: None
    assert [each["mode"] for each in compared["answers"]] == ["naive", "hybrid"]
    assert all(each["answer"]["answer"] for each in compared["answers"])


def test_a_question_may_begin_its_own_conversation_once(client: httpx2.Client) -> None:
    key = {"Idempotency-Key": "begins"}
    first = ask(client, "new", "Where did Anna walk?", headers=key).json()
    again = ask(client, "new", "Where did Anna walk?", headers=key).json()
    assert again["conversation"] == first["conversation"]
    ask(client, first["conversation"], "And then?")
    assert len(turns(client, first["conversation"])) == 2


def test_conversations_are_listed_page_by_page_the_last_first(
    client: httpx2.Client, address: Address
) -> None:
    ids = [begin(client, f"talk {number}") for number in range(3)]
    with connect(address) as store:
        # Times of which texts are in another order: '…00.7Z' and '…00.701Z'.
        for id, millis in zip(ids, (700, 701, 702), strict=True):
            at = f"2999-01-01T00:00:00.{millis}Z"
            change = "MATCH (c:ServiceConversation {id: $id}) SET c.updated_at = datetime($at)"
            cypher(store, change, id=id, at=at)
    found: list[str] = []
    after = ""
    while len(found) < 3:
        page = client.get(f"{SHELF}/conversations", params={"limit": 2, "after": after}).json()
        found += [row["id"] for row in page["rows"]]
        after = page["next"] or ""
    assert found[:3] == ids[::-1]
    assert client.get("/api/v1/collections/diaries/conversations").json()["rows"] == []


def test_what_a_reader_thinks_of_an_answer_is_kept(client: httpx2.Client) -> None:
    id = begin(client)
    ask(client, id, "Where did Clara walk?")
    [turn] = turns(client, id)
    path = f"{SHELF}/turns/{turn['id']}/feedback"
    assert client.put(path, json={"value": 1, "note": "It cites well."}).status_code == 204
    [rated] = turns(client, id)
    assert (rated["value"], rated["feedback"]) == (1, "It cites well.")
    client.put(path, json={"value": None})
    assert turns(client, id)[0]["value"] is None
    assert client.put(path, json={"value": 2}).status_code == 422
    other = path.replace("novels", "diaries")
    assert client.put(other, json={"value": -1}).status_code == 404


@pytest.mark.journey
def test_a_conversation_is_forgotten(client: httpx2.Client, it: Served) -> None:
    id = begin(client)
    ask(client, id, "Where did Dmitri walk?")
    other = client.delete(f"/api/v1/collections/diaries/conversations/{id}")
    assert other.status_code == 404
    assert client.delete(f"{SHELF}/conversations/{id}").status_code == 204
    assert client.delete(f"{SHELF}/conversations/{id}").status_code == 404
    assert client.get(f"{SHELF}/conversations/{id}").status_code == 404
    assert ask(client, id, "Who?").status_code == 404
    left = cypher(
        it.state.app.connect(), "MATCH (n:ServiceTurn) WHERE NOT (n)--() RETURN n.id AS id"
    )
    assert left == []


def test_with_a_collection_go_everybodys_conversations_about_it(
    client: httpx2.Client, it: Served
) -> None:
    kept = begin(client)
    path = "/api/v1/collections/diaries/conversations"
    gone = client.post(path, json={}).json()["id"]
    request = {"question": "Where did Anna walk?", "conversation": gone}
    assert client.post("/api/v1/collections/diaries/ask", json=request).status_code == 200
    remove_collection(it.state.app.collection("diaries")).run()
    assert client.get(f"{path}/{gone}").status_code == 404
    assert client.get(f"{SHELF}/conversations/{kept}").status_code == 200
    left = cypher(
        it.state.app.connect(), "MATCH (n:ServiceTurn) WHERE NOT (n)--() RETURN n.id AS id"
    )
    assert left == []


def test_what_fails_or_can_not_be_asked_is_no_turn(
    client: httpx2.Client, endpoint: Endpoint
) -> None:
    id = begin(client)
    assert ask(client, id, "Who?", body={"mode": "magic"}).status_code == 400
    assert ask(client, id, "Who?", body={"document": "nothing"}).status_code == 404
    endpoint.plan = lambda _: "error" if "messages" in endpoint.bodies[-1] else None
    assert ask(client, id, "Who walked to the mill?").status_code == 502
    received = events(ask(client, id, "Who walked to the mill?", headers=STREAMED))
    assert received[-1][0] == "error"
    assert turns(client, id) == []


def test_of_a_reader_who_left_what_was_said_is_kept(
    client: httpx2.Client, endpoint: Endpoint
) -> None:
    id = begin(client)
    endpoint.raw = begin_to_answer
    body = {"question": "Where did Anna walk?", "conversation": id}
    with client.stream("POST", f"{SHELF}/ask", json=body, headers=STREAMED) as answer:
        for line in answer.iter_lines():
            if line == "event: token":
                break
    began = time.monotonic()
    while not (kept := turns(client, id))[0]["left"]:
        assert time.monotonic() - began < PATIENCE
        time.sleep(0.2)
    assert 0 < len(kept[0]["answer"]["answer"].split()) < 5
    assert kept[0]["answer"]["usage"]["answer"]["calls"] == 1


def test_the_same_under_one_key_is_one_turn(client: httpx2.Client, endpoint: Endpoint) -> None:
    id = begin(client)
    headers = {"Idempotency-Key": "k1"}
    first = ask(client, id, "Where did Anna walk?", headers=headers).json()
    calls = endpoint.calls
    again = ask(client, id, "Where did Anna walk?", headers=headers).json()
    streamed = events(ask(client, id, "Where did Anna walk?", headers=headers | STREAMED))
    assert first == again == streamed[-1][1]
    assert [name for name, _ in streamed] == ["retrieval", "passages", "token", "answer"]
    assert endpoint.calls == calls
    assert len(turns(client, id)) == 1
    other = ask(client, id, "Where did Boris walk?", headers=headers)
    assert other.status_code == 409
    lone = client.post(f"{SHELF}/ask", json={"question": "Who?"}, headers=headers)
    assert lone.status_code == 400


def leave_after_the_first_token(
    client: httpx2.Client, endpoint: Endpoint, conversation: str, question: str, key: str
) -> None:
    """Ask as a client whose connection is lost while the answer is written."""
    endpoint.raw = begin_to_answer
    body = {"question": question, "conversation": conversation}
    headers = {"Idempotency-Key": key, **STREAMED}
    with client.stream("POST", f"{SHELF}/ask", json=body, headers=headers) as answer:
        for line in answer.iter_lines():
            if line == "event: token":
                break
    endpoint.raw = lambda *_: None


def ask_until_answered(
    client: httpx2.Client, conversation: str, question: str, **more: Any
) -> httpx2.Response:
    """Ask, and again while the service says that the same is just being answered."""
    until = time.monotonic() + PATIENCE
    while True:
        answer = ask(client, conversation, question, **more)
        if answer.status_code != 409 or time.monotonic() > until:
            return answer
        assert answer.headers["Retry-After"]
        time.sleep(0.2)


@pytest.mark.parametrize("headers", [{}, STREAMED], ids=["whole", "streamed"])
def test_a_retry_after_a_lost_connection_has_the_whole_answer(
    client: httpx2.Client, endpoint: Endpoint, headers: dict[str, str]
) -> None:
    whole = ask(client, begin(client), "Where did Anna walk?").json()["answer"]
    id, key = begin(client), f"lost {bool(headers)}"
    leave_after_the_first_token(client, endpoint, id, "Where did Anna walk?", key)
    again = ask_until_answered(
        client, id, "Where did Anna walk?", headers={"Idempotency-Key": key, **headers}
    )
    view = events(again)[-1][1] if headers else again.json()
    assert view["answer"] == whole
    [turn] = turns(client, id)
    assert (turn["id"], turn["left"], turn["answer"]) == (view["turn"], False, view)
    calls = endpoint.calls
    third = ask(client, id, "Where did Anna walk?", headers={"Idempotency-Key": key})
    assert (third.json(), endpoint.calls) == (view, calls), "from now on it is given as it was"


def test_a_turn_is_asked_again_with_what_came_before_it_alone(
    client: httpx2.Client, endpoint: Endpoint
) -> None:
    id = begin(client)
    ask(client, id, "Where did Anna walk?")
    leave_after_the_first_token(client, endpoint, id, "And what did she do?", "second")
    calls_before = len(endpoint.bodies)
    headers = {"Idempotency-Key": "second"}
    assert ask_until_answered(client, id, "And what did she do?", headers=headers).is_success
    bodies = [
        str(body["messages"]) for body in endpoint.bodies[calls_before:] if "messages" in body
    ]
    assert bodies
    assert all(one.count("And what did she do?") <= 1 for one in bodies)
    assert [turn["number"] for turn in turns(client, id)] == [1, 2]


def test_a_retry_that_fails_keeps_what_was_said_before(
    client: httpx2.Client, endpoint: Endpoint
) -> None:
    id, headers = begin(client), {"Idempotency-Key": "fails"}
    leave_after_the_first_token(client, endpoint, id, "Where did Anna walk?", "fails")
    until = time.monotonic() + PATIENCE
    while not (left := turns(client, id))[0]["left"]:
        assert time.monotonic() < until
        time.sleep(0.2)
    endpoint.plan = lambda _: "error" if "messages" in endpoint.bodies[-1] else None
    assert ask(client, id, "Where did Anna walk?", headers=headers).status_code == 502
    assert turns(client, id) == left
    other = ask(client, id, "Where did Boris walk?", headers=headers)
    assert other.status_code == 409, "the key came with another question"
    endpoint.plan = lambda _: None
    assert ask(client, id, "Where did Anna walk?", headers=headers).status_code == 200
    [turn] = turns(client, id)
    assert (turn["left"], turn["id"]) == (False, left[0]["id"])


def test_of_two_retries_at_once_one_asks_again(client: httpx2.Client, endpoint: Endpoint) -> None:
    id = begin(client)
    leave_after_the_first_token(client, endpoint, id, "Where did Anna walk?", "both")
    until = time.monotonic() + PATIENCE
    while not turns(client, id)[0]["left"]:
        assert time.monotonic() < until
        time.sleep(0.2)
    calls_before = len(endpoint.bodies)
    headers = {"Idempotency-Key": "both"}
    with ThreadPoolExecutor() as pool:
        answers = [
            pool.submit(ask_until_answered, client, id, "Where did Anna walk?", headers=headers)
            for _ in range(4)
        ]
    assert len({answer.result().json()["answer"] for answer in answers}) == 1
    written = [body for body in endpoint.bodies[calls_before:] if body.get("stream")]
    assert len(written) == 1
    assert len(turns(client, id)) == 1


@contextmanager
def holding(it: Served, endpoint: Endpoint, question: str) -> Iterator[None]:
    """Lock the turn of a question as soon as there is one, before it is answered: what is written
    to it meanwhile waits, as with a Neo4j that hangs.
    """
    is_locked, release, failures = threading.Event(), threading.Event(), list[BaseException]()
    find = "MATCH (turn:ServiceTurn) WHERE turn.question = $question SET turn.held = true "

    def hold() -> None:
        until = time.monotonic() + PATIENCE
        with it.state.app.connect().session() as session:
            while time.monotonic() < until and not release.is_set():
                with session.begin_transaction() as transaction:
                    if transaction.run(f"{find} RETURN turn.id", question=question).single():
                        is_locked.set()
                        release.wait(PATIENCE)
                        return
                    transaction.rollback()
        failures.append(AssertionError(f"nobody asked {question!r}"))

    def wait_for_the_lock(_: int, body: dict[str, Any]) -> None:
        if body.get("stream"):
            is_locked.wait(PATIENCE)

    endpoint.raw = wait_for_the_lock
    thread = threading.Thread(target=hold)
    thread.start()
    try:
        yield
    finally:
        release.set()
        thread.join()
    assert not failures


def test_the_page_says_that_a_finished_answer_is_not_kept_yet(
    it: Served, client: httpx2.Client, endpoint: Endpoint
) -> None:
    request = {"question": "Where did Anna walk on the page?", "conversation": begin(client)}
    with holding(it, endpoint, request["question"]):
        name, last = events(client.post("/c/novels/ask/stream", json=request))[-1]
    assert (name, last["conversation"]) == ("answer", request["conversation"])
    assert "could not be saved" in last["html"]


@pytest.mark.parametrize("headers", [{}, STREAMED], ids=["whole", "streamed"])
def test_a_finished_answer_is_told_though_neo4j_does_not_take_it_and_kept_later(
    it: Served, client: httpx2.Client, endpoint: Endpoint, headers: dict[str, str]
) -> None:
    whole = ask(client, begin(client), "Where did Anna walk?").json()
    assert (whole["kept"], whole["warning"]) == (True, "")
    question = f"Where did Anna walk {'next' if headers else 'then'}?"
    id = begin(client)
    with holding(it, endpoint, question):
        answer = ask(client, id, question, headers=headers)
        assert answer.status_code == 200
        view = events(answer)[-1][1] if headers else answer.json()
        if headers:
            assert events(answer)[-1][0] == "answer"
        assert view["answer"]
        assert view["kept"] is False
        assert "could not be saved" in view["warning"]
    until = time.monotonic() + PATIENCE
    while (kept := turns(client, id)[0]["answer"]) is None:
        assert time.monotonic() < until, "it was never kept"
        time.sleep(0.2)
    assert kept == view | {"kept": True, "warning": ""}


def test_a_write_that_neo4j_refuses_is_tried_again(
    it: Served, client: httpx2.Client, endpoint: Endpoint
) -> None:
    """A constraint stands for whatever makes Neo4j refuse a write, until it is dropped."""
    store, id = it.state.app.connect(), begin(client)
    cypher(store, "MATCH (turn:ServiceTurn) DETACH DELETE turn")
    ask(client, begin(client), "Where did Anna walk?", body={"mode": "naive"})
    cypher(store, "CREATE CONSTRAINT refusing FOR (n:ServiceTurn) REQUIRE n.mode IS UNIQUE")
    try:
        refused = ask(client, id, "Where did Anna walk?", body={"mode": "naive"})
    finally:
        cypher(store, "DROP CONSTRAINT refusing")
    assert (refused.status_code, refused.json()["kept"]) == (200, False)
    until = time.monotonic() + PATIENCE
    while turns(client, id)[0]["answer"] is None:
        assert time.monotonic() < until, "it was never kept"
        time.sleep(0.2)


def test_the_same_at_the_same_time_is_one_turn(client: httpx2.Client, endpoint: Endpoint) -> None:
    id = begin(client)
    endpoint.between = 0.02
    headers = {"Idempotency-Key": "k2"}
    statuses: list[int] = []

    def send() -> None:
        statuses.append(ask(client, id, "Where did Anna walk?", headers=headers).status_code)

    threads = [threading.Thread(target=send) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(statuses)[0] == 200
    assert set(statuses) <= {200, 409}
    assert len(turns(client, id)) == 1


def test_a_key_is_free_again_after_a_day_or_if_its_turn_was_never_answered(
    client: httpx2.Client, it: Served, endpoint: Endpoint
) -> None:
    id = begin(client)
    headers = {"Idempotency-Key": "k3"}
    ask(client, id, "Where did Anna walk?", headers=headers)
    age = "MATCH (n:ServiceTurn) WHERE n.id = $id SET n.created_at = datetime() - duration($age)"
    [first] = turns(client, id)
    cypher(it.state.app.connect(), age, id=first["id"], age="PT25H")
    assert ask(client, id, "Where did Boris walk?", headers=headers).status_code == 200
    [_, second] = turns(client, id)
    cypher(
        it.state.app.connect(),
        f"{age}, n.state = 'asked', n.view = null",
        id=second["id"],
        age="PT11M",
    )
    assert ask(client, id, "Where did Clara walk?", headers=headers).status_code == 200


def test_a_key_holds_as_long_as_its_turn_is_being_answered(
    client: httpx2.Client, it: Served
) -> None:
    id, headers = begin(client), {"Idempotency-Key": "k4"}
    ask(client, id, "Where did Anna walk?", headers=headers)
    [turn] = turns(client, id)
    # As it is while a slow model writes: no answer yet, and begun eleven minutes ago.
    cypher(
        it.state.app.connect(),
        "MATCH (n:ServiceTurn) WHERE n.id = $id SET n.state = 'asked', n.view = null, "
        "n.created_at = datetime() - duration('PT11M')",
        id=turn["id"],
    )
    it.state.conversations._writing.add(turn["id"])
    it.state.conversations.renew()
    again = ask(client, id, "Where did Anna walk?", headers=headers)
    assert (again.status_code, len(turns(client, id))) == (409, 1)


def spent(client: httpx2.Client) -> int:
    """Calls that the caller's key has paid for."""
    items = client.get("/api/v1/usage").json()["rows"]
    return sum(item["calls"] for item in items)


def test_what_is_asked_on_the_way_to_an_answer_that_fails_is_spent(
    it: Served, endpoint: Endpoint
) -> None:
    client = it.client("read")
    id = begin(client)
    ask(client, id, "Where did Anna walk?")
    before, asked = spent(client), endpoint.calls
    # What the question means alone is asked first; then its embedding fails.
    endpoint.plan = lambda _: "error" if "input" in endpoint.bodies[-1] else None
    assert ask(client, id, "And who was with her?").status_code == 502
    assert endpoint.calls > asked
    assert spent(client) == before + 1


def test_a_pictures_question_is_spent_and_held_to_a_quota_as_any_other(
    it: Served, endpoint: Endpoint
) -> None:
    client = it.client("read")
    [book] = client.get(f"{SHELF}/documents").json()["rows"]
    pictures = [
        (f"/c/novels/d/{book['id']}/pictures/trees/frame", "q"),
        (f"{SHELF}/documents/{book['id']}/plot.svg", "question"),
    ]
    for number, (path, name) in enumerate(pictures):
        drawn = client.get(path, params={name: f"Where did Anna walk? {number}"})
        assert drawn.status_code == 200, drawn.text
        assert spent(client) == number + 1
    key = list_keys(it.asker).rows[-1]
    cypher(
        it.state.app.connect(), "MATCH (k:ServiceKey {id: $id}) SET k.tokens_a_day = 1", id=key.id
    )
    for path, name in pictures:
        assert client.get(path, params={name: "Where now?"}).status_code == 402
        assert client.get(path).status_code == 200, "without a question, it costs nothing"


def test_who_leaves_a_page_that_is_being_answered_ends_the_models_call(
    client: httpx2.Client, endpoint: Endpoint
) -> None:
    calls_before = len(endpoint.bodies)
    endpoint.raw = begin_to_answer
    head = (
        "GET /c/novels/ask?q=Where+did+Anna+go%3F&plain=true HTTP/1.1\r\n"
        f"Host: {client.base_url.host}:{client.base_url.port}\r\n"
        f"Authorization: {client.headers['authorization']}\r\n\r\n"
    )

    def is_answering() -> bool:
        streams = any(body.get("stream") for body in endpoint.bodies[calls_before:])
        return streams and endpoint.in_flight > 0

    late = time.monotonic() + PATIENCE
    with socket.create_connection((client.base_url.host, client.base_url.port or 80)) as page:
        page.sendall(head.encode())
        while not is_answering():
            assert time.monotonic() < late, "the model is asked"
            time.sleep(0.01)
    while endpoint.in_flight:
        assert time.monotonic() < late, "the model's call goes on"
        time.sleep(0.01)
