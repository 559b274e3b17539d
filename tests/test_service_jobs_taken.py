"""A job that changes hands: taken, cancelled, let go and taken up again, moment by moment.

There is no service here: what its threads do by themselves is done one step after the other.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from conftest import connect, cypher, wipe
from fabula.app import App
from fabula.queries import query
from fabula.server import Address
from fabula.service.access.caller import PERSON
from fabula.service.house import House, make_schema
from fabula.service.jobs import Item, Job
from fabula.service.jobs.beginning import Choice, begin_build, begin_ingest
from fabula.service.jobs.runner import Work
from fabula.service.problems import Conflict
from fabula.stop import Stop
from fabula.store.turns import turn
from served import server_of
from stories import LIGHTHOUSE, WINTER

LEASE = 30_000
ROUNDS = 200


@pytest.fixture(scope="module")
def house(address: Address, tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """What a service without a model keeps, before it serves."""
    with connect(address) as store:
        wipe(store)
    offline: dict[str, Any] = {"model": "offline", "embedding_model": "wordllama-256"}
    home = tmp_path_factory.mktemp("taken")
    with App(home=home, **server_of(address), **offline) as app:
        make_schema(app.store)
        app.store.make_schema()
        yield House(app)


@pytest.fixture(autouse=True)
def no_others(house: House) -> None:
    """Nothing is waiting but what a test begins."""
    cypher(house.app.store, "MATCH (job:ServiceJob) SET job.state = 'succeeded'")


def ingest(house: House, collection: str, **texts: str) -> Job:
    """A job that has texts come in, by what their files are called."""
    items = [
        Item(f"uploads/{name}.txt", house.uploads.take([text.encode()], name).sha256)
        for name, text in texts.items()
    ]
    return begin_ingest(house, PERSON, house.app.collection(collection), items, Choice())


def take(house: House, worker: str, milliseconds: int = LEASE, *dead: str) -> str | None:
    """The id of the job that a worker is given, if there is one."""
    asked = {"worker": worker, "dead": [*dead], "milliseconds": milliseconds}
    rows = house.app.store.rows("service/take_job", **asked)
    return str(rows[0]["id"]) if rows else None


def work(house: House, id: str, worker: str, stop: Stop | None = None) -> Job:
    """The job, after the worker that has it did what it could."""
    job = house.jobs.read(id)
    assert job
    with turn(house.app.store, [worker]) as held:
        Work(house, job, worker, held, stop or Stop(), lambda: bool(stop)).run()
    return again(house, id)


def again(house: House, id: str) -> Job:
    job = house.jobs.read(id)
    assert job
    return job


def test_a_slow_worker_loses_its_job_once_its_lease_is_over_and_says_no_more_of_it(
    house: House,
) -> None:
    job = ingest(house, "slow", winter=WINTER)
    assert take(house, "slow", milliseconds=0) == job.id
    while again(house, job.id).state != "queued":
        time.sleep(0.01)
    slow = again(house, job.id)
    assert take(house, "quick") == job.id
    assert take(house, "third") is None, "it is the quick one's now"
    assert work(house, job.id, "quick").counts == {"succeeded": 1}
    done = again(house, job.id)
    # It wakes up now, and finds it done by another.
    with turn(house.app.store, ["slow"]) as held:
        Work(house, slow, "slow", held, Stop(), lambda: False).run()
    assert again(house, job.id) == done


def test_a_job_that_is_read_as_it_is_taken_was_not_let_go(house: House) -> None:
    """State and lease are read one after the other, and may be written in between."""
    job = ingest(house, "read", winter=WINTER)
    over = threading.Event()
    seen: list[Job] = []

    def read() -> None:
        while not over.is_set():
            seen.append(again(house, job.id))

    with ThreadPoolExecutor() as pool:
        reading = [pool.submit(read) for _ in range(3)]
        try:
            for _ in range(ROUNDS):
                assert take(house, "reader") == job.id
                cypher(
                    house.app.store,
                    "MATCH (j:ServiceJob {id: $id}) SET j.state = 'queued', j.lease = null",
                    id=job.id,
                )
        finally:
            over.set()  # or the readers would go on for good
        for one in reading:
            one.result()
    assert {one.state for one in seen} == {"queued", "running"}


def test_a_job_that_nobody_works_on_is_nobodys(house: House) -> None:
    """Whoever reads it as it is taken again would read its old lease beside its new state."""
    job = ingest(house, "nobody", winter=WINTER)
    asked = "MATCH (j:ServiceJob {id: $id}) RETURN j.lease > timestamp() AS leased"
    assert take(house, "first") == job.id
    assert cypher(house.app.store, asked, id=job.id) == [{"leased": True}]
    assert work(house, job.id, "first").state == "succeeded"
    assert cypher(house.app.store, asked, id=job.id) == [{"leased": None}]


def test_two_jobs_of_one_name_wait_for_each_other_and_others_do_not(house: House) -> None:
    first = ingest(house, "names", winter=WINTER)
    second = ingest(house, "names", sea=LIGHTHOUSE, winter=WINTER)
    third = ingest(house, "names", other=LIGHTHOUSE)
    elsewhere = ingest(house, "elsewhere", winter=WINTER)
    given = [take(house, f"worker {number}") for number in range(4)]
    assert given == [first.id, third.id, elsewhere.id, None]
    house.jobs.cancel(PERSON, second.id)


def test_two_jobs_of_many_items_are_compared_in_a_moment(house: House) -> None:
    """Each item by each took ten seconds for two jobs of a thousand, at every look at the queue."""
    many = 300
    sha256 = house.uploads.take([WINTER.encode()], "many").sha256
    jobs = [
        begin_ingest(
            house,
            PERSON,
            house.app.collection("many"),
            [Item(f"uploads/{name}-{number}.txt", sha256) for number in range(many)],
            Choice(),
        )
        for name in ("winter", "summer")
    ]
    assert take(house, "first") == jobs[0].id
    asked = {"worker": "second", "dead": [], "milliseconds": LEASE}
    found = house.app.store._driver.execute_query(f"PROFILE {query('service/take_job')}", asked)
    assert [row["id"] for row in found.records] == [jobs[1].id]
    assert count_hits(found.summary.profile or {}) < 2 * many * 20


def count_hits(plan: dict[str, Any]) -> int:
    """How often a statement's steps read the graph, as its profile says."""
    return int(plan["args"].get("DbHits", 0)) + sum(map(count_hits, plan.get("children", [])))


def test_what_is_cancelled_as_it_is_let_go_is_not_taken_up_again(house: House) -> None:
    job = ingest(house, "let go", winter=WINTER)
    assert take(house, "first") == job.id
    stop = Stop()
    stop.set()
    running = again(house, job.id)
    # After its worker has last looked.
    house.jobs.cancel(PERSON, job.id)
    with turn(house.app.store, ["first"]) as held:
        Work(house, running, "first", held, stop, lambda: True).run()
    assert again(house, job.id).state == "queued"
    assert take(house, "second") == job.id
    ended = work(house, job.id, "second")
    assert (ended.state, ended.counts) == ("cancelled", {"cancelled": 1})
    assert house.jobs.retry(PERSON, job.id).state == "queued"
    assert take(house, "third") == job.id
    assert work(house, job.id, "third").state == "succeeded"


def test_what_is_cancelled_as_it_is_taken_stays_cancelled(house: House) -> None:
    job = ingest(house, "both", winter=WINTER)
    store = house.app.store
    taken: list[str | None] = []
    taking = threading.Thread(target=lambda: taken.append(take(house, "first")))
    with store.session() as session, session.begin_transaction() as cancelling:
        cancelling.run(
            "MATCH (job:ServiceJob {id: $id}) SET job.state = 'cancelled'", id=job.id
        ).consume()
        taking.start()
        # It has seen the job waiting, and now waits for it.
        while not cypher(
            store,
            "SHOW TRANSACTIONS YIELD currentQuery, status WHERE status STARTS WITH 'Blocked' "
            "AND currentQuery CONTAINS 'job.attempts + 1' RETURN status",
        ):
            assert taking.is_alive()
            time.sleep(0.02)
        cancelling.commit()
    taking.join()
    assert (taken, again(house, job.id).state) == ([None], "cancelled")


def test_what_a_job_waited_for_is_not_told_once_it_runs(house: House) -> None:
    job = ingest(house, "waited", winter=WINTER)
    cypher(
        house.app.store,
        "MATCH (job:ServiceJob {id: $id}) SET job.problem = 'Neo4j is away.'",
        id=job.id,
    )
    assert take(house, "first") == job.id
    assert again(house, job.id).problem == ""
    work(house, job.id, "first")


def test_what_there_is_nothing_more_to_do_for_keeps_no_job_open(house: House) -> None:
    shelf = house.app.collection("gaps")
    shelf.ingest_text(WINTER, source="winter")
    # Its process was killed between a document and saying so; the gaps are filled by now.
    job = house.jobs.add(PERSON, "gaps", "retry", [Item("winter", state="running")], {})
    assert take(house, "first") == job.id
    ended = work(house, job.id, "first")
    assert (ended.state, ended.counts) == ("succeeded", {"unchanged": 1})


def test_a_document_that_is_named_twice_is_one(house: House) -> None:
    shelf = house.app.collection("named")
    entry = shelf.ingest_text(LIGHTHOUSE, source="lighthouse", title="The Lighthouse")
    names = [entry.document, "The Lighthouse", "lighthouse"]
    job = begin_build(house, PERSON, shelf, "aspects", names, rebuild=False)
    assert [one.source for one in job.items] == ["lighthouse"]
    assert take(house, "first") == job.id
    assert work(house, job.id, "first").counts == {"unchanged": 1}


def test_a_text_and_a_file_of_one_name_are_refused(house: House) -> None:
    items = [Item("uploads/a.txt", "0" * 64), Item("uploads/a.txt", "1" * 64, told={"title": ""})]
    with pytest.raises(Conflict, match=r"both called 'uploads/a.txt'"):
        begin_ingest(house, PERSON, house.app.collection("named"), items, Choice())
