"""A job that changes hands: taken, cancelled, let go and taken up again, moment by moment.

There is no service here: what its threads do by themselves is done one step after the other.
"""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Iterator
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from database import cypher, empty
from fabula.config.serving import TABLE, Serving
from fabula.errors import Conflict
from fabula.graph.queries import read_statement
from fabula.jobs.audit import Audit
from fabula.jobs.callers import PERSON
from fabula.jobs.job import Item, Job, StoredJob
from fabula.jobs.ledger import Ledger
from fabula.jobs.queue import QUEUE_BATCH, Jobs
from fabula.jobs.recipes import Recipes
from fabula.jobs.runner import JobRun, JobServices
from fabula.jobs.start import ImportOptions, IngestOptions, begin_import, begin_ingest
from fabula.jobs.uploads import Uploads
from fabula.jobs.work import BuildWork
from fabula.library import App
from fabula.models.stop import Stop
from fabula.operations.building import build_graph
from fabula.operations.documents import remove_document
from fabula.server import Address
from fabula.store import schema
from fabula.store.locks import process_lock
from quoted import quoted
from served import server_of
from stories import LIGHTHOUSE, WINTER

LEASE = 30_000
ROUNDS = 200


FREE = "It waits for a free worker"
"""The problem of a queued job that this server would take."""


class Server:
    """The jobs of an App, and what runs them."""

    def __init__(self, app: App) -> None:
        self.app = app
        self.serving: Serving = app.settings.table(TABLE)
        self.uploads = Uploads(app, self.serving.uploads)
        self.jobs = Jobs(app, Recipes(app, self.uploads), Audit(app.connect()))
        settings = app.settings
        self.job_services = JobServices(
            app,
            self.serving,
            self.jobs,
            self.uploads,
            Ledger(app.connect(), lambda _: None, settings, settings.cache_folder),
            outage=lambda: None,
            is_asked=lambda: False,
        )

    def make_schema(self) -> None:
        self.app.connect().make_schema()
        schema.make_room(self.app.connect(), "jobs")


@pytest.fixture(scope="module")
def service(address: Address, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """What a service without a model keeps, before it serves."""
    empty(address)
    offline: dict[str, Any] = {"model": "offline", "embedding_model": "wordllama-256"}
    home = tmp_path_factory.mktemp("taken")
    with App(home=home, **server_of(address), **offline) as app:
        server = Server(app)
        server.make_schema()
        yield server


@pytest.fixture(autouse=True)
def no_others(service: Server) -> None:
    """Nothing is waiting but what a test begins."""
    cypher(service.app.connect(), "MATCH (n:ServiceJob|ServiceItem) DETACH DELETE n")


def ingest(service: Server, collection: str, **texts: str) -> Job:
    """A job that has texts come in, by what their files are called."""
    items = [
        Item(f"uploads/{name}.txt", service.uploads.take([text.encode()], name).sha256)
        for name, text in texts.items()
    ]
    return begin_ingest(
        service.jobs, PERSON, service.app.collection(collection), items, IngestOptions()
    )


def take(service: Server, worker: str, milliseconds: int = LEASE, *dead: str) -> str | None:
    """The id of the job that a worker is given, if there is one."""
    return service.jobs.take(worker, dead, milliseconds)


def work(service: Server, id: str, worker: str, stop: Stop | None = None) -> Job:
    """The job, after the worker that has it did what it could."""
    job = service.jobs.read(id)
    assert job
    with process_lock(service.app.connect(), [worker]) as held:
        JobRun(service.job_services, job, worker, held, stop or Stop(), lambda: bool(stop)).run()
    return again(service, id)


def again(service: Server, id: str) -> StoredJob:
    job = service.jobs.read(id)
    assert job
    return job


def test_a_slow_worker_loses_its_job_once_its_lease_is_over_and_says_no_more_of_it(
    service: Server,
) -> None:
    job = ingest(service, "slow", winter=WINTER)
    assert take(service, "slow", milliseconds=0) == job.id
    while again(service, job.id).state != "queued":
        time.sleep(0.01)
    slow = again(service, job.id)
    assert take(service, "quick") == job.id
    assert take(service, "third") is None, "it is the quick one's now"
    assert work(service, job.id, "quick").counts == {"succeeded": 1}
    done = again(service, job.id)
    # It wakes up now, and finds it done by another.
    with process_lock(service.app.connect(), ["slow"]) as held:
        JobRun(service.job_services, slow, "slow", held, Stop(), lambda: False).run()
    assert again(service, job.id) == done


def test_a_job_that_is_read_as_it_is_taken_was_not_let_go(service: Server) -> None:
    """State and lease are read one after the other, and may be written in between."""
    job = ingest(service, "read", winter=WINTER)
    over = threading.Event()
    seen: list[Job] = []

    def read() -> None:
        while not over.is_set():
            seen.append(again(service, job.id))

    with ThreadPoolExecutor() as pool:
        reading = [pool.submit(read) for _ in range(3)]
        try:
            for _ in range(ROUNDS):
                assert take(service, "reader") == job.id
                cypher(
                    service.app.connect(),
                    "MATCH (j:ServiceJob {id: $id}) SET j.state = 'queued', j.lease = null",
                    id=job.id,
                )
        finally:
            over.set()  # or the readers would go on for good
        for one in reading:
            one.result()
    assert {one.state for one in seen} == {"queued", "running"}


def test_a_job_is_read_before_a_write_or_after_it_and_never_in_between(service: Server) -> None:
    store, job = service.app.connect(), ingest(service, "whole", winter=WINTER)
    write = """
        MATCH (job:ServiceJob {id: $id})-[:HAS_ITEM]->(item)
        SET job.problem = 'new', job.version = job.version + 1, item.error = 'new'
    """
    with ThreadPoolExecutor() as pool, store.session() as session:
        transaction = session.begin_transaction()
        transaction.run(write, id=job.id).consume()
        read = pool.submit(again, service, job.id)
        listed = pool.submit(service.jobs.list, PERSON)
        changed = pool.submit(service.jobs.changes, PERSON, job.id, job.version, 60)
        time.sleep(1)
        assert not (read.done() or listed.done() or changed.done()), "they wait for the write"
        transaction.commit()
        assert (read.result().problem, read.result().items[0].error) == ("new", "new")
        assert [one.problem for one in listed.result() if one.id == job.id] == ["new"]
        seen = changed.result()
        assert seen and seen.version > job.version
    # To read it is no change.
    assert again(service, job.id) == read.result()


def test_a_job_that_is_deleted_as_it_is_read_is_not_there(service: Server) -> None:
    store, job = service.app.connect(), ingest(service, "deleted", winter=WINTER)
    with ThreadPoolExecutor() as pool, store.session() as session:
        transaction = session.begin_transaction()
        delete = "MATCH (n:ServiceJob {id: $id})-[:HAS_ITEM]->(item) DETACH DELETE n, item"
        transaction.run(delete, id=job.id).consume()
        read = pool.submit(service.jobs.read, job.id)
        listed = pool.submit(service.jobs.list, PERSON)
        time.sleep(1)
        assert not (read.done() or listed.done())
        transaction.commit()
        assert (read.result(), list(listed.result())) == (None, [])


@pytest.mark.nightly
def test_no_job_is_torn_beside_writes_however_often_it_is_read(service: Server) -> None:
    """Without locks one read in fifty had old and new properties beside each other."""
    store = service.app.connect()
    jobs = [ingest(service, f"torn {number}", winter=WINTER) for number in range(3)]
    ids = [take(service, "writer") for _ in jobs]
    over = threading.Event()

    def write(id: str) -> None:
        for number in itertools.count(1):
            if over.is_set():
                return
            # Values of changing lengths move between the records of Neo4j's store.
            text = f"{number} " + "x" * (number % 7 * 40)
            item = {"id": f"{id}/0", "error": text, "title": text[: number % 90]}
            store.rows(
                "jobs/save_progress",
                id=id,
                worker="writer",
                job={"problem": text, "money": number + 0.5 if number % 2 else None},
                items=[item],
                news=1,
                milliseconds=LEASE,
                wait=0,
            )

    def read() -> int:
        count = 0
        while not over.is_set():
            for id in ids:
                assert id
                job = again(service, id)
                assert job.items[0].error == job.problem
                count += 1
            listed = service.jobs.list(PERSON)
            assert [job.id for job in listed] == [job.id for job in reversed(jobs)]
        return count

    with ThreadPoolExecutor() as pool:
        writing = [pool.submit(write, id) for id in ids if id]
        reading = [pool.submit(read) for _ in range(3)]
        wait(reading, timeout=20, return_when=FIRST_EXCEPTION)
        over.set()
        assert min(each.result() for each in reading) > 10
        for each in writing:
            each.result()


def test_a_job_that_nobody_works_on_is_nobodys(service: Server) -> None:
    """Whoever reads it as it is taken again would read its old lease beside its new state."""
    job = ingest(service, "nobody", winter=WINTER)
    statement = "MATCH (j:ServiceJob {id: $id}) RETURN j.lease > timestamp() AS leased"
    assert take(service, "first") == job.id
    assert cypher(service.app.connect(), statement, id=job.id) == [{"leased": True}]
    assert work(service, job.id, "first").state == "succeeded"
    assert cypher(service.app.connect(), statement, id=job.id) == [{"leased": None}]


def test_two_jobs_of_one_name_wait_for_each_other_and_others_do_not(service: Server) -> None:
    first = ingest(service, "names", winter=WINTER)
    second = ingest(service, "names", sea=LIGHTHOUSE, winter=WINTER)
    third = ingest(service, "names", other=LIGHTHOUSE)
    elsewhere = ingest(service, "elsewhere", winter=WINTER)
    given = [take(service, f"worker {number}") for number in range(4)]
    assert given == [first.id, third.id, elsewhere.id, None]
    service.jobs.cancel(PERSON, second.id)


def test_annotations_wait_for_their_document_and_for_no_other(service: Server) -> None:
    collection = service.app.collection("marked")
    collection.ingest_text(WINTER, source="uploads/winter.txt", title="Winter")
    [entry] = collection.documents()
    sea = ingest(service, "marked", sea=LIGHTHOUSE)
    content = quoted(["The lamp burned", "Nobody ever said this"])
    upload = service.uploads.take([content], "scheme")

    def annotate() -> Job:
        options = ImportOptions("scheme", "webannotation")
        return begin_import(service.jobs, PERSON, collection, entry, upload, options)

    first, second = annotate(), annotate()
    again_winter = ingest(service, "marked", winter=WINTER)
    building = service.jobs.begin(PERSON, BuildWork(collection, "annotations"))
    assert [take(service, f"worker {number}") for number in range(3)] == [sea.id, first.id, None]
    waits = {job.id: again(service, job.id).problem for job in (second, again_winter, building)}
    assert waits[second.id] == (
        f"It waits for job {first.id}: that one imports annotations of a document."
    )
    assert f"job {second.id}: that one imports annotations" in waits[again_winter.id]
    assert f"job {sea.id}: that one adds documents to the collection." in waits[building.id]
    done = work(service, first.id, "worker 1")
    assert (done.state, done.items[0].result["annotations"]) == ("succeeded", 2)
    assert take(service, "next") == second.id
    # A document that is gone by then fails the job in words.
    remove_document(collection, entry.id)
    gone = work(service, second.id, "next")
    assert (gone.state, gone.items[0].state) == ("failed", "failed")
    assert gone.problem.startswith("There is no document ")


def test_two_jobs_of_many_items_are_compared_in_a_moment(service: Server) -> None:
    """Each item by each took ten seconds for two jobs of a thousand, at every look at the queue."""
    many = 300
    sha256 = service.uploads.take([WINTER.encode()], "many").sha256
    jobs = [
        begin_ingest(
            service.jobs,
            PERSON,
            service.app.collection("many"),
            [Item(f"uploads/{name}-{number}.txt", sha256) for number in range(many)],
            IngestOptions(),
        )
        for name in ("winter", "summer")
    ]
    assert take(service, "first") == jobs[0].id
    hits, taken = profile_take(service, "second")
    assert taken == jobs[1].id
    assert hits < 2 * many * 20


def profile_take(service: Server, worker: str) -> tuple[int, str | None]:
    """How often a look at the queue, and a take, read the graph; and which job was taken."""
    jobs = {"recipes": service.jobs.recipes.digests, "ids": []}
    steps: list[tuple[str, dict[str, Any]]] = [
        ("find_waiting", jobs),
        ("find_queued", {"queue": "over", "limit": QUEUE_BATCH}),
        ("clear_ended", {}),
        ("find_queued", {"queue": "new", "limit": QUEUE_BATCH}),
        ("save_waits", {}),
        ("take_job", jobs | {"worker": worker, "dead": [], "milliseconds": LEASE}),
    ]
    hits = 0
    ids: list[str] = []
    for name, asked in steps:
        statement = f"PROFILE {read_statement(f'jobs/{name}')}"
        found = service.app.connect()._driver.execute_query(statement, {"ids": ids} | asked)
        hits += count_hits(found.summary.profile or {})
        ids = [row["id"] for row in found.records if "id" in row.keys()]  # noqa: SIM118
    return hits, ids[0] if ids else None


def repeat(service: Server, job: Job, times: int, source: str = "i.source") -> None:
    """Have as many jobs in the queue behind one as are needed, all as that was begun.

    `source` is the source of each one's file, as Cypher says it of the item `i` and the number `k`.
    """
    cypher(
        service.app.connect(),
        f"""
        MATCH (j:ServiceJob {{id: $id}})-[:HAS_ITEM]->(i)
        UNWIND range(1, $times) AS k
        CREATE (c:ServiceJob)-[:HAS_ITEM]->(d:ServiceItem)
        SET c = j {{
            .*, id: j.id + ' ' + k, queue: 'new', is_last: null, state: 'queued',
            place: j.place + ' ' + right('00000' + toString(k), 6)
          }},
          d = i {{.*, id: i.id + ' ' + k, holds: null, source: {source}}}
        """,
        id=job.id,
        times=times,
    )


WAITING = {
    "each may be taken": ("i.source + k", "queued"),
    "all of one file": ("i.source", "running"),
    "all behind one": ("i.source + k", "running"),
    "all as another server does": ("i.source + k", "queued"),
}


@pytest.mark.parametrize("how", WAITING)
def test_a_take_reads_no_more_however_many_jobs_wait(service: Server, how: str) -> None:
    """It read each job against all before it: 1,000 jobs took nine seconds a take and more."""
    source, state = WAITING[how]
    store, hits = service.app.connect(), {}
    for times in (50, 1_000):
        cypher(store, "MATCH (n:ServiceJob|ServiceItem) DETACH DELETE n")
        if how == "all behind one":
            service.jobs.begin(PERSON, BuildWork(service.app.collection("deep"), "aspects"))
        job = ingest(service, "deep", winter=WINTER)
        if state == "running":
            assert take(service, "first", milliseconds=3_600_000)
        repeat(service, job, times, source)
        if how == "all as another server does":
            cypher(store, "MATCH (j:ServiceJob) SET j.recipe = 'other'")
        costs = []
        for worker in ("second", "third"):
            cost, taken = profile_take(service, worker)
            assert (taken is not None) == (how == "each may be taken")
            costs.append(cost)
            while service.jobs._move("new", "jobs/save_waits"):
                pass  # as other takes do
        hits[times] = costs
    (few_new, few), (many_new, many) = hits[50], hits[1_000]
    assert many_new <= 2 * few_new, "while new ones are put into their places"
    assert many <= 2 * few, "once all are in their places"


def count_hits(plan: dict[str, Any]) -> int:
    """How often a statement's steps read the graph, as its profile says."""
    return int(plan["args"].get("DbHits", 0)) + sum(map(count_hits, plan.get("children", [])))


def test_what_is_cancelled_as_it_is_let_go_is_not_taken_up_again(service: Server) -> None:
    job = ingest(service, "let go", winter=WINTER)
    assert take(service, "first") == job.id
    stop = Stop()
    stop.set()
    running = again(service, job.id)
    # After its worker has last looked.
    service.jobs.cancel(PERSON, job.id)
    with process_lock(service.app.connect(), ["first"]) as held:
        JobRun(service.job_services, running, "first", held, stop, lambda: True).run()
    assert again(service, job.id).state == "queued"
    assert take(service, "second") == job.id
    ended = work(service, job.id, "second")
    assert (ended.state, ended.counts) == ("cancelled", {"cancelled": 1})
    assert service.jobs.retry(PERSON, job.id).state == "queued"
    assert take(service, "third") == job.id
    assert work(service, job.id, "third").state == "succeeded"


def test_what_is_cancelled_as_it_is_taken_stays_cancelled(service: Server) -> None:
    job = ingest(service, "both", winter=WINTER)
    store = service.app.connect()
    service.jobs._move("new", "jobs/save_waits")
    taken: list[str | None] = []
    taking = threading.Thread(target=lambda: taken.append(take(service, "first")))
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
    assert (taken, again(service, job.id).state) == ([None], "cancelled")


def test_what_a_job_waited_for_is_not_told_once_it_runs(service: Server) -> None:
    job = ingest(service, "waited", winter=WINTER)
    cypher(
        service.app.connect(),
        "MATCH (job:ServiceJob {id: $id}) SET job.problem = 'Neo4j is away.'",
        id=job.id,
    )
    assert take(service, "first") == job.id
    assert again(service, job.id).problem == ""
    work(service, job.id, "first")


def test_what_there_is_nothing_more_to_do_for_keeps_no_job_open(service: Server) -> None:
    shelf = service.app.collection("gaps")
    shelf.ingest_text(WINTER, source="winter")
    # Its process was killed between a document and saying so; the gaps are filled by now.
    job = service.jobs.add(PERSON, "gaps", "renew", [Item("winter", state="running")], {})
    assert take(service, "first") == job.id
    ended = work(service, job.id, "first")
    assert (ended.state, ended.counts) == ("succeeded", {"unchanged": 1})


def test_a_document_that_is_named_twice_is_one(service: Server) -> None:
    shelf = service.app.collection("named")
    entry = shelf.ingest_text(LIGHTHOUSE, source="lighthouse", title="The Lighthouse")
    names = (entry.document, "The Lighthouse", "lighthouse")
    job = service.jobs.begin(PERSON, build_graph(shelf, "aspects", names))
    assert [item.source for item in job.items] == ["lighthouse"]
    assert take(service, "first") == job.id
    assert work(service, job.id, "first").counts == {"unchanged": 1}


def test_a_text_and_a_file_of_one_name_are_refused(service: Server) -> None:
    items = [
        Item("uploads/a.txt", "0" * 64),
        Item("uploads/a.txt", "1" * 64, metadata={"title": ""}),
    ]
    with pytest.raises(Conflict, match=r"both called 'uploads/a.txt'"):
        begin_ingest(service.jobs, PERSON, service.app.collection("named"), items, IngestOptions())


def test_what_waits_for_one_that_is_cancelled_waits_for_all_before_it_still(
    service: Server,
) -> None:
    shelf = service.app.collection("order")
    first = ingest(service, "order", winter=WINTER)
    between = service.jobs.begin(PERSON, BuildWork(shelf, "aspects"))
    last = ingest(service, "order", winter=LIGHTHOUSE)
    assert take(service, "one") == first.id
    assert take(service, "two") is None
    service.jobs.cancel(PERSON, between.id)
    assert take(service, "two") is None, "of one source two come in one after the other"
    service.jobs.retry(PERSON, between.id)
    assert take(service, "two") is None
    work(service, first.id, "one")
    assert take(service, "two") == between.id, "it has its place still"
    assert take(service, "three") is None
    work(service, between.id, "two")
    assert take(service, "three") == last.id
    work(service, last.id, "three")


def test_what_is_asked_for_again_waits_for_what_has_begun_meanwhile(service: Server) -> None:
    first = ingest(service, "again", winter=WINTER)
    assert take(service, "one") == first.id
    service.jobs.cancel(PERSON, first.id)
    stopped = Stop()
    stopped.set()
    assert work(service, first.id, "one", stopped).state == "cancelled"
    second = ingest(service, "again", winter=LIGHTHOUSE)
    assert take(service, "two") == second.id
    service.jobs.retry(PERSON, first.id)
    assert take(service, "one") is None, "one file is not brought in twice at once"
    work(service, second.id, "two")
    assert take(service, "one") == first.id
    work(service, first.id, "one")


@contextmanager
def another(service: Server, **settings: Any) -> Iterator[Server]:
    """Another server of the same graph, with some settings of its own."""
    own = service.app.settings.model_copy(update=settings)
    with App(own) as app:
        yield Server(app)


def test_a_job_is_made_by_a_server_that_makes_it_as_it_was_asked(service: Server) -> None:
    job = ingest(service, "made", winter=WINTER)
    with another(service, chunk_tokens=77, graphs=("aspects", "entities")) as other:
        assert take(other, "other") is None
        left = other.jobs.find(PERSON, job.id)
        assert left.state == "queued"
        assert "chunk_tokens 200 (this one has 77)" in left.problem
        assert 'graphs ["aspects"] (this one has ["aspects", "entities"])' in left.problem
        [listed] = [one for one in other.jobs.list(PERSON) if one.id == job.id]
        assert listed.problem == left.problem
    assert again(service, job.id).problem.startswith(FREE)
    assert take(service, "own") == job.id
    assert work(service, job.id, "own").state == "succeeded"


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"model": "gpt-x"}, "model 'offline' (this one has 'gpt-x')"),
        (
            {"embedding_model": "embed-x"},
            "embedding_model 'wordllama-256' (this one has 'embed-x')",
        ),
    ],
)
def test_a_server_with_other_models_leaves_a_job(
    service: Server, settings: dict[str, Any], message: str
) -> None:
    jobs = [
        ingest(service, "models", winter=WINTER),
        service.jobs.begin(PERSON, BuildWork(service.app.collection("else"), "aspects")),
        service.jobs.add(PERSON, "third", "renew", [Item("winter")], {}),
    ]
    with another(service, **settings) as other:
        assert take(other, "other") is None
        assert all(message in other.jobs.find(PERSON, job.id).problem for job in jobs)
        removal = service.jobs.add(PERSON, "fourth", "remove", [], {})
        assert take(other, "other") == removal.id, "which all servers do alike"


def test_what_changes_no_result_keeps_nobody_from_a_job(service: Server) -> None:
    job = ingest(service, "speed", winter=WINTER)
    with another(service, concurrency=3, attempts=9, api_key="sk-other", max_calls=7) as other:
        assert take(other, "other") == job.id


def test_a_server_without_the_uploaded_file_leaves_a_job(service: Server, tmp_path: Path) -> None:
    job = ingest(service, "files", winter=WINTER)
    serving = service.serving.model_copy(update={"uploads": tmp_path / "elsewhere"})
    tables = service.app.settings.tables | {TABLE: serving}
    with another(service, tables=tables) as other:
        assert take(other, "other") is None
        assert (
            "the folder of uploads that its files are in" in other.jobs.find(PERSON, job.id).problem
        )
        service.jobs.cancel(PERSON, job.id)
        other.jobs.retry(PERSON, job.id)
        assert take(other, "other") is None, "its files are not there either"
    assert take(service, "own") == job.id
    assert work(service, job.id, "own").state == "succeeded"


def test_who_retries_a_job_has_it_made_as_that_server_makes_it(service: Server) -> None:
    job = ingest(service, "retried", winter=WINTER)
    with another(service, chunk_tokens=77) as other:
        service.jobs.cancel(PERSON, job.id)
        assert other.jobs.retry(PERSON, job.id).problem.startswith(FREE)
        assert take(service, "own") is None
        assert "chunk_tokens 77 (this one has 200)" in service.jobs.find(PERSON, job.id).problem
        assert take(other, "other") == job.id
        assert work(other, job.id, "other").state == "succeeded"
