"""Files read and graphs made by workers: the same as in one process, whoever dies meanwhile."""

from __future__ import annotations

import io
import logging
import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import psutil
import pytest
from click.testing import CliRunner
from distributed.deploy.cluster import Cluster

from dask_cluster import dask_cluster
from endpoint import Endpoint
from fabula import Fabula
from fabula.build import worker_task
from fabula.build.cluster import ClusterSteps, WorkerCluster
from fabula.build.outcome import Outcome
from fabula.cli import main
from fabula.config.model_factory import ModelFactory
from fabula.config.settings import Settings
from fabula.errors import BudgetSpent, ClusterError, SettingsError, WorkerLost
from fabula.models.stop import Stop
from fabula.models.usage import Usage
from fabula.operations.documents import remove_document
from fabula.store import Store
from worker_runs import PATIENCE, book, busy_worker, graph_of, statuses, until

pytestmark = [pytest.mark.long, pytest.mark.alone]

ENDS_WITHIN = 40.0
"""Seconds after Ctrl-C: two, and a minute where a call is waited for."""
GRAPHS = "aspects,entities"


@pytest.fixture
def books(tmp_path: Path) -> Path:
    """A folder of three small books."""
    folder = tmp_path / "books"
    folder.mkdir()
    for place in ("Aberdeen", "Bergen", "Dover"):
        text = f"Title: {place}\nLanguage: en\n\n{book(place)}"
        (folder / f"{place.lower()}.txt").write_text(text)
    return folder


@pytest.fixture(scope="module")
def cluster() -> Iterator[WorkerCluster]:
    """Two local workers; they take the settings of each run from the run."""
    with WorkerCluster(workers=2) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def scheduler(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a scheduler in a process of its own, with one worker in another one."""
    with dask_cluster(tmp_path_factory.mktemp("dask") / "cluster") as address:
        yield address


def asked(outcome: Outcome) -> dict[str, Usage]:
    """The usage of each step, but for what the endpoint had in its prefix cache."""
    return {step: replace(usage, cached_tokens=0) for step, usage in outcome.steps.items()}


def repeated(endpoint: Endpoint) -> int:
    """The calls that were made before."""
    bodies = Counter(str(sorted(body.items(), key=str)) for body in endpoint.bodies)
    return bodies.total() - len(bodies)


# The same graph


@pytest.mark.parametrize("how", ["offline", "online"])
def test_workers_make_the_graph_that_one_process_makes(
    store: Store,
    graph_url: str,
    books: Path,
    cluster: WorkerCluster,
    how: str,
    request: pytest.FixtureRequest,
) -> None:
    if how == "online":
        request.getfixturevalue("online")
    with Fabula(graphs=GRAPHS, cache=False) as fabula:
        alone = fabula.ingest(books)
        expected = graph_of(fabula)
        for entry in fabula.documents():
            remove_document(fabula, entry.id)
        shared = fabula.ingest(books, cluster=cluster)
        assert statuses(shared) == ["added"] * 3
        assert graph_of(fabula) == expected
        assert len(expected) == 3 * 3
        assert fabula.check().violations == ()
        assert statuses(fabula.ingest(books, cluster=cluster)) == ["unchanged"] * 3
    for one, other in zip(alone, shared, strict=True):
        assert asked(one) == asked(other)
        assert (one.counts, one.notes, one.gaps) == (other.counts, other.notes, other.gaps)
    assert (sum(outcome.usage.calls for outcome in shared) > 0) == (how == "online")


def test_no_profiler_runs_in_workers(cluster: WorkerCluster) -> None:
    """With Python 3.11 it can make a worker hang for the five minutes until Dask gives it up."""

    def is_profiled(dask_worker: Any) -> bool:
        return "profile" in dask_worker.periodic_callbacks

    profiled = cluster.connect().run(is_profiled)
    assert list(profiled.values()) == [False, False]


def test_local_workers_do_not_print_what_dask_logs(cluster: WorkerCluster) -> None:
    def does_log() -> bool:
        return logging.getLogger("distributed.batched").isEnabledFor(logging.ERROR)

    assert list(cluster.connect().run(does_log).values()) == [False, False]


def test_a_graph_is_built_and_gaps_are_filled_by_workers(
    online: None, books: Path, cluster: WorkerCluster, endpoint: Endpoint
) -> None:
    with Fabula(graphs="aspects") as fabula:
        fabula.ingest(books, cluster=cluster)
        assert statuses(fabula.build("entities", cluster=cluster)) == ["added"] * 3
        assert statuses(fabula.build("identities", cluster=cluster)) == ["added"]
        assert fabula.renew("gaps", cluster=cluster) == []
        assert fabula.check().violations == ()


class Followed:
    """A listener that notes the steps of each source."""

    def __init__(self) -> None:
        self.expected, self.completed = Counter[str](), Counter[str]()
        self.calls: list[int] = []
        self.ended: list[str] = []

    def expect(self, sources: int | str, count: int = 0) -> None:
        if isinstance(sources, str):
            self.expected[sources] += count

    def begin(self, source: str) -> Followed:
        return self

    def done(self, step: str, usage: Usage) -> None:
        self.completed[step] += 1
        self.calls.append(usage.calls)

    def end(self, outcome: Outcome) -> None:
        self.ended.append(outcome.status)


def test_progress_of_workers_arrives_while_they_work(
    online: None, endpoint: Endpoint, books: Path, cluster: WorkerCluster
) -> None:
    endpoint.delay = 0.2
    followed = Followed()
    with Fabula() as fabula:
        [outcome] = fabula.ingest(books / "dover.txt", listener=followed, cluster=cluster)
    assert followed.ended == ["added"]
    assert followed.completed == followed.expected
    assert {"embeddings", "details", "summaries", "write"} <= {*followed.completed}
    # It came in several reports, one in half a second, and not all at the end.
    assert len({*followed.calls}) > 1
    assert max(followed.calls) == outcome.usage.calls


def test_a_bad_file_fails_alone_with_the_words_of_one_process(
    graph_url: str, books: Path, cluster: WorkerCluster
) -> None:
    (books / "broken.epub").write_bytes(b"PK\x03\x04 no book at all")
    (books / "empty.txt").write_text(" \n")
    with Fabula() as fabula:
        # Each by its name: of a folder, what is alike or empty would be skipped.
        files = sorted(books.iterdir())
        alone = {str(outcome.error) for outcome in fabula.ingest(*files) if outcome.error}
        for entry in fabula.documents():
            remove_document(fabula, entry.id)
        shared = fabula.ingest(*files, cluster=cluster)
    assert Counter(statuses(shared)) == {"added": 3, "failed": 2}
    assert {str(outcome.error) for outcome in shared if outcome.error} == alone
    assert len(alone) == 2


def test_an_error_of_a_model_ends_the_run_with_the_words_of_one_process(
    online: None, endpoint: Endpoint, books: Path, cluster: WorkerCluster
) -> None:
    endpoint.key = "another"
    messages = []
    for workers in (None, cluster):
        with Fabula() as fabula, pytest.raises(Exception, match="refused the key") as raised:
            fabula.ingest(books, cluster=workers)
        messages.append((type(raised.value), str(raised.value)))
    assert messages[0] == messages[1]


def test_a_budget_ends_the_run(
    online: None, endpoint: Endpoint, books: Path, cluster: WorkerCluster
) -> None:
    with Fabula(max_calls=10) as fabula:
        with pytest.raises(BudgetSpent, match="--max-calls 10"):
            fabula.ingest(books, cluster=cluster)
        spent = endpoint.calls
    assert spent == 10
    with Fabula() as fabula:
        assert statuses(fabula.ingest(books, cluster=cluster)) == ["added"] * 3
    assert repeated(endpoint) == 0


def test_all_workers_together_make_as_many_calls_at_once_as_the_limit(
    online: None, endpoint: Endpoint, books: Path, cluster: WorkerCluster
) -> None:
    endpoint.delay = 0.1
    with Fabula(concurrency=3) as fabula:
        assert statuses(fabula.ingest(books, cluster=cluster)) == ["added"] * 3
    assert endpoint.in_flight_most == 3


def test_what_workers_pay_for_is_cached_by_the_run_and_paid_once(
    online: None, endpoint: Endpoint, books: Path, tmp_path: Path, cluster: WorkerCluster
) -> None:
    with Fabula(graphs=GRAPHS, cache_folder=tmp_path / "cache") as fabula:
        first = fabula.ingest(books, cluster=cluster)
        paid = endpoint.calls
        assert paid == sum(outcome.usage.calls for outcome in first) > 0
        for workers in (cluster, None):
            for entry in fabula.documents():
                remove_document(fabula, entry.id)
            again = fabula.ingest(books, cluster=workers)
            assert statuses(again) == ["added"] * 3
            assert sum(outcome.usage.calls for outcome in again) == 0
            assert sum(outcome.usage.saved for outcome in again) > 0
    assert endpoint.calls == paid


def test_replies_to_a_document_that_fails_are_kept(
    online: None, endpoint: Endpoint, books: Path, cluster: WorkerCluster
) -> None:
    words = ("of Dover", "chapter 2")
    endpoint.withheld = {words: "nonsense"}
    with Fabula(graphs="aspects") as fabula:
        outcomes = fabula.ingest(books, strict=True, cluster=cluster)
        assert Counter(statuses(outcomes)) == {"added": 2, "failed": 1}
        [failed] = [outcome for outcome in outcomes if outcome.error]
        assert failed.usage.calls > 0
        endpoint.withheld = {}
        # What could not be used is asked for again, and nothing else.
        refused = [body for body in endpoint.bodies if all(word in str(body) for word in words)]
        endpoint.bodies[:] = [body for body in endpoint.bodies if body not in refused]
        assert any("of Dover" in str(body) for body in endpoint.bodies)
        again = fabula.ingest(books, cluster=cluster)
        assert Counter(statuses(again)) == {"unchanged": 2, "added": 1}
    assert repeated(endpoint) == 0


def test_what_workers_warn_of_is_shown_once_by_the_coordinator(
    online: None,
    endpoint: Endpoint,
    books: Path,
    cluster: WorkerCluster,
    caplog: pytest.LogCaptureFixture,
) -> None:
    endpoint.refuses = ("max_tokens", "max_completion_tokens")
    with Fabula() as fabula:
        alone = fabula.ingest(books / "dover.txt")
        expected = [record.getMessage() for record in caplog.records if record.name == "fabula"]
        caplog.clear()
        remove_document(fabula, "dover.txt")
    with Fabula(cache=False, cache_folder=books / "none") as fabula:
        shared = fabula.ingest(books / "dover.txt", cluster=cluster)
    assert statuses(alone) == statuses(shared) == ["added"]
    messages = [record.getMessage() for record in caplog.records if record.name == "fabula"]
    assert sorted(messages) == sorted(expected)


# Somebody dies, or is stopped


def test_a_worker_that_is_killed_loses_nothing(
    online: None,
    store: Store,
    endpoint: Endpoint,
    books: Path,
    cluster: WorkerCluster,
    caplog: pytest.LogCaptureFixture,
) -> None:
    with Fabula(graphs=GRAPHS) as fabula:
        fabula.ingest(books)
        expected = graph_of(fabula)
        for entry in fabula.documents():
            remove_document(fabula, entry.id)
    endpoint.bodies.clear()
    endpoint.delay = 0.1
    client = cluster.connect()
    killed: list[int] = []

    def kill_one() -> None:
        until(lambda: len(endpoint.bodies) > 10, "no worker asks")
        busy = busy_worker(client)
        killed.append(client.run(os.getpid, workers=[busy])[busy])
        os.kill(killed[0], signal.SIGKILL)

    killer = threading.Thread(target=kill_one)
    killer.start()
    with Fabula(graphs=GRAPHS, cache_folder=books / "new cache") as fabula:
        outcomes = fabula.ingest(books, cluster=cluster)
        killer.join()
        assert statuses(outcomes) == ["added"] * 3
        assert graph_of(fabula) == expected
        assert fabula.check().violations == ()
    assert killed
    assert "its worker died, so another one begins it again" in caplog.text
    assert repeated(endpoint) == 0
    until(lambda: len(client.nthreads()) == 2, "the killed worker was not replaced")


def test_a_stop_ends_workers_soon_and_counts_what_was_paid(
    online: None, store: Store, endpoint: Endpoint, books: Path, cluster: WorkerCluster
) -> None:
    endpoint.delay = 0.3
    stop, followed = Stop(), Followed()

    def stop_soon() -> None:
        until(lambda: endpoint.calls > 6, "no worker asks")
        stop.set()

    threading.Thread(target=stop_soon).start()
    with Fabula(cache=False) as fabula:
        outcomes = fabula.ingest(books, cluster=cluster, stop=stop, listener=followed)
        calls = endpoint.calls
        assert {*statuses(outcomes)} == {"stopped"}
        assert [*fabula.documents()] == []
        assert sum(outcome.usage.calls for outcome in outcomes) == endpoint.paid_calls
        time.sleep(1.0)
        assert endpoint.calls == calls
        assert fabula.check().violations == ()


def typed(*words: str | Path) -> subprocess.Popen[bytes]:
    """`fabula` as a terminal starts it: Ctrl-C goes to it and to all that it starts."""
    # Whoever runs the tests in the background has it ignored.
    program = (
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
        "from fabula.cli import run; run()"
    )
    command = [sys.executable, "-c", program, *map(str, words)]
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True
    )


def test_ctrl_c_ends_the_command_and_its_workers(
    online: None, store: Store, endpoint: Endpoint, books: Path
) -> None:
    endpoint.delay = 60.0
    process = typed("ingest", books, "--workers", "2")
    until(lambda: endpoint.calls >= 2 or process.poll() is not None, "no worker asks")
    children = psutil.Process(process.pid).children(recursive=True)
    began = time.monotonic()
    os.killpg(process.pid, signal.SIGINT)
    output = process.communicate(timeout=PATIENCE)[0].decode()
    assert time.monotonic() - began < ENDS_WITHIN
    assert process.returncode == 130, output
    assert "Stopped. 0 documents are done" in output
    assert "run the same command again to continue." in output
    assert "Traceback" not in output
    assert "leaked" not in output
    assert len(children) >= 2
    assert psutil.wait_procs(children, timeout=PATIENCE)[1] == []
    with Fabula() as fabula:
        assert [*fabula.documents()] == []
        assert fabula.check().violations == ()


def test_a_cluster_that_is_closed_starts_no_workers() -> None:
    """A thread of a run that was stopped may still want to stop its tasks."""
    with WorkerCluster(workers=1) as cluster, closing(ModelFactory(Settings())) as models:
        for _ in range(2):
            cluster.close()
            for use in (cluster.connect, cluster.count_workers, partial(cluster.open_run, models)):
                with pytest.raises(ClusterError, match="The workers were closed"):
                    use()


def test_what_dask_logs_while_it_closes_is_not_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    """It closes its last connections after its own silence has ended."""
    dask_log = logging.getLogger("distributed")
    printed = logging.StreamHandler(io.StringIO())
    dask_log.addHandler(printed)
    close: Callable[[Cluster], Awaitable[None]] = Cluster._close

    async def close_and_log(self: Cluster) -> None:
        dask_log.getChild("batched").info("Batched Comm Closed")
        await close(self)

    monkeypatch.setattr(Cluster, "_close", close_and_log)
    try:
        with WorkerCluster(workers=1) as cluster:
            cluster.connect(offline=True)
        assert printed.stream.getvalue() == ""
        # Who uses Dask as well hears it again.
        dask_log.info("It is closed")
        assert printed.stream.getvalue() == "It is closed\n"
    finally:
        dask_log.removeHandler(printed)


# A cluster of other processes


@pytest.mark.skipif(sys.version_info[:2] > (3, 11), reason="the profiler does no harm")
def test_the_profiler_of_a_cluster_is_stopped_before_its_workers_are_used(scheduler: str) -> None:
    """With Python 3.11 it made workers hang, as those of `--workers` did."""

    def is_profiled(dask_worker: Any) -> bool:
        return bool(dask_worker.periodic_callbacks["profile"].is_running())

    with WorkerCluster(scheduler=scheduler) as cluster, Fabula(model="offline") as fabula:
        until(lambda: bool(cluster.connect().nthreads()), "no worker joins")
        cluster.open_run(fabula.models).close()
        assert set(cluster.connect().run(is_profiled).values()) == {False}


def test_a_cluster_is_used_over_the_network(
    online: None, store: Store, endpoint: Endpoint, books: Path, scheduler: str
) -> None:
    process = typed("ingest", books, "--scheduler", scheduler)
    output = process.communicate(timeout=PATIENCE)[0].decode()
    assert process.returncode == 0, output
    assert "3 added" in output
    process = typed("build", "entities", "--scheduler", scheduler)
    output = process.communicate(timeout=PATIENCE)[0].decode()
    assert "3 added" in output, output
    with Fabula() as fabula:
        assert fabula.check().violations == ()
        assert statuses(fabula.ingest(books)) == ["unchanged"] * 3


def test_workers_stop_when_the_coordinator_is_killed(
    online: None, store: Store, endpoint: Endpoint, books: Path, scheduler: str
) -> None:
    endpoint.delay = 0.5
    process = typed("ingest", books, "--scheduler", scheduler)
    until(lambda: endpoint.calls >= 3 or process.poll() is not None, "no worker asks")
    process.kill()
    process.communicate()
    late, calls = time.monotonic() + PATIENCE, -1
    while endpoint.in_flight or endpoint.calls > calls:
        assert time.monotonic() < late, "the worker goes on"
        calls = endpoint.calls
        time.sleep(2.0)
    endpoint.delay = 0.0
    with WorkerCluster(scheduler=scheduler) as cluster, Fabula() as fabula:
        assert statuses(fabula.ingest(books, cluster=cluster)) == ["added"] * 3
    assert endpoint.calls > calls, "the worker had stopped before it was done"
    # Replies to the calls that were under way are lost, as nobody was there to save them.
    assert repeated(endpoint) <= 16


def test_another_version_is_refused_in_words(
    graph_url: str, books: Path, scheduler: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    versions = (("Fabula", "99.1"), *worker_task.describe_versions()[1:])
    monkeypatch.setattr(worker_task, "describe_versions", lambda: versions)
    with (
        WorkerCluster(scheduler=scheduler) as cluster,
        Fabula() as fabula,
        pytest.raises(ClusterError, match=r"worker tcp://.* has Fabula .* instead of 99\.1\. In"),
    ):
        fabula.ingest(books, cluster=cluster)


def test_a_scheduler_that_is_not_there_is_an_error_in_words(graph_url: str, books: Path) -> None:
    done = CliRunner().invoke(
        main, ["ingest", str(books), "--scheduler", "tcp://127.0.0.1:9"], catch_exceptions=True
    )
    assert done.exit_code == 1
    assert "The connection to the cluster at tcp://127.0.0.1:9 failed" in done.output
    assert "dask scheduler" in done.output


def test_workers_are_sent_no_key_no_address_and_no_password() -> None:
    settings = Settings.read(
        api_key="sk-1", base_url="http://127.0.0.1:9/v1", neo4j_password="secret", concurrency=8
    )
    sent = settings.for_workers()
    assert (sent.api_key, sent.base_url, sent.keyring) == (None, None, False)
    assert (sent.neo4j_password.get_secret_value(), sent.neo4j_uri) == ("", None)
    assert (sent.model, sent.cache) == (settings.model, False)


@pytest.mark.parametrize("address", ["http://head:8786", "tcp://head", "tls://127.0.0.1:9"])
def test_a_mistyped_scheduler_is_an_error_in_words(address: str) -> None:
    with pytest.raises(SettingsError, match=r"An address is tcp://host:8786"):
        WorkerCluster(scheduler=address).connect()


def test_a_worker_with_too_little_memory_loses_one_document() -> None:
    from distributed import Future

    class Failed(Future):  # type: ignore[type-arg]
        def __init__(self) -> None:
            pass

        def __del__(self) -> None:
            pass

        def result(self, timeout: float | None = None) -> bytes:
            raise MemoryError

    models = ModelFactory(Settings.read())
    steps = ClusterSteps(WorkerCluster(scheduler="tls://head:8786"), models)
    with pytest.raises(WorkerLost, match=r"^book\.txt: it needs more memory"):
        steps._result(Failed(), "book.txt")
    steps.close()
    models.close()


# Without workers


def test_without_the_package_there_is_an_error_that_names_the_extra(
    books: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    done = CliRunner().invoke(main, ["ingest", str(books), "--workers", "2"])
    assert done.exit_code == 1
    assert "Run `pip install 'fabula[dask]'`" in done.output


def test_a_port_that_can_not_be_is_refused_at_once(books: Path) -> None:
    words = ["ingest", str(books), "--scheduler", "tcp://127.0.0.1:9999999"]
    done = CliRunner().invoke(main, words)
    assert done.exit_code == 1
    assert "The scheduler's address 'tcp://127.0.0.1:9999999' can't be used" in done.output


def test_workers_and_a_scheduler_together_are_refused(books: Path) -> None:
    words = ["ingest", str(books), "--workers", "2", "--scheduler", "tcp://h:1"]
    assert CliRunner().invoke(main, [*words, "--dry-run"]).exit_code == 2
    done = CliRunner().invoke(main, words)
    assert done.exit_code == 2
    assert "give one of them" in " ".join(done.output.split())
    with pytest.raises(SettingsError, match="number of workers, or the address"):
        WorkerCluster()


def test_who_uses_no_workers_imports_nothing_of_them() -> None:
    program = (
        "import sys, fabula.cli.commands.ingest, fabula.operations.building, fabula.build.run, "
        "fabula.service.state\n"
        "print(sorted({'dask', 'distributed', 'fabula.build.cluster'} & {*sys.modules}))"
    )
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert run.stdout.strip() == "[]"
