"""What is made of whole graphs is made once a version, and a few of it are kept."""

from __future__ import annotations

import gc
import threading
import time
import weakref
from functools import partial

import numpy as np
import pytest
from scipy.sparse import csr_array

from fabula.store.kept import Kept, Usage, measure


def test_it_is_made_once_a_version() -> None:
    kept, made = Kept(1000), iter(range(9))
    assert [kept.get("a", version, lambda: next(made)) for version in (1, 1, 2, 2, 1)] == [
        0, 0, 1, 1, 2,
    ]  # fmt: skip


def test_what_was_asked_for_least_lately_goes_first() -> None:
    kept = Kept(2 * measure(text("a")))
    made: list[str] = []

    def make(key: str) -> str:
        made.append(key)
        return text(key)

    for key in ("a", "b", "a", "c", "a", "c", "b"):
        assert kept.get(key, 1, partial(make, key)) == text(key)
    assert made == ["a", "b", "c", "b"]
    assert kept.usage() == Usage(2, 2 * measure(text("a")), hits=3, misses=4)


def text(key: str) -> str:
    return key * 1000


def test_many_small_ones_stay_and_a_large_one_pushes_out_none() -> None:
    kept = Kept(100 * measure(text("a")))
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
    assert measure(Kept) < 10_000, "nothing is reached through a class"


def test_what_is_forgotten_is_let_go_and_made_again() -> None:
    kept = Kept(1000)
    gone = weakref.ref(kept.get("a", 1, lambda: {1}))
    kept.forget("a")
    kept.forget("never there")
    gc.collect()
    assert gone() is None
    assert kept.get("a", 1, lambda: {2}) == {2}


def test_where_making_fails_nothing_is_kept() -> None:
    kept = Kept(1000)
    for key in range(9):
        with pytest.raises(ZeroDivisionError):
            kept.get(key, 1, lambda: 1 / 0)
    assert not kept._making
    assert kept.get(0, 1, lambda: 1) == 1


def test_threads_that_ask_at_once_wait_for_the_first() -> None:
    kept, made = Kept(1000), []

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
