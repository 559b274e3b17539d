"""Threads for calls to models, in order of urgency, and jobs that succeed or fail as a whole."""

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
    priority: float
    number: int
    run: Callable[[], None] = field(compare=False)


class Workers:
    """A pool of at most `count` threads for calls to models; they are started as work arrives."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._tasks: queue.PriorityQueue[_Task] = queue.PriorityQueue()
        self._numbers = itertools.count()
        self._threads: list[threading.Thread] = []
        self._lock = threading.Lock()

    def put(self, priority: float, run: Callable[[], None]) -> None:
        """Let one of the threads call `run`; the lowest priority number goes first.

        It sees the context variables of the caller, so that its spans belong to the caller's trace.
        """
        context = copy_context()
        self._tasks.put(_Task(priority, next(self._numbers), lambda: context.run(run)))
        with self._lock:
            if len(self._threads) < self._count and self._tasks.qsize() > 0:
                thread = threading.Thread(target=self._work, name="fabula-worker", daemon=True)
                self._threads.append(thread)
                thread.start()

    def join(self) -> None:
        """Wait until all work is done, or dropped because its job has failed."""
        self._tasks.join()

    def close(self) -> None:
        """End the threads after the work that is waiting is done."""
        with self._lock:
            for _ in self._threads:
                self._tasks.put(_Task(10**9, next(self._numbers), _leave))
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
    """A task that ends the thread that takes it."""


class TaskGroup:
    """Work that succeeds or fails as a whole: after one failure, no waiting work begins.

    `each` must not be called from a worker: it would wait for itself.
    """

    def __init__(
        self, workers: Workers, within: TaskGroup | None = None, stop: Stop | None = None
    ) -> None:
        """Begin a job; it is used with `with`.

        Args:
            workers: The threads that do the work.
            within: The job that this one is a part of, and fails with.
            stop: Ends the job with Stopped when it is set.
        """
        self._workers = workers
        self._parent = within
        self._stop = stop
        self._failure: BaseException | None = None
        self._parts: WeakSet[TaskGroup] = WeakSet()
        self._waiting: set[Future[Any]] = set()
        self._begun_within = 0
        self._changed = threading.Condition()
        self._using = ExitStack()
        if within is not None:
            within._add_part(self)

    def __enter__(self) -> Self:
        if self._stop is not None:
            self._using.enter_context(self._stop.calling(lambda: self.fail(Stopped())))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with self._using:
            if error is not None:
                self.fail(error)

    def part(self) -> TaskGroup:
        """Return a job of the same workers that is a part of this one."""
        return TaskGroup(self._workers, within=self)

    @property
    def failure(self) -> BaseException | None:
        """The error of the work that failed first; None if none has."""
        return self._failure

    def submit(self, priority: float, work: Callable[..., Out], *values: Any) -> Future[Out]:
        """Call `work(*values)` on a worker."""
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

    def each(self, priority: float, work: Callable[[In], Out], items: Iterable[In]) -> list[Out]:
        """Call `work` for every item on the workers, and return the results in the items' order.

        Args:
            priority: The lowest number goes first, over all jobs of these workers.
            work: What is called with each item.
            items: Any values.

        Raises:
            BaseException: The error of the first item that failed.
        """
        # All are submitted before the first is waited for: that is what makes them parallel.
        futures = [self.submit(priority, work, item) for item in items]
        return [future.result() for future in futures]

    def wait_for_parts(self) -> None:
        """Wait until the work that this job's parts have begun on workers is done."""
        with self._changed:
            self._changed.wait_for(lambda: not self._begun_within)

    def _add_part(self, part: TaskGroup) -> None:
        with self._changed:
            failure = self._failure
            self._parts.add(part)
        if failure is not None:
            part.fail(failure)

    def fail(self, error: BaseException) -> None:
        """Fail all waiting work of this job and its parts at once.

        Otherwise the callers would wait until it comes up in the queue, behind other jobs' work.
        """
        with self._changed:
            self._failure = self._failure or error
            # Taken out under the lock, failed outside: a future calls back those who wait for it,
            # and they may ask this group for something.
            waiting, self._waiting = self._waiting, set()
            parts = [*self._parts]
        for future in waiting:
            future.set_exception(self._failure)
        for part in parts:
            part.fail(self._failure)

    def _begin(
        self, future: Future[Any], work: Callable[..., Any], values: tuple[Any, ...]
    ) -> None:
        """Do work that waited for a worker, unless it has failed meanwhile."""
        # Whoever takes it out of the set decides: this worker begins it, or `fail` has failed it.
        with self._changed:
            if future not in self._waiting:
                return
            self._waiting.remove(future)
            if self._parent:
                self._parent._count(1)
        try:
            self._run(future, work, values)
        finally:
            if self._parent:
                self._parent._count(-1)

    def _count(self, begun: int) -> None:
        with self._changed:
            self._begun_within += begun
            self._changed.notify_all()
        if self._parent:
            self._parent._count(begun)

    def _run(self, future: Future[Any], work: Callable[..., Any], values: tuple[Any, ...]) -> None:
        if (failure := self.failure) is not None:
            future.set_exception(failure)
            return
        try:
            future.set_result(work(*values))
        except BaseException as error:  # noqa: BLE001  the future passes it on
            self.fail(error)
            future.set_exception(error)
