"""A limiter bounds calls over all threads, and paces them as the endpoint allows."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from fabula.errors import ModelError, Stopped
from fabula.models import limiter as limiting
from fabula.models.limiter import Limiter
from fabula.models.purpose import Purpose
from fabula.models.stop import Stop

pytestmark = pytest.mark.waits

PATIENCE = 60.0
"""Seconds for what takes none: against what never ends."""


def succeed(limiter: Limiter, times: int) -> None:
    for _ in range(times):
        with limiter.slot():
            pass


def refuse(limiter: Limiter, seconds: float = 0.0) -> None:
    with pytest.raises(ValueError, match="refused"), limiter.slot() as call:
        limiter.report_refusal(call, seconds)
        raise ValueError("refused")


def test_never_more_calls_are_under_way_than_the_limit() -> None:
    limiter, lock, together = Limiter(3), threading.Lock(), threading.Barrier(3)
    seen: list[int] = []
    now = [0]

    def call(_: int) -> None:
        with limiter.slot():
            with lock:
                now[0] += 1
                seen.append(now[0])
            together.wait(PATIENCE)
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
    assert waited.wait(PATIENCE)
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
                one.result(timeout=PATIENCE)
    with pytest.raises(ModelError, match="stopped"):
        succeed(limiter, 1)


def test_calls_that_are_late_halve_how_many_are_made_at_once_and_only_once_a_burst() -> None:
    limiter = Limiter(16)
    with pytest.raises(ValueError, match="late"), limiter.slot() as slot, limiter.slot() as two:
        limiter.report_lateness(slot)
        limiter.report_lateness(two)
        raise ValueError("late")
    assert limiter.rate_limit.ceiling == 8


def test_a_question_goes_before_builds_that_have_waited_longer() -> None:
    limiter, order = Limiter(1), []

    def ask(name: str, purpose: Purpose) -> None:
        with limiter.slot(purpose):
            order.append(name)

    waiting_for = [("build", Purpose()), ("build", Purpose()), ("question", Purpose(urgent=True))]
    with ThreadPoolExecutor(3) as pool, limiter.slot():
        for prompt in waiting_for:
            pool.submit(ask, *prompt)
            time.sleep(0.05)
        late = time.monotonic() + PATIENCE
        while not limiter._urgent_waiting:
            assert time.monotonic() < late, "the question does not wait"
            time.sleep(0.005)
    assert order == ["question", "build", "build"]


def lets_begin(limiter: Limiter, builds: int) -> bool:
    """Whether it lets so many calls of builds begin at once, and no more."""
    stop, begun = Stop(), threading.Semaphore(0)

    def build() -> None:
        with pytest.raises(Stopped), limiter.slot(Purpose(stop=stop)):
            begun.release()
            limiter.pause(60, Purpose(stop=stop))

    with ThreadPoolExecutor(32) as pool:
        done = [pool.submit(build) for _ in range(32)]
        have_begun = all(begun.acquire(timeout=PATIENCE) for _ in range(builds))
        one_more = begun.acquire(timeout=0.2)
        stop.set()
        for one in done:
            one.result(timeout=PATIENCE)
    return have_begun and not one_more


@pytest.mark.parametrize(("most", "kept"), [(1, 0), (2, 1), (8, 1), (16, 2)])
def test_turns_are_kept_from_builds_while_questions_are_asked(
    most: int, kept: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    limiter = Limiter(most)
    assert lets_begin(limiter, most)
    with limiter.slot(Purpose(urgent=True)):
        pass
    assert lets_begin(limiter, most - kept)
    monkeypatch.setattr(limiting, "RESERVED_SECONDS", 0.0)
    assert lets_begin(limiter, most)


def test_a_stop_ends_the_waits_of_its_caller_alone() -> None:
    limiter, stop = Limiter(1), Stop()
    purpose = Purpose(stop=stop)

    def enter() -> None:
        with limiter.slot(purpose):
            pass

    with ThreadPoolExecutor(3) as pool:
        with limiter.slot():
            waiting = [
                pool.submit(enter),
                pool.submit(limiter.pause, 3600, purpose),
            ]
            other = pool.submit(succeed, limiter, 1)
            time.sleep(0.05)
            stop.set()
            for each in waiting:
                with pytest.raises(Stopped):
                    each.result(timeout=PATIENCE)
            assert not other.done()
        other.result(timeout=PATIENCE)
    with pytest.raises(Stopped):
        enter()
