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
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import cycle
from pathlib import Path
from typing import Any

import httpx2
import psutil

from fabula_bench.speed.books import book
from fabula_bench.speed.readers import (
    NOVELS_PATH,
    SHELF,
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
READ_SECONDS = 4.0
"""A reader asks, or opens a page, once in so many seconds."""
QUOTATIONS = 500
"""Of one import of annotations."""
PAUSE_SECONDS = 30.0
"""Between two imports of annotations, and two attacks."""
SETTLE_SECONDS = 120.0
"""From the end of the hour until memory is looked at."""
CALL_SECONDS = 0.2


def measure(books: Path | None) -> list[Figure]:
    """Live through the hour; what it was like."""
    with (
        tempfile.TemporaryDirectory(prefix="fabula-hour-") as folder,
        endpoint(CALL_SECONDS, 1536) as url,
    ):
        service = make_service(Path(folder), Path(folder) / "home", url)
        hour = _Hour(service, fill_shelf(service, Path(folder), books), books)
        keys = [make_key(service, f"reader {number}", "read") for number in range(READERS + 1)]
        writers = [make_key(service, name, "write") for name in ("annotator", "attacker")]
        admin = make_key(service, "operator", "admin")
        with started(service):
            figures = asyncio.run(hour.live(keys, writers, admin))
        log = service.log.read_text(errors="replace")
    tracebacks = Figure("tracebacks in the log", log.count("Traceback"), "", goal=0)
    return [*figures, *hour.diary.describe(), tracebacks]


@dataclass
class _Hour:
    """What happens in the hour."""

    service: Service
    texts: list[str]
    """Those of the shelf."""
    books: Path | None
    diary: Diary = field(default_factory=Diary)
    documents: list[str] = field(default_factory=list)
    """The ids of the texts."""
    layers: dict[tuple[str, str], int] = field(default_factory=dict)
    """How many annotations each layer of a document was given."""
    brought: int = 0
    """Books that came in."""

    async def live(self, keys: list[str], writers: list[str], admin: str) -> list[Figure]:
        await wait_until_ready(admin)
        highest = before = _memory(self.service)
        async with (
            client(admin) as operator,
            client(writers[0]) as annotator,
            client(keys[0]) as reader,
            client(writers[1]) as writer,
        ):
            listed = (await operator.get(f"{SHELF_PATH}/documents")).json()["rows"]
            # They are listed by their titles, as the volumes are numbered.
            self.documents = [document["id"] for document in listed]
            async with reading(keys[1:], self.diary, lambda: READ_SECONDS) as over:
                running = [
                    asyncio.create_task(self.bring_books(operator, over)),
                    asyncio.create_task(self.annotate(annotator, over)),
                    asyncio.create_task(self.attack(reader, writer, over)),
                ]
                until = time.monotonic() + SECONDS
                while time.monotonic() < until and not any(task.done() for task in running):
                    await asyncio.sleep(5)
                    now = _memory(self.service)
                    highest = {name: max(highest[name], now[name]) for name in now}
                over.set()
                await asyncio.gather(*running)
            lost = await self.find_lost(operator)
        await asyncio.sleep(SETTLE_SECONDS)
        after = _memory(self.service)
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
            Figure("books that came in", self.brought, ""),
            Figure("layers of annotations", len(self.layers), ""),
            Figure("lost", len(lost), "", goal=0, note="; ".join(lost)[:500]),
        ]

    async def find_lost(self, operator: httpx2.AsyncClient) -> list[str]:
        """Return in words what is not there, or not whole."""
        lost = []
        found = (await operator.get(f"{NOVELS_PATH}/documents?limit=100")).json()["rows"]
        if len(found) != self.brought:
            lost.append(f"{len(found)} books of {self.brought}")
        for (document, layer), expected in self.layers.items():
            listed = await operator.get(f"{SHELF_PATH}/annotations", params={"document": document})
            there = {row["layer"]: row["annotations"] for row in listed.json()["rows"]}
            if there.get(layer) != expected:
                lost.append(f"layer {layer}: {there.get(layer)} of {expected}")
        for collection in ("novels", "default"):
            output = await asyncio.to_thread(self.service.run, "check", "--collection", collection)
            if "No errors" not in output:
                lost.append(output)
        return lost

    async def bring_books(self, operator: httpx2.AsyncClient, over: asyncio.Event) -> None:
        """Let one large book after the other come in."""
        while not over.is_set():
            number = SHELF + self.brought
            text = book(WORDS, self.books, number)
            with self.diary.time("a book"):
                await bring_book(operator, text, f"Book {number}", self.diary)
            self.brought += 1

    async def annotate(self, annotator: httpx2.AsyncClient, over: asyncio.Event) -> None:
        """Import exact quotations of the books that are read, and count them by layer."""
        chance = random.Random(7)
        while not over.is_set():
            number = len(self.layers) % SHELF
            document, layer = self.documents[number], f"layer {len(self.layers)}"
            quotes = [_cut(self.texts[number], 60, chance) for _ in range(QUOTATIONS)]
            content = _annotations(quotes)
            path = f"{SHELF_PATH}/documents/{document}/annotations/import"
            with self.diary.time("send annotations"):
                sent = await annotator.post(path, params={"layer": layer}, content=content)
            job = await wait_for_job(annotator, sent, self.diary)
            if job["state"] == "succeeded":
                self.layers[document, layer] = job["items"][0]["result"]["annotations"]
            await rest(over, PAUSE_SECONDS)

    async def attack(
        self, reader: httpx2.AsyncClient, writer: httpx2.AsyncClient, over: asyncio.Event
    ) -> None:
        """Send what is meant to hold the service up."""
        chance, text = random.Random(11), self.texts[0]
        imports = f"{SHELF_PATH}/documents/{self.documents[0]}/annotations/import"

        def send(layer: str, content: str | bytes, **more: str) -> Awaitable[httpx2.Response]:
            return writer.post(imports, params={"layer": layer, **more}, content=content)

        near = _annotations([_spoil(_cut(text, 20_000, chance), chance)])
        many = _annotations([_spoil(_cut(text, 2_400, chance), chance) for _ in range(300)])
        tokens = _pack_tokens(1_000_000)
        deep = "<TEI>" + "<p>" * 200_000
        name, estimate = f"{SHELF_PATH}/queries/add", f"{SHELF_PATH}/documents/estimate"
        attacks: dict[str, Callable[[], Awaitable[httpx2.Response | None]]] = {
            "114 MB to a name": lambda: reader.post(name, content=HUGE),
            "114 MB to an estimate": lambda: reader.patch(estimate, content=HUGE),
            "nearly in the book": lambda: send("near", near),
            "300 nearly in the book": lambda: send("many", many),
            "a million tokens": lambda: send("tokens", tokens, format="booknlp"),
            "a deep file": lambda: send("deep", deep, format="tei"),
            "an upload that is left": lambda: _leave(writer, imports),
        }
        for kind, attack in cycle(attacks.items()):
            try:
                with self.diary.time(f"attack: {kind}"):
                    response = await attack()
                reply = str(response.status_code) if response is not None else "left"
            except httpx2.HTTPError as error:
                reply = type(error).__name__
            if reply.startswith("5"):
                self.diary.failures.append(f"{kind}: {reply}")
            await rest(over, PAUSE_SECONDS)
            if over.is_set():
                return


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


def _annotations(quotes: Sequence[str]) -> str:
    return json.dumps(
        [
            {
                "type": "Annotation",
                "body": {"type": "TextualBody", "purpose": "tagging", "value": str(number)},
                "target": {"selector": {"type": "TextQuoteSelector", "exact": quote}},
            }
            for number, quote in enumerate(quotes)
        ]
    )
