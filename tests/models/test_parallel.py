"""Work on shared threads: urgent first, bounded, and stopped by the first failure."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextvars import ContextVar

import pytest

from fabula.errors import Stopped
from fabula.models.parallel import Job, Workers
from fabula.models.stop import Stop


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
    with Job(workers) as job:
        waits = [0.03, 0.0, 0.02, 0.01]
        assert job.each(0, slept, waits) == waits
    workers.close()


def test_urgent_work_overtakes_work_that_was_put_before(one_worker: Workers) -> None:
    done: list[str] = []
    gate = threading.Event()
    with Job(one_worker) as job:
        job.submit(0, gate.wait)
        late = job.submit(9, done.append, "details")
        soon = job.submit(1, done.append, "aspects")
        gate.set()
        late.result(5)
        soon.result(5)
    assert done == ["aspects", "details"]


def test_no_more_than_the_given_number_run_at_once() -> None:
    workers = Workers(3)
    running, most = 0, 0
    counting = threading.Lock()

    def work(_: int) -> None:
        nonlocal running, most
        with counting:
            running += 1
            most = max(most, running)
        time.sleep(0.01)
        with counting:
            running -= 1

    with Job(workers) as job:
        job.each(0, work, range(20))
    workers.close()
    assert most == 3


def test_the_first_failure_is_raised_and_what_waits_is_not_begun(one_worker: Workers) -> None:
    begun: list[int] = []

    def work(item: int) -> None:
        begun.append(item)
        raise ValueError(f"item {item}")

    with pytest.raises(ValueError, match="item 0"), Job(one_worker) as job:
        job.each(0, work, range(5))
    assert begun == [0]


def test_one_job_that_fails_leaves_another_alone(one_worker: Workers) -> None:
    with pytest.raises(ZeroDivisionError), Job(one_worker) as job:
        job.each(0, lambda item: 1 // item, [0])
    with Job(one_worker) as job:
        assert job.each(0, abs, [-1, -2]) == [1, 2]


def test_a_step_that_waits_for_workers_does_not_occupy_one(one_worker: Workers) -> None:
    with Job(one_worker) as job:
        steps = [job.start(job.each, 0, abs, [-number]) for number in range(5)]
        assert [step.result(5) for step in steps] == [[number] for number in range(5)]


def test_a_failure_inside_a_step_reaches_whoever_waits_for_another_step(
    one_worker: Workers,
) -> None:
    def fails() -> None:
        raise ValueError("a model refused")

    with pytest.raises(ValueError, match="a model refused"), Job(one_worker) as job:
        broken = job.start(fails)
        with pytest.raises(ValueError, match="a model refused"):
            broken.result(5)
        job.each(0, abs, [1])


def test_a_job_within_another_stops_when_that_one_fails(one_worker: Workers) -> None:
    outer = Job(one_worker)
    inner = Job(one_worker, within=outer)
    assert inner.each(0, abs, [-1]) == [1]
    with pytest.raises(ZeroDivisionError):
        outer.each(0, lambda item: 1 // item, [0])
    with pytest.raises(ZeroDivisionError):
        inner.each(0, abs, [-2])
    assert Job(one_worker).each(0, abs, [-3]) == [3]


def test_whoever_waits_for_work_that_is_given_up_is_told_before_it_comes_up(
    one_worker: Workers,
) -> None:
    gate = threading.Event()
    busy = Job(one_worker).submit(0, gate.wait)
    stop = Stop()
    with pytest.raises(Stopped), Job(one_worker, stop=stop) as run:
        inner = Job(one_worker, within=run)
        threading.Timer(0.05, stop.set).start()
        inner.each(0, abs, [-1, -2])
    gate.set()
    assert busy.result(5)
    assert Job(one_worker).each(0, abs, [-3]) == [3]


def test_a_job_settles_what_it_has_begun_and_not_the_work_of_others(one_worker: Workers) -> None:
    gate, began = threading.Event(), threading.Event()
    done: list[str] = []

    def work() -> None:
        began.set()
        time.sleep(0.1)
        done.append("own")

    stop = Stop()
    with pytest.raises(Stopped), Job(one_worker, stop=stop) as run:
        own = Job(one_worker, within=run).submit(0, work)
        Job(one_worker).submit(0, gate.wait)
        assert began.wait(5)
        stop.set()
        run.wait_for_parts()
        assert done == ["own"]
        own.result(5)
        run.submit(0, abs, -1).result(5)
    gate.set()


def test_work_sees_the_context_of_whoever_asked_for_it(one_worker: Workers) -> None:
    request = ContextVar("request", default="")
    seen: list[list[str]] = []
    with Job(one_worker) as job:
        for name in ("first", "second"):
            request.set(name)
            seen.append(job.each(0, lambda _: request.get(), [1]))
            seen.append([job.start(request.get).result(5)])
    assert seen == [["first"], ["first"], ["second"], ["second"]]
