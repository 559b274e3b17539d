"""The two ends of a task's cache: what a worker asks of the coordinator, and what it hands over."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from caches import OpenCache
from fabula.build.worker_replies import CoordinatorCache, apply_changes
from fabula.errors import Stopped
from fabula.models import Reply
from fabula.models.stop import Stop

PATIENCE = 60.0
ONE, TWO = b"1" * 32, b"2" * 32


def waiting_cache(stop: Stop) -> tuple[CoordinatorCache, threading.Event]:
    """A task's cache, and what is set when it has something to report."""
    reported = threading.Event()
    return CoordinatorCache(reported.set, stop), reported


def test_a_task_waits_for_what_the_coordinator_has() -> None:
    cache, reported = waiting_cache(Stop())
    with ThreadPoolExecutor(1) as pool:
        found = pool.submit(cache.find, [ONE, TWO])
        assert reported.wait(PATIENCE)
        assert {*cache.wanted} == {ONE, TWO}
        cache.exchange(0, {ONE: b"one", b"other": b"not asked for"})
        assert not found.done()
        cache.exchange(0, {TWO: None})
        assert found.result(PATIENCE) == {ONE: b"one"}
    assert cache.wanted == ()


def test_a_stop_ends_the_waiting() -> None:
    stop = Stop()
    cache, reported = waiting_cache(stop)
    with ThreadPoolExecutor(1) as pool:
        found = pool.submit(cache.find, [ONE])
        assert reported.wait(PATIENCE)
        stop.set()
        with pytest.raises(Stopped):
            found.result(PATIENCE)


def test_a_task_knows_its_own_replies_and_keeps_them_until_they_are_acknowledged() -> None:
    cache, reported = waiting_cache(Stop())
    cache.save([(ONE, "chat", "m", b"one"), (TWO, "chat", "m", b"two")])
    cache.forget(TWO)
    assert cache.find([ONE, TWO]) == {ONE: b"one"}
    assert not reported.is_set()
    _, changes = cache.exchange(0, {})
    assert len(changes) == cache.changes == 3
    # The answer was lost on the way: it is given again, until it is acknowledged.
    assert cache.exchange(0, {}) == (0, changes)
    assert cache.exchange(2, {}) == cache.remaining() == (2, changes[2:])
    assert cache.changes == 3


def test_changes_are_made_in_their_order(open_cache: OpenCache, tmp_path: Path) -> None:
    task, _ = waiting_cache(Stop())
    task.save_reply(ONE, "m", Reply("first", 5, 1))
    task.forget(ONE)
    task.save_reply(TWO, "m", Reply("two", 5, 1))
    task.save_reply(ONE, "m", Reply("second", 5, 1))
    task.forget(TWO)
    cache = open_cache(tmp_path)
    apply_changes(cache, task.remaining()[1])
    assert cache.reply(ONE) == Reply("second", 5, 1, cached=True)
    assert cache.reply(TWO) is None
