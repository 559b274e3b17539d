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
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import httpx2

from fabula.models.prices import read_prices
from fabula.models.usage import Usage
from fabula_bench.speed.books import STORY, book
from fabula_bench.speed.readers import NOVELS_PATH, Diary, ask_and_read, bring_book, reading
from fabula_bench.speed.report import Figure
from fabula_bench.speed.service import (
    URL,
    Service,
    client,
    endpoint,
    lived_in,
    make_service,
    wait_until_ready,
)

READERS = 30
WORDS = 560_000
"""Of the large book: as many as in War and Peace."""
DISK_MB = 3_000
TITLE = "A Book as Long as War and Peace"
READ_SECONDS = 4.0
"""A reader asks, or opens a page, once in so many seconds."""
OUTAGE_SECONDS = 20.0
"""How long the disk stays full."""


def measure(books: Path | None) -> list[Figure]:
    """Live through the evening; what it was like."""
    diary = Diary()
    with tempfile.TemporaryDirectory(prefix="fabula-evening-") as folder, disk(folder) as home:
        notes = Path(folder) / "notes"
        with endpoint(0.1, 1536, notes) as url:
            service = make_service(Path(folder), home, url)
            service.run("ingest", str(STORY))
            before = len(notes.read_text().splitlines())
            with lived_in(service, READERS) as (keys, admin):
                figures = asyncio.run(_live(service, keys, admin, home, books, diary))
                figures += _bill(admin, notes, before)
                figures += _restart(service, admin, diary)
            log = service.log.read_text(errors="replace")
    return [
        *figures,
        *diary.describe(),
        Figure("lines of the service's log", log.count("\n"), ""),
        Figure("tracebacks in it", log.count("Traceback"), "", goal=0),
    ]


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
    async with client(admin) as operator:
        async with reading(ask_and_read(keys), diary, lambda: READ_SECONDS):
            troubles = asyncio.create_task(_trouble(service, admin, home, diary))
            seconds = await bring_book(operator, book(WORDS, books), TITLE, diary)
            await troubles
        listed = (await operator.get(f"{NOVELS_PATH}/documents")).json()["rows"]
    lost = [] if len(listed) == 1 else [f"{len(listed)} books"]
    output = service.run("check", "--collection", "novels")
    if "No errors" not in output:
        lost.append(output)
    return [
        Figure("the book took", seconds),
        Figure("lost", len(lost), "", goal=0, note="; ".join(lost)),
    ]


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


def _bill(admin: str, notes: Path, before: int) -> list[Figure]:
    """The ledger beside what the endpoint answered since the service has been running."""
    prices = read_prices(None)
    calls = [line.split()[2:] for line in notes.read_text().splitlines()[before:]]
    usages = [
        (model, Usage(1, int(prompt), int(completion), cached_tokens=int(cached)))
        for model, prompt, cached, completion in calls
    ]
    tokens = sum(usage.prompt_tokens + usage.completion_tokens for _, usage in usages)
    dollars = sum(prices[model].of(usage) for model, usage in usages)
    headers = {"Authorization": f"Bearer {admin}"}
    url = f"{URL}/api/v1/usage?by=collection"
    spent = httpx2.get(url, headers=headers, timeout=60).json()["rows"]
    billed = {name: sum(row[name] or 0 for row in spent) for name in ("calls", "tokens", "money")}
    return [
        Figure(
            "calls that the endpoint answered", len(calls), "", note=f"ledger {billed['calls']}"
        ),
        Figure("tokens", tokens, "", note=f"ledger {billed['tokens']}"),
        Figure("dollars", dollars, "$", note=f"ledger {billed['money']:.4f}"),
        Figure(
            "calls not billed",
            len(calls) - billed["calls"],
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
    service.run("remove", "--collection", "novels", TITLE)
    service.run("db", "load", str(dump), "--yes")
    same = service.run("list", "--all") == listed
    service.start()
    asyncio.run(wait_until_ready(admin))
    return [
        Figure("stopping the service", stopped, goal=30),
        Figure("graphs that differ after a dump was put back", 0 if same else 1, "", goal=0),
    ]
