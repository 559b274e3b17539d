"""What is derived from a collection is made once a revision, and kept within a limit of bytes."""

from __future__ import annotations

import gc
import threading
import time
import weakref
from functools import partial

import numpy as np
import pytest
from scipy.sparse import csr_array

from fabula.store.derived_values import CacheUsage, DerivedValues, measure


def test_it_is_made_once_a_revision() -> None:
    kept, made = DerivedValues(1000), iter(range(9))
    assert [kept.get("a", revision, lambda: next(made)) for revision in (1, 1, 2, 2, 1)] == [
        0, 0, 1, 1, 2,
    ]  # fmt: skip


def test_what_was_asked_for_least_lately_goes_first() -> None:
    kept = DerivedValues(2 * size("a"))
    made: list[str] = []

    def make(key: str) -> str:
        made.append(key)
        return text(key)

    for key in ("a", "b", "a", "c", "a", "c", "b"):
        assert kept.get(key, 1, partial(make, key)) == text(key)
    assert made == ["a", "b", "c", "b"]
    assert kept.usage() == CacheUsage(2, 2 * size("a"), hits=3, misses=4)


def text(key: str) -> str:
    return key * 1000


def size(key: str) -> int:
    return measure((key, 1, text(key)))


def test_many_small_ones_stay_and_a_large_one_pushes_out_none() -> None:
    kept = DerivedValues(100 * (size("a") + len("small 99")))
    made: list[str] = []

    def make(key: str, size: int) -> str:
        made.append(key)
        return "x" * size

    small = [f"small {number}" for number in range(100)]
    for _ in range(3):
        for key in small:
            kept.get(key, 1, partial(make, key, 1000))
        kept.get("giant", 1, partial(make, "giant", 1_000_000))
    assert made == [*small, "giant"], "each is made once, the giant too"
    kept.get("another giant", 1, partial(make, "another giant", 1_000_000))
    kept.get("giant", 1, partial(make, "giant", 1_000_000))
    assert made[101:] == ["another giant", "giant"], "of two giants one stays"
    assert kept.usage().values == 101


def test_the_size_of_a_value_is_that_of_all_it_holds() -> None:
    array = np.zeros((1000, 100), np.float32)
    assert 400_000 <= measure(array) < 401_000
    assert 400_000 <= measure(array[:, :]) < 802_000, "a view keeps its array"
    assert 800_000 <= measure({"a": (array, [array.copy()])}) < 802_000
    assert 400_000 <= measure((array, array)) < 401_000, "the same one twice is one"
    matrix = csr_array(np.eye(5000))
    held = matrix.data.nbytes + matrix.indices.nbytes + matrix.indptr.nbytes
    assert held <= measure(matrix) < 1.1 * held + 10_000
    assert measure([str(number) for number in range(10_000)]) > 10_000 * 50
    assert measure(DerivedValues) < 10_000, "nothing is reached through a class"


def test_what_is_forgotten_is_let_go_and_made_again() -> None:
    kept = DerivedValues(1000)
    gone = weakref.ref(kept.get("a", 1, lambda: {1}))
    found = kept.find("a")
    assert found and (found.revision, found.value) == (1, {1})
    del found
    kept.forget("a")
    kept.forget("never there")
    gc.collect()
    assert gone() is None and kept.find("a") is None and kept.usage().bytes == 0
    assert kept.get("a", 1, lambda: {2}) == {2}


def test_where_making_fails_nothing_is_kept() -> None:
    kept = DerivedValues(1000)
    for key in range(9):
        with pytest.raises(ZeroDivisionError):
            kept.get(key, 1, lambda: 1 / 0)
    assert not kept._making
    assert kept.get(0, 1, lambda: 1) == 1


def test_threads_that_ask_at_once_wait_for_the_first() -> None:
    kept, made = DerivedValues(1000), []

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


def test_a_key_that_is_forgotten_or_evicted_while_it_is_made_is_made_once() -> None:
    kept, made = DerivedValues(2 * size("a")), []
    begun, forgotten = threading.Event(), threading.Event()

    def make() -> str:
        made.append(1)
        begun.set()
        assert forgotten.wait(5)
        return "made"

    found: list[str] = []
    threads = [
        threading.Thread(target=lambda: found.append(kept.get("a", 1, make))) for _ in range(3)
    ]
    kept.save("a", 0, "outdated")
    for thread in threads:
        thread.start()
    assert begun.wait(5)
    kept.forget("a")
    kept.get("b", 1, lambda: text("b"))
    kept.get("c", 1, lambda: text("c"))
    forgotten.set()
    for thread in threads:
        thread.join()
    assert (found, made) == (["made"] * 3, [1])


def test_what_is_saved_replaces_what_was_there_and_counts_once() -> None:
    kept = DerivedValues(1000)
    for revision in range(9):
        kept.save("a", revision, [revision])
    found = kept.find("a")
    assert found and (found.revision, found.value) == (8, [8])
    assert kept.usage() == CacheUsage(1, found.size, hits=0, misses=0)
    kept.save("a", 9, text("giant"))
    kept.save("a", 10, [10])
    assert kept.usage() == CacheUsage(1, found.size, hits=0, misses=0)
