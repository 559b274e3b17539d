"""People correct who is whom over HTTP and on the page: who may, what is kept, and what follows."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest
from playwright.sync_api import expect

from cases import for_each
from chromium import browser, faults
from database import cypher
from fabula.jobs.callers import Caller
from fabula.library import App
from fabula.operations.corrections import correct
from fabula.operations.keys import audit
from fabula.server import Address
from jobs_over_http import BASE, until
from mcp_calls import called
from offline import offline_app
from served import Served, served

TEXT = (
    "Mr. Marlow sat on deck. Hang Kurtz was ill. Marlow saw Kurtz at last. "
    "“Kurtz is ill,” said Brierly. “He is,” said Marlow to Brierly. Brierly laughed at Marlow."
)


@pytest.fixture(scope="module")
def it(address: Address) -> Iterator[Served]:
    with offline_app(address, graphs="entities", chunk_tokens=200) as app:
        add_book(app, "others")
        with served(app) as it:
            yield it


@pytest.fixture
def name(it: Served) -> str:
    """The name of a new collection with a book."""
    name = f"books{len(it.state.app.collections())}"
    add_book(it.state.app, name)
    return name


def add_book(app: App, collection: str) -> None:
    app.collection(collection).ingest_text(TEXT, source="heart.txt", title="Heart", language="en")


def entities(it: Served, collection: str) -> dict[str, str]:
    """The ids of entities by their names."""
    rows = cypher(
        it.state.app.connect(),
        "MATCH (e:Entity {collection: $collection}) RETURN e.name AS name, e.id AS id",
        collection=collection,
    )
    return {row["name"]: row["id"] for row in rows}


def document_of(it: Served, collection: str) -> str:
    [entry] = it.state.app.collection(collection).documents()
    return entry.id


def rename(old: str, to: str, **more: Any) -> dict[str, Any]:
    return {"graph": "entities", "kind": "rename", "names": [old, to], **more}


@pytest.mark.journey
def test_a_decision_is_kept_followed_by_a_job_shown_and_undone(it: Served, name: str) -> None:
    client = it.client("write")
    answer = client.post(
        f"{BASE}/collections/{name}/decisions", json=rename("Brierly", "Montague Brierly")
    )
    assert answer.status_code == 202, answer.text
    decided = answer.json()
    assert answer.headers["location"] == f"{BASE}/jobs/{decided['job']}"
    assert decided["decision"]["words"] == "rename Brierly to Montague Brierly"
    assert (decided["decision"]["by"], decided["other_settings"]) == ("a test", [])
    assert until(client, decided["job"])["state"] == "succeeded"
    assert "Montague Brierly" in entities(it, name)
    assert "Brierly" in entities(it, "others"), "it is the decision of one collection"
    [shown] = client.get(f"{BASE}/collections/{name}/decisions").json()["rows"]
    assert (shown["number"], shown["effects"]) == (1, {"Heart": "applied"})
    assert shown["documents"] == [document_of(it, name)]
    undone = client.post(f"{BASE}/collections/{name}/decisions/1/undo")
    assert undone.status_code == 202
    until(client, undone.json()["job"])
    assert "Brierly" in entities(it, name)
    assert client.get(f"{BASE}/collections/{name}/decisions").json()["total"] == 0
    listed = client.get(f"{BASE}/collections/{name}/decisions", params={"undone": True}).json()
    assert [shown["undone_by"] for shown in listed["rows"]] == ["a test"]
    acts = [(act.what, act.target) for act in audit(it.asker, 20).rows]
    what = f"{name} (number: 1, correction: rename Brierly to Montague Brierly)"
    assert {("correct", what), ("undo-correction", what)} <= {*acts}


def test_a_correction_that_a_later_build_follows_starts_no_job(it: Served, name: str) -> None:
    client, path = it.client("write"), f"{BASE}/collections/{name}/decisions"
    kept = client.post(path, json=rename("Brierly", "Montague", later=True))
    assert (kept.status_code, kept.json()["job"], "location" in kept.headers) == (201, "", False)
    assert kept.json()["build"]["documents"] == [document_of(it, name)]
    undone = client.post(f"{path}/1/undo", json={"later": True})
    assert (undone.status_code, undone.json()["job"]) == (200, "")
    assert client.post(f"{path}/1/undo").status_code == 409
    assert "Brierly" in entities(it, name)


def test_an_assistant_corrects_and_is_told_the_job(it: Served, name: str) -> None:
    writer = Caller("ada", "Ada", "write", frozenset({name}))
    named = {"kind": "rename", "names": ["Brierly", "Montague"]}
    kept = called(it, "correct", writer, collection=name, **named)
    assert until(it.client("read"), kept["job"])["state"] == "succeeded"
    card = called(it, "entity", writer, collection=name, name="Montague")["rows"][0]
    assert [each["words"] for each in card["corrections"]] == ["rename Brierly to Montague"]
    assert called(it, "undo_correction", writer, collection=name, number=1)["job"]
    reader = Caller("bea", "Bea", "read", frozenset({name}))
    assert "needs a key with the role write" in called(
        it, "correct", reader, collection=name, **named
    )


def test_who_may_only_read_corrects_nothing_on_the_page(it: Served) -> None:
    name = "others"
    page = f"/c/{name}/d/{document_of(it, name)}/entities/{entities(it, name)['Brierly']}"
    reader = it.client("read")
    assert reader.post(forms_of(name), data=RENAME).status_code == 403
    assert "Correct it" not in reader.get(page).text


@for_each(
    ("body", "status"),
    [
        (rename("Nobody", "Somebody"), 404),
        (rename("Brierly", "Marlow"), 409),
        ({"graph": "entities", "kind": "merge", "names": ["Brierly", "Brierly"]}, 409),
        (rename("Brierly", "Montague", document="nowhere"), 404),
        (rename("Brierly", "Montague") | {"kind": "forget"}, 400),
        (rename("Brierly", "Montague") | {"graph": "aspects"}, 400),
        (rename("Brierly", "Montague") | {"names": ["Brierly"]}, 422),
        (rename("Brierly", "x" * 9000), 400),
    ],
)
def test_a_decision_that_makes_no_sense_is_refused_and_nothing_is_kept(
    it: Served, name: str, body: dict[str, Any], status: int
) -> None:
    client = it.client("write")
    answer = client.post(f"{BASE}/collections/{name}/decisions", json=body)
    assert answer.status_code == status, answer.text
    if status == 409:
        problem = answer.json()
        assert (problem["type"], problem["title"]) == (
            "/problems/correction-refused",
            "Correction refused",
        )
    assert client.get(f"{BASE}/collections/{name}/decisions").json()["total"] == 0


FORM = {"tool": "correct", "run": "true"}
RENAME: dict[str, Any] = FORM | {"kind": "rename", "names": ["Brierly", "Montague"]}


def forms_of(name: str) -> str:
    return f"/c/{name}/corrections"


def test_the_forms_of_the_page_work_without_a_script(it: Served, name: str) -> None:
    client = it.client("write")
    book = f"/c/{name}/d/{document_of(it, name)}"
    listed = client.get(f"{book}/entities").text
    id = entities(it, name)["Brierly"]
    assert f"{book}/entities/{id}" in listed
    page = client.get(f"{book}/entities/{id}")
    assert page.status_code == 200
    assert 'value="rename"' in page.text
    assert f'action="{forms_of(name)}"' in page.text

    document = document_of(it, name)

    def post(kind: str, *names: str, **more: str) -> httpx2.Response:
        fields = {"kind": kind, "names": [*names], "document": document, **FORM, **more}
        return client.post(forms_of(name), data=fields)

    answer = post("rename", "Brierly", "Captain <b>Brierly</b>")
    assert answer.status_code == 303
    until(client, answer.headers["location"].rpartition("/")[2])
    assert entities(it, name)["Captain <b>Brierly</b>"] == id, "a new name keeps the address"
    text = client.get(f"{book}/entities/{id}").text
    assert "<b>Brierly" not in text
    assert "rename Brierly to Captain" in text
    assert "a test" in text

    captain = "Captain <b>Brierly</b>"
    refused = post("merge", captain, "Nobody")
    assert refused.status_code == 404
    assert "No entity is called" in refused.text
    assert "Nobody</textarea>" in refused.text, "what was entered stays"

    refused = post("merge", captain, captain)
    assert refused.status_code == 409
    assert "are names of one entity already" in refused.text
    assert post("merge", captain).status_code == 400

    merged = post("merge", captain, "Marlow")
    until(client, merged.headers["location"].rpartition("/")[2])
    assert "Marlow" not in entities(it, name)
    for form in ("Marlow", "Mr. Marlow"):
        assert form in client.get(f"{book}/entities/{id}").text
    split = post("split", captain, "Marlow", "Mr. Marlow", document="")
    until(client, split.headers["location"].rpartition("/")[2])
    assert {"Marlow", "Captain <b>Brierly</b>"} <= entities(it, name).keys()

    undo = re.findall(r'name="number" value="(\d+)"', client.get(f"{book}/entities").text)
    assert len(undo) == 3
    for number in reversed(undo):
        fields = FORM | {"tool": "undo-correction", "number": number}
        undone = client.post(forms_of(name), data=fields)
        assert undone.status_code == 303
        until(client, undone.headers["location"].rpartition("/")[2])
    assert {"Marlow", "Brierly"} <= entities(it, name).keys()


def test_a_fault_of_the_service_is_not_shown_as_a_correction_that_makes_no_sense(
    it: Served, name: str
) -> None:
    store = it.state.app.connect()
    # Neo4j refuses the decision, as another node has its id.
    store.make_schema()
    cypher(store, "CREATE (:Decision {id: $id})", id=f"{name}/1")
    failed = it.client("write").post(forms_of(name), data=RENAME)
    assert failed.status_code == 503
    assert "<h1>Not available at the moment</h1>" in failed.text
    assert "Montague" not in failed.text


def test_a_form_of_another_site_corrects_nothing(it: Served, name: str) -> None:
    browsing = httpx2.Client(base_url=it.url, timeout=60)
    it.clients.append(browsing)
    browsing.get(f"/enter?token={it.state.sessions.link()}", follow_redirects=True)
    foreign = {"Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site"}
    assert browsing.post(forms_of(name), data=RENAME, headers=foreign).status_code == 403
    assert it.state.app.collection(name).decisions() == []
    own = {"Origin": it.url, "Sec-Fetch-Site": "same-origin"}
    assert browsing.post(forms_of(name), data=RENAME, headers=own).status_code == 303


def test_everybody_can_use_the_page_of_an_entity(it: Served, name: str) -> None:
    correct(it.state.app.collection(name), "rename", ("Brierly", "Montague"), later=True)
    with browser() as chromium:
        context = chromium.new_context(base_url=it.url)
        page = context.new_page()
        page.goto(f"/enter?token={it.state.sessions.link()}")
        page.goto(f"/c/{name}/d/{document_of(it, name)}/entities/{entities(it, name)['Brierly']}")
        assert faults(page) == []
        page.get_by_label("New name").fill("Captain Brierly")
        page.get_by_role("button", name="Rename", exact=True).click()
        page.wait_for_url("**/jobs/*")
        page.goto(f"/c/{name}/d/{document_of(it, name)}/entities")
        expect(page.get_by_role("button", name=re.compile("Undo correction 2"))).to_be_visible()
