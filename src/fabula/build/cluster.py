"""Read files and make parts with the workers of a Dask cluster, here or on other machines.

The coordinator, which is the process that was started, keeps what needs the database: it plans and
commits, holds each document's lock meanwhile, and asks models at an endpoint. A document is a task
for reading its file and one for making its parts. As many documents are under way as keep all
workers busy, and no more: the others wait here, so that neither this process nor Dask's scheduler
holds what nobody works on.

This needs the package distributed: `pip install 'fabula[dask]'`.
"""

from __future__ import annotations

import concurrent.futures
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
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, NamedTuple, Self, TypeAlias
from urllib.parse import urlsplit

from fabula.build.driver import answer, reject
from fabula.build.make import PartListener
from fabula.build.steps import StepRunner
from fabula.build.values import BuiltParts, DocumentPlan
from fabula.config.model_factory import ModelFactory
from fabula.errors import ClusterError, SettingsError, Stopped, WorkerLost
from fabula.graph.builds import RejectRequest
from fabula.load.content import FileContent
from fabula.load.source import DocumentSource
from fabula.models.counted import Meter
from fabula.models.parallel import TaskGroup, Workers
from fabula.models.progress import Progress
from fabula.models.usage import Usage
from fabula.text.document import Document

if TYPE_CHECKING:
    from distributed import Client, Future, LocalCluster

    from fabula.build.worker_task import TaskAnswer, TaskCall, TaskReport, TaskResult


class Ring(NamedTuple):
    """Says that an attempt at a task has something new, and where."""

    attempt: str = ""
    worker: str = ""


NOTHING = Ring()
"""No worker has rung, though there may be answers for it."""
Inbox: TypeAlias = "queue.SimpleQueue[Ring | None]"
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
        self._inboxes: dict[str, Inbox] = {}
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

    def open_inbox(self, key: str) -> Inbox:
        """Return where a task rings; None arrives there once it is over."""
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
        """Pass on that a task rings; called in the thread of Dask's network."""
        _, message = event
        if inbox := self._inboxes.get(message["key"]):
            inbox.put(Ring(message["attempt"], message["worker"]))


class ClusterSteps(StepRunner):
    """The steps of one run, done by workers."""

    def __init__(self, cluster: WorkerCluster, models: ModelFactory) -> None:
        super().__init__(models)
        self._cluster = cluster
        self._run = uuid.uuid4().hex
        self._numbers = itertools.count()
        self._documents = Workers(MAX_DOCUMENTS)
        self._settings = models.settings.for_workers()
        self._inside = 0
        self._changed = threading.Condition()

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
        with TaskGroup(self._models.workers, within=job) as calls:
            follower = TaskFollower(self._cluster, source.name, self._models, Meter(), calls)
            document = self._run_task("read", source.open(), follower)
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
        """Make the parts of a document on a worker; they come all at once, and never early."""
        name = plan.document.source
        with TaskGroup(self._models.workers, within=job) as calls:
            follower = TaskFollower(self._cluster, name, self._models, meter, calls, progress)
            built = self._run_task("make", plan, follower)
        assert isinstance(built, BuiltParts)
        return built

    def close(self) -> None:
        """End the threads of the run."""
        self._documents.close()

    def _run_task(
        self, kind: str, work: FileContent | DocumentPlan, follower: TaskFollower
    ) -> Document | BuiltParts:
        """Return what a worker makes of a piece of work, or raise what it raised."""
        from fabula.build.worker_task import TaskRequest, describe_versions, run_task

        request = TaskRequest(work, self._settings, self._cluster.is_local)
        key = f"fabula-{kind}-{self._run}-{next(self._numbers)}"
        follower.inbox = inbox = self._cluster.open_inbox(key)
        try:
            with _explaining(self._cluster.name):
                future = self._cluster.connect().submit(
                    run_task,
                    key,
                    describe_versions(),
                    pickle.dumps(request, protocol=5),
                    key=key,
                    pure=False,
                    retries=RETRIES,
                    # A document that is under way is ended before another one is read.
                    priority=int(kind == "make"),
                )
                future.add_done_callback(lambda _: inbox.put(None))
            try:
                while (ring := _wait(inbox, future)) is not None:
                    follower.follow(ring)
            except BaseException:
                # Its worker notices, and stops.
                with suppress(Exception):
                    future.cancel()
                raise
            result = self._result(future, follower.name)
        finally:
            self._cluster.close_inbox(key)
        return follower.finish(result)

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


class TaskFollower:
    """Follows a task: answers what its build wants of models, and passes on how far it is.

    Args:
        cluster: The workers.
        name: What messages call the task.
        models: They are asked.
        meter: Counts what they are asked.
        calls: The calls; once they have failed, the task is not followed any more.
        progress: Told how far it is, as if it ran here.
    """

    def __init__(
        self,
        cluster: WorkerCluster,
        name: str,
        models: ModelFactory,
        meter: Meter,
        calls: TaskGroup,
        progress: Progress | None = None,
    ) -> None:
        self.name = name
        self.inbox: Inbox = queue.SimpleQueue()
        self._cluster, self._models, self._meter = cluster, models, meter
        self._calls, self._progress = calls, progress
        self._attempt, self._worker = "", ""
        self._known, self._messages = 0, 0
        self._scopes: dict[int, TaskGroup] = {}
        self._answers: deque[TaskAnswer] = deque()
        self._expected, self._done = Counter[str](), Counter[str]()

    def follow(self, ring: Ring) -> None:
        """Give the worker the answers that have come, and take in what is new there.

        Raises:
            StoreError: The lock of the document was lost.
            BaseException: The run has failed or was stopped.
        """
        from fabula.build.worker_task import exchange

        if self._calls.failure is not None:
            raise self._calls.failure
        if ring.attempt:
            self._begin(ring)
        elif not self._answers:
            return
        count = len(self._answers)
        answers = pickle.dumps([*self._answers][:count], protocol=5)
        call = (exchange, self._attempt, self._known, answers)
        try:
            exchanged = pickle.loads(_call_on_worker(self._cluster, self._worker, *call))
        except Exception:
            # The worker may have died: then another one rings. Else it rings again, or there are
            # answers to give.
            LOG.debug("%s: its worker did not answer.", self.name, exc_info=True)
            return
        for _ in range(count):
            self._answers.popleft()
        if exchanged is not None:
            self._take(exchanged)

    def finish(self, result: TaskResult) -> Document | BuiltParts:
        """Return what a task returned, or raise what it raised."""
        self._begin(Ring(result.attempt, self._worker))
        self._take(result.report)
        for step, usage in result.usage.items():
            self._meter.add(step, usage)
        if result.error is not None:
            raise result.error
        assert result.value is not None
        return result.value

    def _begin(self, ring: Ring) -> None:
        """Follow this attempt from now on."""
        if ring.attempt == self._attempt:
            return
        if self._attempt:
            LOG.warning("%s: its worker died, so another one begins it again.", self.name)
        for calls in self._scopes.values():
            calls.fail(Stopped())
        self._scopes, self._answers = {}, deque()
        self._attempt, self._worker = ring.attempt, ring.worker
        self._known = self._messages = 0

    def _take(self, report: TaskReport) -> None:
        for level, message in report.messages[self._messages :]:
            LOG.log(level, "%s", message)
        self._messages = len(report.messages)
        for call in report.calls:
            if call.number >= self._known:
                self._known = call.number + 1
                self._ask(call)
        for scope in report.ended:
            if (calls := self._scopes.pop(scope, None)) is not None:
                calls.fail(Stopped())
        if self._progress is not None:
            self._show(report, self._progress)

    def _ask(self, call: TaskCall) -> None:
        """Begin a call; its answer is given to the worker when it has come."""
        if isinstance(call.request, RejectRequest):
            reject(self._models.models(self._meter), call.request)
            return
        answers, inbox = self._answers, self.inbox

        def keep(done: concurrent.futures.Future[TaskAnswer]) -> None:
            answers.append(_read_answer(call.number, done))
            inbox.put(NOTHING)

        scope = self._scopes.setdefault(call.scope, self._calls.part())
        scope.submit(call.priority, self._answer, call).add_done_callback(keep)

    def _answer(self, call: TaskCall) -> TaskAnswer:
        from fabula.build.worker_task import TaskAnswer

        assert not isinstance(call.request, RejectRequest)
        meter = Meter(self._meter)
        value = answer(self._models.models(meter), call.request)
        return TaskAnswer(call.number, value, usage=meter.usage())

    def _show(self, report: TaskReport, progress: Progress) -> None:
        """Report pieces that are new; an attempt after the first goes over the same pieces."""
        for step, count in report.expected.items():
            progress.expect(step, max(0, count - self._expected[step]))
            self._expected[step] = max(count, self._expected[step])
        for step, count in report.done.items():
            for _ in range(count - self._done[step]):
                progress.done(step, Usage())
            self._done[step] = max(count, self._done[step])


def _read_answer(number: int, done: concurrent.futures.Future[TaskAnswer]) -> TaskAnswer:
    """Return what came of a call as it is sent to a worker."""
    from fabula.build.worker_task import TaskAnswer, make_portable

    try:
        return done.result()
    except Exception as error:  # noqa: BLE001  the build raises it
        return TaskAnswer(number, error=make_portable(error))
    except BaseException:  # noqa: BLE001  as Ctrl-C
        return TaskAnswer(number, error=Stopped())


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


def _wait(inbox: Inbox, future: Future[Any]) -> Ring | None:
    """Return the last ring; `NOTHING` if there is none for a while, None once the task is over."""
    last: Ring | None = NOTHING
    try:
        ring = inbox.get(timeout=POLL_SECONDS)
        while ring is not None:
            last = ring if ring.attempt else last
            ring = inbox.get_nowait()
    except queue.Empty:
        return None if future.done() else last
    return None


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
