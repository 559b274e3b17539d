"""Adding books: files or a text are uploaded, their cost is shown, and after that a job begins.

A batch lists what was uploaded together. It is stored for a day, under its SHA-256 like every
upload: so the estimate has an address, and nothing is uploaded twice.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from importlib import resources
from pathlib import PurePosixPath
from typing import Annotated, Any
from urllib.parse import urlencode

from anyio import to_thread
from fastapi import APIRouter, Form, Query, Request
from fastapi.responses import JSONResponse, RedirectResponse, Response

from fabula.config.settings import OFFLINE
from fabula.errors import SpaceError
from fabula.graph.installed import graphs as installed_graphs
from fabula.jobs.estimates import Estimate
from fabula.jobs.idempotency import Idempotency
from fabula.jobs.job import Item
from fabula.jobs.start import (
    IngestOptions,
    begin_ingest,
    estimate,
    read_document,
    refuse_same_names,
    text_item,
)
from fabula.jobs.uploads import Upload, label
from fabula.library.collection import Collection
from fabula.load import SUFFIXES, readable_suffixes
from fabula.load.left_out import describe as describe_left_out
from fabula.models.usage import Usage
from fabula.operations.choices import lacks_model, title_of
from fabula.service.core.errors import Problem, status_of
from fabula.service.http.addresses import address
from fabula.service.http.dependencies import Caller, State, VisibleCollection, Writer
from fabula.service.http.multipart import MAX_PARTS, read_form
from fabula.service.http.multipart import Form as UploadForm
from fabula.service.http.route_rules import declare
from fabula.service.page.cost import show_cost
from fabula.service.page.rendering import is_language, show
from fabula.service.state import ServiceState
from fabula.text.document import Document
from fabula.text.names import SOURCE_FOLDER

router = APIRouter()
BATCH_NAME = "list of files"
MAX_DETAILED = 200
"""Documents of an estimate whose language and chapters are shown."""
MAX_PASTED_CHARACTERS = 20_000
"""Characters of a pasted text, because form fields are short; a longer text is sent as a file."""

DEMO_STORY = "a-christmas-carol.txt"
"""The story that comes with Fabula."""
FIELDS = ("title", "author", "language", "text")
"""Fields of the form beside its files; each counts as a part of the form."""

Graphs = Annotated[list[str], Query(max_length=50)]


@dataclass(frozen=True, slots=True)
class UploadBatch:
    """Files and a text that were uploaded together.

    Its field names are JSON keys of batches that are stored for a day.
    """

    uploads: tuple[Upload, ...]
    text: Upload | None = None
    told: dict[str, str] | None = None
    """Title, author and language of the text."""


@dataclass(slots=True)
class BatchReader:
    """Reads the documents of a batch, and remembers their titles, authors and languages."""

    state: ServiceState
    collection: str
    facts: dict[str, tuple[str, str, str, int]] = field(default_factory=dict)
    """Title, author, language and number of chapters, by the source."""

    def __call__(self, item: Item) -> Document:
        """Return the document of an item. Raises LoadError."""
        document = read_document(self.state.uploads, self.collection, item)
        self.facts[item.source] = (
            document.title,
            document.author,
            document.language,
            len(document.sections),
        )
        return document


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
    """Show the form; with a `batch`, its documents and what they would cost.

    `changed` says that the graphs were changed after the last estimate was shown.
    """
    values: dict[str, Any] = {
        "collection": collection.name,
        "readable": readable_suffixes(),
        "most_mb": state.serving.max_upload_mb,
        "most_files": MAX_PARTS - len(FIELDS),
        "longest": MAX_PASTED_CHARACTERS,
    }
    if not batch:
        return show(request, "add.html", values)
    items = _items(state, caller, batch)
    usual = collection.settings.graphs
    names = graphs or [name for name in usual if not lacks_model(collection, name)]
    choice = IngestOptions(tuple(names))
    reader = BatchReader(state, collection.name)
    try:
        with state.large_task_limit.hold(caller.id, "an estimate"):
            total = estimate(state.uploads, collection, items, choice, reader)
    except SpaceError as error:
        # Whoever has no shell needs a way on: the screen that embeds the collection again.
        values["reason"] = error.message
        return show(request, "add.html", values, status_of(error))
    rows: list[dict[str, Any]] = [
        {
            "name": name,
            "title": title_of(name),
            "about": graph.about,
            "on": name in names,
            "needs": graph.rests_on,
        }
        for name, graph in installed_graphs().items()
        if graph.build and not lacks_model(collection, name)
    ]
    count = sum(book.status not in ("failed", "skipped") for book in total.items)
    estimated = ",".join(row["name"] for row in rows if row["on"])
    return show_cost(
        request,
        state,
        caller,
        collection,
        total,
        takes_batches=True,
        action=address("c", collection.name, "add", "begin"),
        back=address("c", collection.name, "add"),
        hidden={"batch": batch, "estimated": estimated},
        books=_books(total, reader),
        more=max(0, len(items) - MAX_DETAILED),
        count=count,
        failed=sum(book.status == "failed" for book in total.items),
        lack_model=[name for name in installed_graphs() if lacks_model(collection, name)],
        graphs=rows,
        changed=changed,
    )


@router.post("/c/{collection}/add")
@declare(takes_files=True)
async def upload(
    request: Request, state: State, collection: VisibleCollection, caller: Writer
) -> Response:
    """Store files and a text as they arrive, and lead to their estimate."""
    form = await read_form(request, state.uploads)
    batch = await to_thread.run_sync(_save_batch, state, caller, form)
    to = address("c", collection.name, "add", batch=batch)
    if request.headers.get("accept", "").startswith("application/json"):
        return JSONResponse({"to": to})
    return RedirectResponse(to, 303)


@router.post("/c/{collection}/add/demo")
def add_demo(state: State, collection: VisibleCollection, caller: Writer) -> Response:
    """Add the story that comes with Fabula: its cost is shown first if it may have one."""
    story = resources.files("fabula.texts") / DEMO_STORY
    upload = state.uploads.take([story.read_bytes()], DEMO_STORY)
    if may_cost(collection):
        batch = _store_batch(state, caller, UploadBatch((upload,)))
        return RedirectResponse(address("c", collection.name, "add", batch=batch), 303)
    items = state.uploads.items([upload])
    job = begin_ingest(state.jobs, caller, collection, items, IngestOptions())
    return RedirectResponse(address("jobs", job.id), 303)


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
    by_batch: Annotated[bool, Form()] = False,
) -> Response:
    """Begin the job of a batch; a form that is sent twice begins it once.

    If the graphs are not those of the estimate, the new estimate is shown first, so that nobody
    agrees to a cost that was not shown.
    """
    if not graphs:
        raise Problem("Choose at least one graph: without a graph only the text can be searched.")
    chosen = ",".join(graphs)
    if chosen != estimated and may_cost(collection):
        query = urlencode(
            [("batch", batch), *(("graphs", name) for name in graphs), ("changed", "true")]
        )
        return RedirectResponse(f"{address('c', collection.name, 'add')}?{query}", 303)
    items = _items(state, caller, batch)
    key = Idempotency.of(f"{once} {chosen} {by_batch}", caller, request.url.path, batch)
    choice = IngestOptions(tuple(graphs), batch=by_batch)
    job = begin_ingest(state.jobs, caller, collection, items, choice, key)
    return RedirectResponse(address("jobs", job.id), 303)


def _save_batch(state: ServiceState, caller: Caller, form: UploadForm) -> str:
    """Store a form's files and text as a batch, and return the batch's SHA-256."""
    words = form.fields.get("text", "").replace("\r\n", "\n")
    uploads = list(form.uploads)
    text, facts = None, None
    if words.strip():
        title = " ".join(form.fields.get("title", "").split())
        if not title:
            raise Problem("Enter a title for the text: the text is stored under it.")
        facts = {name: form.fields.get(name, "").strip() for name in ("author", "language")}
        facts["title"] = title
        name = label(f"{SOURCE_FOLDER}/{title}.txt")
        text = state.uploads.take([words.encode("utf-8", "surrogatepass")], name)
    if not (uploads or text):
        raise Problem("The form has no file and no text: choose a file, or paste a text.")
    # Two of one name are refused now, and not after the person has agreed to the cost.
    items = state.uploads.items(uploads)
    refuse_same_names([*items, Item(text.name, text.sha256)] if text else items)
    return _store_batch(state, caller, UploadBatch(tuple(uploads), text, facts))


def _store_batch(state: ServiceState, caller: Caller, batch: UploadBatch) -> str:
    """Store a batch for its caller, and return its SHA-256."""
    content = json.dumps(asdict(batch), sort_keys=True).encode()
    stored = state.uploads.take([content], BATCH_NAME)
    state.uploads.lend(caller, [*batch.uploads, *([batch.text] if batch.text else []), stored])
    return stored.sha256


def _items(state: ServiceState, caller: Caller, batch: str) -> list[Item]:
    """Return the documents of a batch. Raises NotFound if it is another caller's, or expired."""
    state.uploads.refuse_unlent(caller, [batch])
    try:
        content = json.loads(state.uploads.path(batch).read_bytes())
        uploads = [Upload(**upload) for upload in content["uploads"]]
        text = Upload(**content["text"]) if content["text"] else None
        facts = {name: str(value) for name, value in (content["told"] or {}).items()}
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise Problem("This is not a list of uploaded files: upload the files again.") from error
    # Any upload can be named as a batch, so its content may not come from our form: the caller must
    # own the files that it names.
    hashes = [upload.sha256 for upload in (*uploads, *([text] if text else []))]
    state.uploads.refuse_unlent(caller, hashes)
    items = state.uploads.items(
        [Upload(upload.sha256, upload.size, label(upload.name)) for upload in uploads]
    )
    if text:
        path = state.uploads.path(text.sha256)
        words = path.read_text(encoding="utf-8", errors="surrogatepass")
        items.append(text_item(state.uploads, words, text.name, **facts))
    return items


def _books(total: Estimate, reader: BatchReader) -> list[dict[str, Any]]:
    """Return the template's values of each document; only the first ones have all."""
    books = []
    for number, outcome in enumerate(total.items):
        facts = reader.facts.get(outcome.source) if number < MAX_DETAILED else None
        title, author, language, chapters = facts or (outcome.title, "", "", None)
        usage = sum(outcome.usage.values(), Usage())
        suffix = PurePosixPath(outcome.source).suffix.lower()
        books.append(
            {
                "source": outcome.source.removeprefix(f"{SOURCE_FOLDER}/"),
                "status": outcome.status,
                "title": title,
                "author": author,
                "language": language if is_language(language) else "",
                "chapters": chapters,
                "tokens": usage.prompt_tokens + usage.completion_tokens,
                "calls": usage.calls,
                "error": outcome.error,
                "left_out": describe_left_out(outcome.left_out),
                "warnings": outcome.warnings,
                # Its format was recognised by its content, as no reader is for its file name.
                "is_guessed": outcome.status not in ("failed", "skipped")
                and suffix not in SUFFIXES,
            }
        )
    return books


def may_cost(collection: Collection) -> bool:
    """Return whether building a graph may call a model that costs money."""
    settings = collection.settings
    is_offline = settings.offline or settings.embedding_model == OFFLINE
    return not (is_offline and not settings.embeds_by_endpoint)
