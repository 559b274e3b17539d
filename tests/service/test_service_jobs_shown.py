"""What a job says of itself: what it does, what it waits for, and why it is paused."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest
from click.testing import CliRunner

from database import empty
from endpoint import Endpoint
from fabula.cli import main
from fabula.jobs.callers import PERSON
from fabula.jobs.job import Job
from fabula.jobs.queue import UNTOLD
from fabula.library import App
from fabula.models.progress import BUILD
from fabula.server import Address
from jobs_over_http import BASE, POLL_SECONDS, begin, books, send, until
from served import Served, served, server_of
from stories import LIGHTHOUSE, WINTER

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def endpoint() -> Iterator[Endpoint]:
    with Endpoint() as endpoint:
        yield endpoint


@pytest.fixture(scope="module")
def service(
    address: Address, endpoint: Endpoint, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Served]:
    empty(address)
    model: dict[str, Any] = {"base_url": endpoint.url, "api_key": "sk-test", "chunk_tokens": 48}
    home = tmp_path_factory.mktemp("shown")
    with App(home=home, **server_of(address), **model) as app, served(app) as it:
        yield it


@pytest.fixture
def held(endpoint: Endpoint) -> Iterator[Endpoint]:
    """The endpoint, which answers no call until `release` is called."""
    endpoint.held_from = endpoint.calls + 1
    yield endpoint
    endpoint.release()


def wait_for(service: Served, id: str, state: str) -> Job:
    deadline = time.monotonic() + 240
    while (job := service.state.jobs.read(id)) is None or job.state != state:
        assert time.monotonic() < deadline, job
        time.sleep(POLL_SECONDS)
    return job


def run(address: Address, *words: str) -> str:
    """Run a command over the tests' Neo4j and return what it prints."""
    uri = ("--neo4j-uri", address.uri, "--neo4j-username", address.username)
    password = {"NEO4J_PASSWORD": address.password}
    result = CliRunner().invoke(main, [*words, *uri], env=password, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


@pytest.mark.parametrize("text", [WINTER, f"{WINTER}\n\nThe end."], ids=["added", "replaced"])
def test_from_running_on_there_is_always_a_step(service: Served, text: str) -> None:
    client, jobs = service.client("write"), service.state.jobs
    id = begin(client, "stepped", {"winter.txt": text})
    seen: list[Job] = []
    while not seen or not seen[-1].is_over:
        [listed] = jobs.list(PERSON, limit=1)
        for job in (jobs.read(id), listed):
            assert job is not None
            seen.append(job)
    running = [job for job in seen if job.state == "running"]
    idle = [
        job for job in running if all(step.done == step.expected for step in job.steps.values())
    ]
    assert idle == []
    assert all(job.doing for job in running)
    assert seen[-1].state == "succeeded"
    assert not (seen[-1].steps or seen[-1].doing)


def test_what_a_job_does_is_in_the_api_on_the_page_and_in_the_command(
    service: Served, address: Address, held: Endpoint
) -> None:
    client = service.client("write")
    id = begin(client, "doing", {"winter.txt": WINTER})
    deadline = time.monotonic() + 240
    while BUILD not in (job := client.get(f"{BASE}/jobs/{id}").json())["steps"]:
        assert time.monotonic() < deadline, job
        time.sleep(POLL_SECONDS)
    assert job["steps"][BUILD] == {"done": 0, "expected": 1}
    assert job["steps"] == job["items"][0]["steps"]
    assert "Documents built" in client.get(f"/jobs/{id}").text
    [listed] = client.get(f"{BASE}/jobs", params={"limit": 1}).json()["rows"]
    assert listed["steps"].keys() == job["steps"].keys()
    doing = wait_for(service, id, "running").doing
    assert " 0 of " in doing
    assert doing.partition(" 0 of ")[0] in client.get("/jobs").text
    assert doing.partition(" 0 of ")[0] in run(address, "jobs", "--limit", "1")
    held.release()
    until(client, id)


def test_a_job_says_for_which_one_it_waits_and_why(
    service: Served, address: Address, held: Endpoint
) -> None:
    client = service.client("write")
    first = begin(client, "queue", {"winter.txt": WINTER})
    wait_for(service, first, "running")
    same = begin(client, "queue", {"winter.txt": f"Again.\n\n{WINTER}"})
    build = service.state.jobs.add(PERSON, "queue", "renew", [], {}).id
    after = begin(client, "queue", {"lighthouse.txt": LIGHTHOUSE})
    # Jobs get their places in the queue when a worker looks for one.
    expected = {
        same: f"It waits for job {first}: that one adds the same document.",
        build: f"It waits for job {same}: that one adds documents to the collection.",
        after: f"It waits for job {build}: that one renews what is damaged in the collection.",
    }
    deadline = time.monotonic() + 120
    while (
        found := {id: client.get(f"{BASE}/jobs/{id}").json()["problem"] for id in expected}
    ) != expected:
        assert time.monotonic() < deadline, found
        time.sleep(POLL_SECONDS)
    for place in (client.get(f"/jobs/{same}").text, client.get("/jobs").text, run(address, "jobs")):
        assert expected[same] in place
    client.post(f"{BASE}/jobs/{build}/cancel")
    assert (
        "was cancelled and keeps its place" in client.get(f"{BASE}/jobs/{after}").json()["problem"]
    )
    held.release()
    for id in (first, same, after):
        assert until(client, id)["state"] == "succeeded"


def test_a_job_says_that_it_waits_for_a_worker_or_for_a_pause(
    service: Served, held: Endpoint
) -> None:
    client = service.client("write")
    ids = [begin(client, f"worker{number}", {"w.txt": WINTER}) for number in range(3)]
    for id in ids[:2]:
        wait_for(service, id, "running")
    problem = client.get(f"{BASE}/jobs/{ids[2]}").json()["problem"]
    assert problem == (
        "It waits for a free worker: a service runs 2 jobs at a time (serve.jobs_at_once)."
    )
    held.release()
    for id in ids:
        until(client, id)
    with service.state.runner.pause("A dump is being made."):
        id = begin(client, "paused", {"w.txt": WINTER})
        problem = client.get(f"{BASE}/jobs/{id}").json()["problem"]
        assert problem == "A dump is being made. No job is taken meanwhile."
    until(client, id)


def test_jobs_of_a_restored_graph_are_paused_until_they_are_resumed_or_cancelled(
    service: Served, address: Address, held: Endpoint, endpoint: Endpoint
) -> None:
    client, store = service.client("write"), service.state.app.connect()
    with service.state.runner.pause():
        ids = [begin(client, "old", {f"{number}.txt": WINTER}) for number in range(3)]
        [paused] = store.rows("jobs/save_paused", problem="Restored.")
        assert paused["jobs"] == 3
        [again] = store.rows("jobs/save_paused", problem="Restored.")
        assert again["jobs"] == 0
    # The queue goes on, and these are not in it.
    done = begin(client, "new", {"w.txt": LIGHTHOUSE})
    wait_for(service, done, "running")
    assert {client.get(f"{BASE}/jobs/{id}").json()["state"] for id in ids} == {"paused"}
    assert "Restored." in client.get(f"/jobs/{ids[0]}").text
    assert run(address, "jobs", "--state", "paused").count("Restored.") == 3
    held.release()
    assert f"{ids[0]}  queued" in run(address, "jobs", "resume", ids[0])
    assert client.post(f"{BASE}/jobs/{ids[1]}/resume").status_code == 202
    for id in ids[:2]:
        assert until(client, id)["state"] in ("succeeded", "unchanged")
    assert f"{ids[2]}  cancelled" in run(address, "jobs", "cancel")
    assert "No job is paused." in run(address, "jobs", "resume")
    with service.state.runner.pause():
        id = begin(client, "old", {"by hand.txt": WINTER})
        assert "1 job was paused." in run(address, "jobs", "pause")
        assert "1 job was" not in run(address, "jobs", "pause")
        run(address, "jobs", "cancel", id)
    until(client, done)
    assert len(books(client, "old")) == 1
    assert send(client, "old", {"2.txt": LIGHTHOUSE}).status_code == 202


def test_who_may_only_read_is_not_told_why_a_job_failed(
    service: Served, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(endpoint, "key", "another")
    writer, reader = service.client("write"), service.client("read")
    id = begin(writer, "failing", {"winter.txt": WINTER})
    failed = until(writer, id)
    assert failed["state"] == "failed"
    assert endpoint.url in failed["items"][0]["error"]
    seen = [
        reader.get(f"{BASE}/jobs/{id}"),
        reader.get(f"{BASE}/jobs/{id}/events"),
        reader.get(f"{BASE}/jobs"),
        reader.get(f"/jobs/{id}"),
        reader.get(f"/jobs/{id}/part"),
        reader.get("/jobs"),
    ]
    assert {response.status_code for response in seen} == {200}
    assert not [response.url for response in seen if endpoint.url in response.text]
    assert seen[0].json()["items"][0]["error"] == UNTOLD == seen[0].json()["problem"]
