"""Work on shared threads: urgent first, bounded, and stopped by the first failure."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextvars import ContextVar

import pytest

from fabula.errors import Stopped
from fabula.models.parallel import TaskGroup, Workers
from fabula.models.stop import Stop

PATIENCE = 60.0
"""Seconds for what takes none: against what never ends."""


@pytest.fixture
def one_worker() -> Iterator[Workers]:
    workers = Workers(1)
    yield workers
    workers.close()


def slept(seconds: float) -> float:
    time.sleep(seconds)
    return seconds


def test_results_come_in_the_order_of_the_items() -> None:
    workers = Workers(4)
    with TaskGroup(workers) as job:
        waits = [0.03, 0.0, 0.02, 0.01]
        assert job.each(0, slept, waits) == waits
    workers.close()


def test_urgent_work_overtakes_work_that_was_put_before(one_worker: Workers) -> None:
    done: list[str] = []
    gate = threading.Event()
    with TaskGroup(one_worker) as job:
        job.submit(0, gate.wait)
        late = job.submit(9, done.append, "details")
        soon = job.submit(1, done.append, "aspects")
        gate.set()
        late.result(PATIENCE)
        soon.result(PATIENCE)
    assert done == ["aspects", "details"]


def test_no_more_than_the_given_number_run_at_once() -> None:
    workers = Workers(3)
    running, most = 0, 0
    counting, together = threading.Lock(), threading.Barrier(3)

    def work(_: int) -> None:
        nonlocal running, most
        with counting:
            running += 1
            most = max(most, running)
        together.wait(PATIENCE)
        time.sleep(0.01)
        with counting:
            running -= 1

    with TaskGroup(workers) as job:
        job.each(0, work, range(21))
    workers.close()
    assert most == 3


def test_the_first_failure_is_raised_and_what_waits_is_not_begun(one_worker: Workers) -> None:
    begun: list[int] = []

    def work(item: int) -> None:
        begun.append(item)
        raise ValueError(f"item {item}")

    with pytest.raises(ValueError, match="item 0"), TaskGroup(one_worker) as job:
        job.each(0, work, range(5))
    assert begun == [0]


def test_one_job_that_fails_leaves_another_alone(one_worker: Workers) -> None:
    with pytest.raises(ZeroDivisionError), TaskGroup(one_worker) as job:
        job.each(0, lambda item: 1 // item, [0])
    with TaskGroup(one_worker) as job:
        assert job.each(0, abs, [-1, -2]) == [1, 2]


def test_a_job_within_another_stops_when_that_one_fails(one_worker: Workers) -> None:
    outer = TaskGroup(one_worker)
    inner = TaskGroup(one_worker, within=outer)
    assert inner.each(0, abs, [-1]) == [1]
    with pytest.raises(ZeroDivisionError):
        outer.each(0, lambda item: 1 // item, [0])
    with pytest.raises(ZeroDivisionError):
        inner.each(0, abs, [-2])
    assert TaskGroup(one_worker).each(0, abs, [-3]) == [3]


def test_whoever_waits_for_work_that_is_given_up_is_told_before_it_comes_up(
    one_worker: Workers,
) -> None:
    gate = threading.Event()
    busy = TaskGroup(one_worker).submit(0, gate.wait)
    stop = Stop()
    with pytest.raises(Stopped), TaskGroup(one_worker, stop=stop) as run:
        inner = TaskGroup(one_worker, within=run)
        threading.Timer(0.05, stop.set).start()
        inner.each(0, abs, [-1, -2])
    gate.set()
    assert busy.result(PATIENCE)
    assert TaskGroup(one_worker).each(0, abs, [-3]) == [3]


def test_a_job_settles_what_it_has_begun_and_not_the_work_of_others(one_worker: Workers) -> None:
    gate, began = threading.Event(), threading.Event()
    done: list[str] = []

    def work() -> None:
        began.set()
        time.sleep(0.1)
        done.append("own")

    stop = Stop()
    with pytest.raises(Stopped), TaskGroup(one_worker, stop=stop) as run:
        own = TaskGroup(one_worker, within=run).submit(0, work)
        TaskGroup(one_worker).submit(0, gate.wait)
        assert began.wait(PATIENCE)
        stop.set()
        run.wait_for_parts()
        assert done == ["own"]
        own.result(PATIENCE)
        run.submit(0, abs, -1).result(PATIENCE)
    gate.set()


def test_work_sees_the_context_of_whoever_asked_for_it(one_worker: Workers) -> None:
    request = ContextVar("request", default="")
    seen: list[list[str]] = []
    with TaskGroup(one_worker) as job:
        for name in ("first", "second"):
            request.set(name)
            seen.append(job.each(0, lambda _: request.get(), [1]))
    assert seen == [["first"], ["second"]]
