"""An hour of a service that everybody uses at once, and that somebody tries to stop.

20 people with a key each ask, search and open pages; one large book after the other comes in; a
writer imports annotations of the books that are read; and two more keys, one to read and one to
write, send what is meant to hold the service up: bodies far over their limits, quotations that are
nearly in the book, files of a million tokens and uploads that end in the middle. What is told: how
long everybody waited, the memory before and after, and whether anything was lost.
"""

from __future__ import annotations

import asyncio
import io
import json
import random
import re
import string
import tempfile
import time
import zipfile
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx2
import psutil

from fabula_bench.speed.books import book
from fabula_bench.speed.readers import (
    NOVELS_PATH,
    SHELF_PATH,
    Diary,
    bring_book,
    fill_shelf,
    reading,
    rest,
    wait_for_job,
)
from fabula_bench.speed.report import Figure
from fabula_bench.speed.service import (
    Service,
    client,
    endpoint,
    make_key,
    make_service,
    started,
    wait_until_ready,
)
from fabula_scholar.exchange.booknlp import ENTITY_COLUMNS, TOKEN_COLUMNS

SECONDS = 3_600.0
READERS = 20
WORDS = 150_000
"""Of each book that comes in."""
SHELF = (30_000, 30_000, 30_000)
"""Words of the books that are read."""
READ_SECONDS = 4.0
"""A reader asks, or opens a page, once in so many seconds."""
QUOTATIONS = 500
"""Of one import of annotations."""
PAUSE_SECONDS = 30.0
"""Between two imports of annotations, and two attacks."""
SETTLE_SECONDS = 120.0
"""From the end of the hour until memory is looked at."""
CALL_SECONDS = 0.2
Layers = dict[tuple[str, str], int]
"""How many annotations each layer of a document was given."""


def measure(books: Path | None) -> list[Figure]:
    """Live through the hour; what it was like."""
    diary = Diary()
    with (
        tempfile.TemporaryDirectory(prefix="fabula-hour-") as folder,
        endpoint(CALL_SECONDS, 1536) as url,
    ):
        service = make_service(Path(folder), Path(folder) / "home", url)
        texts = fill_shelf(service, Path(folder), SHELF, books)
        keys = [make_key(service, f"reader {number}", "read") for number in range(READERS + 1)]
        writers = [make_key(service, name, "write") for name in ("annotator", "attacker")]
        admin = make_key(service, "operator", "admin")
        with started(service):
            figures = asyncio.run(_live(service, keys, writers, admin, texts, books, diary))
        log = service.log.read_text(errors="replace")
    tracebacks = Figure("tracebacks in the log", log.count("Traceback"), "", goal=0)
    return [*figures, *diary.describe(), tracebacks]


async def _live(
    service: Service,
    keys: list[str],
    writers: list[str],
    admin: str,
    texts: list[str],
    books: Path | None,
    diary: Diary,
) -> list[Figure]:
    await wait_until_ready(admin)
    layers, counts = Layers(), {"books": 0}
    highest = before = _memory(service)
    async with client(admin) as operator:
        listed = (await operator.get(f"{SHELF_PATH}/documents")).json()["items"]
    documents = [document["id"] for document in listed]
    async with reading(keys[1:], diary, lambda: READ_SECONDS) as over:
        tasks = [
            _bring_books(admin, books, over, counts, diary),
            _annotate(writers[0], documents, texts, over, layers, diary),
            _attack(keys[0], writers[1], documents[0], texts[0], over, diary),
        ]
        running = [asyncio.create_task(task) for task in tasks]
        until = time.monotonic() + SECONDS
        while time.monotonic() < until and not any(task.done() for task in running):
            await asyncio.sleep(5)
            now = _memory(service)
            highest = {name: max(highest[name], now[name]) for name in now}
        over.set()
        await asyncio.gather(*running)
    lost = await _find_lost(service, admin, layers, counts)
    await asyncio.sleep(SETTLE_SECONDS)
    after = _memory(service)
    return [
        *(
            Figure(
                f"memory of {name}, before",
                before[name] / 1e6,
                "MB",
                note=f"most {highest[name] / 1e6:.0f}, after {after[name] / 1e6:.0f}",
            )
            for name in before
        ),
        Figure("books that came in", counts["books"], ""),
        Figure("layers of annotations", len(layers), ""),
        Figure("lost", len(lost), "", goal=0, note="; ".join(lost)[:500]),
    ]


async def _find_lost(
    service: Service, admin: str, layers: Layers, counts: dict[str, int]
) -> list[str]:
    """Return in words what is not there, or not whole."""
    lost = []
    async with client(admin) as operator:
        found = (await operator.get(f"{NOVELS_PATH}/documents?limit=100")).json()
        if len(found["items"]) != counts["books"]:
            lost.append(f"{len(found['items'])} books of {counts['books']}")
        for (document, layer), expected in layers.items():
            listed = (await operator.get(f"{SHELF_PATH}/documents/{document}/annotations")).json()
            there = {row["layer"]: row["annotations"] for row in listed}
            if there.get(layer) != expected:
                lost.append(f"layer {layer}: {there.get(layer)} of {expected}")
    for collection in ("novels", "default"):
        output = await asyncio.to_thread(service.run, "check", "--collection", collection)
        if "No errors" not in output:
            lost.append(output)
    return lost


def _memory(service: Service) -> dict[str, float]:
    """Return the bytes that the service with its children, and Neo4j, hold."""
    own = service.python
    family = [process for process in (own, *own.children(recursive=True)) if _name(process)]
    return {
        "the service": sum(_bytes(each) for each in family if _name(each) != "java"),
        "Neo4j": _bytes(service.neo4j),
    }


def _name(process: psutil.Process) -> str:
    with suppress(psutil.Error):
        return str(process.name())
    return ""


def _bytes(process: psutil.Process) -> float:
    with suppress(psutil.Error):
        return float(process.memory_info().rss)
    return 0.0


async def _bring_books(
    admin: str, books: Path | None, over: asyncio.Event, counts: dict[str, int], diary: Diary
) -> None:
    async with client(admin) as operator:
        while not over.is_set():
            number = len(SHELF) + counts["books"]
            text = book(WORDS, books, number)
            with diary.time("a book"):
                await bring_book(operator, text, f"Book {number}", diary)
            counts["books"] += 1


async def _annotate(
    key: str,
    documents: list[str],
    texts: list[str],
    over: asyncio.Event,
    layers: Layers,
    diary: Diary,
) -> None:
    """Import exact quotations of the books that are read; each layer counts what it was given."""
    chance = random.Random(7)
    async with client(key) as annotator:
        while not over.is_set():
            # Documents are listed by their titles, as the volumes are numbered.
            number = len(layers) % len(SHELF)
            layer = f"layer {len(layers)}"
            quotes = [_cut(texts[number], 60, chance) for _ in range(QUOTATIONS)]
            content = json.dumps([_annotation(quote, str(n)) for n, quote in enumerate(quotes)])
            path = f"{SHELF_PATH}/documents/{documents[number]}/annotations/import"
            with diary.time("send annotations"):
                sent = await annotator.post(path, params={"layer": layer}, content=content)
            job = await wait_for_job(annotator, sent, diary)
            if job["state"] == "succeeded":
                layers[documents[number], layer] = job["items"][0]["result"]["annotations"]
            await rest(over, PAUSE_SECONDS)


async def _attack(
    reader_key: str, writer_key: str, document: str, text: str, over: asyncio.Event, diary: Diary
) -> None:
    chance = random.Random(11)
    imports = f"{SHELF_PATH}/documents/{document}/annotations/import"
    async with client(reader_key) as reader, client(writer_key) as writer:

        def send(layer: str, content: str | bytes, format: str = "") -> Awaitable[httpx2.Response]:
            params = {"layer": layer} | ({"format": format} if format else {})
            return writer.post(imports, params=params, content=content)

        near = _spoil(_cut(text, 20_000, chance), chance)
        many = [_spoil(_cut(text, 2_400, chance), chance) for _ in range(300)]
        many_content = json.dumps([_annotation(quote, str(n)) for n, quote in enumerate(many)])
        tokens = _pack_tokens(1_000_000)
        deep = "<TEI>" + "<p>" * 200_000
        attacks: list[tuple[str, Callable[[], Awaitable[httpx2.Response | None]]]] = [
            ("114 MB to a name", lambda: reader.post(f"{SHELF_PATH}/queries/add", content=HUGE)),
            (
                "114 MB to an estimate",
                lambda: reader.patch(f"{SHELF_PATH}/documents/estimate", content=HUGE),
            ),
            ("nearly in the book", lambda: send("near", json.dumps(_annotation(near, "0")))),
            ("300 nearly in the book", lambda: send("many", many_content)),
            ("a million tokens", lambda: send("tokens", tokens, "booknlp")),
            ("a deep file", lambda: send("deep", deep, "tei")),
            ("an upload that is left", lambda: _leave(writer, imports)),
        ]
        while not over.is_set():
            for kind, attack in attacks:
                try:
                    with diary.time(f"attack: {kind}"):
                        response = await attack()
                    reply = str(response.status_code) if response is not None else "left"
                except httpx2.HTTPError as error:
                    reply = type(error).__name__
                if reply.startswith("5"):
                    diary.failures.append(f"{kind}: {reply}")
                await rest(over, PAUSE_SECONDS)
                if over.is_set():
                    return


HUGE = b'{"text": "' + b"a" * 114_000_000 + b'"}'


async def _leave(writer: httpx2.AsyncClient, path: str) -> None:
    """Begin an upload, and leave in the middle of it."""

    async def parts() -> Any:
        for _ in range(10):
            yield b"[" * 100_000
            await asyncio.sleep(0.1)
        raise _Gone

    with suppress(_Gone):
        await writer.post(path, params={"layer": "left"}, content=parts())


class _Gone(Exception):
    pass


def _cut(text: str, characters: int, chance: random.Random) -> str:
    """Return a piece of a text that has no doubled space in it."""
    start = chance.randrange(len(text) - characters)
    return re.sub(r"\s+", " ", text[start : start + characters]).strip()


def _spoil(quote: str, chance: random.Random) -> str:
    """Return a quotation with a quarter of its letters changed."""
    return "".join(
        chance.choice(string.ascii_lowercase) if chance.random() < 0.25 else c for c in quote
    )


def _pack_tokens(count: int) -> bytes:
    """Return a zip with BookNLP's files of a text that is not there."""
    lines = ["\t".join(TOKEN_COLUMNS)]
    lines += [
        "\t".join(("0", "0", "0", str(n), f"unseen{n % 1000}", "_", str(9 * n), str(9 * n + 8)))
        + "\t_\t_\t_\t0\t_"
        for n in range(count)
    ]
    mentions = ["\t".join(ENTITY_COLUMNS)]
    mentions += [f"{n}\t{n}\t{n}\tPROP\tPER\tunseen{n % 1000}" for n in range(0, count, 10)]
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("book.tokens", "\n".join(lines))
        archive.writestr("book.entities", "\n".join(mentions))
    return packed.getvalue()


def _annotation(quote: str, value: str) -> dict[str, Any]:
    return {
        "type": "Annotation",
        "body": {"type": "TextualBody", "purpose": "tagging", "value": value},
        "target": {"selector": {"type": "TextQuoteSelector", "exact": quote}},
    }
