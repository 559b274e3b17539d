"""An operator's evening: 30 readers ask while a book of the size of War and Peace comes in, and
everything that can go wrong goes wrong.

`fabula serve` has its private Neo4j on a small disk of its own (a tmpfs) and an endpoint of 100 ms
and 1,536 dimensions. While 30 people with a key each ask and read, a text of 560,000 words is sent
in. Meanwhile the service is killed and started again, its Neo4j is killed, and the disk is filled
and freed. At the end the service is stopped and started, and a dump is put back. What is told: how
long readers waited, how often they were sent away, what was lost, and whether the ledger says to
the cent what the endpoint answered.

It needs root, for the disk, and some 20 minutes.
"""

from __future__ import annotations

import asyncio
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2

from fabula.models.prices import read_prices
from fabula.models.usage import Usage
from fabula_bench.speed.books import STORY, book, questions
from fabula_bench.speed.report import Figure
from fabula_bench.speed.service import (
    GIVE_UP_SECONDS,
    URL,
    Service,
    client,
    make_key,
    make_service,
    wait_until_ready,
)
from fabula_bench.speed.waiting import endpoint

READERS = 30
WORDS = 560_000
"""Of the large book: as many as in War and Peace."""
DIMENSIONS = 1536
DISK_MB = 3_000
READ_SECONDS = 4.0
"""A reader asks, or opens a page, once in so many seconds."""
OUTAGE_SECONDS = 20.0
"""How long the disk stays full."""


@dataclass
class Diary:
    """What readers met: the seconds that each kind of request took, and how often they were told
    to come again, found nobody, or were refused for good."""

    waits: dict[str, list[float]] = field(default_factory=dict)
    sent_away: int = 0
    unreachable: int = 0
    failures: list[str] = field(default_factory=list)
    events: list[str] = field(default_factory=list)

    def note(self, event: str) -> None:
        """Tell of an event as it happens, and keep it."""
        line = f"{time.strftime('%H:%M:%S')} {event}"
        self.events.append(line)
        sys.stderr.write(f"{line}\n")


def measure(books: Path | None) -> list[Figure]:
    """Live through the evening; what it was like."""
    diary = Diary()
    with tempfile.TemporaryDirectory(prefix="fabula-evening-") as folder, disk(folder) as home:
        notes = Path(folder) / "notes"
        with endpoint(0.1, DIMENSIONS, notes) as url:
            service = make_service(Path(folder), home, url)
            service.run("ingest", str(STORY))
            before = len(notes.read_text().splitlines())
            keys = [make_key(service, f"reader {number}", "read") for number in range(READERS)]
            admin = make_key(service, "operator", "admin")
            service.start()
            try:
                figures = asyncio.run(_live(service, keys, admin, home, books, diary))
                figures += _bill(service, admin, notes, before)
                figures += _restart(service, admin, diary)
            finally:
                with suppress(ProcessLookupError):
                    service.stop()
                service.run("db", "stop")
            log = service.log.read_text(errors="replace")
    figures += describe_meetings(diary)
    figures.append(Figure("lines of the service's log", log.count("\n"), ""))
    figures.append(Figure("tracebacks in it", log.count("Traceback"), "", goal=0))
    return figures


@contextmanager
def disk(folder: str) -> Iterator[Path]:
    """A small disk of its own."""
    place = Path(folder) / "disk"
    place.mkdir()
    subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={DISK_MB}m", "tmpfs", str(place)], check=True
    )
    try:
        yield place / "home"
    finally:
        subprocess.run(["umount", "--lazy", str(place)], check=True)


async def _live(
    service: Service, keys: list[str], admin: str, home: Path, books: Path | None, diary: Diary
) -> list[Figure]:
    over = asyncio.Event()
    question_texts = questions(200)
    await wait_until_ready(admin)
    readers = [
        asyncio.create_task(read(key, question_texts[number::READERS], over, diary))
        for number, key in enumerate(keys)
    ]
    troubles = asyncio.create_task(_trouble(service, admin, home, diary))
    began = time.perf_counter()
    job = await _send_book(admin, book(WORDS, books), diary)
    await troubles
    state = await _wait(admin, job, diary)
    seconds = time.perf_counter() - began
    over.set()
    await asyncio.gather(*readers)
    async with client(admin) as operator:
        listed = (await operator.get("/api/v1/collections/novels/documents")).json()["items"]
    lost = (
        [] if state == "succeeded" and len(listed) == 1 else [f"job {state}, {len(listed)} books"]
    )
    output = service.run("check", "--collection", "novels")
    if "No errors" not in output:
        lost.append(output)
    return [
        Figure("the book took", seconds, note=state),
        Figure("lost", len(lost), "", goal=0, note="; ".join(lost)),
    ]


async def _again(
    person: httpx2.AsyncClient, diary: Diary, method: str, path: str, **given: Any
) -> httpx2.Response | None:
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
    return None


async def read(
    key: str,
    question_texts: list[str],
    over: asyncio.Event,
    diary: Diary,
    pause: Callable[[], float] = lambda: READ_SECONDS,
) -> None:
    """Ask and open pages until the evening is over, with pauses of so many seconds."""
    collection = "/api/v1/collections/default"
    async with client(key) as reader:
        turn = 0
        while not over.is_set():
            body = {"json": {"question": question_texts[turn % len(question_texts)]}}
            kind, method, path, given = (
                ("ask", "POST", f"{collection}/ask", body),
                ("search", "POST", f"{collection}/search", body),
                ("list", "GET", f"{collection}/documents", {}),
                ("page", "GET", "/c/default", {}),
            )[turn % 4]
            began = time.perf_counter()
            response = await _again(reader, diary, method, path, **given)
            if response is None or response.status_code >= 400:
                reply = "nobody" if response is None else f"{response.status_code} {response.text}"
                diary.failures.append(f"{kind}: {reply[:200]}")
            else:
                diary.waits.setdefault(kind, []).append(time.perf_counter() - began)
            turn += 1
            with suppress(TimeoutError):
                await asyncio.wait_for(over.wait(), pause())


async def _send_book(admin: str, text: str, diary: Diary) -> str:
    async with client(admin) as operator:
        body = {"text": text, "source": "war", "title": "A Book as Long as War and Peace"}
        headers = {"Idempotency-Key": "the book"}
        path = "/api/v1/collections/novels/documents"
        response = await _again(operator, diary, "POST", path, json=body, headers=headers)
        assert response is not None and response.status_code == 202, response
        diary.note("the book was sent")
        return str(response.json()["id"])


async def _progress(admin: str, job: str, diary: Diary) -> dict[str, Any]:
    async with client(admin) as operator:
        response = await _again(operator, diary, "GET", f"/api/v1/jobs/{job}")
        assert response is not None
        return dict(response.json())


async def _wait(admin: str, job: str, diary: Diary) -> str:
    while (status := await _progress(admin, job, diary))["state"] in ("queued", "running"):
        await asyncio.sleep(1)
    diary.note(f"the job {status['state']}: {status.get('error') or status.get('why') or ''}")
    return str(status["state"])


async def _trouble(service: Service, admin: str, home: Path, diary: Diary) -> None:
    """What goes wrong: three kills of the service, two of its Neo4j, a full disk."""
    for what in ("serve", "neo4j", "serve", "disk", "neo4j", "serve"):
        await asyncio.sleep(20)
        if what == "serve":
            diary.note("kill -9 of the service")
            await asyncio.to_thread(service.kill)
            service.start()
        elif what == "neo4j":
            diary.note("kill -9 of Neo4j")
            service.neo4j.kill()
            await asyncio.sleep(2)  # by then the service has noticed
        else:
            diary.note("the disk is full")
            filler = home.parent / "filler"
            with suppress(OSError), filler.open("wb") as stream:
                while True:
                    stream.write(bytes(1 << 20))
            await asyncio.sleep(OUTAGE_SECONDS)
            filler.unlink()
            diary.note("the disk has room again")
        began = time.perf_counter()
        await wait_until_ready(admin)
        diary.note(f"ready {time.perf_counter() - began:.1f} s later")


def _bill(service: Service, admin: str, notes: Path, before: int) -> list[Figure]:
    """The ledger beside what the endpoint answered since the service has been running."""
    prices = read_prices(None)
    calls = tokens = 0
    dollars = 0.0
    for line in notes.read_text().splitlines()[before:]:
        _, _, model, prompt, cached, completion = line.split()
        usage = Usage(
            calls=1,
            prompt_tokens=int(prompt),
            completion_tokens=int(completion),
            cached_tokens=int(cached),
        )
        calls += 1
        tokens += usage.prompt_tokens + usage.completion_tokens
        dollars += prices[model].of(usage)
    spent = httpx2.get(
        f"{URL}/api/v1/usage?by=collection",
        headers={"Authorization": f"Bearer {admin}"},
        timeout=60,
    ).json()["rows"]
    billed = {name: sum(row[name] or 0 for row in spent) for name in ("calls", "tokens", "money")}
    return [
        Figure("calls that the endpoint answered", calls, "", note=f"ledger {billed['calls']}"),
        Figure("tokens", tokens, "", note=f"ledger {billed['tokens']}"),
        Figure("dollars", dollars, "$", note=f"ledger {billed['money']:.4f}"),
        Figure(
            "calls not billed",
            calls - billed["calls"],
            "",
            note="those in flight when the service was killed, three times",
        ),
    ]


def _restart(service: Service, admin: str, diary: Diary) -> list[Figure]:
    """Stop, start, dump and put back, as an operator does at night."""
    stopped = service.stop()
    diary.note("the service was stopped; a dump is made and put back")
    dump = Path(service.own["FABULA_HOME"]).parent.parent / "evening.dump"
    service.run("db", "dump", str(dump), "--yes")
    listed = service.run("list", "--all")
    service.run("remove", "--collection", "novels", "A Book as Long as War and Peace")
    service.run("db", "load", str(dump), "--yes")
    same = service.run("list", "--all") == listed
    service.start()
    asyncio.run(wait_until_ready(admin))
    return [
        Figure("stopping the service", stopped, goal=30),
        Figure("graphs that differ after a dump was put back", 0 if same else 1, "", goal=0),
    ]


def describe_meetings(diary: Diary) -> Iterator[Figure]:
    for kind, seconds in sorted(diary.waits.items()):
        note = f"median {statistics.median(seconds):.2f}, {len(seconds)} requests"
        yield Figure(f"{kind}, longest", max(seconds), note=note)
    yield Figure("told to come again", diary.sent_away, "")
    yield Figure("found nobody", diary.unreachable, "")
    note = "; ".join(diary.failures[:5])
    yield Figure("requests that failed", len(diary.failures), "", goal=0, note=note)
