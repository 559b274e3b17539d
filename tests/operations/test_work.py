"""Work on a collection on each interface: a job, a run at once, and what either would do."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from click.testing import CliRunner, Result

from database import connect, name_server, wipe
from fabula.cli import main
from fabula.config.settings import STATIC
from fabula.errors import SettingsError
from fabula.jobs.callers import PERSON, Caller
from fabula.jobs.estimates import Estimate
from fabula.library import App
from fabula.operations.building import build_graph, remove_collection, renew
from fabula.operations.kit import find_operation
from fabula.operations.shown_answer import to_json
from fabula.server import Address
from jobs_over_http import until
from mcp_calls import called
from served import Served, served, server_of

STORY = "Anna Petrovna slept at the mill. Boris rang the bell, and Anna Petrovna woke."
PATH = "/api/v1/collections/novels"
OFFLINE: dict[str, Any] = {"model": "offline", "embedding_model": STATIC, "chunk_tokens": 40}


@pytest.fixture
def it(address: Address, monkeypatch: pytest.MonkeyPatch) -> Iterator[Served]:
    name_server(monkeypatch, address)
    for name, value in OFFLINE.items():
        monkeypatch.setenv(f"FABULA_{name.upper()}", str(value))
    with connect(address) as store:
        wipe(store)
    with App(**server_of(address), **OFFLINE) as app:
        app.collection("novels").ingest_text(STORY, source="mill.txt", title="The Mill")
        with served(app) as it:
            yield it


def run(*words: str, code: int = 0, answer: str = "") -> Result:
    result = CliRunner().invoke(main, [*words, "--collection", "novels"], input=answer)
    assert result.exit_code == code, result.output
    return result


def without_times(items: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{**item, "seconds": 0} for item in items]


@pytest.mark.parametrize(
    ("command", "values"),
    [("build", {"graph": "entities"}), ("renew", {}), ("reembed", {}), ("remove-collection", {})],
)
def test_what_work_would_do_is_the_same_everywhere(
    it: Served, command: str, values: dict[str, Any]
) -> None:
    operation, client = find_operation(command), it.client("admin")
    path = f"/api/v1{operation.path.format(collection='novels')}"
    sent: dict[str, Any] = {"json": values} if operation.has_body else {}
    shown = client.request(operation.method, path, params={"dry_run": True}, **sent)
    assert shown.status_code == 200, shown.text
    expected = to_json(operation.plan(it.state.app.collection("novels"), values).estimate())
    assert without_times(shown.json()["items"]) == without_times(expected["items"])
    printed = run(command, *values.values(), "--dry-run", "--json")
    assert without_times(json.loads(printed.stdout)) == without_times(expected["items"])
    assert client.get("/api/v1/jobs").json()["rows"] == []


def test_a_graph_is_built_by_a_job_or_at_once(it: Served) -> None:
    client, key = it.client("write"), {"Idempotency-Key": "one"}
    begun = client.post(f"{PATH}/build", json={"graph": "entities"}, headers=key)
    job = begun.json()
    assert (begun.status_code, job["kind"]) == (202, "build")
    assert begun.headers["location"] == f"/api/v1/jobs/{job['id']}"
    again = client.post(f"{PATH}/build", json={"graph": "entities"}, headers=key)
    assert again.json()["id"] == job["id"]
    other = client.post(f"{PATH}/build", json={"graph": "aspects"}, headers=key)
    assert other.status_code == 409
    assert until(client, job["id"])["counts"] == {"succeeded": 1}
    writer = Caller("bob", "Bob", "write", frozenset({"novels"}))
    result = called(it, "build_graph", writer, collection="novels", graph="entities")
    assert until(client, result["id"])["counts"] == {"unchanged": 1}
    assert "1 unchanged" in run("build", "entities", "The Mill").stdout
    [outcome] = build_graph(it.state.app.collection("novels"), "entities").run()
    assert outcome.status == "unchanged"


def test_work_that_no_run_could_do_begins_no_job(it: Served) -> None:
    client, collection = it.client("write"), it.state.app.collection("novels")
    for body, why in (
        ({"graph": "facts"}, "chat model"),
        ({"graph": "nothing"}, "nothing"),
        ({"graph": "identities", "documents": ["The Mill"]}, "whole collection"),
    ):
        refused = client.post(f"{PATH}/build", json=body)
        assert (refused.status_code, why in refused.json()["detail"]) == (400, True), refused.text
    for misfit in ({}, {"graph": ""}, {"graphs": ["entities"]}):
        assert client.post(f"{PATH}/build", json=misfit).status_code == 422
    with pytest.raises(SettingsError):
        renew(collection, batch=True).refuse()
    assert client.get("/api/v1/jobs").json()["rows"] == []


def test_a_collection_is_removed_with_the_conversations_about_it(it: Served) -> None:
    client = it.client("admin")
    assert client.post(f"{PATH}/conversations").status_code == 201
    assert it.client("write").delete(PATH).status_code == 403
    assert "Unknown tool" in called(it, "remove_collection", PERSON, collection="novels")
    output = run("remove-collection", code=1, answer="n\n").stderr
    assert "Remove collection 'novels': 1 document, " in output
    collection = it.state.app.collection("novels")
    assert isinstance(remove_collection(collection).estimate(), Estimate)
    assert len(collection.documents()) == 1
    assert (
        "removed    collection 'novels': 1 document, " in run("remove-collection", "--yes").stdout
    )
    assert len(collection.documents()) == 0
    collection.ingest_text(STORY, source="mill.txt")
    assert client.get(f"{PATH}/conversations").json()["rows"] == []
    removal = client.delete(PATH)
    assert removal.status_code == 202
    assert until(client, removal.json()["id"])["state"] == "succeeded"
    assert client.get(PATH).status_code == 404
