"""Annotations and notes over HTTP: who may, what is kept, and what comes back."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest

from database import connect, wipe
from fabula.app import App
from fabula.config.settings import STATIC
from fabula.server import Address
from served import Served, served, server_of

BASE = "/api/v1"
TEXT = "Mr. Marlow sat on deck. Hang Kurtz was ill. Marlow saw Kurtz at last. Brierly laughed."


@pytest.fixture(scope="module")
def it(address: Address) -> Iterator[Served]:
    with connect(address) as store:
        wipe(store)
    offline: dict[str, Any] = {"model": "offline", "embedding_model": STATIC, "graphs": "entities"}
    with App(**server_of(address), **offline) as app:
        app.collection("books").ingest_text(TEXT, source="h.txt", title="Heart", language="en")
        with served(app) as it:
            yield it


@pytest.fixture
def path(it: Served) -> str:
    [entry] = it.state.app.collection("books").documents()
    return f"{BASE}/collections/books/documents/{entry.id}"


def finish(client: httpx2.Client, job: str) -> None:
    until = time.monotonic() + 300
    while time.monotonic() < until:
        state = client.get(f"{BASE}/jobs/{job}").json()["state"]
        if state in ("succeeded", "failed"):
            assert state == "succeeded"
            return
        time.sleep(0.2)
    raise AssertionError("the job does not end")


OF_OTHERS = {
    "type": "Annotation",
    "body": {"type": "TextualBody", "purpose": "tagging", "value": "irony"},
    "target": {"selector": {"type": "TextQuoteSelector", "exact": "Brierly laughed"}},
}


@pytest.mark.journey
def test_a_layer_is_imported_built_exported_and_removed(it: Served, path: str) -> None:
    writer, reader = it.client("write"), it.client("read")
    layer = {"layer": "scheme"}
    content = json.dumps(OF_OTHERS).encode()
    refused = reader.post(f"{path}/annotations/import", params=layer, content=content)
    assert refused.status_code == 403
    reply = writer.post(f"{path}/annotations/import", params=layer, content=content)
    assert reply.status_code == 200, reply.text
    imported = reply.json()
    assert (imported["annotations"], imported["orphaned"]) == (1, 0)
    finish(writer, imported["job"])
    [listed] = reader.get(f"{path}/annotations").json()
    assert (listed["layer"], listed["annotations"]) == ("scheme", 1)
    [row] = reader.get(f"{path}/annotations/layers/scheme").json()
    assert TEXT[row["start"] : row["end"]] == row["quote"] == "Brierly laughed"
    asked = {"question": "irony", "mode": "annotations"}
    hit = reader.post(f"{BASE}/collections/books/search", json=asked).json()["hits"][0]
    assert "Brierly laughed" in hit["text"]
    exported = reader.get(f"{path}/annotations/export", params={"what": ["scheme", "entities"]})
    assert exported.headers["content-type"] == "application/ld+json"
    items = exported.json()["first"]["items"]
    assert {item["motivation"] for item in items} == {"identifying", "tagging"}
    assert writer.delete(f"{path}/annotations/layers/scheme").status_code == 204
    assert reader.get(f"{path}/annotations").json() == []
    assert writer.delete(f"{path}/annotations/layers/scheme").status_code == 404


def test_a_body_that_has_no_annotations_is_refused(it: Served, path: str) -> None:
    writer = it.client("write")
    for content in (b"", b"[" * 100_000, b"no json", b"[]"):
        reply = writer.post(f"{path}/annotations/import", params={"layer": "x"}, content=content)
        assert reply.status_code == 422, reply.text
    reply = writer.post(
        f"{path}/annotations/import", params={"layer": "x", "format": "none"}, content=b"[]"
    )
    assert reply.status_code in (400, 422), reply.text


@pytest.mark.journey
def test_notes_are_added_searched_and_removed(it: Served, path: str) -> None:
    writer, reader = it.client("write"), it.client("read")
    new = {"quote": "Kurtz was ill", "body": "Is he?", "tag": "doubt"}
    assert reader.post(f"{path}/notes", json=new).status_code == 403
    reply = writer.post(f"{path}/notes", json=new)
    assert reply.status_code == 201, reply.text
    note = reply.json()
    assert (note["kind"], TEXT[note["start"] : note["end"]]) == ("note", "Kurtz was ill")
    assert writer.post(f"{path}/notes", json={"quote": "Marlow"}).status_code == 404
    [found] = reader.get(f"{BASE}/collections/books/notes", params={"words": "doubt"}).json()
    assert (found["id"], found["document"] in path) == (note["id"], True)
    assert reader.get(f"{path}/notes", params={"words": "nothing"}).json() == []
    assert reader.get(f"{path}/notes", params={"until": "30"}).json() == []
    reader_removes = reader.delete(f"{path}/notes/{note['id']}")
    assert reader_removes.status_code == 403
    # Over HTTP the beginning of an id is none.
    assert writer.delete(f"{path}/notes/{note['id'][:2]}").status_code == 404
    of_place = reader.get(f"{BASE}/collections/books/notes", params={"until": "30"})
    assert of_place.json() == []
    assert writer.delete(f"{path}/notes/{note['id']}").status_code == 204
    assert reader.get(f"{path}/notes").json() == []


def test_formats_of_several_files_are_zips(it: Served, path: str) -> None:
    writer, reader = it.client("write"), it.client("read")
    said = TEXT.index("Hang Kurtz was ill.")
    quotation = {
        "type": "Annotation",
        "motivation": "identifying",
        "body": [
            {"type": "TextualBody", "purpose": "classifying", "value": "quotation"},
            {"type": "TextualBody", "purpose": "identifying", "value": "marlow"},
            {"type": "TextualBody", "purpose": "tagging", "value": "Marlow"},
        ],
        "target": {"selector": {"type": "TextPositionSelector", "start": said, "end": said + 19}},
    }
    query = {"layer": "voices", "build": "false"}
    content = json.dumps(quotation).encode()
    assert writer.post(f"{path}/annotations/import", params=query, content=content).is_success
    exported = reader.get(f"{path}/annotations/export", params={"format": "booknlp"})
    assert exported.headers["content-type"] == "application/zip"
    assert exported.headers["content-disposition"].endswith('filename="Heart.booknlp.zip"')
    query = {"layer": "again", "build": "false", "format": "booknlp"}
    reply = writer.post(f"{path}/annotations/import", params=query, content=exported.content)
    assert reply.status_code == 200, reply.text
    assert (reply.json()["annotations"] > 1, reply.json()["orphaned"]) == (True, 0)
    for broken in (exported.content[:-40], b"PK\x03\x04", b"x"):
        reply = writer.post(f"{path}/annotations/import", params=query, content=broken)
        assert reply.status_code == 422, reply.text
    assert writer.delete(f"{path}/annotations/layers/again").status_code == 204
    # The same layer is a network of one, as DraCor has it.
    [marlow] = reader.get(f"{path}/characters").json()
    assert (marlow["id"], marlow["name"], marlow["numOfWords"]) == ("marlow", "Marlow", 4)
    listed = reader.get(f"{path}/characters/csv")
    assert listed.headers["content-type"].startswith("text/csv")
    assert listed.text.startswith("id,name,sex,")
    assert reader.get(f"{path}/networkdata/csv").text == "Source,Type,Target,Weight\n"
    assert reader.get(f"{path}/networkdata/gexf").text.count("<node ") == 1
    assert reader.get(f"{path}/networkdata/pajek").status_code == 422
    assert writer.delete(f"{path}/annotations/layers/voices").status_code == 204
    assert reader.get(f"{path}/characters").status_code == 404


def test_an_answer_is_returned_as_web_annotations_of_what_it_cites(it: Served) -> None:
    reply = it.client("read").post(
        f"{BASE}/collections/books/ask",
        json={"question": "Who was ill?"},
        headers={"Accept": "application/ld+json"},
    )
    assert reply.headers["content-type"] == "application/ld+json"
    cited = reply.json()
    assert (cited["type"], cited["label"]) == ("AnnotationCollection", "Who was ill?")
    place, words = cited["first"]["items"][0]["target"]["selector"]
    assert TEXT[place["start"] : place["end"]] == words["exact"]
    assert "Kurtz was ill" in words["exact"]
