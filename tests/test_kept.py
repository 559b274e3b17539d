"""What is made of whole graphs is made once a version, and a few of it are kept."""

from __future__ import annotations

import gc
import threading
import time
import weakref
from functools import partial

import pytest

from fabula.store.kept import Kept


def test_it_is_made_once_a_version() -> None:
    kept, made = Kept(2), iter(range(9))
    assert [kept.get("a", version, lambda: next(made)) for version in (1, 1, 2, 2, 1)] == [
        0, 0, 1, 1, 2,
    ]  # fmt: skip


def test_what_was_asked_for_least_lately_goes_first() -> None:
    kept = Kept(2)
    made: list[str] = []
    for key in ("a", "b", "a", "c", "a", "c", "b"):
        kept.get(key, 1, partial(made.append, key))
    assert made == ["a", "b", "c", "b"]


def test_what_is_forgotten_is_let_go_and_made_again() -> None:
    kept = Kept(2)
    gone = weakref.ref(kept.get("a", 1, lambda: {1}))
    kept.forget("a")
    kept.forget("never there")
    gc.collect()
    assert gone() is None
    assert kept.get("a", 1, lambda: {2}) == {2}


def test_where_making_fails_nothing_is_kept() -> None:
    kept = Kept(2)
    for key in range(9):
        with pytest.raises(ZeroDivisionError):
            kept.get(key, 1, lambda: 1 / 0)
    assert not kept._making
    assert kept.get(0, 1, lambda: 1) == 1


def test_threads_that_ask_at_once_wait_for_the_first() -> None:
    kept, made = Kept(2), []

    def make() -> int:
        time.sleep(0.05)
        made.append(1)
        return len(made)

    found: list[int] = []
    threads = [
        threading.Thread(target=lambda: found.append(kept.get("a", 1, make))) for _ in range(5)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [1] * 5
