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
import statistics
import tempfile
import time
from collections.abc import Awaitable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TypeVar

import httpx2
import psutil

from fabula_bench.speed.books import book, questions
from fabula_bench.speed.evening import Diary, read
from fabula_bench.speed.report import Figure
from fabula_bench.speed.service import (
    GIVE_UP_SECONDS,
    Service,
    client,
    make_key,
    make_service,
    wait_until_ready,
)
from fabula_bench.speed.waiting import endpoint

READERS = 20
WORDS = 150_000
SHELF, VOLUME_WORDS = 3, 30_000
"""The books that are read."""
DIMENSIONS = 1536
CALL_SECONDS = 0.2
IDLE_SECONDS = 40.0
PAUSE_SECONDS = (0.5, 3.0)
SEARCH_GOAL = 1.0
ASK_GOAL = 1.0 + 2 * CALL_SECONDS
"""An answer asks the model twice, for a vector and for the text."""
BUILD_GOAL = 1.5
Waits = dict[str, list[float]]
Result = TypeVar("Result")


def measure(books: Path | None) -> list[Figure]:
    """Let readers and a build share a service."""
    with (
        tempfile.TemporaryDirectory(prefix="fabula-sharing-") as folder,
        endpoint(CALL_SECONDS, DIMENSIONS) as url,
    ):
        service = make_service(Path(folder), Path(folder) / "home", url)
        for number in range(SHELF):
            volume = Path(folder) / f"volume {number}.txt"
            volume.write_text(book(VOLUME_WORDS, books, number))
            service.run("ingest", str(volume))
        keys = [make_key(service, f"reader {number}", "read") for number in range(READERS)]
        admin = make_key(service, "operator", "admin")
        service.start()
        try:
            return [*asyncio.run(_live(service, keys, admin, books))]
        finally:
            with suppress(ProcessLookupError):
                service.stop()
            service.run("db", "stop")


async def _live(
    service: Service, keys: list[str], admin: str, books: Path | None
) -> Iterator[Figure]:
    await wait_until_ready(admin)
    texts = [book(WORDS, books, seed) for seed in (SHELF, SHELF + 1)]
    # Neo4j's Java compiles what it runs: the first questions and the first book take longer.
    await _read_while(_build(admin, book(WORDS // 2, books, SHELF + 2)), keys, {})
    alone = await _build(admin, texts[0])
    idle: Waits = {}
    await _read_while(asyncio.sleep(IDLE_SECONDS), keys, idle)
    busy: Waits = {}
    before = _processor_seconds(service)
    beside = await _read_while(_build(admin, texts[1]), keys, busy)
    after = _processor_seconds(service)
    return _tell(idle, busy, alone, beside, {name: after[name] - before[name] for name in after})


def _tell(
    idle: Waits, busy: Waits, alone: float, beside: float, processor: dict[str, float]
) -> Iterator[Figure]:
    goals = {"search": SEARCH_GOAL, "ask": ASK_GOAL}
    for kind, waits in sorted(busy.items()):
        note = (
            f"median {statistics.median(waits):.2f}, longest {max(waits):.2f}, {len(waits)} times"
        )
        yield Figure(f"{kind}, p95, no build", _p95(idle[kind]))
        yield Figure(f"{kind}, p95 beside a build", _p95(waits), goal=goals.get(kind), note=note)
    yield Figure("the book, nobody reads", alone)
    yield Figure("the book beside readers", beside, note=f"{beside / alone:.2f} x as long")
    yield Figure("times as long", beside / alone, "x", goal=BUILD_GOAL)
    for name, seconds in processor.items():
        yield Figure(f"processor of {name} in that time", seconds)


def _p95(waits: list[float]) -> float:
    return statistics.quantiles(waits, n=20)[-1]


def _processor_seconds(service: Service) -> dict[str, float]:
    assert service.process
    python = psutil.Process(service.process.pid)
    return {
        "the service": sum(python.cpu_times()[:2]),
        "Neo4j": sum(service.neo4j.cpu_times()[:2]),
    }


async def _read_while(work: Awaitable[Result], keys: list[str], waits: Waits) -> Result:
    over = asyncio.Event()
    words = questions(200)
    diary = Diary(waits)
    readers = [
        asyncio.create_task(
            read(
                key,
                words[number::READERS],
                over,
                diary,
                partial(random.Random(number).uniform, *PAUSE_SECONDS),
            )
        )
        for number, key in enumerate(keys)
    ]
    result = await work
    over.set()
    await asyncio.gather(*readers)
    assert not diary.failures, diary.failures
    return result


async def _build(admin: str, text: str) -> float:
    async with client(admin) as operator:
        body = {"text": text, "source": text[:40], "title": text[:40].strip()}
        began = time.perf_counter()
        response = await operator.post("/api/v1/collections/novels/documents", json=body)
        response.raise_for_status()
        job = f"/api/v1/jobs/{response.json()['id']}"
        state = ""
        while state not in ("succeeded", "failed", "paused"):
            await asyncio.sleep(0.5)
            with suppress(httpx2.TimeoutException):
                state = (await operator.get(job)).json()["state"]
            assert time.perf_counter() - began < 10 * GIVE_UP_SECONDS
        assert state == "succeeded", state
        return time.perf_counter() - began
