"""Readers and a build that share one service: how long each waits for the other.

20 people with a key each search, ask and open pages of a shelf, 0.5 to 3 s after each reply, while
a large book comes in over the same service. They do so before it, too, and a book comes in while
nobody reads: what is told are the waits beside the waits of an idle service, and how much longer
the build takes. The endpoint answers in 200 ms. Only the ratios mean something on a
machine that does other work.
"""

from __future__ import annotations

import asyncio
import random
import tempfile
from functools import partial
from pathlib import Path

from fabula_bench.speed.books import book
from fabula_bench.speed.readers import SHELF, Diary, ask_and_read, bring_book, fill_shelf, reading
from fabula_bench.speed.report import Figure, cpu_seconds
from fabula_bench.speed.service import Service, client, endpoint, lived_in, make_service

READERS = 20
WORDS = 150_000
CALL_SECONDS = 0.2
IDLE_SECONDS = 40.0
PAUSE_SECONDS = (0.5, 3.0)
GOALS = {"search": 1.0, "ask": 1.0 + 2 * CALL_SECONDS}
"""An answer asks the model twice, for a vector and for the text."""
BUILD_GOAL = 1.5


def measure(books: Path | None) -> list[Figure]:
    """Let readers and a build share a service."""
    with (
        tempfile.TemporaryDirectory(prefix="fabula-sharing-") as folder,
        endpoint(CALL_SECONDS, 1536) as url,
    ):
        service = make_service(Path(folder), Path(folder) / "home", url)
        fill_shelf(service, Path(folder), books)
        with lived_in(service, READERS) as (keys, admin):
            return [*asyncio.run(_live(service, keys, admin, books))]


async def _live(service: Service, keys: list[str], admin: str, books: Path | None) -> list[Figure]:
    sizes = (WORDS // 2, WORDS, WORDS)
    warm, first, second = (book(words, books, SHELF + seed) for seed, words in enumerate(sizes))
    diaries = {name: Diary() for name in ("warm", "build", "idle", "busy")}
    people = ask_and_read(keys)
    pause = partial(random.Random(0).uniform, *PAUSE_SECONDS)
    async with client(admin) as operator:
        # Neo4j's Java compiles what it runs: the first questions and the first book take longer.
        async with reading(people, diaries["warm"], pause):
            await bring_book(operator, warm, "warm", diaries["warm"])
        alone = await bring_book(operator, first, "alone", diaries["build"])
        async with reading(people, diaries["idle"], pause):
            await asyncio.sleep(IDLE_SECONDS)
        processes = {"the service": service.python, "Neo4j": service.neo4j}
        before = {name: cpu_seconds(process) for name, process in processes.items()}
        async with reading(people, diaries["busy"], pause):
            beside = await bring_book(operator, second, "beside", diaries["build"])
    failures = [failure for diary in diaries.values() for failure in diary.failures]
    assert not failures, failures
    return [
        *diaries["idle"].describe_waits("no build: "),
        *diaries["busy"].describe_waits("beside a build: ", goals=GOALS),
        Figure("the book, nobody reads", alone),
        Figure("the book beside readers", beside),
        Figure("times as long", beside / alone, "x", goal=BUILD_GOAL),
        *(
            Figure(f"processor of {name} in that time", cpu_seconds(process) - before[name])
            for name, process in processes.items()
        ),
    ]
