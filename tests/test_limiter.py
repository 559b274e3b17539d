"""A limiter bounds calls over all threads, halves on a refusal and grows back."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from fabula.errors import ModelError
from fabula.providers.limiter import Limiter


def succeed(limiter: Limiter, times: int) -> None:
    for _ in range(times):
        with limiter.slot():
            pass


def refuse(limiter: Limiter, seconds: float = 0.0) -> None:
    with limiter.slot() as mark:
        limiter.slow_down(seconds, mark)


def test_never_more_calls_are_under_way_than_the_limit() -> None:
    limiter, lock = Limiter(3), threading.Lock()
    seen: list[int] = []
    now = [0]

    def call(_: int) -> None:
        with limiter.slot():
            with lock:
                now[0] += 1
                seen.append(now[0])
            time.sleep(0.002)
            with lock:
                now[0] -= 1

    with ThreadPoolExecutor(12) as pool:
        list(pool.map(call, range(60)))
    assert max(seen) == 3


def test_a_refusal_halves_the_limit_but_never_below_one() -> None:
    limiter = Limiter(5)
    limits = []
    for _ in range(4):
        refuse(limiter)
        limits.append(limiter.limit)
    assert limits == [2, 1, 1, 1]


def test_a_burst_of_refusals_halves_the_limit_once() -> None:
    limiter = Limiter(16)
    with limiter.slot() as one, limiter.slot() as two, limiter.slot() as three:
        for mark in (one, two, three):
            limiter.slow_down(0.0, mark)
    assert limiter.limit == 8


def test_as_many_answers_as_the_limit_raise_it_by_one_up_to_where_it_began() -> None:
    limiter = Limiter(4)
    refuse(limiter)
    assert limiter.limit == 2
    succeed(limiter, 1)
    assert limiter.limit == 2
    succeed(limiter, 1)
    assert limiter.limit == 3
    succeed(limiter, 3)
    assert limiter.limit == 4
    succeed(limiter, 20)
    assert limiter.limit == 4


def test_calls_that_fail_do_not_raise_the_limit() -> None:
    limiter = Limiter(2)
    refuse(limiter)
    for _ in range(5):
        with pytest.raises(ValueError, match="failed"), limiter.slot():
            raise ValueError("failed")
    assert limiter.limit == 1


def test_new_calls_wait_until_the_time_asked_for_has_passed() -> None:
    limiter = Limiter(4)
    refuse(limiter, 0.15)
    begun = time.monotonic()
    succeed(limiter, 1)
    assert 0.14 <= time.monotonic() - begun < 1.0


def test_a_failed_call_gives_its_turn_to_one_that_waits() -> None:
    limiter = Limiter(1)
    waited = threading.Event()

    def wait() -> None:
        with limiter.slot():
            waited.set()

    thread = threading.Thread(target=wait)
    with pytest.raises(ValueError, match="failed"), limiter.slot():
        thread.start()
        assert not waited.wait(0.05)
        raise ValueError("failed")
    assert waited.wait(2)
    thread.join()


def test_many_threads_get_through_refusals_and_end_with_every_turn_given_back() -> None:
    limiter = Limiter(8)

    def call(number: int) -> None:
        with limiter.slot() as mark:
            if number % 7 == 0:
                limiter.slow_down(0.002, mark)

    with ThreadPoolExecutor(24) as pool:
        list(pool.map(call, range(400)))
    succeed(limiter, 200)
    with ThreadPoolExecutor(8) as pool:
        together = threading.Barrier(8, timeout=5)

        def meet(_: int) -> None:
            with limiter.slot():
                together.wait()

        list(pool.map(meet, range(8)))


def test_closing_ends_every_wait_at_once() -> None:
    limiter = Limiter(1)
    refuse(limiter, 3600)
    waits = [lambda: succeed(limiter, 1), lambda: limiter.pause(3600)]
    with ThreadPoolExecutor(2) as pool:
        waiting = [pool.submit(wait) for wait in waits]
        time.sleep(0.05)
        limiter.close()
        for one in waiting:
            with pytest.raises(ModelError, match="stopped"):
                one.result(timeout=2)
    with pytest.raises(ModelError, match="stopped"):
        succeed(limiter, 1)
