"""What a file of batches says of answers that nobody has used."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Any

from fabula.models.batch_store import BatchStore, CollectedCall
from fabula.models.usage import Usage

URL = "http://127.0.0.1/v1"


def call(id: str) -> CollectedCall:
    return CollectedCall(id, "/chat/completions", "m", {"messages": [id]}, 10, owner="ada")


def answer(sent: int, received: int) -> tuple[int, Any]:
    return 200, {"usage": {"prompt_tokens": sent, "completion_tokens": received}}


def test_answers_are_unbooked_until_a_build_counts_them(tmp_path: Path) -> None:
    with closing(BatchStore(tmp_path)) as store:
        for id in ("a", "b", "c", "d"):
            store.collect(URL, call(id))
        [number] = store.plan(["a", "b", "c", "d"])
        assert store.find_unbooked() == {}
        answers = {"a": answer(100, 20), "b": answer(50, 5), "c": (200, {}), "d": (500, {})}
        store.receive(number, answers, ())
        # One that does not say what it cost counts with what it sent; one that failed is free.
        assert store.find_unbooked() == {"m": Usage(3, 160, 25).batched}
        assert store.count_once("a")
        assert store.find_unbooked() == {"m": Usage(2, 60, 5).batched}
        store.settle(["a", "b", "c"])
        assert store.find_unbooked() == {}


def test_calls_that_are_made_directly_are_in_no_batch(tmp_path: Path) -> None:
    with closing(BatchStore(tmp_path)) as store:
        for id in ("a", "b", "c"):
            store.collect(URL, call(id))
        store.plan(["a"])
        unsent = [(id, "/chat/completions", 10) for id in ("b", "c")]
        assert sorted(store.find_unsent(["a", "b", "c"])) == unsent
        store.drop(["a", "b"])
        assert store.find_unsent(["a", "b", "c"]) == unsent[1:]
        assert store.is_waiting("a")
