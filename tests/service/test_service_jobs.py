"""Jobs: there once they are accepted, done by one, and never lost or in each other's way."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from database import cypher, empty
from fabula.jobs.callers import PERSON, Caller
from fabula.jobs.job import Item
from fabula.library import App
from fabula.operations.keys import list_keys, make_key, revoke_key
from fabula.server import Address
from fabula.service.api.jobs import JobEvents
from jobs_over_http import BASE, begin, books, send, until
from served import Served, events, served, server_of
from stories import LIGHTHOUSE, WINTER

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("jobs")


@pytest.fixture(scope="module")
def service(address: Address, folder: Path) -> Iterator[Served]:
    """A service without a model."""
    empty(address)
    offline: dict[str, Any] = {
        "model": "offline",
        "embedding_model": "wordllama-256",
        "chunk_tokens": 100,
    }
    with App(home=folder, **server_of(address), **offline) as app, served(app) as it:
        yield it


@pytest.mark.journey
def test_files_come_in_and_each_is_told_of(service: Served) -> None:
    client = service.client("write")
    begun = send(client, "books", {"winter.txt": WINTER, "sea/lighthouse.txt": LIGHTHOUSE})
    assert begun.status_code == 202, begun.text
    id = begun.json()["id"]
    assert begun.headers["location"] == f"{BASE}/jobs/{id}"
    job = until(client, id)
    assert (job["state"], job["counts"], job["problem"]) == ("succeeded", {"succeeded": 2}, "")
    named = {"uploads/winter.txt": "Winter", "uploads/sea/lighthouse.txt": "The Lighthouse"}
    assert {item["source"]: item["title"] for item in job["items"]} == named
    assert books(client, "books") == named
    # The same again is left as it is, and another of that name takes its place.
    again = until(client, begin(client, "books", {"winter.txt": WINTER}))
    assert again["counts"] == {"unchanged": 1}
    changed = until(client, begin(client, "books", {"winter.txt": f"{WINTER}\n\nThe end."}))
    assert changed["counts"] == {"succeeded": 1}
    assert books(client, "books") == named


def test_a_file_that_cant_be_read_is_told_of_and_blocks_no_other(service: Served) -> None:
    client = service.client("write")
    files = {"empty.txt": "", "bad.pdf": "%PDF-1.4 no", "books.zip": "PK no", "good.txt": WINTER}
    job = until(client, begin(client, "mixed", files))
    assert (job["state"], job["counts"]) == ("failed", {"failed": 3, "succeeded": 1})
    assert job["problem"] == "3 of 4 failed; each one's error says why."
    for item in job["items"]:
        assert bool(item["error"]) == (item["state"] == "failed"), item
        assert str(service.state.uploads.folder) not in item["error"]
    assert books(client, "mixed") == {"uploads/good.txt": "Good"}
    # What failed is done again, and nothing else.
    id = job["id"]
    assert client.post(f"{BASE}/jobs/{id}/retry").status_code == 202
    assert until(client, id)["counts"] == {"failed": 3, "succeeded": 1}
    wrong = client.post(f"{BASE}/jobs/{id}/resume")
    assert (wrong.status_code, wrong.json()["state"]) == (409, "failed")


def test_what_a_reader_left_out_is_shown(service: Served) -> None:
    client = service.client("write")
    contents = "".join(f"Chapter {n}. The Lamp of the Harbour . . . . {n}\n" for n in range(1, 30))
    book = f"CONTENTS\n\n{contents}\n{LIGHTHOUSE}\n\nEnd of Project Gutenberg's The Lighthouse\n"
    form = [("files", ("book.txt", book.encode()))]
    estimate = client.post(f"{BASE}/collections/cut/documents?dry_run=true", files=form).json()
    id = begin(client, "cut", {"book.txt": book})
    [item] = until(client, id)["items"]
    assert set(item["left_out"]) == {"contents", "licence"}
    assert item["left_out"]["licence"] == len("EndofProjectGutenberg'sTheLighthouse")
    [warning] = item["warnings"]
    assert "of the text was left out: contents " in warning
    assert [estimate["items"][0][name] for name in ("left_out", "warnings")] == [
        item["left_out"],
        item["warnings"],
    ]
    document = client.get(f"{BASE}/collections/cut/documents/{item['document']}").json()
    assert (document["left_out"], document["warnings"]) == (item["left_out"], item["warnings"])
    page = client.get(f"/jobs/{id}")
    assert page.status_code == 200
    assert "left out: contents " in page.text
    assert warning in page.text


def test_a_text_is_a_document_too(service: Served) -> None:
    client = service.client("write")
    text = {"text": LIGHTHOUSE, "source": "notes/lighthouse", "title": "Elias"}
    begun = client.post(f"{BASE}/collections/texts/documents", json=text)
    assert until(client, begun.json()["id"])["state"] == "succeeded"
    assert books(client, "texts") == {"notes/lighthouse": "Elias"}
    for wrong, status in (
        ({"text": "words"}, 400),
        ({}, 400),
        ({"text": "x", "source": "y", "colour": "z"}, 422),
    ):
        refused = client.post(f"{BASE}/collections/texts/documents", json=wrong)
        assert refused.status_code == status, refused.text
    odd = client.post(f"{BASE}/collections/texts/documents", content="x")
    assert odd.status_code == 415
    name = client.post(f"{BASE}/collections/a%09b/documents", json=text)
    assert name.status_code in (400, 404)


@pytest.mark.journey
def test_a_document_is_continued_with_files_in_their_order(service: Served) -> None:
    client = service.client("write")
    first, *others = [f"CHAPTER {number}\n\nAnna saw ship {number}." for number in range(1, 4)]
    until(client, begin(client, "serial", {"one.txt": first}))
    [document] = client.get(f"{BASE}/collections/serial/documents").json()["rows"]
    path = f"{BASE}/collections/serial/documents/{document['id']}"
    form = [("files", (f"{n}.txt", text.encode())) for n, text in enumerate(others, 2)]
    refused = client.post(f"{path}/append", params={"graphs": "aspects"}, files=form)
    assert refused.status_code == 422, refused.text
    expected = client.post(f"{path}/append", params={"dry_run": True}, files=form)
    assert expected.status_code == 200, expected.text
    begun = client.post(f"{path}/append", files=form)
    assert begun.status_code == 202, begun.text
    assert until(client, begun.json()["id"])["counts"] == {"succeeded": 2}
    last = {"text": "CHAPTER 4\n\nAnna slept.", "source": "late"}
    assert (
        until(client, client.post(f"{path}/append", json=last).json()["id"])["state"] == "succeeded"
    )
    text = client.get(f"{path}/text", headers={"Accept": "text/plain"}).text
    assert text.split("\n\n")[::2] == [f"CHAPTER {number}" for number in range(1, 5)]
    assert (
        client.post(f"{BASE}/collections/serial/documents/nothing/append", json=last).status_code
        == 404
    )


def test_what_it_would_cost_is_told_before_and_nothing_is_sent_twice(service: Served) -> None:
    client, other = service.client("write"), service.client("write")
    form = [("files", ("winter.txt", WINTER.encode()))]
    body = client.post(f"{BASE}/collections/planned/documents?dry_run=true", files=form).json()
    assert [item["status"] for item in body["items"]] == ["added"]
    assert (body["calls"], body["money"]) == (0, 0.0)
    assert books(client, "planned") == {}
    named = {
        "uploads": [
            {"sha256": upload["sha256"], "name": upload["name"]} for upload in body["uploads"]
        ]
    }
    # They are whose they are, though their digest is known.
    assert other.post(f"{BASE}/collections/planned/documents", json=named).status_code == 404
    begun = client.post(f"{BASE}/collections/planned/documents", json=named)
    assert until(client, begun.json()["id"])["state"] == "succeeded"
    assert books(client, "planned") == {"uploads/winter.txt": "Winter"}


def test_the_same_request_again_is_the_same_job(service: Served) -> None:
    client = service.client("write")
    key = {"Idempotency-Key": "one"}
    ids = {begin(client, "same", {"winter.txt": WINTER}, headers=key) for _ in range(3)}
    assert len(ids) == 1
    other = send(client, "same", {"winter.txt": LIGHTHOUSE}, headers=key)
    assert (other.status_code, other.json()["type"]) == (409, "/problems/conflict")
    # Another caller's key is another's.
    others = begin(service.client("write"), "same", {"winter.txt": WINTER}, headers=key)
    assert others not in ids
    for id in (*ids, others):
        until(client, id)


def test_a_job_of_a_collection_that_one_may_not_see_is_not_there(service: Served) -> None:
    mine, stranger = service.client("write", ["own"]), service.client("write", ["other"])
    id = begin(mine, "own", {"winter.txt": WINTER})
    unknown = stranger.get(f"{BASE}/jobs/{'0' * 32}")
    for method, path in (("GET", ""), ("GET", "/events"), ("POST", "/cancel"), ("POST", "/retry")):
        hidden = stranger.request(method, f"{BASE}/jobs/{id}{path}")
        assert hidden.status_code == 404
        assert hidden.json()["detail"] == unknown.json()["detail"].replace("0" * 32, id)
    assert [row["id"] for row in mine.get(f"{BASE}/jobs").json()["rows"]] == [id]
    assert stranger.get(f"{BASE}/jobs").json() == {"rows": [], "next": None}
    assert send(stranger, "own", {"winter.txt": WINTER}).status_code == 404
    assert send(service.client("read"), "own", {"winter.txt": WINTER}).status_code == 403
    until(mine, id)


@pytest.mark.journey
def test_graphs_are_built_and_collections_emptied_by_jobs_each_after_those_before(
    service: Served,
) -> None:
    client, admin = service.client("write"), service.client("admin")
    first = begin(client, "worked", {"winter.txt": WINTER}, params={"graphs": "entities"})
    build = client.post(f"{BASE}/collections/worked/build", json={"graph": "communities"})
    # It has no document yet.
    assert build.status_code in (202, 404)
    until(client, first)
    build = client.post(f"{BASE}/collections/worked/build", json={"graph": "communities"})
    job = until(client, build.json()["id"])
    assert (job["state"], len(job["items"])) == ("succeeded", 1), job
    wrong = client.post(f"{BASE}/collections/worked/build", json={"graph": "nothing"})
    assert wrong.status_code == 400
    gaps = client.post(f"{BASE}/collections/worked/renew")
    again = client.post(f"{BASE}/collections/worked/reembed")
    gone = admin.delete(f"{BASE}/collections/worked")
    assert gone.status_code == 202
    after = begin(client, "worked", {"lighthouse.txt": LIGHTHOUSE})
    ids = [one.json()["id"] for one in (gaps, again, gone)]
    for id in (*ids, after):
        job = until(client, id)
        assert job["state"] == "succeeded", job
    assert books(client, "worked") == {"uploads/lighthouse.txt": "The Lighthouse"}


def test_who_may_not_remove_a_collection_has_no_removal_go_on(service: Served) -> None:
    admin, writer = service.client(), service.client("write")
    until(admin, begin(admin, "kept", {"winter.txt": WINTER}))
    removal = service.state.jobs.add(PERSON, "kept", "remove", [], {})
    store = service.state.app.connect()
    for state, what in (("cancelled", "retry"), ("paused", "resume")):
        until(admin, removal.id)
        cypher(
            store,
            "MATCH (job:ServiceJob {id: $id})-[:HAS_ITEM]->(item) "
            "SET job.state = $state, item.state = 'queued'",
            id=removal.id,
            state=state,
        )
        refused = writer.post(f"{BASE}/jobs/{removal.id}/{what}")
        assert refused.status_code == 403
        assert "role admin" in refused.json()["detail"]
        assert admin.post(f"{BASE}/jobs/{removal.id}/{what}").status_code == 202
    assert until(admin, removal.id)["state"] == "succeeded"


def test_a_removal_that_is_sent_twice_is_one(service: Served) -> None:
    admin = service.client()
    before = begin(admin, "emptied", {"winter.txt": WINTER})
    until(admin, before)
    # Back in the queue, and not due for an hour: the removal has to wait for it. Without its stage
    # `queue`, it would leave the queue as it has ended, and the removal might be done in between.
    cypher(
        service.state.app.connect(),
        "MATCH (job:ServiceJob {id: $id}) "
        "SET job.state = 'queued', job.queue = 'new', job.not_before = timestamp() + 3600000",
        id=before,
    )
    sent = [
        admin.delete(f"{BASE}/collections/emptied", headers={"Idempotency-Key": "gone"})
        for _ in range(2)
    ]
    [id] = {one.json()["id"] for one in sent}
    assert admin.post(f"{BASE}/jobs/{before}/cancel").status_code == 202
    assert until(admin, id)["state"] == "succeeded"
    assert books(admin, "emptied") == {}


def test_whoever_watches_sees_the_newest_and_the_end(service: Served) -> None:
    client = service.client("write")
    id = begin(client, "watched", {"winter.txt": WINTER})
    seen = events(client.get(f"{BASE}/jobs/{id}/events"))
    assert {name for name, _ in seen[:-1]} == {"snapshot"}
    assert seen[-1] == ("end", {"state": "succeeded", "version": seen[-2][1]["version"]})
    versions = [data["version"] for name, data in seen if name == "snapshot"]
    assert versions == sorted(set(versions))
    # Who has had the newest is told that it is over, and nothing twice.
    had = {"Last-Event-ID": str(versions[-1])}
    received = events(client.get(f"{BASE}/jobs/{id}/events", headers=had))
    assert [name for name, _ in received] == ["end"]
    assert 'fabula_jobs{state="running"} 0.0' in service.client("admin").get("/metrics").text


def test_whoever_loses_the_key_meanwhile_sees_no_more_of_a_job(service: Served) -> None:
    client = service.client("write")
    # The job is not over before the key is revoked.
    with service.state.runner.pause():
        job = service.state.jobs.read(begin(client, "watched", {"w.txt": WINTER}))
        assert job
        made = make_key(service.asker, "a watcher", "read")
        watcher = service.state.keys.find(made.key)
        assert watcher
        told = JobEvents(service.state, watcher, job).events()
        assert next(told)[0] == "snapshot"
        revoke_key(service.asker, made.id)
    assert "end" not in [name for name, _ in told]
    assert [name for name, _ in JobEvents(service.state, PERSON, job).events()][-1] == "end"


def test_a_job_that_its_process_let_go_is_taken_up_and_one_that_gets_nowhere_fails(
    service: Served,
) -> None:
    client = service.client("write")
    app, jobs = service.state.app, service.state.jobs
    upload = service.state.uploads.take([WINTER.encode()], "winter.txt")
    caller = list_keys(service.asker).rows[-1]
    ids = []
    for attempts in (1, 10):
        item = Item(f"uploads/lost {attempts}.txt", upload.sha256)
        job = jobs.add(
            Caller(caller.id, caller.name, "write"),
            f"lost{attempts}",
            "build",
            [item],
            {"graph": "aspects"},
        )
        ids.append(job.id)
        until(client, job.id)
        cypher(
            app.connect(),
            "MATCH (job:ServiceJob {id: $id})-[:HAS_ITEM]->(item) SET job.kind = 'ingest', "
            "job.options = '{}', item.state = 'running', job.worker = $worker, "
            "job.lease = timestamp() + 30000, job.attempts = $attempts, job.state = 'running', "
            "job.queue = 'ready'",
            id=job.id,
            worker=f"{app.settings.neo4j_username} gone",
            attempts=attempts,
        )
    assert until(client, ids[0])["state"] == "succeeded"
    failed = until(client, ids[1])
    assert failed["state"] == "failed"
    assert "made no progress" in failed["problem"]


def test_the_graphs_of_documents_are_named_in_the_address_the_form_or_the_body(
    service: Served,
) -> None:
    client = service.client("write")
    path = f"{BASE}/collections/named/documents"
    form: list[tuple[str, Any]] = [("files", ("a.txt", WINTER.encode()))]
    fields = [*form, ("graphs", (None, "aspects")), ("graphs", (None, "entities"))]
    both = ["aspects", "entities"]
    text = {"text": WINTER, "source": "b"}
    begun = [
        client.post(path, files=form, params={"graphs": both}),
        client.post(path, files=form, params={"graphs": "aspects,entities"}),
        client.post(path, files=fields),
        client.post(path, json=text | {"graphs": both}),
        client.post(path, json=text | {"graphs": both}, params={"graphs": "aspects,entities"}),
    ]
    assert [one.status_code for one in begun] == [202] * len(begun)
    assert [one.json()["options"]["graphs"] for one in begun] == [both] * len(begun)
    usual = client.post(path, json=text)
    assert usual.json()["options"]["graphs"] is None
    two = client.post(path, json=text | {"graphs": ["aspects"]}, params={"graphs": "entities"})
    assert (two.status_code, "name them once" in two.json()["detail"]) == (400, True)
    wrong = client.post(path, files=[*form, ("graph", (None, "entities"))])
    assert (wrong.status_code, "'graph'" in wrong.json()["detail"]) == (400, True)
    for one in (*begun, usual):
        client.post(f"{BASE}/jobs/{one.json()['id']}/cancel")


def test_a_parameter_that_a_route_does_not_have_is_refused(service: Served) -> None:
    client = service.client("admin")
    until(client, begin(client, "strict", {"winter.txt": WINTER}))
    before = len(client.get(f"{BASE}/jobs").json()["rows"])
    path = f"{BASE}/collections/strict/documents"
    refused = client.post(path, json={"text": WINTER, "source": "b"}, params={"graph": "entities"})
    assert refused.status_code == 422
    assert refused.headers["content-type"] == "application/problem+json"
    assert refused.json()["parameter"] == "graph"
    assert "has no query parameter 'graph'. Did you mean graphs?" in refused.json()["detail"]
    assert len(client.get(f"{BASE}/jobs").json()["rows"]) == before
    # Every route of the API, whatever else is wrong with the request.
    for place, operations in client.get("/openapi.json").json()["paths"].items():
        if not place.startswith(f"{BASE}/"):
            continue
        for method in operations:
            address = place.replace("{collection}", "strict").replace("{", "").replace("}", "")
            response = client.request(method, address, params={"utm_source": "x"})
            assert response.status_code == 422, (method, place, response.text)
            assert "has no query parameter 'utm_source'" in response.json()["detail"]
    assert client.get(path, params={"limit": 5, "order": "length"}).is_success
    # Links to pages get parameters on the way.
    assert client.get("/c/strict", params={"utm_source": "x"}).status_code == 200


def test_errors_over_http_name_nothing_of_a_shell(service: Served) -> None:
    client = service.client("admin")
    until(client, begin(client, "shell", {"winter.txt": WINTER}))
    shelf = f"{BASE}/collections/shell"
    request = {"question": "Who?"}
    book = client.get(f"{shelf}/documents").json()["rows"][0]["id"]
    answers = [
        client.post(f"{shelf}/ask", json=request | {"mode": "hybird"}),
        client.post(f"{shelf}/ask", json=request | {"document": "no such"}),
        client.post(f"{shelf}/ask", json=request | {"mode": "local"}),
        client.post(f"{shelf}/queries/outlien", json={}),
        client.get(f"{shelf}/documents/{book}/plot.svg", params={"drawn": "network"}),
        client.post(
            f"{shelf}/documents", json={"text": "x", "source": "y", "graphs": ["identities"]}
        ),
        client.delete(f"{BASE}/keys/nothing"),
    ]
    for answer in answers:
        assert 400 <= answer.status_code < 500, answer.text
        assert not re.search(r"FABULA_|`fabula|--[a-z]", answer.json()["detail"]), answer.text
    assert "Did you mean hybrid?" in answers[0].json()["detail"]
