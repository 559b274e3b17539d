"""What a Dask worker does for a run: it reads a file, or makes the parts of a document.

A worker needs no database and no endpoint: it runs builds, and what they want of models at an
endpoint the coordinator answers, in exchanges that it begins when the task rings. A task is sent a
pickled `TaskRequest` and returns a pickled `TaskResult`. Errors are returned as values: Dask would
try again what raises them, and they must reach the user as if they had happened in one process.
"""

from __future__ import annotations

import hashlib
import io
import json
import logging
import pickle
import platform
import signal
import sys
import threading
import time
import traceback
import uuid
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from importlib.metadata import version
from typing import Any

from distributed import Worker, get_worker
from pydantic import BaseModel

from fabula.build.driver import Driver, Scope, Scoped, answer
from fabula.build.make import open_build
from fabula.build.values import BuiltParts, DocumentPlan
from fabula.config.model_factory import ModelFactory
from fabula.config.settings import Settings
from fabula.errors import ClusterError, FabulaError, Stopped
from fabula.graph.builds import ChatRequest, EmbedRequest, RejectRequest
from fabula.graph.installed import graphs
from fabula.load.content import FileContent
from fabula.models import Prompt
from fabula.models.counted import Meter
from fabula.models.parallel import TaskGroup, Workers
from fabula.models.stop import Stop
from fabula.models.usage import Usage
from fabula.text.document import Document

TOPIC = "fabula"
"""The topic of Dask's events under which workers report. It is one for all runs: the scheduler
keeps the last events of every topic that ever was."""
REPORT_SECONDS = 0.5
"""How often a task rings where its progress is all that is new, and checks whether it is wanted."""
RING_AGAIN_SECONDS = 10.0
"""After how long a task rings where nothing is new: a ring, or an exchange, may be lost."""
MAX_SETTINGS = 4
"""How many settings a worker keeps models for; the coordinators of a cluster may differ."""
LOG = logging.getLogger("fabula")

Versions = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class TaskRequest:
    """What a worker is to do.

    Attributes:
        work: A file to read, or a plan to make the parts of.
        settings: They name the models. No password, no key and no address is in them.
        is_local: Whether the worker is on the machine of the coordinator, and shares its folders.
    """

    work: FileContent | DocumentPlan
    settings: Settings
    is_local: bool


@dataclass(frozen=True, slots=True)
class TaskCall:
    """What a build wants of a model.

    Attributes:
        number: Numbers the calls of a task, from 0.
        scope: Numbers the builds of parts, each of which fails without the others.
        priority: The lowest goes first.
        request: The request.
    """

    number: int
    scope: int
    priority: float
    request: ChatRequest | EmbedRequest | RejectRequest


@dataclass(frozen=True, slots=True)
class TaskAnswer:
    """What came of a call: an answer or an error, and what each step has asked of models for it."""

    number: int
    value: Any = None
    error: Exception | None = None
    usage: Mapping[str, Usage] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class TaskReport:
    """How far a task is. Counts are since its beginning, so that a lost exchange does no harm.

    Attributes:
        expected: How many pieces of each step are known.
        done: How many of them are done.
        messages: What the task has logged, each with its level.
        calls: The calls that the coordinator does not know.
        ended: The scopes that have ended, so that none of their calls is wanted any more.
    """

    expected: Mapping[str, int] = field(default_factory=dict)
    done: Mapping[str, int] = field(default_factory=dict)
    messages: tuple[tuple[int, str], ...] = ()
    calls: tuple[TaskCall, ...] = ()
    ended: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class TaskResult:
    """What a task returned or raised.

    Attributes:
        attempt: The attempt that ended.
        value: What it returned; None if it failed.
        error: What it raised.
        report: Its last report.
        usage: What each step has used beside the calls that the coordinator answered.
    """

    attempt: str
    value: Document | BuiltParts | None
    error: Exception | None
    report: TaskReport
    usage: Mapping[str, Usage] = field(default_factory=dict)


class WorkerTask:
    """A task that is under way: what it has to tell the coordinator, and waits for; a `Progress`.

    Args:
        ring: Lets the coordinator know that there is something new; given the attempt.
        is_wanted: Returns whether the coordinator still wants the task.
    """

    def __init__(self, ring: Callable[[str], None], is_wanted: Callable[[], bool]) -> None:
        self.meter, self.stop = Meter(), Stop()
        self.attempt = uuid.uuid4().hex
        """Tells this attempt from those of other workers that were given the same task."""
        self._ring, self._is_wanted = ring, is_wanted
        self._expected, self._done = Counter[str](), Counter[str]()
        self._messages: list[tuple[int, str]] = []
        self._scopes: dict[Scope, int] = {}
        self._calls: dict[int, TaskCall] = {}
        self._called = 0
        self._waiting: dict[int, tuple[Scope, Future[Any]]] = {}
        self._answered = Meter()
        self._lock = threading.RLock()
        self._changes = 0
        self._is_over = False
        self._is_due = threading.Event()

    def expect(self, step: str, count: int) -> None:
        """Add pieces of work of a step that have become known."""
        with self._changing():
            self._expected[step] += count

    def done(self, step: str, usage: Usage) -> None:
        """Count a piece of a step's work as done; the meter has the usage."""
        with self._changing():
            self._done[step] += 1

    def log(self, level: int, message: str) -> None:
        """Add a message that the coordinator is to log."""
        with self._changing():
            self._messages.append((level, message))

    def ask(
        self, scope: Scope, priority: float, request: ChatRequest | EmbedRequest
    ) -> Future[Any]:
        """Return what will have the coordinator's answer to a request."""
        future: Future[Any] = Future()
        with self._changing():
            self._waiting[self._called] = scope, future
            self._call(scope, priority, request)
        if self.stop.is_set():
            self._end_waiting()
        self._is_due.set()
        return future

    def reject(self, scope: Scope, request: RejectRequest) -> None:
        """Have the coordinator report a reply of no use, before it is asked for another one."""
        with self._changing():
            self._call(scope, 0, request)

    def exchange(self, known: int, answers: Sequence[TaskAnswer]) -> TaskReport:
        """Take answers, and return what is new.

        Args:
            known: How many calls the coordinator knows.
            answers: Those that have come. One that came before changes nothing.
        """
        with self._lock:
            taken = [(each, self._waiting.pop(each.number, None)) for each in answers]
            self._calls = {number: call for number, call in self._calls.items() if number >= known}
            report = self.report()
        for each, waiting in taken:
            if waiting is None:
                continue
            scope, future = waiting
            for step, usage in each.usage.items():
                self._answered.add(step, usage)
                scope.scoped.models.meter.add(step, usage)
            if each.error is not None:
                scope.job.fail(each.error)
                future.set_exception(each.error)
            else:
                future.set_result(each.value)
        return report

    def report(self) -> TaskReport:
        """Return how far the task is now."""
        with self._lock:
            return TaskReport(
                dict(self._expected),
                dict(self._done),
                tuple(self._messages),
                tuple(self._calls.values()),
                tuple(number for scope, number in self._scopes.items() if scope.is_over),
            )

    def own_usage(self) -> dict[str, Usage]:
        """Return what was used beside the calls that the coordinator answered."""
        answered = self._answered.usage()
        return {
            step: usage - answered.get(step, Usage()) for step, usage in self.meter.usage().items()
        }

    @contextmanager
    def running(self) -> Iterator[None]:
        """Ring until the block ends. The first ring says that a worker has begun."""
        _TASKS[self.attempt] = self
        token = _TASK.set(self)
        threading.Thread(target=self._keep_ringing, name="fabula-task", daemon=True).start()
        try:
            with self.stop.calling(self._end_waiting):
                yield
        finally:
            _TASKS.pop(self.attempt, None)
            _TASK.reset(token)
            self._is_over = True
            self._is_due.set()

    @contextmanager
    def _changing(self) -> Iterator[None]:
        with self._lock:
            self._changes += 1
            yield

    def _call(
        self, scope: Scope, priority: float, request: ChatRequest | EmbedRequest | RejectRequest
    ) -> None:
        number, self._called = self._called, self._called + 1
        scope_number = self._scopes.setdefault(scope, len(self._scopes))
        self._calls[number] = TaskCall(number, scope_number, priority, request)

    def _end_waiting(self) -> None:
        """Fail what waits for answers, as the task was stopped."""
        with self._lock:
            waiting, self._waiting = self._waiting, {}
        for _, future in waiting.values():
            future.set_exception(Stopped())

    def _keep_ringing(self) -> None:
        rung, rung_at = -1, 0.0
        while not self._is_over:
            self._is_due.clear()
            if not self._is_wanted():
                self.stop.set()
            now = time.monotonic()
            if self._changes != rung or now - rung_at >= RING_AGAIN_SECONDS:
                rung, rung_at = self._changes, now
                self._ring(self.attempt)
            self._is_due.wait(REPORT_SECONDS)


class WorkerDriver(Driver):
    """Drives a build on a worker: the coordinator makes its calls, but for models that are here."""

    def __init__(
        self, scoped: Scoped[BuiltParts], job: TaskGroup, task: WorkerTask, *, embeds: bool
    ) -> None:
        super().__init__(scoped, job, task)
        self._task, self._embeds = task, embeds

    def submit(
        self, scope: Scope, priority: float, request: ChatRequest | EmbedRequest
    ) -> Future[Any]:
        """Have a request answered."""
        if not (self._embeds and isinstance(request, EmbedRequest)):
            return self._task.ask(scope, priority, request)
        here: Future[Any] = Future()
        try:
            here.set_result(answer(scope.scoped.models, request))
        except Exception as error:  # noqa: BLE001  raised where the build waits
            scope.job.fail(error)
            here.set_exception(error)
        return here

    def reject(self, scope: Scope, request: RejectRequest) -> None:
        """Report a reply of no use."""
        self._task.reject(scope, request)


_TASKS: dict[str, WorkerTask] = {}
"""The tasks of this process that are under way, by their attempts."""
_TASK: ContextVar[WorkerTask | None] = ContextVar("task", default=None)
"""The task that a thread works for."""


class _ReportingHandler(logging.Handler):
    """Sends what a task logs to the coordinator, which shows it to the user."""

    def emit(self, record: logging.LogRecord) -> None:
        if task := _TASK.get():
            task.log(record.levelno, record.getMessage())


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


def run_task(key: str, versions: Versions, request: bytes) -> bytes:
    """Do what a request says; Dask calls this in a thread of a worker.

    Args:
        key: The key of the task.
        versions: Those of the coordinator.
        request: A `TaskRequest`.

    Returns:
        A `TaskResult`.
    """
    worker = get_worker()
    # It may have joined after the run began.
    worker.loop.add_callback(stop_profiler, worker)

    def ring(attempt: str) -> None:
        worker.log_event(TOPIC, {"key": key, "attempt": attempt, "worker": worker.address})

    def is_wanted() -> bool:
        # The scheduler takes a task from its worker when the coordinator cancels it or has gone,
        # whether it was stopped, was killed or lost its network. Dask can't end the thread, so it
        # looks here.
        state = worker.state.tasks.get(key)
        return state is not None and state.state != "cancelled"

    _report_log()
    task = WorkerTask(ring, is_wanted)
    value, error = None, None
    try:
        if difference := find_other_versions(versions, worker.address):
            raise ClusterError(difference)
        with task.running():
            value = _do(pickle.loads(request), task)
    except MemoryError:
        raise  # another worker may have more
    except Exception as raised:  # noqa: BLE001  the coordinator raises it
        error = make_portable(raised)
    report = replace(task.report(), calls=())
    return pickle.dumps(
        TaskResult(task.attempt, value, error, report, task.own_usage()), protocol=5
    )


def _do(request: TaskRequest, task: WorkerTask) -> Document | BuiltParts:
    task.stop.check()
    work, settings = request.work, request.settings
    if isinstance(work, FileContent):
        return work.parse()
    if not request.is_local:
        # The coordinator's folder need not exist here.
        settings = settings.model_copy(update={"home": Settings.read().home})
    models = _open_models(pickle.dumps(settings)).models
    with TaskGroup(Workers(0), stop=task.stop) as job:
        build = open_build(work, models, task.meter)
        driver = WorkerDriver(build, job, task, embeds=not settings.embeds_by_endpoint)
        built: BuiltParts = driver.run()
        return built


@lru_cache(MAX_SETTINGS)
def _open_models(settings: bytes) -> ModelFactory:
    """Return the models of settings; those of this machine are loaded once for all tasks."""
    return ModelFactory(pickle.loads(settings))


def make_portable(error: Exception) -> Exception:
    """Return an error that can be pickled; what nobody foresaw carries its traceback as a note."""
    if not isinstance(error, FabulaError):
        error.add_note(f"On a worker:\n{traceback.format_exc()}")
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:  # noqa: BLE001  whatever its class does when it is pickled
        return RuntimeError(traceback.format_exc())
    return error


def exchange(attempt: str, known: int, answers: bytes) -> bytes:
    """Give a task answers, and return, pickled, its report; None for one that has ended.

    The coordinator calls this on the worker, by Dask, while the task runs.

    Args:
        attempt: The attempt.
        known: How many of its calls the coordinator knows.
        answers: The answers that have come, pickled.
    """
    task = _TASKS.get(attempt)
    report = task.exchange(known, pickle.loads(answers)) if task else None
    file = io.BytesIO()
    PromptPickler(file, protocol=5).dump(report)
    return file.getvalue()


class PromptPickler(pickle.Pickler):
    """Pickles prompts without what only a build needs, and schemas that were made at run time."""

    def reducer_override(self, value: Any) -> Any:
        """Return how a prompt is restored."""
        if not isinstance(value, Prompt) or not (value.schema or value.placeholder):
            return NotImplemented
        schema = value.schema and describe_schema(value.schema)
        return restore_prompt, (replace(value, schema=None, placeholder=None), schema)


@cache
def describe_schema(schema: type[BaseModel]) -> tuple[str, str]:
    """Return the name of a schema, and what it says."""
    return schema.__name__, json.dumps(schema.model_json_schema())


def restore_prompt(prompt: Prompt, schema: tuple[str, str] | None) -> Prompt:
    """Return a prompt with a schema that says what that of the worker says."""
    return replace(prompt, schema=schema and _restore_schema(*schema))


@cache
def _restore_schema(name: str, said: str) -> type[BaseModel]:
    def model_json_schema(cls: type[BaseModel]) -> dict[str, Any]:
        schema: dict[str, Any] = json.loads(said)
        return schema

    return type(name, (BaseModel,), {"model_json_schema": classmethod(model_json_schema)})


def dask_setup(worker: object) -> None:
    """Prepare a worker on the coordinator's machine; Dask calls this when the worker starts.

    A terminal sends Ctrl-C to all processes that a command has started. The coordinator ends the
    workers itself, so that they do not each print a traceback; nor do they log those of connections
    that end meanwhile, for which Dask's own `silence_logs` ends too early.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
