"""Jobs and what they cost on each interface: one JSON of a job whoever asks."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from click.testing import CliRunner, Result

from database import empty, name_server
from endpoint import Endpoint
from fabula.cli import main
from fabula.errors import BadValue, SettingsError
from fabula.jobs.callers import PERSON, Caller
from fabula.library import App
from fabula.operations.jobs import list_jobs, resume_job, show_job
from fabula.operations.kit import Asker, find_operation
from fabula.operations.usage import usage
from fabula.server import Address
from jobs_over_http import begin, until
from mcp_calls import called
from served import Served, events, served, server_of

STORY = "Anna slept at the mill. Boris rang the bell."
HIDDEN = ("made_with", "attempts", "caller", "place", "upload", "book", "metadata")


@pytest.fixture
def it(
    address: Address, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Served]:
    name_server(monkeypatch, address)
    empty(address)
    with Endpoint() as endpoint:
        model: dict[str, Any] = {"base_url": endpoint.url, "api_key": "sk-test", "chunk_tokens": 48}
        home = tmp_path_factory.mktemp("home")
        with App(home=home, **server_of(address), **model) as app, served(app) as it:
            yield it


def run(*words: str) -> Result:
    return CliRunner().invoke(main, words)


def read(*words: str) -> Any:
    printed = run(*words, "--json")
    assert printed.exit_code == 0, printed.output
    return json.loads(printed.stdout)


def test_a_job_is_the_same_everywhere_and_shows_nothing_of_how_it_is_done(it: Served) -> None:
    client = it.client("write")
    id = begin(client, "novels", {"mill.txt": STORY})
    job = until(client, id)
    assert (job["state"], job["items"][0]["state"]) == ("succeeded", "succeeded")
    assert read("jobs", "show", id) == job
    asker = it.asker
    assert find_operation("jobs.show").to_json(show_job(asker, id)) == job
    assert called(it, "show_job", PERSON, job=id) == job
    snapshots = [
        data for name, data in events(client.get(f"/api/v1/jobs/{id}/events")) if name == "snapshot"
    ]
    assert snapshots == [job]
    listed = client.get("/api/v1/jobs").json()
    assert listed == read("jobs")
    assert listed["rows"] == [{**job, "items": [], "version": listed["rows"][0]["version"]}]
    assert called(it, "list_jobs", PERSON) == listed
    for shown in (job, *job["items"], *listed["rows"]):
        assert not {*HIDDEN} & {*shown}
    text = run("jobs").stdout
    assert f"{id}  succeeded: ingest in collection novels, 1 succeeded." in text
    assert job["items"][0]["title"] in run("jobs", "show", id).stdout
    # A key of another collection sees none of it, by any interface.
    stranger = Caller("eve", "Eve", "read", frozenset({"other"}))
    assert called(it, "list_jobs", stranger) == {"rows": [], "next": None}
    assert "There is no job" in called(it, "show_job", stranger, job=id)


def test_jobs_are_listed_page_by_page(it: Served) -> None:
    client = it.client("write")
    ids = [begin(client, "novels", {f"{number}.txt": STORY}) for number in range(3)]
    for id in ids:
        until(client, id)
    first = list_jobs(it.asker, limit=2)
    assert [job.id for job in first.rows] == ids[:0:-1]
    assert "--after" in run("jobs", "--limit", "2").stderr
    rest = list_jobs(it.asker, limit=2, after=first.next or "")
    assert ([job.id for job in rest.rows], rest.next) == (ids[:1], None)
    assert list_jobs(it.asker, state="failed").rows == []
    with pytest.raises(BadValue, match="is not the `next` of a page"):
        list_jobs(it.asker, after="yesterday")
    assert run("jobs", "--state", "failed").stdout == "There are no such jobs.\n"


def test_a_paused_job_is_cancelled_retried_and_resumed_where_a_service_runs(it: Served) -> None:
    writer = Caller("bob", "Bob", "write", frozenset({"novels"}))
    with it.state.runner.pause():
        id = begin(it.client("write"), "novels", {"mill.txt": STORY})
        assert run("jobs", "pause").exit_code == 0
        assert it.client("read").post(f"/api/v1/jobs/{id}/resume").status_code == 403
        assert called(it, "resume_job", writer, job=id)["state"] == "queued"
        reader = Caller("ada", "Ada", "read", frozenset({"novels"}))
        assert "needs a key with the role write" in called(it, "cancel_job", reader, job=id)
        assert called(it, "cancel_job", writer, job=id)["state"] == "cancelled"
        again = it.client("write").post(f"/api/v1/jobs/{id}/resume")
        assert (again.status_code, again.json()["state"]) == (409, "cancelled")
        retried = it.client("write").post(f"/api/v1/jobs/{id}/retry", json={})
        assert (retried.status_code, retried.json()["state"]) == (202, "queued")
        app = it.state.app
        with pytest.raises(SettingsError, match="with the settings of a service"):
            resume_job(Asker("ada", app, app.collections, app.collection), id)
    until(it.client("write"), id)


def test_what_was_spent_is_the_same_everywhere(it: Served) -> None:
    client = it.client("write")
    until(client, begin(client, "novels", {"mill.txt": STORY}))
    admin = it.client()
    spent = admin.get("/api/v1/usage", params={"by": "collection"}).json()
    assert [row["what"] for row in spent["rows"]] == ["novels"]
    assert spent["rows"][0]["calls"] > 0
    assert (spent["total"], spent["unbooked"]) == (1, None)
    assert read("usage", "--by", "collection") == spent
    assert called(it, "usage", PERSON, by="collection") == spent
    assert usage(it.asker, "collection").rows[0].tokens == spent["rows"][0]["tokens"]
    assert "novels" in run("usage", "--by", "collection").stdout
    # Others see what their own key has spent.
    assert client.get("/api/v1/usage", params={"by": "collection"}).json() == spent
    other = it.client("write").get("/api/v1/usage").json()
    assert other == {"total": 0, "rows": [], "unbooked": None}
