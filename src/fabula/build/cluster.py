"""Read files and make parts with the workers of a Dask cluster, here or on other machines.

The coordinator, which is the process that was started, keeps what needs the database: it plans and
commits, and holds each document's lock meanwhile. A document is a task for reading its file and one
for making its parts. As many documents are under way as keep all workers busy, and no more: the
others wait here, so that neither this process nor Dask's scheduler holds what nobody works on.

This needs the package distributed: `pip install 'fabula[dask]'`.
"""

from __future__ import annotations

import gc
import itertools
import logging
import os
import pickle
import queue
import signal
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import urlsplit

from fabula.build.make import PartListener
from fabula.build.values import BuiltParts, DocumentPlan
from fabula.build.worker_replies import Change, apply_changes
from fabula.config.model_factory import ModelFactory
from fabula.config.settings import Settings
from fabula.errors import BudgetSpent, ClusterError, SettingsError, WorkerLost
from fabula.graph import Part
from fabula.load.content import FileContent
from fabula.load.source import DocumentSource
from fabula.models.cache import ReplyCache
from fabula.models.counted import Meter
from fabula.models.endpoint.address import is_on_loopback
from fabula.models.parallel import TaskGroup, Workers
from fabula.models.progress import Progress
from fabula.models.usage import Usage
from fabula.text.document import Document

if TYPE_CHECKING:
    from distributed import Client, Future, LocalCluster

    from fabula.build.worker_task import TaskReport, TaskResult

LOG = logging.getLogger("fabula")
RETRIES = 2
"""How often Dask tries a task again that a worker could not do, as it had too little memory."""
ALLOWED_FAILURES = 2
"""How many workers may die with a document before it counts as failed; Dask's own is 3."""
DOCUMENTS_PER_THREAD = 2
"""Documents that are under way for each thread of the workers. While one is made, another one is
read, planned or written."""
MIN_DOCUMENTS = 4
"""Documents that are under way even if there are no workers yet: a cluster that grows with its work
has to see some."""
MAX_DOCUMENTS = 96
"""Documents that are under way at most. Each holds a connection to Neo4j for its lock, and needs
two more for moments; a Neo4j serves 400."""
CONNECT_SECONDS = 20.0
"""How long a scheduler may take to answer."""
POLL_SECONDS = 0.5
"""How often a waiting thread checks whether its run has ended."""
COUNT_SECONDS = 2.0
"""How often the workers are counted."""
FETCH_SECONDS = 60.0
"""How long a worker may take to hand over what it has made, while it makes more."""
CLOSE_SECONDS = 10.0
"""How long closing a connection, or the rest of local workers that were ended, may take."""
ENCRYPTED = ("tls://", "wss://")
"""The addresses of schedulers to which all is sent encrypted."""
LOCAL_THREADS = 4
"""Documents at once in a local worker that waits for an endpoint; offline, it is one."""


class WorkerCluster:
    """Workers that read files and make parts: a cluster that is there, or processes of its own.

    It connects when it is first used, and again when the connection was lost, until it is closed.
    Use it with `with`, and share it between runs:

        with Fabula() as fabula, WorkerCluster(workers=4) as cluster:
            fabula.ingest("books/", cluster=cluster)

    Args:
        workers: The number of processes to start on this machine. 0: there is a scheduler.
        scheduler: The address of a scheduler, as tcp://host:8786.

    Raises:
        SettingsError: The package distributed is not installed, or the address is none.
    """

    def __init__(self, workers: int = 0, scheduler: str = "") -> None:
        if bool(workers) == bool(scheduler):
            raise SettingsError("Give a number of workers, or the address of a scheduler.")
        if find_spec("distributed") is None:
            raise SettingsError(
                "Workers need the package distributed, which isn't installed.",
                advice="Run `pip install 'fabula[dask]'`.",
            )
        try:
            # It raises. Dask would try a port over 65535 without end.
            urlsplit(scheduler).port  # noqa: B018
        except ValueError as error:
            raise _wrong_address(scheduler, error) from error
        self.workers, self.scheduler = workers, scheduler
        self._lock = threading.Lock()
        self._is_closed = False
        self._client: Client | None = None
        self._local: LocalCluster | None = None
        self._silence = ExitStack()
        self._inboxes: dict[str, queue.SimpleQueue[bytes | None]] = {}
        self._counted = (0.0, (0, 0))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *failure: object) -> None:
        self.close()

    def close(self) -> None:
        """Leave the cluster, whose workers then stop what they do for this process.

        Workers of this process are ended.
        """
        with self._lock:
            self._is_closed = True
            client, self._client = self._client, None
            local, self._local = self._local, None
        # Whoever still waits for a task learns here that it is over.
        for inbox in [*self._inboxes.values()]:
            inbox.put(None)
        if client is not None:
            with suppress(OSError, TimeoutError, RuntimeError):
                client.close(timeout=CLOSE_SECONDS)
        if local is not None:
            _end_local(local)
        self._silence.close()

    def open_run(self, models: ModelFactory) -> ClusterSteps:
        """Return what does the steps of one run, with models like these.

        Raises:
            ClusterError: The scheduler can't be reached, or no worker can be started.
        """
        from fabula.build.worker_task import check_worker, describe_versions

        client = self.connect(offline=models.offline)
        if not self.count_workers()[0] and self.scheduler:
            LOG.warning("The cluster at %s has no workers yet: waiting for one.", self.scheduler)
        with _explaining(self.name):
            # Before anything is planned; each task is checked, too, as workers may come later.
            for difference in client.run(check_worker, describe_versions()).values():
                if difference:
                    raise ClusterError(difference)
        return ClusterSteps(self, models)

    @property
    def name(self) -> str:
        """What messages call it."""
        return f"the cluster at {self.scheduler}" if self.scheduler else "the workers"

    @property
    def is_local(self) -> bool:
        """Whether the workers are processes that this one has started."""
        return not self.scheduler

    def connect(self, *, offline: bool = False) -> Client:
        """Return the connection, made if there is none.

        Raises:
            ClusterError: It can't be made, or this was closed.
        """
        with self._lock:
            if self._is_closed:
                # A thread that goes on after Ctrl-C would start workers that nobody ends.
                raise ClusterError("The workers were closed while a run was under way.")
            if self._client is None or self._client.status in ("closed", "closing"):
                with _explaining(self.name):
                    self._client = self._open(offline=offline)
            return self._client

    def count_workers(self) -> tuple[int, int]:
        """Return the number of workers and of their threads, as it was some seconds ago at most."""
        counted_at, counts = self._counted
        if time.monotonic() - counted_at > COUNT_SECONDS:
            with _explaining(self.name):
                threads = self.connect().nthreads()
            counts = len(threads), sum(threads.values())
            self._counted = time.monotonic(), counts
        return counts

    def open_inbox(self, key: str) -> queue.SimpleQueue[bytes | None]:
        """Return where the reports of a task arrive, and None once it is over."""
        return self._inboxes.setdefault(key, queue.SimpleQueue())

    def close_inbox(self, key: str) -> None:
        """Forget a task."""
        self._inboxes.pop(key, None)

    def _open(self, *, offline: bool) -> Client:
        # Takes half a second to import.
        import dask
        from distributed import Client
        from distributed.utils import silence_logging_cmgr

        from fabula.build.worker_task import TOPIC

        # Dask logs tracebacks of connections that end while it closes; what fails is raised, too.
        # A LocalCluster that is told to be silent talks again before it has closed all of them.
        level = logging.CRITICAL if self.is_local else logging.WARNING
        self._silence.enter_context(silence_logging_cmgr(level))

        dask.config.set(
            {
                # A plan has a book's text and the parts that it is built on.
                "distributed.admin.large-graph-warning-threshold": "1GB",
                "distributed.scheduler.allowed-failures": ALLOWED_FAILURES,
                # It reads the frames of all threads, in which Python 3.11 may wait for itself for
                # ever (python/cpython 106883): a worker then hung for the five minutes after which
                # Dask gives it up. Local workers take this configuration over.
                "distributed.worker.profile.enabled": False,
            }
        )
        if self.is_local and self._local is None:
            self._local = _start_local(self.workers, 1 if offline else LOCAL_THREADS)
        try:
            client = Client(
                self._local or self.scheduler,
                timeout=CONNECT_SECONDS,
                set_as_default=False,
                name="fabula",
            )
        except (ValueError, TypeError, AttributeError, RuntimeError) as error:
            # TypeError: an address tls://, and no certificates.
            if self.is_local:
                raise
            raise _wrong_address(self.scheduler, error) from error
        client.subscribe_topic(TOPIC, self._receive)
        return client

    def _receive(self, event: tuple[float, Mapping[str, Any]]) -> None:
        """Hand a report to the thread that waits for it; called in the thread of Dask's network."""
        _, message = event
        if inbox := self._inboxes.get(message["key"]):
            inbox.put(message["report"])


class ClusterSteps:
    """The steps of one run, done by workers; a `fabula.build.steps.StepRunner`."""

    def __init__(self, cluster: WorkerCluster, models: ModelFactory) -> None:
        self._cluster, self._models = cluster, models
        self._run = uuid.uuid4().hex
        self._numbers = itertools.count()
        self._documents, self._calls = Workers(MAX_DOCUMENTS), Workers(MAX_DOCUMENTS)
        self._settings = models.worker_settings()
        # A task that only reads a file asks no model.
        self._reading = self._settings.model_copy(update={"api_key": None, "base_url": None})
        _warn_of_open_network(cluster, self._settings)
        self._inside = 0
        self._changed = threading.Condition()
        self._stopping = threading.Lock()
        self._is_stopped = False

    @property
    def document_workers(self) -> Workers:
        """Threads that mostly wait; `admit` says how many of them have a document."""
        return self._documents

    @contextmanager
    def admit(self, job: TaskGroup) -> Iterator[None]:
        """Wait until fewer documents are under way than the workers need at the moment."""
        with self._changed:
            while self._inside >= self._limit():
                if job.failure is not None:
                    raise job.failure
                self._changed.wait(POLL_SECONDS)
            self._inside += 1
        try:
            yield
        finally:
            with self._changed:
                self._inside -= 1
                self._changed.notify_all()

    def _limit(self) -> int:
        _, threads = self._cluster.count_workers()
        return min(MAX_DOCUMENTS, max(MIN_DOCUMENTS, DOCUMENTS_PER_THREAD * threads))

    def read(self, source: DocumentSource, job: TaskGroup) -> Document:
        """Return the document of a source; a worker parses what this process has opened."""
        if source.open is None:
            return source.read()
        content = source.open()
        document = self._ask_worker("read", content, None, Meter(), job)
        assert isinstance(document, Document)
        return document

    def make(
        self,
        plan: DocumentPlan,
        progress: Progress,
        meter: Meter,
        job: TaskGroup,
        listener: PartListener | None = None,
    ) -> BuiltParts:
        """Make the parts of a document on a worker.

        Those that are made while models are asked for others are fetched, for the listener.
        """
        built = self._ask_worker("make", plan, progress, meter, job, listener)
        assert isinstance(built, BuiltParts)
        return built

    def close(self) -> None:
        """End the threads of the run."""
        self._documents.close()
        self._calls.close()

    def _ask_worker(
        self,
        kind: str,
        work: FileContent | DocumentPlan,
        progress: Progress | None,
        meter: Meter,
        job: TaskGroup,
        listener: PartListener | None = None,
    ) -> Document | BuiltParts:
        """Return what a worker makes of a piece of work, or raise what it raised."""
        # On a thread of the job, as calls of models are: a run that fails waits for what is paid.
        ask = partial(self._run_task, kind, work, progress, meter, job, listener)
        with TaskGroup(self._calls, within=job) as task:
            return task.submit(0, ask).result()

    def _run_task(
        self,
        kind: str,
        work: FileContent | DocumentPlan,
        progress: Progress | None,
        meter: Meter,
        job: TaskGroup,
        listener: PartListener | None,
    ) -> Document | BuiltParts:
        from fabula.build.worker_task import TaskRequest, describe_versions, run_task

        calls, tokens = self._models.budget_left()
        is_local = self._cluster.is_local
        settings = self._reading if kind == "read" else self._settings
        # Without an endpoint nothing is waited for, and fetching would only be more work.
        if not self._models.settings.uses_endpoint:
            listener = None
        cache = self._models.cache if kind == "make" else None
        request = TaskRequest(
            *(work, settings, is_local, listener is not None, cache is not None, calls, tokens)
        )
        key = f"fabula-{kind}-{self._run}-{next(self._numbers)}"
        follower = Follower(_name_of(work), progress, meter, self._models)
        pieces = PieceFetcher(self._cluster, follower.name, listener)
        replies = ReplyKeeper(self._cluster, follower.name, cache)
        inbox = self._cluster.open_inbox(key)
        failure: BaseException | None = None
        try:
            with _explaining(self._cluster.name):
                future = self._cluster.connect().submit(
                    run_task,
                    key,
                    self._run,
                    describe_versions(),
                    pickle.dumps(request, protocol=5),
                    key=key,
                    pure=False,
                    retries=RETRIES,
                    # A document that is under way is ended before another one is read.
                    priority=int(kind == "make"),
                )
                future.add_done_callback(lambda _: inbox.put(None))
            while (report := _wait(inbox, future)) is not None:
                try:
                    if report:
                        self._take_report(pickle.loads(report), follower, replies, pieces)
                except BaseException as error:  # noqa: BLE001  raised once the task has ended
                    failure = failure or error
                if failure is not None or job.failure is not None:
                    self._stop_workers()
                    if job.failure is not None and not follower.has_begun:
                        # No worker has it, and perhaps there is none that would take it.
                        future.cancel()
                        raise job.failure
            result = self._result(future, follower.name)
            replies.keep_rest(result)
            follower.follow(result.report)
        finally:
            self._cluster.close_inbox(key)
        if failure is not None:
            raise failure
        if isinstance(result.error, BudgetSpent):
            # The worker knows only its own part of what was spent.
            self._models.budget_left()
        if result.error is not None:
            raise result.error
        assert result.value is not None
        return result.value

    def _take_report(
        self, report: TaskReport, follower: Follower, replies: ReplyKeeper, pieces: PieceFetcher
    ) -> None:
        try:
            follower.follow(report)
        except BaseException:
            # Before the task is given what it waits for, and makes its next call.
            self._stop_workers()
            raise
        finally:
            replies.exchange(report)
        pieces.fetch(report)

    def _result(self, future: Future[Any], name: str) -> TaskResult:
        from distributed import KilledWorker

        try:
            with _explaining(self._cluster.name):
                result: TaskResult = pickle.loads(future.result())
                return result
        except KilledWorker as error:
            raise WorkerLost(
                f"{name}: {error.allowed_failures + 1} workers that it was given to died, one "
                "after the other. Most likely it needs more memory than a worker has: the logs of "
                "the workers say more."
            ) from error
        except MemoryError as error:
            # Not the coordinator's own: each of the workers that tried it has raised this.
            raise WorkerLost(
                f"{name}: it needs more memory than a worker has; {RETRIES + 1} tries failed."
            ) from error

    def _stop_workers(self) -> None:
        """Stop the tasks of this run; those that are under way return what they have paid for."""
        from fabula.build.worker_task import stop_run

        with self._stopping:
            if self._is_stopped:
                return
            self._is_stopped = True
        with suppress(ClusterError), _explaining(self._cluster.name):
            self._cluster.connect().run(stop_run, self._run)


class PieceFetcher:
    """Fetches the parts of a task from its worker while it runs.

    That only saves time: the result of the task has all parts, and so nothing here fails.
    """

    def __init__(self, cluster: WorkerCluster, name: str, listener: PartListener | None) -> None:
        self._cluster, self._name, self._listener = cluster, name, listener
        self._attempt = ""
        self._fetched = 0

    def fetch(self, report: TaskReport) -> None:
        """Fetch what a report tells of, and give it to the listener."""
        if self._listener is None or report.pieces <= self._fetched:
            return
        if self._attempt and report.attempt != self._attempt:
            # Another worker makes them again, and they need not be the same: they wait for the end.
            self._listener = None
            return
        self._attempt, self._fetched = report.attempt, report.pieces
        try:
            for part, dimensions in self._take(report):
                self._listener(part, dimensions)
        except Exception:
            LOG.debug("The parts of %s were not fetched early.", self._name, exc_info=True)
            self._listener = None

    def _take(self, report: TaskReport) -> list[tuple[Part, int]]:
        from fabula.build.worker_task import take_pieces

        taken = _call_on_worker(self._cluster, report.worker, take_pieces, report.attempt)
        parts: list[tuple[Part, int]] = pickle.loads(taken)
        return parts


class ReplyKeeper:
    """Keeps what models reply to a task in this process's cache, and gives it what is there.

    Nothing here fails: the worker reports again what it waits for, and the result of the task has
    the replies that were not fetched.
    """

    def __init__(self, cluster: WorkerCluster, name: str, cache: ReplyCache | None) -> None:
        self._cluster, self._name, self._cache = cluster, name, cache
        self._attempt = ""
        self._kept = 0
        """How many changes of the attempt are made in the cache."""

    def exchange(self, report: TaskReport) -> None:
        """Give a task the replies that its report asks for, and keep those that it tells of."""
        from fabula.build.worker_task import exchange_replies

        if self._cache is None:
            return
        self._follow(report)
        if not report.wanted and report.changes <= self._kept:
            return
        rows = self._cache.find(report.wanted)
        found = pickle.dumps({key: rows.get(key) for key in report.wanted}, protocol=5)
        call = (exchange_replies, report.attempt, self._kept, found)
        try:
            remaining = pickle.loads(_call_on_worker(self._cluster, report.worker, *call))
        except Exception:
            LOG.debug("The replies of %s were not fetched early.", self._name, exc_info=True)
        else:
            self._keep(*remaining)

    def keep_rest(self, result: TaskResult) -> None:
        """Keep what a task had not handed over when it ended, well or not."""
        self._follow(result.report)
        self._keep(result.acknowledged, result.changes)

    def _follow(self, report: TaskReport) -> None:
        if report.attempt != self._attempt:
            self._attempt, self._kept = report.attempt, 0

    def _keep(self, first: int, changes: Sequence[Change]) -> None:
        """Make those changes that are new, of which the first has this number."""
        if self._cache is not None:
            apply_changes(self._cache, changes[max(0, self._kept - first) :])
            self._kept = max(self._kept, first + len(changes))


def _call_on_worker(
    cluster: WorkerCluster, worker: str, function: Callable[..., bytes], *arguments: object
) -> bytes:
    """Return what a function returns on a worker. Raises queue.Empty if it does not answer."""
    answers: queue.SimpleQueue[bytes | Exception] = queue.SimpleQueue()

    def call() -> None:
        try:
            answers.put(cluster.connect().run(function, *arguments, workers=[worker])[worker])
        except Exception as error:  # noqa: BLE001  raised below
            answers.put(error)

    # Dask waits without a limit. A worker whose machine is frozen never answers, while another one
    # makes the parts: the reports of that one must not wait behind this.
    threading.Thread(target=call, name="fabula-worker-call", daemon=True).start()
    answer = answers.get(timeout=FETCH_SECONDS)
    if isinstance(answer, Exception):
        raise answer
    return answer


class Follower:
    """Passes on how far a task is, as if it ran here."""

    def __init__(
        self, name: str, progress: Progress | None, meter: Meter, models: ModelFactory
    ) -> None:
        self.name = name
        self._progress, self._meter, self._models = progress, meter, models
        self._attempt = ""
        self._expected: dict[str, int] = {}
        self._done: dict[str, int] = {}
        self._usage: dict[str, Usage] = {}
        self._messages = 0

    @property
    def has_begun(self) -> bool:
        """Whether a worker has reported."""
        return bool(self._attempt)

    def follow(self, report: TaskReport) -> None:
        """Report what is new.

        Raises:
            BudgetSpent: What the task has asked of models exceeds the budget.
            StoreError: The lock of the document was lost.
        """
        if report.attempt != self._attempt:
            if self._attempt:
                LOG.warning("%s: its worker died, so another one begins it again.", self.name)
            # What the dead worker was known to have paid stays counted.
            self._attempt, self._usage, self._messages = report.attempt, {}, 0
        for level, message in report.messages[self._messages :]:
            LOG.log(level, "%s", message)
        self._messages = max(self._messages, len(report.messages))
        spent = self._count(report)
        if self._progress is not None:
            self._show(report, self._progress)
        self._models.charge(spent)

    def _count(self, report: TaskReport) -> Usage:
        total = Usage()
        for step, usage in report.usage.items():
            new = usage - self._usage.get(step, Usage())
            if new != Usage():
                self._meter.add(step, new)
                self._usage[step] = usage
                total += new
        return total

    def _show(self, report: TaskReport, progress: Progress) -> None:
        """Report pieces that are new; an attempt after the first goes over the same pieces."""
        for step, count in report.expected.items():
            progress.expect(step, max(0, count - self._expected.get(step, 0)))
            self._expected[step] = max(count, self._expected.get(step, 0))
        for step, count in report.done.items():
            for _ in range(count - self._done.get(step, 0)):
                progress.done(step, Usage())
            self._done[step] = max(count, self._done.get(step, 0))


def _warn_of_open_network(cluster: WorkerCluster, settings: Settings) -> None:
    """Say that a key is sent so that others can read it, if it is."""
    is_encrypted = cluster.scheduler.startswith(ENCRYPTED)
    is_own = cluster.is_local or is_encrypted or is_on_loopback(cluster.scheduler)
    if settings.api_key is not None and not is_own:
        LOG.warning(
            "The workers of %s get the key of the endpoint, over a network without encryption. Use "
            "Dask's TLS and an address tls://host:8786, or a network of your own.",
            cluster.scheduler,
        )


def _wait(inbox: queue.SimpleQueue[bytes | None], future: Future[Any]) -> bytes | None:
    """Return the next report; b'' if there is none for a while, None once the task is over."""
    try:
        return inbox.get(timeout=POLL_SECONDS)
    except queue.Empty:
        return None if future.done() else b""


def _name_of(work: FileContent | DocumentPlan) -> str:
    return work.name if isinstance(work, FileContent) else work.document.source


def _wrong_address(scheduler: str, error: Exception) -> SettingsError:
    return SettingsError(
        f"The scheduler's address {scheduler!r} can't be used: {error}.",
        advice="An address is tcp://host:8786; tls:// needs Dask's own TLS configuration.",
    )


def _start_local(workers: int, threads: int) -> LocalCluster:
    from distributed import LocalCluster

    return LocalCluster(
        n_workers=workers,
        threads_per_worker=threads,
        processes=True,
        # Any free port: Dask's own, 8787, may be that of another run.
        dashboard_address="127.0.0.1:0",
        silence_logs=logging.CRITICAL,
        # Without certificates, other users of this machine could give the workers tasks.
        protocol="tls://",
        security=True,
        preload=["fabula.build.worker_task"],
    )


def _end_local(local: LocalCluster) -> None:
    """End local workers at once: one that waits for a model would not leave by itself."""
    # They hold nothing that is worth a wait: their tasks have ended, or are given up.
    for nanny in [*local.workers.values()]:
        nanny.auto_restart = False
        if nanny.pid is not None:
            with suppress(ProcessLookupError):
                os.kill(nanny.pid, signal.SIGTERM)
    with suppress(OSError, TimeoutError, RuntimeError):
        local.close(timeout=CLOSE_SECONDS)
    # The command line ends without a shutdown of Python, and the tracker of multiprocessing would
    # print that the semaphores of the workers were left behind.
    del local
    gc.collect()


@contextmanager
def _explaining(name: str) -> Iterator[None]:
    """Raise what Dask raises as a ClusterError that says what to do; a KilledWorker stays."""
    from concurrent.futures import CancelledError

    from distributed.exceptions import WorkerStartTimeoutError

    try:
        yield
    except (ClusterError, SettingsError):
        raise
    except (CancelledError, OSError, TimeoutError, WorkerStartTimeoutError) as error:
        raise ClusterError(
            f"The connection to {name} failed: {str(error) or type(error).__name__}. What is done "
            "stays: run the same again to continue.",
            advice="`dask scheduler` starts a scheduler, and `dask worker` workers for it.",
        ) from error
    except (ImportError, AttributeError, EOFError, pickle.UnpicklingError, TypeError) as error:
        raise ClusterError(
            f"A worker of {name} can't do the work: {error}. Install the same versions of Fabula "
            "and its packages on all machines.",
        ) from error
