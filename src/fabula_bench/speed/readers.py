"""People who use a service for as long as something is measured, and what they meet."""

from __future__ import annotations

import asyncio
import statistics
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from itertools import cycle
from pathlib import Path
from typing import Any

import httpx2

from fabula_bench.speed.books import book, questions
from fabula_bench.speed.report import Figure, p95
from fabula_bench.speed.service import GIVE_UP_SECONDS, Service, client

SHELF_PATH = "/api/v1/collections/default"
"""The collection that is read; books come into NOVELS_PATH."""
NOVELS_PATH = "/api/v1/collections/novels"
SHELF, VOLUME_WORDS = 3, 30_000
"""The books that are read."""
Person = tuple[str, Iterator["Request"]]
"""The key of somebody, and what they ask, one after the other."""
OVER = ("succeeded", "failed", "cancelled", "paused")


@dataclass
class Diary:
    """What people met: the seconds that each kind of request took, and how often they were told
    to come again, found nobody, or were refused for good."""

    waits: dict[str, list[float]] = field(default_factory=dict)
    sent_away: int = 0
    unreachable: int = 0
    failures: list[str] = field(default_factory=list)

    def note(self, event: str) -> None:
        """Tell of an event as it happens."""
        sys.stderr.write(f"{time.strftime('%H:%M:%S')} {event}\n")

    @contextmanager
    def time(self, kind: str) -> Iterator[None]:
        """Keep the seconds of a request."""
        began = time.perf_counter()
        try:
            yield
        finally:
            self.waits.setdefault(kind, []).append(time.perf_counter() - began)

    def describe_waits(
        self, when: str = "", longest: float | None = None, goals: Mapping[str, float] = {}
    ) -> Iterator[Figure]:
        """How long they waited, with a goal for the longest wait, and goals for the p95 by kind."""
        for kind, seconds in sorted(self.waits.items()):
            note = f"median {statistics.median(seconds):.3f}, {len(seconds)} requests"
            yield Figure(f"{when}{kind}, p95", p95(seconds), goal=goals.get(kind))
            yield Figure(f"{when}{kind}, longest", max(seconds), goal=longest, note=note)

    def describe(self) -> Iterator[Figure]:
        """What it was like."""
        yield from self.describe_waits()
        yield Figure("told to come again", self.sent_away, "")
        yield Figure("found nobody", self.unreachable, "")
        note = "; ".join(self.failures[:5])
        yield Figure("requests that failed", len(self.failures), "", goal=0, note=note)


async def send(
    person: httpx2.AsyncClient, diary: Diary, method: str, path: str, **given: Any
) -> httpx2.Response:
    """Send a request as a patient client does: again where it is told to, or finds nobody."""
    until = time.monotonic() + GIVE_UP_SECONDS
    while time.monotonic() < until:
        try:
            response = await person.request(method, path, **given)
        except httpx2.HTTPError:
            diary.unreachable += 1
            await asyncio.sleep(1)
            continue
        if response.status_code not in (429, 503):
            return response
        diary.sent_away += 1
        await asyncio.sleep(float(response.headers.get("Retry-After", 1)))
    raise TimeoutError(f"nobody answered {method} {path}")


@dataclass(frozen=True, slots=True)
class Request:
    """What somebody asks of a service: a kind, by which its waits are kept, and how it is sent."""

    kind: str
    method: str
    path: str
    body: Mapping[str, str] | None = None


def ask_and_read(keys: Sequence[str]) -> list[Person]:
    """Return people who ask, search, and open lists and pages of the shelf, in turn."""
    words = questions(200)

    def requests(number: int) -> Iterator[Request]:
        for question in cycle(words[number :: len(keys)]):
            body = {"question": question}
            yield Request("ask", "POST", f"{SHELF_PATH}/ask", body)
            yield Request("search", "POST", f"{SHELF_PATH}/search", body)
            yield Request("list", "GET", f"{SHELF_PATH}/documents")
            yield Request("page", "GET", "/c/default")

    return [(key, requests(number)) for number, key in enumerate(keys)]


@asynccontextmanager
async def reading(
    people: Sequence[Person], diary: Diary, pause: Callable[[], float]
) -> AsyncIterator[None]:
    """Let people send their requests, each the next one so many seconds after a reply.

    They go home at the end.
    """
    over = asyncio.Event()
    readers = [
        asyncio.create_task(_read(key, requests, over, diary, pause)) for key, requests in people
    ]
    try:
        yield
    finally:
        over.set()
        await asyncio.gather(*readers)


async def _read(
    key: str,
    requests: Iterator[Request],
    over: asyncio.Event,
    diary: Diary,
    pause: Callable[[], float],
) -> None:
    async with client(key) as reader:
        while not over.is_set():
            request = next(requests)
            given = {"json": request.body} if request.body else {}
            try:
                with diary.time(request.kind):
                    response = await send(reader, diary, request.method, request.path, **given)
                    if response.is_error:
                        raise ValueError(f"{response.status_code} {response.text}")
            except (ValueError, TimeoutError) as error:
                diary.failures.append(f"{request.kind}: {error}"[:200])
            with suppress(TimeoutError):
                await asyncio.wait_for(over.wait(), pause())


def fill_shelf(service: Service, folder: Path, books: Path | None) -> None:
    """Ingest the books that are read."""
    for number in range(SHELF):
        volume = folder / f"volume {number}.txt"
        volume.write_text(book(VOLUME_WORDS, books, number))
        service.run("ingest", str(volume))


async def bring_book(writer: httpx2.AsyncClient, text: str, title: str, diary: Diary) -> float:
    """Send a book, wait until it is there, and return the seconds that it took."""
    body = {"text": text, "source": title, "title": title}
    headers = {"Idempotency-Key": title}
    began = time.perf_counter()
    with diary.time("send a book"):
        sent = await send(
            writer, diary, "POST", f"{NOVELS_PATH}/documents", json=body, headers=headers
        )
    path = f"/api/v1/jobs/{sent.raise_for_status().json()['id']}"
    while (job := (await send(writer, diary, "GET", path)).json()).get("state") not in OVER:
        await asyncio.sleep(0.5)
    if job["state"] != "succeeded":
        diary.failures.append(f"a job {job['state']}: {job.get('problem')}")
    return time.perf_counter() - began
