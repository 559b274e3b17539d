"""The service under load: the time it adds to an answer, questions at once, search, and memory.

`fabula serve` runs as a process of its own beside a Neo4j of the benchmark's and, for answers, the
tests' endpoint at 200 ms a call. Clients are one asynchronous process: this one, on the same cores,
so that throughput is what a machine does that also plays a hundred readers.
"""

from __future__ import annotations

import asyncio
import statistics
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import httpx2

from fabula import Fabula
from fabula.config.settings import STATIC
from fabula.server import Address
from fabula_bench.speed.books import STORY, questions
from fabula_bench.speed.graphs import make_graph
from fabula_bench.speed.report import Figure, p95
from fabula_bench.speed.server import connected, environment, running
from fabula_bench.speed.service import Service, client, endpoint, serving

AT_ONCE = (1, 10, 50, 100)
EACH = 100
"""Questions asked with so many at once; at 1, fewer."""
ALONE = 20
OVERHEAD = 0.015
SLOWEST_SEARCH = 0.1
PASSAGES = 20_000
LONG = 20_000
"""Questions after which memory is to be as it was."""
WARM = 2_000
GROWTH = 1.1

Asked = tuple[float, float]
"""Seconds of one question: until its first token, and until its end."""
Ask = Callable[[httpx2.AsyncClient, str], Awaitable[Asked]]


def measure(books: Path | None) -> list[Figure]:
    """What the service adds, bears and keeps."""
    with running() as address, endpoint(0.2) as url:
        figures = _answers(address, url)
    with running() as address:
        return figures + _search(address, books)


def _answers(address: Address, url: str) -> list[Figure]:
    models = {"OPENAI_BASE_URL": url, "OPENAI_API_KEY": "sk-bench", "FABULA_CACHE": "false"}
    # More at once than a limiter of the default lets through would measure the limiter.
    models |= {"FABULA_CONCURRENCY": "128", "FABULA_SERVE__ASKS_AT_ONCE": "1000"}
    models |= {"FABULA_SERVE__REQUESTS_A_MINUTE": "1000000"}
    own = environment(address) | models
    subprocess.run([sys.executable, "-m", "fabula", "ingest", str(STORY)], env=own, check=True)
    sentences = questions(EACH)
    alone = statistics.median(_library(address, url, sentences[:ALONE]))
    figures = [Figure("library: first token", alone)]
    with serving(own) as (service, key):
        for at_once in AT_ONCE:
            figures += _load(key, sentences, at_once)
        figures.append(Figure("memory", _memory(service) / 2**20, "MiB"))
    over = figures[1].value - alone
    return [*figures, Figure("added until the first token", over, goal=OVERHEAD)]


def _library(address: Address, url: str, questions: Sequence[str]) -> Iterator[float]:
    """Seconds until the first token of each question, without a service."""
    reach: dict[str, Any] = {"neo4j_uri": address.uri, "neo4j_username": address.username}
    reach |= {"neo4j_password": address.password, "base_url": url, "api_key": "sk-bench"}
    with Fabula(cache=False, **reach) as fabula:
        for number, question in enumerate(["Who is it?", *questions]):
            began = time.perf_counter()
            stream = fabula.stream(question)
            next(iter(stream))
            seconds = time.perf_counter() - began
            _ = stream.answer
            if number:
                yield seconds


def _load(key: str, questions: Sequence[str], at_once: int) -> list[Figure]:
    chosen = questions[: ALONE if at_once == 1 else EACH]
    done, seconds, failed = asyncio.run(_together(key, chosen, at_once, _ask))
    name = f"{at_once} at once"
    first, whole = zip(*done, strict=True)
    return [
        Figure(f"{name}, first token p50", statistics.median(first)),
        Figure(f"{name}, answer p50", statistics.median(whole)),
        Figure(f"{name}, answer p95", p95(whole)),
        Figure(f"{name}, throughput", len(done) / seconds, "/s"),
        Figure(f"{name}, errors", failed, "", goal=0),
    ]


def _search(address: Address, books: Path | None) -> list[Figure]:
    own = environment(address) | {"FABULA_MODEL": "offline", "FABULA_EMBEDDING_MODEL": STATIC}
    own |= {"FABULA_SERVE__REQUESTS_A_MINUTE": "10000000", "FABULA_SERVE__ASKS_AT_ONCE": "1000"}
    with connected(address) as store:
        store.prepare("default", STATIC, 256)
        for seed in range(5):
            store.apply(make_graph(PASSAGES // 5, "default", seed, books), STATIC)
    sentences = questions(EACH, books)
    figures = []
    with serving(own) as (service, key):
        # Neo4j plans each statement when it first meets it, and Java compiles what is asked often.
        asyncio.run(_together(key, sentences * 5, 2, _find))
        for at_once in (1, 2, 4, 8, 16, 32):
            done, seconds, failed = asyncio.run(_together(key, sentences * 2, at_once, _find))
            whole = [whole for _, whole in done]
            name = f"search, {at_once} at once"
            figures += [
                Figure(f"{name}, p50", statistics.median(whole)),
                Figure(f"{name}, p95", p95(whole), goal=SLOWEST_SEARCH if at_once < 4 else None),
                Figure(f"{name}, throughput", len(done) / seconds, "/s"),
                Figure(f"{name}, errors", failed, "", goal=0),
            ]
            if p95(whole) > SLOWEST_SEARCH:
                break
        asyncio.run(_together(key, (sentences * WARM)[:WARM], 4, _find))
        warm = _memory(service)
        asyncio.run(_together(key, (sentences * LONG)[:LONG], 4, _find))
        figures += [
            Figure(f"memory after {WARM:,} questions", warm / 2**20, "MiB"),
            Figure(f"memory after {LONG:,} more", _memory(service) / 2**20, "MiB"),
            Figure("growth", _memory(service) / warm, "x", goal=GROWTH),
        ]
    return figures


async def _together(
    key: str, questions: Sequence[str], at_once: int, ask: Ask
) -> tuple[list[Asked], float, int]:
    """Asks all, so many at once: what each took, seconds of all, and how many failed."""
    done: list[Asked] = []
    failed = 0
    left = iter(questions)
    async with client(key, "/api/v1/collections/default") as reader_client:

        async def reader() -> None:
            nonlocal failed
            for question in left:
                try:
                    done.append(await ask(reader_client, question))
                except (httpx2.HTTPError, ValueError):
                    failed += 1

        began = time.perf_counter()
        await asyncio.gather(*(reader() for _ in range(at_once)))
        return done, time.perf_counter() - began, failed


async def _ask(client: httpx2.AsyncClient, question: str) -> Asked:
    began, first = time.perf_counter(), 0.0
    headers = {"Accept": "text/event-stream"}
    body = {"question": question}
    async with client.stream("POST", "/ask", json=body, headers=headers) as response:
        response.raise_for_status()
        async for line in response.aiter_lines():
            if line == "event: token" and not first:
                first = time.perf_counter() - began
            if line == "event: error":
                raise ValueError("the answer failed")
    return first, time.perf_counter() - began


async def _find(client: httpx2.AsyncClient, question: str) -> Asked:
    began = time.perf_counter()
    response = await client.post("/search", json={"question": question})
    response.raise_for_status()
    seconds = time.perf_counter() - began
    return seconds, seconds


def _memory(service: Service) -> int:
    """Bytes that the service takes up."""
    return int(service.python.memory_info().rss)
