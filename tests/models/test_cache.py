"""The response cache: what was paid for once is there, whatever threads and processes do."""

from __future__ import annotations

import sqlite3
import threading
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from caches import OpenCache
from cases import for_each
from fabula.graphs.aspects.schemas import AspectsReply, DetailsReply, aspects_reply
from fabula.models import Prompt, Reply
from fabula.models.cache import ResponseCache, chat_key, embedding_key
from fabula.models.endpoint.address import normalize_url
from keeping import ASKED, KEY, SAID, URL, keeper, rows

# The keys


@for_each(
    "other",
    [
        replace(ASKED, system="Be long."),
        replace(ASKED, user="Who lives?"),
        replace(ASKED, system="", user="Be brief.Who is dead?"),
        replace(ASKED, max_tokens=101),
        replace(ASKED, temperature=0.6),
        replace(ASKED, schema=DetailsReply),
        replace(ASKED, schema=AspectsReply),
        replace(ASKED, schema=aspects_reply(("plot",))),
        replace(ASKED, schema=aspects_reply(("plot", "style"))),
        replace(ASKED, user="Who is dead?\ud800"),
        replace(ASKED, user="Who is dead?\0"),
    ],
)
def test_each_part_of_a_request_makes_another_key(other: Prompt) -> None:
    assert chat_key(URL, "m", other) != KEY
    assert len(chat_key(URL, "m", other)) == 32


def test_what_was_paid_for_by_earlier_versions_is_still_found() -> None:
    """The keys of November 2026: another one would have everybody pay again."""
    keys = [chat_key(URL, "m", prompt).hex() for prompt in (ASKED, replace(ASKED, sample=1))]
    assert keys == [
        "041f15f2832652626d5b30d2b537257b3f30254079156a58d8464b0b3acd7dff",
        "2def41e96091da68e06ff8dc40e716cbe34aae0a6385f53b377bf0705bd77774",
    ]


def test_schemas_of_one_name_and_other_lists_are_told_apart() -> None:
    keys = {
        chat_key(URL, "m", replace(ASKED, schema=schema))
        for schema in (None, AspectsReply, aspects_reply(("plot",)), aspects_reply(("style",)))
    }
    assert len(keys) == 4


def test_models_are_told_apart_and_corrections_are_not() -> None:
    assert chat_key(URL, "other", ASKED) != KEY
    assert chat_key(URL, "m", replace(ASKED, correction="That was no JSON.")) == KEY
    assert chat_key(URL, "m", replace(ASKED, temperature=1)) == chat_key(
        URL, "m", replace(ASKED, temperature=1.0)
    )
    others = (embedding_key(URL, "f", "text"), embedding_key(URL, "e", "t"))
    assert embedding_key(URL, "e", "text") not in others


def test_endpoints_are_told_apart_and_ways_to_write_one_are_not() -> None:
    urls = ("http://LocalHost:80/v1/", "http://localhost/v1", "HTTP://localhost:80/v1")
    other = normalize_url("http://localhost:8000/v1")
    assert len({chat_key(normalize_url(url), "m", ASKED) for url in urls}) == 1
    assert chat_key(other, "m", ASKED) != chat_key(normalize_url(urls[0]), "m", ASKED)
    assert embedding_key(other, "e", "text") != embedding_key(normalize_url(urls[0]), "e", "text")
    assert normalize_url("https://User:Pass@[::1]:443/V1") == "https://User:Pass@[::1]/V1"
    assert normalize_url(None) == normalize_url("https://api.openai.com:443/v1/")


# What is kept


def test_a_reply_comes_back_as_it_was_marked_as_cached(cache: ResponseCache) -> None:
    assert cache.reply(KEY) is None
    cache.save_reply(KEY, "m", SAID)
    assert cache.reply(KEY) == replace(SAID, cached=True)
    cache.save_reply(KEY, "m", Reply("Scrooge.", 12, 3))
    assert cache.reply(KEY) == Reply("Scrooge.", 12, 3, cached=True)
    cache.forget(KEY)
    assert cache.reply(KEY) is None


@pytest.mark.parametrize(
    "text", ["", "a\0b", "half \ud800 a pair", "猫 e\u0301 \u202e", "x" * 10**6]
)
def test_any_text_is_kept(cache: ResponseCache, text: str) -> None:
    cache.save_reply(KEY, "m", Reply(text))
    assert cache.reply(KEY) == Reply(text, cached=True)


def test_vectors_come_back_byte_for_byte(cache: ResponseCache) -> None:
    kept = rows(1, 40)
    cache.save_vectors("e", kept)
    found = cache.vectors([*kept, b"x" * 32])
    assert found.keys() == kept.keys()
    for key, row in kept.items():
        assert found[key].dtype == np.float32
        assert found[key].tobytes() == row.tobytes()


def test_nothing_is_made_before_something_is_kept(cache: ResponseCache, tmp_path: Path) -> None:
    assert cache.reply(KEY) is None
    assert cache.vectors([KEY]) == {}
    assert (cache.info().replies, cache.info().bytes) == (0, 0)
    cache.clear()
    assert not (tmp_path / "kept").exists()


def test_info_counts_and_clear_deletes(cache: ResponseCache) -> None:
    cache.save_reply(KEY, "m", SAID)
    cache.save_vectors("e", rows(1, 200))
    found = cache.info()
    assert (found.replies, found.vectors, found.models) == (1, 200, {"e": 200, "m": 1})
    assert found.bytes > 200 * 64 * 4
    cache.clear()
    left = cache.info()
    assert (left.replies, left.vectors, left.models, left.bytes) == (0, 0, {}, 0)
    cache.save_reply(KEY, "m", SAID)
    assert cache.reply(KEY)


def made_older(cache: ResponseCache, days: int) -> None:
    """Let everything that is in the cache be older."""
    cache.close()
    with closing(sqlite3.connect(cache.info().path)) as connection, connection:
        connection.execute("UPDATE day SET day = day - ?", (days,))


def saved(cache: ResponseCache, seed: int, count: int) -> list[dict[bytes, np.ndarray]]:
    """Vectors of 1 MB each that were saved in turn."""
    batches = [rows(seed + n, 128, 2048) for n in range(count)]
    for batch in batches:
        cache.save_vectors("e", batch)
    return batches


def test_beyond_its_limit_the_oldest_vectors_are_evicted_and_no_reply(tmp_path: Path) -> None:
    with closing(ResponseCache(tmp_path, max_bytes=10_000_000)) as cache:
        cache.save_reply(KEY, "m", SAID)
        old = saved(cache, 0, 9)
        made_older(cache, 3)
        new = saved(cache, 100, 8)
        assert [len(cache.vectors([*batch])) for batch in new] == [128] * 8
        left = [len(cache.vectors([*batch])) for batch in old]
        assert left == sorted(left)
        assert left[0] == 0
        assert left[-1] == 128
        assert cache.reply(KEY)
        cache.close()
        assert cache.info().bytes < 12_000_000


def test_what_was_saved_within_a_day_is_kept_beyond_the_limit_and_evicted_later(
    tmp_path: Path,
) -> None:
    with closing(ResponseCache(tmp_path, max_bytes=3_000_000)) as cache:
        run = saved(cache, 0, 9)
        made_older(cache, 1)
        last = saved(cache, 100, 1)
        assert [len(cache.vectors([*batch])) for batch in run + last] == [128] * 10
        assert cache.info().bytes > 9_000_000
        made_older(cache, 1)
        for n in range(20):
            cache.save_reply(chat_key(URL, "m", replace(ASKED, user=str(n))), "m", SAID)
        cache.close()
        assert cache.info().bytes < 4_000_000


def test_replies_are_evicted_once_no_vector_is_left(tmp_path: Path) -> None:
    texts = [np.random.default_rng(n).bytes(40_000).hex() for n in range(30)]
    keys = [chat_key(URL, "m", replace(ASKED, user=str(n))) for n in range(30)]
    with closing(ResponseCache(tmp_path, max_bytes=500_000)) as cache:
        for key, text in zip(keys[:29], texts, strict=False):
            cache.save_reply(key, "m", Reply(text))
        made_older(cache, 2)
        cache.save_reply(keys[29], "m", Reply(texts[29]))
        assert [key for key in keys if cache.reply(key)] == keys[29:]


def test_what_is_older_is_deleted_and_its_space_is_given_back(cache: ResponseCache) -> None:
    assert cache.delete_older(1) == 0
    old = saved(cache, 0, 5)
    assert cache.delete_older(1) == 0
    made_older(cache, 10)
    new = saved(cache, 100, 1)
    assert cache.delete_older(10) == 0
    assert cache.delete_older(9) == 5 * 128
    assert not cache.vectors([key for batch in old for key in batch])
    assert len(cache.vectors([*new[0]])) == 128
    cache.close()
    assert cache.info().bytes < 2_000_000


def test_processes_that_evict_at_once_keep_what_is_new(tmp_path: Path) -> None:
    with closing(ResponseCache(tmp_path, max_bytes=3_000_000)) as first:
        saved(first, 0, 9)
        made_older(first, 3)
        with closing(ResponseCache(tmp_path, max_bytes=3_000_000)) as second:
            kept = [each for n in range(6) for each in saved((first, second)[n % 2], 100 + n, 1)]
            assert [len(second.vectors([*batch])) for batch in kept] == [128] * 6


def test_a_closed_cache_keeps_what_arrives_late(cache: ResponseCache) -> None:
    cache.save_reply(KEY, "m", SAID)
    cache.close()
    assert cache.reply(KEY)


def test_another_process_may_clear_it_at_any_time(
    cache: ResponseCache, open_cache: OpenCache
) -> None:
    cache.save_reply(KEY, "m", SAID)
    other = open_cache(cache.info().path.parent)
    other.clear()
    assert cache.reply(KEY) is None
    cache.save_reply(KEY, "m", SAID)
    assert other.reply(KEY)
    other.close()


def test_the_folder_may_be_deleted_at_any_time(cache: ResponseCache, open_cache: OpenCache) -> None:
    cache.save_reply(KEY, "m", SAID)
    for file in cache.info().path.parent.iterdir():
        file.unlink()
    cache.info().path.parent.rmdir()
    assert cache.reply(KEY) is None
    cache.save_reply(KEY, "m", SAID)
    assert open_cache(cache.info().path.parent).reply(KEY)


# Threads and processes


def test_threads_share_a_cache(cache: ResponseCache) -> None:
    wrong: list[int] = []

    def work(number: int) -> None:
        for n in range(50):
            key = chat_key(URL, "m", replace(ASKED, user=f"{number} {n}"))
            cache.save_reply(key, "m", Reply(f"{number} {n}"))
            if cache.reply(key) != Reply(f"{number} {n}", cached=True):
                wrong.append(n)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert cache.info().replies == 400


def test_processes_that_begin_and_write_at_once_lose_nothing(cache: ResponseCache) -> None:
    running = [keeper(cache, name, 100) for name in "abc"]
    for process in running:
        _, complaints = process.communicate(timeout=300)
        assert (process.returncode, complaints) == (0, "")
    found = cache.info()
    assert (found.replies, found.vectors) == (300, 300 * 16)


def test_what_a_killed_process_kept_is_there(cache: ResponseCache) -> None:
    with keeper(cache, "a", 100_000) as process:
        assert process.stdout
        numbers = [int(process.stdout.readline()) for _ in range(200)]
        process.kill()
    for n in numbers:
        prompt = Prompt("", f"a {n}", 1, 0)
        assert cache.reply(chat_key(URL, "m", prompt)) == Reply(f"a {n}", cached=True)
        assert (
            len(cache.vectors([embedding_key(URL, "e", f"a {n} {row}") for row in range(16)])) == 16
        )
