"""Waiting, shared by threads: urgent work first, and none that its job no longer needs."""

from __future__ import annotations

import itertools
import queue
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from contextlib import ExitStack
from contextvars import copy_context
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self, TypeVar
from weakref import WeakSet

from fabula.errors import Stopped
from fabula.models.stop import Stop

In = TypeVar("In")
Out = TypeVar("Out")


@dataclass(order=True, slots=True)
class _Task:
    priority: int
    turn: int
    run: Callable[[], None] = field(compare=False)


class Workers:
    """At most `count` threads for calls to models; they are begun as work arrives."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._tasks: queue.PriorityQueue[_Task] = queue.PriorityQueue()
        self._turns = itertools.count()
        self._threads: list[threading.Thread] = []
        self._lock = threading.Lock()

    def put(self, priority: int, run: Callable[[], None]) -> None:
        """Has `run` called by one of the threads; the lowest priority number goes first.

        It sees the context variables of whoever puts it: whose request it is, to trace it.
        """
        context = copy_context()
        self._tasks.put(_Task(priority, next(self._turns), lambda: context.run(run)))
        with self._lock:
            if len(self._threads) < self._count and self._tasks.qsize() > 0:
                thread = threading.Thread(target=self._work, name="fabula-worker", daemon=True)
                self._threads.append(thread)
                thread.start()

    def settle(self) -> None:
        """Waits until all that was put is done, or dropped as its job has failed."""
        self._tasks.join()

    def close(self) -> None:
        """Ends the threads when what was put before is done."""
        with self._lock:
            for _ in self._threads:
                self._tasks.put(_Task(10**9, next(self._turns), _leave))
            self._threads.clear()

    def _work(self) -> None:
        while True:
            task = self._tasks.get()
            try:
                if task.run is _leave:
                    return
                task.run()
            finally:
                self._tasks.task_done()


def _leave() -> None:
    """What ends a worker."""


class Job:
    """Work that succeeds or fails together: once a part has failed, what waits is not begun.

    `each` and `submit` use the shared `workers` and must not be called from one; `start` gives a
    step that itself waits for workers a thread of its own, so that no step can block another.
    A job that is part of another, `within`, fails with it. `stop` fails it with Stopped, while it
    is used with `with`.
    """

    def __init__(
        self, workers: Workers, within: Job | None = None, stop: Stop | None = None
    ) -> None:
        self._workers = workers
        self._within = within
        self._stop = stop
        self._failure: BaseException | None = None
        self._steps: list[threading.Thread] = []
        self._parts: WeakSet[Job] = WeakSet()
        self._waiting: set[Future[Any]] = set()
        self._begun_within = 0
        self._changed = threading.Condition()
        self._using = ExitStack()
        if within is not None:
            within._take(self)

    def __enter__(self) -> Self:
        if self._stop is not None:
            self._using.enter_context(self._stop.telling(lambda: self._fail(Stopped())))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with self._using:
            if error is not None:
                self._fail(error)
                return
            for step in self._steps:
                step.join()

    @property
    def failure(self) -> BaseException | None:
        """Why what waits is not begun; None while all goes well."""
        return self._failure

    def submit(self, priority: int, work: Callable[..., Out], *values: Any) -> Future[Out]:
        """`work(*values)` on a worker."""
        future: Future[Out] = Future()
        with self._changed:
            failure = self._failure
            if failure is None:
                self._waiting.add(future)
        if failure is not None:
            future.set_exception(failure)
        else:
            self._workers.put(priority, lambda: self._begin(future, work, values))
        return future

    def each(self, priority: int, work: Callable[[In], Out], items: Iterable[In]) -> list[Out]:
        """`work` for every item on the workers, in their order; the first failure is raised."""
        futures = [self.submit(priority, work, item) for item in items]
        return [future.result() for future in futures]

    def start(self, step: Callable[..., Out], *values: Any) -> Future[Out]:
        """`step(*values)` in a thread of its own, which sees the context variables of here."""
        future: Future[Out] = Future()
        thread = threading.Thread(
            target=copy_context().run,
            args=(self._settle, future, step, values),
            name="fabula-step",
            daemon=True,
        )
        self._steps.append(thread)
        thread.start()
        return future

    def settle(self) -> None:
        """Waits until what jobs within this one have begun on workers is done."""
        with self._changed:
            self._changed.wait_for(lambda: not self._begun_within)

    def _take(self, part: Job) -> None:
        with self._changed:
            failure = self._failure
            self._parts.add(part)
        if failure is not None:
            part._fail(failure)

    def _fail(self, error: BaseException) -> None:
        """Nothing more of it is begun, nor of its parts; whoever waits for that is told at once.

        What waits in the queue behind other jobs' work would else be waited for until it came up.
        """
        with self._changed:
            self._failure = self._failure or error
            waiting, self._waiting = self._waiting, set()
            parts = [*self._parts]
        for future in waiting:
            future.set_exception(self._failure)
        for part in parts:
            part._fail(self._failure)

    def _begin(
        self, future: Future[Any], work: Callable[..., Any], values: tuple[Any, ...]
    ) -> None:
        """Does what waited for a worker, unless it was given up meanwhile."""
        with self._changed:
            if future not in self._waiting:
                return
            self._waiting.remove(future)
            if self._within:
                self._within._count(1)
        try:
            self._settle(future, work, values)
        finally:
            if self._within:
                self._within._count(-1)

    def _count(self, begun: int) -> None:
        with self._changed:
            self._begun_within += begun
            self._changed.notify_all()
        if self._within:
            self._within._count(begun)

    def _settle(
        self, future: Future[Any], work: Callable[..., Any], values: tuple[Any, ...]
    ) -> None:
        if (failure := self.failure) is not None:
            future.set_exception(failure)
            return
        try:
            future.set_result(work(*values))
        except BaseException as error:  # noqa: BLE001  the future carries it to whoever waits
            self._fail(error)
            future.set_exception(error)
