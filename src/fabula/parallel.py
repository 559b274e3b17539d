"""Waiting, shared by threads: urgent work first, and none that its job no longer needs."""

from __future__ import annotations

import itertools
import queue
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self, TypeVar

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
        """Has `run` called by one of the threads; the lowest priority number goes first."""
        self._tasks.put(_Task(priority, next(self._turns), run))
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
    A job that is part of another, `within`, fails with it.
    """

    def __init__(self, workers: Workers, within: Job | None = None) -> None:
        self._workers = workers
        self._within = within
        self._failure: BaseException | None = None
        self._steps: list[threading.Thread] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if error is not None:
            self._failure = self._failure or error
            return
        for step in self._steps:
            step.join()

    @property
    def failure(self) -> BaseException | None:
        """Why what waits is not begun; None while all goes well."""
        return self._failure or (self._within.failure if self._within else None)

    def submit(self, priority: int, work: Callable[..., Out], *values: Any) -> Future[Out]:
        """`work(*values)` on a worker."""
        future: Future[Out] = Future()
        self._workers.put(priority, lambda: self._settle(future, work, values))
        return future

    def each(self, priority: int, work: Callable[[In], Out], items: Iterable[In]) -> list[Out]:
        """`work` for every item on the workers, in their order; the first failure is raised."""
        futures = [self.submit(priority, work, item) for item in items]
        return [future.result() for future in futures]

    def start(self, step: Callable[..., Out], *values: Any) -> Future[Out]:
        """`step(*values)` in a thread of its own."""
        future: Future[Out] = Future()
        thread = threading.Thread(
            target=self._settle, args=(future, step, values), name="fabula-step", daemon=True
        )
        self._steps.append(thread)
        thread.start()
        return future

    def _settle(
        self, future: Future[Any], work: Callable[..., Any], values: tuple[Any, ...]
    ) -> None:
        if (failure := self.failure) is not None:
            future.set_exception(failure)
            return
        try:
            future.set_result(work(*values))
        except BaseException as error:  # noqa: BLE001  the future carries it to whoever waits
            self._failure = self._failure or error
            future.set_exception(error)
