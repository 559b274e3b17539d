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
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np

from fabula.graph import Node, Part
from fabula_bench.speed.books import STORY
from fabula_bench.speed.children import address_of_environment, obey, start
from fabula_bench.speed.graphs import make_graph
from fabula_bench.speed.report import Figure, p95
from fabula_bench.speed.server import connected, environment, running
from fabula_bench.speed.service import client, endpoint, serving

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
Waits = Mapping[str, Sequence[float]]
"""The seconds that each kind of request took."""


@dataclass(frozen=True, slots=True)
class Request:
    """A request: a kind, by which its waits are kept, and how it is sent."""

    kind: str
    method: str
    path: str
    body: Mapping[str, str] | None = None


def measure(books: Path | None) -> list[Figure]:
    """Measure the longest and the usual wait of each kind of request, at rest and meanwhile."""
    with running() as address, endpoint(0.02, DIMENSIONS) as url:
        models = {"OPENAI_BASE_URL": url, "OPENAI_API_KEY": "sk-bench", "FABULA_CACHE": "false"}
        models |= {"FABULA_EMBEDDING_MODEL": MODEL, "FABULA_SERVE__REQUESTS_A_MINUTE": "1000000"}
        models |= {"FABULA_SERVE__ASKS_AT_ONCE": "100"}
        own = environment(address) | models
        subprocess.run([sys.executable, "-m", "fabula", "ingest", str(STORY)], env=own, check=True)
        with start("large_book", own, books or "") as writer, serving(own) as key:
            writer.hear()
            requests = asyncio.run(_requests(key))
            rest = partial(time.sleep, 10.0)
            asyncio.run(_wait(key, requests, rest))  # first of each is planned and compiled
            figures = [*_describe(asyncio.run(_wait(key, requests, rest)), "at rest: ")]
            for when, pause in MEANWHILE:
                began = time.perf_counter()
                waits = asyncio.run(_wait(key, requests, writer.work, pause))
                figures.append(Figure(f"{when}: writing it", time.perf_counter() - began))
                figures += _describe(waits, f"{when}: ", LONGEST_SECONDS)
    return figures


async def _requests(key: str) -> list[Request]:
    """Return one request of each kind."""
    async with client(key, COLLECTION_PATH) as reader:
        listed = (await reader.get("/documents")).raise_for_status().json()
        document = listed["rows"][0]["id"]
    pages = {
        "health": "/readyz",
        "key": "/api/v1/settings",
        "collections": "/api/v1/collections",
        "list": f"{COLLECTION_PATH}/documents",
        "read": f"{COLLECTION_PATH}/documents/{document}/text?start=0&end=4000",
        "shelf page": f"/c/{COLLECTION}",
        "reading page": f"/c/{COLLECTION}/d/{document}",
    }
    questions = {
        "search by meaning": ("search", {"mode": "naive"}),
        "search by words": ("search", {"mode": "hybrid"}),
        "search in a document": ("search", {"document": document}),
        "ask": ("ask", {}),
    }
    return [Request(kind, "GET", path) for kind, path in pages.items()] + [
        Request(kind, "POST", f"{COLLECTION_PATH}/{path}", {"question": QUESTION, **more})
        for kind, (path, more) in questions.items()
    ]


async def _wait(
    key: str, requests: Sequence[Request], work: Callable[[], object], pause: float = PAUSE_SECONDS
) -> Waits:
    """Send each kind of request again and again during a work, a pause after each answer."""
    waits: dict[str, list[float]] = {request.kind: [] for request in requests}
    is_over = False

    async def read(request: Request) -> None:
        async with client(key) as reader:
            while not is_over:
                began = time.perf_counter()
                response = await reader.request(request.method, request.path, json=request.body)
                response.raise_for_status()
                waits[request.kind].append(time.perf_counter() - began)
                await asyncio.sleep(pause)

    async with asyncio.TaskGroup() as readers:
        for request in requests:
            readers.create_task(read(request))
        await asyncio.to_thread(work)
        is_over = True
    return waits


def _describe(waits: Waits, when: str, longest: float | None = None) -> Iterator[Figure]:
    """Say how long each kind of request took, with a goal for the longest."""
    for kind, seconds in sorted(waits.items()):
        note = f"median {statistics.median(seconds):.3f}, {len(seconds)} requests"
        yield Figure(f"{when}{kind}, p95", p95(seconds))
        yield Figure(f"{when}{kind}, longest", max(seconds), goal=longest, note=note)


def _parts(books: Path | None) -> Sequence[Part]:
    """Return the parts of a large book, with vectors of as many dimensions as a model's."""
    rotation = np.linalg.qr(np.random.default_rng(5).standard_normal((DIMENSIONS, 256)))[0]

    def rotate(node: Node) -> Node:
        if node.embedding is None:
            return node
        return replace(node, embedding=(rotation @ node.embedding).astype(np.float32))

    return [
        replace(part, nodes=tuple(map(rotate, part.nodes)))
        for part in make_graph(NODES, COLLECTION, 1, books)
    ]


if __name__ == "__main__":
    with connected(address_of_environment()) as store:
        parts = _parts(Path(sys.argv[1]) if sys.argv[1] else None)
        store.prepare(COLLECTION, MODEL, DIMENSIONS)
        obey([partial(store.apply, parts, MODEL)] * len(MEANWHILE))
