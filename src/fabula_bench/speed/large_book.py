"""How long readers wait while a large book is switched in, and while it is replaced.

A book of 13,600 nodes with embeddings of 1,536 dimensions is put into the graph by a process of its
own, three times, each time in the place of the last. Meanwhile each kind of request is sent to a
running `fabula serve`: health, list, search by meaning and by words, ask, read, page. A client of
each kind waits 100 ms after its answer, which keeps two cores busy by itself; the third time it
waits a second. The figure that counts is the longest wait of each kind. Neo4j is the private server
with its default heap. The embeddings are those of the static model, rotated into 1,536 dimensions,
which keeps their cosines.
"""

from __future__ import annotations

import asyncio
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import IO

import httpx2
import numpy as np

from fabula.config.model_factory import ModelFactory
from fabula.graph import Part
from fabula.server import Address
from fabula.store import Store
from fabula_bench.speed.books import STORY
from fabula_bench.speed.graphs import Library, offline
from fabula_bench.speed.report import Figure
from fabula_bench.speed.server import environment, running
from fabula_bench.speed.service import URL, client, serving
from fabula_bench.speed.waiting import endpoint

NODES = 13_600
DIMENSIONS = 1536
MODEL = "text-embedding-3-small"
COLLECTION = "default"
COLLECTION_PATH = f"/api/v1/collections/{COLLECTION}"
PAUSE_SECONDS = 0.1
"""Between an answer and the next request of its kind."""
MEANWHILE = (
    ("while it comes in", PAUSE_SECONDS),
    ("while it is replaced", PAUSE_SECONDS),
    ("while it is replaced, one request a second", 1.0),
)
"""What the figures are called, and the pause of the clients."""
LONGEST_SECONDS = 1.0
QUESTION = "Why does Scrooge change his mind about Christmas?"

Send = Callable[[httpx2.AsyncClient], Awaitable[None]]


def measure(books: Path | None) -> list[Figure]:
    """Measure the longest and the usual wait of each kind of request, at rest and meanwhile."""
    with running() as address, endpoint(0.02, DIMENSIONS) as url:
        models = {"OPENAI_BASE_URL": url, "OPENAI_API_KEY": "sk-bench", "FABULA_CACHE": "false"}
        models |= {"FABULA_EMBEDDING_MODEL": MODEL, "FABULA_SERVE__REQUESTS_A_MINUTE": "1000000"}
        models |= {"FABULA_SERVE__ASKS_AT_ONCE": "100"}
        own = environment(address) | models
        subprocess.run([sys.executable, "-m", "fabula", "ingest", str(STORY)], env=own, check=True)
        with _writer(own, books) as writer, serving(own) as (_, key):
            requests = asyncio.run(_requests(key))
            asyncio.run(_poll(key, requests, 10.0))  # first of each is planned and compiled
            figures = list(_waits("at rest", asyncio.run(_poll(key, requests, 10.0))))
            for when, pause in MEANWHILE:
                waits, seconds = asyncio.run(_poll_meanwhile(key, requests, writer, pause))
                figures.append(Figure(f"{when}: writing it", seconds))
                figures += _waits(when, waits, LONGEST_SECONDS)
    return figures


def _waits(when: str, waits: dict[str, list[float]], goal: float | None = None) -> Iterator[Figure]:
    for kind, seconds in waits.items():
        note = f"median {statistics.median(seconds):.3f}, {len(seconds)} requests"
        yield Figure(f"{when}: {kind}, longest", max(seconds), goal=goal, note=note)


async def _requests(key: str) -> dict[str, Send]:
    """Return one request of each kind."""
    async with client(key, COLLECTION_PATH) as reader:
        listed = (await reader.get("/documents")).raise_for_status().json()
        document = listed["rows"][0]["id"]

    def get(path: str) -> Send:
        async def send(reader: httpx2.AsyncClient) -> None:
            _refuse_failed(await reader.get(f"{URL}{path}"))

        return send

    def post(path: str, body: dict[str, object]) -> Send:
        async def send(reader: httpx2.AsyncClient) -> None:
            _refuse_failed(await reader.post(path, json=body))

        return send

    return {
        "health": get("/readyz"),
        "key": get("/api/v1/modes"),
        "collections": get("/api/v1/collections"),
        "list": get(f"{COLLECTION_PATH}/documents"),
        "search by meaning": post("/search", {"question": QUESTION, "mode": "naive"}),
        "search by words": post("/search", {"question": QUESTION, "mode": "hybrid"}),
        "search in a document": post("/search", {"question": QUESTION, "document": document}),
        "ask": post("/ask", {"question": QUESTION}),
        "read": get(f"{COLLECTION_PATH}/documents/{document}/text?start=0&end=4000"),
        "shelf page": get(f"/c/{COLLECTION}"),
        "reading page": get(f"/c/{COLLECTION}/d/{document}"),
    }


def _refuse_failed(response: httpx2.Response) -> None:
    if response.is_error:
        raise RuntimeError(f"{response.url}: {response.status_code} {response.text[:500]}")


async def _poll(key: str, requests: dict[str, Send], seconds: float) -> dict[str, list[float]]:
    until = time.perf_counter() + seconds
    return await _poll_while(key, requests, PAUSE_SECONDS, lambda: time.perf_counter() < until)


async def _poll_meanwhile(
    key: str, requests: dict[str, Send], writer: subprocess.Popen[str], pause: float
) -> tuple[dict[str, list[float]], float]:
    """Send requests while the writer puts the book in; their waits, and the writer's seconds."""
    assert writer.stdin and writer.stdout
    _say(writer.stdin)
    done = asyncio.create_task(asyncio.to_thread(writer.stdout.readline))
    waits = await _poll_while(key, requests, pause, lambda: not done.done())
    return waits, float(json.loads(await done)["seconds"])


async def _poll_while(
    key: str, requests: dict[str, Send], pause: float, is_on: Callable[[], bool]
) -> dict[str, list[float]]:
    """Return the seconds that each kind of request waited, sent one after the other."""
    waits: dict[str, list[float]] = {kind: [] for kind in requests}

    async def poll(kind: str, reader: httpx2.AsyncClient) -> None:
        while is_on():
            began = time.perf_counter()
            await requests[kind](reader)
            waits[kind].append(time.perf_counter() - began)
            await asyncio.sleep(pause)

    async with client(key, COLLECTION_PATH) as reader:
        await asyncio.gather(*(poll(kind, reader) for kind in requests))
    return waits


@contextmanager
def _writer(own: dict[str, str], books: Path | None) -> Iterator[subprocess.Popen[str]]:
    """A process with a large book, which puts it in at each line it is given."""
    command = [sys.executable, "-m", "fabula_bench.speed.large_book", str(books or "")]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, env=own, stdin=pipe, stdout=pipe, text=True) as process:
        assert process.stdout
        process.stdout.readline()
        try:
            yield process
        finally:
            process.terminate()


def _say(stream: IO[str]) -> None:
    stream.write("\n")
    stream.flush()


def _versions(books: Path | None) -> Sequence[Sequence[Part]]:
    """Return the parts of a large book, as often as they are written."""
    with closing(ModelFactory(offline())) as kit:
        library = Library(kit, books)
        made = [library.graph(NODES, COLLECTION, seed=1)]
    rotation = np.linalg.qr(np.random.default_rng(5).standard_normal((DIMENSIONS, 256)))[0]
    rotated = [
        replace(
            part,
            nodes=tuple(
                node
                if node.embedding is None
                else replace(node, embedding=(rotation @ node.embedding).astype(np.float32))
                for node in part.nodes
            ),
        )
        for part in made[0]
    ]
    return [rotated] * len(MEANWHILE)


def write() -> None:
    """Put the versions of the book in, one at each line of standard input; tell the seconds."""
    own = os.environ
    books = Path(sys.argv[1]) if sys.argv[1] else None
    address = Address(own["NEO4J_URI"], "", own["NEO4J_USERNAME"], own["NEO4J_PASSWORD"])
    with Store.connect(address.uri, address.username, address.password, "neo4j") as store:
        versions = _versions(books)
        store.prepare(COLLECTION, MODEL, DIMENSIONS)
        _say(sys.stdout)
        for parts in versions:
            sys.stdin.readline()
            began = time.perf_counter()
            store.apply(parts, MODEL)
            sys.stdout.write(json.dumps({"seconds": time.perf_counter() - began}))
            _say(sys.stdout)


if __name__ == "__main__":
    write()
