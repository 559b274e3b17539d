"""Adding books: files or a text come in, are told of with what they would cost, and are agreed to.

What came in is kept for a day as a list of its own, under its SHA-256 as every upload: so the
estimate has an address, and who agrees sends nothing again.
"""

from __future__ import annotations

import json
import uuid
from dataclasses import asdict, dataclass, field
from pathlib import PurePosixPath
from typing import Annotated, Any
from urllib.parse import urlencode

from anyio import to_thread
from fastapi import APIRouter, Form, Query, Request
from fastapi.responses import JSONResponse, RedirectResponse, Response

from fabula.app.collection import Collection
from fabula.config.settings import OFFLINE, STATIC
from fabula.errors import LoadError
from fabula.graph.installed import graphs
from fabula.load import SUFFIXES, known
from fabula.models.usage import sum_usage
from fabula.service.core.errors import Problem
from fabula.service.core.idempotency import Idempotency
from fabula.service.core.jobs.job import Item
from fabula.service.core.jobs.start import (
    Choice,
    Estimate,
    begin_ingest,
    estimate,
    read,
    refuse_same_names,
    text_item,
)
from fabula.service.core.jobs.uploads import SOURCE_FOLDER, Upload, label
from fabula.service.http.addresses import address
from fabula.service.http.dependencies import Caller, State, VisibleCollection, Writer
from fabula.service.http.multipart import MAX_PARTS, Body
from fabula.service.http.multipart import Form as Filled
from fabula.service.page.rendering import is_language, show
from fabula.service.state import ServiceState
from fabula.text.document import Document

router = APIRouter()
LIST = "list of files"
READ_THROUGH = 200
"""Documents that are told of with language and chapters; of more, those that come first."""
PRICED_APART = 4_000_000
"""Bytes of files for which each graph is priced by itself, too: all of them are kept for that."""
LONGEST_TEXT = 20_000
"""Characters that may be pasted, as a form holds no long fields; what is longer is a file."""

FIELDS = ("title", "author", "language", "text")
"""What the form sends beside files; each is a part of it, too."""

Batch = Annotated[str, Query(pattern="^[0-9a-f]{64}$")]
Graphs = Annotated[list[str], Query(max_length=50)]


@dataclass(frozen=True, slots=True)
class Kept:
    """What came in together: files, and a text with what was said of it."""

    uploads: tuple[Upload, ...]
    text: Upload | None = None
    told: dict[str, str] | None = None


@dataclass(slots=True)
class Reader:
    """Reads each document once, however many graphs are priced, where that `keeps` not too much.

    Of all that it has read it has what is told of them.
    """

    state: ServiceState
    collection: str
    keeps: bool
    told: dict[str, tuple[str, str, str, int]] = field(default_factory=dict)
    """Title, author, language and chapters, by the source."""
    _kept: dict[str, Document | LoadError] = field(default_factory=dict)

    def __call__(self, item: Item) -> Document:
        """The document of an item. Raises LoadError."""
        found = self._kept.get(item.source) or self._read(item)
        if self.keeps:
            self._kept[item.source] = found
        if isinstance(found, LoadError):
            raise found
        return found

    def _read(self, item: Item) -> Document | LoadError:
        try:
            found = read(self.state.uploads, self.collection, item)
        except LoadError as error:
            return error
        about = (found.title, found.author, found.language, len(found.sections))
        self.told[item.source] = about
        return found


@dataclass(frozen=True, slots=True)
class Book:
    """A document as it would come in. `chapters` is None where it was not looked at.

    Where it `is_guessed`, no reader is for files that are named so: what is in it has told.
    """

    source: str
    status: str
    title: str
    author: str
    language: str
    chapters: int | None
    tokens: int
    calls: int
    error: str
    is_guessed: bool


@router.get("/c/{collection}/add")
def add(
    request: Request,
    state: State,
    collection: VisibleCollection,
    caller: Writer,
    batch: Annotated[str, Query(pattern="^([0-9a-f]{64})?$")] = "",
    graphs: Graphs = [],  # noqa: B006
    changed: bool = False,
) -> Response:
    """What to send; or, of a `batch` that came in, what is in it and what it would cost.

    `changed` is whether somebody agreed to something else, which is said.
    """
    values: dict[str, Any] = {
        "collection": collection.name,
        "readable": known(),
        "most_mb": state.serving.max_upload_mb,
        "most_files": MAX_PARTS - len(FIELDS),
        "longest": LONGEST_TEXT,
    }
    if not batch:
        return show(request, "add.html", values)
    items = _items(state, caller, batch)
    names = graphs or list(collection.settings.graphs)
    choice = Choice(tuple(names))
    size = sum(state.uploads.path(one).stat().st_size for one in {one.upload for one in items})
    reader = Reader(state, collection.name, keeps=size <= PRICED_APART)
    with state.large_task_limit.hold(caller.id):
        found = estimate(state.uploads, collection, items, choice, reader)
        rows = _graphs(state, collection, items, names, reader)
    values |= {
        "batch": batch,
        "estimated": ",".join(one["name"] for one in rows if one["on"]),
        "once": uuid.uuid4().hex,
        "books": _books(found, reader),
        "more": max(0, len(items) - READ_THROUGH),
        "count": sum(one.status not in ("failed", "skipped") for one in found.outcomes),
        "refused": sum(one.status == "failed" for one in found.outcomes),
        "is_offline": collection.settings.offline,
        "graphs": rows,
        "changed": changed,
        "calls": sum(one.calls for one in found.usage.values()),
        "tokens": sum(one.prompt_tokens + one.completion_tokens for one in found.usage.values()),
        "money": found.money,
        "unpriced": found.unpriced,
        "left": state.ledger.left(caller),
    }
    return show(request, "estimate.html", values)


@router.post("/c/{collection}/add")
async def take(
    request: Request, state: State, collection: VisibleCollection, caller: Writer
) -> Response:
    """Keeps files and a text as they arrive, and goes on to what they would cost."""
    body = Body(request)
    form = await body.form(state.uploads)

    def keep() -> str:
        return _keep(state, collection, caller, form)

    to = address("c", collection.name, "add", batch=await to_thread.run_sync(keep))
    if request.headers.get("accept", "").startswith("application/json"):
        return JSONResponse({"to": to})
    return RedirectResponse(to, 303)


@router.post("/c/{collection}/add/begin")
def begin(
    request: Request,
    state: State,
    collection: VisibleCollection,
    caller: Writer,
    batch: Annotated[str, Form(pattern="^[0-9a-f]{64}$")],
    once: Annotated[str, Form(max_length=64)] = "",
    estimated: Annotated[str, Form(max_length=2000)] = "",
    graphs: Annotated[list[str], Form(max_length=50)] = [],  # noqa: B006
) -> Response:
    """Begins the job that was agreed to; sent twice, it is begun once.

    Nobody has agreed to other graphs than those whose cost was told: that is told first.
    """
    if not graphs:
        raise Problem("Tick a graph at least: without any, there is nothing to ask but the text.")
    told = ",".join(graphs)
    if told != estimated and _may_cost(collection):
        query = urlencode(
            [("batch", batch), *(("graphs", one) for one in graphs), ("changed", "true")]
        )
        return RedirectResponse(f"{address('c', collection.name, 'add')}?{query}", 303)
    items = _items(state, caller, batch)
    key = Idempotency.of(f"{once} {told}", caller, request.url.path, batch)
    job = begin_ingest(state.jobs, caller, collection, items, Choice(tuple(graphs)), key)
    return RedirectResponse(address("jobs", job.id), 303)


def _keep(state: ServiceState, collection: Collection, caller: Caller, form: Filled) -> str:
    """The SHA-256 of a list of what came in."""
    words = form.fields.get("text", "").replace("\r\n", "\n")
    uploads = list(form.uploads)
    text, told = None, None
    if words.strip():
        title = " ".join(form.fields.get("title", "").split())
        if not title:
            raise Problem("Say what the text is called: it is known by that.")
        told = {name: form.fields.get(name, "").strip() for name in ("author", "language")}
        told["title"] = title
        name = label(f"{SOURCE_FOLDER}/{title}.txt")
        text = state.uploads.take([words.encode("utf-8", "surrogatepass")], name)
    if not (uploads or text):
        raise Problem("There is no file and no text in this form: choose a file, or paste a text.")
    # Two of one name are refused now, and not once somebody has agreed.
    items = state.uploads.items(uploads)
    refuse_same_names([*items, Item(text.name, text.sha256)] if text else items)
    kept = Kept(tuple(uploads), text, told)
    written = json.dumps(asdict(kept), sort_keys=True).encode()
    own = state.uploads.take([written], LIST)
    state.uploads.lend(caller, [*uploads, *([text] if text else []), own])
    return own.sha256


def _items(state: ServiceState, caller: Caller, batch: str) -> list[Item]:
    """The documents of what came in. Raises NotFound where it is another's, or too long ago."""
    state.uploads.refuse_unlent(caller, [batch])
    try:
        written = json.loads(state.uploads.path(batch).read_bytes())
        uploads = [Upload(**one) for one in written["uploads"]]
        text = Upload(**written["text"]) if written["text"] else None
        told = {name: str(one) for name, one in (written["told"] or {}).items()}
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise Problem("That is no list of files that came in: send them again.") from error
    # Whoever wrote the list may have been no form of ours: what it names must be theirs, too.
    asked = [one.sha256 for one in (*uploads, *([text] if text else []))]
    state.uploads.refuse_unlent(caller, asked)
    items = state.uploads.items([Upload(one.sha256, one.size, label(one.name)) for one in uploads])
    if text:
        path = state.uploads.path(text.sha256)
        words = path.read_text(encoding="utf-8", errors="surrogatepass")
        items.append(text_item(state.uploads, words, text.name, **told))
    return items


def _books(found: Estimate, reader: Reader) -> list[Book]:
    books = []
    for number, one in enumerate(found.outcomes):
        chapters: int | None = None
        title, author, language = one.title, "", ""
        if number < READ_THROUGH and one.source in reader.told:
            title, author, language, chapters = reader.told[one.source]
        asked = one.usage
        books.append(
            Book(
                one.source.removeprefix(f"{SOURCE_FOLDER}/"),
                one.status,
                title,
                author,
                language if is_language(language) else "",
                chapters,
                asked.prompt_tokens + asked.completion_tokens,
                asked.calls,
                str(one.error or ""),
                one.status not in ("failed", "skipped")
                and PurePosixPath(one.source).suffix.lower() not in SUFFIXES,
            )
        )
    return books


def _may_cost(collection: Collection) -> bool:
    """Whether any graph may ask a model that is paid."""
    settings = collection.settings
    return not (settings.offline and settings.embedding_model in (OFFLINE, STATIC))


def _graphs(
    state: ServiceState,
    collection: Collection,
    items: list[Item],
    chosen: list[str],
    reader: Reader,
) -> list[dict[str, Any]]:
    """The graphs that each document can have; where that takes no long, what each would cost."""
    told = []
    for name, one in graphs().items():
        if not one.build:
            continue
        row: dict[str, Any] = {"name": name, "about": one.about, "on": name in chosen}
        row["needs"] = one.rests_on
        if reader.keeps and _may_cost(collection):
            alone = estimate(state.uploads, collection, items, Choice((name,)), reader)
            usage = sum_usage([alone.usage]).values()
            row["calls"] = sum(each.calls for each in usage)
            row["money"], row["unpriced"] = alone.money, alone.unpriced
        told.append(row)
    return told
