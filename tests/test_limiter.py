"""A limiter bounds calls over all threads, and paces them as the endpoint allows."""

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
    with pytest.raises(ValueError, match="refused"), limiter.slot() as call:
        limiter.refused(call, seconds)
        raise ValueError("refused")


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
    assert waited.wait(30)
    thread.join()


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
                one.result(timeout=30)
    with pytest.raises(ModelError, match="stopped"):
        succeed(limiter, 1)


def test_calls_that_are_late_halve_how_many_are_made_at_once_and_only_once_a_burst() -> None:
    limiter = Limiter(16)
    with pytest.raises(ValueError, match="late"), limiter.slot() as one, limiter.slot() as two:
        limiter.late(one)
        limiter.late(two)
        raise ValueError("late")
    assert limiter.rate_limit.ceiling == 8
