"""What a Dask worker does for a run: it reads a file, or makes the parts of a document.

A worker needs models and no database, and keeps nothing: what models reply to it is handed to the
coordinator, which caches it. It is sent a pickled `TaskRequest` and returns a pickled `TaskResult`.
All workers together make as many calls at once as the settings allow. Errors are returned as
values: Dask would try again what raises them, and they must reach the user as if they had happened
in one process.
"""

from __future__ import annotations

import hashlib
import logging
import pickle
import platform
import signal
import sys
import threading
import time
import traceback
import uuid
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.metadata import version

from distributed import Semaphore, Worker, get_worker

from fabula.build.make import PartListener, make
from fabula.build.values import BuiltParts, DocumentPlan
from fabula.build.worker_replies import Change, CoordinatorCache
from fabula.config.model_factory import ModelFactory
from fabula.config.settings import Settings
from fabula.errors import ClusterError, FabulaError
from fabula.graph import Part
from fabula.graph.installed import graphs
from fabula.load.content import FileContent
from fabula.models.budget import Budget
from fabula.models.counted import Meter
from fabula.models.endpoint.address import normalize_url
from fabula.models.limiter import CallLeases
from fabula.models.parallel import TaskGroup
from fabula.models.stop import Stop
from fabula.models.usage import Usage
from fabula.text.document import Document

TOPIC = "fabula"
"""The topic of Dask's events under which workers report. It is one for all runs: the scheduler
keeps the last events of every topic that ever was."""
REPORT_SECONDS = 0.5
"""How often a worker reports what is new, and checks whether the task is still wanted."""
ASK_AGAIN_SECONDS = 10.0
"""After how long a task reports again that it waits for cached replies: a report may be lost."""
MAX_SETTINGS = 4
"""How many settings a worker keeps models for; the coordinators of a cluster may differ."""
MAX_STOPPED_RUNS = 1000
"""How many stopped runs a worker remembers, so that tasks of theirs that arrive late end at once.
"""
LOG = logging.getLogger("fabula")

Versions = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class TaskRequest:
    """What a worker is to do.

    Attributes:
        work: A file to read, or a plan to make the parts of.
        settings: They name the models; they have no password of Neo4j in them.
        is_local: Whether the worker is on the machine of the coordinator, and shares its folders.
        gives_pieces: Whether the coordinator fetches parts while others are made.
        has_cache: Whether the coordinator has a cache of replies.
        calls: How many calls the task may make; None for any number.
        tokens: How many tokens it may spend, likewise.
    """

    work: FileContent | DocumentPlan
    settings: Settings
    is_local: bool
    gives_pieces: bool = False
    has_cache: bool = False
    calls: int | None = None
    tokens: int | None = None


@dataclass(frozen=True, slots=True)
class TaskReport:
    """How far a task is. All counts are since its beginning, so that a lost report does no harm.

    Attributes:
        attempt: Identifies the attempt: if a worker dies, another one begins the task again.
        expected: How many pieces of each step are known.
        done: How many of them are done.
        usage: What each step has asked of models.
        messages: What the task has logged, each with its level.
        pieces: How many parts and pieces of parts are made, and wait on the worker to be fetched
            (`take_pieces`).
        wanted: The keys of cached replies that the task waits for (`exchange_replies`).
        changes: How many changes of the cache the task has made.
        worker: The address of the worker.
    """

    attempt: str
    expected: Mapping[str, int] = field(default_factory=dict)
    done: Mapping[str, int] = field(default_factory=dict)
    usage: Mapping[str, Usage] = field(default_factory=dict)
    messages: tuple[tuple[int, str], ...] = ()
    pieces: int = 0
    wanted: tuple[bytes, ...] = ()
    changes: int = 0
    worker: str = ""


@dataclass(frozen=True, slots=True)
class TaskResult:
    """What a task returned or raised, and its last report.

    Attributes:
        value: What it returned; None if it failed.
        error: What it raised.
        report: Its last report.
        acknowledged: How many of its changes of the cache the coordinator is known to have.
        changes: The others, which are kept also where the task failed: they are paid for.
    """

    value: Document | BuiltParts | None
    error: Exception | None
    report: TaskReport
    acknowledged: int = 0
    changes: tuple[Change, ...] = ()


class TaskReporter:
    """Collects what a task reports, and sends it while the task runs; a `Progress`."""

    def __init__(
        self, send: Callable[[bytes], None], is_wanted: Callable[[], bool], worker: str = ""
    ) -> None:
        self.meter, self.stop = Meter(), Stop()
        self.attempt = uuid.uuid4().hex
        """Tells this attempt from those of other workers that were given the same task."""
        self._send, self._is_wanted = send, is_wanted
        self._report = TaskReport(self.attempt, worker=worker)
        self._lock = threading.Lock()
        self._is_over = False
        self._is_due = threading.Event()
        self.cache = CoordinatorCache(self._is_due.set, self.stop)
        """The coordinator's cache, as the task uses it."""

    def expect(self, step: str, count: int) -> None:
        """Add pieces of work of a step that have become known."""
        with self._lock:
            counts = self._report.expected
            self._report = replace(
                self._report, expected={**counts, step: counts.get(step, 0) + count}
            )

    def done(self, step: str, usage: Usage) -> None:
        """Count a piece of a step's work as done; the meter has the usage."""
        with self._lock:
            counts = self._report.done
            self._report = replace(self._report, done={**counts, step: counts.get(step, 0) + 1})

    def add_piece(self) -> None:
        """Count a part, or a piece of one, that waits to be fetched."""
        with self._lock:
            self._report = replace(self._report, pieces=self._report.pieces + 1)

    def log(self, level: int, message: str) -> None:
        """Add a message that the coordinator is to log."""
        with self._lock:
            messages = (*self._report.messages, (level, message))
            self._report = replace(self._report, messages=messages)

    def report(self) -> TaskReport:
        """Return how far the task is now."""
        with self._lock:
            return replace(
                self._report,
                usage=self.meter.usage(),
                wanted=self.cache.wanted,
                changes=self.cache.changes,
            )

    @contextmanager
    def running(self) -> Iterator[None]:
        """Send reports until the block ends. The first says that a worker has begun."""
        threading.Thread(target=self._keep_sending, name="fabula-report", daemon=True).start()
        token = _REPORTER.set(self)
        try:
            yield
        finally:
            _REPORTER.reset(token)
            self._is_over = True
            self._is_due.set()

    def _keep_sending(self) -> None:
        sent, sent_at, is_asked = None, 0.0, False
        while not self._is_over:
            self._is_due.clear()
            if not self._is_wanted():
                self.stop.set()
            report, now = self.report(), time.monotonic()
            # Usages compare without the parts of their models, which only grow with the counts.
            is_asked = is_asked or now - sent_at >= ASK_AGAIN_SECONDS
            if report != sent or (report.wanted and is_asked):
                self._send(pickle.dumps(report))
                sent, sent_at = report, now
            is_asked = self._is_due.wait(REPORT_SECONDS)


_REPORTER: ContextVar[TaskReporter | None] = ContextVar("reporter", default=None)
"""The reporter of the task that a thread works for; the threads of its calls inherit it."""


class _ReportingHandler(logging.Handler):
    """Sends what a task logs to the coordinator, which shows it to the user."""

    def emit(self, record: logging.LogRecord) -> None:
        if reporter := _REPORTER.get():
            reporter.log(record.levelno, record.getMessage())


@cache
def _report_log() -> None:
    LOG.addHandler(_ReportingHandler())


@cache
def describe_versions() -> Versions:
    """Return what coordinator and workers must have in common, each with its name."""
    methods = {
        name: (graph.version, graph.prompts_digest()) for name, graph in sorted(graphs().items())
    }
    return (
        ("Fabula", version("fabula")),
        ("Python", ".".join(platform.python_version_tuple()[:2])),
        ("methods and prompts of graphs", hashlib.sha256(repr(methods).encode()).hexdigest()[:12]),
    )


def find_other_versions(expected: Versions, address: str) -> str:
    """Return in words how this worker differs from the coordinator; '' if it does not."""
    here = dict(describe_versions())
    differences = [
        f"{name} {here.get(name, 'unknown')} instead of {version}"
        for name, version in expected
        if here.get(name) != version
    ]
    if not differences:
        return ""
    return (
        f"The worker {address} differs from this process: it has {', and '.join(differences)}. "
        "Install the same versions of Fabula and its packages on all machines."
    )


def check_worker(versions: Versions, dask_worker: Worker) -> str:
    """Return how a worker differs from the coordinator; Dask calls this on each worker.

    The worker is prepared for tasks.
    """
    stop_profiler(dask_worker)
    return find_other_versions(versions, dask_worker.address)


def stop_profiler(worker: Worker) -> None:
    """Stop Dask's profiler in a worker with Python 3.11; to be called in its event loop.

    It reads the frames of all threads, in which Python 3.11 may wait for itself for ever
    (python/cpython 106883): the worker then hangs for the five minutes after which Dask gives it
    up. Local workers have no profiler.
    """
    if sys.version_info[:2] > (3, 11):
        return
    for name in ("profile", "profile-cycle"):
        if callback := worker.periodic_callbacks.get(name):
            callback.stop()


def run_task(key: str, run: str, versions: Versions, request: bytes) -> bytes:
    """Do what a request says; Dask calls this in a thread of a worker.

    Args:
        key: The key of the task.
        run: The run that it belongs to, by which it is stopped.
        versions: Those of the coordinator.
        request: A `TaskRequest`.

    Returns:
        A `TaskResult`.
    """
    worker = get_worker()
    # It may have joined after the run began.
    worker.loop.add_callback(stop_profiler, worker)

    def send(report: bytes) -> None:
        worker.log_event(TOPIC, {"key": key, "report": report})

    def is_wanted() -> bool:
        # The scheduler takes a task from its worker when the coordinator has gone, whether it was
        # stopped, was killed or lost its network. Dask can't end the thread, so it looks here.
        task = worker.state.tasks.get(key)
        return task is not None and task.state != "cancelled"

    _report_log()
    reporter = TaskReporter(send, is_wanted, worker.address)
    value, error = None, None
    try:
        if difference := find_other_versions(versions, worker.address):
            raise ClusterError(difference)
        with _RUNS.stopping(run, reporter.stop), reporter.running():
            value = _do(pickle.loads(request), reporter, worker)
    except MemoryError:
        raise  # another worker may have more
    except Exception as raised:  # noqa: BLE001  the coordinator raises it
        error = _make_portable(raised)
    finally:
        _PIECES.close(reporter.attempt)
        _CACHES.pop(reporter.attempt, None)
    acknowledged, changes = reporter.cache.remaining()
    result = TaskResult(value, error, reporter.report(), acknowledged, changes)
    return pickle.dumps(result, protocol=5)


def _do(request: TaskRequest, reporter: TaskReporter, worker: Worker) -> Document | BuiltParts:
    reporter.stop.check()
    work = request.work
    if isinstance(work, FileContent):
        return work.parse()
    budget = Budget(request.calls, request.tokens)
    cache = reporter.cache if request.has_cache else None
    _CACHES[reporter.attempt] = reporter.cache
    with _MODELS.using(request, _open_leases(worker, request.settings)) as shared:
        models = shared.view(stop=reporter.stop, budget=budget, cache=cache)
        run = TaskGroup(models.workers, stop=reporter.stop)
        try:
            with run:
                keep = _PIECES.open(reporter) if request.gives_pieces else None
                return make(work, models, reporter, reporter.meter, run, keep)
        finally:
            # Calls that are under way when this fails are paid for: they are counted and kept.
            run.wait_for_parts()


def _make_portable(error: Exception) -> Exception:
    """Return an error that can be pickled; what nobody foresaw carries its traceback as a note."""
    if not isinstance(error, FabulaError):
        error.add_note(f"On a worker:\n{traceback.format_exc()}")
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:  # noqa: BLE001  whatever its class does when it is pickled
        return RuntimeError(traceback.format_exc())
    return error


class _ModelsBySettings:
    """The models of this process, by the settings that name them: one limiter for all its tasks."""

    def __init__(self) -> None:
        self._models: dict[bytes, ModelFactory] = {}
        self._users = Counter[ModelFactory]()
        self._lock = threading.Lock()

    @contextmanager
    def using(
        self, request: TaskRequest, leases: CallLeases | None = None
    ) -> Iterator[ModelFactory]:
        """Yield the models for a request, which stay open meanwhile; each call needs a lease.

        Of those that no task uses, the oldest beyond MAX_SETTINGS are closed.
        """
        settings = request.settings
        if not request.is_local:
            # The coordinator's folder need not exist here.
            settings = settings.model_copy(update={"home": Settings.read().home})
        key = pickle.dumps(settings)
        with self._lock:
            if key not in self._models:
                self._models[key] = ModelFactory(settings, leases=leases)
            models = self._models[key]
            self._users[models] += 1
        try:
            yield models
        finally:
            with self._lock:
                self._users[models] -= 1
                unused = [key for key, kept in self._models.items() if not self._users[kept]]
                for old in unused[: max(0, len(self._models) - MAX_SETTINGS)]:
                    closed = self._models.pop(old)
                    del self._users[closed]
                    closed.close()


class _Runs:
    """The tasks of this process by their runs, so that a run can be stopped."""

    def __init__(self) -> None:
        self._stops: dict[str, set[Stop]] = {}
        self._stopped: deque[str] = deque(maxlen=MAX_STOPPED_RUNS)
        self._lock = threading.Lock()

    @contextmanager
    def stopping(self, run: str, stop: Stop) -> Iterator[None]:
        """Set `stop` if the run is stopped until the block ends, or was before."""
        with self._lock:
            self._stops.setdefault(run, set()).add(stop)
            is_stopped = run in self._stopped
        if is_stopped:
            stop.set()
        try:
            yield
        finally:
            with self._lock:
                self._stops[run].discard(stop)
                if not self._stops[run]:
                    del self._stops[run]

    def stop(self, run: str) -> None:
        """Stop the tasks of a run, also those that arrive later."""
        with self._lock:
            self._stopped.append(run)
            stops = [*self._stops.get(run, ())]
        for stop in stops:
            stop.set()


class _Pieces:
    """Parts, and pieces of parts, that wait to be fetched while their tasks go on.

    They are fetched, and not sent with the reports: Dask's scheduler keeps the last reports. They
    are known by attempts and not by tasks: another attempt may have got other replies of models.
    """

    def __init__(self) -> None:
        self._waiting: dict[str, list[tuple[Part, int]]] = {}
        self._lock = threading.Lock()

    def open(self, reporter: TaskReporter) -> PartListener:
        """Return what takes the parts of an attempt until `close`."""
        attempt = reporter.attempt
        with self._lock:
            self._waiting[attempt] = []

        def keep(part: Part, dimensions: int) -> None:
            with self._lock:
                if attempt not in self._waiting:
                    return
                self._waiting[attempt].append((part, dimensions))
            reporter.add_piece()

        return keep

    def take(self, attempt: str) -> list[tuple[Part, int]]:
        """Return what waits, and forget it; nothing of an attempt that has ended."""
        with self._lock:
            if attempt not in self._waiting:
                return []
            taken, self._waiting[attempt] = self._waiting[attempt], []
            return taken

    def close(self, attempt: str) -> None:
        """Forget an attempt."""
        with self._lock:
            self._waiting.pop(attempt, None)


class DaskLeases:
    """The leases of a semaphore that Dask's scheduler keeps for all workers; `CallLeases`.

    A worker renews its leases. Those of a worker that has died end half a minute later, by Dask's
    `distributed.scheduler.locks.lease-timeout`; until then the others make so many calls fewer.
    """

    def __init__(self, worker: Worker, name: str, most: int) -> None:
        # A call may be made in any thread, where Dask would not find its worker.
        self._semaphore = Semaphore(most, name, worker.scheduler, worker.loop)

    def acquire(self, seconds: float) -> bool:
        """Take a lease; return False if there was none for so many seconds."""
        return bool(self._semaphore.acquire(timeout=seconds))

    def release(self) -> None:
        """Give a lease back."""
        self._semaphore.release()


def _open_leases(worker: Worker, settings: Settings) -> DaskLeases | None:
    """Return the leases of calls by these settings; None if they name no model of an endpoint."""
    if not settings.uses_endpoint:
        return None
    # A digest, as an address may have a password in it.
    address = hashlib.sha256(normalize_url(settings.base_url).encode()).hexdigest()[:16]
    # All runs with this endpoint and limit share them; Dask refuses two limits of one name.
    name = f"fabula-calls-{address}-{settings.concurrency}"
    return _leases_of(worker, name, settings.concurrency)


@cache
def _leases_of(worker: Worker, name: str, most: int) -> DaskLeases:
    return DaskLeases(worker, name, most)


_MODELS, _RUNS, _PIECES = _ModelsBySettings(), _Runs(), _Pieces()
_CACHES: dict[str, CoordinatorCache] = {}
"""The caches of the attempts that are under way."""


def take_pieces(attempt: str) -> bytes:
    """Return, pickled, the parts of an attempt that were made since this was last called.

    Each comes with the number of dimensions of its embeddings. The coordinator calls this on the
    worker, by Dask, while the task runs.
    """
    return pickle.dumps(_PIECES.take(attempt), protocol=5)


def exchange_replies(attempt: str, acknowledged: int, found: bytes) -> bytes:
    """Give cached replies to an attempt; return, pickled, how it has changed the cache since.

    That is how many changes it knows to be saved, and the others. The coordinator calls this on the
    worker, by Dask, while the task runs.

    Args:
        attempt: The attempt; one that has ended has changed nothing.
        acknowledged: How many of its changes the coordinator has.
        found: The data of the keys that it wants, pickled; None for those that nobody has.
    """
    cache = _CACHES.get(attempt)
    remaining = cache.exchange(acknowledged, pickle.loads(found)) if cache else (acknowledged, ())
    return pickle.dumps(remaining, protocol=5)


def stop_run(run: str) -> None:
    """Stop the tasks of a run on this worker; calls of models under way come to their end."""
    _RUNS.stop(run)


def dask_setup(worker: object) -> None:
    """Prepare a worker on the coordinator's machine; Dask calls this when the worker starts.

    A terminal sends Ctrl-C to all processes that a command has started. The coordinator ends the
    workers itself, so that they do not each print a traceback; nor do they log those of connections
    that end meanwhile, for which Dask's own `silence_logs` ends too early.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
