"""Annotations and notes over HTTP: who may, what is kept, and what comes back."""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Callable, Iterator
from typing import Any

import httpx2
import psutil
import pytest

from cases import for_each
from fabula.jobs.callers import PERSON
from fabula.server import Address
from offline import offline_app
from quoted import CAROL, quote_many
from served import Served, served

BASE = "/api/v1"
TEXT = "Mr. Marlow sat on deck. Hang Kurtz was ill. Marlow saw Kurtz at last. Brierly laughed."


@pytest.fixture(scope="module")
def it(address: Address, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    home = tmp_path_factory.mktemp("annotations")
    with offline_app(address, home=home, graphs="entities", chunk_tokens=200) as app:
        app.collection("books").ingest_text(TEXT, source="h.txt", title="Heart", language="en")
        with served(app) as it:
            yield it


@pytest.fixture
def path(it: Served) -> str:
    [entry] = it.state.app.collection("books").documents()
    return f"{BASE}/collections/books/documents/{entry.id}"


def list_layers(client: httpx2.Client, path: str) -> list[dict[str, Any]]:
    """The layers of the document of a path."""
    collection, _, document = path.partition("/documents/")
    reply = client.get(f"{collection}/annotations", params={"document": document})
    return [*reply.json()["rows"]]


def begin(client: httpx2.Client, path: str, content: bytes, **more: Any) -> dict[str, Any]:
    """The job that imports annotations, once it is accepted."""
    headers = {"Idempotency-Key": key} if (key := more.pop("key", None)) else {}
    reply = client.post(f"{path}/annotations/import", params=more, content=content, headers=headers)
    assert reply.status_code == 202, reply.text
    job: dict[str, Any] = reply.json()
    assert reply.headers["location"] == f"{BASE}/jobs/{job['id']}"
    return job


def wait(
    client: httpx2.Client, job: dict[str, Any], is_there: Callable[[dict[str, Any]], bool]
) -> dict[str, Any]:
    """The job once it is as wanted."""
    until = time.monotonic() + 300
    while time.monotonic() < until:
        found: dict[str, Any] = client.get(f"{BASE}/jobs/{job['id']}").json()
        if is_there(found):
            return found
        assert found["state"] in ("queued", "running"), found
        time.sleep(0.2)
    raise AssertionError(f"the job stays as it is: {found}")


def finish(client: httpx2.Client, job: dict[str, Any], state: str = "succeeded") -> dict[str, Any]:
    """The only item of a job once the job has ended."""
    ended = wait(client, job, lambda found: found["state"] in ("succeeded", "failed", "cancelled"))
    assert ended["state"] == state, ended
    [item] = ended["items"]
    return {**item, "problem": ended["problem"]}


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
    job = begin(writer, path, content, layer="scheme", key="one")
    assert (job["kind"], job["options"]["layer"]) == ("annotate", "scheme")
    item = finish(writer, job)
    counts = {"annotations": 1, "in_place": 1, "moved": 0, "orphaned": 0, "untried": 0}
    assert (item["title"], item["result"]) == ("Heart", counts)
    page = reader.get(f"/jobs/{job['id']}").text
    assert "Import annotations" in page
    assert "1 annotation: 1 in place, 0 found elsewhere, 0 found nowhere" in page
    # The same request again is the same job, and another with its key is refused.
    assert begin(writer, path, content, layer="scheme", key="one")["id"] == job["id"]
    other = writer.post(
        f"{path}/annotations/import",
        params={"layer": "other"},
        content=content,
        headers={"Idempotency-Key": "one"},
    )
    assert other.status_code == 409
    [listed] = list_layers(reader, path)
    assert (listed["layer"], listed["annotations"]) == ("scheme", 1)
    [row] = reader.get(f"{path}/annotations", params={"layer": "scheme"}).json()["rows"]
    assert TEXT[row["start"] : row["end"]] == row["quote"] == "Brierly laughed"
    request = {"question": "irony", "mode": "annotations"}
    hit = reader.post(f"{BASE}/collections/books/search", json=request).json()["rows"][0]
    assert "Brierly laughed" in hit["text"]
    exported = reader.get(f"{path}/annotations/export", params={"what": ["scheme", "entities"]})
    assert exported.headers["content-type"] == "application/ld+json"
    items = exported.json()["first"]["items"]
    assert {item["motivation"] for item in items} == {"identifying", "tagging"}
    removed = writer.delete(f"{path}/annotations/layers/scheme")
    assert (removed.status_code, removed.json()["annotations"]) == (202, 1)
    assert removed.headers["location"] == f"/api/v1/jobs/{removed.json()['job']}"
    assert list_layers(reader, path) == []
    assert writer.delete(f"{path}/annotations/layers/scheme").status_code == 404


@for_each(
    ("content", "problem"),
    [
        (b"", "x.jsonld is not JSON"),
        (b"[" * 100_000, "x.jsonld is nested too deeply to be read."),
        (b"no json", "x.jsonld is not JSON"),
        (b"[]", "x.jsonld has no annotations: "),
    ],
)
def test_a_file_that_has_no_annotations_fails_its_job(
    it: Served, path: str, content: bytes, problem: str
) -> None:
    writer = it.client("write")
    item = finish(writer, begin(writer, path, content, layer="x"), "failed")
    assert problem in item["problem"]
    assert item["error"] == item["problem"]
    assert item["result"] == {}
    assert list_layers(writer, path) == []


def test_what_no_file_could_make_succeed_is_refused_at_once(it: Served, path: str) -> None:
    writer = it.client("write")
    jobs = len(it.state.jobs.list(PERSON, limit=1000))
    for place, query, status in (
        (path, {"layer": "x", "format": "none"}, 400),
        (path, {"layer": "a/b"}, 400),
        (path, {"layer": "notes"}, 422),
        (f"{BASE}/collections/books/documents/none", {"layer": "x"}, 404),
    ):
        reply = writer.post(f"{place}/annotations/import", params=query, content=b"[]")
        assert reply.status_code == status, reply.text
    assert len(it.state.jobs.list(PERSON, limit=1000)) == jobs


def _has_begun(job: dict[str, Any]) -> bool:
    return bool(job["steps"].get("annotations", {}).get("done"))


def _search_for_a_moment() -> bool:
    """Let the process that looks for annotations run for a moment, and then hold it.

    However fast the machine is, the job is not at its end before a test has seen it begin.
    """
    for process in psutil.Process().children():
        with contextlib.suppress(psutil.NoSuchProcess):
            if "fabula.export.annotation_sandbox" in process.cmdline():
                process.resume()
                time.sleep(0.02)
                process.suspend()
    return False


def test_a_long_import_tells_how_far_it_is_is_cancelled_and_done_again(it: Served) -> None:
    writer, text = it.client("write"), CAROL.read_text(encoding="utf-8")
    adding = writer.post(
        f"{BASE}/collections/long/documents",
        params={"graphs": "annotations"},
        json={"text": text, "source": "carol.txt"},
    )
    document = finish(writer, adding.json())["document"]
    path = f"{BASE}/collections/long/documents/{document}"
    job = begin(writer, path, quote_many(text, 3_000), layer="many")
    going = wait(writer, job, lambda found: _has_begun(found) or _search_for_a_moment())
    assert 0 < going["steps"]["annotations"]["done"] < 3_000
    assert going["steps"]["annotations"]["expected"] == 3_000
    assert going["steps"]["import"] == {"done": 0, "expected": 1}
    assert writer.post(f"{BASE}/jobs/{job['id']}/cancel").status_code == 202
    began = time.monotonic()
    assert finish(writer, job, "cancelled")["result"] == {}
    assert time.monotonic() - began < 10
    assert list_layers(writer, path) == []
    assert writer.post(f"{BASE}/jobs/{job['id']}/retry").status_code == 202
    result = finish(writer, job)["result"]
    assert (result["annotations"], result["untried"]) == (3_000, 0)
    [listed] = list_layers(writer, path)
    assert (listed["annotations"], listed["orphaned"]) == (3_000, result["orphaned"])
    # The graph that the job ends with is up to date.
    collection = it.state.app.collection("long")
    assert collection.stale(collection.document(document)) == {}


def test_formats_of_several_files_are_zips(it: Served, path: str) -> None:
    writer, reader = it.client("write"), it.client("read")
    start = TEXT.index("Hang Kurtz was ill.")
    quotation = {
        "type": "Annotation",
        "motivation": "identifying",
        "body": [
            {"type": "TextualBody", "purpose": "classifying", "value": "quotation"},
            {"type": "TextualBody", "purpose": "identifying", "value": "marlow"},
            {"type": "TextualBody", "purpose": "tagging", "value": "Marlow"},
        ],
        "target": {"selector": {"type": "TextPositionSelector", "start": start, "end": start + 19}},
    }
    content = json.dumps(quotation).encode()
    finish(writer, begin(writer, path, content, layer="voices", build="false"))
    exported = reader.get(f"{path}/annotations/export", params={"format": "booknlp"})
    assert exported.headers["content-type"] == "application/zip"
    assert exported.headers["content-disposition"].endswith('filename="Heart.booknlp.zip"')
    query = {"layer": "again", "build": "false", "format": "booknlp"}
    result = finish(writer, begin(writer, path, exported.content, **query))["result"]
    assert (result["annotations"] > 1, result["orphaned"]) == (True, 0)
    for broken in (exported.content[:-40], b"PK\x03\x04", b"x"):
        item = finish(writer, begin(writer, path, broken, **query), "failed")
        problem = "give .tokens as well" if broken == b"x" else "again.tokens is not a valid zip"
        assert problem in item["error"]
    assert writer.delete(f"{path}/annotations/layers/again").status_code == 202
    assert writer.delete(f"{path}/annotations/layers/voices").status_code == 202


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
