"""The daily dump of a service with a private Neo4j, by a clock that the tests move."""

from __future__ import annotations

import logging
import os
import signal
import threading
import time
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import httpx2
import pytest

from fabula.cli.commands.db import RESTORED
from fabula.config.settings import Settings
from fabula.library import App
from fabula.server.private import PrivateServer
from fabula.server.state import Home
from fabula.service.core.daily_dump import WELL_MINUTES, find_next
from graphs import DIMENSIONS, MODEL, put, small_graph
from served import Served, served
from servers import fabula_db

pytestmark = [pytest.mark.long, pytest.mark.own_server, pytest.mark.server]

DAY_SECONDS = 86_400.0


class Clock:
    """A clock that stands at the time that a test sets."""

    def __init__(self) -> None:
        self.now = datetime(2031, 3, 1, 12).astimezone().timestamp()

    def __call__(self) -> float:
        return self.now


@pytest.fixture(scope="module")
def clock() -> Clock:
    return Clock()


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("served") / "home"
    yield folder
    PrivateServer(folder, "512m", "128m").destroy(programs=True, dumps=True)


@pytest.fixture(scope="module")
def it(home: Path, clock: Clock) -> Iterator[Served]:
    """A service over a private server with one document."""
    with App(
        Settings(home=home, cache=False, model="offline", embedding_model="wordllama-256")
    ) as app:
        app.connect().prepare("default", MODEL, DIMENSIONS)
        put(app.connect(), small_graph("a.txt"))
        with served(app, clock=clock) as it:
            yield it


def test_the_hour_comes_once_a_day_by_local_time() -> None:
    noon = datetime(2031, 3, 1, 12).astimezone().timestamp()
    next_at = datetime.fromtimestamp(find_next(noon, 4)).astimezone()
    assert (next_at.day, next_at.hour, next_at.minute) == (2, 4, 0)
    again = datetime.fromtimestamp(find_next(next_at.timestamp(), 4)).astimezone()
    assert (again.day, again.hour) == (3, 4)
    assert datetime.fromtimestamp(find_next(noon, 13)).astimezone().day == 1


def wait_for_answer(client: httpx2.Client, path: str) -> None:
    """Wait until the service answers again: it may take a second to notice that Neo4j does."""
    until = time.monotonic() + 120
    while client.get(path).status_code != 200:
        assert time.monotonic() < until, client.get(path).text
        time.sleep(0.1)


def test_at_its_hour_a_dump_is_made_while_requests_are_told_to_come_again(
    it: Served, home: Path, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, logger="fabula.service")
    client = it.client()
    assert "none yet" in client.get("/admin").text
    assert "fabula_dump_age_seconds" not in client.get("/metrics").text
    seen: list[httpx2.Response] = []
    is_over = threading.Event()

    def ask() -> None:
        while not is_over.wait(0.25):  # a key has 600 requests a minute
            seen.append(client.get("/api/v1/collections"))
            if seen[-1].status_code == 503:
                assert client.get("/livez").status_code == 200

    asking = threading.Thread(target=ask)
    asking.start()
    until = time.monotonic() + 240
    while not seen:
        assert time.monotonic() < until
        time.sleep(0.05)
    clock.now = find_next(clock.now, 4) + 60
    # Whoever looks at the clock next makes it: the service's own thread.
    until = time.monotonic() + 240
    while not (home / "dumps").is_dir() or not [*(home / "dumps").glob("*.dump")]:
        assert time.monotonic() < until, caplog.text
        time.sleep(0.2)
    while it.state.maintenance.current() is not None:
        assert time.monotonic() < until
        time.sleep(0.2)
    is_over.set()
    asking.join(120)
    [dump] = (home / "dumps").glob("*.dump")
    assert dump.name.startswith("2031-03-02-04010")
    assert {one.status_code for one in seen} == {200, 503}
    [refused, *_] = [one for one in seen if one.status_code == 503]
    assert int(refused.headers["retry-after"]) > 0
    assert refused.json()["detail"].startswith("A dump of all graphs is being made. The service is")
    # All goes on as before, without anybody's help.
    wait_for_answer(client, "/api/v1/collections")
    [collection] = client.get("/api/v1/collections").json()["rows"]
    assert (collection["name"], collection["documents"]) == ("default", 1)
    assert "A dump of all graphs is being made" in caplog.text and str(dump) in caplog.text
    assert "the last is 0 minutes old" in " ".join(client.get("/admin").text.split()).replace(
        "<span>", ""
    ).replace("</span>", "")
    clock.now += 3600
    metrics = client.get("/metrics").text
    assert 'fabula_dump_age_seconds{dump="newest"} 36' in metrics
    assert 'fabula_dump_failed{dump="last"} 0.0' in metrics


def test_a_job_is_let_go_of_for_the_dump_and_goes_on_after_it(it: Served, clock: Clock) -> None:
    client = it.client()
    text = "Title: B\n\n" + "A lantern swung over the harbour. The captain slept. " * 8000
    job = client.post(
        "/api/v1/collections/other/documents", files={"files": ("b.txt", text.encode())}
    ).json()

    def read() -> dict[str, Any]:
        return dict(client.get(f"/api/v1/jobs/{job['id']}").json())

    until = time.monotonic() + 240
    while read()["state"] == "queued":
        assert time.monotonic() < until
        time.sleep(0.05)
    clock.now = find_next(clock.now, 4)
    it.state.daily_dump.run_if_due(it.state.runner.pause)
    while it.state.maintenance.current() is not None:  # where the service's own thread was faster
        time.sleep(0.1)
    wait_for_answer(client, f"/api/v1/jobs/{job['id']}")
    while (now := read())["state"] != "succeeded":
        assert time.monotonic() < until and now["state"] in ("queued", "running"), now
        time.sleep(0.5)
    assert it.state.app.connect().count("other")[0] == 1


def test_no_job_is_taken_up_during_the_dump(it: Served) -> None:
    with it.state.runner.pause():
        client = it.client()
        files = {"files": ("c.txt", b"Title: C\n\nA lantern swung. The captain slept.")}
        job = client.post("/api/v1/collections/other/documents", files=files).json()
        time.sleep(3)  # three times as long as an idle runner waits
        assert client.get(f"/api/v1/jobs/{job['id']}").json()["state"] == "queued"
    until = time.monotonic() + 240
    while client.get(f"/api/v1/jobs/{job['id']}").json()["state"] != "succeeded":
        assert time.monotonic() < until
        time.sleep(0.5)


def test_a_dump_that_fails_or_is_old_is_seen(
    it: Served, home: Path, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    client = it.client()
    (home / "dumps").rename(home / "dumps.away")
    (home / "dumps").write_text("no folder")
    try:
        clock.now = find_next(clock.now, 4)
        assert it.state.daily_dump.run_if_due(it.state.runner.pause)
        [error] = [record for record in caplog.records if record.levelno == logging.ERROR]
        assert "The daily dump of the graphs failed" in error.message
        wait_for_answer(client, "/admin")
        assert "The last attempt failed" in client.get("/admin").text
        assert 'fabula_dump_failed{dump="last"} 1.0' in client.get("/metrics").text
    finally:
        (home / "dumps").unlink()
        (home / "dumps.away").rename(home / "dumps")
    it.state.daily_dump.warn_if_old()
    assert "days old" not in caplog.text
    clock.now += 3 * DAY_SECONDS - 7200
    it.state.daily_dump.warn_if_old()
    it.state.daily_dump.warn_if_old()
    assert caplog.text.count("days old. The last attempt failed") == 1
    assert 'class="fault">3 days old' in client.get("/admin").text


def test_a_dump_that_is_due_waits_until_neo4j_has_been_well_for_minutes(
    it: Served, home: Path, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    dumps, client = it.state.daily_dump, it.client()
    # The test before has left a dump that is due, which the service's own thread may be making.
    dumps.run_if_due(it.state.runner.pause)
    until = time.monotonic() + 240
    while dumps.describe().is_old or it.state.maintenance.current():
        assert time.monotonic() < until
        time.sleep(0.1)
    wait_for_answer(client, "/readyz")
    before = {*(home / "dumps").glob("*.dump")}
    clock.now = find_next(clock.now, 4) - 60
    last = Home(home).last_start()
    assert last is not None
    os.kill(last.pid, signal.SIGKILL)
    while it.state.neo4j.outage() is None:
        assert time.monotonic() < until
        time.sleep(0.05)
    clock.now += 60
    assert not dumps.run_if_due(it.state.runner.pause)
    wait_for_answer(client, "/readyz")
    clock.now += 60 * WELL_MINUTES - 1
    assert not dumps.run_if_due(it.state.runner.pause)
    assert caplog.text.count("waits until Neo4j has been well for 5 minutes") == 1
    assert {*(home / "dumps").glob("*.dump")} == before
    # It is not forgotten: this test makes it, or the service's own thread.
    clock.now += 60 * WELL_MINUTES
    dumps.run_if_due(it.state.runner.pause)
    while {*(home / "dumps").glob("*.dump")} <= before or it.state.maintenance.current():
        assert time.monotonic() < until
        time.sleep(0.1)
    wait_for_answer(client, "/readyz")


def test_a_restore_under_a_running_service_pauses_what_had_not_ended(
    it: Served, home: Path, tmp_path: Path
) -> None:
    client, file = it.client(), tmp_path / "before.dump"

    def add(name: str) -> str:
        files = {"files": (name, f"Title: {name}\n\nA lantern swung. It burnt.".encode())}
        added = client.post("/api/v1/collections/restored/documents", files=files)
        assert added.status_code == 202, added.text
        return str(added.json()["id"])

    def wait_until_done(id: str) -> None:
        until = time.monotonic() + 240
        while (state := client.get(f"/api/v1/jobs/{id}").json()["state"]) != "succeeded":
            assert time.monotonic() < until and state in ("queued", "running"), state
            time.sleep(0.5)

    with it.state.runner.pause():
        job = add("d.txt")
        dumped = fabula_db(home, "dump", str(file), "--yes")
        assert dumped.exit_code == 0, dumped.output
        wait_for_answer(client, "/readyz")
    wait_until_done(job)
    loaded = fabula_db(home, "load", str(file), "--yes")
    assert loaded.exit_code == 0, loaded.output
    assert "1 job of the service would go on, and may have ended since: it is paused" in (
        loaded.output
    )
    wait_for_answer(client, "/readyz")
    # The queue goes on without it.
    wait_until_done(add("e.txt"))
    paused = client.get(f"/api/v1/jobs/{job}").json()
    assert (paused["state"], paused["problem"]) == ("paused", RESTORED)
    assert client.post(f"/api/v1/jobs/{job}/resume").status_code == 202
    wait_until_done(job)


def test_a_month_of_days_leaves_the_last_three_dumps(it: Served, home: Path, clock: Clock) -> None:
    days = []
    for _ in range(4):
        clock.now = find_next(clock.now, 4)
        days.append(time.strftime("%Y-%m-%d-040000.dump", time.localtime(clock.now)))
        assert it.state.daily_dump.run_if_due(it.state.runner.pause)
        assert not it.state.daily_dump.run_if_due(it.state.runner.pause), "once a day"
    made = sorted(dump.name for dump in (home / "dumps").glob("*.dump"))
    # Of graphs so small that they count as empty the newest dump stays beside these.
    assert made[-3:] == days[-3:]
    assert len(made) <= 4
    wait_for_answer(it.client(), "/readyz")


def test_of_anothers_server_no_dump_is_made(graph_url: str) -> None:
    with App() as app, served(app) as it:
        assert "the operator of this Neo4j makes them" in it.client().get("/admin").text
        assert not it.state.daily_dump.run_if_due(it.state.runner.pause)
        assert "fabula_dump" not in it.client().get("/metrics").text
